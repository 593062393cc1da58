//! All that training changes, and one step of it.

use std::sync::Arc;

use burn::tensor::Tensor;
use unbraid_data::{Error, ImageShape, Result, Seed};

use crate::device::Device;
use crate::frameworks::{Batch, Framework, OwnOptimiser};
use crate::losses::{MAIN, Part, column_of_latent};
use crate::model::Model;
use crate::networks::Network;
use crate::optimisers::{Optimiser, changed};
use crate::state::State;
use crate::trained_model::TrainedModel;

/// A model in training: with its optimisers' moments, its framework's state and the number of steps taken.
pub struct Learner {
    /// The model.
    pub model: Model,
    /// What is minimised.
    pub framework: Arc<dyn Framework>,
    optimiser: Box<dyn Optimiser>,
    own_optimisers: Vec<OwnOptimiser>,
    /// For each parameter, each of its optimiser's moments.
    pub(crate) moments: Vec<Vec<Tensor<2>>>,
    pub(crate) state: State,
    pub(crate) steps_taken: u64,
    seed: Seed,
}

/// What a step's loss was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLosses {
    /// The step, counted from 1.
    pub step: u64,
    /// The number that was minimised.
    pub total: f32,
    /// Its parts, before weighting.
    pub parts: Vec<Part>,
}

impl Learner {
    /// Before the first step: a network for images of this shape, whose first weights are drawn from the seed.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use toml::Table;
    /// use unbraid_data::{ImageShape, Seed};
    /// use unbraid_learn::{Batch, Device, Learner, Member, frameworks, networks, optimisers};
    ///
    /// let shape = ImageShape { height: 1, width: 1, channels: 3 };
    /// let network = networks::build("linear", &"latents = 2".parse()?, shape)?;
    /// let framework = frameworks::build("beta_vae", &"beta = 2.0".parse()?)?;
    /// let optimiser = optimisers::build("adam", &Table::new())?;
    /// let mut learner = Learner::new(network, framework, optimiser, shape, Seed(1), Device::cpu())?;
    ///
    /// let images = learner.model.parameters.tensor(vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [2, 3]);
    /// let member = Member { images, numbers: vec![0, 1], factors: Array2::zeros((2, 0)) };
    /// let losses = learner.step(&Batch { step: 0, n_images: 2, members: vec![member], shared: vec![] }, 1e-3)?;
    /// assert_eq!(losses.parts[1].name, "kl");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        network: Box<dyn Network>,
        framework: Box<dyn Framework>,
        optimiser: Box<dyn Optimiser>,
        image_shape: ImageShape,
        seed: Seed,
        device: Device,
    ) -> Result<Self> {
        let framework: Arc<dyn Framework> = Arc::from(framework);
        let (model, state) = Model::new(network, framework.as_ref(), image_shape, seed, device)?;
        let own_optimisers = framework.own_optimisers();
        let mut learner =
            Self { model, framework, optimiser, own_optimisers, moments: Vec::new(), state, steps_taken: 0, seed };
        learner.moments = learner.model.parameters.iter().map(|(name, tensor)| learner.zeros(name, tensor)).collect();
        Ok(learner)
    }

    /// The moments of a parameter before the first step.
    fn zeros(&self, name: &str, parameter: &Tensor<2>) -> Vec<Tensor<2>> {
        let (shape, device) = (parameter.dims(), self.model.parameters.device());
        let zeros = |_: &&str| device.tensor(vec![0.0; shape[0] * shape[1]], shape);
        self.moment_names(name).iter().map(zeros).collect()
    }

    /// How many steps were taken.
    pub fn steps_taken(&self) -> u64 {
        self.steps_taken
    }

    /// The names of the moments of the parameter called `name`; none for one that is fixed.
    pub fn moment_names(&self, name: &str) -> &'static [&'static str] {
        if self.model.parameters.is_fixed(name) {
            return &[];
        }
        let own = self.own_optimisers.iter().find(|own| own.changes(name));
        own.map_or(&self.optimiser, |own| &own.optimiser).moments()
    }

    /// The names of the parts of the loss, in the order in which a step gives them.
    pub fn parts(&self) -> Vec<String> {
        let of_latents = self.framework.parts_of_latents().iter();
        let of_latents =
            of_latents.flat_map(|name| (0..self.model.latents()).map(|latent| column_of_latent(name, latent)));
        self.framework.parts().iter().map(ToString::to_string).chain(of_latents).collect()
    }

    /// What the framework remembers.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The model as it is now, for reading. Nothing is copied, and later steps leave it as it is.
    pub fn trained(&self) -> TrainedModel {
        TrainedModel::new(self.model.frozen(), self.framework.clone())
    }

    /// One step: the loss of the batch, its gradients, and the change of every parameter. Noise comes from the stream
    /// `noise` at this step. A loss that is not finite changes nothing and is an error.
    pub fn step(&mut self, batch: &Batch, learning_rate: f64) -> Result<StepLosses> {
        // On one of the threads that compute: from outside, each operation would be handed over to them and waited for.
        rayon::scope(|_| self.step_on_this_thread(batch, learning_rate))
    }

    fn step_on_this_thread(&mut self, batch: &Batch, learning_rate: f64) -> Result<StepLosses> {
        assert_eq!(batch.step, self.steps_taken, "batches come in the order of the steps");
        let mut noise = self.seed.stream_at("noise", batch.step);
        let mut state = self.state.clone();
        let losses = self.framework.loss(&self.model, batch, &mut state, &mut noise);
        let (total, parts) = losses.read_out();
        let report = StepLosses { step: batch.step + 1, total, parts };
        check_finite(&report)?;

        for OwnOptimiser { network, .. } in &self.own_optimisers {
            let has_objective = losses.objectives().iter().any(|(known, _)| known == network);
            assert!(has_objective, "the loss has nothing for \"{network}\" to minimise: Losses::with_own");
        }
        for (network, objective) in losses.objectives() {
            self.minimise(network, objective, batch.step, learning_rate);
        }
        self.state = state;
        self.steps_taken = report.step;
        Ok(report)
    }

    /// Changes the parameters of a network (of [`MAIN`], all that have no optimiser of their own) by the gradient of an objective.
    fn minimise(&mut self, network: &str, objective: &Tensor<1>, step: u64, learning_rate: f64) {
        let own = self.own_optimisers.iter().find(|own| own.network == network);
        assert!(network == MAIN || own.is_some(), "the framework has no optimiser for \"{network}\"");
        let optimiser = own.map_or(&self.optimiser, |own| &own.optimiser).as_ref();
        let rate = own.map_or(learning_rate, |own| own.learning_rate.at(step)) as f32;
        let belongs: Vec<bool> = self
            .model
            .parameters
            .iter()
            .map(|(name, _)| match own {
                Some(own) => own.changes(name),
                None => !self.own_optimisers.iter().any(|own| own.changes(name)),
            })
            .collect();
        let decay = self.framework.weight_decay(step) as f32;
        let is_of_the_network = |name: &str| name.starts_with("encoder.") || name.starts_with("decoder.");
        let decays = |name: &str| decay > 0.0 && is_of_the_network(name) && name.ends_with(".weight");
        let decays: Vec<bool> = self.model.parameters.iter().map(|(name, _)| decays(name)).collect();
        let (device, moments) = (self.model.parameters.device().clone(), &mut self.moments);
        let change = |position: usize, values: Tensor<2>, gradient: Tensor<2>| {
            let values = if decays[position] { values * (1.0 - rate * decay) } else { values };
            changed(optimiser, &device, (step + 1, rate), values, gradient, &mut moments[position])
        };
        self.model.parameters.update(objective.backward(), |position| belongs[position], change);
    }
}

/// What to do about numbers that are no longer finite.
pub(crate) const TOO_FAST: &str = "try a smaller learning rate, or a smaller weight on a part of the loss";

fn check_finite(losses: &StepLosses) -> Result<()> {
    let total = Part { name: "loss".to_string(), value: losses.total };
    match losses.parts.iter().chain([&total]).find(|part| !part.value.is_finite()) {
        None => Ok(()),
        Some(part) => {
            let message = format!("\"{}\" became {} at step {}", part.name, part.value, losses.step);
            Err(Error::failure(message).help(TOO_FAST))
        }
    }
}
