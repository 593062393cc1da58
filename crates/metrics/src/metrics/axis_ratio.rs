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
//! `axis_ratio.averaged` is disent's `linearity.axis_ratio_ave.var`: each latent's variance is averaged over the
//! traversals of a factor before the share is taken, so that it also sees whether it is the same latent each time.
//!
//! Departures: all complete traversals in the table are used instead of a random draw; those along which no latent
//! moves take no part, since 0/0 has no value.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::geometric_mean::geometric_mean;
use crate::traversal_ratios::{each_factors, ratio_means, values_of_factors, with_ratios};
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// The axis-alignment ratio, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AxisRatio {}

impl Metric for AxisRatio {
    /// `axis_ratio`, `axis_ratio.arithmetic`, `axis_ratio.averaged` and `axis_ratio.FACTOR`, all in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let averaged = values_of_factors(data, &each_factors(subject, |ratios| ratios.axis_of_mean_variances));
        let ratios = each_factors(subject, |ratios| ratios.axis);
        // What is of the whole comes first, and keeps its name where a factor is called like it.
        let scores = ratio_means("axis_ratio", data, &ratios)
            .with_outcome("axis_ratio.averaged", averaged.map(|ratios| geometric_mean(&ratios)));
        with_ratios(scores, "axis_ratio", data, &ratios)
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "axis_ratio",
    about: "share of a factor's traversal that runs along one latent",
    paper: "Michlo 2022",
    settings: &[],
    scores: &[
        ScoreKind { name: "axis_ratio", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "axis_ratio.arithmetic", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "axis_ratio.averaged", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<AxisRatio>(table)?)),
    complete: settings::complete::<AxisRatio>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
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
        let single = "factor \"colour\" has a single value";
        assert_eq!((scores.undefined.len(), scores.reason("axis_ratio.colour")), (1, Some(single)));
    }

    #[test]
    fn averaged_variances_see_whether_it_is_the_same_latent_each_time() {
        // shape moves (3, 0) at scale 0 and (0, 3) at scale 1: both along an axis, but on average along both alike.
        let scores = score(array![[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 4.0]]);
        assert!((scores.value("axis_ratio.shape").unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(scores.value("axis_ratio.averaged"), Some(0.0));
        // With shape moving (3, 0) both times it has 1, and scale, which moves (0, 1) both times, too.
        let scores = score(array![[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]]);
        assert!((scores.value("axis_ratio.averaged").unwrap() - 1.0).abs() < 1e-12);
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
        assert_eq!(scores.reason("axis_ratio"), Some(reason.as_str()));
        assert!(scores.value("axis_ratio.shape").is_some());
    }

    #[test]
    fn a_single_latent_cannot_be_normalised() {
        let scores = score(array![[0.0], [1.0], [2.0], [3.0]]);
        assert!(scores.values.is_empty());
        assert_eq!(scores.undefined[0].reason, "with a single latent all traversals lie on its axis");
    }
}
