//! Our convolutions as an operation of burn, with a backward pass of its own.
//!
//! burn's own CPU convolutions are slower and work channels-first. All layers are 4x4, stride 2, padding 1 and
//! channels-last. Weights are matrices: `[16 * inputs, outputs]` for a convolution, `[inputs, 16 * outputs]` for a
//! transposed one.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::{Tensor, TensorData};
use burn_flex::FlexTensor;
pub use unbraid_kernels::Activation;
use unbraid_kernels::{ConvShape, LayerGradients, LayerValues, TransposedShape};

const KERNEL: usize = 4;
const STRIDE: usize = 2;
const PADDING: usize = 1;

/// `[batch, height, width, inputs]` to `[batch, height/2, width/2, outputs]`.
pub fn conv(images: Tensor<4>, weight: Tensor<2>, bias: Tensor<2>, activation: Activation) -> Tensor<4> {
    layer(images, weight, bias, Layer { direction: Direction::Down, activation })
}

/// `[batch, height, width, inputs]` to `[batch, 2 height, 2 width, outputs]`.
pub fn transposed_conv(images: Tensor<4>, weight: Tensor<2>, bias: Tensor<2>, activation: Activation) -> Tensor<4> {
    layer(images, weight, bias, Layer { direction: Direction::Up, activation })
}

fn layer(images: Tensor<4>, weight: Tensor<2>, bias: Tensor<2>, layer: Layer) -> Tensor<4> {
    let (images, weight, bias) = (images.into_dispatch(), weight.into_dispatch(), bias.into_dispatch());
    Tensor::from_dispatch(<Dispatch as ConvBackend>::conv_layer(images, weight, bias, layer))
}

/// Which way a layer goes, and what follows it.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    direction: Direction,
    activation: Activation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Convolution: images get smaller.
    Down,
    /// Transposed convolution: images get larger.
    Up,
}

/// Backends that can run a convolutional layer.
#[backend_extension(Autodiff, Flex)]
pub trait ConvBackend: Backend {
    /// Images `[batch, height, width, inputs]`, weight and bias (`[1, outputs]`) to the layer's output.
    fn conv_layer(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        layer: Layer,
    ) -> FloatTensor<Self>;
}

impl ConvBackend for Flex {
    fn conv_layer(images: FlexTensor, weight: FlexTensor, bias: FlexTensor, layer: Layer) -> FlexTensor {
        let (images, weight, bias) = (images.to_contiguous(), weight.to_contiguous(), bias.to_contiguous());
        let shape = layer.shape(&images, &bias);
        let mut out = vec![0.0; shape.out_len()];
        shape.forward(values(&images), values(&weight), values(&bias), layer.activation, &mut out);
        flex_tensor(out, &shape.out_dims())
    }
}

impl<C: CheckpointStrategy> ConvBackend for Autodiff<Flex, C> {
    fn conv_layer(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        layer: Layer,
    ) -> FloatTensor<Self> {
        let parents = [images.node(), weight.node(), bias.node()];
        let (images, weight, bias) = (images.into_primitive(), weight.into_primitive(), bias.into_primitive());
        let (images, weight) = (images.to_contiguous(), weight.to_contiguous());
        let shape = layer.shape(&images, &bias);
        let out = Flex::conv_layer(images.clone(), weight.clone(), bias, layer);
        match ConvBackward.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let state = State { images, weight, out: out.clone(), shape, activation: layer.activation };
                prepared.finish(state, out)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(out),
        }
    }
}

#[derive(Debug)]
struct ConvBackward;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    images: FlexTensor,
    weight: FlexTensor,
    out: FlexTensor,
    shape: Shape,
    activation: Activation,
}

impl Backward<Flex, 3> for ConvBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { images, weight, out, shape, activation } = ops.state;
        let [images_node, weight_node, bias_node] = ops.parents;
        let grad_out = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let mut grad_images = images_node.as_ref().map(|_| vec![0.0; values(&images).len()]);
        let mut grad_weight = vec![0.0; values(&weight).len()];
        let mut grad_bias = vec![0.0; shape.out_dims()[3]];
        let layer = LayerValues { images: values(&images), weight: values(&weight), out: values(&out), activation };
        let targets =
            LayerGradients { images: grad_images.as_deref_mut(), weight: &mut grad_weight, bias: &mut grad_bias };
        shape.backward(layer, values(&grad_out), targets);
        if let Some(node) = weight_node {
            let dims = [weight.layout().shape()[0], weight.layout().shape()[1]];
            gradients.register::<Flex>(node.id, flex_tensor(grad_weight, &dims));
        }
        if let Some(node) = bias_node {
            let dims = [1, grad_bias.len()];
            gradients.register::<Flex>(node.id, flex_tensor(grad_bias, &dims));
        }
        if let (Some(node), Some(grad_images)) = (images_node, grad_images) {
            gradients.register::<Flex>(node.id, flex_tensor(grad_images, &shape.in_dims()));
        }
    }
}

/// The sizes of a layer.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Down(ConvShape),
    Up(TransposedShape),
}

impl Layer {
    /// The sizes of this layer for such images and as many outputs as there are biases.
    fn shape(self, images: &FlexTensor, bias: &FlexTensor) -> Shape {
        let dims = images.layout().shape();
        let (batch, height, width, in_channels) = (dims[0], dims[1], dims[2], dims[3]);
        let out_channels = bias.layout().shape()[1];
        let (kernel, stride, padding) = (KERNEL, STRIDE, PADDING);
        match self.direction {
            Direction::Down => {
                Shape::Down(ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding })
            }
            Direction::Up => {
                Shape::Up(TransposedShape { batch, height, width, in_channels, out_channels, kernel, stride, padding })
            }
        }
    }
}

impl Shape {
    fn in_dims(self) -> [usize; 4] {
        match self {
            Shape::Down(shape) => [shape.batch, shape.height, shape.width, shape.in_channels],
            Shape::Up(shape) => [shape.batch, shape.height, shape.width, shape.in_channels],
        }
    }

    fn out_dims(self) -> [usize; 4] {
        match self {
            Shape::Down(shape) => [shape.batch, shape.out_height(), shape.out_width(), shape.out_channels],
            Shape::Up(shape) => [shape.batch, shape.out_height(), shape.out_width(), shape.out_channels],
        }
    }

    fn out_len(self) -> usize {
        self.out_dims().iter().product()
    }

    fn forward(self, images: &[f32], weight: &[f32], bias: &[f32], activation: Activation, out: &mut [f32]) {
        match self {
            Shape::Down(shape) => unbraid_kernels::conv(&shape, images, weight, bias, activation, out),
            Shape::Up(shape) => unbraid_kernels::transposed_conv(&shape, images, weight, bias, activation, out),
        }
    }

    fn backward(self, layer: LayerValues, grad_out: &[f32], gradients: LayerGradients) {
        match self {
            Shape::Down(shape) => unbraid_kernels::conv_backward(&shape, layer, grad_out, gradients),
            Shape::Up(shape) => unbraid_kernels::transposed_conv_backward(&shape, layer, grad_out, gradients),
        }
    }
}

/// The values of a contiguous tensor.
fn values(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice::<f32>().expect("the tensor was made contiguous, and all tensors are f32")
}

fn flex_tensor(values: Vec<f32>, dims: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, dims.to_vec()))
}
