//! The BetaVAE score: which factor two images share is told from how little the latents differ between them.
//!
//! Higgins et al. 2017, "beta-VAE: learning basic visual concepts with a constrained variational framework", section 3, as
//! `beta_vae_sklearn` in Locatello et al. 2019. A point is made by drawing a factor, and 64 pairs of rows in each of which
//! that factor has the same value; it is the mean over the pairs of `|z - z'|`. Logistic regression (L2, C = 1), fitted
//! to tell the factor from 10,000 points, is scored by its accuracy on 5,000 others.
//!
//! The first row of a pair is drawn among all rows, the second among those with the same value of the factor: on a full
//! grid this is what the reference does, and it is defined for any labelled sample. Rows are numbered by their factors'
//! values, so that their order in the input plays no part but among rows with equal ones. A factor with a single value is drawn like any other, as in the
//! reference; a pair that shares it is just any pair.
//!
//! Departures: continuous factors, of which hardly two rows share a value, are not drawn; where codes differ by more than
//! 1e6, all are divided by one number so that they do not. Long before that the penalty has lost its weight, and the unit
//! plays no part any more; the fit itself would fail from 1e28 on.

use std::num::NonZeroUsize;

use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Rng, Seed, settings};

use crate::Better::High;
use crate::Change::*;
use crate::predictors::logistic_regression::LogisticRegression;
use crate::rows_by_value::RowsByValue;
use crate::statistics::classes::Classes;
use crate::subject::rows_of;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// Differences above this are brought down to it.
const LARGEST_DIFFERENCE: f64 = 1e6;
/// More points or pairs than this would take longer than anyone waits.
const MOST: usize = 100_000_000;

/// Settings of the BetaVAE score; the defaults are those of Locatello et al. 2019.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct BetaVae {
    /// Pairs of rows that a point is the mean of; 64.
    pub pairs: NonZeroUsize,
    /// Points that the classifier is fitted on; 10,000.
    pub train_points: NonZeroUsize,
    /// Points that it is tested on; 5,000.
    pub test_points: NonZeroUsize,
    /// Inverse strength of the classifier's penalty, above 0; 1.
    pub c: f64,
}

impl Default for BetaVae {
    fn default() -> Self {
        let number = |number| NonZeroUsize::new(number).expect("it is not zero");
        Self { pairs: number(64), train_points: number(10_000), test_points: number(5_000), c: 1.0 }
    }
}

impl BetaVae {
    fn check(self) -> unbraid_data::Result<Self> {
        let numbers = [("pairs", self.pairs), ("train_points", self.train_points), ("test_points", self.test_points)];
        for (name, number) in numbers {
            if number.get() > MOST {
                return Err(Error::new(format!("setting \"{name}\" is {number}")).help(format!("wanted 1 to {MOST}")));
            }
        }
        if !(1e-100..=1e100).contains(&self.c) {
            return Err(Error::new(format!("setting \"c\" is {}", self.c)).help("wanted a number from 1e-100 to 1e100"));
        }
        Ok(self)
    }
}

impl Metric for BetaVae {
    /// `beta_vae` and `beta_vae.train`, accuracies in [0, 1].
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let accuracies = self.accuracies(subject, rng);
        let of = |pick: fn(&(f64, f64)) -> f64| accuracies.as_ref().map(pick);
        Scores::new().with_outcome("beta_vae", of(|both| both.1)).with_outcome("beta_vae.train", of(|both| both.0))
    }
}

impl BetaVae {
    /// The accuracy on the points fitted on, and on others.
    fn accuracies(&self, subject: &Subject, rng: &mut Rng) -> Result<(f64, f64), String> {
        let pairs = Pairs::new(subject);
        if pairs.groups.len() < 2 {
            return Err(format!("needs at least two discrete factors to tell apart, found {}", pairs.groups.len()));
        }
        let mut points = |n_points: NonZeroUsize| pairs.points(n_points.get(), self.pairs.get(), Seed(rng.random()));
        let (train, of_train) = points(self.train_points);
        let (test, of_test) = points(self.test_points);
        let fitted = LogisticRegression::fit(&train, &of_train, self.c);
        Ok((accuracy(&fitted, &train, &of_train), accuracy(&fitted, &test, &of_test)))
    }
}

fn accuracy(fitted: &LogisticRegression, points: &Array2<f64>, factors: &Classes) -> f64 {
    let predicted = fitted.predict(points);
    let n_right = predicted.iter().zip(&factors.of_rows).filter(|(predicted, factor)| predicted == factor).count();
    n_right as f64 / predicted.len() as f64
}

/// The rows, and which of them share a value.
struct Pairs {
    /// `[rows, latents]` in the order of their factors' values.
    codes: Array2<f64>,
    /// One for each discrete factor.
    groups: Vec<RowsByValue>,
}

impl Pairs {
    fn new(subject: &Subject) -> Self {
        let mut codes = rows_of(subject.data().codes(), subject.rows_by_factors());
        // Halves keep the difference of two huge numbers finite.
        let halves = codes.columns().into_iter().map(|column| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (low, high) = column.fold(ends, |(low, high), &code| (low.min(code), high.max(code)));
            high / 2.0 - low / 2.0
        });
        let largest_half = halves.fold(0.0, f64::max);
        if largest_half > LARGEST_DIFFERENCE / 2.0 {
            let unit = largest_half / (LARGEST_DIFFERENCE / 2.0);
            codes.mapv_inplace(|code| code / unit);
        }
        Self { codes, groups: RowsByValue::of_discrete_factors(subject) }
    }

    /// Two rows that share a factor's value.
    fn draw(&self, factor: usize, rng: &mut Rng) -> (usize, usize) {
        let first = rng.random_range(0..self.codes.nrows() as u32) as usize;
        let alike = self.groups[factor].alike(first);
        (first, alike[rng.random_range(0..alike.len() as u32) as usize] as usize)
    }

    /// Points `[points, latents]` and the factor that the pairs of each share. Each point has a random stream of its own,
    /// so that it is the same whoever makes it.
    fn points(&self, n_points: usize, n_pairs: usize, seed: Seed) -> (Array2<f64>, Classes) {
        let n_latents = self.codes.ncols();
        let codes = self.codes.as_slice().expect("a new table is row-major");
        let code_of = |row: usize| &codes[row * n_latents..(row + 1) * n_latents];
        let mut points = Array2::zeros((n_points, n_latents));
        let rows = points.as_slice_mut().expect("a new array is contiguous").par_chunks_mut(n_latents).enumerate();
        let of_rows = rows.map(|(point, differences)| {
            let mut rng = seed.stream_at("pairs", point as u64);
            let factor = rng.random_range(0..self.groups.len());
            // All are drawn before any is read, so that reading from memory need not wait for drawing.
            let pairs: Vec<(usize, usize)> = (0..n_pairs).map(|_| self.draw(factor, &mut rng)).collect();
            for (first, second) in pairs {
                let pair = code_of(first).iter().zip(code_of(second));
                differences.iter_mut().zip(pair).for_each(|(sum, (a, b))| *sum += (a - b).abs());
            }
            differences.iter_mut().for_each(|sum| *sum /= n_pairs as f64);
            factor
        });
        let of_rows = of_rows.collect();
        (points, Classes { of_rows, n_classes: self.groups.len() })
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "beta_vae",
    about: "how well the shared factor is told from the differences of pairs",
    paper: "Higgins et al. 2017",
    settings: &[
        Setting {
            name: "pairs",
            values: Values::Whole(1, MOST as u64),
            meaning: "pairs of rows that a point is the mean of",
        },
        Setting {
            name: "train_points",
            values: Values::Whole(1, MOST as u64),
            meaning: "points that the classifier is fitted on",
        },
        Setting { name: "test_points", values: Values::Whole(1, MOST as u64), meaning: "points that it is tested on" },
        Setting {
            name: "c",
            values: Values::Number(1e-100, 1e100),
            meaning: "inverse strength of the classifier's penalty",
        },
    ],
    scores: &[
        ScoreKind { name: "beta_vae", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "beta_vae.train", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<BetaVae>(table)?.check()?)),
    complete: settings::complete::<BetaVae>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes};

    use super::*;

    fn data(codes: Array2<f64>) -> LabelledCodes {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        LabelledCodes::new(codes, factors, space, Extras::default()).unwrap()
    }

    #[test]
    fn a_latent_that_is_the_shared_factor_does_not_differ_and_the_other_does_half_the_time() {
        let data = data(array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
        let pairs = Pairs::new(&Subject::new(&data, Seed(1)));
        let (points, factors) = pairs.points(2000, 64, Seed(3));
        let mut mean = 0.0;
        for (point, &factor) in points.outer_iter().zip(&factors.of_rows) {
            assert_eq!(point[factor], 0.0);
            mean += point[1 - factor] / 2000.0;
        }
        // 128,000 pairs differ with chance 1/2: the standard error is 0.0014.
        assert!((mean - 0.5).abs() < 0.006, "{mean}");
        assert!((900..1100).contains(&factors.of_rows.iter().sum::<usize>()));
    }

    #[test]
    fn one_factor_cannot_be_told_from_others() {
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(array![[0.0], [1.0]], array![[0.0], [1.0]], space, Extras::default()).unwrap();
        let scores = BetaVae::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/beta_vae"));
        assert_eq!(scores.undefined[0].reason, "needs at least two discrete factors to tell apart, found 1");
    }

    #[test]
    fn constant_codes_are_guesses() {
        let scores = BetaVae::default()
            .score(&Subject::new(&data(Array2::ones((4, 2))), Seed(1)), &mut Seed(1).stream("metric/beta_vae"));
        assert!((scores.value("beta_vae").unwrap() - 0.5).abs() < 0.03);
    }
}
