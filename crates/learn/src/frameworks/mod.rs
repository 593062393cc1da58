//! Frameworks: what is minimised.

use burn::tensor::Tensor;
use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Result, Rng};

use crate::losses::Losses;
use crate::model::Model;
use crate::posterior::PosteriorKind;
use crate::reconstruction::Reconstruction;

pub mod ada_gvae;
pub mod ae;
pub mod beta_vae;
pub mod vae;

/// Every framework.
pub const FRAMEWORKS: &[Entry] = &[ae::ENTRY, vae::ENTRY, beta_vae::ENTRY, ada_gvae::ENTRY];

/// An objective. Everything random comes from `noise`, everything that changes with time from `batch.step`, so that the
/// loss of a step follows from the parameters and the step alone.
pub trait Framework: Send + Sync {
    /// How many images an example has.
    fn arity(&self) -> usize {
        1
    }

    /// What the encoder's outputs mean.
    fn posterior(&self) -> PosteriorKind {
        PosteriorKind::DiagonalGaussian
    }

    /// The reconstruction loss, which also tells how decoder outputs become images.
    fn reconstruction(&self) -> Reconstruction;

    /// The names of the parts of the loss, in the order in which `loss` gives them.
    fn parts(&self) -> &'static [&'static str];

    /// The loss of a batch, part by part.
    fn loss(&self, model: &Model, batch: &Batch, noise: &mut Rng) -> Losses;
}

/// Examples to learn from.
pub struct Batch {
    /// The step, counted from 0.
    pub step: u64,
    /// For each member of an example, `[batch, pixels]`.
    pub members: Vec<Tensor<2>>,
}

/// One row of the list of frameworks.
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it minimises, in one line.
    pub about: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// The sampler that suits it.
    pub sampler: &'static str,
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Framework>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// The weight of the KL divergence, which several frameworks have.
const BETA: Setting = Setting {
    name: "beta",
    values: Values::Schedule(0.0, beta_vae::MOST_BETA),
    meaning: "weight of the KL divergence",
};

/// The reconstruction loss, which every framework has.
const RECONSTRUCTION: Setting = Setting {
    name: "reconstruction",
    values: Values::OneOf(&["mse", "bce"]),
    meaning: "loss of each pixel; `unbraid list reconstructions` tells more",
};

/// How losses are summed up, which every framework has.
const REDUCTION: Setting = Setting {
    name: "reduction",
    values: Values::OneOf(&["sum", "mean"]),
    meaning: "whether pixels and latents are summed, or averaged; beta means something else in each",
};

/// The row of the framework called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = FRAMEWORKS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("framework", name, FRAMEWORKS.iter().map(|entry| entry.name)))
}
