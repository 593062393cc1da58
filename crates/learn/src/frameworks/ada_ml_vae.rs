//! Ada-ML-VAE (T1 eq 2.9-2.15; Locatello et al. 2020): Ada-GVAE whose shared latents get the product of both posteriors
//! (Bouchacourt et al. 2018) in place of their average, so that the surer image of a pair has more to say.
//!
//! The product of the densities of two Gaussians is a Gaussian with the sum of both precisions `1 / variance`, and a mean that
//! weighs both means by them. Here, as in the published code of Locatello et al. (disentanglement_lib) and in disent, the precision is the
//! mean of both, not their sum: the root of the product is taken, so that two equal posteriors give that posterior and not one of half
//! the variance. The mean is the same.
//!
//! Checked against the product of densities on a grid, below. Both peers divide by variances themselves, which gives 0 / 0 where
//! a variance is too small for f32; here only ratios to the smaller of both variances are formed.

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
pub struct AdaMlVae {
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

impl Default for AdaMlVae {
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

impl Framework for AdaMlVae {
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
        let posterior = with_common_posterior([&first, &second], &product(&first, &second), &shared);

        let outputs = model.decode(posterior.sample(noise)); // [2 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with_logged("shared", share)
    }
}

/// Posteriors with the mean of both precisions, and of both means as precisions weigh them.
fn product(first: &DiagonalGaussian, second: &DiagonalGaussian) -> DiagonalGaussian {
    // Precisions in parts of the larger one: one of them is 1, so that variances too small or too large for f32 do no harm.
    let smaller = first.log_variance.clone().min_pair(second.log_variance.clone()).detach();
    let precision = |posterior: &DiagonalGaussian| (smaller.clone() - posterior.log_variance.clone()).exp();
    let (of_first, of_second) = (precision(first), precision(second));
    let sum = of_first.clone() + of_second.clone(); // from 1 to 2
    let mean = (first.mean.clone() * of_first + second.mean.clone() * of_second) / sum.clone();
    let log_variance = smaller.clone() - (sum * 0.5).log();
    DiagonalGaussian { mean, log_variance }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_ml_vae",
    about: "beta-VAE on pairs; latents that seem shared by a pair get the product of both posteriors",
    paper: "Locatello et al. 2020, Weakly-supervised disentanglement without compromises",
    settings: &[BETA, ETA, DISTANCE, RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["pair", "temporal", "shared_pair"],
    as_long_as_the_run: |_| None,
    build: |table| {
        let framework: AdaMlVae = settings::read(table)?;
        framework.beta.check("beta", 0.0, MOST_WEIGHT)?;
        framework.eta.check("eta", 0.0, 1.0)?;
        Ok(Box::new(framework))
    },
    complete: settings::complete::<AdaMlVae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    fn gaussian(mean: f32, log_variance: f32) -> DiagonalGaussian {
        let tensor = |value| Device::cpu().recording_tensor(vec![value], [1, 1]).require_grad();
        DiagonalGaussian { mean: tensor(mean), log_variance: tensor(log_variance) }
    }

    /// Mean and log-variance.
    fn numbers(posterior: &DiagonalGaussian) -> [f32; 2] {
        [&posterior.mean, &posterior.log_variance].map(|tensor| floats(tensor.clone())[0])
    }

    fn close(found: [f32; 2], wanted: [f32; 2]) {
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn precisions_are_averaged_and_weigh_the_means() {
        // Variances 1 and 1/3: precisions 1 and 3, mean 2, so the variance is 1/2; means 0 and 4 give (0 * 1 + 4 * 3) / 4 = 3.
        let found = product(&gaussian(0.0, 0.0), &gaussian(4.0, -(3.0_f32.ln())));
        close(numbers(&found), [3.0, -(2.0_f32.ln())]);
        close(numbers(&product(&gaussian(0.7, -1.3), &gaussian(0.7, -1.3))), [0.7, -1.3]);
    }

    #[test]
    fn it_is_the_root_of_the_product_of_both_densities() {
        let (first, second) = ([0.4, 0.3], [-1.1, -0.9]); // means and log-variances
        let density = |[mean, log_variance]: [f64; 2], z: f64| (-(z - mean).powi(2) / (2.0 * log_variance.exp())).exp();
        // Moments of the root of the product, by sums over a grid from -12 to 12.
        let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
            let places = (0..=24_000).map(|i| f64::from(i) * 1e-3 - 12.0);
            places.map(|z| f(z) * (density(first, z) * density(second, z)).sqrt()).sum()
        };
        let mean = moment(&|z| z) / moment(&|_| 1.0);
        let variance = moment(&|z| (z - mean).powi(2)) / moment(&|_| 1.0);
        let gaussian = |[mean, log_variance]: [f64; 2]| gaussian(mean as f32, log_variance as f32);
        let found = product(&gaussian(first), &gaussian(second));
        close(numbers(&found), [mean as f32, variance.ln() as f32]);
    }

    #[test]
    fn variances_too_small_or_too_large_for_f32_do_no_harm() {
        for extreme in [-300.0, 300.0] {
            close(numbers(&product(&gaussian(0.0, extreme), &gaussian(2.0, extreme))), [1.0, extreme]);
        }
        // The sure one alone counts, and half its precision is the mean of both.
        let (vague, sure) = (gaussian(0.0, 300.0), gaussian(2.0, -300.0));
        close(numbers(&product(&vague, &sure)), [2.0, -300.0 + 2.0_f32.ln()]);
        let both = product(&vague, &sure);
        let gradients = (both.mean + both.log_variance).sum().backward();
        for parameter in [&vague.mean, &vague.log_variance, &sure.mean, &sure.log_variance] {
            assert!(floats(parameter.grad(&gradients).unwrap())[0].is_finite());
        }
    }
}
