//! Frameworks: what is minimised.

use burn::tensor::Tensor;
use ndarray::Array2;
use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Result, Rng};

use crate::losses::Losses;
use crate::model::Model;
use crate::networks::Network;
use crate::optimisers::Optimiser;
use crate::parameters::Initialiser;
use crate::posteriors::{DiagonalGaussians, Family};
use crate::reconstruction::{Reconstruction, SETTING as RECONSTRUCTION};
use crate::schedule::Schedule;
use crate::state::State;

pub mod ada_ae;
pub mod ada_gvae;
pub mod ada_ml_vae;
pub mod ada_tae;
pub mod ada_tvae;
pub mod ada_tvae_data;
pub mod ae;
pub mod annealed_vae;
pub mod beta_tc_vae;
pub mod beta_tvae;
pub mod beta_vae;
pub mod beta_vae_full;
pub mod control_vae;
pub mod dfc_vae;
pub mod dip_vae_i;
pub mod dip_vae_ii;
pub mod dynamic_vae;
pub mod factor_vae;
pub mod hfs;
pub mod info_vae;
pub mod joint_vae;
pub mod l_vae;
pub mod mdl_vae;
pub mod pcl;
pub mod qlae;
pub mod sigma_vae;
pub mod slow_vae;
pub mod tae;
pub mod vae;
pub mod vae_orthogonal;
pub mod weak_gan;

/// Every framework.
pub const FRAMEWORKS: &[Entry] = &[
    ae::ENTRY,
    vae::ENTRY,
    beta_vae::ENTRY,
    beta_vae_full::ENTRY,
    annealed_vae::ENTRY,
    control_vae::ENTRY,
    dynamic_vae::ENTRY,
    sigma_vae::ENTRY,
    l_vae::ENTRY,
    mdl_vae::ENTRY,
    factor_vae::ENTRY,
    beta_tc_vae::ENTRY,
    dip_vae_i::ENTRY,
    dip_vae_ii::ENTRY,
    info_vae::ENTRY,
    hfs::ENTRY,
    vae_orthogonal::ENTRY,
    joint_vae::ENTRY,
    qlae::ENTRY,
    dfc_vae::ENTRY,
    ada_gvae::ENTRY,
    ada_ml_vae::ENTRY,
    ada_ae::ENTRY,
    slow_vae::ENTRY,
    pcl::ENTRY,
    beta_tvae::ENTRY,
    tae::ENTRY,
    ada_tvae::ENTRY,
    ada_tae::ENTRY,
    weak_gan::ENTRY,
    ada_tvae_data::ENTRY,
];

/// What is minimised. Everything random comes from `noise`, everything that changes with time from `batch.step` or from `state`, so
/// that the loss of a step follows from the parameters, the state and the step alone.
pub trait Framework: Send + Sync {
    /// How many images an example has.
    fn arity(&self) -> usize {
        1
    }

    /// How many batches a step learns from, each drawn by itself.
    fn n_batches(&self) -> usize {
        1
    }

    /// How many images a batch has at least; 2 for frameworks that look at how images of a batch differ.
    fn least_batch(&self) -> usize {
        1
    }

    /// What the encoder's outputs mean.
    fn posterior(&self) -> Box<dyn Family> {
        Box::new(DiagonalGaussians)
    }

    /// The reconstruction loss, which also tells how decoder outputs become images; none for a framework without decoder.
    fn reconstruction(&self) -> Option<&Reconstruction>;

    /// A loss by which images are compared with each other, where that is not the reconstruction loss; it sees [`Model::perceiving`].
    fn perceived(&self) -> Option<&Reconstruction> {
        None
    }

    /// Refuses to learn so many latents from images of so many factors.
    fn check_factors(&self, _latents: usize, _n_factors: usize) -> Result<()> {
        Ok(())
    }

    /// Adds networks and parameters of its own, beside those of the model's network, and what it remembers from step to step.
    fn initialise(&self, _network: &dyn Network, _initialiser: &mut Initialiser) {}

    /// Optimisers for some of its own parameters. All others are changed by the optimiser of the config.
    fn own_optimisers(&self) -> Vec<OwnOptimiser> {
        Vec::new()
    }

    /// How strongly weights (not biases, nor parameters of its own) are pulled towards 0 at a step, beside what the loss asks for: by
    /// this share of themselves, times the step size, whatever the optimiser (decoupled; Loshchilov and Hutter 2019).
    fn weight_decay(&self, _step: u64) -> f64 {
        0.0
    }

    /// The names of the parts of the loss, in the order in which `loss` gives them.
    fn parts(&self) -> &'static [&'static str];

    /// The names of numbers that it logs for each latent ([`Losses::with_logged_latents`]), after all other parts.
    fn parts_of_latents(&self) -> &'static [&'static str] {
        &[]
    }

    /// The loss of a batch, part by part. Where there are several objectives, what one of them takes from the graph of another has
    /// to be a constant there ([`crate::tensors::constant`], [`Model::constant`]).
    fn loss(&self, model: &Model, batch: &Batch, state: &mut State, noise: &mut Rng) -> Losses;
}

/// An optimiser, with a rate of its own, for the parameters whose names begin with `network.`.
pub struct OwnOptimiser {
    /// What the parameters' names begin with, and the objective's name in [`Losses::with_own`].
    pub network: &'static str,
    /// How gradients change them.
    pub optimiser: Box<dyn Optimiser>,
    /// The step size.
    pub learning_rate: Schedule,
}

impl OwnOptimiser {
    /// Whether it changes the parameter called `name`.
    pub fn changes(&self, name: &str) -> bool {
        name.strip_prefix(self.network).is_some_and(|rest| rest.starts_with('.'))
    }
}

/// Examples to learn from.
pub struct Batch {
    /// The step, counted from 0.
    pub step: u64,
    /// How many images the batches of all steps are drawn from.
    pub n_images: usize,
    /// For each member of an example, its images; where a step learns from several batches, those of one after those of the
    /// other.
    pub members: Vec<Member>,
    /// For each example, the factor that its images share, where the sampler says so; else empty.
    pub shared: Vec<usize>,
}

impl Batch {
    /// The images of all members, one member after the other, `[members * batch, pixels]`: they go through a network as one batch.
    pub fn images(&self) -> Tensor<2> {
        Tensor::cat(self.members.iter().map(|member| member.images.clone()).collect(), 0)
    }
}

/// One image of each example of a batch.
#[derive(Clone)]
pub struct Member {
    /// `[batch, pixels]`.
    pub images: Tensor<2>,
    /// The images' numbers in the dataset, `[batch]`.
    pub numbers: Vec<usize>,
    /// Their factors, `[batch, factors]`.
    pub factors: Array2<f64>,
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
    /// Settings that keep it small, and go with 4 latents, for tests that walk the list.
    pub example: &'static str,
    /// The samplers that suit it; the first is taken where a config names none.
    pub samplers: &'static [&'static str],
    /// The setting, a number of steps, that is as long as the run where settings leave it out; none where these have no use for one.
    pub as_long_as_the_run: fn(&Table) -> Option<&'static str>,
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Framework>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// A larger weight of a part of the loss would overflow f32 before the first step.
pub(crate) const MOST_WEIGHT: f64 = 1e9;

/// A divergence that nobody asks for.
const MOST_NATS: f64 = 1e6;

/// A larger step size would overflow the parameters at the first step.
const MOST_RATE: f64 = 1e6;

/// The weight of the KL divergence, which several frameworks have.
const BETA: Setting =
    Setting { name: "beta", values: Values::Schedule(0.0, MOST_WEIGHT), meaning: "weight of the KL divergence" };

/// How losses are summed up, which every framework with a decoder has.
const REDUCTION: Setting = Setting {
    name: "reduction",
    values: Values::OneOf(&["sum", "mean"]),
    meaning: "whether pixels and latents are summed, or averaged; weights mean something else in each",
};

/// The same, where weights mean the same in both.
const WHOLE_REDUCTION: Setting = Setting {
    meaning: "whether pixels are summed, or the whole loss is divided by their number; weights mean the same in both",
    ..REDUCTION
};

/// Makes the framework called `name` with the settings in `table`.
pub fn build(name: &str, table: &Table) -> Result<Box<dyn Framework>> {
    (find(name)?.build)(table)
}

/// All settings of the framework called `name`, those left out of `table` at their defaults.
pub fn complete(name: &str, table: &Table) -> Result<Table> {
    (find(name)?.complete)(table)
}

/// The row of the framework called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = FRAMEWORKS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("framework", name, FRAMEWORKS.iter().map(|entry| entry.name)))
}
