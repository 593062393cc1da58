//! Layers worked by hand, and gradients through a ReLU against finite differences.

mod reference;

use unbraid_kernels::{
    Activation, ConvShape, TransposedShape, conv, conv_grad_weights, mask_by_relu, transposed_conv,
    transposed_conv_grad_weights,
};

use reference::{assert_close, dot, noise};

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

/// Two channels out, one of which the ReLU always lets through and one never: with kinks far away, the loss is
/// linear and finite differences are exact.
const BIAS: [f32; 2] = [20.0, -20.0];

#[test]
fn conv_weight_gradients_are_finite_differences() {
    let shape =
        ConvShape { batch: 3, height: 6, width: 8, in_channels: 2, out_channels: 2, kernel: 4, stride: 2, padding: 1 };
    let (images, weight) = (noise(shape.images_len(), 1), noise(shape.weight_len(), 2));
    let grad_out = noise(shape.out_len(), 3);
    let forward = |weight: &[f32], bias: &[f32]| {
        let mut out = vec![0.0; shape.out_len()];
        conv(&shape, &images, weight, bias, Activation::Relu, &mut out);
        out
    };

    let mut masked = grad_out.clone();
    mask_by_relu(&forward(&weight, &BIAS), &mut masked);
    let (mut grad_weight, mut grad_bias) = (vec![0.0; weight.len()], vec![0.0; 2]);
    conv_grad_weights(&shape, &images, &masked, &mut grad_weight, &mut grad_bias);

    let loss = |weight: &[f32], bias: &[f32]| dot(&forward(weight, bias), &grad_out);
    assert_close(&grad_weight, &differences(&weight, |weight| loss(weight, &BIAS)));
    assert_close(&grad_bias, &differences(&BIAS, |bias| loss(&weight, bias)));
}

#[test]
fn transposed_conv_weight_gradients_are_finite_differences() {
    let shape = TransposedShape {
        batch: 3,
        height: 3,
        width: 4,
        in_channels: 3,
        out_channels: 2,
        kernel: 4,
        stride: 2,
        padding: 1,
    };
    let (images, weight) = (noise(shape.images_len(), 1), noise(shape.weight_len(), 2));
    let grad_out = noise(shape.out_len(), 3);
    let forward = |weight: &[f32], bias: &[f32]| {
        let mut out = vec![0.0; shape.out_len()];
        transposed_conv(&shape, &images, weight, bias, Activation::Relu, &mut out);
        out
    };

    let mut masked = grad_out.clone();
    mask_by_relu(&forward(&weight, &BIAS), &mut masked);
    let (mut grad_weight, mut grad_bias) = (vec![0.0; weight.len()], vec![0.0; 2]);
    transposed_conv_grad_weights(&shape, &images, &masked, &mut grad_weight, &mut grad_bias);

    let loss = |weight: &[f32], bias: &[f32]| dot(&forward(weight, bias), &grad_out);
    assert_close(&grad_weight, &differences(&weight, |weight| loss(weight, &BIAS)));
    assert_close(&grad_bias, &differences(&BIAS, |bias| loss(&weight, bias)));
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
