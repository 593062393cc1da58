//! Reconstruction losses, summed over the pixels of each image in one pass.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use unbraid_kernels::PixelLoss;

use super::{dims, flex_tensor, register, values};

/// The loss of each image, `[batch, 1]`, from a decoder's outputs and the images, `[batch, pixels]` both, on the CPU.
pub fn pixel_sums(outputs: Tensor<2>, images: Tensor<2>, loss: PixelLoss) -> Tensor<2> {
    let (outputs, images) = (outputs.into_dispatch(), images.into_dispatch());
    Tensor::from_dispatch(<Dispatch as PixelSumsBackend>::pixel_sums(outputs, images, loss))
}

/// Backends that can sum up a loss over pixels.
#[backend_extension(Autodiff, Flex)]
pub trait PixelSumsBackend: Backend {
    /// Outputs and images, `[batch, pixels]` both, to `[batch, 1]`.
    fn pixel_sums(outputs: FloatTensor<Self>, images: FloatTensor<Self>, loss: PixelLoss) -> FloatTensor<Self>;
}

impl PixelSumsBackend for Flex {
    fn pixel_sums(outputs: FlexTensor, images: FlexTensor, loss: PixelLoss) -> FlexTensor {
        let (outputs, images) = (outputs.to_contiguous(), images.to_contiguous());
        let mut sums = vec![0.0; dims(&outputs)[0]];
        loss.sums(values(&outputs), values(&images), &mut sums);
        let dims = [sums.len(), 1];
        flex_tensor(sums, &dims)
    }
}

impl<C: CheckpointStrategy> PixelSumsBackend for Autodiff<Flex, C> {
    fn pixel_sums(outputs: FloatTensor<Self>, images: FloatTensor<Self>, loss: PixelLoss) -> FloatTensor<Self> {
        let parents = [outputs.node(), images.node()];
        let (outputs, images) = (outputs.into_primitive().to_contiguous(), images.into_primitive().to_contiguous());
        let sums = Flex::pixel_sums(outputs.clone(), images.clone(), loss);
        match PixelSumsBackward.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(State { outputs, images, loss }, sums),
            OpsKind::UnTracked(prepared) => prepared.finish(sums),
        }
    }
}

#[derive(Debug)]
struct PixelSumsBackward;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    outputs: FlexTensor,
    images: FlexTensor,
    loss: PixelLoss,
}

impl Backward<Flex, 2> for PixelSumsBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { outputs, images, loss } = ops.state;
        let [outputs_node, images_node] = ops.parents;
        let grad_sums = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let mut grad_outputs = outputs_node.as_ref().map(|_| vec![0.0; values(&outputs).len()]);
        let mut grad_images = images_node.as_ref().map(|_| vec![0.0; values(&images).len()]);
        loss.backward(
            values(&outputs),
            values(&images),
            values(&grad_sums),
            grad_outputs.as_deref_mut(),
            grad_images.as_deref_mut(),
        );
        register(gradients, outputs_node.map(|node| node.id), grad_outputs, &dims(&outputs));
        register(gradients, images_node.map(|node| node.id), grad_images, &dims(&images));
    }
}
