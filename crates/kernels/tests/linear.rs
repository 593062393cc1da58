//! Linear layers against the definition summed in `f64`, and the same bits on any number of threads.

mod reference;

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerValues, LinearShape, linear, linear_backward};

use reference::{
    ACTIVATIONS, after, assert_close, before, dot, naive_conv, naive_grad_images, naive_grad_weights, noise,
    sums_by_channel,
};

/// A linear layer is a convolution of 1x1 on images of one pixel.
fn as_conv(shape: &LinearShape) -> ConvShape {
    let (in_channels, out_channels) = (shape.inputs, shape.outputs);
    ConvShape { batch: shape.batch, height: 1, width: 1, in_channels, out_channels, kernel: 1, stride: 1, padding: 0 }
}

/// Output, and gradients of inputs, weight and bias for a gradient of the output that is noise.
fn results(shape: &LinearShape, activation: Activation) -> [Vec<f32>; 4] {
    let [inputs, weight, bias, grad_out] = noises(shape);
    let mut out = vec![f32::NAN; grad_out.len()];
    linear(shape, &inputs, &weight, &bias, activation, &mut out);
    let layer = LayerValues { inputs: &inputs, weight: &weight, out: &out, activation };
    let [grad_inputs, grad_weight, grad_bias] = gradients(shape, layer, &grad_out, [true; 3]);
    [out, grad_inputs, grad_weight, grad_bias]
}

/// Inputs, weight, bias and the gradient of the output.
fn noises(shape: &LinearShape) -> [Vec<f32>; 4] {
    let LinearShape { batch, inputs, outputs } = *shape;
    [noise(batch * inputs, 1), noise(inputs * outputs, 2), noise(outputs, 3), noise(batch * outputs, 4)]
}

/// The gradients of inputs, weight and bias that are wanted; NaN for the others.
fn gradients(shape: &LinearShape, layer: LayerValues, grad_out: &[f32], wanted: [bool; 3]) -> [Vec<f32>; 3] {
    let lens = [layer.inputs.len(), layer.weight.len(), shape.outputs];
    let mut filled = lens.map(|len| vec![f32::NAN; len]);
    let [inputs, weight, bias] = &mut filled;
    let targets = LayerGradients {
        inputs: wanted[0].then_some(inputs),
        weight: wanted[1].then_some(weight),
        bias: wanted[2].then_some(bias),
    };
    linear_backward(shape, layer, grad_out, targets);
    filled
}

proptest! {
    #[test]
    fn linear_and_its_gradients_are_their_definitions(
        batch in 1..40_usize,
        inputs in 1..40_usize,
        outputs in 1..40_usize,
        activation in prop::sample::select(&ACTIVATIONS[..]),
    ) {
        let shape = LinearShape { batch, inputs, outputs };
        let [out, grad_inputs, grad_weight, grad_bias] = results(&shape, activation);
        let [inputs, weight, bias, grad_out] = noises(&shape);
        let mut wanted = naive_conv(&as_conv(&shape), &inputs, &weight);
        wanted.iter_mut().zip(bias.iter().cycle()).for_each(|(value, bias)| *value += f64::from(*bias));
        let grad_out = before(activation, &grad_out, &out);
        assert_close(&out, &after(activation, &wanted));
        assert_close(&grad_inputs, &naive_grad_images(&as_conv(&shape), &grad_out, &weight));
        assert_close(&grad_weight, &naive_grad_weights(&as_conv(&shape), &inputs, &grad_out));
        assert_close(&grad_bias, &sums_by_channel(&grad_out, outputs));
    }
}

/// A gradient that is not wanted changes no bit of the others, and nothing is written for it.
#[test]
fn each_gradient_can_be_had_without_the_others() {
    let shape = LinearShape { batch: 37, inputs: 50, outputs: 70 };
    let [inputs, weight, bias, grad_out] = noises(&shape);
    for activation in ACTIVATIONS {
        let mut out = vec![f32::NAN; grad_out.len()];
        linear(&shape, &inputs, &weight, &bias, activation, &mut out);
        let layer = LayerValues { inputs: &inputs, weight: &weight, out: &out, activation };
        let all = gradients(&shape, layer, &grad_out, [true; 3]);
        for wanted in (0..8_u8).map(|bits| [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0]) {
            let found = gradients(&shape, layer, &grad_out, wanted);
            for ((found, all), wanted) in found.iter().zip(&all).zip(wanted) {
                assert!(if wanted { found == all } else { found.iter().all(|value| value.is_nan()) });
            }
        }
    }
}

/// Biases so large that no output comes near the kink: there the loss is linear, and finite differences are exact.
#[test]
fn gradients_through_a_leaky_relu_are_finite_differences() {
    let shape = LinearShape { batch: 3, inputs: 5, outputs: 4 };
    let [inputs, weight, _, grad_out] = noises(&shape);
    let bias = vec![500.0, -500.0, 300.0, -300.0];
    let activation = Activation::LeakyRelu;
    let out_of = |inputs: &[f32], weight: &[f32], bias: &[f32]| {
        let mut out = vec![f32::NAN; grad_out.len()];
        linear(&shape, inputs, weight, bias, activation, &mut out);
        out
    };
    let out = out_of(&inputs, &weight, &bias);
    let layer = LayerValues { inputs: &inputs, weight: &weight, out: &out, activation };
    let [grad_inputs, grad_weight, grad_bias] = gradients(&shape, layer, &grad_out, [true; 3]);
    let check = |found: &[f32], values: &[f32], loss: &dyn Fn(&[f32]) -> f64| {
        for (index, found) in found.iter().enumerate() {
            let (mut above, mut below) = (values.to_vec(), values.to_vec());
            above[index] += 1.0;
            below[index] -= 1.0;
            let wanted = (loss(&above) - loss(&below)) / 2.0;
            assert!((f64::from(*found) - wanted).abs() < 1e-3, "at {index}: found {found}, wanted {wanted}");
        }
    };
    let loss = |inputs: &[f32], weight: &[f32], bias: &[f32]| dot(&out_of(inputs, weight, bias), &grad_out);
    check(&grad_inputs, &inputs, &|inputs| loss(inputs, &weight, &bias));
    check(&grad_weight, &weight, &|weight| loss(&inputs, weight, &bias));
    check(&grad_bias, &bias, &|bias| loss(&inputs, &weight, bias));
}

#[test]
fn linear_gives_the_same_bits_on_any_number_of_threads() {
    for (batch, inputs, outputs) in [
        (64, 1024, 256),
        (256, 1200, 1200),
        (37, 4096, 1200),
        (256, 10, 1200),
        (64, 1000, 1000),
        (128, 1000, 1000),
        (128, 1000, 2),
    ] {
        let shape = LinearShape { batch, inputs, outputs };
        let on = |n_threads| {
            let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool");
            pool.install(|| results(&shape, Activation::Relu))
        };
        let alone = on(1);
        assert!(alone == on(2) && alone == on(3) && alone == on(4), "{shape:?}");
    }
}
