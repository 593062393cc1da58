//! Linearity ratio: how well the codes along a factor's traversal lie on one straight line, whatever its direction.
//!
//! Michlo 2022, "Disentanglement using VAEs resembles distance learning and requires overlapping data", equations 4.7
//! to 4.9. With `lambda` the eigenvalues of the covariance of a traversal's codes, the share of the first principal
//! component,
//!
//! `share = max_k lambda_k / sum_j lambda_j`,
//!
//! is brought from [1/D, 1] to [0, 1], averaged over the traversals of each factor, and then over the factors by the
//! geometric mean.
//!
//! Departures: all complete traversals in the table are used instead of a random draw; those along which no latent
//! moves take no part, since 0/0 has no value.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::traversal_ratios::{each_factors, ratio_means, with_ratios};
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// The linearity ratio, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinearityRatio {}

impl Metric for LinearityRatio {
    /// `linearity_ratio`, `linearity_ratio.arithmetic` and `linearity_ratio.FACTOR`, all in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let (data, ratios) = (subject.data(), each_factors(subject, |ratios| ratios.linearity));
        with_ratios(ratio_means("linearity_ratio", data, &ratios), "linearity_ratio", data, &ratios)
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "linearity_ratio",
    about: "share of a factor's traversal that lies on a straight line",
    paper: "Michlo 2022",
    settings: &[],
    scores: &[
        ScoreKind { name: "linearity_ratio", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "linearity_ratio.arithmetic", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[
        LatentOrder,
        LatentSigns,
        CommonScale,
        Shift,
        Rotation,
        RowOrder,
        ValueOrder,
        LogVariances,
        Losses,
    ],
    build: |table| Ok(Box::new(settings::read::<LinearityRatio>(table)?)),
    complete: settings::complete::<LinearityRatio>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    #[test]
    fn a_cross_with_unequal_arms() {
        // Deviations (3, 0), (-3, 0), (0, 1), (0, -1): eigenvalues 18 and 2, so a share of 0.9, and (0.9 - 0.5) / 0.5.
        let codes = array![[4.0, 1.0], [-2.0, 1.0], [1.0, 2.0], [1.0, 0.0]];
        let factors = array![[0.0], [1.0], [2.0], [3.0]];
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("shape", 4)]), Extras::default()).unwrap();
        let mut rng = Seed(1).stream("metric/linearity_ratio");
        let scores = LinearityRatio::default().score(&Subject::new(&data, Seed(1)), &mut rng);
        for name in ["linearity_ratio", "linearity_ratio.arithmetic", "linearity_ratio.shape"] {
            assert!((scores.value(name).unwrap() - 0.8).abs() < 1e-12, "{name}");
        }
    }
}
