//! Consistency: while its factor stays and the others are drawn anew, a latent should stay.
//!
//! Shu et al. 2020, "Weakly supervised disentanglement with guarantees": a code is consistent with factor k if its part
//! for k does not change between two images that share k. With images drawn by their true factors and the encoder measured,
//! as in the authors' evaluation, the normalised score of factor k and latent j is
//!
//! `consistency_jk = 1 - E (z_j - z_j')^2 / E (z_j - z_j'')^2`
//!
//! with z and z' of two images that share factor k and are otherwise independent, z and z'' of two independent ones. Half the
//! first mean is `E[Var(z_j | v_k)]` and half the second `Var(z_j)`, so that the score is the share of the latent's variance
//! that the factor explains. Both are taken over all train rows, which is what the authors' 10,000 pairs tend to.
//!
//! Departures: the authors' encoder is trained to hold factor k in latent k. Here each factor is matched with a latent of its own,
//! so that the sum over factors is as large as it can be; where there are fewer latents than factors, those left over count
//! as 0. Constant latents explain nothing. The authors report the score less 1. Continuous factors, whose values no two rows
//! share, and factors with a single value, which all rows share, take no part.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::*;
use crate::Change::*;
use crate::matched_latents::MatchedLatents;
use crate::statistics::mean::mean_of_defined;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Consistency, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Consistency {}

impl Metric for Consistency {
    /// `consistency` and `consistency.FACTOR` in [0, 1], the number of the latent that each factor is matched with,
    /// `consistency.latent.FACTOR`, and the matrix `consistency.explained`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let MatchedLatents { explained, of_factors } = match MatchedLatents::of(subject) {
            Ok(matched) => matched,
            Err(reason) => return Scores::new().without("consistency", &reason),
        };
        let data = subject.data();
        let factors = of_factors.iter().enumerate();
        let parts: Vec<Result<f64, String>> = factors
            .map(|(factor, latent)| {
                latent.clone().map(|latent| latent.map_or(0.0, |latent| explained[[latent, factor]]))
            })
            .collect();
        let mut scores = Scores::new().with_outcome("consistency", mean_of_defined(&parts));
        for (factor, part) in data.space().names().zip(parts) {
            scores = scores.with_factor("consistency", factor, part);
        }
        for (factor, latent) in data.space().names().zip(of_factors) {
            let none_left = "there are fewer latents than factors, and none is left for this one";
            let latent = latent.and_then(|latent| latent.ok_or(none_left.to_string()));
            scores = scores.with_factor("consistency.latent", factor, latent.map(|latent| latent as f64));
        }
        scores.with_matrix(Matrix::of_latents_and_factors("consistency.explained", data, explained))
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "consistency",
    about: "how far the latent of a factor stays while the other factors change",
    paper: "Shu et al. 2020",
    settings: &[],
    scores: &[
        ScoreKind { name: "consistency", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "consistency.latent", least: 0.0, greatest: f64::INFINITY, better: Neither },
    ],
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
    build: |table| Ok(Box::new(settings::read::<Consistency>(table)?)),
    complete: settings::complete::<Consistency>,
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
        Consistency::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/consistency"))
    }

    #[test]
    fn a_mixed_latent_is_partly_consistent() {
        // z0 = 2 shape + scale moves by 1 with probability 1/2 where shape is shared: E (z - z')^2 = 1/2. Over all pairs
        // it is 2 Var = 2 (1 + 1/4) = 5/2. With shape 1 - 1/5, with scale 1 - (4/2) / (5/2) = 1/5. z1 = shape, consistent.
        let scores = score(array![[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]);
        for (name, expected) in [("shape", 1.0), ("scale", 0.2), ("latent.shape", 1.0), ("latent.scale", 0.0)] {
            let value = scores.value(&format!("consistency.{name}")).unwrap();
            assert!((value - expected).abs() < 1e-12, "{name}: {value}");
        }
        assert!((scores.value("consistency").unwrap() - 0.6).abs() < 1e-12);
        assert!((scores.matrices[0].values[[0, 0]] - 0.8).abs() < 1e-12);
    }

    #[test]
    fn a_factor_without_a_latent_counts_as_zero() {
        let scores = score(array![[0.0], [1.0], [0.0], [1.0]]);
        assert_eq!(scores.value("consistency"), Some(0.5));
        assert!(scores.reason("consistency.latent.shape").is_some());
    }

    #[test]
    fn neither_offset_nor_scale_matters() {
        let codes = array![[0.3, 0.0], [1.0, 0.2], [2.1, 1.0], [2.9, 1.4]];
        let plain = score(codes.clone()).value("consistency").unwrap();
        for changed in [&codes + 1e8, &codes * 1e300, &codes * 1e-300] {
            assert!((score(changed).value("consistency").unwrap() - plain).abs() < 1e-7);
        }
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(Array2::ones((4, 2)));
        assert_eq!((scores.undefined.len(), scores.reason("consistency")), (1, Some("every latent is constant")));
    }
}
