//! Between plain values and burn's tensors.

use burn::tensor::Tensor;
use burn::tensor::activation::log_sigmoid;

const ALL_F32: &str = "every tensor here holds f32";

/// The values of a tensor, row-major.
pub fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as::<f32>().expect(ALL_F32)
}

/// The only value of a tensor.
pub fn scalar(tensor: Tensor<1>) -> f32 {
    floats(tensor)[0]
}

/// The same values, for which no gradient is asked. (burn's `detach` goes on asking for one where it was asked before.)
pub fn constant<const D: usize>(tensor: &Tensor<D>) -> Tensor<D> {
    Tensor::from_inner(tensor.clone().inner())
}

/// `ln(1 + exp(x))`, finite for every x that f32 holds.
pub fn softplus(values: Tensor<2>) -> Tensor<2> {
    -log_sigmoid(-values)
}
