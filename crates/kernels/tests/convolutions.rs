//! Both convolutions and their gradients against the definition summed in `f64`, and against each other.

mod reference;

use proptest::prelude::*;
use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerValues, TransposedShape};

use reference::{
    ACTIVATIONS, after, assert_close, before, conv, conv_backward, dot, naive_conv, naive_grad_images,
    naive_grad_weights, noise, sums_by_channel, transposed_conv, transposed_conv_backward,
};

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
    /// 4x4, stride 2, padding 1, whole tiles and whole vectors of channels: what is computed with fewer products.
    fn any_tiled_shape()(
        batch in 1..12_usize,
        (height, width) in (1..5_usize, 1..5_usize),
        (in_channels, out_channels) in (1..4_usize, 1..4_usize),
    ) -> ConvShape {
        let (height, width, in_channels, out_channels) = (4 * height, 4 * width, 16 * in_channels, 16 * out_channels);
        ConvShape { batch, height, width, in_channels, out_channels, kernel: 4, stride: 2, padding: 1 }
    }
}

prop_compose! {
    fn any_transposed_shape()(shape in prop_oneof![any_shape(), any_tiled_shape()]) -> TransposedShape {
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
    let mut wanted = naive_conv(shape, &images, &weight);
    add_bias(&bias, &mut wanted);
    for activation in ACTIVATIONS {
        conv(shape, &images, &weight, &bias, activation, &mut out);
        assert_close(&out, &after(activation, &wanted));
        let layer = LayerValues { inputs: &images, weight: &weight, out: &out, activation };
        let grad_out = noise(shape.out_len(), 4);
        let found = Gradients::of(&layer, bias.len(), |gradients| conv_backward(shape, layer, &grad_out, gradients));
        let grad_out = before(activation, &grad_out, &out);
        assert_close(&found.images, &naive_grad_images(shape, &grad_out, &weight));
        assert_close(&found.weight, &naive_grad_weights(shape, &images, &grad_out));
        assert_close(&found.bias, &sums_by_channel(&grad_out, shape.out_channels));
    }
}

/// Checks a transposed convolution and its gradients against their definitions.
fn check_transposed_conv(shape: &TransposedShape) {
    let adjoint = shape.adjoint();
    let (images, weight, bias) = parameters(shape.images_len(), shape.weight_len(), shape.out_channels);
    let mut out = vec![f32::NAN; shape.out_len()];
    let mut wanted = naive_grad_images(&adjoint, &images, &turned(shape, &weight));
    add_bias(&bias, &mut wanted);
    for activation in ACTIVATIONS {
        transposed_conv(shape, &images, &weight, &bias, activation, &mut out);
        assert_close(&out, &after(activation, &wanted));
        let layer = LayerValues { inputs: &images, weight: &weight, out: &out, activation };
        let grad_out = noise(shape.out_len(), 4);
        let backward = |gradients: LayerGradients| transposed_conv_backward(shape, layer, &grad_out, gradients);
        let found = Gradients::of(&layer, bias.len(), backward);
        let grad_out = before(activation, &grad_out, &out);
        assert_close(&found.images, &naive_conv(&adjoint, &grad_out, &turned(shape, &weight)));
        assert_close(&turned(shape, &found.weight), &naive_grad_weights(&adjoint, &grad_out, &images));
        assert_close(&found.bias, &sums_by_channel(&grad_out, shape.out_channels));
    }
}

struct Gradients {
    images: Vec<f32>,
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Gradients {
    /// What `backward` fills in, which must be the same if only the parameters' or only the images' are wanted.
    fn of(layer: &LayerValues, bias_len: usize, backward: impl Fn(LayerGradients)) -> Self {
        let unfilled = |len| vec![f32::NAN; len];
        let (mut images, mut weight, mut bias) =
            (unfilled(layer.inputs.len()), unfilled(layer.weight.len()), unfilled(bias_len));
        backward(LayerGradients { inputs: None, weight: Some(&mut weight), bias: Some(&mut bias) });
        let alone = (weight.clone(), bias.clone());
        backward(LayerGradients { inputs: Some(&mut images), weight: Some(&mut weight), bias: Some(&mut bias) });
        assert!(alone == (weight.clone(), bias.clone()));
        let mut images_alone = unfilled(images.len());
        backward(LayerGradients { inputs: Some(&mut images_alone), weight: None, bias: None });
        assert!(images_alone == images);
        Self { images, weight, bias }
    }
}

proptest! {
    #[test]
    fn conv_and_its_gradients_are_their_definitions(shape in prop_oneof![any_shape(), any_tiled_shape()]) {
        check_conv(&shape);
    }

    #[test]
    fn transposed_conv_and_its_gradients_are_their_definitions(shape in any_transposed_shape()) {
        check_transposed_conv(&shape);
    }

    #[test]
    fn conv_and_its_image_gradient_are_adjoint(shape in prop_oneof![any_shape(), any_tiled_shape()]) {
        let (images, weight, grad_out) = (noise(shape.images_len(), 4), noise(shape.weight_len(), 5), noise(shape.out_len(), 6));
        let mut out = vec![0.0; shape.out_len()];
        conv(&shape, &images, &weight, &vec![0.0; shape.out_channels], Activation::None, &mut out);
        let layer = LayerValues { inputs: &images, weight: &weight, out: &out, activation: Activation::None };
        let backward = |gradients: LayerGradients| conv_backward(&shape, layer, &grad_out, gradients);
        let gap = dot(&out, &grad_out) - dot(&images, &Gradients::of(&layer, shape.out_channels, backward).images);
        let largest_possible = (dot(&out, &out) * dot(&grad_out, &grad_out)).sqrt();
        prop_assert!(gap.abs() <= 1e-6 * largest_possible, "{gap} of {largest_possible}");
    }
}

/// Large enough that a batch is many blocks and an image many tiles.
#[test]
fn the_layers_of_the_64x64_network_are_their_definitions() {
    let (batch, kernel, stride, padding) = (9, 4, 2, 1);
    for (size, in_channels, out_channels) in [(64, 3, 32), (32, 32, 32), (8, 64, 64)] {
        for (height, width) in [(size, size), (size, size + 2)] {
            check_conv(&ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding });
        }
    }
    for (size, in_channels, out_channels) in [(4, 64, 64), (16, 32, 32), (32, 32, 1)] {
        for (height, width) in [(size, size), (size, size + 1)] {
            let shape = TransposedShape { batch, height, width, in_channels, out_channels, kernel, stride, padding };
            check_transposed_conv(&shape);
        }
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
