//! Mean correlation coefficient: how strongly each factor correlates with the latent that is matched to it.
//!
//! Hyvarinen and Morioka 2016, "Unsupervised feature extraction by time-contrastive learning and nonlinear ICA", and
//! Klindt et al. 2021, "Towards nonlinear disentanglement in natural data with temporal sparse coding": with the absolute
//! correlations `P [factors, latents]` of the train rows,
//!
//! `mcc = 1/M max_m sum_k P[k, m(k)]` over all one-to-one matchings `m` of the `M` factors with latents.
//!
//! The matching is exact. `mcc` is `mcc.pearson`, the coefficient of the first paper; `mcc.spearman`, of ranks, is that
//! of Klindt et al.
//!
//! Departures: a constant latent or factor, for which the correlation is not defined, correlates 0 with everything.
//! Where there are fewer latents than factors, those left over count as 0, so that the sum is always divided by the number
//! of factors. Klindt et al. add columns of noise to the factors until there are as many as latents, which take part in
//! the matching and not in the mean; here the true factors are matched alone, and nothing is drawn at random.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use unbraid_data::{LabelledCodes, Rng, settings};

use crate::Better::*;
use crate::Change::*;
use crate::statistics::assignment::best_assignment;
use crate::statistics::pearson::absolute_pearson_matrix;
use crate::statistics::spearman::absolute_spearman_matrix;
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// The mean correlation coefficient, which has no settings: both coefficients are always reported.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Mcc {}

impl Metric for Mcc {
    /// `mcc`, `mcc.pearson` and `mcc.spearman` in [0, 1]; for each coefficient each factor's share
    /// `mcc.pearson.FACTOR` and the number of the latent matched to it, `mcc.pearson.latent.FACTOR`; and the matrices
    /// `mcc.pearson` and `mcc.spearman`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let Tables { codes, factors } = subject.train();
        let missing = if all_constant(codes) {
            Err("every latent is constant")
        } else if all_constant(factors) {
            Err("every factor is constant")
        } else {
            Ok(())
        };
        let pearson = Matching::new(absolute_pearson_matrix(codes, factors));
        let spearman = Matching::new(absolute_spearman_matrix(codes, factors));
        let mut scores = Scores::new()
            .with_outcome("mcc", missing.map(|()| pearson.mean()))
            .with_outcome("mcc.pearson", missing.map(|()| pearson.mean()))
            .with_outcome("mcc.spearman", missing.map(|()| spearman.mean()));
        for (name, matching) in [("mcc.pearson", pearson), ("mcc.spearman", spearman)] {
            if missing.is_ok() {
                scores = matching.add_parts(name, subject.data(), scores);
            }
            scores = scores.with_matrix(Matrix::of_latents_and_factors(name, subject.data(), matching.correlation));
        }
        scores
    }
}

/// The best matching of factors with latents.
struct Matching {
    /// Absolute, `[latents, factors]`.
    correlation: Array2<f64>,
    /// `[factors]`.
    latent_of_factor: Vec<Option<usize>>,
}

impl Matching {
    fn new(correlation: Array2<f64>) -> Self {
        let latent_of_factor = best_assignment(&correlation.t().to_owned());
        Self { correlation, latent_of_factor }
    }

    /// Each factor's correlation with its latent, 0 where none is left for it. `[factors]`
    fn of_factors(&self) -> Vec<f64> {
        let of_factors = self.latent_of_factor.iter().enumerate();
        of_factors.map(|(factor, latent)| latent.map_or(0.0, |latent| self.correlation[[latent, factor]])).collect()
    }

    fn mean(&self) -> f64 {
        self.of_factors().iter().sum::<f64>() / self.latent_of_factor.len() as f64
    }

    fn add_parts(&self, name: &str, data: &LabelledCodes, mut scores: Scores) -> Scores {
        for (factor, correlation) in data.space().names().zip(self.of_factors()) {
            scores = scores.with_factor(name, factor, Ok::<f64, String>(correlation));
        }
        for (factor, latent) in data.space().names().zip(&self.latent_of_factor) {
            let latent = latent.map(|latent| latent as f64);
            let latent = latent.ok_or("there are fewer latents than factors, and none is left for this one");
            scores = scores.with_factor(&format!("{name}.latent"), factor, latent);
        }
        scores
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "mcc",
    about: "mean correlation of factors with the latents that are matched to them one to one",
    paper: "Hyvarinen and Morioka 2016",
    settings: &[],
    scores: &[
        ScoreKind { name: "mcc", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "mcc.pearson", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "mcc.spearman", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "mcc.pearson.latent", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "mcc.spearman.latent", least: 0.0, greatest: f64::INFINITY, better: Neither },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, LatentScales, Shift, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<Mcc>(table)?)),
    complete: settings::complete::<Mcc>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    fn score(codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        Mcc::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/mcc"))
    }

    fn assert_close(scores: &Scores, expected: &[(&str, f64)]) {
        for (name, expected) in expected {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}: {scores:?}");
        }
    }

    #[test]
    fn the_best_matching_is_not_the_greedy_one() {
        // With factors a and b (deviations +-1/2), z0 = 2a + b and z1 = a. Both like a best: z1 correlates 1 with it and z0
        // 2/sqrt(5), but z1 says nothing of b, with which z0 correlates 1/sqrt(5).
        // Matched a-z1, b-z0: (1 + 1/sqrt 5) / 2 = 0.7236; the other way (2/sqrt 5 + 0) / 2 = 0.4472.
        let scores = score(array![[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]);
        let of_b = 1.0 / 5_f64.sqrt();
        let expected = [("mcc.pearson.shape", 1.0), ("mcc.pearson.scale", of_b), ("mcc.pearson", (1.0 + of_b) / 2.0)];
        assert_close(&scores, &expected);
        assert_close(&scores, &[("mcc.pearson.latent.shape", 1.0), ("mcc.pearson.latent.scale", 0.0)]);
        assert_eq!(scores.value("mcc"), scores.value("mcc.pearson"));
        assert_eq!(scores.matrices[0].name, "mcc.pearson");
    }

    #[test]
    fn ranks_see_through_a_bent_latent() {
        // z0 orders the rows as 2a + b does, however far apart: its ranks 1 to 4 correlate 2/sqrt(5) with a. z1 is b.
        let scores = score(array![[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1e9, 1.0]]);
        assert_close(&scores, &[("mcc.spearman.shape", 2.0 / 5_f64.sqrt()), ("mcc.spearman.scale", 1.0)]);
        assert!(scores.value("mcc.pearson.shape").unwrap() < 0.6);
    }

    #[test]
    fn a_factor_without_a_latent_counts_as_zero() {
        let scores = score(array![[0.0], [1.0], [0.0], [1.0]]);
        assert_close(&scores, &[("mcc", 0.5), ("mcc.pearson.shape", 0.0), ("mcc.pearson.latent.scale", 0.0)]);
        assert!(scores.reason("mcc.pearson.latent.shape").is_some());
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(Array2::ones((4, 2)));
        assert!(scores.values.is_empty());
        assert_eq!(scores.reason("mcc"), Some("every latent is constant"));
    }
}
