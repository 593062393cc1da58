//! TAE, a triplet auto-encoder: an auto-encoder on triplets of images whose codes are asked to be in the images' order. Minimised is
//!
//! `mean over the three images of the reconstruction + alpha triplet`,
//!
//! which is beta-TVAE ([`super::beta_tvae`]; T1 eq 5.12) with codes that are points, and so without KL. Triplet loss, margin, distance and
//! reduction are as there, and so are the defaults. Without `decoder_gradient` the decoder sees constant latents, and the encoder learns from
//! triplets alone: plain metric learning, with a decoder that looks on.
//!
//! Parts are worked by hand in `loss_parts_of_members.rs`. disent has a TAE as well, with the overflowing soft loss.

use serde::{Deserialize, Serialize};
use unbraid_data::{Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::members::members;
use crate::model::Model;
use crate::ops;
use crate::posteriors::{Deterministic, Family};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::triplet::{self, DEFAULT_MARGIN, Distance, Triplet, to_decoder};

/// Settings and objective. The defaults are those of T1's Ada-TVAE (table A.5).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Tae {
    /// The weight of the triplet loss.
    pub alpha: Schedule,
    /// Which triplet loss.
    pub triplet: Triplet,
    /// The margin of a hard triplet loss.
    pub margin: Schedule,
    /// How far apart two codes are.
    pub distance: Distance,
    /// Whether the gradient of the reconstruction reaches the encoder.
    pub decoder_gradient: bool,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels.
    pub reduction: Reduction,
}

impl Default for Tae {
    fn default() -> Self {
        Self {
            alpha: Schedule::Constant(1.0),
            triplet: Triplet::default(),
            margin: DEFAULT_MARGIN,
            distance: Distance::default(),
            decoder_gradient: true,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::Mean,
        }
    }
}

impl Tae {
    fn check(self) -> Result<Self> {
        self.alpha.check("alpha", 0.0, MOST_WEIGHT)?;
        self.triplet.check(&self.margin)?;
        Ok(self)
    }
}

impl Framework for Tae {
    fn arity(&self) -> usize {
        3
    }

    fn posterior(&self) -> Box<dyn Family> {
        Box::new(Deterministic)
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "triplet"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, _noise: &mut Rng) -> Losses {
        // All members go through the network as one batch: anchors, positives, negatives.
        let images = batch.images(); // [3 * batch, pixels]
        let codes = model.encode(images.clone()).code(); // [3 * batch, latents]
        let outputs = model.decode(to_decoder(codes.clone(), self.decoder_gradient)); // [3 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let [anchor, positive, negative] = members(&codes); // [batch, latents] each
        let to_positive = self.distance.of(anchor.clone() - positive); // [batch, 1]
        let to_negative = self.distance.of(anchor - negative);
        let triplet = ops::mean(self.triplet.loss(to_positive, to_negative, self.margin.at(batch.step)));
        Losses::new().with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0).with(
            "triplet",
            triplet,
            self.alpha.at(batch.step),
        )
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "tae",
    about: "auto-encoder on triplets, with a triplet loss on codes",
    paper: "Michlo 2022 (T1), Disentanglement using VAEs resembles distance learning",
    settings: &[
        triplet::ALPHA,
        triplet::TRIPLET,
        triplet::MARGIN,
        triplet::DISTANCE,
        triplet::DECODER_GRADIENT,
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "",
    samplers: &["triplet"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<Tae>(table)?.check()?)),
    complete: settings::complete::<Tae>,
};
