//! The convolutional network of T2 and of disentanglement_lib: as `conv64`, but the third and the fourth convolution of the
//! encoder have windows of 2x2, which do not overlap. Images are 64x64.
//!
//! TensorFlow's "same" padding, which it has, is 1 on each side for 4x4 windows of stride 2 and none for 2x2 windows of stride
//! 2, so every layer halves the image. The decoder is that of `conv64`. Weights are drawn from Glorot's normal distribution
//! (disentanglement_lib draws them from his uniform one, of the same variance).

use burn::tensor::Tensor;
use unbraid_data::{ImageShape, Result, settings};

use super::conv64::{CHANNELS, Conv64, FLAT, HIDDEN, SIDE, Settings};
use super::layers::{Nonlinearity, conv_stack, each_conv, hidden, linear};
use super::{Entry, LATENTS, Network};
use crate::ops::{Activation, Direction, Window};
use crate::parameters::{Initialiser, Parameters};

const APART: Window = Window { kernel: 2, stride: 2, padding: 0 };
/// The windows of each convolution of the encoder.
const WINDOWS: [Window; 4] = [Window::HALVING, Window::HALVING, APART, APART];

/// The network for images of 1 or 3 channels.
pub struct Conv64Locatello {
    channels: usize,
    /// Has the same decoder.
    conv64: Conv64,
}

impl Conv64Locatello {
    /// Checks the number of latents; the images must be 64x64.
    pub fn new(settings: &Settings, shape: ImageShape) -> Result<Self> {
        Ok(Self { channels: shape.channels, conv64: Conv64::new(settings, shape)? })
    }
}

impl Network for Conv64Locatello {
    fn latents(&self) -> usize {
        self.conv64.latents()
    }

    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser) {
        let mut channels = self.channels;
        for (layer, (next, window)) in CHANNELS.into_iter().zip(WINDOWS).enumerate() {
            initialiser.conv(&format!("encoder.conv{layer}"), window.kernel, channels, next);
            channels = next;
        }
        initialiser.linear("encoder.hidden", FLAT, HIDDEN);
        initialiser.linear("encoder.outputs", HIDDEN, outputs);
    }

    fn initialise_decoder(&self, initialiser: &mut Initialiser) {
        self.conv64.initialise_decoder(initialiser);
    }

    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, SIDE, SIDE, self.channels]);
        let layers = WINDOWS.map(|window| (window, Activation::Relu));
        let maps = conv_stack(parameters, "encoder.conv", images, Direction::Down, &layers);
        let flat = maps.reshape([batch, FLAT]);
        let hidden = hidden(parameters, "encoder.hidden", flat, Nonlinearity::Relu); // [batch, 256]
        linear(parameters, "encoder.outputs", hidden)
    }

    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
        self.conv64.decode(parameters, latents)
    }

    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, SIDE, SIDE, self.channels]);
        let layers = WINDOWS.map(|window| (window, Activation::Relu));
        let maps = each_conv(parameters, "encoder.conv", images, Direction::Down, &layers);
        let mut features: Vec<Tensor<2>> = maps.into_iter().map(|maps| maps.flatten(1, 3)).collect();
        features.push(hidden(parameters, "encoder.hidden", features[3].clone(), Nonlinearity::Relu)); // [batch, 256]
        features
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "conv64_locatello",
    about: "as conv64, with 2x2 windows in encoder layers 3 and 4 (disentanglement_lib)",
    paper: "Locatello et al. 2019, Challenging common assumptions",
    sides: &[SIDE],
    settings: &[LATENTS],
    build: |table, shape| Ok(Box::new(Conv64Locatello::new(&settings::read(table)?, shape)?)),
    complete: settings::complete::<Settings>,
};
