//! A linear layer and its gradients: `out[row, o] = bias[o] + sum over i of inputs[row, i] * weight[i, o]`.

use rayon::prelude::*;

use crate::activation::{Activation, Finish, MaskedValues};
use crate::groups::{add_rows, rows_of_group, sum_over_groups};
use crate::product::{Matrix, Target, multiply_on_all_threads};
use crate::scratch::with_scratch;
use crate::shape::{check_len, check_wanted_len};

/// Values that a thread finishes at once.
const PIECE_LEN: usize = 16 * 1024;

/// The shape of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearShape {
    /// Rows that go in, and that come out.
    pub batch: usize,
    /// Numbers of a row that goes in.
    pub inputs: usize,
    /// Numbers of a row that comes out.
    pub outputs: usize,
}

impl LinearShape {
    /// Lengths of what goes in, of weight and bias, and of what comes out.
    fn lens(&self) -> [usize; 4] {
        [self.batch * self.inputs, self.inputs * self.outputs, self.outputs, self.batch * self.outputs]
    }
}

/// What a backward pass needs to know of the forward pass.
#[derive(Clone, Copy)]
pub struct LayerValues<'a> {
    /// What went in.
    pub inputs: &'a [f32],
    /// The layer's weight.
    pub weight: &'a [f32],
    /// What came out; it is looked at only if there was an activation.
    pub out: &'a [f32],
    /// What the output went through.
    pub activation: Activation,
}

/// Where the gradients of a layer go; none is computed that is not wanted. What the slices hold before is overwritten.
pub struct LayerGradients<'a> {
    /// With respect to what went in, which a network's first layer does without.
    pub inputs: Option<&'a mut [f32]>,
    /// With respect to the weight.
    pub weight: Option<&'a mut [f32]>,
    /// With respect to the bias.
    pub bias: Option<&'a mut [f32]>,
}

impl LayerValues<'_> {
    /// Panics unless everything has the length that the shape asks for.
    pub(crate) fn check(&self, grad_out: &[f32], gradients: &LayerGradients, lens: [usize; 4]) {
        let [inputs_len, weight_len, bias_len, out_len] = lens;
        check_len("inputs", self.inputs.len(), inputs_len);
        check_len("weight", self.weight.len(), weight_len);
        check_len("out", self.out.len(), out_len);
        check_len("grad_out", grad_out.len(), out_len);
        check_wanted_len("grad_inputs", gradients.inputs.as_deref(), inputs_len);
        check_wanted_len("grad_weight", gradients.weight.as_deref(), weight_len);
        check_wanted_len("grad_bias", gradients.bias.as_deref(), bias_len);
    }
}

/// Multiplies `inputs`, `[batch, inputs]`, by `weight`, `[inputs, outputs]`, adds `bias`, `[outputs]`, and applies
/// `activation`, into `out`, `[batch, outputs]`.
pub fn linear(
    shape: &LinearShape,
    inputs: &[f32],
    weight: &[f32],
    bias: &[f32],
    activation: Activation,
    out: &mut [f32],
) {
    let [inputs_len, weight_len, bias_len, out_len] = shape.lens();
    check_len("inputs", inputs.len(), inputs_len);
    check_len("weight", weight.len(), weight_len);
    check_len("bias", bias.len(), bias_len);
    check_len("out", out.len(), out_len);
    let (inputs, weight) = (Matrix::of_rows(inputs, shape.inputs), Matrix::of_rows(weight, shape.outputs));
    multiply_on_all_threads(inputs, weight, Target::of_rows(out, shape.outputs));
    let finish = Finish { bias: Some(bias), activation };
    let n_rows = PIECE_LEN.div_ceil(shape.outputs);
    out.par_chunks_mut(n_rows * shape.outputs).for_each(|rows| finish.apply(rows));
}

/// The gradients of [`linear`], from that with respect to its output, `[batch, outputs]`.
pub fn linear_backward(shape: &LinearShape, layer: LayerValues, grad_out: &[f32], gradients: LayerGradients) {
    layer.check(grad_out, &gradients, shape.lens());
    let grad_out = MaskedValues::before(layer.activation, layer.out, grad_out);
    with_scratch(grad_out.values.len(), |copy| {
        let grad_out = masked_and_summed(shape, grad_out, copy, gradients.bias);
        let grad_out = Matrix::of_rows(grad_out, shape.outputs);
        if let Some(grad_weight) = gradients.weight {
            let inputs = Matrix::of_rows(layer.inputs, shape.inputs);
            multiply_on_all_threads(inputs.transposed(), grad_out, Target::of_rows(grad_weight, shape.outputs));
        }
        if let Some(grad_inputs) = gradients.inputs {
            let weight = Matrix::of_rows(layer.weight, shape.outputs);
            multiply_on_all_threads(grad_out, weight.transposed(), Target::of_rows(grad_inputs, shape.inputs));
        }
    });
}

/// The gradient before the activation, in `copy` if it differs, and the sums of its rows, if they are wanted.
fn masked_and_summed<'a>(
    shape: &LinearShape,
    grad_out: MaskedValues<'a>,
    copy: &'a mut [f32],
    sums: Option<&mut [f32]>,
) -> &'a [f32] {
    let group_len = rows_of_group(shape.batch, 1) * shape.outputs;
    let groups: Vec<_> = grad_out.chunks(group_len).zip(copy.chunks_mut(group_len)).collect();
    match sums {
        Some(sums) => {
            let add_group =
                |(grad_out, copy): (MaskedValues, &mut [f32]), sums: &mut [f32]| add_rows(grad_out.masked(copy), sums);
            sum_over_groups(groups, shape.outputs, add_group, |total| sums.copy_from_slice(total));
        }
        None => groups.into_par_iter().for_each(|(grad_out, copy)| {
            grad_out.masked(copy);
        }),
    }
    if grad_out.activation == Activation::None { grad_out.values } else { copy }
}
