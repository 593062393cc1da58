//! The layers that networks are made of, on parameters found by name.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::conv_op::{self, Activation};
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
}

/// `[batch, inputs]` to `[batch, outputs]`.
pub fn linear(parameters: &Parameters, name: &str, inputs: Tensor<2>) -> Tensor<2> {
    inputs.matmul(parameters.get(&format!("{name}.weight"))) + parameters.get(&format!("{name}.bias"))
}

/// A linear layer and what follows it.
pub fn hidden(parameters: &Parameters, name: &str, inputs: Tensor<2>, nonlinearity: Nonlinearity) -> Tensor<2> {
    let outputs = linear(parameters, name, inputs);
    match nonlinearity {
        Nonlinearity::Relu => relu(outputs),
        Nonlinearity::Tanh => outputs.tanh(),
    }
}

/// Convolution 4x4, stride 2, padding 1: `[batch, height, width, inputs]` to `[batch, height/2, width/2, outputs]`.
pub fn conv(parameters: &Parameters, name: &str, images: Tensor<4>, activation: Activation) -> Tensor<4> {
    let weight = parameters.get(&format!("{name}.weight"));
    conv_op::conv(images, weight, parameters.get(&format!("{name}.bias")), activation)
}

/// Transposed convolution 4x4, stride 2, padding 1: `[batch, height, width, inputs]` to
/// `[batch, 2 height, 2 width, outputs]`.
pub fn transposed_conv(parameters: &Parameters, name: &str, images: Tensor<4>, activation: Activation) -> Tensor<4> {
    let weight = parameters.get(&format!("{name}.weight"));
    conv_op::transposed_conv(images, weight, parameters.get(&format!("{name}.bias")), activation)
}
