//! What goes into the backward pass of a convolutional layer, and how it is divided.

use crate::activation::MaskedValues;

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
