//! Linear layers.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use unbraid_kernels::{Activation, LayerGradients, LayerValues, LinearShape};

use super::{activated, buffers, dims, flex_tensor, register, values};

/// `[batch, inputs]` to `[batch, outputs]`, with weight `[inputs, outputs]` and bias `[1, outputs]`, on the CPU.
pub fn linear(inputs: Tensor<2>, weight: Tensor<2>, bias: Tensor<2>, activation: Activation) -> Tensor<2> {
    let (inputs, weight, bias) = (inputs.into_dispatch(), weight.into_dispatch(), bias.into_dispatch());
    Tensor::from_dispatch(<Dispatch as LinearBackend>::linear_layer(inputs, weight, bias, activation))
}

/// The same, made of burn's own operations.
pub fn linear_of_burn(inputs: Tensor<2>, weight: Tensor<2>, bias: Tensor<2>, activation: Activation) -> Tensor<2> {
    activated(inputs.matmul(weight) + bias, activation)
}

/// Backends that can run a linear layer.
#[backend_extension(Autodiff, Flex)]
pub trait LinearBackend: Backend {
    /// Inputs `[batch, inputs]`, weight and bias (`[1, outputs]`) to the layer's output.
    fn linear_layer(
        inputs: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;
}

impl LinearBackend for Flex {
    fn linear_layer(inputs: FlexTensor, weight: FlexTensor, bias: FlexTensor, activation: Activation) -> FlexTensor {
        let (inputs, weight, bias) = (inputs.to_contiguous(), weight.to_contiguous(), bias.to_contiguous());
        let shape = shape_of(&inputs, &weight);
        let mut out = vec![0.0; shape.batch * shape.outputs];
        unbraid_kernels::linear(&shape, values(&inputs), values(&weight), values(&bias), activation, &mut out);
        flex_tensor(out, &[shape.batch, shape.outputs])
    }
}

impl<C: CheckpointStrategy> LinearBackend for Autodiff<Flex, C> {
    fn linear_layer(
        inputs: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        let parents = [inputs.node(), weight.node(), bias.node()];
        let (inputs, weight) = (inputs.into_primitive().to_contiguous(), weight.into_primitive().to_contiguous());
        let out = Flex::linear_layer(inputs.clone(), weight.clone(), bias.into_primitive(), activation);
        match LinearBackward.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(State { inputs, weight, out: out.clone(), activation }, out),
            OpsKind::UnTracked(prepared) => prepared.finish(out),
        }
    }
}

#[derive(Debug)]
struct LinearBackward;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    inputs: FlexTensor,
    weight: FlexTensor,
    out: FlexTensor,
    activation: Activation,
}

impl Backward<Flex, 3> for LinearBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { inputs, weight, out, activation } = ops.state;
        let [inputs_node, weight_node, bias_node] = ops.parents;
        let grad_out = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let shape = shape_of(&inputs, &weight);
        let mut grad_inputs = inputs_node.as_ref().map(|_| vec![0.0; shape.batch * shape.inputs]);
        let mut grad_weight = weight_node.as_ref().map(|_| buffers::take(shape.inputs * shape.outputs));
        let mut grad_bias = bias_node.as_ref().map(|_| buffers::take(shape.outputs));
        let layer = LayerValues { inputs: values(&inputs), weight: values(&weight), out: values(&out), activation };
        let targets = LayerGradients {
            inputs: grad_inputs.as_deref_mut(),
            weight: grad_weight.as_deref_mut(),
            bias: grad_bias.as_deref_mut(),
        };
        unbraid_kernels::linear_backward(&shape, layer, values(&grad_out), targets);
        register(gradients, weight_node.map(|node| node.id), grad_weight, &[shape.inputs, shape.outputs]);
        register(gradients, bias_node.map(|node| node.id), grad_bias, &[1, shape.outputs]);
        register(gradients, inputs_node.map(|node| node.id), grad_inputs, &[shape.batch, shape.inputs]);
    }
}

fn shape_of(inputs: &FlexTensor, weight: &FlexTensor) -> LinearShape {
    let (inputs, weight) = (dims(inputs), dims(weight));
    LinearShape { batch: inputs[0], inputs: inputs[1], outputs: weight[1] }
}
