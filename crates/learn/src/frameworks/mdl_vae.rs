//! mdL-VAE (T3 eq 7.1 to 7.3 and table 7.4): a VAE that learns a weight for its reconstruction loss and one for the KL divergence of each
//! latent, `f(sigma_r) reconstruction + sum_i f(sigma_i) KL_i + r(sigma_r) + sum_i r_i(sigma_i)`. What `f` and `r` are is the `variant`:
//!
//! | variant | weight `f` | regulariser of the reconstruction | of each of N latents |
//! |---|---|---|---|
//! | `strong` (eq 7.2) | `1 / (1 + ln(1 + sigma^2))` | `sigma^2` | `sigma^2` |
//! | `weak` (eq 7.3) | `1 / (1 + ln(1 + sigma^2))` | `sigma^2` | `ln(1 + sigma^2) / N` |
//! | `v1` | `1 / (1 + ln(1 + sigma^2))` | `ln(1 + sigma^2)` | `ln(1 + sigma^2)` |
//! | `v2` | `1 / sigma^2` | `sigma^2` | `sigma^2` |
//! | `v3` | `1 / sigma^2` | `ln(1 + sigma^2)` | `ln(1 + sigma^2)` |
//!
//! The sums run from `i = 0` to `N` in print, over one latent more than there are. Table 7.4 has `KL(q(z_{i-1} | x))` in them, which no
//! latent is for `i = 0`; here they have one term for each of the N latents, and sigma_r is none of them.
//!
//! Learned are the `ln sigma^2`, all 0 at first, as in `l_vae` and for the same reasons: sigma stays positive, and where `v2` and `v3`
//! take it to 0, as T3 saw, its square stays softly above 1e-7. The minima are those of sigma itself; only the way there is another,
//! and a sigma of 0 is come near and never reached.
//!
//! How we know it: for a fixed divergence `K` the best sigma of a latent has a closed form. With `v2` `sigma^2 = sqrt(K)`; with
//! `weak`, where `(1 + ln(1 + sigma^2))^2 = N K`, it is `exp(sqrt(N K) - 1) - 1`, and 0 where `N K` is below 1; with `strong` it is 0
//! where `K` is below 1. So a sigma tells how large the KL divergence of its latent is, and an unused latent has a sigma near 0.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Rng, settings};

use super::l_vae::LEAST_LOG_SQUARE;
use super::sigma_vae::softly_above;
use super::{Batch, Entry, Framework, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::networks::Network;
use crate::ops;
use crate::parameters::Initialiser;
use crate::posteriors::Posterior;
use crate::reconstruction::Reconstruction;
use crate::state::State;
use crate::tensors::softplus;

const LOG_SQUARE_OF_RECONSTRUCTION: &str = "sigma.log_square_of_reconstruction";
const LOG_SQUARES_OF_LATENTS: &str = "sigma.log_squares_of_latents";

/// Settings and objective. The default is what T3 section 7.2 advises.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MdlVae {
    /// Which weights and regularisers.
    pub variant: Variant,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents; the regularisers are summed in both.
    pub reduction: Reduction,
}

/// A row of T3 table 7.4, or eq 7.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Eq 7.2.
    #[default]
    Strong,
    /// Eq 7.3, for data on which all sigmas stay below 0.5 with `strong`.
    Weak,
    /// The weights of `strong`, all regularisers weaker.
    V1,
    /// The weights and regularisers of L-VAE.
    V2,
    /// The weights of L-VAE, all regularisers weaker.
    V3,
}

impl Variant {
    /// `f(sigma)`, the weights of losses, from `ln sigma^2`.
    fn weights(self, log_squares: Tensor<2>) -> Tensor<2> {
        match self {
            Variant::Strong | Variant::Weak | Variant::V1 => (softplus(log_squares) + 1.0).recip(),
            Variant::V2 | Variant::V3 => (-log_squares).exp(),
        }
    }

    /// `r(sigma_r)`, from `ln sigma_r^2`.
    fn regulariser_of_reconstruction(self, log_square: Tensor<2>) -> Tensor<2> {
        match self {
            Variant::Strong | Variant::Weak | Variant::V2 => log_square.exp(),
            Variant::V1 | Variant::V3 => softplus(log_square),
        }
    }

    /// `r_i(sigma_i)` of each latent, `[1, latents]`, from `ln sigma_i^2`.
    fn regularisers_of_latents(self, log_squares: Tensor<2>) -> Tensor<2> {
        let latents = log_squares.dims()[1];
        match self {
            Variant::Strong | Variant::V2 => log_squares.exp(),
            Variant::V1 | Variant::V3 => softplus(log_squares),
            Variant::Weak => softplus(log_squares) / latents as f64,
        }
    }
}

impl Framework for MdlVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn initialise(&self, network: &dyn Network, initialiser: &mut Initialiser) {
        initialiser.row(LOG_SQUARE_OF_RECONSTRUCTION, vec![0.0]);
        initialiser.row(LOG_SQUARES_OF_LATENTS, vec![0.0; network.latents()]);
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "regulariser", "sigma_r"]
    }

    fn parts_of_latents(&self) -> &'static [&'static str] {
        &["sigma"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        let reconstruction = self.reduction.reduce_sums(per_image, n_pixels);

        let log_square = |name: &str| softly_above(model.parameters.get(name), LEAST_LOG_SQUARE);
        let of_reconstruction = log_square(LOG_SQUARE_OF_RECONSTRUCTION); // [1, 1]
        let of_latents = log_square(LOG_SQUARES_OF_LATENTS); // [1, latents]
        let weight = self.variant.weights(of_reconstruction.clone()).reshape([1]);
        let kl_of_latents = posterior.kl_of_latents().mean_dim(0); // [1, latents]
        let weighted = kl_of_latents.clone() * self.variant.weights(of_latents.clone());
        let regulariser = self.variant.regulariser_of_reconstruction(of_reconstruction.clone()).reshape([1])
            + ops::sum(self.variant.regularisers_of_latents(of_latents.clone()));

        let reduced = |of_latents: Tensor<2>| self.reduction.reduce_sums(of_latents.sum_dim(1), model.latents());
        Losses::new()
            .with_term("reconstruction", reconstruction.clone(), reconstruction * weight)
            .with_term("kl", reduced(kl_of_latents), reduced(weighted))
            .with("regulariser", regulariser, 1.0)
            .with_logged("sigma_r", (of_reconstruction * 0.5).exp().reshape([1]))
            .with_logged_latents("sigma", (of_latents * 0.5).exp())
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mdl_vae",
    about: "VAE that learns the weights of its reconstruction loss and of the KL divergence of each latent",
    paper: "Mogultay Ozcan 2024, On disentangled representation learning, chapter 7",
    settings: &[
        Setting {
            name: "variant",
            values: Values::OneOf(&["strong", "weak", "v1", "v2", "v3"]),
            meaning: "weights and regularisers of the sigmas (T3 table 7.4); weak where all sigmas stay below 0.5",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<MdlVae>(table)?)),
    complete: settings::complete::<MdlVae>,
};
