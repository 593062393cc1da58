//! FactorVAE (Kim and Mnih 2018; T2): a VAE plus gamma times the total correlation of the latents, `KL(q(z) || prod q(z_j))`, which
//! a discriminator estimates.
//!
//! The discriminator learns to tell latents of a batch (class 0) from latents of a second batch in which each latent was shuffled among
//! the images (class 1), as draws from the product of the marginals. Its two logits then differ by about the logarithm of the
//! density ratio, whose mean over the batch is the total correlation (eq 3). The paper's algorithm 2 changes the model before it
//! encodes the second batch; here both objectives are computed with the parameters that the step begins with.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor, TensorData};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_RATE, MOST_WEIGHT, OwnOptimiser, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::networks::Network;
use crate::networks::layers::{Nonlinearity, hidden, linear};
use crate::ops;
use crate::optimisers::adam::Adam;
use crate::parameters::{Initialiser, Parameters};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::constant;

const DISCRIMINATOR: &str = "discriminator";
/// Hidden layers of the discriminator (appendix A), and how wide each is.
const DEPTH: usize = 6;
const MOST_WIDTH: usize = 10_000;

/// Settings and objective. The defaults are the paper's for dSprites.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct FactorVae {
    /// The weight of the total correlation.
    pub gamma: Schedule,
    /// Width of the discriminator's hidden layers.
    pub width: usize,
    /// The step size of the discriminator's optimiser, an Adam with decays 0.5 and 0.9.
    pub discriminator_rate: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for FactorVae {
    fn default() -> Self {
        Self {
            gamma: Schedule::Constant(35.0),
            width: 1000,
            discriminator_rate: Schedule::Constant(1e-4),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl FactorVae {
    fn check(self) -> Result<Self> {
        self.gamma.check("gamma", 0.0, MOST_WEIGHT)?;
        self.discriminator_rate.check("discriminator_rate", 0.0, MOST_RATE)?;
        check_range("width", self.width, 1, MOST_WIDTH)?;
        Ok(self)
    }
}

impl Framework for FactorVae {
    fn n_batches(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn initialise(&self, network: &dyn Network, initialiser: &mut Initialiser) {
        for layer in 0..DEPTH {
            let inputs = if layer == 0 { network.latents() } else { self.width };
            initialiser.linear(&format!("{DISCRIMINATOR}.hidden{layer}"), inputs, self.width);
        }
        initialiser.linear(&format!("{DISCRIMINATOR}.outputs"), self.width, 2);
    }

    fn own_optimisers(&self) -> Vec<OwnOptimiser> {
        let optimiser = Box::new(Adam { beta1: 0.5, beta2: 0.9, ..Adam::default() });
        vec![OwnOptimiser { network: DISCRIMINATOR, optimiser, learning_rate: self.discriminator_rate.clone() }]
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "total_correlation", "discriminator"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode(images.clone());
        let latents = posterior.sample(noise); // [batch, latents]
        let outputs = model.decode(latents.clone());
        let per_image = self.reconstruction.per_image(model, outputs, images);
        // The model's objective: the discriminator is a constant in it.
        let total_correlation = ops::mean(log_ratio(discriminate(&model.parameters.constant(), latents.clone())));

        // The discriminator's objective: the latents are constants in it.
        let others = model.constant().encode(batch.members[1].images.clone()).sample(noise);
        let both = Tensor::cat(vec![constant(&latents), permuted(others, noise)], 0); // [2 * batch, latents]
        let guess = log_softmax(discriminate(&model.parameters, both), 1); // [2 * batch, 2]
        let n = latents.dims()[0];
        let of_class = |class: usize| ops::mean(guess.clone().narrow(0, class * n, n).narrow(1, class, 1));
        let cross_entropy = (of_class(0) + of_class(1)) * -0.5;

        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), 1.0)
            .with("total_correlation", total_correlation, self.gamma.at(batch.step))
            .with_own(DISCRIMINATOR, "discriminator", cross_entropy)
    }
}

/// The discriminator's logits `[batch, 2]` of latents `[batch, latents]`: six hidden layers with leaky ReLU.
fn discriminate(parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
    let last = (0..DEPTH).fold(latents, |inputs, layer| {
        hidden(parameters, &format!("{DISCRIMINATOR}.hidden{layer}"), inputs, Nonlinearity::LeakyRelu)
    });
    linear(parameters, &format!("{DISCRIMINATOR}.outputs"), last)
}

/// The logarithm of the density ratio that logits stand for, `[batch, 1]`.
fn log_ratio(logits: Tensor<2>) -> Tensor<2> {
    logits.clone().narrow(1, 0, 1) - logits.narrow(1, 1, 1)
}

/// Each latent of `[batch, latents]` shuffled among the images by itself (algorithm 1).
fn permuted(latents: Tensor<2>, rng: &mut Rng) -> Tensor<2> {
    let [batch, n_latents] = latents.dims();
    let mut order: Vec<i32> = (0..batch as i32).collect();
    let mut rows = vec![0; batch * n_latents];
    for latent in 0..n_latents {
        order.shuffle(rng);
        order.iter().enumerate().for_each(|(row, &from)| rows[row * n_latents + latent] = from);
    }
    let rows: Tensor<2, Int> = Tensor::from_data(TensorData::new(rows, [batch, n_latents]), &latents.device());
    latents.gather(0, rows)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "factor_vae",
    about: "VAE + gamma * total correlation, which a discriminator estimates",
    paper: "Kim and Mnih 2018, Disentangling by factorising",
    settings: &[
        Setting {
            name: "gamma",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the total correlation of the latents",
        },
        Setting {
            name: "width",
            values: Values::Whole(1, MOST_WIDTH as u64),
            meaning: "width of the discriminator's six hidden layers",
        },
        Setting {
            name: "discriminator_rate",
            values: Values::Schedule(0.0, MOST_RATE),
            meaning: "step size of the discriminator's Adam, whose decays are 0.5 and 0.9",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "width = 8",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<FactorVae>(table)?.check()?)),
    complete: settings::complete::<FactorVae>,
};
