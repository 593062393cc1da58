//! The convolutional network of T1 table A.1, after Higgins et al. 2017: four 4x4 convolutions of stride 2 and one
//! hidden layer of 256, mirrored in the decoder; ReLU between layers, none at the end. Images are 64x64.
//!
//! The padding is 1 on each side, so that each layer halves the image exactly; the table does not say (disent pads
//! its encoder by 2).

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::{ImageShape, Result, settings};

use super::layers::{Nonlinearity, conv_stack, each_conv, hidden, linear};
use super::{Entry, LATENTS, Network, check_latents};
use crate::ops::{Activation, Direction, Window};
use crate::parameters::{Initialiser, Parameters};

pub(super) const SIDE: usize = 64;
/// Channels after each convolution of the encoder; the decoder mirrors them.
pub(super) const CHANNELS: [usize; 4] = [32, 32, 64, 64];
/// Side of the image after four halvings.
pub(super) const SMALL_SIDE: usize = 4;
/// Numbers that are left of an image then.
pub(super) const FLAT: usize = SMALL_SIDE * SMALL_SIDE * CHANNELS[3];
pub(super) const HIDDEN: usize = 256;

/// Settings of the network, and of those that differ from it in their layers alone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How many latents a code has.
    pub latents: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { latents: 10 }
    }
}

/// The network for images of 1 or 3 channels.
pub struct Conv64 {
    latents: usize,
    channels: usize,
}

impl Conv64 {
    /// Checks the number of latents; the images must be 64x64.
    pub fn new(settings: &Settings, shape: ImageShape) -> Result<Self> {
        check_latents(settings.latents)?;
        Ok(Self { latents: settings.latents, channels: shape.channels })
    }
}

impl Network for Conv64 {
    fn latents(&self) -> usize {
        self.latents
    }

    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser) {
        let mut channels = self.channels;
        for (layer, next) in CHANNELS.into_iter().enumerate() {
            initialiser.conv(&format!("encoder.conv{layer}"), Window::HALVING.kernel, channels, next);
            channels = next;
        }
        initialiser.linear("encoder.hidden", FLAT, HIDDEN);
        initialiser.linear("encoder.outputs", HIDDEN, outputs);
    }

    fn initialise_decoder(&self, initialiser: &mut Initialiser) {
        initialiser.linear("decoder.hidden", self.latents, HIDDEN);
        initialiser.linear("decoder.flat", HIDDEN, FLAT);
        let mirrored = [CHANNELS[2], CHANNELS[1], CHANNELS[0], self.channels];
        let mut channels = CHANNELS[3];
        for (layer, next) in mirrored.into_iter().enumerate() {
            initialiser.transposed_conv(&format!("decoder.conv{layer}"), Window::HALVING.kernel, channels, next);
            channels = next;
        }
    }

    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, SIDE, SIDE, self.channels]);
        let layers = [(Window::HALVING, Activation::Relu); 4];
        let maps = conv_stack(parameters, "encoder.conv", images, Direction::Down, &layers);
        let flat = maps.reshape([batch, FLAT]);
        let hidden = hidden(parameters, "encoder.hidden", flat, Nonlinearity::Relu); // [batch, 256]
        linear(parameters, "encoder.outputs", hidden)
    }

    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
        let batch = latents.dims()[0];
        let inner = hidden(parameters, "decoder.hidden", latents, Nonlinearity::Relu); // [batch, 256]
        let flat = hidden(parameters, "decoder.flat", inner, Nonlinearity::Relu); // [batch, 1024]
        let maps = flat.reshape([batch, SMALL_SIDE, SMALL_SIDE, CHANNELS[3]]);
        let activations = [Activation::Relu, Activation::Relu, Activation::Relu, Activation::None];
        let layers = activations.map(|activation| (Window::HALVING, activation));
        let maps = conv_stack(parameters, "decoder.conv", maps, Direction::Up, &layers);
        maps.reshape([batch, SIDE * SIDE * self.channels])
    }

    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, SIDE, SIDE, self.channels]);
        let layers = [(Window::HALVING, Activation::Relu); 4];
        let maps = each_conv(parameters, "encoder.conv", images, Direction::Down, &layers);
        let mut features: Vec<Tensor<2>> = maps.into_iter().map(|maps| maps.flatten(1, 3)).collect();
        features.push(hidden(parameters, "encoder.hidden", features[3].clone(), Nonlinearity::Relu)); // [batch, 256]
        features
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "conv64",
    about: "convolutional, four layers of stride 2 each way, for 64x64 images",
    paper: "Higgins et al. 2017, beta-VAE; Michlo 2022, table A.1",
    sides: &[SIDE],
    settings: &[LATENTS],
    build: |table, shape| Ok(Box::new(Conv64::new(&settings::read(table)?, shape)?)),
    complete: settings::complete::<Settings>,
};
