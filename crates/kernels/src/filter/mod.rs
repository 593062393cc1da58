//! Filters: each channel of an image convolved with a kernel of odd side, zero beyond the edges, and as large as before.
//!
//! `out[y, x] = sum over i, j of kernel[r + i, r + j] * image[y - i, x - j]`, `r` being the kernel's radius. A filter is linear, so a loss
//! that compares filtered images filters their difference, and its gradient goes through the transposed filter. Three ways give the same:
//! running sums for boxes, two products for separable kernels, Fourier transforms for the rest.
//!
//! A filter runs on one thread; whoever has many images gives each thread some.

mod fourier;
mod kernel_gradient;
mod planes;
mod running_sums;
mod separable;

use crate::shape::check_len;
use fourier::Fourier;
pub use kernel_gradient::KernelGradient;
use separable::Separable;

pub use separable::{banded, gaussian_taps};

/// Rows, columns and channels of the images that a filter takes, `[height, width, channels]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterShape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// Numbers of a pixel, which are filtered each for itself.
    pub channels: usize,
}

impl FilterShape {
    /// How many numbers an image has.
    pub fn n_values(&self) -> usize {
        self.height * self.width * self.channels
    }
}

/// A filter for images of one shape.
#[derive(Clone, Debug)]
pub struct Filter {
    shape: FilterShape,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    /// Sums over windows that reach this far to each side.
    Sums(usize),
    Products(Separable),
    Transforms(Fourier),
}

impl Filter {
    /// The sum over a square window that reaches `radius` pixels to each side: a kernel of ones. Sums of whole numbers are exact while they are
    /// below 2^24.
    pub fn window_sums(shape: FilterShape, radius: usize) -> Self {
        Self { shape, way: Way::Sums(radius) }
    }

    /// The kernel `taps[i] * taps[j]`; as many taps as the kernel has rows, an odd number.
    pub fn separable(shape: FilterShape, taps: &[f32]) -> Self {
        Self { shape, way: Way::Products(Separable::new(shape, taps)) }
    }

    /// Any square kernel `[side, side]` of odd side.
    pub fn kernel(shape: FilterShape, kernel: &[f32]) -> Self {
        Self { shape, way: Way::Transforms(Fourier::new(shape, kernel)) }
    }

    /// The images that it takes.
    pub fn shape(&self) -> FilterShape {
        self.shape
    }

    /// Fills `out` with the filtered image, `[height, width, channels]` both.
    pub fn apply(&self, image: &[f32], out: &mut [f32]) {
        self.check(image, out);
        match &self.way {
            Way::Sums(radius) => running_sums::window_sums(self.shape, *radius, image, out),
            Way::Products(separable) => separable.apply(image, out),
            Way::Transforms(fourier) => fourier.apply(image, out),
        }
    }

    /// Fills `out` with what the transposed matrix of the filter makes of the image: the filter with its kernel turned by half a turn.
    pub fn apply_transposed(&self, image: &[f32], out: &mut [f32]) {
        self.check(image, out);
        match &self.way {
            Way::Sums(radius) => running_sums::window_sums(self.shape, *radius, image, out),
            Way::Products(separable) => separable.apply_transposed(image, out),
            Way::Transforms(fourier) => fourier.apply_transposed(image, out),
        }
    }

    fn check(&self, image: &[f32], out: &[f32]) {
        check_len("image", image.len(), self.shape.n_values());
        check_len("out", out.len(), self.shape.n_values());
    }
}

/// The radius of a kernel of so many rows; panics unless that is odd.
fn radius_of(side: usize) -> usize {
    assert!(side % 2 == 1, "a kernel has an odd number of rows, not {side}");
    side / 2
}

/// The rows of a square kernel; panics where it is none.
fn side_of(kernel: &[f32]) -> usize {
    let side = kernel.len().isqrt();
    assert_eq!(side * side, kernel.len(), "a kernel is square");
    side
}
