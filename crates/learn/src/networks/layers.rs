//! The layers that networks are made of, on parameters found by name.

use burn::tensor::Tensor;

use crate::ops::{self, Activation, ConvLayer, Direction, Window};
use crate::parameters::Parameters;

/// What follows the matrix product of a hidden layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nonlinearity {
    /// max(x, 0).
    #[default]
    Relu,
    /// Hyperbolic tangent.
    Tanh,
    /// x, or 0.2 x where it is negative, as in the discriminator of FactorVAE.
    #[serde(skip)]
    LeakyRelu,
}

/// `[batch, inputs]` to `[batch, outputs]`.
pub fn linear(parameters: &Parameters, name: &str, inputs: Tensor<2>) -> Tensor<2> {
    linear_with(parameters, name, inputs, Activation::None)
}

/// A linear layer and what follows it.
pub fn hidden(parameters: &Parameters, name: &str, inputs: Tensor<2>, nonlinearity: Nonlinearity) -> Tensor<2> {
    match nonlinearity {
        Nonlinearity::Relu => linear_with(parameters, name, inputs, Activation::Relu),
        Nonlinearity::LeakyRelu => linear_with(parameters, name, inputs, Activation::LeakyRelu),
        Nonlinearity::Tanh => linear(parameters, name, inputs).tanh(),
    }
}

fn linear_with(parameters: &Parameters, name: &str, inputs: Tensor<2>, activation: Activation) -> Tensor<2> {
    let (weight, bias) = weight_and_bias(parameters, name);
    match parameters.device().has_kernels() {
        true => ops::linear(inputs, weight, bias, activation),
        false => ops::linear_of_burn(inputs, weight, bias, activation),
    }
}

/// Images `[batch, height, width, channels]` through convolutions, or transposed ones, called `name` and a number each:
/// 1 to 8, of these windows and followed by these activations.
pub fn conv_stack(
    parameters: &Parameters,
    name: &str,
    images: Tensor<4>,
    direction: Direction,
    layers: &[(Window, Activation)],
) -> Tensor<4> {
    through(parameters, images, direction, conv_layers(parameters, name, layers))
}

/// The same, giving what each of the layers makes.
pub fn each_conv(
    parameters: &Parameters,
    name: &str,
    images: Tensor<4>,
    direction: Direction,
    layers: &[(Window, Activation)],
) -> Vec<Tensor<4>> {
    let layers = conv_layers(parameters, name, layers).into_iter();
    let made = layers.scan(images, |maps, layer| {
        *maps = through(parameters, maps.clone(), direction, vec![layer]);
        Some(maps.clone())
    });
    made.collect()
}

fn conv_layers(parameters: &Parameters, name: &str, layers: &[(Window, Activation)]) -> Vec<ConvLayer> {
    let layers = layers.iter().enumerate().map(|(layer, &(window, activation))| {
        let (weight, bias) = weight_and_bias(parameters, &format!("{name}{layer}"));
        ConvLayer { window, weight, bias, activation }
    });
    layers.collect()
}

/// Images `[batch, height, width, channels]` through one convolution, or a transposed one, of this name; no activation follows.
pub fn conv(parameters: &Parameters, name: &str, images: Tensor<4>, direction: Direction, window: Window) -> Tensor<4> {
    let (weight, bias) = weight_and_bias(parameters, name);
    let layer = ConvLayer { window, weight, bias, activation: Activation::None };
    through(parameters, images, direction, vec![layer])
}

fn through(parameters: &Parameters, images: Tensor<4>, direction: Direction, layers: Vec<ConvLayer>) -> Tensor<4> {
    match parameters.device().has_kernels() {
        true => ops::conv_stack(images, direction, layers),
        false => ops::conv_stack_of_burn(images, direction, layers),
    }
}

fn weight_and_bias(parameters: &Parameters, name: &str) -> (Tensor<2>, Tensor<2>) {
    (parameters.get(&format!("{name}.weight")), parameters.get(&format!("{name}.bias")))
}
