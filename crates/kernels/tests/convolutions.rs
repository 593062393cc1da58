//! Both convolutions and their gradients against the definition summed in `f64`, and against each other.

mod reference;

use proptest::prelude::*;
use unbraid_kernels::{
    Activation, ConvShape, TransposedShape, conv, conv_grad_images, conv_grad_weights, transposed_conv,
    transposed_conv_grad_images, transposed_conv_grad_weights,
};

use reference::{assert_close, dot, naive_conv, naive_grad_images, naive_grad_weights, noise, sums_by_channel};

prop_compose! {
    fn any_shape()(
        batch in 1..6_usize,
        (height, width) in (1..14_usize, 1..14_usize),
        in_channels in prop_oneof![Just(1), Just(3), 1..7_usize],
        out_channels in 1..7_usize,
        (kernel, stride, padding) in prop_oneof![Just((4, 2, 1)), (1..6_usize, 1..4_usize, 0..4_usize)],
    ) -> ConvShape {
        let smallest = kernel.max(2 * padding + 1) - 2 * padding.min(kernel / 2);
        let (height, width) = (height.max(smallest), width.max(smallest));
        ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding }
    }
}

prop_compose! {
    fn any_transposed_shape()(shape in any_shape()) -> TransposedShape {
        let covered = (shape.out_height().min(shape.out_width()) - 1) * shape.stride + shape.kernel;
        TransposedShape {
            batch: shape.batch,
            height: shape.out_height(),
            width: shape.out_width(),
            in_channels: shape.out_channels,
            out_channels: shape.in_channels,
            kernel: shape.kernel,
            stride: shape.stride,
            padding: shape.padding.min((covered - 1) / 2),
        }
    }
}

/// Checks a convolution and its gradients against their definitions.
fn check_conv(shape: &ConvShape) {
    let (images, weight, bias) = parameters(shape.images_len(), shape.weight_len(), shape.out_channels);
    let mut out = vec![f32::NAN; shape.out_len()];
    conv(shape, &images, &weight, &bias, Activation::None, &mut out);
    let mut wanted = naive_conv(shape, &images, &weight);
    add_bias(&bias, &mut wanted);
    assert_close(&out, &wanted);

    conv(shape, &images, &weight, &bias, Activation::Relu, &mut out);
    wanted.iter_mut().for_each(|value| *value = value.max(0.0));
    assert_close(&out, &wanted);

    let grad_out = noise(shape.out_len(), 4);
    let mut grad_images = vec![f32::NAN; shape.images_len()];
    conv_grad_images(shape, &grad_out, &weight, &mut grad_images);
    assert_close(&grad_images, &naive_grad_images(shape, &grad_out, &weight));

    let (mut grad_weight, mut grad_bias) = (vec![f32::NAN; weight.len()], vec![f32::NAN; bias.len()]);
    conv_grad_weights(shape, &images, &grad_out, &mut grad_weight, &mut grad_bias);
    assert_close(&grad_weight, &naive_grad_weights(shape, &images, &grad_out));
    assert_close(&grad_bias, &sums_by_channel(&grad_out, shape.out_channels));
}

/// Checks a transposed convolution and its gradients against their definitions.
fn check_transposed_conv(shape: &TransposedShape) {
    let adjoint = shape.adjoint();
    let (images, weight, bias) = parameters(shape.images_len(), shape.weight_len(), shape.out_channels);
    let mut out = vec![f32::NAN; shape.out_len()];
    transposed_conv(shape, &images, &weight, &bias, Activation::None, &mut out);
    let mut wanted = naive_grad_images(&adjoint, &images, &turned(shape, &weight));
    add_bias(&bias, &mut wanted);
    assert_close(&out, &wanted);

    transposed_conv(shape, &images, &weight, &bias, Activation::Relu, &mut out);
    wanted.iter_mut().for_each(|value| *value = value.max(0.0));
    assert_close(&out, &wanted);

    let grad_out = noise(shape.out_len(), 4);
    let mut grad_images = vec![f32::NAN; shape.images_len()];
    transposed_conv_grad_images(shape, &grad_out, &weight, &mut grad_images);
    assert_close(&grad_images, &naive_conv(&adjoint, &grad_out, &turned(shape, &weight)));

    let (mut grad_weight, mut grad_bias) = (vec![f32::NAN; weight.len()], vec![f32::NAN; bias.len()]);
    transposed_conv_grad_weights(shape, &images, &grad_out, &mut grad_weight, &mut grad_bias);
    assert_close(&turned(shape, &grad_weight), &naive_grad_weights(&adjoint, &grad_out, &images));
    assert_close(&grad_bias, &sums_by_channel(&grad_out, shape.out_channels));
}

proptest! {
    #[test]
    fn conv_and_its_gradients_are_their_definitions(shape in any_shape()) {
        check_conv(&shape);
    }

    #[test]
    fn transposed_conv_and_its_gradients_are_their_definitions(shape in any_transposed_shape()) {
        check_transposed_conv(&shape);
    }

    #[test]
    fn conv_and_its_image_gradient_are_adjoint(shape in any_shape()) {
        let (images, weight, grad_out) = (noise(shape.images_len(), 4), noise(shape.weight_len(), 5), noise(shape.out_len(), 6));
        let mut out = vec![0.0; shape.out_len()];
        conv(&shape, &images, &weight, &vec![0.0; shape.out_channels], Activation::None, &mut out);
        let mut grad_images = vec![0.0; shape.images_len()];
        conv_grad_images(&shape, &grad_out, &weight, &mut grad_images);
        let gap = dot(&out, &grad_out) - dot(&images, &grad_images);
        let largest_possible = (dot(&out, &out) * dot(&grad_out, &grad_out)).sqrt();
        prop_assert!(gap.abs() <= 1e-6 * largest_possible, "{gap} of {largest_possible}");
    }
}

/// Large enough that a batch is many blocks and an image many tiles.
#[test]
fn the_layers_of_the_64x64_network_are_their_definitions() {
    let (batch, kernel, stride, padding) = (9, 4, 2, 1);
    for (size, in_channels, out_channels) in [(64, 3, 32), (32, 32, 32), (8, 64, 64)] {
        let (height, width) = (size, size + 2);
        check_conv(&ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding });
    }
    for (size, in_channels, out_channels) in [(4, 64, 64), (16, 32, 32), (32, 32, 1)] {
        let (height, width) = (size, size + 1);
        let shape = TransposedShape { batch, height, width, in_channels, out_channels, kernel, stride, padding };
        check_transposed_conv(&shape);
    }
}

/// Images, weight and bias of the given lengths.
fn parameters(n_values: usize, n_weights: usize, n_biases: usize) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    (noise(n_values, 1), noise(n_weights, 2), noise(n_biases, 3))
}

fn add_bias(bias: &[f32], rows: &mut [f64]) {
    rows.iter_mut().zip(bias.iter().cycle()).for_each(|(value, bias)| *value += f64::from(*bias));
}

/// The weight of a transposed convolution, `[in, kernel * kernel * out]`, as its adjoint's, with rows and columns
/// exchanged.
fn turned(shape: &TransposedShape, weight: &[f32]) -> Vec<f32> {
    let n_columns = weight.len() / shape.in_channels;
    (0..weight.len()).map(|i| weight[i % shape.in_channels * n_columns + i / shape.in_channels]).collect()
}
