//! Joint entropy minus mutual information gap: a factor's best latent should tell it, alone, and say nothing else.
//!
//! Do and Tran 2020, "Theory and evaluation metrics for learning disentangled representations", section 3.5, scaled as
//! Carbonneau et al. 2022 ("Measuring disentanglement") do, so that 1 is best. With z the latent that tells most about
//! factor `v_k`, and B bins:
//!
//! `jemmig_k = 1 - (H(v_k, z_best) - I(v_k; z_best) + I(v_k; z_second)) / (H(v_k) + ln B)`
//!
//! and `jemmig` is the mean over the factors. Latents are moved to [0, 1] and cut into 10 bins on the train rows; a
//! discrete factor's values are its classes.
//!
//! Departures: a factor with a single value takes no part; of latents that tell equally much, the one with the lower
//! joint entropy is the best, whatever their order; where there is one latent only, the second best tells 0.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::metrics::mig::SINGLE_VALUE;
use crate::statistics::gap::gap;
use crate::statistics::information::{BINS, Binning, Information, check_bins, published};
use crate::statistics::mean::mean_of_defined;
use crate::subject::all_constant;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of the joint entropy minus mutual information gap.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Jemmig {
    /// How many bins each latent is cut into; 10 in Carbonneau et al. 2022.
    pub bins: NonZeroUsize,
}

impl Default for Jemmig {
    fn default() -> Self {
        Self { bins: published(10) }
    }
}

impl Metric for Jemmig {
    /// `jemmig` and `jemmig.FACTOR` in [0, 1], and the matrix `jemmig.joint_entropy` in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let information = subject.information(Binning::UnitRange, self.bins.get());
        let outcome_of = |factor: usize| {
            if all_constant(&subject.train().codes) {
                Err("every latent is constant".to_string())
            } else if information.factor_entropies[factor] == 0.0 {
                Err(SINGLE_VALUE.to_string())
            } else {
                Ok(score_of_factor(&information, factor, self.bins.get()))
            }
        };
        let per_factor: Vec<Result<f64, String>> = (0..data.n_factors()).map(outcome_of).collect();
        let mut scores = Scores::new().with_outcome("jemmig", mean_of_defined(&per_factor));
        for (factor, outcome) in data.space().names().zip(&per_factor) {
            scores = scores.with_factor("jemmig", factor, outcome.as_ref().copied());
        }
        let mut joint = information.matrix.clone();
        joint.indexed_iter_mut().for_each(|((z, v), entry)| *entry = information.joint_entropy(z, v));
        scores.with_matrix(Matrix::of_latents_and_factors("jemmig.joint_entropy", data, joint))
    }
}

fn score_of_factor(information: &Information, factor: usize, n_bins: usize) -> f64 {
    let of_latents = information.matrix.column(factor);
    let most = of_latents.fold(0.0_f64, |most, &value| most.max(value));
    let best = (0..of_latents.len()).filter(|&latent| of_latents[latent] == most);
    let joint_entropy = best.map(|latent| information.joint_entropy(latent, factor)).fold(f64::INFINITY, f64::min);
    let largest = information.factor_entropies[factor] + (n_bins as f64).ln();
    1.0 - (joint_entropy - gap(of_latents)) / largest
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "jemmig",
    about: "joint entropy of each factor and its best latent, less its gap",
    paper: "Do and Tran 2020",
    settings: &[BINS],
    scores: &[ScoreKind { name: "jemmig", least: 0.0, greatest: 1.0, better: High }],
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
        let jemmig: Jemmig = settings::read(table)?;
        check_bins(jemmig.bins)?;
        Ok(Box::new(jemmig))
    },
    complete: settings::complete::<Jemmig>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]];
        let space = FactorSpace::grid([("shape", 2), ("colour", 1)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        Jemmig::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/jemmig"))
    }

    #[test]
    fn extra_detail_costs_its_entropy() {
        // z0 is the factor: H = ln 2, gap ln 2, so 1 - 0. Split further in two, it has H = ln 4: 1 - ln 2 / ln 20.
        let scores = score(array![[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]);
        assert!((scores.value("jemmig").unwrap() - 1.0).abs() < 1e-12);
        assert_eq!((scores.undefined.len(), scores.reason("jemmig.colour")), (1, Some(SINGLE_VALUE)));
        let scores = score(array![[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]);
        assert!((scores.value("jemmig.shape").unwrap() - (1.0 - 2_f64.ln() / 20_f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn of_equals_the_plainer_latent_is_best() {
        // Both tell ln 2, so the gap is 0; the joint entropy is ln 2 with z1: 1 - ln 2 / ln 20, in either order.
        for codes in [
            array![[0.0, 5.0], [1.0, 5.0], [2.0, 6.0], [3.0, 6.0]],
            array![[5.0, 0.0], [5.0, 1.0], [6.0, 2.0], [6.0, 3.0]],
        ] {
            assert!((score(codes).value("jemmig").unwrap() - (1.0 - 2_f64.ln() / 20_f64.ln())).abs() < 1e-12);
        }
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        assert_eq!(score(Array2::ones((4, 2))).undefined[0].reason, "every latent is constant");
    }
}
