//! Fast CPU kernels on plain slices: convolution, transposed convolution, linear layers, reconstruction losses
//! and their gradients.
//!
//! Everything is `f32`, row-major and channels-last: a batch of images is `[batch, height, width, channels]`.
//! Functions overwrite the slices they are given to fill. They run on the current rayon pool, and the work is
//! divided by shape alone, so the same inputs give the same bits on any number of threads.
//!
//! A slice of the wrong length is a mistake in the calling code, and panics with both lengths.

mod activation;
mod backward;
mod difference;
mod direct;
mod filter;
mod filtered_error;
mod groups;
mod layer;
mod linear;
mod mixture;
mod peak;
mod pixel_loss;
mod product;
mod scratch;
mod shape;
pub mod stack;
mod sum;
mod winograd;

pub use activation::{Activation, LEAKY_SLOPE};
pub use difference::{absolute_difference_of_bytes, bytes_of_pixels, numbers_of_bytes, squared_difference_of_bytes};
pub use filter::{Filter, FilterShape, KernelGradient, banded, gaussian_taps};
pub use filtered_error::FilteredError;
pub use layer::LayerShape;
pub use linear::{LayerGradients, LayerValues, LinearShape, linear, linear_backward};
pub use mixture::{MixtureGradients, Mixtures};
pub use peak::product_rate;
pub use pixel_loss::PixelLoss;
pub use shape::{ConvShape, TransposedShape};
pub use sum::sum;
