//! Ada-AE (T1 table 5.1, "Adaptive AEs"): an auto-encoder on pairs of images that share some factors. Latents in which both codes are
//! close are taken for shared, and their mean is decoded for both images.
//!
//! Shared are the latents whose distance `|z - z'|` is below `min + eta (max - min)` over the latents of a pair (T1 eq 5.16).
//! T1 recommends eta from 0, where nothing is shared, to 0.5, where the threshold is that of Ada-GVAE. Which latents are shared is not
//! differentiated. disent's AdaAe computes the same.
//!
//! Checked by hand in `loss_parts_of_members.rs`; at eta 0 it is `ae` on all images of the pairs.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::{Batch, Entry, Framework, RECONSTRUCTION, REDUCTION};
use crate::adaptive::{ETA, shared_latents, with_common};
use crate::losses::{Losses, Reduction};
use crate::members::members;
use crate::model::Model;
use crate::ops;
use crate::posteriors::{Deterministic, Family};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::constant;

/// Settings and objective.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaAe {
    /// Where the threshold lies between the smallest (0) and the largest (1) distance.
    pub eta: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels.
    pub reduction: Reduction,
}

impl Default for AdaAe {
    fn default() -> Self {
        Self {
            eta: Schedule::Constant(0.5),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl Framework for AdaAe {
    fn arity(&self) -> usize {
        2
    }

    fn posterior(&self) -> Box<dyn Family> {
        Box::new(Deterministic)
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "shared"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, _noise: &mut Rng) -> Losses {
        // Both members go through the network as one batch; the first half is member 0.
        let images = batch.images(); // [2 * batch, pixels]
        let [first, second] = members(&model.encode(images.clone()).code());
        let distances = (constant(&first) - constant(&second)).abs(); // [batch, latents]
        let shared = shared_latents(distances, self.eta.at(batch.step));
        let share = ops::mean(shared.clone().float());
        let average = (first.clone() + second.clone()) * 0.5;

        let outputs = model.decode(with_common([&first, &second], &average, &shared)); // [2 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with_logged("shared", share)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ada_ae",
    about: "auto-encoder on pairs; latents that seem shared by a pair are averaged",
    paper: "Michlo 2022, table 5.1",
    settings: &[ETA, RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["pair", "temporal", "shared_pair"],
    as_long_as_the_run: |_| None,
    build: |table| {
        let framework: AdaAe = settings::read(table)?;
        framework.eta.check("eta", 0.0, 1.0)?;
        Ok(Box::new(framework))
    },
    complete: settings::complete::<AdaAe>,
};
