//! Restrictiveness: while only its factor is drawn anew, all other latents should stay.
//!
//! Shu et al. 2020, "Weakly supervised disentanglement with guarantees": a code is restricted to factor k if nothing but its
//! part for k changes between two images that differ in k alone. With images drawn by their true factors and the encoder
//! measured, as in the authors' evaluation, the normalised score of factor k, whose latent is j, is
//!
//! `restrictiveness_k = 1 - E ||z_\j - z'_\j||^2 / E ||z_\j - z''_\j||^2`
//!
//! over all latents but j, with z and z' of two images that share all factors but k, z and z'' of two independent ones. Half the
//! means are sums of variances, `E[Var(z_i | v_\k)]` and `Var(z_i)` over the latents i, and are taken over all complete
//! traversals of the factor, which is what the authors' 10,000 pairs tend to.
//!
//! Departures: the latent of a factor is found as in `consistency`; a factor for which none is left may move none. All other
//! latents count, also where there are more than factors (the authors' encoder has as many of both), each by its variance:
//! their codes have variance 1. The authors report the score less 1.

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::matched_latents::MatchedLatents;
use crate::statistics::deviations::{Deviations, deviations_of_columns};
use crate::traversal_ratios::values_of_factors;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// Restrictiveness, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Restrictiveness {}

impl Metric for Restrictiveness {
    /// `restrictiveness` and `restrictiveness.FACTOR`, in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let matched = match MatchedLatents::of(subject) {
            Ok(matched) => matched,
            Err(reason) => return Scores::new().without("restrictiveness", &reason),
        };
        let latents = deviations_of_columns(data.codes());
        let factors = matched.of_factors.iter().enumerate();
        let parts: Vec<Result<f64, String>> = factors
            .map(|(factor, latent)| restrictiveness(&latents, subject.traversals(factor)?, latent.clone()?))
            .collect();
        let mean = values_of_factors(data, &parts).map(|parts| parts.iter().sum::<f64>() / parts.len() as f64);
        let mut scores = Scores::new().with_outcome("restrictiveness", mean);
        for (factor, part) in data.space().names().zip(parts) {
            scores = scores.with_factor("restrictiveness", factor, part);
        }
        scores
    }
}

/// The score of one factor by its `traversals [traversals, values]` and its latent.
fn restrictiveness(latents: &[Deviations], traversals: &Array2<usize>, own: Option<usize>) -> Result<f64, String> {
    let others: Vec<&Deviations> =
        (0..latents.len()).filter(|&latent| Some(latent) != own).map(|latent| &latents[latent]).collect();
    if others.is_empty() {
        return Err("with a single latent there is no other that could move".to_string());
    }
    let unit = others.iter().fold(0.0_f64, |unit, latent| unit.max(latent.scale));
    let variances: Vec<[f64; 2]> = others.par_iter().map(|latent| variances(&latent.of_rows, traversals)).collect();
    let sum_of = |which: usize| -> f64 {
        let in_units = others.iter().zip(&variances).map(|(latent, of)| of[which] * (latent.scale / unit).powi(2));
        in_units.sum()
    };
    if unit == 0.0 || sum_of(1) == 0.0 {
        return Err("the other latents are constant and cannot move".to_string());
    }
    Ok((1.0 - sum_of(0) / sum_of(1)).clamp(0.0, 1.0))
}

/// The sums of squared deviations from each traversal's mean, and from the mean over the rows of all.
fn variances(values: &[f64], traversals: &Array2<usize>) -> [f64; 2] {
    let squares = |rows: &mut dyn Iterator<Item = &usize>| {
        let values: Vec<f64> = rows.map(|&row| values[row]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let within = traversals.axis_iter(Axis(0)).map(|rows| squares(&mut rows.iter())).sum();
    [within, squares(&mut traversals.iter())]
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "restrictiveness",
    about: "how far the other latents stay while a factor changes",
    paper: "Shu et al. 2020",
    settings: &[],
    scores: &[ScoreKind { name: "restrictiveness", least: 0.0, greatest: 1.0, better: High }],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<Restrictiveness>(table)?)),
    complete: settings::complete::<Restrictiveness>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        Restrictiveness::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/restrictiveness"))
    }

    fn assert_close(scores: &Scores, expected: &[(&str, f64)]) {
        for (name, expected) in expected {
            let value = scores.value(name).unwrap();
            assert!((value - expected).abs() < 1e-12, "{name}: {value}");
        }
    }

    #[test]
    fn a_factor_that_moves_another_latent_is_not_restricted() {
        // z0 = 2 shape + scale is scale's latent, z1 = shape. Shape moves z0 by 2 with probability 1/2, E (z0 - z0')^2 = 2
        // of 2 Var z0 = 5/2: 1 - 4/5. Scale moves z0 only.
        let scores = score(array![[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]);
        let expected = [("restrictiveness.shape", 0.2), ("restrictiveness.scale", 1.0), ("restrictiveness", 0.6)];
        assert_close(&scores, &expected);
    }

    #[test]
    fn latents_left_over_count_by_their_variance() {
        // z2 = 3 shape: shape's latent is z0, and it moves all of z2, which has 9/4 of 9/4 + 1/4 beside z1's.
        let codes = array![[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [1.0, 1.0, 3.0]];
        assert_close(&score(codes), &[("restrictiveness.shape", 0.1), ("restrictiveness.scale", 1.0)]);
    }

    #[test]
    fn where_there_is_no_other_latent_it_says_so() {
        let scores = score(array![[0.0], [1.0], [0.0], [1.0]]);
        // Shape has no latent, and moves none. Scale has the only one.
        assert_close(&scores, &[("restrictiveness.shape", 1.0)]);
        let reason = "with a single latent there is no other that could move".to_string();
        assert_eq!(scores.reason("restrictiveness.scale"), Some(reason.as_str()));
        let scores = score(array![[0.0, 0.5], [1.0, 0.5], [0.0, 0.5], [1.0, 0.5]]);
        let reason = "the other latents are constant and cannot move".to_string();
        assert_eq!(scores.reason("restrictiveness.scale"), Some(reason.as_str()));
    }

    #[test]
    fn neither_offset_nor_scale_matters() {
        let codes = array![[0.3, 0.0], [1.0, 0.2], [2.1, 1.0], [2.9, 1.4]];
        let plain = score(codes.clone()).value("restrictiveness").unwrap();
        for changed in [&codes + 1e8, &codes * 1e300, &codes * 1e-300] {
            assert!((score(changed).value("restrictiveness").unwrap() - plain).abs() < 1e-7);
        }
    }
}
