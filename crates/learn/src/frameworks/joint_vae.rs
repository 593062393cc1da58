//! JointVAE (Dupont 2018): a VAE with Gaussian latents and with discrete variables, `reconstruction + gamma |KL_z - C_z| + gamma
//! |KL_c - C_c|`. The capacities `C_z` of the Gaussian latents and `C_c` of the classes grow with the steps, so that both are used:
//! held by one capacity, the Gaussian latents would take all of it.
//!
//! `[model] latents` counts Gaussian latents and classes together, the classes last. The discrete variables are drawn from Concrete
//! distributions (`posteriors/gaussian_concrete.rs`), codes hold the probabilities of their classes, and a traversal steps from class
//! to class. No discrete variable can tell more than the logarithm of its number of classes, so that `C_c` ends at the sum of those,
//! as in the published code. As there, the divergences are means over the batch before they are compared with the capacities, which ask
//! nothing of a single image, and that of the classes is the categorical one. The published code has a gamma for
//! each kind, and gives both the same value in every run; it counts its steps from 1 where we count from 0.
//!
//! Parts and gradients are those that PyTorch computes (`reference/objectives`); the divergence of the classes is held against quadrature.

use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_NATS, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::{Family, GaussianConcretes, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::{Change, Schedule, Shape};
use crate::state::State;

const MOST_CLASSES: usize = 1000;
const LEAST_TEMPERATURE: f64 = 0.01;
const MOST_TEMPERATURE: f64 = 100.0;

/// Settings and objective. The defaults are the paper's for dSprites, which has 6 Gaussian latents beside its 3 classes; the paper's
/// reconstruction loss is cross-entropy.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct JointVae {
    /// The weight of the distances from both capacities.
    pub gamma: Schedule,
    /// `C_z`, the KL divergence that the Gaussian latents are to have together.
    pub capacity_continuous: Schedule,
    /// `C_c`, the KL divergence that the discrete variables are to have together.
    pub capacity_discrete: Schedule,
    /// How many classes each discrete variable has.
    pub classes: Vec<usize>,
    /// The temperature of the Concrete draws.
    pub temperature: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, as in the published code, so that gamma
    /// means the same in both.
    pub reduction: Reduction,
}

impl Default for JointVae {
    fn default() -> Self {
        let rising =
            |to: f64| Schedule::Change(Change { from: 0.0, to, steps: 300_000, start: 0, shape: Shape::Linear });
        Self {
            gamma: Schedule::Constant(150.0),
            capacity_continuous: rising(40.0),
            capacity_discrete: rising(1.1),
            classes: vec![3],
            temperature: 0.67,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl JointVae {
    fn check(self) -> Result<Self> {
        self.gamma.check("gamma", 0.0, MOST_WEIGHT)?;
        self.capacity_continuous.check("capacity_continuous", 0.0, MOST_NATS)?;
        self.capacity_discrete.check("capacity_discrete", 0.0, MOST_NATS)?;
        let is_none = self.classes.is_empty();
        if is_none || self.classes.iter().any(|n_classes| !(2..=MOST_CLASSES).contains(n_classes)) {
            return Err(Error::new(format!("setting \"classes\" is {:?}", self.classes))
                .help(format!("wanted 2 to {MOST_CLASSES} classes for each discrete variable, like [3] or [10, 2]")));
        }
        check_range("temperature", self.temperature, LEAST_TEMPERATURE, MOST_TEMPERATURE)?;
        Ok(self)
    }

    fn family(&self) -> GaussianConcretes {
        GaussianConcretes { classes: self.classes.clone(), temperature: self.temperature }
    }

    /// The capacity of the discrete variables, which is not above what they can tell.
    fn capacity_discrete_at(&self, step: u64) -> f64 {
        let most = self.classes.iter().map(|&n_classes| (n_classes as f64).ln()).sum::<f64>();
        self.capacity_discrete.at(step).min(most)
    }
}

impl Framework for JointVae {
    fn posterior(&self) -> Box<dyn Family> {
        Box::new(self.family())
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl_continuous", "kl_discrete", "capacity_continuous", "capacity_discrete"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = self.family().gaussian_concrete(&model.encoder_outputs(images.clone()));
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let kl_continuous = ops::mean(posterior.gaussian.kl()); // summed over latents in both reductions, as capacities are
        let kl_discrete = ops::mean(posterior.kl_of_classes().sum_dim(1));
        let capacity_continuous = self.capacity_continuous.at(batch.step);
        let capacity_discrete = self.capacity_discrete_at(batch.step);
        let n_terms = self.reduction.divisor(n_pixels);
        let gamma = self.gamma.at(batch.step) / n_terms;
        let number = |value: f64| model.parameters.tensor(vec![value as f32], [1]);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with_term("kl_continuous", kl_continuous.clone(), (kl_continuous - capacity_continuous).abs() * gamma)
            .with_term("kl_discrete", kl_discrete.clone(), (kl_discrete - capacity_discrete).abs() * gamma)
            .with_logged("capacity_continuous", number(capacity_continuous))
            .with_logged("capacity_discrete", number(capacity_discrete))
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "joint_vae",
    about: "VAE with Gaussian latents and discrete variables, whose KL divergences follow two growing capacities",
    paper: "Dupont 2018, Learning disentangled joint continuous and discrete representations",
    settings: &[
        Setting {
            name: "gamma",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the distances of the KL divergences from their capacities",
        },
        Setting {
            name: "capacity_continuous",
            values: Values::Schedule(0.0, MOST_NATS),
            meaning: "the KL divergence that the Gaussian latents are to have, summed over them",
        },
        Setting {
            name: "capacity_discrete",
            values: Values::Schedule(0.0, MOST_NATS),
            meaning: "the KL divergence that the discrete variables are to have; ends at the sum of ln(classes)",
        },
        Setting {
            name: "classes",
            values: Values::Words("a list of 2 to 1000 for each variable, like [3]"),
            meaning: "how many classes each discrete variable has; [model] latents counts them too",
        },
        Setting {
            name: "temperature",
            values: Values::Number(LEAST_TEMPERATURE, MOST_TEMPERATURE),
            meaning: "temperature of the Concrete draws: the lower, the nearer to a single class",
        },
        RECONSTRUCTION,
        WHOLE_REDUCTION,
    ],
    example: "classes = [2]\ngamma = 3.0\ncapacity_continuous = 5.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<JointVae>(table)?.check()?)),
    complete: settings::complete::<JointVae>,
};
