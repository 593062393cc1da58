//! Mutual information gap of latents: how much more a latent tells about its best factor than about the second best.
//!
//! Li et al. 2020, "Progressive learning and disentanglement of hierarchical representations", equation 8, on the
//! estimator of `mig` (20 equal-width bins, train rows):
//!
//! `mig_sup = 1/D sum_j (I(z_j; v_best) / H(v_best) - I(z_j; v_second) / H(v_second))`
//!
//! Carbonneau et al. 2022 divide by the entropy of the latent's bins: `normaliser = "latent_entropy"`, and take 10 bins.
//!
//! Departures: a latent without entropy scores 0 instead of NaN, and a factor with a single value is told nothing
//! about; where there is one factor only, the second best is 0. A continuous factor is binned like a latent.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::gap::gap;
use crate::statistics::information::{BINS, Binning, NORMALISER, Normaliser, check_bins, published};
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of the mutual information gap of latents.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct MigSup {
    /// How many bins each latent is cut into; 20 in Locatello et al. 2019.
    pub bins: NonZeroUsize,
    /// What information is divided by; the factor's entropy in Li et al. 2020. Gaps of `"none"` are in nats.
    pub normaliser: Normaliser,
}

impl Default for MigSup {
    fn default() -> Self {
        Self { bins: published(20), normaliser: Normaliser::FactorEntropy }
    }
}

impl Metric for MigSup {
    /// `mig_sup` and `mig_sup.z0`, `mig_sup.z1`, ... in [0, 1], and the matrix `mig_sup.information` of shares.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let Tables { codes, factors } = subject.train();
        let information = subject.information(Binning::EqualWidth, self.bins.get());
        let shares = information.normalised(self.normaliser); // [latents, factors]
        let reason = match (all_constant(codes), all_constant(factors)) {
            (true, _) => Some("every latent is constant"),
            (_, true) => Some("every factor is constant"),
            _ => None,
        };
        let gaps: Vec<f64> = shares.outer_iter().map(gap).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;

        let mut scores = Scores::new().with_outcome("mig_sup", reason.map_or(Ok(mean), Err));
        for (latent, &gap) in gaps.iter().enumerate() {
            scores = scores.with_latent("mig_sup", latent, reason.map_or(Ok(gap), Err));
        }
        scores.with_matrix(Matrix::of_latents_and_factors("mig_sup.information", data, shares))
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "mig_sup",
    about: "gap between the two factors that each latent tells most about",
    paper: "Li et al. 2020",
    settings: &[BINS, NORMALISER],
    scores: &[ScoreKind { name: "mig_sup", least: 0.0, greatest: 1.0, better: High }],
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
        let mig_sup: MigSup = settings::read(table)?;
        check_bins(mig_sup.bins)?;
        Ok(Box::new(mig_sup))
    },
    complete: settings::complete::<MigSup>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(mig_sup: &MigSup, codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        mig_sup.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/mig_sup"))
    }

    #[test]
    fn gaps_worked_by_hand() {
        // z0 is the first factor: 1 - 0. z1 tells the rows apart, hence both factors alike: 1 - 1. z2 never moves: 0.
        let codes = array![[0.0, 0.0, 0.1], [0.0, 1.0, 0.1], [1.0, 2.0, 0.1], [1.0, 3.0, 0.1]];
        let scores = score(&MigSup::default(), codes.clone());
        for (name, expected) in [("mig_sup.z0", 1.0), ("mig_sup.z1", 0.0), ("mig_sup.z2", 0.0), ("mig_sup", 1.0 / 3.0)]
        {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        // In shares of the latents' own entropies (ln 2, ln 4, 0) the gaps are the same, but z1's shares are halves.
        let scores = score(&MigSup { normaliser: Normaliser::LatentEntropy, ..MigSup::default() }, codes);
        assert!((scores.value("mig_sup").unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert!((scores.matrices[0].values[[1, 0]] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(&MigSup::default(), Array2::ones((4, 2)));
        assert!(scores.values.is_empty());
        assert_eq!(scores.reason("mig_sup"), Some("every latent is constant"));
    }
}
