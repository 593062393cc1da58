//! Transposed convolution and its gradients.
//!
//! It is the adjoint of the convolution with shape [`TransposedShape::adjoint`]: every input pixel adds a multiple of
//! the kernel to the output, `out[stride * y + dy - padding, stride * x + dx - padding, o] += images[y, x, i] *
//! weight[i, dy, dx, o]`, so its image gradient is that convolution.

use crate::activation::{Activation, Finish};
use crate::backward::{Backward, LayerGradients, LayerValues};
use crate::shape::{TransposedShape, check_len};
use crate::{direct, winograd};

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
    let (adjoint, finish) = (shape.adjoint(), Finish { bias: Some(bias), activation });
    if winograd::suits(&adjoint) {
        winograd::transposed_conv(&adjoint, images, weight, finish, out);
    } else {
        direct::transposed_conv(&adjoint, images, weight, finish, out);
    }
}

/// The gradients of [`transposed_conv`], from that with respect to its output,
/// `[batch, out_height, out_width, out_channels]`.
pub fn transposed_conv_backward(
    shape: &TransposedShape,
    layer: LayerValues,
    grad_out: &[f32],
    gradients: LayerGradients,
) {
    let lens = [shape.images_len(), shape.weight_len(), shape.out_channels, shape.out_len()];
    layer.check(grad_out, &gradients, lens);
    let adjoint = shape.adjoint();
    let backward = Backward::new(&layer, grad_out, gradients.images);
    if winograd::suits(&adjoint) {
        winograd::transposed_conv_backward(&adjoint, backward, layer.weight, gradients.weight, gradients.bias);
    } else {
        direct::transposed_conv_backward(&adjoint, backward, layer.weight, gradients.weight, gradients.bias);
    }
}
