//! A beta-VAE whose decoder is asked outright for what T4 (chapter 3) shows that a VAE comes to by its noise alone: latents that move
//! the image in directions orthogonal to each other, locally. T4 section 6.3 wishes for control of it.
//!
//! `reconstruction + beta * KL + weight * mean_(i != j) (J' J)_ij^2`, with `J` the Jacobian of the decoder at the sampled latents,
//! `[pixels, latents]`, of the image that is drawn (after the sigmoid of a loss that has one), as in the metric `dto`.
//!
//! It is held against the dense Jacobian of a known decoder (`estimators.rs`), and against PyTorch (`reference/objectives`).
//!
//! Gradients of gradients are not to be had here, so that columns of `J` are differences, `(draw(z + h e_i) - draw(z)) / h`, of one pair of
//! latents for each image, drawn anew at each step. Every pair is as likely as the other, so the part's expectation is the mean over all
//! pairs; the sum over pairs `i != j` is `latents * (latents - 1)` times as large. `draw(z)` is needed anyway, so that two more images
//! are drawn for each. With `reduction = "mean"` the products in `J' J` are means over pixels.

use burn::tensor::{Tensor, TensorData};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Smaller differences are lost in the rounding of f32; larger ones are no longer local.
const LEAST_STEP: f64 = 1e-4;
const MOST_STEP: f64 = 1.0;

/// Settings and objective. No paper has it, so the defaults are ours.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct VaeOrthogonal {
    /// The weight of the KL divergence.
    pub beta: Schedule,
    /// The weight of the penalty.
    pub weight: Schedule,
    /// How far a latent is moved to see how it moves the image.
    pub step: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for VaeOrthogonal {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(1.0),
            weight: Schedule::Constant(1.0),
            step: 1.0 / 64.0,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl VaeOrthogonal {
    fn check(self) -> Result<Self> {
        self.beta.check("beta", 0.0, MOST_WEIGHT)?;
        self.weight.check("weight", 0.0, MOST_WEIGHT)?;
        check_range("step", self.step, LEAST_STEP, MOST_STEP)?;
        Ok(self)
    }
}

impl Framework for VaeOrthogonal {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "orthogonality"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let [n_images, n_pixels] = images.dims();
        let posterior = model.encode(images.clone());
        let latents = posterior.sample(noise); // [batch, latents]
        let [first, second] = steps_along_pairs(&latents, self.step, noise);
        let places = Tensor::cat(vec![latents.clone(), latents.clone() + first, latents + second], 0);
        let outputs = model.decode(places); // [3 * batch, pixels]
        let per_image = self.reconstruction.per_image(model, outputs.clone().narrow(0, 0, n_images), images);

        let drawn = self.reconstruction.loss.to_image(outputs);
        let at = |place: usize| drawn.clone().narrow(0, place * n_images, n_images); // [batch, pixels]
        let products = (at(1) - at(0)) * (at(2) - at(0)) / (self.step * self.step);
        let products = match self.reduction {
            Reduction::Sum => products.sum_dim(1),
            Reduction::Mean => products.mean_dim(1),
        };
        let orthogonality = products.powi_scalar(2).mean(); // [batch, 1]

        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with("orthogonality", orthogonality, self.weight.at(batch.step))
    }
}

/// Steps of size `step` along two different latents for each image, drawn at random, twice `[batch, latents]`. Where there is one
/// latent alone, the second step is none, and so is the product of both.
fn steps_along_pairs(latents: &Tensor<2>, step: f64, rng: &mut Rng) -> [Tensor<2>; 2] {
    let [batch, n_latents] = latents.dims();
    let mut steps = [vec![0.0; batch * n_latents], vec![0.0; batch * n_latents]];
    for image in 0..batch {
        let first = rng.random_range(0..n_latents);
        steps[0][image * n_latents + first] = step as f32;
        if n_latents > 1 {
            let other = rng.random_range(0..n_latents - 1);
            let second = if other < first { other } else { other + 1 };
            steps[1][image * n_latents + second] = step as f32;
        }
    }
    steps.map(|values| Tensor::from_data(TensorData::new(values, [batch, n_latents]), &latents.device()))
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "vae_orthogonal",
    about: "beta-VAE + weight * how far latents are from moving the image in orthogonal directions",
    paper: "Zietlow 2022, An analysis of the inner workings of variational autoencoders, section 6.3",
    settings: &[
        BETA,
        Setting {
            name: "weight",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the squared products of columns of the decoder's Jacobian, mean over pairs of latents",
        },
        Setting {
            name: "step",
            values: Values::Number(LEAST_STEP, MOST_STEP),
            meaning: "how far a latent is moved to see how it moves the image",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<VaeOrthogonal>(table)?.check()?)),
    complete: settings::complete::<VaeOrthogonal>,
};
