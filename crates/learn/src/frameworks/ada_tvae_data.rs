//! Ada-TVAE without supervision (T1 section 5.5): a beta-VAE on single images, with the adaptive triplet loss of Ada-TVAE
//! ([`super::ada_tvae`]) on triplets that are drawn from the batch and ordered by perceived distance (T1 eq 5.24). Minimised is
//!
//! `reconstruction + beta KL + alpha adaptive triplet`.
//!
//! At each step `triplets` triples of the batch's images are drawn, each image of each with replacement, as disent does: T1 says that they are
//! random, and one image twice in a triple is rare. Of the last two images the one that is closer to the first is the positive; where both are
//! as close, they stay as drawn (T1 eq 5.3). How far apart two images are is what a reconstruction loss gives for a decoder that draws
//! the first where the second is wanted (`perceived`; left out, the framework's own). For `bce` the first one's pixels become logits, at most
//! 100 from 0, as in PyTorch's cross-entropy of probabilities. Distances are compared in `f64`, so that images that differ in
//! as many pixels, between the same two values, are ties. They are constants for the gradient.
//!
//! The defaults are T1's (table A.5): 512 triplets, the smaller of its two, the rest as in Ada-TVAE. No better than its distances are its latents:
//! of `xy_squares` of spacing 8, `mse` tells how many squares have moved, and not how far.
//!
//! The order is held against a plain computation, the triplet loss against PyTorch (`objectives.rs`), the other parts are worked by hand (`loss_parts_of_members.rs`). disent's `DataOverlapTripletVae` can also
//! choose hard triplets, by comparing distances of images with a margin of codes, which are in other units; we leave that out.

use burn::tensor::{Int, Tensor, TensorData};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::adaptive::{Distance as ThresholdDistance, shared_latents};
use crate::adaptive_triplet::{self, AdaptiveSchedule, DEFAULT_ETA, DEFAULT_OMEGA, DEFAULT_SCHEDULE_STEPS, weighted};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::{DiagonalGaussian, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::triplet::{self, DEFAULT_MARGIN, Distance, Triplet, to_decoder};

/// A bound that nobody needs.
const MOST_TRIPLETS: usize = 65_536;

/// Settings and objective. The defaults are T1's (table A.5).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaTvaeData {
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
    /// How many triplets are drawn from a batch.
    pub triplets: usize,
    /// The loss by which images are far apart; the reconstruction loss where there is none.
    pub perceived: Option<Reconstruction>,
    /// Whether the gradient of the reconstruction reaches the encoder.
    pub decoder_gradient: bool,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for AdaTvaeData {
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
            triplets: 512,
            perceived: None,
            decoder_gradient: true,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::Mean,
        }
    }
}

impl AdaTvaeData {
    fn check(self) -> Result<Self> {
        self.beta.check("beta", 0.0, MOST_WEIGHT)?;
        self.alpha.check("alpha", 0.0, MOST_WEIGHT)?;
        self.triplet.check(&self.margin)?;
        self.schedule.check(self.schedule_steps, &self.omega, &self.eta)?;
        check_range("triplets", self.triplets, 1, MOST_TRIPLETS)?;
        Ok(self)
    }

    /// Which of the batch's images are anchors, positives and negatives, `[triplets]` each.
    fn draw_triplets(&self, model: &Model, images: &Tensor<2>, noise: &mut Rng) -> [Vec<usize>; 3] {
        let n_images = images.dims()[0];
        let mut triplets: [Vec<usize>; 3] =
            std::array::from_fn(|_| (0..self.triplets).map(|_| noise.random_range(0..n_images)).collect());
        let [anchors, firsts, seconds] = &triplets;
        let with_anchors = |others: &[usize]| -> Vec<[usize; 2]> {
            anchors.iter().zip(others).map(|(&anchor, &other)| [anchor, other]).collect()
        };
        let pairs = [with_anchors(firsts), with_anchors(seconds)].concat();
        let distances = match &self.perceived {
            Some(perceived) => perceived.between_images(&model.perceiving(), images, &pairs),
            None => self.reconstruction.between_images(model, images, &pairs),
        };
        let [_, positives, negatives] = &mut triplets;
        for (index, (positive, negative)) in positives.iter_mut().zip(negatives).enumerate() {
            if distances[index] > distances[self.triplets + index] {
                std::mem::swap(positive, negative);
            }
        }
        triplets
    }
}

impl Framework for AdaTvaeData {
    fn least_batch(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn perceived(&self) -> Option<&Reconstruction> {
        self.perceived.as_ref()
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "triplet", "shared", "omega", "eta"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(to_decoder(posterior.sample(noise), self.decoder_gradient)); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images.clone());

        let triplets = self.draw_triplets(model, &images, noise);
        let [anchor, positive, negative] = triplets.map(|rows| rows_of(&posterior, &rows)); // [triplets, latents] each
        let [omega, eta] = self.schedule.at(batch.step, self.schedule_steps, &self.omega, &self.eta);
        let shared = shared_latents(self.threshold_distance.between(&anchor, &negative), eta); // [triplets, latents]
        let to_positive = self.distance.of(anchor.mean.clone() - positive.mean); // [triplets, 1]
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

/// The posteriors of some images, as often as they are named.
fn rows_of(posterior: &DiagonalGaussian, rows: &[usize]) -> DiagonalGaussian {
    let numbers: Vec<i32> = rows.iter().map(|row| *row as i32).collect();
    let rows = Tensor::<1, Int>::from_data(TensorData::new(numbers, [rows.len()]), &posterior.mean.device());
    DiagonalGaussian {
        mean: posterior.mean.clone().select(0, rows.clone()),
        log_variance: posterior.log_variance.clone().select(0, rows),
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_tvae_data",
    about: "ada_tvae without supervision: triplets from the batch, ordered by how far apart images look",
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
        Setting {
            name: "triplets",
            values: Values::Whole(1, MOST_TRIPLETS as u64),
            meaning: "how many triplets are drawn from a batch",
        },
        Setting {
            name: "perceived",
            meaning: "loss by which two images are far apart; the reconstruction loss where left out",
            ..RECONSTRUCTION
        },
        triplet::DECODER_GRADIENT,
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "schedule = 'custom'\ntriplets = 8",
    samplers: &["single"],
    as_long_as_the_run: adaptive_triplet::as_long_as_the_run,
    build: |table| Ok(Box::new(settings::read::<AdaTvaeData>(table)?.check()?)),
    complete: settings::complete::<AdaTvaeData>,
};
