//! Transposed convolution and its gradients.
//!
//! It is the adjoint of the convolution with shape [`TransposedShape::adjoint`]: every input pixel adds a multiple of
//! the kernel to the output, `out[stride * y + dy - padding, stride * x + dx - padding, o] += images[y, x, i] *
//! weight[i, dy, dx, o]`, so its image gradient is that convolution.

use crate::activation::Activation;
use crate::passes::{Layer, coarse_to_fine, fine_to_coarse, weight_and_bias_gradients};
use crate::product::Matrix;
use crate::shape::{TransposedShape, check_len};

/// Convolves `images`, `[batch, height, width, in_channels]`, transposed with `weight`,
/// `[in_channels, kernel * kernel * out_channels]`, adds `bias`, `[out_channels]`, and applies `activation`, into
/// `out`, `[batch, out_height, out_width, out_channels]`.
pub fn transposed_conv(
    shape: &TransposedShape,
    images: &[f32],
    weight: &[f32],
    bias: &[f32],
    activation: Activation,
    out: &mut [f32],
) {
    check_len("images", images.len(), shape.images_len());
    check_len("weight", weight.len(), shape.weight_len());
    check_len("bias", bias.len(), shape.out_channels);
    check_len("out", out.len(), shape.out_len());
    let fill = |images: &mut [f32]| fill_pixels(images, shape.out_width(), bias);
    coarse_to_fine(&shape.adjoint(), images, by_input(shape, weight), fill, |images| activation.apply(images), out);
}

/// The gradient with respect to the images of a transposed convolution without activation,
/// `[batch, height, width, in_channels]`, from that with respect to its output,
/// `[batch, out_height, out_width, out_channels]`.
///
/// If the convolution had a ReLU, pass `grad_out` through [`mask_by_relu`](crate::mask_by_relu) first.
pub fn transposed_conv_grad_images(shape: &TransposedShape, grad_out: &[f32], weight: &[f32], grad_images: &mut [f32]) {
    check_len("grad_out", grad_out.len(), shape.out_len());
    check_len("weight", weight.len(), shape.weight_len());
    check_len("grad_images", grad_images.len(), shape.images_len());
    fine_to_coarse(&shape.adjoint(), grad_out, by_input(shape, weight).transposed(), |_| (), grad_images);
}

/// The gradients with respect to the weight, `[in_channels, kernel * kernel * out_channels]`, and the bias,
/// `[out_channels]`, of a transposed convolution without activation, from that with respect to its output.
///
/// If the convolution had a ReLU, pass `grad_out` through [`mask_by_relu`](crate::mask_by_relu) first.
pub fn transposed_conv_grad_weights(
    shape: &TransposedShape,
    images: &[f32],
    grad_out: &[f32],
    grad_weight: &mut [f32],
    grad_bias: &mut [f32],
) {
    check_len("images", images.len(), shape.images_len());
    check_len("grad_out", grad_out.len(), shape.out_len());
    check_len("grad_weight", grad_weight.len(), shape.weight_len());
    check_len("grad_bias", grad_bias.len(), shape.out_channels);
    weight_and_bias_gradients(&shape.adjoint(), grad_out, images, Layer::Transposed, grad_weight, grad_bias);
}

/// The weight with a row for every input channel, `[in_channels, kernel * kernel * out_channels]`.
fn by_input<'a>(shape: &TransposedShape, weight: &'a [f32]) -> Matrix<'a> {
    Matrix::of_rows(weight, shape.kernel * shape.kernel * shape.out_channels)
}

/// Writes `pixel` all over `images`, `[.., width, pixel.len()]`. Line by line, since a pixel may be one value.
fn fill_pixels(images: &mut [f32], width: usize, pixel: &[f32]) {
    let (first, others) = images.split_at_mut(width * pixel.len());
    first.chunks_exact_mut(pixel.len()).for_each(|place| place.copy_from_slice(pixel));
    others.chunks_exact_mut(first.len()).for_each(|line| line.copy_from_slice(first));
}
