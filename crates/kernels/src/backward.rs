//! What goes into a layer's backward pass, what comes out, and how it is divided.

use crate::activation::{Activation, MaskedValues};
use crate::shape::check_len;

/// What a backward pass needs to know of the forward pass.
#[derive(Clone, Copy)]
pub struct LayerValues<'a> {
    /// What went in.
    pub images: &'a [f32],
    /// The layer's weight.
    pub weight: &'a [f32],
    /// What came out; it is looked at only if the activation was a ReLU.
    pub out: &'a [f32],
    /// What the output went through.
    pub activation: Activation,
}

/// Where the gradients of a layer go. What the slices hold before is overwritten.
pub struct LayerGradients<'a> {
    /// With respect to what went in; none if it is not wanted, as for a network's first layer.
    pub images: Option<&'a mut [f32]>,
    /// With respect to the weight.
    pub weight: &'a mut [f32],
    /// With respect to the bias.
    pub bias: &'a mut [f32],
}

impl LayerValues<'_> {
    /// Panics unless everything has the length that the shape asks for.
    pub(crate) fn check(&self, grad_out: &[f32], gradients: &LayerGradients, lens: [usize; 4]) {
        let [images_len, weight_len, bias_len, out_len] = lens;
        check_len("images", self.images.len(), images_len);
        check_len("weight", self.weight.len(), weight_len);
        check_len("out", self.out.len(), out_len);
        check_len("grad_out", grad_out.len(), out_len);
        check_len("grad_images", gradients.images.as_ref().map_or(images_len, |grad| grad.len()), images_len);
        check_len("grad_weight", gradients.weight.len(), weight_len);
        check_len("grad_bias", gradients.bias.len(), bias_len);
    }
}

/// The images of a batch that a layer saw, the gradient of what it made of them, and where their own gradient goes.
pub(crate) struct Backward<'a> {
    pub(crate) images: &'a [f32],
    pub(crate) grad_out: MaskedValues<'a>,
    /// None if it is not wanted.
    pub(crate) grad_images: Option<&'a mut [f32]>,
}

/// The lengths of one image that goes into a layer and of the one that comes out.
#[derive(Clone, Copy)]
pub(crate) struct ImageLens {
    pub(crate) images: usize,
    pub(crate) out: usize,
}

impl<'a> Backward<'a> {
    pub(crate) fn new(layer: &LayerValues<'a>, grad_out: &'a [f32], grad_images: Option<&'a mut [f32]>) -> Self {
        let relu_out = (layer.activation == Activation::Relu).then_some(layer.out);
        Self { images: layer.images, grad_out: MaskedValues { values: grad_out, relu_out }, grad_images }
    }

    /// Divided into parts of `n_images` images; the last may have fewer.
    pub(crate) fn split(self, n_images: usize, lens: ImageLens) -> Vec<Backward<'a>> {
        let mut grad_images = self.grad_images.map(|grad| grad.chunks_mut(n_images * lens.images));
        let parts = self.images.chunks(n_images * lens.images).zip(self.grad_out.chunks(n_images * lens.out));
        let parts = parts.map(|(images, grad_out)| {
            let grad_images = grad_images.as_mut().and_then(Iterator::next);
            Backward { images, grad_out, grad_images }
        });
        parts.collect()
    }
}
