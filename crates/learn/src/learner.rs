//! All that training changes, and one step of it.

use unbraid_data::{Error, Result, Seed};

use crate::frameworks::{Batch, Framework};
use crate::losses::Part;
use crate::model::Model;
use crate::optimisers::Optimiser;
use crate::tensors::scalar;

/// A model in training: with its optimiser's moments and the number of steps taken.
pub struct Learner {
    /// The model.
    pub model: Model,
    /// What is minimised.
    pub framework: Box<dyn Framework>,
    optimiser: Box<dyn Optimiser>,
    /// For each parameter, for each of the optimiser's moments, a number for each value.
    pub(crate) moments: Vec<Vec<Vec<f32>>>,
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
    /// Before the first step.
    pub fn new(model: Model, framework: Box<dyn Framework>, optimiser: Box<dyn Optimiser>, seed: Seed) -> Self {
        let n_moments = optimiser.moments().len();
        let moments =
            model.parameters.iter().map(|(_, tensor)| vec![vec![0.0; tensor.shape().num_elements()]; n_moments]);
        let moments = moments.collect();
        Self { model, framework, optimiser, moments, steps_taken: 0, seed }
    }

    /// How many steps were taken.
    pub fn steps_taken(&self) -> u64 {
        self.steps_taken
    }

    /// The names of the optimiser's moments.
    pub fn moment_names(&self) -> &'static [&'static str] {
        self.optimiser.moments()
    }

    /// One step: the loss of the batch, its gradients, and the change of every parameter. Noise comes from the stream
    /// `noise` at this step. A loss that is not finite changes nothing and is an error.
    pub fn step(&mut self, batch: &Batch, learning_rate: f64) -> Result<StepLosses> {
        assert_eq!(batch.step, self.steps_taken, "batches come in the order of the steps");
        let mut noise = self.seed.stream_at("noise", batch.step);
        let losses = self.framework.loss(&self.model, batch, &mut noise);
        let total = losses.total();
        let value = scalar(total.clone().detach());
        let report = StepLosses { step: batch.step + 1, total: value, parts: losses.parts().to_vec() };
        check_finite(&report)?;

        let (step, rate) = (report.step, learning_rate as f32);
        let (optimiser, moments) = (&self.optimiser, &mut self.moments);
        self.model.parameters.update(total.backward(), |position, values, gradient| {
            optimiser.change(step, rate, values, gradient, &mut moments[position]);
        });
        self.steps_taken = report.step;
        Ok(report)
    }
}

fn check_finite(losses: &StepLosses) -> Result<()> {
    let total = Part { name: "loss", value: losses.total };
    match losses.parts.iter().chain([&total]).find(|part| !part.value.is_finite()) {
        None => Ok(()),
        Some(part) => {
            let message = format!("\"{}\" became {} at step {}", part.name, part.value, losses.step);
            Err(Error::failure(message).help("try a smaller learning rate, or a smaller weight on a part of the loss"))
        }
    }
}
