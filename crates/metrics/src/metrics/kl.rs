//! Divergence of the posterior from the prior: how many nats the code of an image holds.
//!
//! The second part of the evidence lower bound of Kingma and Welling 2014, appendix B: for a posterior with means `m`
//! (the codes) and log-variances `l`, the mean over the images of
//!
//! `KL(N(m, e^l) || N(0, 1)) = sum_j (m_j^2 + e^l_j - l_j - 1) / 2`.

use ndarray::{Array1, Axis, Zip};
use serde::{Deserialize, Serialize};
use unbraid_data::{LabelledCodes, Rng, settings};

use crate::Change::*;
use crate::posteriors::NEEDS_LOG_VARIANCES;
use crate::scores::latent_name;
use crate::{Entry, Metric, Scores, Subject};

/// The divergence from the prior, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kl {}

impl Metric for Kl {
    /// `kl` and for each latent `kl.z0`, `kl.z1`, ..., in nats and at least 0.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let per_latent = kl_per_latent(data);
        let mut scores = Scores::new().with_outcome("kl", per_latent.as_ref().map(|per_latent| per_latent.sum()));
        for latent in 0..data.n_latents() {
            let of_latent = per_latent.as_ref().map(|per_latent| per_latent[latent]);
            scores = scores.with_outcome(&format!("kl.{}", latent_name(latent)), of_latent);
        }
        scores
    }
}

/// Each latent's mean divergence over all rows, `[latents]`, or what is missing.
pub fn kl_per_latent(data: &LabelledCodes) -> Result<Array1<f64>, String> {
    let log_variances = data.extras().log_variances.as_ref().ok_or(NEEDS_LOG_VARIANCES)?;
    let per_row = Zip::from(data.codes()) // [rows, latents]
        .and(log_variances)
        .map_collect(|mean, log_variance| 0.5 * (mean * mean + log_variance.exp() - log_variance - 1.0));
    Ok(per_row.sum_axis(Axis(0)) / data.n_rows() as f64)
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "kl",
    about: "divergence of the posterior from the prior, in all and per latent",
    paper: "Kingma and Welling 2014",
    settings: &[],
    ranges: &[("kl", 0.0, f64::INFINITY)],
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
    }
}
