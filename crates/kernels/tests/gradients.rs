//! Layers worked by hand, and gradients through a ReLU against finite differences.

mod reference;

use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerValues, TransposedShape};

use reference::{conv, conv_backward, dot, noise, transposed_conv, transposed_conv_backward};

#[test]
fn conv_by_hand() {
    let shape =
        ConvShape { batch: 1, height: 4, width: 4, in_channels: 1, out_channels: 1, kernel: 2, stride: 2, padding: 0 };
    let image: Vec<f32> = (1..=16_u8).map(f32::from).collect();
    let mut out = [0.0; 4];
    conv(&shape, &image, &[1.0, 2.0, 3.0, 4.0], &[-50.0], Activation::Relu, &mut out);
    // 1 + 4 + 15 + 24 = 44, then 64, 124 and 144, less 50.
    assert_eq!(out, [0.0, 14.0, 74.0, 94.0]);
}

#[test]
fn transposed_conv_by_hand() {
    let shape = TransposedShape {
        batch: 1,
        height: 1,
        width: 2,
        in_channels: 1,
        out_channels: 1,
        kernel: 2,
        stride: 1,
        padding: 0,
    };
    let mut out = [0.0; 6];
    transposed_conv(&shape, &[1.0, 2.0], &[1.0, 2.0, 3.0, 4.0], &[0.5], Activation::None, &mut out);
    // The kernel once, and twice the kernel one pixel further right.
    assert_eq!(out, [1.5, 4.5, 4.5, 3.5, 10.5, 8.5]);
}

/// A diverged run must be seen: NaN goes through a ReLU, in its own image alone, in both ways of computing.
#[test]
fn nan_stays_nan_and_in_its_image() {
    for channels in [3, 16] {
        let (batch, in_channels, out_channels, kernel, stride, padding) = (2, channels, channels, 4, 2, 1);
        let down = ConvShape { batch, height: 8, width: 8, in_channels, out_channels, kernel, stride, padding };
        let up = TransposedShape { batch, height: 4, width: 4, in_channels, out_channels, kernel, stride, padding };
        let (weight, bias) = (noise(down.weight_len(), 2), vec![0.0; channels]);
        let check = |image_len: usize, forward: &dyn Fn(&[f32], &mut [f32]), out_len: usize| {
            let (mut images, mut out) = (noise(2 * image_len, 1), vec![0.0; 2 * out_len]);
            images[0] = f32::NAN;
            forward(&images, &mut out);
            assert!(out[0].is_nan() && out[out_len..].iter().all(|value| value.is_finite()), "{channels} channels");
        };
        let (fine_len, coarse_len) = (down.images_len() / 2, down.out_len() / 2);
        check(fine_len, &|images, out| conv(&down, images, &weight, &bias, Activation::Relu, out), coarse_len);
        check(coarse_len, &|images, out| transposed_conv(&up, images, &weight, &bias, Activation::Relu, out), fine_len);
    }
}

/// Biases so large that the ReLU lets every other channel through always and the rest never: with kinks far away, the
/// loss is linear and finite differences are exact.
fn biases(n_channels: usize) -> Vec<f32> {
    (0..n_channels).map(|channel| if channel % 2 == 0 { 500.0 } else { -500.0 }).collect()
}

/// Two shapes: one of a few odd channels, one that is computed in tiles and vectors.
#[test]
fn conv_gradients_are_finite_differences() {
    for (height, width, in_channels, out_channels) in [(6, 8, 2, 2), (4, 8, 16, 16)] {
        let shape = ConvShape { batch: 3, height, width, in_channels, out_channels, kernel: 4, stride: 2, padding: 1 };
        let lens = [shape.images_len(), shape.weight_len(), shape.out_channels, shape.out_len()];
        check(
            lens,
            |images, weight, bias, out| conv(&shape, images, weight, bias, Activation::Relu, out),
            |layer, grad_out, gradients| conv_backward(&shape, layer, grad_out, gradients),
        );
    }
}

#[test]
fn transposed_conv_gradients_are_finite_differences() {
    for (height, width, in_channels, out_channels) in [(3, 4, 3, 2), (2, 4, 16, 16)] {
        let (kernel, stride, padding) = (4, 2, 1);
        let shape = TransposedShape { batch: 3, height, width, in_channels, out_channels, kernel, stride, padding };
        let lens = [shape.images_len(), shape.weight_len(), shape.out_channels, shape.out_len()];
        check(
            lens,
            |images, weight, bias, out| transposed_conv(&shape, images, weight, bias, Activation::Relu, out),
            |layer, grad_out, gradients| transposed_conv_backward(&shape, layer, grad_out, gradients),
        );
    }
}

/// Checks all gradients of a layer with these lengths of images, weight, bias and output.
fn check(
    [images_len, weight_len, bias_len, out_len]: [usize; 4],
    forward: impl Fn(&[f32], &[f32], &[f32], &mut [f32]),
    backward: impl Fn(LayerValues, &[f32], LayerGradients),
) {
    let (images, weight, bias) = (noise(images_len, 1), noise(weight_len, 2), biases(bias_len));
    let grad_out = noise(out_len, 3);
    let out_of = |images: &[f32], weight: &[f32], bias: &[f32]| {
        let mut out = vec![0.0; out_len];
        forward(images, weight, bias, &mut out);
        out
    };
    let out = out_of(&images, &weight, &bias);
    let (mut grad_images, mut grad_weight, mut grad_bias) =
        (vec![0.0; images_len], vec![0.0; weight_len], vec![0.0; bias_len]);
    let layer = LayerValues { inputs: &images, weight: &weight, out: &out, activation: Activation::Relu };
    let gradients =
        LayerGradients { inputs: Some(&mut grad_images), weight: Some(&mut grad_weight), bias: Some(&mut grad_bias) };
    backward(layer, &grad_out, gradients);

    let loss = |images: &[f32], weight: &[f32], bias: &[f32]| dot(&out_of(images, weight, bias), &grad_out);
    assert_near(&grad_images, &differences(&images, |images| loss(images, &weight, &bias)));
    assert_near(&grad_weight, &differences(&weight, |weight| loss(&images, weight, &bias)));
    assert_near(&grad_bias, &differences(&bias, |bias| loss(&images, &weight, bias)));
}

/// Outputs lie around 500, so that their differences keep only the fourth digit or so.
fn assert_near(found: &[f32], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!((f64::from(*found) - wanted).abs() <= 2e-3, "at {index}: found {found}, wanted {wanted}");
    }
}

/// The slope of `loss` along every parameter.
fn differences(parameters: &[f32], loss: impl Fn(&[f32]) -> f64) -> Vec<f64> {
    let slope = |index: usize| {
        let (mut above, mut below) = (parameters.to_vec(), parameters.to_vec());
        above[index] += 1.0;
        below[index] -= 1.0;
        (loss(&above) - loss(&below)) / f64::from(above[index] - below[index])
    };
    (0..parameters.len()).map(slope).collect()
}
