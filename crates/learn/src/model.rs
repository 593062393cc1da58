//! A model: a network with its parameters, and what its encoder's outputs mean.

use burn::tensor::Tensor;
use unbraid_data::Seed;

use crate::nets::Net;
use crate::parameters::{Initialiser, Parameters};
use crate::posterior::{Gaussian, PosteriorKind};

/// An auto-encoder.
pub struct Model {
    net: Box<dyn Net>,
    posterior: PosteriorKind,
    /// Every trainable tensor.
    pub parameters: Parameters,
}

impl Model {
    /// A model with first values drawn from the seed.
    pub fn new(net: Box<dyn Net>, posterior: PosteriorKind, seed: Seed) -> Self {
        let mut initialiser = Initialiser::new(seed);
        net.initialise(posterior.n_outputs(net.latents()), &mut initialiser);
        Self { net, posterior, parameters: initialiser.finish() }
    }

    /// How many latents a code has.
    pub fn latents(&self) -> usize {
        self.net.latents()
    }

    /// What the encoder's outputs mean.
    pub fn posterior(&self) -> PosteriorKind {
        self.posterior
    }

    /// Codes of a deterministic model, `[batch, latents]` from `[batch, pixels]`.
    pub fn encode_point(&self, images: Tensor<2>) -> Tensor<2> {
        assert_eq!(self.posterior, PosteriorKind::Deterministic, "the encoder describes a distribution");
        self.net.encode(&self.parameters, images)
    }

    /// Posteriors of a Gaussian model, from images `[batch, pixels]`.
    pub fn encode_gaussian(&self, images: Tensor<2>) -> Gaussian {
        assert_eq!(self.posterior, PosteriorKind::DiagonalGaussian, "the encoder describes a point");
        Gaussian::from_outputs(self.net.encode(&self.parameters, images))
    }

    /// Decoder outputs `[batch, pixels]` from latents `[batch, latents]`.
    pub fn decode(&self, latents: Tensor<2>) -> Tensor<2> {
        self.net.decode(&self.parameters, latents)
    }

    /// Calls `work` with the same model, not recording gradients: for encoding and pictures.
    pub fn without_gradients<T>(&mut self, work: impl FnOnce(&Model) -> T) -> T {
        let frozen = self.parameters.frozen();
        let recording = std::mem::replace(&mut self.parameters, frozen);
        let outcome = work(self);
        self.parameters = recording;
        outcome
    }
}
