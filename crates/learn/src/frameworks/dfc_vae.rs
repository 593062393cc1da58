//! DFC-VAE (Hou et al. 2017, Deep feature consistent VAE, section 3): a VAE whose reconstructions are compared with the images by the
//! features of a frozen encoder, `reconstruction/perceptual.rs`. The objective is `alpha KL + beta` times the sum over layers of
//! `1 / (2 C W H)` times the squared differences of the features; the paper's alpha is `beta` here, its beta `feature_weight`.
//!
//! The encoder is that of another run (`features`), where the paper takes VGG-19: no weights are downloaded. A gradient passes
//! through it to the decoder, and its weights stay as they are. Its features are smaller than those of VGG-19 with pixels up to
//! 255, so the paper's weights are a place to start from, no more. A step takes 1.7 times as long as one of `beta_vae` (both with
//! `conv64`, a batch of 64; `unbraid bench frameworks`).
//!
//! How we know: the paper's formula has two halves, `1 / (2 C W H)` and its beta of 0.5, and so have we; the authors' code has one of them
//! (`0.5` times the mean squared difference), and no pixel loss. disent adds the pixels' squared error, averages both, and fails for losses
//! summed over pixels. `loss_parts.rs` works the formula out by hand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, REDUCTION};
use crate::frozen_encoder::{self, RunPath};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::reconstruction::Reconstruction;
use crate::reconstruction::perceptual::{self, Perceptual, PerceptualParts};
use crate::schedule::Schedule;
use crate::state::State;

/// Settings of the framework; the default weights are the paper's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The run whose encoder gives the features.
    pub features: Option<RunPath>,
    /// The weight of the features' difference. No schedule: the losses that a run saves are made with it, too.
    pub feature_weight: f64,
    /// The weight of the pixels' squared error.
    pub pixel_weight: f64,
    /// The weight of the KL divergence; the paper's alpha.
    pub beta: Schedule,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for Settings {
    fn default() -> Self {
        let perceptual::Settings { features, feature_weight, pixel_weight } = perceptual::Settings::default();
        Self { features, feature_weight, pixel_weight, beta: Schedule::Constant(1.0), reduction: Reduction::default() }
    }
}

/// Settings and objective.
pub struct DfcVae {
    settings: Settings,
    perceptual: Arc<Perceptual>,
    /// The same loss, both parts together.
    reconstruction: Reconstruction,
}

impl DfcVae {
    /// Checks the weights.
    pub fn new(settings: Settings) -> Result<Self> {
        settings.beta.check("beta", 0.0, MOST_WEIGHT)?;
        let Settings { feature_weight, pixel_weight, .. } = settings;
        let features = settings.features.clone();
        let perceptual = Arc::new(Perceptual::new(perceptual::Settings { features, feature_weight, pixel_weight })?);
        Ok(Self { settings, reconstruction: perceptual.as_reconstruction(), perceptual })
    }
}

impl Framework for DfcVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["features", "pixels", "kl"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let Settings { feature_weight, pixel_weight, beta, reduction, .. } = &self.settings;
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let PerceptualParts { features, pixels } = self.perceptual.parts(model, outputs, images); // [batch, 1] both
        Losses::new()
            .with("features", reduction.reduce_sums(features, n_pixels), *feature_weight)
            .with("pixels", reduction.reduce_sums(pixels, n_pixels), *pixel_weight)
            .with("kl", reduction.reduce_sums(posterior.kl(), model.latents()), beta.at(batch.step))
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "dfc_vae",
    about: "VAE whose reconstructions have the features of the images, as another run's encoder sees them",
    paper: "Hou et al. 2017, Deep feature consistent variational autoencoder",
    settings: &[frozen_encoder::SETTING, perceptual::FEATURE_WEIGHT, perceptual::PIXEL_WEIGHT, BETA, REDUCTION],
    example: "features = 'features'",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(DfcVae::new(settings::read(table)?)?)),
    complete: settings::complete::<Settings>,
};
