//! Latents that vote by how much they vary in a batch of rows: shared by `factor_vae` and `z_max_variance`.

use rand::seq;
use unbraid_data::Rng;

use crate::Subject;
use crate::statistics::deviations::{Deviations, deviations};

/// Variances that differ by less than this share are equal, and the first such latent has the vote: two latents that are
/// a fixed factor plus and minus another one vary exactly alike, and rounding should not decide between them.
pub const TIE: f64 = 1e-9;

/// The latents that have a vote, and their codes in units of their standard deviations.
pub struct Voters {
    /// Which latents of the table they are.
    pub latents: Vec<usize>,
    /// `[rows, voters]`, row by row.
    codes: Vec<f64>,
}

impl Voters {
    /// The latents that move, and by a standard deviation of `prune_below` or more; it is estimated from `variance_rows` rows
    /// drawn without replacement, or all where there are fewer. Or why there are none.
    pub fn new(subject: &Subject, variance_rows: usize, prune_below: f64, rng: &mut Rng) -> Result<Self, String> {
        let rows = subject.rows_by_factors();
        let sampled: Vec<usize> = if variance_rows < rows.len() {
            seq::index::sample(rng, rows.len(), variance_rows).iter().map(|place| rows[place]).collect()
        } else {
            rows.to_vec()
        };
        let mut voters = Vec::new(); // latents, and their codes [rows]
        for (latent, column) in subject.data().codes().columns().into_iter().enumerate() {
            let Deviations { mut of_rows, scale } = deviations(&column);
            let in_units = sample_deviation(&of_rows, &sampled);
            if in_units > 0.0 && in_units * scale >= prune_below {
                of_rows.iter_mut().for_each(|code| *code /= in_units);
                voters.push((latent, of_rows));
            }
        }
        if voters.is_empty() {
            return Err(nobody_votes(prune_below));
        }
        let codes = (0..rows.len()).flat_map(|row| voters.iter().map(move |(_, codes)| codes[row])).collect();
        Ok(Self { latents: voters.iter().map(|(latent, _)| *latent).collect(), codes })
    }

    /// How much each voter's codes of some rows vary: the sum of squares of their deviations from their mean. `[voters]`
    pub fn squares(&self, rows: &[usize]) -> Vec<f64> {
        let n_voters = self.latents.len();
        let codes_of = |row: usize| &self.codes[row * n_voters..][..n_voters];
        // Distances from the first code have the same variance, and are exactly 0 where nothing varies.
        let first = codes_of(rows[0]);
        let (mut sums, mut squares) = (vec![0.0; n_voters], vec![0.0; n_voters]);
        for &row in &rows[1..] {
            let distances = codes_of(row).iter().zip(first).map(|(code, first)| code - first);
            for ((sum, square), distance) in sums.iter_mut().zip(&mut squares).zip(distances) {
                *sum += distance;
                *square += distance * distance;
            }
        }
        let n_rows = rows.len() as f64;
        sums.iter().zip(&squares).map(|(sum, square)| (square - sum * sum / n_rows).max(0.0)).collect()
    }
}

fn nobody_votes(prune_below: f64) -> String {
    match prune_below {
        0.0 => "every latent is constant".to_string(),
        least => format!("no latent has a standard deviation of {least} or more (setting \"prune_below\")"),
    }
}

/// The standard deviation of some rows of a column, divided by their number less one; 0 for a single row.
fn sample_deviation(column: &[f64], rows: &[usize]) -> f64 {
    let first = column[rows[0]];
    let mean = rows.iter().map(|&row| column[row] - first).sum::<f64>() / rows.len() as f64;
    let squares: f64 = rows.iter().map(|&row| (column[row] - first - mean).powi(2)).sum();
    (squares / (rows.len() - 1).max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    #[test]
    fn squares_in_units_of_deviations_worked_by_hand() {
        // z0 never moves. z1 is 0, 0, 3, 3 times 1e300: deviations of 1.5, whose squares over 3 are 3. Over rows 1 and 2 its
        // squares are 2 * 1.5^2, over 3 that is 1.5; over rows 0 and 1 it does not move.
        let codes = array![[7.0, 0.0], [7.0, 0.0], [7.0, 3e300], [7.0, 3e300]];
        let factors = array![[0.0], [1.0], [2.0], [3.0]];
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("row", 4)]), Extras::default()).unwrap();
        let voters = |least| Voters::new(&Subject::new(&data, Seed(1)), 100, least, &mut Seed(1).stream("variances"));
        let found = voters(1e299).unwrap();
        assert_eq!(found.latents, [1]);
        assert!((found.squares(&[1, 2])[0] - 1.5).abs() < 1e-12);
        assert_eq!(found.squares(&[0, 1]), [0.0]);
        assert!(voters(1e301).err().unwrap().starts_with("no latent has a standard deviation of 1"));
    }
}
