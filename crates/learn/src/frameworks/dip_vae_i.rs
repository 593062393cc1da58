//! DIP-VAE-I (Kumar et al. 2018, eq 6; T2): a VAE whose means, over the images, are pulled towards an identity covariance.
//!
//! Minimised is `reconstruction + KL + lambda_offdiagonal sum_(i != j) C_ij^2 + lambda_diagonal sum_i (C_ii - 1)^2`, where `C` is
//! the covariance of the posterior means over the batch, `E[m m'] - E[m] E[m]'`, divided by the size of the batch and not by one
//! less, as published. The sum over `i != j` takes each pair of latents twice, as in the paper. [`super::dip_vae_ii`] adds the
//! variance of the posteriors.
//!
//! The KL divergence has no beta. disent multiplies both penalties by a further weight, and has defaults of 5 off the diagonal and 10 on it.

use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::Posterior;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Settings and objective. The defaults are from the middle of what Locatello et al. 2019 tried (`lambda_offdiagonal` 1 to 50),
/// with the paper's ratio for dSprites, `lambda_diagonal = 10 lambda_offdiagonal`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct DipVaeI {
    /// The weight of the squared covariances of two latents.
    pub lambda_offdiagonal: Schedule,
    /// The weight of the squared distances of the variances from 1.
    pub lambda_diagonal: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that the weights mean the same in both.
    pub reduction: Reduction,
}

impl Default for DipVaeI {
    fn default() -> Self {
        Self {
            lambda_offdiagonal: Schedule::Constant(10.0),
            lambda_diagonal: Schedule::Constant(100.0),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl DipVaeI {
    fn check(self) -> Result<Self> {
        self.lambda_offdiagonal.check("lambda_offdiagonal", 0.0, MOST_WEIGHT)?;
        self.lambda_diagonal.check("lambda_diagonal", 0.0, MOST_WEIGHT)?;
        Ok(self)
    }
}

impl Framework for DipVaeI {
    fn least_batch(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        PARTS
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let kl = ops::mean(posterior.kl());
        let [offdiagonal, diagonal] = distances_from_identity(covariance_of_means(posterior.mean));
        let n_terms = self.reduction.divisor(n_pixels);
        let weights = [&self.lambda_offdiagonal, &self.lambda_diagonal].map(|weight| weight.at(batch.step) / n_terms);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", kl, 1.0 / n_terms)
            .with("offdiagonal", offdiagonal, weights[0])
            .with("diagonal", diagonal, weights[1])
    }
}

/// What both kinds log.
pub(super) const PARTS: &[&str] = &["reconstruction", "kl", "offdiagonal", "diagonal"];

/// The covariance, over the batch, of means `[batch, latents]`, divided by the size of the batch: `[latents, latents]`.
pub(super) fn covariance_of_means(means: Tensor<2>) -> Tensor<2> {
    let [batch, latents] = means.dims();
    // Centred first: E[m m'] - E[m] E[m]' would lose the digits of a variance that is small beside the mean.
    let centred = means.clone() - means.mean_dim(0).expand([batch, latents]);
    centred.clone().transpose().matmul(centred) / batch as f64
}

/// How far a covariance `[latents, latents]` is from the identity: the sum of its squares off the diagonal, and that of its
/// diagonal's squared distances from 1, `[1]` each.
pub(super) fn distances_from_identity(covariance: Tensor<2>) -> [Tensor<1>; 2] {
    let [latents, _] = covariance.dims();
    let is_off_diagonal: Tensor<2, Bool> = Tensor::diag_mask([latents, latents], 0, &covariance.device());
    let off_diagonal = covariance.clone().mask_fill(is_off_diagonal.clone().bool_not(), 0.0);
    let diagonal = (covariance - 1.0).mask_fill(is_off_diagonal, 0.0);
    [off_diagonal, diagonal].map(|distances| ops::sum(distances.powi_scalar(2)))
}

/// The weight of the covariances, a setting of both kinds.
pub(super) const LAMBDA_OFFDIAGONAL: Setting = Setting {
    name: "lambda_offdiagonal",
    values: Values::Schedule(0.0, MOST_WEIGHT),
    meaning: "weight of the squared covariances of two latents, each pair counted twice",
};

/// The weight of the variances, a setting of both kinds.
pub(super) const LAMBDA_DIAGONAL: Setting = Setting {
    name: "lambda_diagonal",
    values: Values::Schedule(0.0, MOST_WEIGHT),
    meaning: "weight of the squared distances of the latents' variances from 1",
};

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "dip_vae_i",
    about: "VAE whose posterior means are pulled towards an identity covariance",
    paper: "Kumar et al. 2018, Variational inference of disentangled latent concepts from unlabeled observations",
    settings: &[LAMBDA_OFFDIAGONAL, LAMBDA_DIAGONAL, RECONSTRUCTION, WHOLE_REDUCTION],
    // Smaller weights: penalties that make up most of the loss would hide the rest from a test by differences.
    example: "lambda_offdiagonal = 1.0\nlambda_diagonal = 1.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<DipVaeI>(table)?.check()?)),
    complete: settings::complete::<DipVaeI>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::{floats, scalar};

    #[test]
    fn covariance_and_distances_by_hand() {
        // Means (0, 1), (2, 1), (4, 4), centred (-2, -1), (0, -1), (2, 2): variances 8 / 3 and 6 / 3, covariance (2 + 4) / 3 = 2.
        let means = Device::cpu().recording_tensor(vec![0.0, 1.0, 2.0, 1.0, 4.0, 4.0], [3, 2]);
        let covariance = covariance_of_means(means);
        let found = floats(covariance.clone());
        assert!(
            found.iter().zip([8.0 / 3.0, 2.0, 2.0, 2.0]).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6),
            "{found:?}"
        );
        // Off the diagonal 2^2 twice; on it (5 / 3)^2 + 1.
        let [off_diagonal, diagonal] = distances_from_identity(covariance).map(scalar);
        assert!((off_diagonal - 8.0).abs() < 1e-5 && (diagonal - 34.0 / 9.0).abs() < 1e-5, "{off_diagonal} {diagonal}");
    }

    #[test]
    fn a_small_spread_far_from_zero_keeps_its_digits() {
        // 1000 and 1000.5: the variance is 1 / 16. E[m^2] - E[m]^2 of f32 would be a multiple of 1 / 16, and often 0.
        let means = Device::cpu().recording_tensor(vec![1000.0, 1000.5], [2, 1]);
        assert_eq!(floats(covariance_of_means(means)), [0.0625]);
    }
}
