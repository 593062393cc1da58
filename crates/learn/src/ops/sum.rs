//! The sum of a whole tensor.
//!
//! burn's own `sum()` goes through a tensor that is not contiguous (a slice, a transposed or repeated one) value by value
//! in one chain of `f32`, which loses the third digit or so of a million, and through a large one in an order that depends
//! on which thread is free. It is good for a column of a few thousand; whatever is larger is summed here, or along its rows.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;

use super::{dims, flex_tensor, is_on_cpu, register, values};

/// The sum of all values, `[1]`, to the last digit or so and the same bits on any number of threads.
pub fn sum<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    if !is_on_cpu(&tensor) {
        return tensor.sum();
    }
    Tensor::from_dispatch(<Dispatch as SumBackend>::sum_of_all(tensor.into_dispatch()))
}

/// The mean of all values, `[1]`.
pub fn mean<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let n_values = tensor.shape().num_elements();
    sum(tensor) / n_values as f64
}

/// Backends that can sum up a whole tensor.
#[backend_extension(Autodiff, Flex)]
pub trait SumBackend: Backend {
    /// A tensor of any shape to `[1]`.
    fn sum_of_all(tensor: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl SumBackend for Flex {
    fn sum_of_all(tensor: FlexTensor) -> FlexTensor {
        let total = unbraid_kernels::sum(values(&tensor.to_contiguous()));
        flex_tensor(vec![total as f32], &[1])
    }
}

impl<C: CheckpointStrategy> SumBackend for Autodiff<Flex, C> {
    fn sum_of_all(tensor: FloatTensor<Self>) -> FloatTensor<Self> {
        let (tensor, node) = tensor.into_parts();
        let dims = dims(&tensor);
        let total = Flex::sum_of_all(tensor);
        match SumBackward.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(dims, total),
            OpsKind::UnTracked(prepared) => prepared.finish(total),
        }
    }
}

#[derive(Debug)]
struct SumBackward;

impl Backward<Flex, 1> for SumBackward {
    /// The shape of what was summed.
    type State = Vec<usize>;

    fn backward(self, ops: Ops<Vec<usize>, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let [node] = ops.parents;
        let grad_total = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let gradient = vec![values(&grad_total)[0]; ops.state.iter().product()];
        register(gradients, node.map(|node| node.id), Some(gradient), &ops.state);
    }
}
