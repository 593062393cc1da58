//! `unbraid bench data`: images per second that each dataset gives, beside those that a training takes.
//!
//! Read are images one after another on all threads, and random batches of 64 by the loader, as a training gets them. The training
//! beside it is of a beta-VAE with `conv64`, in the same run, so that the ratio says whether data keeps up. Datasets that are read
//! from files are measured where their files are found.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::datasets::{self, ImageShape};
use unbraid_data::{Dataset, Error, Loader, Loading, Result, Seed, Split, samplers};
use unbraid_experiment::config::{apply_override, in_place};
use unbraid_experiment::train::LOADING_THREADS;
use unbraid_learn::networks;

use super::time_of_each;
use super::train::training_rate;
use crate::Outcome;
use crate::output::print;

/// Images that a thread reads before it looks at the clock.
const PIECE: usize = 256;
/// Images of a batch.
const BATCH: usize = 64;
/// The network that a training is measured with, and images are resized for.
const NETWORK: &str = "conv64";

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these datasets; all that need no file, or whose file is there, where left out
    datasets: Vec<String>,
    /// A setting of the one dataset that is named: path=mine.npz
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print JSON: images per second by dataset
    #[arg(long)]
    json: bool,
    /// Read every image of every dataset once, rather than some seconds' worth
    #[arg(long)]
    whole: bool,
    /// How long each dataset is read, loaded and trained with
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
}

/// Images per second.
struct Rates {
    read: f64,
    loaded: f64,
    /// Where `conv64` takes the images.
    trained: Option<f64>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let least = time_of_each(arguments.seconds)?;
    let chosen = chosen(arguments)?;
    if !arguments.json {
        print(format!("{:18}{:>14}{:>14}{:>14}{:>16}", "images/s", "read", "loaded", "trained", "loaded/trained"))?;
    }
    let mut rates = Map::new();
    for (name, settings) in chosen {
        let network = networks::find(NETWORK)?;
        let dataset = datasets::build_fitting(&name, &settings, &|shape| network.fitting(shape));
        let dataset = dataset.map_err(|error| in_place(error, &format!("dataset \"{name}\"")))?;
        let measured = measure(dataset.into(), least, arguments.whole)?;
        let Rates { read, loaded, trained } = measured;
        let ratio = trained.map(|trained| loaded / trained);
        if arguments.json {
            let round = |rate: f64| rate.round();
            rates.insert(
                name,
                json!({ "read": round(read), "loaded": round(loaded), "trained": trained.map(round), "ratio": ratio }),
            );
        } else {
            let shown = |number: Option<String>| number.unwrap_or("-".to_string());
            let trained = shown(trained.map(|trained| format!("{trained:.0}")));
            let ratio = shown(ratio.map(|ratio| format!("{ratio:.1}")));
            print(format!("{name:18}{read:>14.0}{loaded:>14.0}{trained:>14}{ratio:>16}"))?;
        }
    }
    if arguments.json {
        print(format!("{:#}", Value::Object(rates)))?;
    }
    Ok(Outcome::Done)
}

/// The datasets that are measured, with their settings.
fn chosen(arguments: &Arguments) -> Result<Vec<(String, Table)>> {
    let mut settings = Table::new();
    arguments.set.iter().try_for_each(|change| apply_override(&mut settings, change))?;
    if !settings.is_empty() && arguments.datasets.len() != 1 {
        return Err(Error::new("--set is for one dataset").help("name it: unbraid bench data shapes3d --set path=..."));
    }
    if !arguments.datasets.is_empty() {
        for name in &arguments.datasets {
            datasets::find(name)?;
        }
        return Ok(arguments.datasets.iter().map(|name| (name.clone(), settings.clone())).collect());
    }
    let needs_no_file = |entry: &&datasets::Entry| match entry.published {
        Some(published) => published.find().is_some(),
        // One's own images are where their owner says.
        None => !["npz", "folder"].contains(&entry.name),
    };
    Ok(datasets::DATASETS.iter().filter(needs_no_file).map(|entry| (entry.name.to_string(), Table::new())).collect())
}

fn measure(dataset: Arc<dyn Dataset>, least: Duration, whole: bool) -> Result<Rates> {
    let limit = if whole { Duration::MAX } else { least };
    let (images, took) = read(dataset.as_ref(), limit)?;
    let ImageShape { height, width, channels } = dataset.image_shape();
    let trained = if (height, width) == (64, 64) && [1, 3].contains(&channels) {
        Some(training_rate(NETWORK, BATCH, channels, least)?)
    } else {
        None
    };
    Ok(Rates { read: images as f64 / took.as_secs_f64(), loaded: load(dataset, least)?, trained })
}

/// Reads images in order until the time is over or all were read; how many, and how long it took.
fn read(dataset: &dyn Dataset, limit: Duration) -> Result<(usize, Duration)> {
    let began = Instant::now();
    let starts: Vec<usize> = (0..dataset.n_images()).step_by(PIECE).collect();
    let images = starts
        .par_iter()
        .map(|&start| {
            if began.elapsed() > limit {
                return Ok(0);
            }
            let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
            let end = (start + PIECE).min(dataset.n_images());
            for index in start..end {
                dataset.read_image(index, &mut pixels)?;
                std::hint::black_box(&pixels);
            }
            Ok(end - start)
        })
        .sum::<Result<usize>>()?;
    Ok((images, began.elapsed()))
}

/// Images per second that the loader gives, on as many threads as a training has for it, once it is warm.
fn load(dataset: Arc<dyn Dataset>, least: Duration) -> Result<f64> {
    let split = Arc::new(Split::all(dataset.n_images()));
    let sampler = samplers::build("single", &Table::new(), dataset.factors(), &split)?.into();
    let batch_size = BATCH.min(dataset.n_images());
    let loading = Loading { dataset, sampler, split, seed: Seed(1), batch_size, n_batches: 1 };
    let mut loader = Loader::start(loading, 0, LOADING_THREADS)?;
    let warm = Instant::now();
    while warm.elapsed() < least {
        loader.next_batch()?;
    }
    let (began, mut n_batches) = (Instant::now(), 0);
    while began.elapsed() < least {
        loader.next_batch()?;
        n_batches += 1;
    }
    Ok((n_batches * batch_size) as f64 / began.elapsed().as_secs_f64())
}
