//! Fast CPU kernels on plain slices: convolution, transposed convolution and their gradients.
//!
//! Everything is `f32`, row-major and channels-last: a batch of images is `[batch, height, width, channels]`.
//! Functions overwrite the slices they are given to fill. They run on the current rayon pool, and the work is
//! divided by shape alone, so the same inputs give the same bits on any number of threads.
//!
//! A slice of the wrong length is a mistake in the calling code, and panics with both lengths.

mod activation;
mod backward;
mod conv;
mod direct;
mod groups;
mod peak;
mod product;
mod scratch;
mod shape;
mod transposed;
mod winograd;

pub use activation::Activation;
pub use backward::{LayerGradients, LayerValues};
pub use conv::{conv, conv_backward};
pub use peak::product_rate;
pub use shape::{ConvShape, TransposedShape};
pub use transposed::{transposed_conv, transposed_conv_backward};
