//! AnnealedVAE (Burgess et al. 2018, eq 8; T2): a VAE whose KL divergence is held at a capacity `C` that grows while it trains, so that one
//! latent after the other comes into use. Minimised is `reconstruction + gamma |KL - C|`.
//!
//! KL is the mean over the batch, of which the absolute value is taken, as in the paper (`KL` there is that of the dataset) and in
//! disentanglement_lib. pythae takes the absolute value image by image, which holds every image at the same KL divergence and costs
//! more by Jensen's inequality. Two images as far on either side of the capacity cost nothing here (`loss_parts.rs`).

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_NATS, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::reconstruction::Reconstruction;
use crate::schedule::{Change, Schedule, Shape};
use crate::state::State;

/// Settings and objective. The defaults are the paper's for dSprites (section 6).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AnnealedVae {
    /// The weight of the distance of the KL divergence from the capacity.
    pub gamma: Schedule,
    /// The KL divergence that is wanted, summed over latents.
    pub capacity: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that gamma means the same in both.
    pub reduction: Reduction,
}

impl Default for AnnealedVae {
    fn default() -> Self {
        let capacity = Change { from: 0.0, to: 25.0, steps: 100_000, start: 0, shape: Shape::Linear };
        Self {
            gamma: Schedule::Constant(1000.0),
            capacity: Schedule::Change(capacity),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl AnnealedVae {
    fn check(self) -> Result<Self> {
        self.gamma.check("gamma", 0.0, MOST_WEIGHT)?;
        self.capacity.check("capacity", 0.0, MOST_NATS)?;
        Ok(self)
    }
}

impl Framework for AnnealedVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "capacity"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let kl = ops::mean(posterior.kl()); // summed over latents in both reductions, as it is held
        let capacity = self.capacity.at(batch.step);
        let distance = (kl.clone() - capacity).abs();
        let n_terms = self.reduction.divisor(n_pixels);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with_term("kl", kl.clone(), distance * (self.gamma.at(batch.step) / n_terms))
            .with_logged("capacity", Tensor::full([1], capacity, &kl.device()))
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "annealed_vae",
    about: "VAE whose KL divergence is held at a capacity that grows: reconstruction + gamma * |KL - capacity|",
    paper: "Burgess et al. 2018, Understanding disentangling in beta-VAE",
    settings: &[
        Setting {
            name: "gamma",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the distance of the KL divergence from the capacity",
        },
        Setting {
            name: "capacity",
            values: Values::Schedule(0.0, MOST_NATS),
            meaning: "the KL divergence that is wanted, summed over latents; it grows as a schedule",
        },
        RECONSTRUCTION,
        WHOLE_REDUCTION,
    ],
    example: "gamma = 3.0\ncapacity = 5.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<AnnealedVae>(table)?.check()?)),
    complete: settings::complete::<AnnealedVae>,
};
