//! `unbraid bench metrics`: how long each metric takes, on an input or on tables of growing size.
//!
//! `bench/metrics.py` sets the times against the Python libraries on the same arrays.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ndarray::Array2;
use rand::RngExt;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{Error, Factor, FactorSpace, LabelledCodes, Result, Seed};
use unbraid_formats::npz;
use unbraid_metrics::{METRICS, Subject, build, score_all};

use crate::Outcome;
use crate::output::print;

const SEED: Seed = Seed(1);
/// The factors of dSprites.
const FACTORS: [(&str, usize); 5] = [("shape", 3), ("scale", 6), ("orientation", 40), ("pos_x", 32), ("pos_y", 32)];
const N_LATENTS: usize = 10;
/// A metric that takes less than this is run again, and the shortest of its times is told.
const SHORT: Duration = Duration::from_millis(500);
/// What the row of all metrics is called.
const TOGETHER: &str = "together";
const MOST_REPEATS: usize = 10;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// An .npz file with `codes` and `factors`; made tables with dSprites' factors where left out
    input: Option<PathBuf>,
    /// Rows of the made tables, separated by commas
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "10000,100000,1000000")]
    rows: Vec<usize>,
    /// Only these metrics, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Print JSON: seconds by table and metric
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let names: Vec<&str> = match arguments.metrics.as_slice() {
        [] => METRICS.iter().map(|entry| entry.name).collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    for name in &names {
        build(name, &Table::new())?;
    }
    let tables: Vec<(String, LabelledCodes)> = match &arguments.input {
        Some(path) => vec![(path.display().to_string(), npz::read_labelled_codes(path)?)],
        None => {
            arguments.rows.iter().map(|&rows| Ok((format!("{rows} rows"), made_table(rows)?))).collect::<Result<_>>()?
        }
    };
    // Each alone, then all as in `evaluate`, where they share what they have in common.
    let mut cases: Vec<(&str, &[&str])> = names.iter().map(|name| (*name, std::slice::from_ref(name))).collect();
    if names.len() > 1 {
        cases.push((TOGETHER, &names));
    }
    let mut times = vec![Vec::new(); tables.len()];
    for (of_table, (_, data)) in times.iter_mut().zip(&tables) {
        for (_, metrics) in &cases {
            of_table.push(shortest_time(metrics, data)?.as_secs_f64());
        }
    }
    let cases: Vec<&str> = cases.into_iter().map(|(case, _)| case).collect();
    let tables: Vec<&str> = tables.iter().map(|(table, _)| table.as_str()).collect();
    if arguments.json {
        print_json(&tables, &cases, &times)?
    } else {
        print_table(&tables, &cases, &times)?
    }
    Ok(Outcome::Done)
}

/// Prints `times [tables][cases]` by table and case.
fn print_json(tables: &[&str], cases: &[&str], times: &[Vec<f64>]) -> Result<()> {
    let mut all = Map::new();
    for (table, times) in tables.iter().zip(times) {
        let by_case: Map<String, Value> =
            cases.iter().zip(times).map(|(case, time)| (case.to_string(), json!(time))).collect();
        all.insert(table.to_string(), Value::Object(by_case));
    }
    print(format!("{:#}", Value::Object(all)))
}

/// Prints `times [tables][cases]`, a column for each table.
fn print_table(tables: &[&str], cases: &[&str], times: &[Vec<f64>]) -> Result<()> {
    let row = |name: &str, cells: Vec<String>| {
        print(format!("{name:22}{}", cells.iter().map(|cell| format!("{cell:>16}")).collect::<String>()))
    };
    row("seconds", tables.iter().map(|table| table.to_string()).collect())?;
    for (position, case) in cases.iter().enumerate() {
        row(case, times.iter().map(|times| format!("{:.4}", times[position])).collect())?;
    }
    Ok(())
}

/// How long the metrics take on a table, with nothing computed beforehand.
fn shortest_time(names: &[&str], data: &LabelledCodes) -> Result<Duration> {
    let metrics =
        names.iter().map(|name| Ok((name.to_string(), build(name, &Table::new())?))).collect::<Result<Vec<_>>>()?;
    let mut shortest = Duration::MAX;
    for _ in 0..MOST_REPEATS {
        let began = Instant::now();
        std::hint::black_box(score_all(&metrics, &Subject::new(data, SEED), SEED));
        shortest = shortest.min(began.elapsed());
        if shortest > SHORT {
            break;
        }
    }
    Ok(shortest)
}

/// Rows with factors drawn evenly; each factor, scaled to [0, 1] and with noise, is a latent, and the others are noise.
/// Posteriors have a deviation of about 0.1.
fn made_table(n_rows: usize) -> Result<LabelledCodes> {
    if n_rows == 0 {
        return Err(Error::new("--rows names 0").help("wanted 1 or more"));
    }
    let mut rng = SEED.stream("bench metrics");
    let factors = Array2::from_shape_simple_fn((n_rows, FACTORS.len()), || rng.random::<f64>());
    let factors = Array2::from_shape_fn(factors.dim(), |(row, factor)| {
        (factors[[row, factor]] * FACTORS[factor].1 as f64).floor()
    });
    let codes = Array2::from_shape_fn((n_rows, N_LATENTS), |(row, latent)| {
        let noise = rng.random_range(-1.0..1.0);
        FACTORS.get(latent).map_or(noise, |(_, size)| factors[[row, latent]] / (size - 1) as f64 + 0.1 * noise)
    });
    let log_variances = Array2::from_shape_simple_fn(codes.dim(), || rng.random_range(-5.0..-4.0));
    let extras = Extras { log_variances: Some(log_variances), ..Extras::default() };
    let named = FACTORS.iter().map(|(name, size)| Factor { name: name.to_string(), size: Some(*size) });
    LabelledCodes::new(codes, factors, FactorSpace::sample(named.collect()), extras)
}
