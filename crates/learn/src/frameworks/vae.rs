//! Variational auto-encoder (T1 eq 2.7 with beta 1): reconstruction plus the KL divergence from the prior.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::beta_vae::{PARTS, evidence_bound};
use super::{Batch, Entry, Framework, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::reconstruction::Reconstruction;
use crate::state::State;

/// Settings and objective.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Vae {
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Framework for Vae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        PARTS
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        evidence_bound(model, batch.members[0].images.clone(), &self.reconstruction, self.reduction, 1.0, noise)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "vae",
    about: "variational auto-encoder: reconstruction + KL",
    paper: "Kingma and Welling 2014, Auto-encoding variational Bayes",
    settings: &[RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<Vae>(table)?)),
    complete: settings::complete::<Vae>,
};
