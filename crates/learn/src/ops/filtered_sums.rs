//! Squared errors of images and of filtered images, summed over the pixels of each image.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use unbraid_kernels::FilteredError;

use super::buffers::{self, Buffer};
use super::{dims, flex_tensor, register, values};

/// The loss of each image, `[batch, 1]`, from a decoder's outputs and the images, `[batch, pixels]` both, on the CPU.
pub fn filtered_sums(outputs: Tensor<2>, images: Tensor<2>, error: Arc<FilteredError>) -> Tensor<2> {
    let (outputs, images) = (outputs.into_dispatch(), images.into_dispatch());
    Tensor::from_dispatch(<Dispatch as FilteredSumsBackend>::filtered_sums(outputs, images, error))
}

/// Backends that can sum up squared errors of filtered images.
#[backend_extension(Autodiff, Flex)]
pub trait FilteredSumsBackend: Backend {
    /// Outputs and images, `[batch, pixels]` both, to `[batch, 1]`.
    fn filtered_sums(
        outputs: FloatTensor<Self>,
        images: FloatTensor<Self>,
        error: Arc<FilteredError>,
    ) -> FloatTensor<Self>;
}

impl FilteredSumsBackend for Flex {
    fn filtered_sums(outputs: FlexTensor, images: FlexTensor, error: Arc<FilteredError>) -> FlexTensor {
        sums(&outputs.to_contiguous(), &images.to_contiguous(), &error).0
    }
}

/// The sums, and the filtered differences that the backward pass takes.
fn sums(outputs: &FlexTensor, images: &FlexTensor, error: &FilteredError) -> (FlexTensor, Buffer) {
    let mut sums = vec![0.0; dims(outputs)[0]];
    let filtered = Buffer::filled(values(outputs).len(), |filtered| {
        error.sums(values(outputs), values(images), filtered, &mut sums);
    });
    let dims = [sums.len(), 1];
    (flex_tensor(sums, &dims), filtered)
}

impl<C: CheckpointStrategy> FilteredSumsBackend for Autodiff<Flex, C> {
    fn filtered_sums(
        outputs: FloatTensor<Self>,
        images: FloatTensor<Self>,
        error: Arc<FilteredError>,
    ) -> FloatTensor<Self> {
        let parents = [outputs.node(), images.node()];
        let (outputs, images) = (outputs.into_primitive().to_contiguous(), images.into_primitive().to_contiguous());
        let (sums, filtered) = sums(&outputs, &images, &error);
        match FilteredSumsBackward.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(State { outputs, images, filtered, error }, sums),
            OpsKind::UnTracked(prepared) => prepared.finish(sums),
        }
    }
}

#[derive(Debug)]
struct FilteredSumsBackward;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    outputs: FlexTensor,
    images: FlexTensor,
    filtered: Buffer,
    error: Arc<FilteredError>,
}

impl Backward<Flex, 2> for FilteredSumsBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { outputs, images, filtered, error } = ops.state;
        let [outputs_node, images_node] = ops.parents;
        let grad_sums = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let mut grad = buffers::take(values(&outputs).len());
        error.backward(values(&outputs), values(&images), filtered.values(), values(&grad_sums), &mut grad);
        let of_images = images_node.as_ref().map(|_| grad.iter().map(|value| -value).collect());
        register(gradients, images_node.map(|node| node.id), of_images, &dims(&images));
        register(gradients, outputs_node.map(|node| node.id), Some(grad), &dims(&outputs));
    }
}
