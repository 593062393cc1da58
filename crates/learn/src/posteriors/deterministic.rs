//! A point: one output for each latent, no noise and no divergence. The posterior of an auto-encoder.

use burn::tensor::Tensor;
use unbraid_data::Rng;

use super::{Entry, Family, Kept, Posterior};
use crate::parameters::Parameters;

/// The family of points.
#[derive(Debug)]
pub struct Deterministic;

impl Family for Deterministic {
    fn n_outputs(&self, latents: usize) -> usize {
        latents
    }

    fn posterior(&self, _parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior> {
        Box::new(Point(outputs))
    }
}

/// A point for each image, `[batch, latents]`.
struct Point(Tensor<2>);

impl Posterior for Point {
    fn sample(&self, _rng: &mut Rng) -> Tensor<2> {
        self.0.clone()
    }

    fn kl(&self) -> Tensor<2> {
        Tensor::zeros([self.0.dims()[0], 1], &self.0.device())
    }

    fn code(&self) -> Tensor<2> {
        self.0.clone()
    }

    fn kept(&self) -> Kept {
        Kept::default()
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "deterministic",
    about: "a point",
    paper: "Hinton and Salakhutdinov 2006, Reducing the dimensionality of data with neural networks",
    example: || Box::new(Deterministic),
};
