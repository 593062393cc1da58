//! Convolutional layers on top of each other, channels-last.
//!
//! They are one operation, since a few images at a time go through all of them while they are in the cache. Weights are
//! matrices: `[kernel * kernel * inputs, outputs]` for a convolution, `[inputs, kernel * kernel * outputs]` for a
//! transposed one.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn::tensor::module::{conv_transpose2d, conv2d};
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_flex::FlexTensor;
use unbraid_kernels::stack::{self, StackGradients, StackLayer, kept_len};
use unbraid_kernels::{Activation, ConvShape, LayerShape, TransposedShape};

use super::buffers::{self, Buffer};
use super::tensor_list::TensorList;
use super::{activated, dims, flex_tensor, register, values};

/// Most layers of a stack.
const MOST_LAYERS: usize = 8;

/// Which way all layers of a stack go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Convolutions: with a stride of 2 images get half as high and half as wide.
    Down,
    /// Transposed convolutions: with a stride of 2 images get twice as high and twice as wide.
    Up,
}

/// The square windows of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Side of a window.
    pub kernel: usize,
    /// Step from one window to the next, among the pixels of the larger image.
    pub stride: usize,
    /// Zeros around the larger image, on every side.
    pub padding: usize,
}

impl Window {
    /// 4x4, stride 2 and padding 1: exactly half as high and wide, or twice. The kernels are fastest with these.
    pub const HALVING: Self = Self { kernel: 4, stride: 2, padding: 1 };
}

/// One layer: weight, bias `[1, outputs]`, and what follows.
#[derive(Debug, Clone)]
pub struct ConvLayer {
    /// Its windows.
    pub window: Window,
    /// The weight.
    pub weight: Tensor<2>,
    /// The bias.
    pub bias: Tensor<2>,
    /// What the output goes through.
    pub activation: Activation,
}

/// Images `[batch, height, width, channels]` through 1 to 8 layers; panics if there are fewer or more.
pub fn conv_stack(images: Tensor<4>, direction: Direction, layers: Vec<ConvLayer>) -> Tensor<4> {
    let n_layers = layers.len();
    assert!((1..=MOST_LAYERS).contains(&n_layers), "a stack has 1 to {MOST_LAYERS} layers, not {n_layers}");
    let (windows, activations) = layers.iter().map(|layer| (layer.window, layer.activation)).unzip();
    let parameters = layers.into_iter().flat_map(|layer| [layer.weight.into_dispatch(), layer.bias.into_dispatch()]);
    let parameters = TensorList(parameters.collect());
    let out =
        <Dispatch as ConvBackend>::conv_layers(images.into_dispatch(), parameters, direction, windows, activations);
    Tensor::from_dispatch(out)
}

/// The same, made of burn's own operations, which work channels-first.
pub fn conv_stack_of_burn(images: Tensor<4>, direction: Direction, layers: Vec<ConvLayer>) -> Tensor<4> {
    let mut maps = images.permute([0, 3, 1, 2]);
    for ConvLayer { window: Window { kernel, stride, padding }, weight, bias, activation } in layers {
        let (stride, padding, dilation) = ([stride; 2], [padding; 2], [1; 2]);
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
        maps = activated(maps, activation);
    }
    maps.permute([0, 2, 3, 1])
}

/// Backends that can run convolutional layers on top of each other.
#[backend_extension(Autodiff, Flex)]
pub trait ConvBackend: Backend {
    /// Images `[batch, height, width, channels]`, the weight and the bias (`[1, outputs]`) of each layer in order, its windows,
    /// and what follows it.
    fn conv_layers(
        images: FloatTensor<Self>,
        #[extension_type] parameters: TensorList<Self>,
        direction: Direction,
        windows: Vec<Window>,
        activations: Vec<Activation>,
    ) -> FloatTensor<Self>;
}

impl ConvBackend for Flex {
    fn conv_layers(
        images: FlexTensor,
        parameters: TensorList<Self>,
        direction: Direction,
        windows: Vec<Window>,
        activations: Vec<Activation>,
    ) -> FlexTensor {
        StackInputs::new(&images, &parameters.0, direction, &windows, activations).forward(None)
    }
}

impl<C: CheckpointStrategy> ConvBackend for Autodiff<Flex, C> {
    fn conv_layers(
        images: FloatTensor<Self>,
        parameters: TensorList<Self>,
        direction: Direction,
        windows: Vec<Window>,
        activations: Vec<Activation>,
    ) -> FloatTensor<Self> {
        let (images, images_node) = images.into_parts();
        let (parameters, parameter_nodes): (Vec<_>, Vec<_>) =
            parameters.0.into_iter().map(|tensor| tensor.into_parts()).unzip();
        let nodes: Vec<NodeGuard> = std::iter::once(images_node).chain(parameter_nodes).collect();
        let inputs = StackInputs::new(&images, &parameters, direction, &windows, activations);
        // burn wants the number of tensors that gradients may go to as a constant: the images, and two for each layer.
        match inputs.shapes.len() {
            1 => recorded::<C, 3>(nodes, inputs),
            2 => recorded::<C, 5>(nodes, inputs),
            3 => recorded::<C, 7>(nodes, inputs),
            4 => recorded::<C, 9>(nodes, inputs),
            5 => recorded::<C, 11>(nodes, inputs),
            6 => recorded::<C, 13>(nodes, inputs),
            7 => recorded::<C, 15>(nodes, inputs),
            8 => recorded::<C, 17>(nodes, inputs),
            n_layers => unreachable!("{n_layers} layers were refused before"),
        }
    }
}

fn recorded<C: CheckpointStrategy, const N: usize>(
    nodes: Vec<NodeGuard>,
    inputs: StackInputs,
) -> FloatTensor<Autodiff<Flex, C>> {
    let Ok(nodes) = <[NodeGuard; N]>::try_from(nodes) else { unreachable!("there are {N} nodes") };
    match StackBackward.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let mut out = None;
            let kept = Buffer::filled(kept_len(&inputs.shapes), |kept| out = Some(inputs.forward(Some(kept))));
            let out = out.expect("the buffer was filled");
            prepared.finish(State { inputs, kept, out: out.clone() }, out)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(inputs.forward(None)),
    }
}

/// What goes into a stack.
#[derive(Debug, Clone)]
struct StackInputs {
    images: FlexTensor,
    /// The weight and the bias of each layer.
    parameters: Vec<FlexTensor>,
    shapes: Vec<LayerShape>,
    activations: Vec<Activation>,
    out_dims: [usize; 4],
}

impl StackInputs {
    fn new(
        images: &FlexTensor,
        parameters: &[FlexTensor],
        direction: Direction,
        windows: &[Window],
        activations: Vec<Activation>,
    ) -> Self {
        let images = images.to_contiguous();
        let parameters: Vec<_> = parameters.iter().map(FlexTensor::to_contiguous).collect();
        let dims_in = dims(&images);
        let (batch, mut height, mut width, mut in_channels) = (dims_in[0], dims_in[1], dims_in[2], dims_in[3]);
        let mut shapes = Vec::with_capacity(windows.len());
        for (layer, &Window { kernel, stride, padding }) in windows.iter().enumerate() {
            let out_channels = dims(&parameters[2 * layer + 1])[1];
            shapes.push(match direction {
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
            });
            in_channels = out_channels;
        }
        Self { images, parameters, shapes, activations, out_dims: [batch, height, width, in_channels] }
    }

    fn layers(&self) -> Vec<StackLayer<'_>> {
        let layers = self.shapes.iter().zip(&self.activations).zip(self.parameters.chunks_exact(2));
        let layers = layers.map(|((&shape, &activation), parameters)| StackLayer {
            shape,
            weight: values(&parameters[0]),
            bias: values(&parameters[1]),
            activation,
        });
        layers.collect()
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
    inputs: StackInputs,
    /// The outputs between the layers.
    kept: Buffer,
    out: FlexTensor,
}

impl<const N: usize> Backward<Flex, N> for StackBackward {
    type State = State;

    fn backward(self, ops: Ops<State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { inputs, kept, out } = ops.state;
        let grad_out = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let (images_node, parameter_nodes) = ops.parents.split_first().expect("images go in");
        let unfilled = |tensor: &FlexTensor| buffers::take(values(tensor).len());
        let mut grad_images = images_node.as_ref().map(|_| unfilled(&inputs.images));
        // The kernels compute the gradients of a layer's weight and bias together, where one of the two is wanted.
        let layers = inputs.parameters.chunks_exact(2).zip(parameter_nodes.chunks_exact(2));
        let mut grads: Vec<_> = layers
            .map(|(parameters, nodes)| {
                let wanted = nodes.iter().any(Option::is_some);
                wanted.then(|| (unfilled(&parameters[0]), unfilled(&parameters[1])))
            })
            .collect();
        let targets = StackGradients {
            images: grad_images.as_deref_mut(),
            layers: grads.iter_mut().map(|pair| pair.as_mut().map(|(w, b)| (&mut w[..], &mut b[..]))).collect(),
        };
        stack::backward(
            &inputs.layers(),
            values(&inputs.images),
            kept.values(),
            values(&out),
            values(&grad_out),
            targets,
        );
        let made = grads.into_iter().flat_map(|pair| pair.map_or([None, None], |(w, b)| [Some(w), Some(b)]));
        let tensors = std::iter::once(&inputs.images).chain(&inputs.parameters);
        let made = std::iter::once(grad_images).chain(made);
        for ((node, tensor), gradient) in ops.parents.into_iter().zip(tensors).zip(made) {
            register(gradients, node.map(|node| node.id), gradient, &dims(tensor));
        }
    }
}
