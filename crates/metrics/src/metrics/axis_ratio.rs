//! Axis-alignment ratio: how much of the movement along a factor's traversal is along a single latent.
//!
//! Michlo 2022, "Disentanglement using VAEs resembles distance learning and requires overlapping data", equations 4.4
//! to 4.6. For a traversal with codes `z` of `D` latents, the share of the most varying latent,
//!
//! `share = max_k Var[z_k] / sum_j Var[z_j]`,
//!
//! is brought from [1/D, 1] to [0, 1], averaged over the traversals of each factor, and then over the factors by the
//! geometric mean.
//!
//! Departures: all complete traversals in the table are used instead of a random draw; those along which no latent
//! moves take no part, since 0/0 has no value.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Change::*;
use crate::traversal_ratios::{mean_per_factor, normalised, ratio_scores};
use crate::{Entry, Metric, Scores, Subject};

/// The axis-alignment ratio, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AxisRatio {}

impl Metric for AxisRatio {
    /// `axis_ratio`, `axis_ratio.arithmetic` and `axis_ratio.FACTOR`, all in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let per_factor = mean_per_factor(data, |deviations| [axis_ratio(deviations)]);
        let per_factor: Vec<Result<f64, String>> =
            per_factor.into_iter().map(|ratio| ratio.map(|[axis]| axis)).collect();
        ratio_scores("axis_ratio", data, &per_factor)
    }
}

/// The normalised ratio of one traversal that moves, given as deviations `[values, latents]`.
pub fn axis_ratio(deviations: &Array2<f64>) -> f64 {
    let mut variances = vec![0.0; deviations.ncols()]; // up to a factor that the ratio cancels
    for of_row in deviations.outer_iter() {
        for (variance, deviation) in variances.iter_mut().zip(of_row) {
            *variance += deviation * deviation;
        }
    }
    let largest = variances.iter().fold(0.0_f64, |largest, &variance| largest.max(variance));
    normalised(largest / variances.iter().sum::<f64>(), deviations.ncols())
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "axis_ratio",
    about: "share of a factor's traversal that runs along one latent",
    paper: "Michlo 2022",
    ranges: &[("axis_ratio", 0.0, 1.0)],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<AxisRatio>(table)?)),
    complete: settings::complete::<AxisRatio>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>) -> Scores {
        let space = FactorSpace::grid([("shape", 2), ("colour", 1), ("scale", 2)]);
        let factors = array![[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]];
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        AxisRatio::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/axis_ratio"))
    }

    #[test]
    fn ratios_worked_by_hand() {
        // shape moves (3, 1) both times: 9/10, normalised by two latents (0.9 - 0.5) / 0.5 = 0.8.
        // scale moves (0, 2) both times, along one axis, so 1.
        let scores = score(array![[0.0, 0.0], [0.0, 2.0], [3.0, 1.0], [3.0, 3.0]]);
        let expected = [("shape", 0.8), ("scale", 1.0), ("arithmetic", 0.9)];
        for (name, value) in expected {
            assert!((scores.value(&format!("axis_ratio.{name}")).unwrap() - value).abs() < 1e-12, "{name}");
        }
        assert!((scores.value("axis_ratio").unwrap() - 0.8_f64.sqrt()).abs() < 1e-12);
        let single = ("axis_ratio.colour".to_string(), "factor \"colour\" has a single value".to_string());
        assert_eq!(scores.undefined, [single]);
    }

    #[test]
    fn a_traversal_that_does_not_move_takes_no_part() {
        // scale moves nothing at shape 0 and (0, 2) at shape 1.
        let scores = score(array![[0.1, 0.1], [0.1, 0.1], [3.0, 1.0], [3.0, 3.0]]);
        assert!((scores.value("axis_ratio.scale").unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_factor_that_moves_nothing_is_named() {
        let scores = score(array![[0.1, 0.1], [0.1, 0.1], [3.0, 1.0], [3.0, 1.0]]);
        let reason = "no latent moves along any traversal of factor \"scale\"".to_string();
        assert_eq!(scores.undefined[0], ("axis_ratio".to_string(), reason));
        assert!(scores.value("axis_ratio.shape").is_some());
    }

    #[test]
    fn a_single_latent_cannot_be_normalised() {
        let scores = score(array![[0.0], [1.0], [2.0], [3.0]]);
        assert!(scores.values.is_empty());
        assert_eq!(scores.undefined[0].1, "with a single latent all traversals lie on its axis");
    }
}
