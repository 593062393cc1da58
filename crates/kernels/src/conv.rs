//! Convolution and its gradients.
//!
//! As in most of machine learning the kernel is not flipped:
//! `out[y, x, o] = bias[o] + sum over dy, dx, i of images[stride * y + dy - padding, stride * x + dx - padding, i] *
//! weight[dy, dx, i, o]`.

use crate::activation::{Activation, Finish};
use crate::backward::{Backward, LayerGradients, LayerValues};
use crate::shape::{ConvShape, check_len};
use crate::{direct, winograd};

/// Convolves `images`, `[batch, height, width, in_channels]`, with `weight`,
/// `[kernel * kernel * in_channels, out_channels]`, adds `bias`, `[out_channels]`, and applies `activation`, into
/// `out`, `[batch, out_height, out_width, out_channels]`.
pub fn conv(shape: &ConvShape, images: &[f32], weight: &[f32], bias: &[f32], activation: Activation, out: &mut [f32]) {
    check_len("images", images.len(), shape.images_len());
    check_len("weight", weight.len(), shape.weight_len());
    check_len("bias", bias.len(), shape.out_channels);
    check_len("out", out.len(), shape.out_len());
    let finish = Finish { bias: Some(bias), activation };
    if winograd::suits(shape) {
        winograd::conv(shape, images, weight, finish, out);
    } else {
        direct::conv(shape, images, weight, finish, out);
    }
}

/// The gradients of [`conv`], from that with respect to its output, `[batch, out_height, out_width, out_channels]`.
pub fn conv_backward(shape: &ConvShape, layer: LayerValues, grad_out: &[f32], gradients: LayerGradients) {
    let lens = [shape.images_len(), shape.weight_len(), shape.out_channels, shape.out_len()];
    layer.check(grad_out, &gradients, lens);
    let backward = Backward::new(&layer, grad_out, gradients.images);
    if winograd::suits(shape) {
        winograd::conv_backward(shape, backward, layer.weight, gradients.weight, gradients.bias);
    } else {
        direct::conv_backward(shape, backward, layer.weight, gradients.weight, gradients.bias);
    }
}
