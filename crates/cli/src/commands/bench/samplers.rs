//! `unbraid bench samplers`: examples per second that each sampler draws, on all threads.
//!
//! `bench/samplers.py` times disent's triplets in the same run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::examples::{CHUNK, Examples};
use unbraid_data::samplers::SAMPLERS;
use unbraid_data::{Result, Seed, Split, datasets};

use super::time_of_each;
use crate::Outcome;
use crate::output::print;

/// Whose factors the samplers draw from.
const DATASETS: &[&str] = &["dsprites", "xy_squares"];
/// Chunks that are drawn between two looks at the clock.
const N_TOGETHER: u64 = 64;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON: examples per second by dataset and sampler
    #[arg(long)]
    json: bool,
    /// How long each sampler draws
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let least = time_of_each(arguments.seconds)?;
    let mut rates = Map::new();
    for name in DATASETS {
        let dataset = datasets::build(name, &Table::new())?;
        let split = Arc::new(Split::all(dataset.n_images()));
        let mut of_dataset = Map::new();
        for entry in SAMPLERS {
            let sampler = (entry.build)(&Table::new(), dataset.factors(), &split)?;
            let rate = rate(Examples { sampler: &*sampler, split: &split, seed: Seed(1) }, least)?;
            of_dataset.insert(entry.name.to_string(), json!(rate.round()));
            if !arguments.json {
                print(format!("{name:12}{:14}{:>8.1} million examples/s", entry.name, rate / 1e6))?;
            }
        }
        rates.insert(name.to_string(), Value::Object(of_dataset));
    }
    if arguments.json {
        print(format!("{:#}", Value::Object(rates)))?;
    }
    Ok(Outcome::Done)
}

/// Examples per second, drawn for at least so long.
fn rate(examples: Examples, least: Duration) -> Result<f64> {
    let began = Instant::now();
    let mut n_chunks = 0;
    while n_chunks == 0 || began.elapsed() < least {
        (n_chunks..n_chunks + N_TOGETHER).into_par_iter().try_for_each(|chunk| {
            examples.draw_chunk(chunk, CHUNK, |example| {
                std::hint::black_box(&example.images);
            })
        })?;
        n_chunks += N_TOGETHER;
    }
    Ok((n_chunks * CHUNK) as f64 / began.elapsed().as_secs_f64())
}
