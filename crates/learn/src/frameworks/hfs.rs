//! HFS, Hausdorff factorised support (Roth et al. 2023): a beta-VAE plus gamma times the distance of the codes' support from a product.
//!
//! Factors that are correlated still come in (nearly) all combinations, so the paper asks for codes whose support is a product, and
//! leaves their distribution alone. For each pair of latents `i < j` the batch's codes give all combinations `(z_ai, z_bj)`; the part
//! is the sum over pairs of Hausdorff's distance from these to the codes themselves,
//!
//! `sum_(i < j) max_(a, b) min_k (z_ai - z_ki)^2 + (z_bj - z_kj)^2`,
//!
//! 0 where every combination is there. Codes are the posterior means and distances are squared, as in the published code
//! (github.com/facebookresearch/disentangling-correlated-factors, the matching "hausdorff_hard"). The points that the largest and the
//! least are taken at are found on plain numbers (`hausdorff.rs`), and the gradient is that of the distances between them.
//!
//! Parts and gradients are those that PyTorch computes (`reference/objectives`); a search through all combinations finds the same points.
//!
//! Departures: all pairs are summed, as the paper writes it; its code draws 25 of them at each step and sums these, so that of 10 latents a
//! gamma there is one 25/45 as large here. Its regulariser of the latents' scale is off by default and left out: beta keeps the
//! latents from shrinking, which would lower the distance as well.

use burn::tensor::{Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::hausdorff::farthest_combinations;
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::Posterior;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::floats;

/// Settings and objective. The defaults are those of the published code; the paper searches beta from 0 to 16 and gamma from 0.1 to 10,000.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Hfs {
    /// The weight of the KL divergence.
    pub beta: Schedule,
    /// The weight of the support's distance from a product.
    pub gamma: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for Hfs {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(1.0),
            gamma: Schedule::Constant(1.0),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl Hfs {
    fn check(self) -> Result<Self> {
        self.beta.check("beta", 0.0, MOST_WEIGHT)?;
        self.gamma.check("gamma", 0.0, MOST_WEIGHT)?;
        Ok(self)
    }
}

impl Framework for Hfs {
    fn least_batch(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "support"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let per_image = self.reconstruction.per_image(model, outputs, images);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with("support", distance_from_product(posterior.mean), self.gamma.at(batch.step))
    }
}

/// The sum over pairs of latents of the squared distance between the combination of two codes' latents that is farthest from all
/// codes, and the code nearest to it, `[1]`, of codes `[batch, latents]`.
fn distance_from_product(codes: Tensor<2>) -> Tensor<1> {
    let [batch, latents] = codes.dims();
    let found = farthest_combinations(&floats(codes.clone()), latents);
    if found.is_empty() {
        return ops::sum(codes * 0.0);
    }
    let at = |code: usize, latent: usize| (code * latents + latent) as i32;
    let combinations =
        found.iter().flat_map(|found| [at(found.combined.0, found.pair.0), at(found.combined.1, found.pair.1)]);
    let nearest = found.iter().flat_map(|found| [at(found.nearest, found.pair.0), at(found.nearest, found.pair.1)]);
    let positions: Vec<i32> = combinations.chain(nearest).collect();
    let n_each = positions.len() / 2;
    let positions: Tensor<1, Int> = Tensor::from_data(TensorData::new(positions, [2 * n_each]), &codes.device());
    let chosen = codes.reshape([batch * latents]).select(0, positions); // [2 * n_each]
    ops::sum((chosen.clone().narrow(0, 0, n_each) - chosen.narrow(0, n_each, n_each)).powi_scalar(2))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "hfs",
    about: "beta-VAE + gamma * Hausdorff distance of the codes from all combinations of their latents",
    paper: "Roth et al. 2023, Disentanglement of correlated factors via Hausdorff factorized support",
    settings: &[
        BETA,
        Setting {
            name: "gamma",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the distance of the codes' support from a product, summed over pairs of latents",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "gamma = 1.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<Hfs>(table)?.check()?)),
    complete: settings::complete::<Hfs>,
};
