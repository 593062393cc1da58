//! Squared error: the negative log-likelihood of a Gaussian decoder of fixed variance, up to a constant and a factor.
//!
//! The decoder's output is the pixel itself, without a final activation (as in disent, which T1 was made with).

use burn::tensor::Tensor;

use super::Entry;
use crate::ops::PixelLoss;

fn per_pixel(outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    (outputs - images).powi_scalar(2)
}

fn to_image(outputs: Tensor<2>) -> Tensor<2> {
    outputs
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mse",
    about: "squared error of each pixel",
    paper: "Higgins et al. 2017, beta-VAE",
    settings: &[],
    wants_unit_pixels: false,
    loss: PixelLoss::SquaredError,
    per_pixel,
    to_image,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::{device, floats, tensor};

    #[test]
    fn squared_differences() {
        let outputs = tensor(vec![0.5, -1.0], [1, 2], &device());
        let images = tensor(vec![0.0, 1.0], [1, 2], &device());
        assert_eq!(floats(per_pixel(outputs, images)), [0.25, 4.0]);
    }
}
