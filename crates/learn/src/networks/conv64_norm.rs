//! `conv64` with layer normalisation (Ba et al. 2016) after each convolution and before its ReLU: what a convolution makes of an
//! image is centred and scaled to a variance of 1, over all of its pixels and channels, and each channel then has a learned gain
//! and bias. The last layer, which makes the image, is not normalised, nor are the hidden layers.
//!
//! Not batch normalisation (Ioffe and Szegedy 2015), under which the code of an image depends on the other images of its batch: the
//! pairs of weakly supervised frameworks would see each other, and trained codes would be computed by other numbers than
//! those that were trained.
//!
//! It is made of burn's operations, which go over the large images next to the input several times: at batch 64 a step takes about
//! 1.8 times the processor time of one of `conv64`.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use unbraid_data::{ImageShape, Result, settings};

use super::conv64::{CHANNELS, Conv64, FLAT, SIDE, SMALL_SIDE, Settings};
use super::layers::{Nonlinearity, conv, hidden, linear};
use super::{Entry, LATENTS, Network};
use crate::ops::{Direction, Window};
use crate::parameters::{Initialiser, Parameters};

/// Added to the variance, so that an image that is the same everywhere is not divided by 0; PyTorch's.
const EPSILON: f64 = 1e-5;

/// The network for images of 1 or 3 channels.
pub struct Conv64Norm {
    channels: usize,
    /// Has the same convolutions and hidden layers.
    conv64: Conv64,
}

impl Conv64Norm {
    /// Checks the number of latents; the images must be 64x64.
    pub fn new(settings: &Settings, shape: ImageShape) -> Result<Self> {
        Ok(Self { channels: shape.channels, conv64: Conv64::new(settings, shape)? })
    }
}

impl Network for Conv64Norm {
    fn latents(&self) -> usize {
        self.conv64.latents()
    }

    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser) {
        self.conv64.initialise_encoder(outputs, initialiser);
        for (layer, channels) in CHANNELS.into_iter().enumerate() {
            initialise_norm(initialiser, &format!("encoder.norm{layer}"), channels);
        }
    }

    fn initialise_decoder(&self, initialiser: &mut Initialiser) {
        self.conv64.initialise_decoder(initialiser);
        for (layer, channels) in CHANNELS[..3].iter().rev().enumerate() {
            initialise_norm(initialiser, &format!("decoder.norm{layer}"), *channels);
        }
    }

    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, SIDE, SIDE, self.channels]);
        let maps = normalised_layers(parameters, "encoder", images, Direction::Down, CHANNELS.len());
        let flat = maps[CHANNELS.len() - 1].clone().reshape([batch, FLAT]);
        let hidden = hidden(parameters, "encoder.hidden", flat, Nonlinearity::Relu); // [batch, 256]
        linear(parameters, "encoder.outputs", hidden)
    }

    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
        let batch = latents.dims()[0];
        let inner = hidden(parameters, "decoder.hidden", latents, Nonlinearity::Relu); // [batch, 256]
        let flat = hidden(parameters, "decoder.flat", inner, Nonlinearity::Relu); // [batch, 1024]
        let maps = flat.reshape([batch, SMALL_SIDE, SMALL_SIDE, CHANNELS[3]]);
        let maps = normalised_layers(parameters, "decoder", maps, Direction::Up, 3);
        let maps = conv(parameters, "decoder.conv3", maps[2].clone(), Direction::Up, Window::HALVING);
        maps.reshape([batch, SIDE * SIDE * self.channels])
    }

    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        let batch = images.dims()[0];
        let images = images.reshape([batch, SIDE, SIDE, self.channels]);
        let maps = normalised_layers(parameters, "encoder", images, Direction::Down, CHANNELS.len());
        let mut features: Vec<Tensor<2>> = maps.into_iter().map(|maps| maps.flatten(1, 3)).collect();
        features.push(hidden(parameters, "encoder.hidden", features[3].clone(), Nonlinearity::Relu)); // [batch, 256]
        features
    }
}

fn initialise_norm(initialiser: &mut Initialiser, name: &str, channels: usize) {
    initialiser.row(&format!("{name}.gain"), vec![1.0; channels]);
    initialiser.row(&format!("{name}.bias"), vec![0.0; channels]);
}

/// What each of the convolutions of one half of the network makes, normalised and followed by a ReLU.
fn normalised_layers(
    parameters: &Parameters,
    half: &str,
    images: Tensor<4>,
    direction: Direction,
    n_layers: usize,
) -> Vec<Tensor<4>> {
    let made = (0..n_layers).scan(images, |maps, layer| {
        let next = conv(parameters, &format!("{half}.conv{layer}"), maps.clone(), direction, Window::HALVING);
        *maps = relu(normalised(parameters, &format!("{half}.norm{layer}"), next));
        Some(maps.clone())
    });
    made.collect()
}

/// Layer normalisation of `[batch, height, width, channels]` with the gain and the bias of each channel (Ba et al. 2016, eq
/// 3 and 4). The gain and the spread of an image are one factor, so that the large tensors are gone over less often.
fn normalised(parameters: &Parameters, name: &str, maps: Tensor<4>) -> Tensor<4> {
    let [batch, height, width, channels] = maps.dims();
    let gain = parameters.get(&format!("{name}.gain")); // [1, channels]
    let bias = parameters.get(&format!("{name}.bias"));
    let flat = maps.reshape([batch, height * width * channels]);
    let centred = flat.clone() - flat.mean_dim(1);
    let variance = centred.clone().powi_scalar(2).mean_dim(1); // [batch, 1]
    let scale = (variance + EPSILON).sqrt().recip().matmul(gain); // [batch, channels]
    let maps = centred.reshape([batch, height * width, channels]) * scale.reshape([batch, 1, channels]);
    let maps = maps + bias.reshape([1, 1, channels]);
    maps.reshape([batch, height, width, channels])
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "conv64_norm",
    about: "as conv64, with layer normalisation after each convolution",
    paper: "Ba et al. 2016, Layer normalization; Michlo 2022, table A.1",
    sides: &[SIDE],
    settings: &[LATENTS],
    build: |table, shape| Ok(Box::new(Conv64Norm::new(&settings::read(table)?, shape)?)),
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn two_images_by_hand() {
        let mut parameters = Parameters::new(Device::cpu());
        parameters.add("norm.gain", vec![1.0, 10.0], [1, 2]);
        parameters.add("norm.bias", vec![0.0, 100.0], [1, 2]);
        // Images of 1x2 pixels and 2 channels. The first has a mean of 3 and a variance of (4 + 0 + 0 + 4) / 4 = 2; the
        // second is a hundred times the first, and comes out the same whatever its neighbour is.
        let maps = parameters.tensor(vec![1.0, 3.0, 3.0, 5.0, 100.0, 300.0, 300.0, 500.0], [2, 1, 2, 2]);
        let found = floats(normalised(&parameters, "norm", maps).inner());
        let root = std::f32::consts::SQRT_2;
        let wanted = [-root, 100.0, 0.0, 100.0 + 10.0 * root];
        for (found, wanted) in found.iter().zip(wanted.iter().cycle()) {
            assert!((found - wanted).abs() < 1e-4, "{found} is not {wanted}");
        }
    }

    /// EPSILON keeps an image that is the same everywhere from being divided by 0.
    #[test]
    fn an_image_without_contrast_becomes_the_bias() {
        let mut parameters = Parameters::new(Device::cpu());
        parameters.add("norm.gain", vec![2.0], [1, 1]);
        parameters.add("norm.bias", vec![7.0], [1, 1]);
        let maps = parameters.tensor(vec![0.5; 4], [1, 2, 2, 1]);
        assert_eq!(floats(normalised(&parameters, "norm", maps).inner()), [7.0; 4]);
    }
}
