//! sigma-VAE (T3 eq 2.9; Rybkin et al. 2021): a VAE whose decoder is a Gaussian with a variance that is learned, which weighs
//! reconstruction against the KL divergence without a beta.
//!
//! The negative log-likelihood of an image of `D` pixels is `D ln sigma + squared error / (2 sigma^2)`, up to `D / 2 ln 2 pi`. Eq 2.9
//! writes `ln sigma` once, as for one pixel. `sigma` is one number for all pixels: a parameter, or the one that is best for the
//! batch, the root of its mean squared error (Rybkin et al. eq 6), through which the gradient passes as well.
//! The saved reconstruction losses are squared errors, and the metric `elbo` takes them as those of a fixed variance, whatever sigma is.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Rng, settings};

use super::{Batch, Entry, Framework, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::networks::Network;
use crate::ops;
use crate::parameters::Initialiser;
use crate::reconstruction::Reconstruction;
use crate::state::State;

const LOG_SIGMA: &str = "sigma.log";
/// A decoder that is exact would take sigma to 0 and the loss to minus infinity; Rybkin et al. keep it from there by the same bound.
const LEAST_LOG_SIGMA: f64 = -6.0;

/// Settings and objective.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SigmaVae {
    /// Where sigma comes from.
    pub sigma: Sigma,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
    /// Squared error, which belongs to a Gaussian decoder.
    #[serde(skip)]
    reconstruction: Reconstruction,
}

/// Where the decoder's standard deviation comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sigma {
    /// A parameter, 1 at first.
    #[default]
    Learned,
    /// The best one for each batch.
    Optimal,
}

impl SigmaVae {
    /// The logarithm of sigma, `[1]`, from the mean squared error of a pixel.
    fn log_sigma(&self, model: &Model, mean_squared_error: Tensor<1>) -> Tensor<1> {
        let log_sigma = match self.sigma {
            Sigma::Learned => model.parameters.get(LOG_SIGMA).reshape([1]),
            Sigma::Optimal => (mean_squared_error + f64::from(f32::MIN_POSITIVE)).log() * 0.5,
        };
        softly_above(log_sigma, LEAST_LOG_SIGMA)
    }
}

impl Framework for SigmaVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn initialise(&self, _network: &dyn Network, initialiser: &mut Initialiser) {
        if self.sigma == Sigma::Learned {
            initialiser.row(LOG_SIGMA, vec![0.0]);
        }
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "sigma"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let squared_errors = self.reconstruction.per_image(model, outputs, images); // [batch, 1]

        let log_sigma = self.log_sigma(model, ops::mean(squared_errors.clone()) / n_pixels as f64);
        let squared_error = self.reduction.reduce_sums(squared_errors, n_pixels);
        let n_terms = if self.reduction == Reduction::Sum { n_pixels as f64 } else { 1.0 };
        let likelihood = log_sigma.clone() * n_terms + squared_error.clone() * (log_sigma.clone() * -2.0).exp() * 0.5;
        Losses::new()
            .with_term("reconstruction", squared_error, likelihood)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), 1.0)
            .with_logged("sigma", log_sigma.exp())
    }
}

/// About `value` where it is well above `least`, and above `least` everywhere: `least + ln(1 + exp(value - least))`.
pub(super) fn softly_above<const D: usize>(value: Tensor<D>, least: f64) -> Tensor<D> {
    let above = value - least;
    // ln(1 + exp(x)) as max(x, 0) + ln(1 + exp(-|x|)), which does not overflow.
    above.clone().clamp_min(0.0) + (-above.abs()).exp().log1p() + least
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "sigma_vae",
    about: "VAE with a Gaussian decoder whose variance is learned, or the best for each batch",
    paper: "Rybkin et al. 2021, Simple and effective VAE training with calibrated decoders",
    settings: &[
        Setting {
            name: "sigma",
            values: Values::OneOf(&["learned", "optimal"]),
            meaning: "the decoder's standard deviation: a parameter, or the root of each batch's mean squared error",
        },
        REDUCTION,
    ],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<SigmaVae>(table)?)),
    complete: settings::complete::<SigmaVae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::scalar;

    #[test]
    fn the_bound_is_soft() {
        let at = |value: f32| scalar(softly_above(Device::cpu().tensor(vec![value], [1]), -6.0));
        // ln(1 + e^6) - 6 = 0.0024757 at 0; ln 2 above the bound at the bound; nearly the bound far below it.
        for (value, wanted) in
            [(0.0, 0.002_475_7), (-6.0, -6.0 + std::f32::consts::LN_2), (-100.0, -6.0), (200.0, 200.0)]
        {
            assert!((at(value) - wanted).abs() < 1e-5, "{value}: {} is not {wanted}", at(value));
        }
    }
}
