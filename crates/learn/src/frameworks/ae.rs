//! Plain auto-encoder: reconstruction alone, with a deterministic code.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::{Batch, Entry, Framework, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::posteriors::{Deterministic, Family};
use crate::reconstruction::Reconstruction;
use crate::state::State;

/// Settings and objective.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ae {
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels.
    pub reduction: Reduction,
}

impl Framework for Ae {
    fn posterior(&self) -> Box<dyn Family> {
        Box::new(Deterministic)
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, _noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let outputs = model.decode(model.encode(images.clone()).code());
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);
        Losses::new().with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ae",
    about: "auto-encoder: reconstruction alone",
    paper: "Hinton and Salakhutdinov 2006, Reducing the dimensionality of data with neural networks",
    settings: &[RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<Ae>(table)?)),
    complete: settings::complete::<Ae>,
};
