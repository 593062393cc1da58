//! The shapes of a convolution and of a transposed convolution.

/// The shape of a convolution with a square kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvShape {
    /// Images in the batch.
    pub batch: usize,
    /// Height of the images that go in.
    pub height: usize,
    /// Width of the images that go in.
    pub width: usize,
    /// Channels of the images that go in.
    pub in_channels: usize,
    /// Channels that come out.
    pub out_channels: usize,
    /// Side of the kernel.
    pub kernel: usize,
    /// Step between neighbouring windows.
    pub stride: usize,
    /// Zeros around the images, on every side.
    pub padding: usize,
}

impl ConvShape {
    /// Height of what comes out: how many windows fit below each other.
    pub fn out_height(&self) -> usize {
        n_windows(self.height, self.kernel, self.stride, self.padding)
    }

    /// Width of what comes out: how many windows fit next to each other.
    pub fn out_width(&self) -> usize {
        n_windows(self.width, self.kernel, self.stride, self.padding)
    }

    /// Length of the images, `[batch, height, width, in_channels]`.
    pub fn images_len(&self) -> usize {
        self.batch * self.image_len()
    }

    /// Length of the output, `[batch, out_height, out_width, out_channels]`.
    pub fn out_len(&self) -> usize {
        self.batch * self.out_image_len()
    }

    /// Length of the weight, `[kernel * kernel * in_channels, out_channels]`.
    pub fn weight_len(&self) -> usize {
        self.patch_len() * self.out_channels
    }

    /// Length of one image that goes in.
    pub(crate) fn image_len(&self) -> usize {
        self.height * self.width * self.in_channels
    }

    /// Length of one image that comes out.
    pub(crate) fn out_image_len(&self) -> usize {
        self.out_height() * self.line_len()
    }

    /// Length of one patch, which is what one window sees: `[kernel, kernel, in_channels]`.
    pub(crate) fn patch_len(&self) -> usize {
        self.kernel * self.kernel * self.in_channels
    }

    /// Length of one line of the output, `[out_width, out_channels]`.
    pub(crate) fn line_len(&self) -> usize {
        self.out_width() * self.out_channels
    }
}

/// The shape of a transposed convolution with a square kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransposedShape {
    /// Images in the batch.
    pub batch: usize,
    /// Height of the images that go in.
    pub height: usize,
    /// Width of the images that go in.
    pub width: usize,
    /// Channels of the images that go in.
    pub in_channels: usize,
    /// Channels that come out.
    pub out_channels: usize,
    /// Side of the kernel.
    pub kernel: usize,
    /// Step, in the output, between the windows of neighbouring input pixels.
    pub stride: usize,
    /// Lines and columns cut off the output, on every side.
    pub padding: usize,
}

impl TransposedShape {
    /// Height of what comes out: `(height - 1) * stride + kernel - 2 * padding`.
    pub fn out_height(&self) -> usize {
        covered(self.height, self.kernel, self.stride, self.padding)
    }

    /// Width of what comes out: `(width - 1) * stride + kernel - 2 * padding`.
    pub fn out_width(&self) -> usize {
        covered(self.width, self.kernel, self.stride, self.padding)
    }

    /// Length of the images, `[batch, height, width, in_channels]`.
    pub fn images_len(&self) -> usize {
        self.batch * self.height * self.width * self.in_channels
    }

    /// Length of the output, `[batch, out_height, out_width, out_channels]`.
    pub fn out_len(&self) -> usize {
        self.batch * self.out_height() * self.out_width() * self.out_channels
    }

    /// Length of the weight, `[in_channels, kernel * kernel * out_channels]`.
    pub fn weight_len(&self) -> usize {
        self.in_channels * self.kernel * self.kernel * self.out_channels
    }

    /// The convolution of which this is the adjoint: it goes from our output to our input.
    pub fn adjoint(&self) -> ConvShape {
        ConvShape {
            batch: self.batch,
            height: self.out_height(),
            width: self.out_width(),
            in_channels: self.out_channels,
            out_channels: self.in_channels,
            kernel: self.kernel,
            stride: self.stride,
            padding: self.padding,
        }
    }
}

/// How many windows fit along an axis of `length` pixels.
fn n_windows(length: usize, kernel: usize, stride: usize, padding: usize) -> usize {
    assert!(kernel > 0 && stride > 0, "kernel and stride must be at least 1, not {kernel} and {stride}");
    let padded = length + 2 * padding;
    assert!(padded >= kernel, "a kernel of {kernel} does not fit in {length} pixels padded to {padded}");
    (padded - kernel) / stride + 1
}

/// How many pixels `n_windows` windows cover along an axis, less the padding.
fn covered(n_windows: usize, kernel: usize, stride: usize, padding: usize) -> usize {
    assert!(kernel > 0 && stride > 0, "kernel and stride must be at least 1, not {kernel} and {stride}");
    assert!(n_windows > 0, "a transposed convolution needs images of at least one pixel");
    let padded = (n_windows - 1) * stride + kernel;
    assert!(padded > 2 * padding, "a padding of {padding} leaves nothing of {padded} pixels");
    padded - 2 * padding
}

/// Panics unless the slice called `name` has the length its shape asks for.
pub(crate) fn check_len(name: &str, found: usize, wanted: usize) {
    assert!(found == wanted, "{name} must hold {wanted} values for this shape, but holds {found}");
}

/// The same for a slice that is filled only if it is wanted.
pub(crate) fn check_wanted_len(name: &str, found: Option<&[f32]>, wanted: usize) {
    check_len(name, found.map_or(wanted, <[f32]>::len), wanted);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALVING: ConvShape = ConvShape {
        batch: 2,
        height: 64,
        width: 32,
        in_channels: 3,
        out_channels: 5,
        kernel: 4,
        stride: 2,
        padding: 1,
    };

    #[test]
    fn kernel_4_stride_2_padding_1_halves_and_its_adjoint_doubles() {
        assert_eq!((HALVING.out_height(), HALVING.out_width()), (32, 16));
        let doubling = TransposedShape {
            batch: 2,
            height: 32,
            width: 16,
            in_channels: 5,
            out_channels: 3,
            kernel: 4,
            stride: 2,
            padding: 1,
        };
        assert_eq!((doubling.out_height(), doubling.out_width()), (64, 32));
        assert_eq!(doubling.adjoint(), HALVING);
        assert_eq!(doubling.out_len(), HALVING.images_len());
        assert_eq!(doubling.weight_len(), HALVING.weight_len());
    }

    #[test]
    #[should_panic(expected = "a kernel of 7 does not fit in 4 pixels padded to 6")]
    fn a_kernel_larger_than_the_image_is_refused() {
        ConvShape { height: 4, kernel: 7, ..HALVING }.out_height();
    }
}
