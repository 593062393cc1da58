//! beta-TCVAE (Chen et al. 2018; T2 eq 3, 4): the KL divergence is taken apart, and beta weighs the total correlation of the latents alone.
//!
//! `E_n KL(q(z|n) || p(z)) = I(z; n) + KL(q(z) || prod_l q(z_l)) + sum_l KL(q(z_l) || p(z_l))` (eq 2): index-code mutual
//! information, total correlation, dimension-wise KL. Minimised is reconstruction + mutual information + beta * total correlation +
//! dimension-wise KL (eq 4 with alpha = gamma = 1). Each term is the mean over the batch of a difference of two of `log q(z|n)`,
//! `log q(z)`, `sum_l log q(z_l)` and `log p(z)` at the sample, so that they add up to a one-sample estimate of the KL divergence,
//! whatever the estimator. (disentanglement_lib takes the exact KL + (beta - 1) * total correlation: the same in expectation.)
//!
//! `q(z)` is a mixture over all `N` images, of which a batch shows `M`. It is estimated by a weighted sum over the batch, and
//! so is each `q(z_l)`:
//! - `minibatch` (eq 3): each image weighs `1 / (N M)`. They sum to `1 / N`, so that what is logged is shifted against weights of
//!   `1 / M`: the total correlation of `L` latents by `(L - 1) ln N`. This is a constant, which the gradient does not see. In expectation
//!   `log q(z)` is below the truth, as the paper says.
//! - `stratified` (appendix C.2): the image that `z` came from weighs `1 / N`, which is its share of `q(z)`. The `M' = M - 1`
//!   others stand for the `N - 1` that remain: `1 / M'` for all but one of them, and `(N - M') / (N M')` for that one, here the
//!   next image of the batch. All sum to 1, those of the others to `(N - 1) / N`, and `q(z)` is without bias (its logarithm still
//!   has Jensen's).
//!
//! Peers: the published code steps through the stratified weights by `M'+ 1` in place of `M' + 2`, so that they fill the first two
//! columns and not the diagonals; disentangling-vae and pythae have copied this. disent minimises `beta KL + (beta - 1) TC`, with a
//! beta too many; it and disentanglement_lib leave the constants out, which is right for the gradient and not for what is logged.
//! disentanglement-pytorch exponentiates without taking out the largest.

use std::f64::consts::PI;

use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Rng, settings};

use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::{DiagonalGaussian, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Settings and objective. The defaults are the paper's: its beta for dSprites and the estimator of its experiments.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BetaTcVae {
    /// The weight of the total correlation.
    pub beta: Schedule,
    /// How the density of a code over all images is estimated from a batch.
    pub estimator: Estimator,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that beta means the same in both.
    pub reduction: Reduction,
}

/// How the density of a code over all images is estimated from a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// Every image of the batch weighs the same (eq 3).
    #[default]
    Minibatch,
    /// The image of the code weighs what it weighs among all (appendix C.2).
    Stratified,
}

impl Default for BetaTcVae {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(6.0),
            estimator: Estimator::default(),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl BetaTcVae {
    /// The logarithms of `q(z)` and of each `q(z_l)`, over all images, at codes `[batch, latents]`: `[batch, 1 + latents]`.
    fn log_densities(
        &self,
        model: &Model,
        latents: &Tensor<2>,
        posterior: &DiagonalGaussian,
        n_images: usize,
    ) -> Tensor<2> {
        let n_batch = latents.dims()[0];
        let log_weights = self.estimator.log_weights(n_batch, n_images);
        let log_weights = Tensor::from_data(TensorData::new(log_weights, [n_batch, n_batch]), &latents.device());
        let mixture = match model.parameters.device().has_kernels() {
            true => ops::mixture_log_densities,
            false => ops::mixture_log_densities_of_burn,
        };
        mixture(latents.clone(), posterior.mean.clone(), posterior.log_variance.clone(), log_weights)
    }
}

impl Framework for BetaTcVae {
    fn least_batch(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "mutual_information", "total_correlation", "dimension_wise_kl"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode_gaussian(images.clone());
        let latents = posterior.sample(noise); // [batch, latents]
        let outputs = model.decode(latents.clone());
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let log_densities = self.log_densities(model, &latents, &posterior, batch.n_images); // [batch, 1 + latents]
        let joint = log_densities.clone().narrow(1, 0, 1); // [batch, 1]
        let marginals = log_densities.narrow(1, 1, model.latents()).sum_dim(1); // [batch, 1]
        let given_image = log_density(&latents, &posterior).sum_dim(1); // [batch, 1]
        let prior = log_prior(&latents).sum_dim(1); // [batch, 1]

        let n_terms = self.reduction.divisor(n_pixels);
        let beta = self.beta.at(batch.step);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("mutual_information", ops::mean(given_image - joint.clone()), 1.0 / n_terms)
            .with("total_correlation", ops::mean(joint - marginals.clone()), beta / n_terms)
            .with("dimension_wise_kl", ops::mean(marginals - prior), 1.0 / n_terms)
    }
}

impl Estimator {
    /// The logarithm of the weight of image `j` in the density of the code of image `i`, row by row, `[batch, batch]`.
    fn log_weights(self, n_batch: usize, n_images: usize) -> Vec<f32> {
        let (n, m) = (n_images as f64, n_batch as f64);
        let others = m - 1.0;
        let weight = |code: usize, image: usize| match self {
            Estimator::Minibatch => 1.0 / (n * m),
            Estimator::Stratified if image == code => 1.0 / n,
            Estimator::Stratified if image == (code + 1) % n_batch => (n - others) / (n * others),
            Estimator::Stratified => 1.0 / others,
        };
        (0..n_batch * n_batch).map(|place| weight(place / n_batch, place % n_batch).ln() as f32).collect()
    }
}

/// `log q(z_l | n)` of each latent of a code under its own image, `[batch, latents]`.
fn log_density(latents: &Tensor<2>, posterior: &DiagonalGaussian) -> Tensor<2> {
    let scaled = (latents.clone() - posterior.mean.clone()) * (posterior.log_variance.clone() * -0.5).exp();
    (scaled.powi_scalar(2) + posterior.log_variance.clone() + (2.0 * PI).ln()) * -0.5
}

/// `log p(z_l)` of each latent, `[batch, latents]`.
fn log_prior(latents: &Tensor<2>) -> Tensor<2> {
    (latents.clone().powi_scalar(2) + (2.0 * PI).ln()) * -0.5
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "beta_tc_vae",
    about: "reconstruction + mutual information + beta * total correlation + dimension-wise KL",
    paper: "Chen et al. 2018, Isolating sources of disentanglement in variational autoencoders",
    settings: &[
        Setting {
            name: "beta",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the total correlation of the latents",
        },
        Setting {
            name: "estimator",
            values: Values::OneOf(&["minibatch", "stratified"]),
            meaning: "how a batch stands for all images: all of it alike, or the code's own image by its share",
        },
        RECONSTRUCTION,
        WHOLE_REDUCTION,
    ],
    // The constants of `minibatch` make up most of its loss, in which a test by differences would find little else.
    example: "estimator = 'stratified'",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| {
        let framework: BetaTcVae = settings::read(table)?;
        framework.beta.check("beta", 0.0, MOST_WEIGHT)?;
        Ok(Box::new(framework))
    },
    complete: settings::complete::<BetaTcVae>,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean, over all ordered batches of `M` out of `N` images that begin with image 0, of the weighted sum of these densities.
    fn expected(estimator: Estimator, densities: &[f64], n_batch: usize) -> f64 {
        let weights: Vec<f64> =
            estimator.log_weights(n_batch, densities.len()).iter().map(|w| f64::from(*w).exp()).collect();
        let mut batches = vec![vec![0]];
        for _ in 1..n_batch {
            let longer = |batch: &Vec<usize>| {
                let rest = (0..densities.len()).filter(|image| !batch.contains(image));
                rest.map(|image| [batch.as_slice(), &[image]].concat()).collect::<Vec<_>>()
            };
            batches = batches.iter().flat_map(longer).collect();
        }
        let of_batch = |batch: &Vec<usize>| {
            batch.iter().zip(&weights).map(|(&image, weight)| weight * densities[image]).sum::<f64>()
        };
        batches.iter().map(of_batch).sum::<f64>() / batches.len() as f64
    }

    #[test]
    fn stratified_weights_give_the_density_without_bias_and_minibatch_weights_a_lower_one() {
        let densities = [3.0, 0.5, 0.01, 0.2, 1.4];
        let truth = densities.iter().sum::<f64>() / 5.0;
        for n_batch in 2..=5 {
            let found = expected(Estimator::Stratified, &densities, n_batch);
            assert!((found - truth).abs() < 1e-6, "{found} is not {truth}");
            // q(z|n) / (N M) for its own image, and the mean of the others for all others of the batch.
            let (own, others) = (densities[0], (truth * 5.0 - densities[0]) / 4.0);
            let wanted = (own + (n_batch - 1) as f64 * others) / (5 * n_batch) as f64;
            let found = expected(Estimator::Minibatch, &densities, n_batch);
            assert!((found - wanted).abs() < 1e-6 && found < truth, "{found} is not {wanted}");
        }
    }

    #[test]
    fn weights_by_hand() {
        // N = 10, M = 3, two others: own 1 / 10, the next (10 - 2) / 20, the other 1 / 2. They sum up to 1.
        let weights: Vec<f32> = Estimator::Stratified.log_weights(3, 10).iter().map(|weight| weight.exp()).collect();
        let wanted = [0.1, 0.4, 0.5, 0.5, 0.1, 0.4, 0.4, 0.5, 0.1];
        assert!(weights.iter().zip(wanted).all(|(a, b): (&f32, f32)| (a - b).abs() < 1e-6), "{weights:?}");
        let weights: Vec<f32> = Estimator::Minibatch.log_weights(2, 10).iter().map(|weight| weight.exp()).collect();
        assert!(weights.iter().all(|weight| (weight - 0.05).abs() < 1e-7), "{weights:?}");
    }
}
