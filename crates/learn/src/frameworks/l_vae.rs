//! L-VAE (T3 eq 6.2; after Kendall et al. 2018): a VAE that learns the weights of both its losses, `reconstruction / sigma0^2 +
//! KL / sigma1^2 + sigma0^2 + sigma1^2`, in place of a beta. The ratio `sigma0^2 / sigma1^2` is logged as the beta that was found,
//! `beta_hat` (eq 6.3).
//!
//! Eq 6.2 has the log-likelihood and minus the divergence, which are maximised, and plus the regulariser, which is to be minimised:
//! the first two change their signs here. Learned are the `ln sigma^2` (as Kendall et al. advise), and not sigma itself: the minimum is the
//! same, sigma stays positive and its steps relative, and nothing is divided by zero. `sigma^2` stays softly above 1e-7.
//!
//! For losses `R` and `KL` the best weights have a closed form, to which the tests hold this: `sigma0^2 = sqrt(R)`, `sigma1^2 =
//! sqrt(KL)`, `beta_hat = sqrt(R / KL)`, so that in the end `2 sqrt(R) + 2 sqrt(KL)` is minimised. A root is infinitely
//! steep at 0: a KL divergence that comes near 0 is held there by a growing weight, and the posterior stays collapsed.
//! The sigmas are changed by the config's optimiser: Adam's steps of 1e-4 need some 10,000 to change `sigma^2` by a factor of e.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, Rng, settings};

use super::sigma_vae::softly_above;
use super::{Batch, Entry, Framework, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::networks::Network;
use crate::ops;
use crate::parameters::Initialiser;
use crate::reconstruction::Reconstruction;
use crate::state::State;

const LOG_SQUARES: &str = "sigma.log_squares";
/// A loss of 0 would take its sigma to 0. This bound, e^-16 = 1.1e-7 for `sigma^2`, leaves a sigma of 1 as it is in f32.
pub(super) const LEAST_LOG_SQUARE: f64 = -16.0;
const LEAST_SIGMA: f64 = 1e-2;
const MOST_SIGMA: f64 = 1e3;

/// Settings and objective. The defaults are those of T3 section 3.2.2.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct LVae {
    /// The first `sigma0`, that of the reconstruction loss.
    pub sigma0: f64,
    /// The first `sigma1`, that of the KL divergence.
    pub sigma1: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for LVae {
    fn default() -> Self {
        Self { sigma0: 1.0, sigma1: 1.0, reconstruction: Reconstruction::default(), reduction: Reduction::default() }
    }
}

impl LVae {
    fn check(self) -> Result<Self> {
        for (name, value) in [("sigma0", self.sigma0), ("sigma1", self.sigma1)] {
            check_range(name, value, LEAST_SIGMA, MOST_SIGMA)?;
        }
        Ok(self)
    }
}

impl Framework for LVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn initialise(&self, _network: &dyn Network, initialiser: &mut Initialiser) {
        let log_square = |sigma: f64| (2.0 * sigma.ln()) as f32;
        initialiser.row(LOG_SQUARES, vec![log_square(self.sigma0), log_square(self.sigma1)]);
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "regulariser", "sigma0", "sigma1", "beta_hat"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        let reconstruction = self.reduction.reduce_sums(per_image, n_pixels);
        let kl = self.reduction.reduce_sums(posterior.kl(), model.latents());

        let log_squares = softly_above(model.parameters.get(LOG_SQUARES), LEAST_LOG_SQUARE); // [1, 2]
        let number = |row: &Tensor<2>, index: usize| row.clone().narrow(1, index, 1).reshape([1]);
        let (squares, weights) = (log_squares.clone().exp(), (-log_squares.clone()).exp());
        let sigmas = (log_squares * 0.5).exp();
        let beta_hat = number(&squares, 0) * number(&weights, 1);
        Losses::new()
            .with_term("reconstruction", reconstruction.clone(), reconstruction * number(&weights, 0))
            .with_term("kl", kl.clone(), kl * number(&weights, 1))
            .with("regulariser", ops::sum(squares), 1.0)
            .with_logged("sigma0", number(&sigmas, 0))
            .with_logged("sigma1", number(&sigmas, 1))
            .with_logged("beta_hat", beta_hat)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "l_vae",
    about: "VAE that learns the weights of its reconstruction loss and of its KL divergence",
    paper: "Mogultay Ozcan 2024, On disentangled representation learning, section 6.2",
    settings: &[
        Setting {
            name: "sigma0",
            values: Values::Number(LEAST_SIGMA, MOST_SIGMA),
            meaning: "the first sigma0: the reconstruction loss is divided by its square",
        },
        Setting {
            name: "sigma1",
            values: Values::Number(LEAST_SIGMA, MOST_SIGMA),
            meaning: "the first sigma1: the KL divergence is divided by its square",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<LVae>(table)?.check()?)),
    complete: settings::complete::<LVae>,
};
