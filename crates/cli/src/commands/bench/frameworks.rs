//! `unbraid bench frameworks`: what a training step of each framework costs, beside one of `beta_vae`.
//!
//! All frameworks take a step in turn, round after round, so that other work on the machine slows all of them; the cost is the median
//! over rounds of a framework's time over that of `beta_vae` in the same round.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ndarray::Array2;
use rand::RngExt;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::{Error, ImageShape, Result, Seed};
use unbraid_learn::frameworks::{self, Entry, FRAMEWORKS};
use unbraid_learn::{Batch, Device, Learner, Member, checkpoint, networks, optimisers};

use crate::Outcome;
use crate::output::print;

const SHAPE: ImageShape = ImageShape { height: 64, width: 64, channels: 1 };
const NETWORK: &str = "conv64";
const BESIDE: &str = "beta_vae";
const LEARNING_RATE: f64 = 1e-4;
const SEED: Seed = Seed(1);
/// Rounds before the clock is looked at, in which buffers are taken and caches filled.
const N_WARM_UP: usize = 3;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON: the cost of a step by framework, that of beta_vae being 1
    #[arg(long)]
    json: bool,
    /// How many steps of each framework are timed
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rounds: u32,
    /// How many examples a batch has
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(2..=4096))]
    batch_size: u32,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let batch_size = arguments.batch_size as usize;
    let features = FeaturesRun::write()?;
    let contenders = FRAMEWORKS.iter().map(|entry| Contender::new(entry, &features, batch_size));
    let mut contenders = contenders.collect::<Result<Vec<Contender>>>()?;
    for round in 0..N_WARM_UP + arguments.rounds as usize {
        for contender in &mut contenders {
            let took = contender.step()?;
            if round >= N_WARM_UP {
                contender.secs.push(took.as_secs_f64());
            }
        }
    }
    let beside = contenders.iter().find(|contender| contender.name == BESIDE);
    let Some(beside) = beside.map(|contender| contender.secs.clone()) else {
        return Err(Error::failure(format!("no framework is called \"{BESIDE}\"")));
    };
    let mut costs = Map::new();
    if !arguments.json {
        print(format!("{:18}{:>10}{:>10}{:>8}{:>12}", "framework", "ms/step", "images", "cost", "an image"))?;
    }
    for contender in &contenders {
        let cost = median(contender.secs.iter().zip(&beside).map(|(own, beside)| own / beside).collect());
        costs.insert(contender.name.to_string(), json!((1000.0 * cost).round() / 1000.0));
        if !arguments.json {
            let millis = 1000.0 * median(contender.secs.clone());
            let n_images = contender.n_images();
            let of_image = cost * batch_size as f64 / n_images as f64;
            print(format!("{:18}{millis:>10.1}{n_images:>10}{cost:>8.2}{of_image:>12.2}", contender.name))?;
        }
    }
    if arguments.json {
        print(format!("{:#}", Value::Object(costs)))?;
    } else {
        print(format!(
            "\nSteps of {NETWORK} on {batch_size} examples; the cost is in steps of {BESIDE}, that of an image in its images."
        ))?;
    }
    Ok(Outcome::Done)
}

/// A framework with the batch that it learns from.
struct Contender {
    name: &'static str,
    learner: Learner,
    members: Vec<Member>,
    secs: Vec<f64>,
}

impl Contender {
    fn new(entry: &'static Entry, features: &FeaturesRun, batch_size: usize) -> Result<Self> {
        let mut settings = Table::new();
        if entry.settings.iter().any(|setting| setting.name == "features") {
            settings.insert("features".to_string(), features.0.display().to_string().into());
        }
        let learner = learner(entry.name, &settings)?;
        let n_members = learner.framework.arity() * learner.framework.n_batches();
        let mut rng = SEED.stream("bench");
        let mut member = || Member {
            images: learner.model.parameters.tensor(
                (0..batch_size * SHAPE.n_pixels()).map(|_| rng.random()).collect(),
                [batch_size, SHAPE.n_pixels()],
            ),
            numbers: (0..batch_size).collect(),
            factors: Array2::zeros((batch_size, 0)),
        };
        let members = (0..n_members).map(|_| member()).collect();
        Ok(Self { name: entry.name, learner, members, secs: Vec::new() })
    }

    fn n_images(&self) -> usize {
        self.members.iter().map(|member| member.numbers.len()).sum()
    }

    fn step(&mut self) -> Result<Duration> {
        let n_images = self.n_images();
        let shared = (0..self.members[0].numbers.len()).map(|example| example % self.learner.model.latents()).collect();
        let batch = Batch { step: self.learner.steps_taken(), n_images, members: self.members.clone(), shared };
        let began = Instant::now();
        self.learner.step(&batch, LEARNING_RATE)?;
        Ok(began.elapsed())
    }
}

fn learner(framework: &str, settings: &Table) -> Result<Learner> {
    let network = networks::build(NETWORK, &Table::new(), SHAPE)?;
    let framework = frameworks::build(framework, settings)?;
    let optimiser = optimisers::build("adam", &Table::new())?;
    Learner::new(network, framework, optimiser, SHAPE, SEED, Device::cpu())
}

/// The folder of a run that was not trained, for frameworks that want features; gone when it is no longer needed.
struct FeaturesRun(PathBuf);

impl FeaturesRun {
    fn write() -> Result<Self> {
        let run = Self(std::env::temp_dir().join(format!("unbraid-bench-{}", std::process::id())));
        create_folder(&run.0)?;
        let config = format!("[framework]\nname = \"ae\"\n[model]\nname = \"{NETWORK}\"\n");
        let bytes = checkpoint::write(&learner("ae", &Table::new())?, &config)?;
        write_whole(&run.0.join("config.toml"), config.as_bytes())?;
        write_whole(&run.0.join("model.safetensors"), &bytes)?;
        Ok(run)
    }
}

impl Drop for FeaturesRun {
    fn drop(&mut self) {
        // What cannot be removed is cleared away with other temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
