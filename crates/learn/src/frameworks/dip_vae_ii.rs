//! DIP-VAE-II (Kumar et al. 2018, eq 7; T2): as [`super::dip_vae_i`], with the covariance of the latents themselves, of which the
//! means are but a part.
//!
//! By the law of total covariance that of the aggregated posterior is `Cov[m] + E[S]`, where `m` are the means and `S =
//! diag(variances)` the covariances of the posteriors. These are diagonal, so the mean variances are added **on the diagonal
//! alone**. disent and disentanglement-pytorch add their mean, one number, to every entry, off the diagonal too, and so pull
//! latents towards a negative covariance; disentanglement_lib has it right. A test below holds the covariance against that of
//! samples.

use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};
use unbraid_data::{Result, Rng, settings};

use super::dip_vae_i::{LAMBDA_DIAGONAL, LAMBDA_OFFDIAGONAL, PARTS, covariance_of_means, distances_from_identity};
use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::{DiagonalGaussian, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Settings and objective. The defaults are from the middle of what Locatello et al. 2019 tried (`lambda_offdiagonal` 1 to 50),
/// with the paper's ratio for dSprites, `lambda_diagonal = lambda_offdiagonal`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct DipVaeIi {
    /// The weight of the squared covariances of two latents.
    pub lambda_offdiagonal: Schedule,
    /// The weight of the squared distances of the variances from 1.
    pub lambda_diagonal: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that the weights mean the same in both.
    pub reduction: Reduction,
}

impl Default for DipVaeIi {
    fn default() -> Self {
        Self {
            lambda_offdiagonal: Schedule::Constant(10.0),
            lambda_diagonal: Schedule::Constant(10.0),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl DipVaeIi {
    fn check(self) -> Result<Self> {
        self.lambda_offdiagonal.check("lambda_offdiagonal", 0.0, MOST_WEIGHT)?;
        self.lambda_diagonal.check("lambda_diagonal", 0.0, MOST_WEIGHT)?;
        Ok(self)
    }
}

impl Framework for DipVaeIi {
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
        let [offdiagonal, diagonal] = distances_from_identity(covariance_of_latents(posterior));
        let n_terms = self.reduction.divisor(n_pixels);
        let weights = [&self.lambda_offdiagonal, &self.lambda_diagonal].map(|weight| weight.at(batch.step) / n_terms);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", kl, 1.0 / n_terms)
            .with("offdiagonal", offdiagonal, weights[0])
            .with("diagonal", diagonal, weights[1])
    }
}

/// `Cov[m] + E[S]`, `[latents, latents]`: the covariance of what is sampled, over the images of a batch and their posteriors.
fn covariance_of_latents(posterior: DiagonalGaussian) -> Tensor<2> {
    let latents = posterior.mean.dims()[1];
    let variances = posterior.log_variance.exp().mean_dim(0).expand([latents, latents]); // in every row
    let is_off_diagonal: Tensor<2, Bool> = Tensor::diag_mask([latents, latents], 0, &variances.device());
    covariance_of_means(posterior.mean) + variances.mask_fill(is_off_diagonal, 0.0)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "dip_vae_ii",
    about: "VAE whose latents, as sampled, are pulled towards an identity covariance",
    paper: "Kumar et al. 2018, Variational inference of disentangled latent concepts from unlabeled observations",
    settings: &[LAMBDA_OFFDIAGONAL, LAMBDA_DIAGONAL, RECONSTRUCTION, WHOLE_REDUCTION],
    // Smaller weights: penalties that make up most of the loss would hide the rest from a test by differences.
    example: "lambda_offdiagonal = 1.0\nlambda_diagonal = 1.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<DipVaeIi>(table)?.check()?)),
    complete: settings::complete::<DipVaeIi>,
};

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::StandardNormal;
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn mean_variances_are_added_on_the_diagonal_alone_by_hand() {
        // Means (1, 0) and (3, 4): variances 1 and 4, covariance 2. Posterior variances (1, 2) and (3, 6), mean 2 and 4.
        let tensor = |values: [f32; 4]| Device::cpu().recording_tensor(values.to_vec(), [2, 2]);
        let log_variance = tensor([1.0, 2.0, 3.0, 6.0].map(f32::ln));
        let found =
            floats(covariance_of_latents(DiagonalGaussian { mean: tensor([1.0, 0.0, 3.0, 4.0]), log_variance }));
        assert!(found.iter().zip([3.0, 2.0, 2.0, 8.0]).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-5), "{found:?}");
    }

    #[test]
    fn it_is_the_covariance_of_samples() {
        let mut rng = Seed(4).stream("posteriors");
        let (n_images, latents) = (8, 3);
        let mut draws =
            |scale: f32| (0..n_images * latents).map(|_| rng.sample::<f32, _>(StandardNormal) * scale).collect();
        let (means, log_variances): (Vec<f32>, Vec<f32>) = (draws(1.0), draws(0.7));
        let tensor = |values: &Vec<f32>| Device::cpu().recording_tensor(values.clone(), [n_images, latents]);
        let posterior = DiagonalGaussian { mean: tensor(&means), log_variance: tensor(&log_variances) };
        let found = floats(covariance_of_latents(posterior));

        let n_draws = 200_000;
        let samples: Vec<[f64; 3]> = (0..n_draws)
            .map(|draw| {
                [0, 1, 2].map(|latent| {
                    let place = draw % n_images * latents + latent;
                    let noise: f32 = rng.sample(StandardNormal);
                    f64::from(means[place] + (0.5 * log_variances[place]).exp() * noise)
                })
            })
            .collect();
        let mean = |of: &dyn Fn(&[f64; 3]) -> f64| samples.iter().map(of).sum::<f64>() / n_draws as f64;
        for (row, column) in (0..9).map(|place| (place / 3, place % 3)) {
            let wanted = mean(&|z| z[row] * z[column]) - mean(&|z| z[row]) * mean(&|z| z[column]);
            // Products have a spread of some 3, hence a standard error of 3 / sqrt(200,000) = 0.007.
            assert!((f64::from(found[row * 3 + column]) - wanted).abs() < 0.03, "{row} {column}: {found:?} {wanted}");
        }
    }
}
