//! QLAE, the quantised-latent autoencoder (Hsu et al. 2023, section 3): an autoencoder whose every latent takes one of a few learned
//! values of its own, with strong weight decay:
//!
//! `reconstruction + weight_quantisation * |sg(z) - v|^2 + weight_commitment * |z - sg(v)|^2`,
//!
//! with `z` the encoder's outputs, `v` the nearest value of each latent and `sg` what is a constant for the gradient. The decoder sees
//! `v`; its gradient goes to `z` as if they were the same (straight through). So the codebooks learn from the quantisation loss alone,
//! the encoder from the two others. Both of these parts have the same value: they differ in what they teach.
//!
//! Parts and gradients are those that PyTorch computes (`reference/objectives`).
//!
//! As in the published code (github.com/kylehkhsu/latent_quantization): values begin evenly spread over -1/2 to 1/2; means over pixels
//! and over latents, which the weights of 0.01 belong to; weight decay is decoupled, of weights alone, and spares biases and
//! codebooks. AdamW as it usually comes decays these as well, so that values would be pulled together at 0; here decay is a setting of the
//! framework, and the optimiser Adam. Departures: that code also clips each number of a gradient to 1, which means over pixels never
//! reach; its reconstruction loss is `bce`, ours the squared error unless told.

use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::posteriors::{Family, Posterior, QuantisedPoints};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

const MOST_VALUES: usize = 1000;
/// Where the step size is 0.1, weights would be gone after a single step.
const MOST_DECAY: f64 = 10.0;

/// Settings and objective. The defaults are those of the paper and its code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Qlae {
    /// How many values each latent has.
    pub values: usize,
    /// The weight of the quantisation loss.
    pub weight_quantisation: Schedule,
    /// The weight of the commitment loss.
    pub weight_commitment: Schedule,
    /// The share of the weights that is taken away at each step, times the step size.
    pub weight_decay: Schedule,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for Qlae {
    fn default() -> Self {
        Self {
            values: 10,
            weight_quantisation: Schedule::Constant(0.01),
            weight_commitment: Schedule::Constant(0.01),
            weight_decay: Schedule::Constant(0.1),
            reconstruction: Reconstruction::default(),
            reduction: Reduction::Mean,
        }
    }
}

impl Qlae {
    fn check(self) -> Result<Self> {
        self.weight_quantisation.check("weight_quantisation", 0.0, MOST_WEIGHT)?;
        self.weight_commitment.check("weight_commitment", 0.0, MOST_WEIGHT)?;
        self.weight_decay.check("weight_decay", 0.0, MOST_DECAY)?;
        check_range("values", self.values, 2, MOST_VALUES)?;
        Ok(self)
    }

    fn family(&self) -> QuantisedPoints {
        QuantisedPoints { values: self.values }
    }
}

impl Framework for Qlae {
    fn posterior(&self) -> Box<dyn Family> {
        Box::new(self.family())
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn weight_decay(&self, step: u64) -> f64 {
        self.weight_decay.at(step)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "quantisation", "commitment"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let quantised = self.family().quantise(&model.parameters, model.encoder_outputs(images.clone()));
        let outputs = model.decode(quantised.sample(noise));
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let (continuous, values) = (quantised.outputs, quantised.values); // [batch, latents]
        let of_codebooks = (continuous.clone().detach() - values.clone()).powi_scalar(2).sum_dim(1);
        let of_encoder = (continuous - values.detach()).powi_scalar(2).sum_dim(1);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with(
                "quantisation",
                self.reduction.reduce_sums(of_codebooks, model.latents()),
                self.weight_quantisation.at(batch.step),
            )
            .with(
                "commitment",
                self.reduction.reduce_sums(of_encoder, model.latents()),
                self.weight_commitment.at(batch.step),
            )
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "qlae",
    about: "autoencoder whose every latent takes one of a few learned values, with strong weight decay",
    paper: "Hsu et al. 2023, Disentanglement via latent quantization",
    settings: &[
        Setting {
            name: "values",
            values: Values::Whole(2, MOST_VALUES as u64),
            meaning: "how many values each latent can take",
        },
        Setting {
            name: "weight_quantisation",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the distance of values from encoder outputs, which teaches the values",
        },
        Setting {
            name: "weight_commitment",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the distance of encoder outputs from values, which teaches the encoder",
        },
        Setting {
            name: "weight_decay",
            values: Values::Schedule(0.0, MOST_DECAY),
            meaning: "pull of weights (not biases, not values) towards 0: this share of them, times the step size",
        },
        RECONSTRUCTION,
        Setting {
            name: "reduction",
            values: Values::OneOf(&["sum", "mean"]),
            meaning: "whether pixels and latents are summed, or averaged, as the weights of the paper take it",
        },
    ],
    example: "values = 5",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<Qlae>(table)?.check()?)),
    complete: settings::complete::<Qlae>,
};
