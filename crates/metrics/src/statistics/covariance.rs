//! Correlations and standard deviations of columns, and what a Gaussian with that covariance says of their dependence.

use faer::{Mat, Side};
use ndarray::Array2;
use rayon::prelude::*;

use super::deviations::{Deviations, deviations};
use super::pearson::pearson;

/// The covariance of columns, as correlations and standard deviations, which never overflow together.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    /// `[columns, columns]`; 1 on the diagonal, and 0 elsewhere for a constant column.
    pub correlations: Array2<f64>,
    /// Divided by the rows less one; 0 for a constant column, infinite beyond the largest number. `[columns]`
    pub standard_deviations: Vec<f64>,
}

impl Covariance {
    /// Of the columns of `table [rows, columns]` with at least two rows.
    pub fn of(table: &Array2<f64>) -> Self {
        let n_columns = table.ncols();
        let columns: Vec<Deviations> =
            (0..n_columns).into_par_iter().map(|index| deviations(&table.column(index).to_owned())).collect();
        let spread = |column: &Deviations| {
            let squares: f64 = column.of_rows.iter().map(|value| value * value).sum();
            (squares / (table.nrows() as f64 - 1.0)).sqrt() * column.scale
        };
        let entries: Vec<f64> = (0..n_columns * n_columns)
            .into_par_iter()
            .map(|entry| match (entry / n_columns, entry % n_columns) {
                (row, column) if row > column => pearson(&columns[row], &columns[column]),
                _ => 1.0,
            })
            .collect();
        let correlations = Array2::from_shape_fn((n_columns, n_columns), |(row, column)| {
            entries[row.max(column) * n_columns + row.min(column)]
        });
        // A column that does not move has no spread, whatever the largest number times zero would be.
        let spread_of = |column: &Deviations| if column.scale == 0.0 { 0.0 } else { spread(column) };
        Self { correlations, standard_deviations: columns.iter().map(spread_of).collect() }
    }

    /// The part that belongs to the columns at `indices`.
    pub fn select(&self, indices: &[usize]) -> Self {
        let correlations = Array2::from_shape_fn((indices.len(), indices.len()), |(row, column)| {
            self.correlations[[indices[row], indices[column]]]
        });
        Self {
            correlations,
            standard_deviations: indices.iter().map(|&index| self.standard_deviations[index]).collect(),
        }
    }

    /// The columns that move.
    pub fn moving(&self) -> Vec<usize> {
        (0..self.standard_deviations.len()).filter(|&index| self.standard_deviations[index] > 0.0).collect()
    }

    /// How far a Gaussian with this covariance is from the product of its marginals, as the divergence between the two in
    /// nats: `(sum_i ln S_ii - ln det S) / 2 = -ln det R / 2` with the correlations R. Not defined where columns are
    /// constant or depend on each other linearly.
    pub fn total_correlation(&self) -> Result<f64, String> {
        let n_columns = self.standard_deviations.len();
        let n_constant = n_columns - self.moving().len();
        if n_constant > 0 {
            return Err(format!(
                "{n_constant} of {n_columns} latents are constant, which makes the covariance singular"
            ));
        }
        let eigenvalues = eigenvalues(&self.correlations);
        let largest = eigenvalues.iter().fold(0.0_f64, |largest, &value| largest.max(value));
        // What rounding leaves of an eigenvalue that is zero.
        let least = 16.0 * n_columns as f64 * f64::EPSILON * largest;
        if eigenvalues.iter().any(|&value| value <= least) {
            return Err(
                "some latents are linear functions of the others, which makes the covariance singular".to_string()
            );
        }
        Ok((-0.5 * eigenvalues.iter().map(|value| value.ln()).sum::<f64>()).max(0.0))
    }

    /// The squared Wasserstein distance between the same two Gaussians, `2 tr S - 2 tr (D S)^(1/2)` with D the diagonal
    /// of S, in units of the largest variance; the sum of the variances in the same units; and that unit.
    pub fn wasserstein(&self) -> Result<Wasserstein, String> {
        let unit = self.standard_deviations.iter().fold(0.0_f64, |largest, &value| largest.max(value));
        if unit == 0.0 {
            return Err("every latent is constant".to_string());
        }
        if !unit.is_finite() {
            return Err("the latents spread beyond the largest number".to_string());
        }
        let spreads: Vec<f64> = self.standard_deviations.iter().map(|value| value / unit).collect();
        // D S has the eigenvalues of the symmetric D^(1/2) S D^(1/2), whose entries are s_i^2 R_ij s_j^2.
        let mut product = self.correlations.clone();
        product.indexed_iter_mut().for_each(|((i, j), entry)| *entry *= (spreads[i] * spreads[j]).powi(2));
        let trace_of_root: f64 = eigenvalues(&product).iter().map(|value| value.max(0.0).sqrt()).sum();
        let trace: f64 = spreads.iter().map(|spread| spread * spread).sum();
        Ok(Wasserstein { distance: (2.0 * trace - 2.0 * trace_of_root).max(0.0), trace, unit: unit * unit })
    }
}

/// A distance between Gaussians, as [`Covariance::wasserstein`] gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wasserstein {
    /// In units of `unit`, at least 0.
    pub distance: f64,
    /// The sum of the variances in units of `unit`.
    pub trace: f64,
    /// The largest variance; may be infinite, or 0 where it is too small to be written.
    pub unit: f64,
}

/// The eigenvalues of a symmetric matrix of finite numbers, ascending.
fn eigenvalues(matrix: &Array2<f64>) -> Vec<f64> {
    let matrix = Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[[i, j]]);
    matrix.self_adjoint_eigenvalues(Side::Lower).expect("a small matrix of finite numbers converges")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn two_columns_worked_by_hand() {
        // Deviations (-1, 0, 1) and (-1, 1, 0): variances 1, correlation 1/2. -ln(1 - 1/4) / 2. The eigenvalues of S are
        // 1/2 and 3/2: 4 - 2 (sqrt(1/2) + sqrt(3/2)).
        let covariance = Covariance::of(&array![[1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]);
        assert!((covariance.standard_deviations[0] - 1.0).abs() < 1e-15);
        assert!((covariance.total_correlation().unwrap() + 0.5 * 0.75_f64.ln()).abs() < 1e-15);
        let Wasserstein { distance, trace, unit } = covariance.wasserstein().unwrap();
        assert!((distance * unit - (4.0 - 2.0 * (0.5_f64.sqrt() + 1.5_f64.sqrt()))).abs() < 1e-14);
        assert!((trace * unit - 2.0).abs() < 1e-14);
    }

    #[test]
    fn singular_covariances_say_why() {
        let twice = Covariance::of(&array![[1.0, 2.0], [2.0, 4.0], [4.0, 8.0]]);
        assert!(twice.total_correlation().unwrap_err().contains("linear functions"));
        let constant = Covariance::of(&array![[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]]);
        assert!(constant.total_correlation().unwrap_err().starts_with("1 of 2 latents"));
        assert_eq!(constant.select(&constant.moving()).total_correlation(), Ok(0.0));
        assert_eq!(constant.wasserstein().unwrap().distance, 0.0);
        assert!(Covariance::of(&array![[f64::MAX], [f64::MIN]]).wasserstein().is_err());
    }
}
