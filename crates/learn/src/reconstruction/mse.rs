//! Squared error: the negative log-likelihood of a Gaussian decoder of fixed variance, up to a constant and a factor.
//!
//! The decoder's output is the pixel itself, without a final activation (as in disent, which T1 was made with).

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings;

use super::{Compared, Entry, ReconstructionLoss, sums};
use crate::model::Model;
use crate::ops::PixelLoss;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Mse {}

impl ReconstructionLoss for Mse {
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        squared_errors(model, outputs, images)
    }

    fn compared(&self, _model: &Model, images: Tensor<2>) -> Compared {
        Compared { outputs: images.clone(), images, loss: PixelLoss::SquaredError }
    }
}

/// Squared differences of `[batch, numbers]` both, summed over each row, `[batch, 1]`.
pub fn squared_errors(model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    sums(model, PixelLoss::SquaredError, per_pixel, outputs, images)
}

fn per_pixel(outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    (outputs - images).powi_scalar(2)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mse",
    about: "squared error of each pixel",
    paper: "Higgins et al. 2017, beta-VAE",
    settings: &[],
    example: "",
    wants_unit_pixels: false,
    build: |table| Ok(Box::new(settings::read::<Mse>(table)?)),
    complete: settings::complete::<Mse>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn squared_differences() {
        let outputs = Device::cpu().tensor(vec![0.5, -1.0], [1, 2]);
        let images = Device::cpu().tensor(vec![0.0, 1.0], [1, 2]);
        assert_eq!(floats(per_pixel(outputs, images)), [0.25, 4.0]);
    }
}
