//! The convolutional network of T3 table 3.1, for images of 64x64 and of 128x128: four 4x4 convolutions of stride 2 and one
//! of stride 1 to 32 channels, then the outputs; a hidden layer of 256 and six transposed 4x4 convolutions of stride 2 back.
//! ReLU between layers. The table's sigmoid at the end belongs to the reconstruction loss here (`bce` takes logits; `mse` is of
//! the outputs as they are).
//!
//! The table tells neither paddings nor how 256 numbers become an image. Here layers of stride 2 pad by 1, so that each halves
//! or doubles the image exactly, and the one of stride 1 does not pad:
//!
//! | images | encoder | decoder |
//! |---|---|---|
//! | 64x64 | 32, 16, 8, 4, then 1x1x32 | 1x1x256, then 2, 4, 8, 16, 32, 64 |
//! | 128x128 | 64, 32, 16, 8, then 5x5x32 | 2x2x64, then 4, 8, 16, 32, 64, 128 |
//!
//! The table's last two layers have 3 channels each, its images being coloured. For other images the last has as many as the
//! image, and the one before still has 3, since a single channel behind a ReLU is easily all 0 and then learns no more.

use burn::tensor::Tensor;
use unbraid_data::{ImageShape, Result, settings};

use super::conv64::Settings;
use super::layers::{Nonlinearity, conv_stack, each_conv, hidden, linear};
use super::{Entry, LATENTS, Network, check_latents};
use crate::ops::{Activation, Direction, Window};
use crate::parameters::{Initialiser, Parameters};

/// Channels after each convolution of the encoder.
const DOWN: [usize; 5] = [32, 32, 64, 64, 32];
/// Channels after each transposed convolution but the last.
const UP: [usize; 5] = [64, 64, 32, 32, 3];
const HIDDEN: usize = 256;
const UNPADDED: Window = Window { kernel: 4, stride: 1, padding: 0 };
/// The windows of the encoder.
const WINDOWS: [Window; 5] = [Window::HALVING, Window::HALVING, Window::HALVING, Window::HALVING, UNPADDED];

/// The network for images of 1 or 3 channels.
pub struct ConvDeep {
    latents: usize,
    side: usize,
    channels: usize,
}

impl ConvDeep {
    /// Checks the number of latents; the images must be 64x64 or 128x128.
    pub fn new(settings: &Settings, shape: ImageShape) -> Result<Self> {
        check_latents(settings.latents)?;
        Ok(Self { latents: settings.latents, side: shape.height, channels: shape.channels })
    }

    /// Numbers that the convolutions of the encoder leave of an image.
    fn flat(&self) -> usize {
        let side = self.side / 16 - 3;
        side * side * DOWN[4]
    }

    /// Side of the image before six doublings.
    fn small_side(&self) -> usize {
        self.side / 64
    }

    /// Channels of the image before six doublings.
    fn small_channels(&self) -> usize {
        HIDDEN / (self.small_side() * self.small_side())
    }
}

impl Network for ConvDeep {
    fn latents(&self) -> usize {
        self.latents
    }

    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser) {
        let mut channels = self.channels;
        for (layer, (next, window)) in DOWN.into_iter().zip(WINDOWS).enumerate() {
            initialiser.conv(&format!("encoder.conv{layer}"), window.kernel, channels, next);
            channels = next;
        }
        initialiser.linear("encoder.outputs", self.flat(), outputs);
    }

    fn initialise_decoder(&self, initialiser: &mut Initialiser) {
        initialiser.linear("decoder.hidden", self.latents, HIDDEN);
        let mut channels = self.small_channels();
        for (layer, next) in UP.into_iter().chain([self.channels]).enumerate() {
            initialiser.transposed_conv(&format!("decoder.conv{layer}"), Window::HALVING.kernel, channels, next);
            channels = next;
        }
    }

    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, self.side, self.side, self.channels]);
        let layers = WINDOWS.map(|window| (window, Activation::Relu));
        let maps = conv_stack(parameters, "encoder.conv", images, Direction::Down, &layers);
        linear(parameters, "encoder.outputs", maps.reshape([batch, self.flat()]))
    }

    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
        let batch = latents.dims()[0];
        let flat = hidden(parameters, "decoder.hidden", latents, Nonlinearity::Relu); // [batch, 256]
        let maps = flat.reshape([batch, self.small_side(), self.small_side(), self.small_channels()]);
        let mut layers = [(Window::HALVING, Activation::Relu); 6];
        layers[5].1 = Activation::None;
        let maps = conv_stack(parameters, "decoder.conv", maps, Direction::Up, &layers);
        maps.reshape([batch, self.side * self.side * self.channels])
    }

    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, self.side, self.side, self.channels]);
        let layers = WINDOWS.map(|window| (window, Activation::Relu));
        let maps = each_conv(parameters, "encoder.conv", images, Direction::Down, &layers);
        maps.into_iter().map(|maps| maps.flatten(1, 3)).collect()
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "conv_deep",
    about: "convolutional, five layers down and six up, for 64x64 and 128x128 images",
    paper: "Mogultay Ozcan 2024, table 3.1",
    sides: &[64, 128],
    settings: &[LATENTS],
    build: |table, shape| Ok(Box::new(ConvDeep::new(&settings::read(table)?, shape)?)),
    complete: settings::complete::<Settings>,
};
