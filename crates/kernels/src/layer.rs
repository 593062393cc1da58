//! A convolution or a transposed convolution: its sizes, and the way in which it is computed.

use crate::activation::Finish;
use crate::backward::Backward;
use crate::shape::{ConvShape, TransposedShape};
use crate::winograd::WeightLayout;
use crate::{direct, winograd};

/// The kind and the sizes of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerShape {
    /// As in most of machine learning the kernel is not flipped:
    /// `out[y, x, o] = bias[o] + sum over dy, dx, i of images[stride * y + dy - padding, stride * x + dx - padding, i] *
    /// weight[dy, dx, i, o]`.
    Conv(ConvShape),
    /// The adjoint of the convolution with shape [`TransposedShape::adjoint`]: every input pixel adds a multiple of the
    /// kernel to the output, `out[stride * y + dy - padding, stride * x + dx - padding, o] += images[y, x, i] *
    /// weight[i, dy, dx, o]`, so its image gradient is that convolution.
    Transposed(TransposedShape),
}

impl LayerShape {
    /// Images in the batch.
    pub fn batch(&self) -> usize {
        match self {
            Self::Conv(shape) => shape.batch,
            Self::Transposed(shape) => shape.batch,
        }
    }

    /// Length of one image that goes in.
    pub fn image_len(&self) -> usize {
        match self {
            Self::Conv(shape) => shape.image_len(),
            Self::Transposed(shape) => shape.height * shape.width * shape.in_channels,
        }
    }

    /// Length of one image that comes out.
    pub fn out_image_len(&self) -> usize {
        match self {
            Self::Conv(shape) => shape.out_image_len(),
            Self::Transposed(shape) => shape.out_height() * shape.out_width() * shape.out_channels,
        }
    }

    /// Length of the weight.
    pub fn weight_len(&self) -> usize {
        match self {
            Self::Conv(shape) => shape.weight_len(),
            Self::Transposed(shape) => shape.weight_len(),
        }
    }

    /// Length of the bias.
    pub fn bias_len(&self) -> usize {
        match self {
            Self::Conv(shape) => shape.out_channels,
            Self::Transposed(shape) => shape.out_channels,
        }
    }

    /// Products of numbers that one image takes by the definition: each weight counts once for each pixel of the smaller
    /// side.
    pub fn n_products(&self) -> usize {
        let n_pixels = match self {
            Self::Conv(shape) => shape.out_height() * shape.out_width(),
            Self::Transposed(shape) => shape.height * shape.width,
        };
        n_pixels * self.weight_len()
    }

    /// Products of numbers that are computed for one image.
    pub fn n_products_computed(&self) -> usize {
        match self.method().layout {
            Some(_) => self.n_products() * 9 / 16,
            None => self.n_products(),
        }
    }

    /// How it is computed: with fewer products where that is possible.
    pub(crate) fn method(&self) -> Method {
        let (shape, kind) = match self {
            Self::Conv(shape) => (*shape, Kind::Conv),
            Self::Transposed(shape) => (shape.adjoint(), Kind::Transposed),
        };
        let layout = winograd::suits(&shape).then(|| match kind {
            Kind::Conv => WeightLayout::conv(&shape),
            Kind::Transposed => WeightLayout::transposed_conv(&shape),
        });
        Method { shape, kind, layout }
    }
}

/// How a layer is computed.
pub(crate) struct Method {
    /// The convolution, or the one of which this is the adjoint.
    shape: ConvShape,
    kind: Kind,
    /// How the weight is transformed, if it is.
    layout: Option<WeightLayout>,
}

#[derive(Clone, Copy)]
enum Kind {
    Conv,
    Transposed,
}

impl Method {
    /// Length of the weight as the passes below want it.
    pub(crate) fn prepared_len(&self) -> usize {
        self.layout.map_or(self.shape.weight_len(), |layout| layout.transformed_len())
    }

    /// Fills in the weight as the passes below want it.
    pub(crate) fn prepare(&self, weight: &[f32], prepared: &mut [f32]) {
        match self.layout {
            Some(layout) => layout.transform(weight, prepared),
            None => prepared.copy_from_slice(weight),
        }
    }

    /// Computes some images on this thread.
    pub(crate) fn forward(&self, images: &[f32], prepared: &[f32], finish: Finish, out: &mut [f32]) {
        let pass = match (self.kind, self.layout) {
            (Kind::Conv, Some(_)) => winograd::conv,
            (Kind::Conv, None) => direct::conv,
            (Kind::Transposed, Some(_)) => winograd::transposed_conv,
            (Kind::Transposed, None) => direct::transposed_conv,
        };
        pass(&self.shape, images, prepared, finish, out);
    }

    /// Computes the gradients of some images on this thread; those of the prepared weight and, after them, of the bias
    /// are added to `sums`, if they are wanted.
    pub(crate) fn backward(&self, backward: Backward, prepared: &[f32], sums: Option<&mut [f32]>) {
        let pass = match (self.kind, self.layout) {
            (Kind::Conv, Some(_)) => winograd::conv_backward,
            (Kind::Conv, None) => direct::conv_backward,
            (Kind::Transposed, Some(_)) => winograd::transposed_conv_backward,
            (Kind::Transposed, None) => direct::transposed_conv_backward,
        };
        pass(&self.shape, backward, prepared, sums);
    }

    /// Fills in the gradients of weight and bias from what [`Method::backward`] has added up.
    pub(crate) fn finish_gradients(&self, sums: &[f32], grad_weight: &mut [f32], grad_bias: &mut [f32]) {
        let (sums_of_weight, sums_of_bias) = sums.split_at(self.prepared_len());
        match self.layout {
            Some(layout) => layout.gradient(sums_of_weight, grad_weight),
            None => grad_weight.copy_from_slice(sums_of_weight),
        }
        grad_bias.copy_from_slice(sums_of_bias);
    }
}
