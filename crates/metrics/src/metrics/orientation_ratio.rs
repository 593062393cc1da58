//! Axis-orientation ratio: how well the line along which a factor moves the codes points along a latent, however straight
//! that line is.
//!
//! Michlo 2022, "Disentanglement using VAEs resembles distance learning and requires overlapping data", equation A.1,
//! from the axis ratio (4.6) and the linearity ratio (4.9):
//!
//! `orientation = axis / linearity`
//!
//! `orientation_ratio.per_traversal` divides within each traversal instead, before the means are taken; that is what
//! disent reports as `linearity.axis_alignment.var`. A traversal that spreads alike in all directions, for which both
//! ratios are 0, counts 0 there, as in disent.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::geometric_mean::geometric_mean;
use crate::traversal_ratios::{TraversalRatios, each_factors, quotient, values_of_factors};
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// The axis-orientation ratio, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OrientationRatio {}

impl Metric for OrientationRatio {
    /// `orientation_ratio`, `orientation_ratio.per_traversal` and `orientation_ratio.FACTOR`, all in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let over_factors = |ratio: fn(&TraversalRatios) -> f64| {
            values_of_factors(data, &each_factors(subject, ratio)).map(|ratios| geometric_mean(&ratios))
        };
        let axis = over_factors(|ratios| ratios.axis);
        let orientation = axis.and_then(|axis| quotient(axis, over_factors(|ratios| ratios.linearity)?));
        let mut scores = Scores::new()
            .with_outcome("orientation_ratio", orientation)
            .with_outcome("orientation_ratio.per_traversal", over_factors(|ratios| ratios.orientation));
        for (factor, ratios) in data.space().names().zip(subject.traversal_ratios()) {
            let orientation = ratios.clone().and_then(|ratios| quotient(ratios.axis, ratios.linearity));
            scores = scores.with_factor("orientation_ratio", factor, orientation);
        }
        scores
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "orientation_ratio",
    about: "axis ratio over linearity ratio: direction whatever the straightness",
    paper: "Michlo 2022",
    settings: &[],
    scores: &[
        ScoreKind { name: "orientation_ratio", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "orientation_ratio.per_traversal", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<OrientationRatio>(table)?)),
    complete: settings::complete::<OrientationRatio>,
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
        OrientationRatio::default()
            .score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/orientation_ratio"))
    }

    #[test]
    fn straight_lines_have_the_axis_ratio() {
        // Two values always lie on a line, so linearity is 1. shape moves (3, 1): 0.8, scale moves (0, 2): 1.
        let scores = score(array![[0.0, 0.0], [0.0, 2.0], [3.0, 1.0], [3.0, 3.0]]);
        for name in ["orientation_ratio", "orientation_ratio.per_traversal"] {
            assert!((scores.value(name).unwrap() - 0.8_f64.sqrt()).abs() < 1e-12, "{name}");
        }
        assert!((scores.value("orientation_ratio.shape").unwrap() - 0.8).abs() < 1e-12);
    }

    #[test]
    fn a_diagonal_points_along_no_axis() {
        let scores = score(array![[0.0, 0.0], [1.0, -1.0], [1.0, 1.0], [2.0, 0.0]]);
        assert_eq!(scores.value("orientation_ratio"), Some(0.0));
    }
}
