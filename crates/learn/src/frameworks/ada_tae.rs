//! Ada-TAE: a triplet auto-encoder ([`super::tae`]) whose triplet loss is adaptive ([`crate::adaptive_triplet`]; T1 eq 5.16-5.21, table 5.1): the
//! distance of anchor and negative counts less, by omega, in latents that both seem to share. Minimised is
//!
//! `mean over the three images of the reconstruction + alpha adaptive triplet`,
//!
//! which is Ada-TVAE ([`super::ada_tvae`]) with codes that are points, and so without KL; the threshold lies in absolute differences of
//! codes, the only distance that points have. Schedules and defaults are as there.
//!
//! Threshold, shared latents and weights are worked by hand at each schedule in `adaptive_triplet.rs`, all parts in `loss_parts_of_members.rs`.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::{Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::adaptive::shared_latents;
use crate::adaptive_triplet::{self, AdaptiveSchedule, DEFAULT_ETA, DEFAULT_OMEGA, DEFAULT_SCHEDULE_STEPS, weighted};
use crate::losses::{Losses, Reduction};
use crate::members::members;
use crate::model::Model;
use crate::ops;
use crate::posteriors::{Deterministic, Family};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::constant;
use crate::triplet::{self, DEFAULT_MARGIN, Distance, Triplet, to_decoder};

/// Settings and objective. The defaults are T1's (table A.5).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaTae {
    /// The weight of the triplet loss.
    pub alpha: Schedule,
    /// Which triplet loss.
    pub triplet: Triplet,
    /// The margin of a hard triplet loss.
    pub margin: Schedule,
    /// How far apart two codes are.
    pub distance: Distance,
    /// How omega and eta change.
    pub schedule: AdaptiveSchedule,
    /// How many steps the change takes.
    pub schedule_steps: u64,
    /// The weight of latents that anchor and negative share, where the schedule is custom.
    pub omega: Schedule,
    /// Where the threshold lies, where the schedule is custom.
    pub eta: Schedule,
    /// Whether the gradient of the reconstruction reaches the encoder.
    pub decoder_gradient: bool,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels.
    pub reduction: Reduction,
}

impl Default for AdaTae {
    fn default() -> Self {
        Self {
            alpha: Schedule::Constant(1.0),
            triplet: Triplet::default(),
            margin: DEFAULT_MARGIN,
            distance: Distance::default(),
            schedule: AdaptiveSchedule::default(),
            schedule_steps: DEFAULT_SCHEDULE_STEPS,
            omega: DEFAULT_OMEGA,
            eta: DEFAULT_ETA,
            decoder_gradient: true,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::Mean,
        }
    }
}

impl AdaTae {
    fn check(self) -> Result<Self> {
        self.alpha.check("alpha", 0.0, MOST_WEIGHT)?;
        self.triplet.check(&self.margin)?;
        self.schedule.check(self.schedule_steps, &self.omega, &self.eta)?;
        Ok(self)
    }
}

impl Framework for AdaTae {
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
        &["reconstruction", "triplet", "shared", "omega", "eta"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, _noise: &mut Rng) -> Losses {
        // All members go through the network as one batch: anchors, positives, negatives.
        let images = batch.images(); // [3 * batch, pixels]
        let codes = model.encode(images.clone()).code(); // [3 * batch, latents]
        let outputs = model.decode(to_decoder(codes.clone(), self.decoder_gradient)); // [3 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let [anchor, positive, negative] = members(&codes); // [batch, latents] each
        let [omega, eta] = self.schedule.at(batch.step, self.schedule_steps, &self.omega, &self.eta);
        let shared = shared_latents((constant(&anchor) - constant(&negative)).abs(), eta); // [batch, latents]
        let to_positive = self.distance.of(anchor.clone() - positive); // [batch, 1]
        let to_negative = self.distance.of(weighted(anchor - negative, &shared, omega));
        let triplet = ops::mean(self.triplet.loss(to_positive, to_negative, self.margin.at(batch.step)));
        let logged = |value: f64| Tensor::full([1], value, &triplet.device());
        let (omega, eta) = (logged(omega), logged(eta));
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("triplet", triplet, self.alpha.at(batch.step))
            .with_logged("shared", ops::mean(shared.float()))
            .with_logged("omega", omega)
            .with_logged("eta", eta)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_tae",
    about: "tae in which the negative's distance counts less in latents that seem shared",
    paper: "Michlo 2022 (T1), Disentanglement using VAEs resembles distance learning",
    settings: &[
        triplet::ALPHA,
        triplet::TRIPLET,
        triplet::MARGIN,
        triplet::DISTANCE,
        adaptive_triplet::SCHEDULE,
        adaptive_triplet::SCHEDULE_STEPS,
        adaptive_triplet::OMEGA,
        adaptive_triplet::ETA,
        triplet::DECODER_GRADIENT,
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "schedule = 'custom'",
    samplers: &["triplet"],
    as_long_as_the_run: adaptive_triplet::as_long_as_the_run,
    build: |table| Ok(Box::new(settings::read::<AdaTae>(table)?.check()?)),
    complete: settings::complete::<AdaTae>,
};
