//! `unbraid bench frameworks`: what a training step of each framework costs, beside one of `beta_vae`.
//!
//! All frameworks take a step in turn, round after round, so that other work on the machine slows all of them; the cost is the median
//! over rounds of a framework's time over that of `beta_vae` in the same round.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::{Error, ImageShape, Result};
use unbraid_learn::checkpoint;
use unbraid_learn::frameworks::{Entry, FRAMEWORKS};

use super::contender::{Contender, NETWORK, learner, median, take_turns};
use crate::Outcome;
use crate::output::print;

const SHAPE: ImageShape = ImageShape { height: 64, width: 64, channels: 1 };
const BESIDE: &str = "beta_vae";

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
    let contenders = FRAMEWORKS.iter().map(|entry| contender(entry, &features, batch_size));
    let mut contenders = contenders.collect::<Result<Vec<Contender>>>()?;
    take_turns(&mut contenders, arguments.rounds)?;
    let Some(beside) = contenders.iter().find(|contender| contender.name == BESIDE) else {
        return Err(Error::failure(format!("no framework is called \"{BESIDE}\"")));
    };
    let mut costs = Map::new();
    if !arguments.json {
        print(format!("{:18}{:>10}{:>10}{:>8}{:>12}", "framework", "ms/step", "images", "cost", "an image"))?;
    }
    for contender in &contenders {
        let cost = contender.cost_beside(beside);
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

/// A framework that is timed.
fn contender(entry: &Entry, features: &FeaturesRun, batch_size: usize) -> Result<Contender> {
    let mut settings = Table::new();
    if entry.settings.iter().any(|setting| setting.name == "features") {
        settings.insert("features".to_string(), features.0.display().to_string().into());
    }
    Ok(Contender::new(entry.name, learner(entry.name, &settings, SHAPE)?, batch_size))
}

/// The folder of a run that was not trained, for frameworks that want features; gone when it is no longer needed.
struct FeaturesRun(PathBuf);

impl FeaturesRun {
    fn write() -> Result<Self> {
        let run = Self(std::env::temp_dir().join(format!("unbraid-bench-{}", std::process::id())));
        create_folder(&run.0)?;
        let config = format!("[framework]\nname = \"ae\"\n[model]\nname = \"{NETWORK}\"\n");
        let bytes = checkpoint::write(&learner("ae", &Table::new(), SHAPE)?, &config)?;
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
