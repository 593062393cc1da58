//! Absolute error: the negative log-likelihood of a Laplace decoder of fixed scale, up to a constant and a factor.
//!
//! The decoder's output is the pixel itself. Where both are equal the gradient is taken to be 0.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings;

use super::{Compared, Entry, ReconstructionLoss, sums};
use crate::model::Model;
use crate::ops::PixelLoss;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Mae {}

impl ReconstructionLoss for Mae {
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        sums(model, PixelLoss::AbsoluteError, per_pixel, outputs, images)
    }

    fn compared(&self, _model: &Model, images: Tensor<2>) -> Compared {
        Compared { outputs: images.clone(), images, loss: PixelLoss::AbsoluteError }
    }
}

fn per_pixel(outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
    (outputs - images).abs()
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mae",
    about: "absolute error of each pixel",
    paper: "Zhao et al. 2017, Loss functions for image restoration with neural networks",
    settings: &[],
    example: "",
    wants_unit_pixels: false,
    build: |table| Ok(Box::new(settings::read::<Mae>(table)?)),
    complete: settings::complete::<Mae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn absolute_differences() {
        let outputs = Device::cpu().tensor(vec![0.5, -1.0, 0.25], [1, 3]);
        let images = Device::cpu().tensor(vec![0.0, 1.0, 0.25], [1, 3]);
        assert_eq!(floats(per_pixel(outputs, images)), [0.5, 2.0, 0.0]);
    }
}
