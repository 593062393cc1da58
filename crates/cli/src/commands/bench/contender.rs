//! Learners whose steps are timed in turn, round after round, so that other work on the machine slows all of them.

use std::time::Instant;

use ndarray::Array2;
use rand::RngExt;
use toml::Table;
use unbraid_data::{ImageShape, Result, Seed};
use unbraid_learn::{Batch, Device, Learner, Member, frameworks, networks, optimisers};

/// The network that is trained.
pub const NETWORK: &str = "conv64";
const LEARNING_RATE: f64 = 1e-4;
const SEED: Seed = Seed(1);
/// Rounds before the clock is looked at, in which buffers are taken and caches filled.
const N_WARM_UP: u32 = 3;

/// A learner with the batch that it learns from.
pub struct Contender {
    /// What it is called.
    pub name: String,
    /// How long each step took that was timed.
    pub secs: Vec<f64>,
    learner: Learner,
    members: Vec<Member>,
}

impl Contender {
    /// A learner and a batch of random images.
    pub fn new(name: &str, learner: Learner, batch_size: usize) -> Self {
        let n_members = learner.framework.arity() * learner.framework.n_batches();
        let n_pixels = learner.model.image_shape.n_pixels();
        let mut rng = SEED.stream("bench");
        let mut member = || Member {
            images: learner
                .model
                .parameters
                .tensor((0..batch_size * n_pixels).map(|_| rng.random()).collect(), [batch_size, n_pixels]),
            numbers: (0..batch_size).collect(),
            factors: Array2::zeros((batch_size, 0)),
        };
        let members = (0..n_members).map(|_| member()).collect();
        Self { name: name.to_string(), secs: Vec::new(), learner, members }
    }

    /// How many images a step learns from.
    pub fn n_images(&self) -> usize {
        self.members.iter().map(|member| member.numbers.len()).sum()
    }

    /// The median over rounds of its time over that of another.
    pub fn cost_beside(&self, other: &Self) -> f64 {
        median(self.secs.iter().zip(&other.secs).map(|(own, other)| own / other).collect())
    }

    fn step(&mut self) -> Result<f64> {
        let n_images = self.n_images();
        let shared = (0..self.members[0].numbers.len()).map(|example| example % self.learner.model.latents()).collect();
        let batch = Batch { step: self.learner.steps_taken(), n_images, members: self.members.clone(), shared };
        let began = Instant::now();
        self.learner.step(&batch, LEARNING_RATE)?;
        Ok(began.elapsed().as_secs_f64())
    }
}

/// Lets all take so many steps in turn, after a few that are not timed.
pub fn take_turns(contenders: &mut [Contender], n_rounds: u32) -> Result<()> {
    for round in 0..N_WARM_UP + n_rounds {
        for contender in contenders.iter_mut() {
            let secs = contender.step()?;
            if round >= N_WARM_UP {
                contender.secs.push(secs);
            }
        }
    }
    Ok(())
}

/// A learner of images of this shape.
pub fn learner(framework: &str, settings: &Table, shape: ImageShape) -> Result<Learner> {
    let network = networks::build(NETWORK, &Table::new(), shape)?;
    let framework = frameworks::build(framework, settings)?;
    let optimiser = optimisers::build("adam", &Table::new())?;
    Learner::new(network, framework, optimiser, shape, SEED, Device::cpu())
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
