//! Convolution and its gradients.
//!
//! As in most of machine learning the kernel is not flipped:
//! `out[y, x, o] = bias[o] + sum over dy, dx, i of images[stride * y + dy - padding, stride * x + dx - padding, i] *
//! weight[dy, dx, i, o]`.

use crate::activation::Activation;
use crate::passes::{Layer, coarse_to_fine, fine_to_coarse, weight_and_bias_gradients};
use crate::product::Matrix;
use crate::shape::{ConvShape, check_len};

/// Convolves `images`, `[batch, height, width, in_channels]`, with `weight`,
/// `[kernel * kernel * in_channels, out_channels]`, adds `bias`, `[out_channels]`, and applies `activation`, into
/// `out`, `[batch, out_height, out_width, out_channels]`.
pub fn conv(shape: &ConvShape, images: &[f32], weight: &[f32], bias: &[f32], activation: Activation, out: &mut [f32]) {
    check_len("images", images.len(), shape.images_len());
    check_len("weight", weight.len(), shape.weight_len());
    check_len("bias", bias.len(), shape.out_channels);
    check_len("out", out.len(), shape.out_len());
    let weight = Matrix::of_rows(weight, shape.out_channels);
    fine_to_coarse(shape, images, weight, |rows| activation.apply_with_bias(bias, rows), out);
}

/// The gradient with respect to the images of a convolution without activation, `[batch, height, width, in_channels]`,
/// from that with respect to its output, `[batch, out_height, out_width, out_channels]`.
///
/// If the convolution had a ReLU, pass `grad_out` through [`mask_by_relu`](crate::mask_by_relu) first.
pub fn conv_grad_images(shape: &ConvShape, grad_out: &[f32], weight: &[f32], grad_images: &mut [f32]) {
    check_len("grad_out", grad_out.len(), shape.out_len());
    check_len("weight", weight.len(), shape.weight_len());
    check_len("grad_images", grad_images.len(), shape.images_len());
    let weight = Matrix::of_rows(weight, shape.out_channels).transposed();
    coarse_to_fine(shape, grad_out, weight, |images| images.fill(0.0), |_| (), grad_images);
}

/// The gradients with respect to the weight, `[kernel * kernel * in_channels, out_channels]`, and the bias,
/// `[out_channels]`, of a convolution without activation, from that with respect to its output.
///
/// If the convolution had a ReLU, pass `grad_out` through [`mask_by_relu`](crate::mask_by_relu) first.
pub fn conv_grad_weights(
    shape: &ConvShape,
    images: &[f32],
    grad_out: &[f32],
    grad_weight: &mut [f32],
    grad_bias: &mut [f32],
) {
    check_len("images", images.len(), shape.images_len());
    check_len("grad_out", grad_out.len(), shape.out_len());
    check_len("grad_weight", grad_weight.len(), shape.weight_len());
    check_len("grad_bias", grad_bias.len(), shape.out_channels);
    weight_and_bias_gradients(shape, images, grad_out, Layer::Conv, grad_weight, grad_bias);
}
