//! The number of threads changes no bit of any result.

mod reference;

use rayon::ThreadPoolBuilder;
use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerValues, TransposedShape};

use reference::{conv, conv_backward, noise, transposed_conv, transposed_conv_backward};

/// Everything a convolution and a transposed one compute, end to end.
fn all_results(shape: &ConvShape) -> Vec<u32> {
    let (images, weight, bias) =
        (noise(shape.images_len(), 1), noise(shape.weight_len(), 2), noise(shape.out_channels, 3));
    let mut out = vec![0.0; shape.out_len()];
    conv(shape, &images, &weight, &bias, Activation::Relu, &mut out);
    let (mut grad_images, mut grad_weight, mut grad_bias) =
        (vec![0.0; images.len()], vec![0.0; weight.len()], vec![0.0; bias.len()]);
    let layer = LayerValues { inputs: &images, weight: &weight, out: &out, activation: Activation::Relu };
    let gradients =
        LayerGradients { inputs: Some(&mut grad_images), weight: Some(&mut grad_weight), bias: Some(&mut grad_bias) };
    conv_backward(shape, layer, &out, gradients);
    [out, grad_images, grad_weight, grad_bias].concat().into_iter().map(f32::to_bits).collect()
}

fn all_transposed_results(shape: &TransposedShape) -> Vec<u32> {
    let (images, weight, bias) =
        (noise(shape.images_len(), 1), noise(shape.weight_len(), 2), noise(shape.out_channels, 3));
    let mut out = vec![0.0; shape.out_len()];
    transposed_conv(shape, &images, &weight, &bias, Activation::Relu, &mut out);
    let (mut grad_images, mut grad_weight, mut grad_bias) =
        (vec![0.0; images.len()], vec![0.0; weight.len()], vec![0.0; bias.len()]);
    let layer = LayerValues { inputs: &images, weight: &weight, out: &out, activation: Activation::Relu };
    let gradients =
        LayerGradients { inputs: Some(&mut grad_images), weight: Some(&mut grad_weight), bias: Some(&mut grad_bias) };
    transposed_conv_backward(shape, layer, &out, gradients);
    [out, grad_images, grad_weight, grad_bias].concat().into_iter().map(f32::to_bits).collect()
}

fn same_on_1_2_and_3_threads(results: impl Fn() -> Vec<u32> + Sync) {
    let on =
        |n_threads| ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a thread pool").install(&results);
    let alone = on(1);
    assert!(alone == on(2));
    assert!(alone == on(3));
}

#[test]
fn conv_gives_the_same_bits_on_any_number_of_threads() {
    for (size, in_channels, out_channels) in [(64, 1, 32), (64, 3, 32), (32, 32, 32), (16, 32, 64), (8, 64, 64)] {
        let shape = ConvShape {
            batch: 19,
            height: size,
            width: size,
            in_channels,
            out_channels,
            kernel: 4,
            stride: 2,
            padding: 1,
        };
        same_on_1_2_and_3_threads(|| all_results(&shape));
    }
}

#[test]
fn transposed_conv_gives_the_same_bits_on_any_number_of_threads() {
    for (size, in_channels, out_channels) in [(4, 64, 64), (8, 64, 32), (16, 32, 32), (32, 32, 3), (32, 32, 1)] {
        let shape = TransposedShape {
            batch: 19,
            height: size,
            width: size,
            in_channels,
            out_channels,
            kernel: 4,
            stride: 2,
            padding: 1,
        };
        same_on_1_2_and_3_threads(|| all_transposed_results(&shape));
    }
}
