//! Plain auto-encoder: reconstruction alone, with a deterministic code.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::{Batch, Entry, Framework, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::posterior::PosteriorKind;
use crate::reconstruction::Reconstruction;

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
    fn posterior(&self) -> PosteriorKind {
        PosteriorKind::Deterministic
    }

    fn reconstruction(&self) -> Reconstruction {
        self.reconstruction
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _noise: &mut Rng) -> Losses {
        let images = batch.members[0].clone(); // [batch, pixels]
        let outputs = model.decode(model.encode_point(images.clone()));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(outputs, images);
        Losses::new().with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "ae",
    about: "auto-encoder: reconstruction alone",
    paper: "Hinton and Salakhutdinov 2006, Reducing the dimensionality of data with neural networks",
    settings: &[RECONSTRUCTION, REDUCTION],
    sampler: "single",
    build: |table| Ok(Box::new(settings::read::<Ae>(table)?)),
    complete: settings::complete::<Ae>,
};
