//! Perceptual loss (Hou et al. 2017, Deep feature consistent VAE, section 3.2): an image and its reconstruction are compared by what the
//! hidden layers of a frozen encoder make of them.
//!
//! A layer of `n` numbers (`C W H` in the paper) adds `1 / (2 n)` times the squared differences, and all layers count alike. The paper's
//! network is VGG-19, learned from ImageNet; here it is the encoder of another run, whose folder is `features`.
//!
//! The paper's loss is a mean over a layer's numbers, where our other losses are sums over pixels. So it is multiplied by the number of
//! pixels: with `reduction = "mean"` it is the paper's number, and a beta means the same beside this loss as beside squared error.
//! The pixels' squared error can be added (`pixel_weight`), which the paper does not; disent takes half the sum of both.

use std::fmt;
use std::sync::{Arc, OnceLock};

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, ImageShape, Result, settings};

use super::{Compared, Entry, Reconstruction, ReconstructionLoss, mse};
use crate::frameworks::MOST_WEIGHT;
use crate::frozen_encoder::{self, FrozenEncoder, RunPath};
use crate::model::Model;
use crate::ops::PixelLoss;
use crate::parameters::Initialiser;

/// Settings of the loss; the default weights are the paper's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The run whose encoder gives the features.
    pub features: Option<RunPath>,
    /// The weight of the features' difference; the paper's beta.
    pub feature_weight: f64,
    /// The weight of the pixels' squared error.
    pub pixel_weight: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { features: None, feature_weight: 0.5, pixel_weight: 0.0 }
    }
}

/// The loss; its encoder is read when a model is made.
pub struct Perceptual {
    settings: Settings,
    encoder: OnceLock<FrozenEncoder>,
}

/// The two parts of the loss of each image, before weighting, `[batch, 1]` each.
pub struct PerceptualParts {
    /// Half the mean squared difference of each layer's features, summed over layers, times the number of pixels.
    pub features: Tensor<2>,
    /// Squared error, summed over pixels.
    pub pixels: Tensor<2>,
}

impl Perceptual {
    /// Checks the weights.
    pub fn new(settings: Settings) -> Result<Self> {
        let weights = [("feature_weight", settings.feature_weight), ("pixel_weight", settings.pixel_weight)];
        for (name, weight) in weights {
            check_range(name, weight, 0.0, MOST_WEIGHT)?;
        }
        Ok(Self { settings, encoder: OnceLock::new() })
    }

    /// As the reconstruction loss of a framework that keeps a hand on it.
    pub fn as_reconstruction(self: &Arc<Self>) -> Reconstruction {
        Reconstruction { entry: &ENTRY, loss: self.clone(), settings: settings::as_table(&self.settings) }
    }

    /// Both parts, from the decoder's outputs and the images, `[batch, pixels]` both.
    pub fn parts(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> PerceptualParts {
        let encoder = self.encoder.get().expect("a model was made, and the encoder read");
        let n_pixels = images.dims()[1];
        let of_outputs = encoder.features(&model.parameters, outputs.clone());
        let of_images = encoder.features(&model.parameters, images.clone());
        let layers = of_outputs.into_iter().zip(of_images).map(|(found, wanted)| {
            let n_numbers = found.dims()[1];
            mse::squared_errors(model, found, wanted) * (n_pixels as f64 / (2 * n_numbers) as f64)
        });
        let features = layers.reduce(|sum, layer| sum + layer).expect("an encoder has at least one layer");
        PerceptualParts { features, pixels: mse::squared_errors(model, outputs, images) }
    }
}

impl ReconstructionLoss for Perceptual {
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        let PerceptualParts { features, pixels } = self.parts(model, outputs, images);
        features * self.settings.feature_weight + pixels * self.settings.pixel_weight
    }

    /// Features and pixels side by side, each times the root of its weight.
    fn compared(&self, model: &Model, images: Tensor<2>) -> Compared {
        let encoder = self.encoder.get().expect("a model was made, and the encoder read");
        let n_pixels = images.dims()[1];
        let mut numbers = vec![images.clone() * self.settings.pixel_weight.sqrt()];
        for layer in encoder.features(&model.parameters, images) {
            let weight = self.settings.feature_weight * n_pixels as f64 / (2 * layer.dims()[1]) as f64;
            numbers.push(layer * weight.sqrt());
        }
        let numbers = Tensor::cat(numbers, 1); // [batch, pixels and features]
        Compared { outputs: numbers.clone(), images: numbers, loss: PixelLoss::SquaredError }
    }

    fn initialise(&self, image_shape: ImageShape, initialiser: &mut Initialiser) -> Result<()> {
        let encoder = FrozenEncoder::read(self.settings.features.as_ref(), image_shape, initialiser)?;
        self.encoder.set(encoder).map_err(|_| Error::new("a perceptual loss belongs to one model, and has one"))
    }
}

impl fmt::Debug for Perceptual {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(formatter)
    }
}

/// The weight of the features' difference.
pub const FEATURE_WEIGHT: Setting = Setting {
    name: "feature_weight",
    values: Values::Number(0.0, MOST_WEIGHT),
    meaning: "weight of the features' squared differences",
};

/// The weight of the pixels' squared error.
pub const PIXEL_WEIGHT: Setting = Setting {
    name: "pixel_weight",
    values: Values::Number(0.0, MOST_WEIGHT),
    meaning: "weight of the pixels' squared error, which the paper does without",
};

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "perceptual",
    about: "squared differences of what the hidden layers of another run's encoder make of image and reconstruction",
    paper: "Hou et al. 2017, Deep feature consistent variational autoencoder",
    settings: &[frozen_encoder::SETTING, FEATURE_WEIGHT, PIXEL_WEIGHT],
    example: "features = 'features'",
    wants_unit_pixels: false,
    build: |table| Ok(Box::new(Perceptual::new(settings::read(table)?)?)),
    complete: settings::complete::<Settings>,
};
