//! Reconstruction losses: how far a decoder's output is from the image, pixel by pixel.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::error::unknown_name;
use unbraid_data::settings::Setting;

use crate::ops::{PixelLoss, is_on_cpu, pixel_sums};

mod bce;
mod mse;

/// Every reconstruction loss.
pub const RECONSTRUCTIONS: &[Entry] = &[mse::ENTRY, bce::ENTRY];

/// One row of the list of reconstruction losses.
#[derive(Debug)]
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Whether it is a loss only for pixels between 0 and 1.
    pub wants_unit_pixels: bool,
    /// The loss of each pixel, as our kernels know it.
    pub loss: PixelLoss,
    /// The same in burn's operations, for other devices: from the decoder's outputs and the images, `[batch, pixels]` all.
    pub per_pixel: fn(outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2>,
    /// The image that the decoder's outputs stand for.
    pub to_image: fn(outputs: Tensor<2>) -> Tensor<2>,
}

/// A reconstruction loss chosen by name.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Reconstruction(pub &'static Entry);

impl Reconstruction {
    /// The loss of each image, summed over its pixels, `[batch, 1]`, from the decoder's outputs and the images,
    /// `[batch, pixels]` both.
    pub fn per_image(self, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        if is_on_cpu(&outputs) {
            pixel_sums(outputs, images, self.0.loss)
        } else {
            (self.0.per_pixel)(outputs, images).sum_dim(1)
        }
    }
}

impl Default for Reconstruction {
    fn default() -> Self {
        Self(&mse::ENTRY)
    }
}

impl TryFrom<String> for Reconstruction {
    type Error = unbraid_data::Error;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let entry = RECONSTRUCTIONS.iter().find(|entry| entry.name == name);
        entry
            .map(Self)
            .ok_or_else(|| unknown_name("reconstruction", &name, RECONSTRUCTIONS.iter().map(|entry| entry.name)))
    }
}

impl From<Reconstruction> for &'static str {
    fn from(reconstruction: Reconstruction) -> Self {
        reconstruction.0.name
    }
}
