//! Convolution by its definition, in `f64` and one product at a time; and ours, one layer at a time.
#![allow(dead_code, reason = "each test file uses some of these")]

use unbraid_kernels::stack::{self, StackGradients, StackLayer};
use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerShape, LayerValues, TransposedShape};

pub fn conv(shape: &ConvShape, images: &[f32], weight: &[f32], bias: &[f32], activation: Activation, out: &mut [f32]) {
    stack::forward(&[StackLayer { shape: LayerShape::Conv(*shape), weight, bias, activation }], images, None, out);
}

pub fn transposed_conv(
    shape: &TransposedShape,
    images: &[f32],
    weight: &[f32],
    bias: &[f32],
    activation: Activation,
    out: &mut [f32],
) {
    let shape = LayerShape::Transposed(*shape);
    stack::forward(&[StackLayer { shape, weight, bias, activation }], images, None, out);
}

pub fn conv_backward(shape: &ConvShape, layer: LayerValues, grad_out: &[f32], gradients: LayerGradients) {
    backward(LayerShape::Conv(*shape), layer, grad_out, gradients);
}

pub fn transposed_conv_backward(
    shape: &TransposedShape,
    layer: LayerValues,
    grad_out: &[f32],
    gradients: LayerGradients,
) {
    backward(LayerShape::Transposed(*shape), layer, grad_out, gradients);
}

fn backward(shape: LayerShape, layer: LayerValues, grad_out: &[f32], gradients: LayerGradients) {
    let LayerValues { inputs, weight, out, activation } = layer;
    let bias = &vec![0.0; shape.bias_len()];
    let targets = StackGradients { images: gradients.inputs, layers: vec![gradients.weight.zip(gradients.bias)] };
    stack::backward(&[StackLayer { shape, weight, bias, activation }], inputs, &[], out, grad_out, targets);
}

/// Calls `job(image, out, weight)` with the positions of the three values of every product in a convolution.
fn for_each_product(shape: &ConvShape, mut job: impl FnMut(usize, usize, usize)) {
    let (out_height, out_width) = (shape.out_height(), shape.out_width());
    let (n_in, n_out, kernel) = (shape.in_channels, shape.out_channels, shape.kernel);
    for row in 0..shape.batch * out_height * out_width {
        let (image_index, out_y, out_x) =
            (row / (out_height * out_width), row / out_width % out_height, row % out_width);
        for tap in 0..kernel * kernel {
            let y = (out_y * shape.stride + tap / kernel).wrapping_sub(shape.padding);
            let x = (out_x * shape.stride + tap % kernel).wrapping_sub(shape.padding);
            if y >= shape.height || x >= shape.width {
                continue;
            }
            let pixel = (image_index * shape.height + y) * shape.width + x;
            for i in 0..n_in {
                for o in 0..n_out {
                    job(pixel * n_in + i, row * n_out + o, (tap * n_in + i) * n_out + o);
                }
            }
        }
    }
}

pub fn naive_conv(shape: &ConvShape, images: &[f32], weight: &[f32]) -> Vec<f64> {
    let mut out = vec![0.0; shape.out_len()];
    for_each_product(shape, |i, o, w| out[o] += f64::from(images[i]) * f64::from(weight[w]));
    out
}

pub fn naive_grad_images(shape: &ConvShape, grad_out: &[f32], weight: &[f32]) -> Vec<f64> {
    let mut grad_images = vec![0.0; shape.images_len()];
    for_each_product(shape, |i, o, w| grad_images[i] += f64::from(grad_out[o]) * f64::from(weight[w]));
    grad_images
}

pub fn naive_grad_weights(shape: &ConvShape, images: &[f32], grad_out: &[f32]) -> Vec<f64> {
    let mut grad_weight = vec![0.0; shape.weight_len()];
    for_each_product(shape, |i, o, w| grad_weight[w] += f64::from(images[i]) * f64::from(grad_out[o]));
    grad_weight
}

pub fn sums_by_channel(values: &[f32], n_channels: usize) -> Vec<f64> {
    let sum = |channel| values.iter().skip(channel).step_by(n_channels).map(|value| f64::from(*value)).sum();
    (0..n_channels).map(sum).collect()
}

pub fn dot(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum()
}

/// Values spread over `-1..1`, the same for the same seed.
pub fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    };
    (0..len).map(next).collect()
}

/// Asserts agreement up to the rounding of a sum of some hundred `f32` between -1 and 1.
pub fn assert_close(found: &[f32], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    let scale = wanted.iter().fold(1.0_f64, |largest, value| largest.max(value.abs()));
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let gap = (f64::from(*found) - wanted).abs();
        assert!(gap <= 1e-5 * scale, "at {index}: found {found}, wanted {wanted}");
    }
}

/// Every activation.
pub const ACTIVATIONS: [Activation; 3] = [Activation::None, Activation::Relu, Activation::LeakyRelu];

/// What comes out of an activation, by its definition.
pub fn after(activation: Activation, values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| if *value < 0.0 { slope_below_zero(activation) * value } else { *value }).collect()
}

/// The gradient before an activation, from that of its output.
pub fn before(activation: Activation, grad_out: &[f32], out: &[f32]) -> Vec<f32> {
    let slope = |out: f32| if out <= 0.0 { slope_below_zero(activation) as f32 } else { 1.0 };
    grad_out.iter().zip(out).map(|(grad, out)| slope(*out) * grad).collect()
}

fn slope_below_zero(activation: Activation) -> f64 {
    match activation {
        Activation::None => 1.0,
        Activation::Relu => 0.0,
        Activation::LeakyRelu => 0.2,
    }
}
