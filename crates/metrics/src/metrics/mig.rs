//! Mutual information gap: how much more the best latent tells about a factor than the second best does.
//!
//! Chen et al. 2018, "Isolating sources of disentanglement in VAEs", equation 6, with the estimator of Locatello et al.
//! 2019: each latent is cut into 20 equal-width bins between its smallest and largest value on the train rows, and the
//! information is counted from the joint histogram:
//!
//! `mig = 1/K sum_k (I(z_best; v_k) - I(z_second; v_k)) / H(v_k)`
//!
//! Departures: a factor with a single value has no entropy to divide by and takes no part; a continuous factor is
//! binned like a latent; where there is one latent only, the second best tells 0.

use std::num::NonZeroUsize;

use ndarray::{ArrayRef1, Axis};
use serde::{Deserialize, Serialize};
use unbraid_data::{Error, Rng, settings};

use crate::Change::*;
use crate::statistics::classes::{Classes, classes_of_factors, classes_of_latents};
use crate::statistics::entropy::entropy;
use crate::statistics::gap::gap;
use crate::statistics::mutual_information::mutual_information_matrix;
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, Scores, Subject};

/// More bins than this would leave most of them empty for any number of rows.
const MOST_BINS: usize = 10_000;

/// Settings of the mutual information gap.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Mig {
    /// How many bins each latent is cut into; 20 in Locatello et al. 2019.
    pub bins: NonZeroUsize,
}

impl Default for Mig {
    fn default() -> Self {
        Self { bins: NonZeroUsize::new(20).expect("20 is not zero") }
    }
}

impl Mig {
    fn check(self) -> unbraid_data::Result<Self> {
        if self.bins.get() <= MOST_BINS {
            return Ok(self);
        }
        Err(Error::new(format!("setting \"bins\" is {}", self.bins)).help(format!("wanted 1 to {MOST_BINS}")))
    }
}

impl Metric for Mig {
    /// `mig` and `mig.FACTOR` in [0, 1], and the matrix `mig.mutual_information` in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let Tables { codes, factors } = subject.train();
        let latent_classes = classes_of_latents(codes, self.bins.get());
        let factor_classes = classes_of_factors(factors, data.space().factors(), self.bins.get());
        let information = mutual_information_matrix(&latent_classes, &factor_classes); // [latents, factors]

        let per_factor: Vec<Result<f64, String>> = if all_constant(codes) {
            vec![Err("every latent is constant".to_string()); data.n_factors()]
        } else {
            let of_factors = information.axis_iter(Axis(1)).zip(&factor_classes);
            of_factors.map(|(of_latents, classes)| normalised_gap(&of_latents, classes)).collect()
        };

        let mut scores = Scores::new().with_outcome("mig", mean_of_defined(&per_factor));
        for (factor, gap) in data.space().names().zip(&per_factor) {
            scores = scores.with_outcome(&format!("mig.{factor}"), gap.as_ref().copied());
        }
        scores.with_matrix(Matrix::of_latents_and_factors("mig.mutual_information", data, information))
    }
}

/// The gap of one factor, whose information with each latent is `of_latents [latents]`.
fn normalised_gap(of_latents: &ArrayRef1<f64>, classes: &Classes) -> Result<f64, String> {
    match entropy(classes) {
        0.0 => Err("the factor has a single value, so its entropy is zero".to_string()),
        // Information is at most the entropy, but the two are added up in another order.
        entropy => Ok((gap(of_latents) / entropy).min(1.0)),
    }
}

/// The mean over the factors that have a gap; where none has one, why the first has none.
fn mean_of_defined(per_factor: &[Result<f64, String>]) -> Result<f64, String> {
    let gaps: Vec<f64> = per_factor.iter().flatten().copied().collect();
    match per_factor.iter().find_map(|gap| gap.as_ref().err()) {
        Some(reason) if gaps.is_empty() => Err(reason.clone()),
        _ => Ok(gaps.iter().sum::<f64>() / gaps.len() as f64),
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "mig",
    about: "gap between the two latents that tell most about each factor",
    paper: "Chen et al. 2018",
    ranges: &[("mig", 0.0, 1.0)],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, LatentScales, Shift, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<Mig>(table)?.check()?)),
    complete: settings::complete::<Mig>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>, factors: Array2<f64>, sizes: &[(&str, usize)]) -> Scores {
        let space = FactorSpace::grid(sizes.iter().copied());
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        Mig::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/mig"))
    }

    #[test]
    fn a_gap_worked_by_hand() {
        // z0 is the factor: ln 2. z1 has one row in four out of place: 0.25 ln 2 + 0.25 ln 2/3 + 0.5 ln 4/3 = 0.215762.
        let codes = array![[0.0, 0.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]];
        let scores = score(codes, array![[0.0], [0.0], [1.0], [1.0]], &[("shape", 2)]);
        let expected = (2_f64.ln() - 0.215_761_554) / 2_f64.ln();
        assert!((scores.value("mig.shape").unwrap() - expected).abs() < 1e-8);
        assert_eq!(scores.value("mig"), scores.value("mig.shape"));
        assert!((scores.matrices[0].values[[1, 0]] - 0.215_761_554).abs() < 1e-8);
    }

    #[test]
    fn a_factor_with_one_value_takes_no_part() {
        let factors = array![[0.0, 0.0], [1.0, 0.0]];
        let scores = score(array![[0.0], [1.0]], factors, &[("shape", 2), ("colour", 1)]);
        assert!((scores.value("mig").unwrap() - 1.0).abs() < 1e-12);
        let reason = "the factor has a single value, so its entropy is zero".to_string();
        assert_eq!(scores.undefined, [("mig.colour".to_string(), reason)]);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(array![[0.1, 3.0], [0.1, 3.0]], array![[0.0], [1.0]], &[("shape", 2)]);
        assert!(scores.values.is_empty());
        assert_eq!(scores.undefined[0], ("mig".to_string(), "every latent is constant".to_string()));
    }

    #[test]
    fn a_continuous_factor_is_binned_like_a_latent() {
        // 40 evenly spread values fill 20 bins with two each; the latent falls into the same bins, so it tells all.
        let values = Array2::from_shape_fn((40, 1), |(row, _)| row as f64);
        let space = FactorSpace::sample(vec![Factor { name: "angle".to_string(), size: None }]);
        let data = LabelledCodes::new(&values * 3.0, values, space, Extras::default()).unwrap();
        let scores = Mig::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/mig"));
        assert!((scores.value("mig").unwrap() - 1.0).abs() < 1e-12);
    }
}
