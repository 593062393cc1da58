//! DCIMIG: each latent is credited to one factor with its gap, and each factor is worth its best latent's credit.
//!
//! Sepliarskaia et al. 2019, "Evaluating disentangled representations", section 5 (3CharM), in the form of Carbonneau et
//! al. 2022. With `k(j)` the factor that latent j tells most about, and `gap_j` how much more it tells about it than
//! about the second:
//!
//! `dcimig = sum_k max_(j: k(j) = k) gap_j / sum_k H(v_k)`
//!
//! Latents are moved to [0, 1] and cut into 10 bins on the train rows; a discrete factor's values are its classes.
//!
//! Departures: where there is one factor only, the second is told 0.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::metrics::mig::SINGLE_VALUE;
use crate::statistics::gap::gap;
use crate::statistics::information::{BINS, Binning, Information, check_bins, published};
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of DCIMIG.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Dcimig {
    /// How many bins each latent is cut into; 10 in Carbonneau et al. 2022.
    pub bins: NonZeroUsize,
}

impl Default for Dcimig {
    fn default() -> Self {
        Self { bins: published(10) }
    }
}

impl Metric for Dcimig {
    /// `dcimig` and `dcimig.FACTOR` (its credit as a share of its entropy) in [0, 1], and the matrix
    /// `dcimig.mutual_information` in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let Tables { codes, factors } = subject.train();
        let information = subject.information(Binning::UnitRange, self.bins.get());
        let credits = credits(&information);
        let entropies = &information.factor_entropies;
        let share = credits.iter().sum::<f64>() / entropies.iter().sum::<f64>();
        let whole = match (all_constant(codes), all_constant(factors)) {
            (true, _) => Err("every latent is constant"),
            (_, true) => Err("every factor is constant"),
            _ => Ok(share.min(1.0)),
        };
        let mut scores = Scores::new().with_outcome("dcimig", whole);
        for ((factor, credit), &entropy) in data.space().names().zip(credits).zip(entropies) {
            let of_factor = if entropy > 0.0 { Ok((credit / entropy).min(1.0)) } else { Err(SINGLE_VALUE) };
            scores = scores.with_factor("dcimig", factor, whole.and(of_factor));
        }
        let matrix = information.matrix.clone();
        scores.with_matrix(Matrix::of_latents_and_factors("dcimig.mutual_information", data, matrix))
    }
}

/// For each factor the largest gap of the latents that tell most about it, `[factors]`.
fn credits(information: &Information) -> Vec<f64> {
    let mut credits = vec![0.0_f64; information.factor_entropies.len()];
    for of_factors in information.matrix.outer_iter() {
        let gap = gap(of_factors);
        let best = (0..of_factors.len()).max_by(|&a, &b| of_factors[a].total_cmp(&of_factors[b]));
        // Of two best there is no gap, so that it does not matter which is credited.
        if let Some(best) = best {
            credits[best] = credits[best].max(gap);
        }
    }
    credits
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "dcimig",
    about: "each factor's largest gap among the latents that tell most about it",
    paper: "Sepliarskaia et al. 2019",
    settings: &[BINS],
    scores: &[ScoreKind { name: "dcimig", least: 0.0, greatest: 1.0, better: High }],
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
        let dcimig: Dcimig = settings::read(table)?;
        check_bins(dcimig.bins)?;
        Ok(Box::new(dcimig))
    },
    complete: settings::complete::<Dcimig>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        Dcimig::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/dcimig"))
    }

    #[test]
    fn credits_worked_by_hand() {
        // z0 is the first factor: ln 2. z1 tells both alike: no gap, so the second factor gets nothing. ln 2 / ln 4.
        let scores = score(array![[0.0, 0.0], [0.0, 1.0], [1.0, 2.0], [1.0, 3.0]]);
        for (name, expected) in [("dcimig", 0.5), ("dcimig.shape", 1.0), ("dcimig.scale", 0.0)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn a_second_latent_for_the_same_factor_adds_nothing() {
        let scores = score(array![[0.0, 5.0], [0.0, 5.0], [1.0, 6.0], [1.0, 6.0]]);
        assert!((scores.value("dcimig").unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        assert_eq!(score(Array2::ones((4, 2))).undefined[0].reason, "every latent is constant");
    }
}
