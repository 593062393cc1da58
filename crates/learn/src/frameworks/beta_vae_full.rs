//! beta-VAE with a full covariance matrix (T4 3.2.7, eq 3.30 and 3.31): the objective of beta-VAE, whose posterior may be turned
//! any way in the space of latents. T4 shows with it that the diagonal covariance is what aligns latents with principal directions.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::beta_vae::{PARTS, evidence_bound};
use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::posteriors::{Family, FullGaussians};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Settings and objective. The default beta is that of beta-VAE, as in T4 table 3.1 for dSprites.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BetaVaeFull {
    /// The weight of the KL divergence.
    pub beta: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for BetaVaeFull {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(4.0),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl Framework for BetaVaeFull {
    fn posterior(&self) -> Box<dyn Family> {
        Box::new(FullGaussians)
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        PARTS
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let beta = self.beta.at(batch.step);
        evidence_bound(model, batch.members[0].images.clone(), &self.reconstruction, self.reduction, beta, noise)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "beta_vae_full",
    about: "beta-VAE whose posterior has a full covariance matrix",
    paper: "Zietlow 2022, An analysis of the inner workings of variational autoencoders",
    settings: &[BETA, RECONSTRUCTION, REDUCTION],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| {
        let framework: BetaVaeFull = settings::read(table)?;
        framework.beta.check("beta", 0.0, MOST_WEIGHT)?;
        Ok(Box::new(framework))
    },
    complete: settings::complete::<BetaVaeFull>,
};
