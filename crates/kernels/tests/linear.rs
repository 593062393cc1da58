//! Linear layers against the definition summed in `f64`, and the same bits on any number of threads.

mod reference;

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerValues, LinearShape, linear, linear_backward};

use reference::{assert_close, naive_conv, naive_grad_images, naive_grad_weights, noise, sums_by_channel};

/// A linear layer is a convolution of 1x1 on images of one pixel.
fn as_conv(shape: &LinearShape) -> ConvShape {
    let (in_channels, out_channels) = (shape.inputs, shape.outputs);
    ConvShape { batch: shape.batch, height: 1, width: 1, in_channels, out_channels, kernel: 1, stride: 1, padding: 0 }
}

/// Output, and gradients of images, weight and bias for a gradient of the output that is noise.
fn results(shape: &LinearShape, activation: Activation) -> [Vec<f32>; 4] {
    let (images, weight) = (noise(shape.batch * shape.inputs, 1), noise(shape.inputs * shape.outputs, 2));
    let (bias, grad_out) = (noise(shape.outputs, 3), noise(shape.batch * shape.outputs, 4));
    let unfilled = |len| vec![f32::NAN; len];
    let mut out = unfilled(grad_out.len());
    linear(shape, &images, &weight, &bias, activation, &mut out);
    let layer = LayerValues { images: &images, weight: &weight, out: &out, activation };
    let (mut grad_images, mut grad_weight, mut grad_bias) =
        (unfilled(images.len()), unfilled(weight.len()), unfilled(bias.len()));
    let gradients = LayerGradients { images: Some(&mut grad_images), weight: &mut grad_weight, bias: &mut grad_bias };
    linear_backward(shape, layer, &grad_out, gradients);
    [out, grad_images, grad_weight, grad_bias]
}

proptest! {
    #[test]
    fn linear_and_its_gradients_are_their_definitions(
        batch in 1..40_usize,
        inputs in 1..40_usize,
        outputs in 1..40_usize,
        activation in prop_oneof![Just(Activation::None), Just(Activation::Relu)],
    ) {
        let shape = LinearShape { batch, inputs, outputs };
        let [out, grad_images, grad_weight, grad_bias] = results(&shape, activation);
        let (images, weight, bias) = (noise(batch * inputs, 1), noise(inputs * outputs, 2), noise(outputs, 3));
        let mut wanted = naive_conv(&as_conv(&shape), &images, &weight);
        wanted.iter_mut().zip(bias.iter().cycle()).for_each(|(value, bias)| *value += f64::from(*bias));
        let mut grad_out = noise(batch * outputs, 4);
        if activation == Activation::Relu {
            wanted.iter_mut().for_each(|value| *value = value.max(0.0));
            grad_out.iter_mut().zip(&out).filter(|(_, out)| **out <= 0.0).for_each(|(grad, _)| *grad = 0.0);
        }
        assert_close(&out, &wanted);
        assert_close(&grad_images, &naive_grad_images(&as_conv(&shape), &grad_out, &weight));
        assert_close(&grad_weight, &naive_grad_weights(&as_conv(&shape), &images, &grad_out));
        assert_close(&grad_bias, &sums_by_channel(&grad_out, outputs));
    }
}

#[test]
fn linear_gives_the_same_bits_on_any_number_of_threads() {
    for (batch, inputs, outputs) in [(64, 1024, 256), (256, 1200, 1200), (37, 4096, 1200), (256, 10, 1200)] {
        let shape = LinearShape { batch, inputs, outputs };
        let on = |n_threads| {
            let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool");
            pool.install(|| results(&shape, Activation::Relu))
        };
        let alone = on(1);
        assert!(alone == on(2) && alone == on(3) && alone == on(4), "{shape:?}");
    }
}
