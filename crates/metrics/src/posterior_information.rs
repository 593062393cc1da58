//! What latents tell about which image was coded, drawn from the posterior: shared by `wsepin` and `windin`.
//!
//! Do and Tran 2020, "Theory and evaluation metrics for learning disentangled representations", as their code estimates it
//! by sampling. The images are N rows, equally likely. A draw is a row x and a code z from its posterior
//! `q(z | x) = prod_i q(z_i | x)`; with `q(z) = mean_n q(z | x_n)`, the information is the mean over the draws of
//!
//! `I(x; z) = ln q(z | x) - ln q(z)`, and of a part of the latents the same with their part of the product.
//!
//! Departures: the authors' code keeps densities above 1e-8, which a code of many latents passes; here logarithms are added up.

use std::sync::Arc;

use rand::{RngExt, seq};
use rayon::prelude::*;
use unbraid_data::Seed;

use crate::Subject;
use crate::needs::{SAME_POSTERIOR, train_log_variances};
use crate::statistics::normal::normal_noise;
use crate::subject::{all_constant, rows_of};

/// What several metrics read: an estimate, or why there is none.
pub type SharedEstimate = Arc<Result<PosteriorInformation, String>>;

/// The information of each latent about the images, in nats; none is below 0 but for chance.
#[derive(Debug, Clone, PartialEq)]
pub struct PosteriorInformation {
    /// Of how many rows it is.
    pub n_rows: usize,
    /// Whether these were drawn from more.
    pub is_drawn: bool,
    /// `I(x; z_i)`, at least 0. `[latents]`
    pub alone: Vec<f64>,
    /// `I(x; z_i | z_others) = I(x; z) - I(x; z_others)`. `[latents]`
    pub separate: Vec<f64>,
    /// `I(z_i; z_others)`, at least 0. `[latents]`
    pub shared: Vec<f64>,
}

impl PosteriorInformation {
    /// Estimates it from `n_samples` draws and `most_rows` rows, or says why it cannot.
    pub fn of(subject: &Subject, n_samples: usize, most_rows: usize, seed: Seed) -> Result<Self, String> {
        let posteriors = Posteriors::of(subject, most_rows, seed)?;
        let sums = posteriors.sums_of_draws(n_samples, seed);
        let means: Vec<f64> = sums.iter().map(|sum| (sum / n_samples as f64).max(0.0)).collect();
        let (alone, rest) = means.split_at(posteriors.n_latents);
        let (of_others, of_all) = (&rest[..posteriors.n_latents], rest[posteriors.n_latents]);
        Ok(Self {
            n_rows: posteriors.n_rows,
            is_drawn: posteriors.is_drawn,
            alone: alone.to_vec(),
            separate: of_others.iter().map(|of_others| of_all - of_others).collect(),
            shared: alone
                .iter()
                .zip(of_others)
                .map(|(alone, of_others)| (alone + of_others - of_all).max(0.0))
                .collect(),
        })
    }

    /// The mean of `values [latents]`, each weighted by what its latent tells alone; or why there is none.
    pub fn weighted(&self, values: &[f64]) -> Result<f64, String> {
        let whole: f64 = self.alone.iter().sum();
        if whole > LEAST_INFORMATION {
            Ok(self.alone.iter().zip(values).map(|(alone, value)| alone / whole * value).sum())
        } else {
            Err("no latent tells anything about which row was coded".to_string())
        }
    }

    /// What to say where rows were drawn.
    pub fn note(&self, n_all: usize) -> Option<String> {
        let (n_rows, most) = (self.n_rows, (self.n_rows as f64).ln());
        self.is_drawn.then(|| {
            format!(
                "{n_rows} of {n_all} rows were drawn (setting \"rows\"); information about which of them was coded is at \
                 most {most:.2} nats"
            )
        })
    }
}

/// Less than this, in nats, is what rounding leaves of none.
const LEAST_INFORMATION: f64 = 1e-9;
/// Log-variances beyond these have posteriors that are points, or flat, to any code.
const LARGEST_LOG_VARIANCE: f64 = 1000.0;
/// Logarithms of densities relative to the drawn row's own are kept between these, so that sums of their exponentials
/// stay finite and differences of their sums exact.
const LEAST_LOGARITHM: f64 = -1e6;
const LARGEST_LOGARITHM: f64 = 600.0;
/// What is less than this adds nothing to a sum that has 1 in it.
const NEGLIGIBLE: f64 = -50.0;
/// Draws that are held at the same time, however many there are.
const SAMPLES_AT_ONCE: usize = 4096;

/// Rows that are looked at together, so that what is computed of them stays in the cache.
const BLOCK: usize = 256;

/// The posteriors of the rows, latent by latent.
struct Posteriors {
    n_rows: usize,
    n_latents: usize,
    is_drawn: bool,
    /// `[latents * rows]`, as are the others.
    means: Vec<f64>,
    deviations: Vec<f64>,
    log_variances: Vec<f64>,
    /// One over the deviations, since a product is cheaper than a quotient.
    inverses: Vec<f64>,
}

impl Posteriors {
    fn of(subject: &Subject, most_rows: usize, seed: Seed) -> Result<Self, String> {
        let log_variances = train_log_variances(subject)?;
        let codes = &subject.train().codes;
        // Named rows have an order of their own; all others that of their factors.
        let order: Vec<usize> = match subject.data().extras().train_rows {
            Some(_) => (0..codes.nrows()).collect(),
            None => subject.rows_by_factors().to_vec(),
        };
        if order.len() < 2 {
            return Err("needs at least two rows, and there is one".to_string());
        }
        let is_drawn = most_rows < order.len();
        let rows: Vec<usize> = if is_drawn {
            let mut rng = seed.stream("rows");
            seq::index::sample(&mut rng, order.len(), most_rows).iter().map(|place| order[place]).collect()
        } else {
            order
        };
        let (codes, log_variances) = (rows_of(codes, &rows), rows_of(&log_variances, &rows));
        if all_constant(&codes) && all_constant(&log_variances) {
            return Err(SAME_POSTERIOR.to_string());
        }
        let log_variances: Vec<f64> =
            log_variances.t().iter().map(|value| value.clamp(-LARGEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)).collect();
        Ok(Self {
            n_rows: rows.len(),
            n_latents: codes.ncols(),
            is_drawn,
            means: codes.t().iter().copied().collect(),
            deviations: log_variances.iter().map(|value| (value / 2.0).exp()).collect(),
            inverses: log_variances.iter().map(|value| (-value / 2.0).exp()).collect(),
            log_variances,
        })
    }

    /// The sums over all draws of what `draw` gives, always added up in the same order. `[latents + latents + 1]`
    fn sums_of_draws(&self, n_samples: usize, seed: Seed) -> Vec<f64> {
        let mut sums = vec![0.0; 2 * self.n_latents + 1];
        for start in (0..n_samples).step_by(SAMPLES_AT_ONCE) {
            let of_samples: Vec<Vec<f64>> = (start..n_samples.min(start + SAMPLES_AT_ONCE))
                .into_par_iter()
                .map_init(|| Scratch::new(self.n_latents), |scratch, sample| self.draw(sample, seed, scratch))
                .collect();
            for of_sample in &of_samples {
                sums.iter_mut().zip(of_sample).for_each(|(sum, information)| *sum += information);
            }
        }
        sums
    }

    /// Draws a row and a code from its posterior; what each latent tells about the row, what all but that latent do, and
    /// what all do. `[latents + latents + 1]`
    fn draw(&self, sample: usize, seed: Seed, scratch: &mut Scratch) -> Vec<f64> {
        let mut rng = seed.stream_at("samples", sample as u64);
        let drawn = rng.random_range(0..self.n_rows as u64) as usize;
        scratch.noise.iter_mut().for_each(|noise| *noise = normal_noise(&mut rng));
        scratch.sums.iter_mut().for_each(|sum| *sum = 0.0);
        for start in (0..self.n_rows).step_by(BLOCK) {
            let n_block = BLOCK.min(self.n_rows - start);
            self.compare(drawn, start, n_block, scratch);
            scratch.add(n_block);
        }
        scratch.sums.iter().map(|sum| (self.n_rows as f64).ln() - sum.ln()).collect()
    }

    /// Fills in, for each latent and for all together, `ln q(z | row) - ln q(z | drawn row)` for a block of rows.
    fn compare(&self, drawn: usize, start: usize, n_block: usize, scratch: &mut Scratch) {
        scratch.of_all.iter_mut().for_each(|sum| *sum = 0.0);
        for latent in 0..self.n_latents {
            let column = latent * self.n_rows;
            let noise = scratch.noise[latent];
            let mean = self.means[column + drawn];
            let offset = self.deviations[column + drawn] * noise;
            let own = self.log_variances[column + drawn] + noise * noise;
            let block = column + start..column + start + n_block;
            let posteriors =
                self.means[block.clone()].iter().zip(&self.inverses[block.clone()]).zip(&self.log_variances[block]);
            let logarithms = &mut scratch.of_latents[latent * BLOCK..][..n_block];
            for ((logarithm, of_all), ((other, inverse), log_variance)) in
                logarithms.iter_mut().zip(&mut scratch.of_all).zip(posteriors)
            {
                // The difference of the means is taken first, so that codes far from 0 lose no digits.
                let distance = ((mean - other) + offset) * inverse;
                *logarithm = ((own - log_variance - distance * distance) / 2.0).max(LEAST_LOGARITHM);
                *of_all += *logarithm;
            }
        }
    }
}

/// What one thread writes to while it looks at a draw.
struct Scratch {
    /// `[latents]`
    noise: Vec<f64>,
    /// `[latents * BLOCK]`
    of_latents: Vec<f64>,
    /// `[BLOCK]`
    of_all: Vec<f64>,
    /// Sums over the rows of relative densities: of each latent, of all but each latent, of all. `[latents + latents + 1]`
    sums: Vec<f64>,
}

impl Scratch {
    fn new(n_latents: usize) -> Self {
        Self {
            noise: vec![0.0; n_latents],
            of_latents: vec![0.0; n_latents * BLOCK],
            of_all: vec![0.0; BLOCK],
            sums: vec![0.0; 2 * n_latents + 1],
        }
    }

    /// Adds a block of rows to the sums.
    fn add(&mut self, n_block: usize) {
        let n_latents = self.noise.len();
        let of_all = &self.of_all[..n_block];
        for latent in 0..n_latents {
            let of_latent = &self.of_latents[latent * BLOCK..][..n_block];
            self.sums[latent] += of_latent.iter().map(|&logarithm| density(logarithm)).sum::<f64>();
            let of_others = of_all.iter().zip(of_latent).map(|(of_all, of_latent)| of_all - of_latent);
            self.sums[n_latents + latent] += of_others.map(density).sum::<f64>();
        }
        self.sums[2 * n_latents] += of_all.iter().map(|&logarithm| density(logarithm)).sum::<f64>();
    }
}

fn density(logarithm: f64) -> f64 {
    if logarithm < NEGLIGIBLE { 0.0 } else { logarithm.min(LARGEST_LOGARITHM).exp() }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes};

    use super::*;

    fn data(codes: Array2<f64>, log_variances: Array2<f64>) -> LabelledCodes {
        let factors = Array2::from_shape_fn((codes.nrows(), 1), |(row, _)| row as f64);
        let space = FactorSpace::grid([("row", codes.nrows())]);
        let extras = Extras { log_variances: Some(log_variances), ..Extras::default() };
        LabelledCodes::new(codes, factors, space, extras).unwrap()
    }

    fn of(data: &LabelledCodes, n_samples: usize, most_rows: usize) -> Result<PosteriorInformation, String> {
        PosteriorInformation::of(&Subject::new(data, Seed(1)), n_samples, most_rows, Seed(5))
    }

    #[test]
    fn estimates_agree_with_the_integrals() {
        // Three latents of twelve rows; the integrals by Gauss-Hermite quadrature with 64 nodes for each latent, in scipy.
        let codes = Array2::from_shape_fn((12, 3), |(row, latent)| match latent {
            0 => (row / 4) as f64 - 1.0,
            1 => 0.5 * (row % 4) as f64 - 0.75 + 0.25 * (row / 4) as f64,
            _ => 0.1 * (row * 5 % 12) as f64 - 0.5,
        });
        let log_variances = Array2::from_shape_fn((12, 3), |(row, latent)| match latent {
            0 => -3.0 + 0.5 * (row / 4) as f64,
            1 => -2.0 - 0.25 * (row % 4) as f64,
            _ => -0.5 + 0.125 * (row % 4) as f64,
        });
        let found = of(&data(codes, log_variances), 400_000, 100).unwrap();
        let expected = [
            (&found.alone, [0.948_90, 0.767_69, 0.079_48]),
            (&found.separate, [0.870_46, 0.682_31, 0.048_95]),
            (&found.shared, [0.078_44, 0.085_38, 0.030_54]),
        ];
        // Standard errors are 0.001 or less.
        for (found, expected) in expected {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 0.004, "{found}, {expected}");
            }
        }
        assert!((found.weighted(&found.separate).unwrap() - 0.753_686).abs() < 0.004);
    }

    #[test]
    fn draws_are_added_up_across_blocks_one_by_one() {
        let codes = array![[0.0, 0.5], [1.0, 0.25], [2.0, 2.0]];
        let data = data(codes, Array2::zeros((3, 2)));
        let posteriors = Posteriors::of(&Subject::new(&data, Seed(1)), 100, Seed(5)).unwrap();
        let n_samples = 2 * SAMPLES_AT_ONCE + 3;
        let (mut sums, mut scratch) = (vec![0.0; 5], Scratch::new(2));
        for sample in 0..n_samples {
            let drawn = posteriors.draw(sample, Seed(5), &mut scratch);
            sums.iter_mut().zip(drawn).for_each(|(sum, information)| *sum += information);
        }
        assert_eq!(posteriors.sums_of_draws(n_samples, Seed(5)), sums);
    }

    #[test]
    fn points_tell_their_row_and_what_is_told_twice_is_not_separate() {
        // Four rows that two latents tell alike: ln 4 each, all of it shared. A third latent never changes.
        let codes = array![[0.0, 8.0, 5.0], [1.0, 6.0, 5.0], [2.0, 4.0, 5.0], [3.0, 2.0, 5.0]];
        let found = of(&data(codes, Array2::from_elem((4, 3), -20.0)), 1000, 100).unwrap();
        let ln_4 = 4_f64.ln();
        for (found, expected) in
            [(&found.alone, [ln_4, ln_4, 0.0]), (&found.separate, [0.0; 3]), (&found.shared, [ln_4, ln_4, 0.0])]
        {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
            }
        }
    }

    #[test]
    fn codes_far_from_0_tell_the_same_and_extreme_numbers_stay_finite() {
        let codes = array![[0.0, 0.5], [1.0, 0.25], [2.0, 2.0]];
        let near = of(&data(codes.clone(), Array2::zeros((3, 2))), 1000, 100).unwrap();
        let far = of(&data(&codes + (1_u64 << 40) as f64, Array2::zeros((3, 2))), 1000, 100).unwrap();
        assert_eq!(near, far);
        let codes = array![[f64::MAX, 1.0], [f64::MIN, 1.0], [0.0, 1.0], [5e-324, 0.0]];
        let log_variances = array![[0.0, f64::MAX], [f64::MIN, 1e300], [-1e300, 0.0], [1e300, -1e300]];
        let found = of(&data(codes, log_variances), 1000, 100).unwrap();
        assert!(found.alone.iter().chain(&found.separate).chain(&found.shared).all(|value| value.is_finite()));
    }

    #[test]
    fn rows_are_drawn_where_there_are_more_and_that_is_noted() {
        let codes = Array2::from_shape_fn((1000, 1), |(row, _)| row as f64);
        let found = of(&data(codes, Array2::from_elem((1000, 1), -20.0)), 100, 10).unwrap();
        // Ten points are told apart by ln 10.
        assert!((found.alone[0] - 10_f64.ln()).abs() < 1e-12);
        let note = "10 of 1000 rows were drawn (setting \"rows\"); information about which of them was coded is at most \
                    2.30 nats";
        assert_eq!(found.note(1000).unwrap(), note);
    }

    #[test]
    fn what_there_is_nothing_to_tell_of_is_named() {
        let alike = data(Array2::ones((3, 2)), Array2::zeros((3, 2)));
        assert_eq!(of(&alike, 100, 100).unwrap_err(), SAME_POSTERIOR);
        let single = data(Array2::ones((1, 2)), Array2::zeros((1, 2)));
        assert_eq!(of(&single, 100, 100).unwrap_err(), "needs at least two rows, and there is one");
        let nothing = PosteriorInformation {
            n_rows: 2,
            is_drawn: false,
            alone: vec![0.0],
            separate: vec![0.0],
            shared: vec![0.0],
        };
        assert!(nothing.weighted(&nothing.separate).unwrap_err().starts_with("no latent tells anything"));
    }
}
