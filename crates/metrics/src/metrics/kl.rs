//! Divergence of the posterior from the prior: how many nats the code of an image holds.
//!
//! The second part of the evidence lower bound of Kingma and Welling 2014, appendix B: for a posterior with means `m`
//! (the codes) and log-variances `l`, the mean over the images of
//!
//! `KL(N(m, e^l) || N(0, 1)) = sum_j (m_j^2 + e^l_j - l_j - 1) / 2`.
//!
//! A posterior of another kind has another divergence, for instance one of k latents with the covariance S (Zietlow 2022,
//! equation 3.30), `(|m|^2 + tr S - ln det S - k) / 2`, which is more than the sum over the latents, by their total correlation.
//! Where the input has `kl_divergences`, `kl` is their mean and a note says so; `kl.zI` are always those of single latents.

use ndarray::{Array1, Array2, Axis, Zip};
use serde::{Deserialize, Serialize};
use unbraid_data::{LabelledCodes, Rng, settings};

use crate::Better::Neither;
use crate::Change::*;
use crate::needs::log_variances;
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// The divergence from the prior, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kl {}

impl Metric for Kl {
    /// `kl` and for each latent `kl.z0`, `kl.z1`, ..., in nats and at least 0.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let per_latent = kl_per_latent(data);
        let mut scores = Scores::new().with_outcome("kl", mean_kl(data));
        if data.extras().kl_divergences.is_some() {
            scores = scores.with_note("kl", OF_WHOLE_POSTERIORS);
        }
        for latent in 0..data.n_latents() {
            let of_latent = per_latent.as_ref().map(|per_latent| per_latent[latent]);
            scores = scores.with_latent("kl", latent, of_latent);
        }
        scores
    }
}

/// What the divergence is where the input brings its own.
pub const OF_WHOLE_POSTERIORS: &str = "the divergence is that of whole posteriors, which the input tells (`kl_divergences`); it \
                                       is not the sum over single latents";

/// The mean divergence over all rows, or what is missing.
pub fn mean_kl(data: &LabelledCodes) -> Result<f64, String> {
    match &data.extras().kl_divergences {
        Some(divergences) => Ok(divergences.iter().sum::<f64>() / divergences.len() as f64),
        None => Ok(kl_per_latent(data)?.sum()),
    }
}

/// Each latent's mean divergence over all rows, `[latents]`, or what is missing.
pub fn kl_per_latent(data: &LabelledCodes) -> Result<Array1<f64>, String> {
    Ok(mean_divergences(data.codes(), log_variances(data)?))
}

/// The same of codes and log-variances, `[rows, latents]` both.
pub fn mean_divergences(codes: &Array2<f64>, log_variances: &Array2<f64>) -> Array1<f64> {
    let per_row = Zip::from(codes) // [rows, latents]
        .and(log_variances)
        .map_collect(|mean, log_variance| 0.5 * (mean * mean + log_variance.exp() - log_variance - 1.0));
    per_row.sum_axis(Axis(0)) / codes.nrows() as f64
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "kl",
    about: "divergence of the posterior from the prior, in all and per latent",
    paper: "Kingma and Welling 2014",
    settings: &[],
    scores: &[ScoreKind { name: "kl", least: 0.0, greatest: f64::INFINITY, better: Neither }],
    needs: &[Need::LogVariances],
    left_alone_by: &[LatentOrder, LatentSigns, Rotation, RowOrder, ValueOrder, Losses],
    build: |table| Ok(Box::new(settings::read::<Kl>(table)?)),
    complete: settings::complete::<Kl>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    #[test]
    fn divergences_worked_by_hand() {
        // z0: mean 1 or -1 with variance 1, so 1/2 each time. z1: mean 0, variance 1 gives 0, variance e gives (e - 2)/2.
        let log_variances = Some(array![[0.0, 0.0], [0.0, 1.0]]);
        let extras = Extras { log_variances, ..Extras::default() };
        let codes = array![[1.0, 0.0], [-1.0, 0.0]];
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes, array![[0.0], [1.0]], space, extras).unwrap();
        let scores = Kl::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/kl"));
        let of_z1 = (1_f64.exp() - 2.0) / 4.0;
        for (name, expected) in [("kl", 0.5 + of_z1), ("kl.z0", 0.5), ("kl.z1", of_z1)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert!(scores.notes.is_empty());
    }

    #[test]
    fn a_full_covariance_worked_by_hand() {
        // S = [[1, 1/2], [1/2, 1]]: tr S = 2, det S = 3/4, and the divergence is (|m|^2 + 2 - ln 3/4 - 2) / 2. The marginals
        // have variance 1 and m_j^2 / 2 each, which lacks the total correlation -ln(3/4) / 2.
        let codes = array![[1.0, 0.0], [0.0, 2.0]];
        let correlated = -0.75_f64.ln() / 2.0;
        let extras = Extras {
            log_variances: Some(array![[0.0, 0.0], [0.0, 0.0]]),
            kl_divergences: Some(vec![0.5 + correlated, 2.0 + correlated]),
            ..Extras::default()
        };
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes, array![[0.0], [1.0]], space, extras).unwrap();
        let scores = Kl::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/kl"));
        for (name, expected) in [("kl", 1.25 + correlated), ("kl.z0", 0.25), ("kl.z1", 1.0)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert!(correlated > 0.143 && scores.notes[0].1.contains("whole posteriors"), "{scores:?}");
    }
}
