//! beta-VAE (T1 eq 2.7): reconstruction plus beta times the KL divergence from the prior.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Settings and objective. The default beta is the one that Higgins et al. use for sums.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BetaVae {
    /// The weight of the KL divergence.
    pub beta: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for BetaVae {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(4.0),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl Framework for BetaVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        PARTS
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let beta = self.beta.at(batch.step);
        evidence_bound(model, batch.members[0].images.clone(), &self.reconstruction, self.reduction, beta, noise)
    }
}

/// What `evidence_bound` logs.
pub const PARTS: &[&str] = &["reconstruction", "kl"];

/// Reconstruction + beta * KL of images `[batch, pixels]`, whatever the posterior.
pub fn evidence_bound(
    model: &Model,
    images: Tensor<2>,
    reconstruction: &Reconstruction,
    reduction: Reduction,
    beta: f64,
    noise: &mut Rng,
) -> Losses {
    let posterior = model.encode(images.clone());
    let outputs = model.decode(posterior.sample(noise)); // [batch, pixels]
    let n_pixels = images.dims()[1];
    let per_image = reconstruction.per_image(model, outputs, images);
    Losses::new().with("reconstruction", reduction.reduce_sums(per_image, n_pixels), 1.0).with(
        "kl",
        reduction.reduce_sums(posterior.kl(), model.latents()),
        beta,
    )
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "beta_vae",
    about: "reconstruction + beta * KL",
    paper: "Higgins et al. 2017, beta-VAE",
    settings: &[BETA, RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| {
        let framework: BetaVae = settings::read(table)?;
        framework.beta.check("beta", 0.0, MOST_WEIGHT)?;
        Ok(Box::new(framework))
    },
    complete: settings::complete::<BetaVae>,
};
