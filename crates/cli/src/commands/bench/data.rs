//! `unbraid bench data`: images per second that each dataset gives.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use unbraid_data::{Dataset, Result, datasets};

use crate::Outcome;
use crate::output::print;

/// Images that a thread reads before it looks at the clock.
const PIECE: usize = 256;
/// How long a dataset is read at least, unless it ends before.
const LEAST: Duration = Duration::from_secs(2);

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON: images per second by dataset
    #[arg(long)]
    json: bool,
    /// Read every image of every dataset once, rather than two seconds' worth
    #[arg(long)]
    whole: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { json, whole } = *arguments;
    let mut rates = Map::new();
    for entry in datasets::DATASETS {
        let dataset = datasets::build(entry.name, &entry.example_settings())?;
        let limit = if whole { Duration::MAX } else { LEAST };
        let (images, took) = read(dataset.as_ref(), limit)?;
        let rate = images as f64 / took.as_secs_f64();
        rates.insert(entry.name.to_string(), json!(rate.round()));
        if !json {
            print(format!(
                "{:18} {images:>8} images in {:>6.2} s  {rate:>10.0} images/s",
                entry.name,
                took.as_secs_f64()
            ))?;
        }
    }
    if json {
        print(format!("{:#}", Value::Object(rates)))?;
    }
    Ok(Outcome::Done)
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
