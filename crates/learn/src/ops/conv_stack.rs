//! Four convolutional layers on top of each other, all 4x4, stride 2, padding 1 and channels-last.
//!
//! They are one operation, since a few images at a time go through all of them while they are in the cache. Weights are
//! matrices: `[16 * inputs, outputs]` for a convolution, `[inputs, 16 * outputs]` for a transposed one.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::{conv_transpose2d, conv2d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_flex::FlexTensor;
use unbraid_kernels::stack::{self, StackGradients, StackLayer, kept_len};
use unbraid_kernels::{Activation, ConvShape, LayerShape, TransposedShape};

use super::buffers::{self, Buffer};
use super::{dims, flex_tensor, is_on_cpu, values};

const KERNEL: usize = 4;
const STRIDE: usize = 2;
const PADDING: usize = 1;
/// Layers of a stack.
const DEPTH: usize = 4;
/// Images, and a weight and a bias for each layer.
const N_PARENTS: usize = 1 + 2 * DEPTH;

/// Which way all layers of a stack go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Convolutions: images get half as high and half as wide.
    Down,
    /// Transposed convolutions: images get twice as high and twice as wide.
    Up,
}

/// One layer: weight, bias `[1, outputs]`, and what follows.
#[derive(Debug, Clone)]
pub struct ConvLayer {
    /// The weight.
    pub weight: Tensor<2>,
    /// The bias.
    pub bias: Tensor<2>,
    /// What the output goes through.
    pub activation: Activation,
}

/// Images `[batch, height, width, channels]` through four layers.
pub fn conv_stack(images: Tensor<4>, direction: Direction, layers: [ConvLayer; DEPTH]) -> Tensor<4> {
    if !is_on_cpu(&images) {
        return conv_stack_of_burn(images, direction, layers);
    }
    let kind = Kind { direction, activations: layers.each_ref().map(|layer| layer.activation) };
    let [(w0, b0), (w1, b1), (w2, b2), (w3, b3)] =
        layers.map(|layer| (layer.weight.into_dispatch(), layer.bias.into_dispatch()));
    let images = images.into_dispatch();
    Tensor::from_dispatch(<Dispatch as ConvBackend>::four_layers(images, w0, b0, w1, b1, w2, b2, w3, b3, kind))
}

/// The same, made of burn's own operations, which work channels-first.
pub fn conv_stack_of_burn(images: Tensor<4>, direction: Direction, layers: [ConvLayer; DEPTH]) -> Tensor<4> {
    let (kernel, stride, padding, dilation) = (KERNEL, [STRIDE; 2], [PADDING; 2], [1; 2]);
    let mut maps = images.permute([0, 3, 1, 2]);
    for ConvLayer { weight, bias, activation } in layers {
        let (n_in, n_out) = (maps.dims()[1], bias.dims()[1]);
        let bias = Some(bias.reshape([n_out]));
        maps = match direction {
            Direction::Down => {
                let weight = weight.reshape([kernel, kernel, n_in, n_out]).permute([3, 2, 0, 1]);
                conv2d(maps, weight, bias, ConvOptions::new(stride, padding, dilation, 1))
            }
            Direction::Up => {
                let weight = weight.reshape([n_in, kernel, kernel, n_out]).permute([0, 3, 1, 2]);
                conv_transpose2d(maps, weight, bias, ConvTransposeOptions::new(stride, padding, [0; 2], dilation, 1))
            }
        };
        if activation == Activation::Relu {
            maps = relu(maps);
        }
    }
    maps.permute([0, 2, 3, 1])
}

/// Which way a stack goes, and what follows each layer.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    direction: Direction,
    activations: [Activation; DEPTH],
}

/// Backends that can run four convolutional layers.
#[backend_extension(Autodiff, Flex)]
pub trait ConvBackend: Backend {
    /// Images `[batch, height, width, channels]`, and weights and biases (`[1, outputs]`) of the layers in order.
    #[allow(clippy::too_many_arguments, reason = "an extension takes each tensor as an argument")]
    fn four_layers(
        images: FloatTensor<Self>,
        weight0: FloatTensor<Self>,
        bias0: FloatTensor<Self>,
        weight1: FloatTensor<Self>,
        bias1: FloatTensor<Self>,
        weight2: FloatTensor<Self>,
        bias2: FloatTensor<Self>,
        weight3: FloatTensor<Self>,
        bias3: FloatTensor<Self>,
        kind: Kind,
    ) -> FloatTensor<Self>;
}

impl ConvBackend for Flex {
    fn four_layers(
        images: FlexTensor,
        weight0: FlexTensor,
        bias0: FlexTensor,
        weight1: FlexTensor,
        bias1: FlexTensor,
        weight2: FlexTensor,
        bias2: FlexTensor,
        weight3: FlexTensor,
        bias3: FlexTensor,
        kind: Kind,
    ) -> FlexTensor {
        let parameters = [weight0, bias0, weight1, bias1, weight2, bias2, weight3, bias3];
        Given::new(&images, &parameters, kind).forward(None)
    }
}

impl<C: CheckpointStrategy> ConvBackend for Autodiff<Flex, C> {
    fn four_layers(
        images: FloatTensor<Self>,
        weight0: FloatTensor<Self>,
        bias0: FloatTensor<Self>,
        weight1: FloatTensor<Self>,
        bias1: FloatTensor<Self>,
        weight2: FloatTensor<Self>,
        bias2: FloatTensor<Self>,
        weight3: FloatTensor<Self>,
        bias3: FloatTensor<Self>,
        kind: Kind,
    ) -> FloatTensor<Self> {
        let parameters = [weight0, bias0, weight1, bias1, weight2, bias2, weight3, bias3];
        let parents = std::array::from_fn(|parent| match parent {
            0 => images.node(),
            parent => parameters[parent - 1].node(),
        });
        let parameters = parameters.map(|tensor| tensor.into_primitive());
        let given = Given::new(&images.into_primitive(), &parameters, kind);
        match StackBackward.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let mut out = None;
                let kept = Buffer::filled(kept_len(&given.shapes), |kept| out = Some(given.forward(Some(kept))));
                let out = out.expect("the buffer was filled");
                prepared.finish(State { given, kept, out: out.clone() }, out)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(given.forward(None)),
        }
    }
}

/// What a stack is given.
#[derive(Debug, Clone)]
struct Given {
    images: FlexTensor,
    parameters: [FlexTensor; 2 * DEPTH],
    shapes: [LayerShape; DEPTH],
    activations: [Activation; DEPTH],
    out_dims: [usize; 4],
}

impl Given {
    fn new(images: &FlexTensor, parameters: &[FlexTensor; 2 * DEPTH], kind: Kind) -> Self {
        let images = images.to_contiguous();
        let parameters = parameters.each_ref().map(FlexTensor::to_contiguous);
        let dims_in = dims(&images);
        let (batch, mut height, mut width, mut in_channels) = (dims_in[0], dims_in[1], dims_in[2], dims_in[3]);
        let (kernel, stride, padding) = (KERNEL, STRIDE, PADDING);
        let shapes = std::array::from_fn(|layer| {
            let out_channels = dims(&parameters[2 * layer + 1])[1];
            let shape = match kind.direction {
                Direction::Down => {
                    let shape = ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding };
                    (height, width) = (shape.out_height(), shape.out_width());
                    LayerShape::Conv(shape)
                }
                Direction::Up => {
                    let shape =
                        TransposedShape { batch, height, width, in_channels, out_channels, kernel, stride, padding };
                    (height, width) = (shape.out_height(), shape.out_width());
                    LayerShape::Transposed(shape)
                }
            };
            in_channels = out_channels;
            shape
        });
        let out_dims = [batch, height, width, in_channels];
        Self { images, parameters, shapes, activations: kind.activations, out_dims }
    }

    fn layers(&self) -> [StackLayer<'_>; DEPTH] {
        std::array::from_fn(|layer| StackLayer {
            shape: self.shapes[layer],
            weight: values(&self.parameters[2 * layer]),
            bias: values(&self.parameters[2 * layer + 1]),
            activation: self.activations[layer],
        })
    }

    fn forward(&self, kept: Option<&mut [f32]>) -> FlexTensor {
        let mut out = vec![0.0; self.out_dims.iter().product()];
        stack::forward(&self.layers(), values(&self.images), kept, &mut out);
        flex_tensor(out, &self.out_dims)
    }
}

#[derive(Debug)]
struct StackBackward;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    given: Given,
    /// The outputs between the layers.
    kept: Buffer,
    out: FlexTensor,
}

impl Backward<Flex, N_PARENTS> for StackBackward {
    type State = State;

    fn backward(self, ops: Ops<State, N_PARENTS>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { given, kept, out } = ops.state;
        let grad_out = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let unfilled = |tensor: &FlexTensor| buffers::take(values(tensor).len());
        let mut grad_images = ops.parents[0].as_ref().map(|_| unfilled(&given.images));
        let mut grads = given.parameters.each_ref().map(unfilled);
        let (pairs, _) = grads.as_chunks_mut::<2>();
        let targets = StackGradients {
            images: grad_images.as_deref_mut(),
            layers: pairs.iter_mut().map(|[weight, bias]| (&mut weight[..], &mut bias[..])).collect(),
        };
        stack::backward(
            &given.layers(),
            values(&given.images),
            kept.values(),
            values(&out),
            values(&grad_out),
            targets,
        );
        let tensors = std::iter::once(&given.images).chain(&given.parameters);
        let made = std::iter::once(grad_images).chain(grads.map(Some));
        for ((node, tensor), grad) in ops.parents.into_iter().zip(tensors).zip(made) {
            if let (Some(node), Some(grad)) = (node, grad) {
                gradients.register::<Flex>(node.id, flex_tensor(grad, &dims(tensor)));
            }
        }
    }
}
