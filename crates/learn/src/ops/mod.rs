//! Our kernels as operations of burn, each with a backward pass of its own.
//!
//! They run on burn's CPU backend: whoever calls a layer asks `Device::has_kernels` first, and makes the same of burn's own operations
//! where there are none. Sums of whole tensors ask for themselves.

use burn::backend::Flex;
use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::grads::Gradients;
use burn::tensor::activation::{leaky_relu, relu};
use burn::tensor::{Device, Tensor, TensorData};
use burn_flex::FlexTensor;
use unbraid_kernels::LEAKY_SLOPE;

pub(crate) mod buffers;
mod conv_stack;
mod filtered_sums;
mod linear;
mod mixture;
mod pixel_sums;
mod sum;
mod tensor_list;

pub use conv_stack::{ConvLayer, Direction, Window, conv_stack, conv_stack_of_burn};
pub use filtered_sums::filtered_sums;
pub use linear::{linear, linear_of_burn};
pub use mixture::{mixture_log_densities, mixture_log_densities_of_burn};
pub use pixel_sums::pixel_sums;
pub use sum::{mean, sum};
pub use unbraid_kernels::{Activation, Filter, FilterShape, FilteredError, PixelLoss, gaussian_taps};

/// Whether our kernels can be used on this tensor.
pub fn is_on_cpu<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.device().inner() == Device::flex()
}

/// What comes out of an activation, by burn's own operations.
fn activated<const D: usize>(tensor: Tensor<D>, activation: Activation) -> Tensor<D> {
    match activation {
        Activation::None => tensor,
        Activation::Relu => relu(tensor),
        Activation::LeakyRelu => leaky_relu(tensor, f64::from(LEAKY_SLOPE)),
    }
}

/// The values of a contiguous tensor.
fn values(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect("the tensor was made contiguous, and all tensors are f32")
}

fn flex_tensor(values: Vec<f32>, dims: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, dims.to_vec()))
}

/// Hands on a gradient to where it is wanted.
fn register(gradients: &mut Gradients, node: Option<NodeId>, gradient: Option<Vec<f32>>, dims: &[usize]) {
    if let (Some(node), Some(gradient)) = (node, gradient) {
        gradients.register::<Flex>(node, flex_tensor(gradient, dims));
    }
}

fn dims(tensor: &FlexTensor) -> Vec<usize> {
    tensor.layout().shape().to_vec()
}
