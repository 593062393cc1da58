//! beta-TVAE (T1 eq 5.12; after Ishfaq et al. 2018): a beta-VAE on triplets of images whose codes are asked to be in the images' order: that of
//! the anchor closer to that of the positive than to that of the negative. Minimised is
//!
//! `mean over the three images of (reconstruction + beta KL) + alpha triplet`,
//!
//! the triplet loss ([`crate::triplet`]) being that of the posteriors' means, not of samples, and a mean over triplets in both reductions. What
//! "closer" means for images is the sampler's to say (T1 section 5.2).
//!
//! The defaults belong together and are T1's (table A.5): means over pixels and latents, beta 0.01, alpha 1, a hard loss with margin 10 and L1.
//! Equation 5.12 is printed with the soft loss; T1 takes the hard one for all further experiments (section 5.3.3), and disent's
//! default too is hard, though with a weight of 100 and L2. In sums over `p` pixels and `d` latents, beta is to be `0.01 p / d` and alpha
//! `p` for the same.
//!
//! Without `decoder_gradient` the decoder sees constant latents, and the encoder learns from KL and triplets alone (T1 figure 5.3b).
//!
//! Parts are worked by hand in `loss_parts_of_members.rs`. disent's soft loss overflows, ours does not.

use serde::{Deserialize, Serialize};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::members::members;
use crate::model::Model;
use crate::ops;
use crate::posteriors::Posterior;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::triplet::{self, DEFAULT_MARGIN, Distance, Triplet, to_decoder};

/// Settings and objective. The defaults are those of T1's Ada-TVAE (table A.5).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BetaTvae {
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
    /// Whether the gradient of the reconstruction reaches the encoder.
    pub decoder_gradient: bool,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for BetaTvae {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(0.01),
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

impl BetaTvae {
    fn check(self) -> Result<Self> {
        self.beta.check("beta", 0.0, MOST_WEIGHT)?;
        self.alpha.check("alpha", 0.0, MOST_WEIGHT)?;
        self.triplet.check(&self.margin)?;
        Ok(self)
    }
}

impl Framework for BetaTvae {
    fn arity(&self) -> usize {
        3
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "triplet"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        // All members go through the network as one batch: anchors, positives, negatives.
        let images = batch.images(); // [3 * batch, pixels]
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(to_decoder(posterior.sample(noise), self.decoder_gradient)); // [3 * batch, pixels]
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let [anchor, positive, negative] = members(&posterior.mean); // [batch, latents] each
        let to_positive = self.distance.of(anchor.clone() - positive); // [batch, 1]
        let to_negative = self.distance.of(anchor - negative);
        let triplet = ops::mean(self.triplet.loss(to_positive, to_negative, self.margin.at(batch.step)));
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with("triplet", triplet, self.alpha.at(batch.step))
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "beta_tvae",
    about: "beta-VAE on triplets, with a triplet loss on codes",
    paper: "Ishfaq et al. 2018, TVAE: triplet-based variational autoencoder using metric learning; T1",
    settings: &[
        BETA,
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
    build: |table| Ok(Box::new(settings::read::<BetaTvae>(table)?.check()?)),
    complete: settings::complete::<BetaTvae>,
};
