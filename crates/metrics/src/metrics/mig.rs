//! Mutual information gap: how much more the best latent tells about a factor than the second best does.
//!
//! Chen et al. 2018, "Isolating sources of disentanglement in VAEs", equation 6, with the estimator of Locatello et al.
//! 2019: each latent is cut into 20 equal-width bins between its smallest and largest value on the train rows, and the
//! information is counted from the joint histogram:
//!
//! `mig = 1/K sum_k (I(z_best; v_k) - I(z_second; v_k)) / H(v_k)`
//!
//! Carbonneau et al. 2022 ("Measuring disentanglement") take 10 bins and divide each information by the entropy of the
//! latent's bins instead: `bins = 10`, `normaliser = "latent_entropy"`.
//!
//! Departures: a factor with a single value has no entropy to divide by and takes no part; a continuous factor is
//! binned like a latent; where there is one latent only, the second best tells 0.

use std::num::NonZeroUsize;

use ndarray::Axis;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::gap::gap;
use crate::statistics::information::{BINS, Binning, Information, NORMALISER, Normaliser, check_bins, published};
use crate::statistics::mean::mean_of_defined;
use crate::subject::all_constant;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of the mutual information gap.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Mig {
    /// How many bins each latent is cut into; 20 in Locatello et al. 2019.
    pub bins: NonZeroUsize,
    /// What information is divided by; the factor's entropy in Chen et al. 2018. Gaps of `"none"` are in nats.
    pub normaliser: Normaliser,
}

impl Default for Mig {
    fn default() -> Self {
        Self { bins: published(20), normaliser: Normaliser::FactorEntropy }
    }
}

impl Metric for Mig {
    /// `mig` and `mig.FACTOR` in [0, 1], and the matrix `mig.mutual_information` in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let information = subject.information(Binning::EqualWidth, self.bins.get());
        let per_factor = if all_constant(&subject.train().codes) {
            vec![Err("every latent is constant".to_string()); data.n_factors()]
        } else {
            self.gaps(&information)
        };
        let mut scores = Scores::new().with_outcome("mig", mean_of_defined(&per_factor));
        for (factor, gap) in data.space().names().zip(&per_factor) {
            scores = scores.with_factor("mig", factor, gap.as_ref().copied());
        }
        let matrix = information.matrix.clone();
        scores.with_matrix(Matrix::of_latents_and_factors("mig.mutual_information", data, matrix))
    }
}

impl Mig {
    /// The gap of each factor, or why it has none.
    fn gaps(&self, information: &Information) -> Vec<Result<f64, String>> {
        let shares = information.normalised(self.normaliser); // [latents, factors]
        let of_factors = shares.axis_iter(Axis(1)).zip(&information.factor_entropies);
        of_factors
            .map(
                |(of_latents, &entropy)| {
                    if entropy > 0.0 { Ok(gap(of_latents)) } else { Err(SINGLE_VALUE.to_string()) }
                },
            )
            .collect()
    }
}

/// Why a factor has no share of its entropy.
pub const SINGLE_VALUE: &str = "the factor has a single value, so its entropy is zero";

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "mig",
    about: "gap between the two latents that tell most about each factor",
    paper: "Chen et al. 2018",
    settings: &[BINS, NORMALISER],
    scores: &[ScoreKind { name: "mig", least: 0.0, greatest: 1.0, better: High }],
    needs: &[],
    left_alone_by: &[
        LatentOrder,
        LatentSigns,
        CommonScale,
        LatentScales,
        Shift,
        RowOrder,
        ValueOrder,
        LogVariances,
        Losses,
    ],
    build: |table| {
        let mig: Mig = settings::read(table)?;
        check_bins(mig.bins)?;
        Ok(Box::new(mig))
    },
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
        assert_eq!((scores.undefined.len(), scores.reason("mig.colour")), (1, Some(reason.as_str())));
    }

    #[test]
    fn the_entropy_of_the_latent_may_be_the_measure() {
        // z0 takes four values, of which the factor is one bit: ln 2 of ln 4. z1 is constant, which is no share at all.
        let codes = array![[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]];
        let factors = array![[0.0], [0.0], [1.0], [1.0]];
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("shape", 2)]), Extras::default()).unwrap();
        for (normaliser, expected) in [("latent_entropy", 0.5), ("none", 2_f64.ln())] {
            let mig = (ENTRY.build)(&format!("bins = 10\nnormaliser = \"{normaliser}\"").parse().unwrap()).unwrap();
            let scores = mig.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/mig"));
            assert!((scores.value("mig").unwrap() - expected).abs() < 1e-12, "{normaliser}");
        }
    }

    #[test]
    fn more_bins_than_make_sense_are_refused() {
        assert!((ENTRY.build)(&"bins = 10001".parse().unwrap()).is_err());
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(array![[0.1, 3.0], [0.1, 3.0]], array![[0.0], [1.0]], &[("shape", 2)]);
        assert!(scores.values.is_empty());
        assert_eq!(scores.reason("mig"), Some("every latent is constant"));
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
