//! No hidden layer: one matrix each way. A VAE with this network does principal component analysis (T4 theorem 2).

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::{ImageShape, Result, settings};

use super::layers::linear;
use super::{Entry, LATENTS, Network, check_latents};
use crate::parameters::{Initialiser, Parameters};

/// Settings of the network.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How many latents a code has.
    pub latents: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { latents: 2 }
    }
}

/// The network for images of a size.
pub struct Linear {
    latents: usize,
    pixels: usize,
}

impl Linear {
    /// Checks the number of latents.
    pub fn new(settings: &Settings, shape: ImageShape) -> Result<Self> {
        check_latents(settings.latents)?;
        Ok(Self { latents: settings.latents, pixels: shape.n_pixels() })
    }
}

impl Network for Linear {
    fn latents(&self) -> usize {
        self.latents
    }

    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser) {
        initialiser.linear("encoder.outputs", self.pixels, outputs);
    }

    fn initialise_decoder(&self, initialiser: &mut Initialiser) {
        initialiser.linear("decoder.outputs", self.latents, self.pixels);
    }

    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        linear(parameters, "encoder.outputs", images)
    }

    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
        linear(parameters, "decoder.outputs", latents)
    }

    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        vec![self.encode(parameters, images)]
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "linear",
    about: "no hidden layer, one matrix each way",
    paper: "Zietlow 2022, table 3.1",
    sides: &[],
    settings: &[LATENTS],
    build: |table, shape| Ok(Box::new(Linear::new(&settings::read(table)?, shape)?)),
    complete: settings::complete::<Settings>,
};
