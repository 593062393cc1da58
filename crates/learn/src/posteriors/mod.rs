//! Posteriors: what an encoder says about an image, as a distribution over latents.

use burn::tensor::Tensor;
use unbraid_data::{Result, Rng};

use crate::parameters::{Initialiser, Parameters};

mod deterministic;
mod diagonal_gaussian;
mod full_gaussian;
mod gaussian_concrete;
pub mod noise;
mod quantised;

pub use deterministic::Deterministic;
pub use diagonal_gaussian::{DiagonalGaussian, DiagonalGaussians};
pub use full_gaussian::{FullGaussian, FullGaussians};
pub use gaussian_concrete::{GaussianConcrete, GaussianConcretes};
pub use quantised::{Quantised, QuantisedPoints};

/// Every posterior, with the settings of an example where it has any.
pub const POSTERIORS: &[Entry] =
    &[deterministic::ENTRY, diagonal_gaussian::ENTRY, full_gaussian::ENTRY, gaussian_concrete::ENTRY, quantised::ENTRY];

/// Which distributions the outputs of an encoder describe. A framework chooses one.
pub trait Family: Send + Sync {
    /// How many outputs an encoder needs for so many latents.
    fn n_outputs(&self, latents: usize) -> usize;

    /// Refuses a number of latents that it cannot have.
    fn check(&self, _latents: usize) -> Result<()> {
        Ok(())
    }

    /// Whether KL divergences are kept beside the codes, since they do not follow from codes and log-variances.
    fn keeps_kl_divergences(&self) -> bool {
        false
    }

    /// Adds parameters of its own, such as the values that latents may take.
    fn initialise(&self, _latents: usize, _initialiser: &mut Initialiser) {}

    /// The distributions that outputs `[batch, outputs]` describe, with the parameters that `initialise` added.
    fn posterior(&self, parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior>;

    /// What the rows of a traversal move: a latent each, unless latents belong together.
    fn moved(&self, latents: usize) -> Vec<Moved> {
        (0..latents).map(Moved::Latent).collect()
    }
}

/// A distribution over latents for each image of a batch.
pub trait Posterior {
    /// One draw for each image, `[batch, latents]`, with noise from `rng`.
    fn sample(&self, rng: &mut Rng) -> Tensor<2>;

    /// KL divergence from the prior, for each image, `[batch, 1]`.
    fn kl(&self) -> Tensor<2>;

    /// The code of each image, `[batch, latents]`.
    fn code(&self) -> Tensor<2>;

    /// What is kept beside the codes.
    fn kept(&self) -> Kept;
}

/// What a posterior keeps beside the codes, for metrics.
#[derive(Default)]
pub struct Kept {
    /// Logarithms of each latent's variance, `[batch, latents]`.
    pub log_variances: Option<Tensor<2>>,
    /// KL divergence of each image from the prior, `[batch, 1]`, where it is not the sum over latents that follows from codes and
    /// log-variances.
    pub kl_divergences: Option<Tensor<2>>,
}

/// What one row of a traversal moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// One latent, along its range.
    Latent(usize),
    /// Latents that are the probabilities of some classes: one class after another.
    Classes(std::ops::Range<usize>),
    /// One latent that takes a few values only: one value after another.
    Values(usize),
}

/// One row of the list of posteriors.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// One of the family, for tests that walk the list.
    pub example: fn() -> Box<dyn Family>,
}
