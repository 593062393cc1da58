//! Ada-GVAE (T1 eq 2.9-2.16; Locatello et al. 2020): a beta-VAE on pairs of images that share some factors. Latents
//! in which the two posteriors are close are taken for shared and given the same, averaged, posterior.
//!
//! Shared are the latents whose distance is below `min + eta (max - min)` over the latents of a pair (eq 2.13 has eta
//! 1/2). Averaged are the means and the variances; eq 2.16 prints the sum of sigmas, but the published code of both
//! disent and disentanglement_lib averages variances. Which latents are shared is not differentiated.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::adaptive::{DISTANCE, Distance, ETA, shared_latents, with_common_posterior};
use crate::losses::{Losses, Reduction};
use crate::members::member_posteriors;
use crate::model::Model;
use crate::ops;
use crate::posteriors::{DiagonalGaussian, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

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
        // Both members go through the network as one batch; the first half is member 0.
        let images = batch.images(); // [2 * batch, pixels]
        let [first, second] = member_posteriors(&model.encode_gaussian(images.clone()));
        let shared = shared_latents(self.distance.between(&first, &second), self.eta.at(batch.step));
        let share = ops::mean(shared.clone().float());
        let posterior = with_common_posterior([&first, &second], &average(&first, &second), &shared);

        let outputs = model.decode(posterior.sample(noise)); // [2 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with_logged("shared", share)
    }
}

/// Posteriors with the mean of both means and of both variances (eq 2.16).
fn average(first: &DiagonalGaussian, second: &DiagonalGaussian) -> DiagonalGaussian {
    let mean = (first.mean.clone() + second.mean.clone()) * 0.5;
    // The logarithm of the mean variance, by way of the larger one, so that variances too small for f32 do no harm.
    let larger = first.log_variance.clone().max_pair(second.log_variance.clone()).detach();
    let share = |posterior: &DiagonalGaussian| (posterior.log_variance.clone() - larger.clone()).exp();
    let log_variance = ((share(first) + share(second)) * 0.5).log() + larger.clone();
    DiagonalGaussian { mean, log_variance }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_gvae",
    about: "beta-VAE on pairs; latents that seem shared by a pair are averaged",
    paper: "Locatello et al. 2020, Weakly-supervised disentanglement without compromises",
    settings: &[BETA, ETA, DISTANCE, RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["pair", "temporal", "shared_pair"],
    as_long_as_the_run: |_| None,
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

    fn gaussian(mean: f32, log_variance: f32) -> DiagonalGaussian {
        let tensor = |value| Device::cpu().recording_tensor(vec![value], [1, 1]);
        DiagonalGaussian { mean: tensor(mean), log_variance: tensor(log_variance) }
    }

    #[test]
    fn means_and_variances_are_averaged() {
        let both = average(&gaussian(0.0, 0.0), &gaussian(2.0, 3.0_f32.ln()));
        assert_eq!(floats(both.mean), [1.0]);
        assert!((floats(both.log_variance.exp())[0] - 2.0).abs() < 1e-6); // (1 + 3) / 2
    }

    #[test]
    fn variances_too_small_or_too_large_for_f32_are_averaged() {
        for (a, b) in [(-300.0, -300.0), (300.0, 300.0), (-300.0, 300.0)] {
            let found = floats(average(&gaussian(0.0, a), &gaussian(2.0, b)).log_variance)[0];
            let wanted = if a == b { a } else { b - 2.0_f32.ln() };
            assert!((found - wanted).abs() < 1e-4, "{found} is not {wanted}");
        }
    }
}
