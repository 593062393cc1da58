//! Ada-TVAE (T1 eq 5.22): a beta-TVAE ([`super::beta_tvae`]) whose triplet loss is adaptive ([`crate::adaptive_triplet`]; T1 eq 5.16-5.21): the
//! distance of anchor and negative counts less, by omega, in latents that both seem to share. Distances that the triplet loss asks for are
//! then cheapest along few latents, which turns latents to the factors. Minimised is
//!
//! `mean over the three images of (reconstruction + beta KL) + alpha adaptive triplet`.
//!
//! Omega and eta change while training by one of the schedules of T1 table 5.2 ([`AdaptiveSchedule`]). Distances have to be learned before the
//! pressure sets in; one that is strong at once makes training decay (T1 section 5.4.5).
//!
//! The defaults belong together and are T1's (table A.5, section 5.4.6): means over pixels and latents, beta 0.01, alpha 1, a hard loss with
//! margin 10 and L1, the threshold in absolute differences of means, schedule `weight_weak` as long as the run. Equation 5.22 is printed
//! with the soft loss.
//!
//! Threshold, shared latents and weights are worked by hand at each schedule in `adaptive_triplet.rs`, all parts in `loss_parts_of_members.rs`. What is
//! computed is disent's `AdaNegTripletVae`, which also looks at which latents the other two pairs share, and does nothing with it.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::adaptive::{Distance as ThresholdDistance, shared_latents};
use crate::adaptive_triplet::{self, AdaptiveSchedule, DEFAULT_ETA, DEFAULT_OMEGA, DEFAULT_SCHEDULE_STEPS, weighted};
use crate::losses::{Losses, Reduction};
use crate::members::member_posteriors;
use crate::model::Model;
use crate::ops;
use crate::posteriors::Posterior;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::triplet::{self, DEFAULT_MARGIN, Distance, Triplet, to_decoder};

/// Settings and objective. The defaults are T1's (table A.5).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaTvae {
    /// The weight of the KL divergence.
    pub beta: Schedule,
    /// The weight of the triplet loss.
    pub alpha: Schedule,
    /// Which triplet loss.
    pub triplet: Triplet,
    /// The margin of a hard triplet loss.
    pub margin: Schedule,
    /// How far apart two codes are.
    pub distance: Distance,
    /// How far apart two posteriors of a latent are, for the threshold.
    pub threshold_distance: ThresholdDistance,
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
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for AdaTvae {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(0.01),
            alpha: Schedule::Constant(1.0),
            triplet: Triplet::default(),
            margin: DEFAULT_MARGIN,
            distance: Distance::default(),
            threshold_distance: ThresholdDistance::AbsoluteDifference,
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

impl AdaTvae {
    fn check(self) -> Result<Self> {
        self.beta.check("beta", 0.0, MOST_WEIGHT)?;
        self.alpha.check("alpha", 0.0, MOST_WEIGHT)?;
        self.triplet.check(&self.margin)?;
        self.schedule.check(self.schedule_steps, &self.omega, &self.eta)?;
        Ok(self)
    }
}

impl Framework for AdaTvae {
    fn arity(&self) -> usize {
        3
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "triplet", "shared", "omega", "eta"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        // All members go through the network as one batch: anchors, positives, negatives.
        let images = batch.images(); // [3 * batch, pixels]
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(to_decoder(posterior.sample(noise), self.decoder_gradient)); // [3 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let [anchor, positive, negative] = member_posteriors(&posterior);
        let [omega, eta] = self.schedule.at(batch.step, self.schedule_steps, &self.omega, &self.eta);
        let shared = shared_latents(self.threshold_distance.between(&anchor, &negative), eta); // [batch, latents]
        let to_positive = self.distance.of(anchor.mean.clone() - positive.mean); // [batch, 1]
        let to_negative = self.distance.of(weighted(anchor.mean - negative.mean, &shared, omega));
        let triplet = ops::mean(self.triplet.loss(to_positive, to_negative, self.margin.at(batch.step)));
        let logged = |value: f64| Tensor::full([1], value, &triplet.device());
        let (omega, eta) = (logged(omega), logged(eta));
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with("triplet", triplet, self.alpha.at(batch.step))
            .with_logged("shared", ops::mean(shared.float()))
            .with_logged("omega", omega)
            .with_logged("eta", eta)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_tvae",
    about: "beta_tvae in which the negative's distance counts less in latents that seem shared",
    paper: "Michlo 2022 (T1), Disentanglement using VAEs resembles distance learning",
    settings: &[
        BETA,
        triplet::ALPHA,
        triplet::TRIPLET,
        triplet::MARGIN,
        triplet::DISTANCE,
        adaptive_triplet::THRESHOLD_DISTANCE,
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
    build: |table| Ok(Box::new(settings::read::<AdaTvae>(table)?.check()?)),
    complete: settings::complete::<AdaTvae>,
};
