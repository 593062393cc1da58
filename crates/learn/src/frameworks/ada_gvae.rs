//! Ada-GVAE (T1 eq 2.9-2.16; Locatello et al. 2020): a beta-VAE on pairs of images that share some factors. Latents
//! in which the two posteriors are close are taken for shared and given the same, averaged, posterior.
//!
//! Shared are the latents whose distance is below `min + eta (max - min)` over the latents of a pair (eq 2.13 has eta
//! 1/2). Averaged are the means and the variances; eq 2.16 prints the sum of sigmas, but the published code of both
//! disent and disentanglement_lib averages variances. Which latents are shared is not differentiated.

use burn::tensor::{Bool, Tensor};
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::{DiagonalGaussian, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::constant;

/// Settings and objective.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaGvae {
    /// The weight of the KL divergence.
    pub beta: Schedule,
    /// Where the threshold lies between the smallest (0) and the largest (1) distance.
    pub eta: Schedule,
    /// How far apart two posteriors of a latent are.
    pub distance: Distance,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

/// How far apart two posteriors of a latent are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// Mean of both KL divergences (T1 eq A.2; Dittadi et al. 2020).
    #[default]
    SymmetricKl,
    /// KL divergence of the first from the second (Locatello et al. 2020).
    Kl,
    /// Absolute difference of the means.
    AbsoluteDifference,
}

impl Default for AdaGvae {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(1.0),
            eta: Schedule::Constant(0.5),
            distance: Distance::default(),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl Framework for AdaGvae {
    fn arity(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "shared"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let pairs = batch.members[0].images.dims()[0];
        // Both members go through the network as one batch; the first half is member 0.
        let images = Tensor::cat(batch.members.iter().map(|member| member.images.clone()).collect(), 0); // [2 * batch, pixels]
        let [first, second] = halves(&model.encode_gaussian(images.clone()), pairs);
        let shared = shared_latents(self.distance.between(&first, &second), self.eta.at(batch.step));
        let share = ops::mean(shared.clone().float());
        let posterior = average_shared(&first, &second, &shared);

        let outputs = model.decode(posterior.sample(noise)); // [2 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with_logged("shared", share)
    }
}

impl Distance {
    /// For each latent of each pair, `[batch, latents]`, without gradient.
    fn between(self, first: &DiagonalGaussian, second: &DiagonalGaussian) -> Tensor<2> {
        let constants = |posterior: &DiagonalGaussian| DiagonalGaussian {
            mean: constant(&posterior.mean),
            log_variance: constant(&posterior.log_variance),
        };
        let (first, second) = (constants(first), constants(second));
        match self {
            Distance::Kl => kl(&first, &second),
            Distance::SymmetricKl => (kl(&first, &second) + kl(&second, &first)) * 0.5,
            Distance::AbsoluteDifference => (first.mean - second.mean).abs(),
        }
    }
}

/// KL(p || q) of two Gaussians for each latent.
fn kl(p: &DiagonalGaussian, q: &DiagonalGaussian) -> Tensor<2> {
    let difference = p.mean.clone() - q.mean.clone();
    let log_ratio = p.log_variance.clone() - q.log_variance.clone();
    let scaled = difference.powi_scalar(2) / q.log_variance.clone().exp();
    (log_ratio.clone().exp() - log_ratio + scaled - 1.0) * 0.5
}

/// Which latents are closer than the threshold of their pair, `[batch, latents]` (eq 2.13, 2.14).
fn shared_latents(distances: Tensor<2>, eta: f64) -> Tensor<2, Bool> {
    let least = distances.clone().min_dim(1); // [batch, 1]
    let most = distances.clone().max_dim(1); // [batch, 1]
    let threshold = least.clone() * (1.0 - eta) + most * eta;
    let latents = distances.dims()[1];
    distances.lower(threshold.repeat_dim(1, latents))
}

/// Posteriors of both members, one after the other, `[2 * batch, latents]`: averaged where shared (eq 2.10, 2.11, 2.16).
fn average_shared(first: &DiagonalGaussian, second: &DiagonalGaussian, shared: &Tensor<2, Bool>) -> DiagonalGaussian {
    let mean = (first.mean.clone() + second.mean.clone()) * 0.5;
    // The logarithm of the mean variance, by way of the larger one, so that variances too small for f32 do no harm.
    let larger = first.log_variance.clone().max_pair(second.log_variance.clone()).detach();
    let share = |posterior: &DiagonalGaussian| (posterior.log_variance.clone() - larger.clone()).exp();
    let log_variance = ((share(first) + share(second)) * 0.5).log() + larger.clone();
    let choose = |own: &Tensor<2>, averaged: &Tensor<2>| own.clone().mask_where(shared.clone(), averaged.clone());
    DiagonalGaussian {
        mean: Tensor::cat(vec![choose(&first.mean, &mean), choose(&second.mean, &mean)], 0),
        log_variance: Tensor::cat(
            vec![choose(&first.log_variance, &log_variance), choose(&second.log_variance, &log_variance)],
            0,
        ),
    }
}

fn halves(both: &DiagonalGaussian, n: usize) -> [DiagonalGaussian; 2] {
    let half = |start: usize| DiagonalGaussian {
        mean: both.mean.clone().narrow(0, start, n),
        log_variance: both.log_variance.clone().narrow(0, start, n),
    };
    [half(0), half(n)]
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_gvae",
    about: "beta-VAE on pairs; latents that seem shared by a pair are averaged",
    paper: "Locatello et al. 2020, Weakly-supervised disentanglement without compromises",
    settings: &[
        BETA,
        Setting {
            name: "eta",
            values: Values::Schedule(0.0, 1.0),
            meaning: "where the threshold for shared latents lies between a pair's smallest (0) and largest (1) distance",
        },
        Setting {
            name: "distance",
            values: Values::OneOf(&["symmetric_kl", "kl", "absolute_difference"]),
            meaning: "how far apart the two posteriors of a latent are",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "",
    sampler: "pair",
    build: |table| {
        let framework: AdaGvae = settings::read(table)?;
        framework.beta.check("beta", 0.0, MOST_WEIGHT)?;
        framework.eta.check("eta", 0.0, 1.0)?;
        Ok(Box::new(framework))
    },
    complete: settings::complete::<AdaGvae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        Device::cpu().recording_tensor(values, shape)
    }

    fn gaussian(mean: [f32; 2], variance: [f32; 2]) -> DiagonalGaussian {
        let log_variance = variance.map(f32::ln).to_vec();
        DiagonalGaussian { mean: tensor(mean.to_vec(), [1, 2]), log_variance: tensor(log_variance, [1, 2]) }
    }

    fn close(found: &[f32], wanted: &[f32]) {
        assert_eq!(found.len(), wanted.len());
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-6, "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn distances_by_hand() {
        let (p, q) = (gaussian([0.0, 1.0], [1.0, 4.0]), gaussian([2.0, 1.0], [1.0, 1.0]));
        // Latent 0: (1 - ln 1 + 4 - 1) / 2 = 2 both ways. Latent 1: (4 - ln 4 - 1) / 2 = 0.8068528 and, the other way,
        // (1/4 + ln 4 - 1) / 2 = 0.3181472; their mean is 0.5625.
        close(&floats(Distance::Kl.between(&p, &q)), &[2.0, 0.806_852_8]);
        close(&floats(Distance::SymmetricKl.between(&p, &q)), &[2.0, 0.5625]);
        close(&floats(Distance::AbsoluteDifference.between(&p, &q)), &[2.0, 0.0]);
    }

    #[test]
    fn the_threshold_lies_between_least_and_most_and_is_strict() {
        let shared = |distances: [f32; 3], eta| {
            let mask = shared_latents(tensor(distances.to_vec(), [1, 3]), eta);
            floats(mask.float())
        };
        assert_eq!(shared([0.0, 1.0, 2.0], 0.5), [1.0, 0.0, 0.0]); // 1 is not below 1
        assert_eq!(shared([0.0, 1.0, 2.0], 0.75), [1.0, 1.0, 0.0]);
        assert_eq!(shared([3.0, 3.0, 3.0], 0.5), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn shared_latents_get_mean_and_variance_averaged_and_others_keep_theirs() {
        let (p, q) = (gaussian([0.0, 1.0], [1.0, 4.0]), gaussian([2.0, 3.0], [3.0, 2.0]));
        let shared = tensor(vec![1.0, 0.0], [1, 2]).greater_scalar(0.5);
        let both = average_shared(&p, &q, &shared);
        close(&floats(both.mean), &[1.0, 1.0, 1.0, 3.0]);
        close(&floats(both.log_variance.exp()), &[2.0, 4.0, 2.0, 2.0]);
    }
}
