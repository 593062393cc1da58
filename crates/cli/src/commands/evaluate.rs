//! `unbraid evaluate`: the scores of a run's codes, or of anyone's in an `.npz` file.

use std::path::{Path, PathBuf};

use toml::Table;
use unbraid_data::{Error, LabelledCodes, Result, Seed, datasets, npz};
use unbraid_experiment::Named;
use unbraid_experiment::jacobians::{wants_jacobians, with_jacobians};
use unbraid_experiment::measure::{measure, read_codes};
use unbraid_experiment::prepare::{Prepared, prepare};
use unbraid_experiment::run::read_config;
use unbraid_experiment::train::load_checkpoint;
use unbraid_metrics::METRICS;
use unbraid_report::tables::scores_table;
use unbraid_report::{RunFolder, scores_json};

use super::table_width;
use crate::Outcome;
use crate::output::print;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run, or an .npz file with `codes` [rows, latents] and `factors` [rows, factors]
    input: PathBuf,

    /// Metrics by name, separated by commas, or "all"; those of the run's config where left out
    #[arg(long, value_name = "NAMES")]
    metrics: Option<String>,

    /// Print JSON: scores by name, and the reasons why others are undefined
    #[arg(long)]
    json: bool,

    /// Seed of metrics that draw at random; the run's where left out, else 1
    #[arg(long)]
    seed: Option<u64>,
}

/// What is scored, and how where the command does not say.
struct Input {
    data: LabelledCodes,
    metrics: Vec<Named>,
    seed: u64,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let input = read_input(&arguments.input)?;
    let metrics = match arguments.metrics.as_deref() {
        None => input.metrics.clone(),
        Some("all") => METRICS.iter().map(|entry| chosen(entry.name, &input.metrics)).collect(),
        Some(names) => by_name(names, &input.metrics)?,
    };
    let data = match open_decoder(&arguments.input, &metrics)? {
        Some(mut prepared) => with_jacobians(input.data, &metrics, &mut prepared.learner)?,
        None => input.data,
    };
    let scores = measure(&metrics, &data, Seed(arguments.seed.unwrap_or(input.seed)))?;
    if arguments.json {
        print(format!("{:#}", scores_json(&scores)))?;
    } else {
        print(scores_table(&scores, table_width()).trim_end())?;
    }
    Ok(Outcome::Done)
}

/// The model of a run, where a metric needs more of it than its codes; nothing where its checkpoint is gone, for metrics then
/// say what they miss.
fn open_decoder(path: &Path, metrics: &[Named]) -> Result<Option<Prepared>> {
    if !path.is_dir() || !wants_jacobians(metrics) {
        return Ok(None);
    }
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let mut prepared = prepare(&config)?;
    let steps_taken = load_checkpoint(&folder, &config, &mut prepared.learner)?;
    Ok((steps_taken > 0).then_some(prepared))
}

fn read_input(path: &Path) -> Result<Input> {
    if !path.is_dir() {
        let data = npz::read_labelled_codes(path)?;
        return Ok(Input { data, metrics: all_metrics(), seed: 1 });
    }
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let dataset = datasets::open(&config.dataset.name, &config.dataset.settings)?;
    let data = read_codes(&folder, &config, dataset.as_ref())?;
    Ok(Input { data, metrics: config.metrics, seed: config.seed })
}

/// The metrics of a list separated by commas.
fn by_name(names: &str, of_run: &[Named]) -> Result<Vec<Named>> {
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    if let Some(position) = (1..names.len()).find(|&position| names[..position].contains(&names[position])) {
        return Err(Error::new(format!("metric \"{}\" is named twice", names[position])).help("leave one out"));
    }
    Ok(names.iter().map(|name| chosen(name, of_run)).collect())
}

/// The metric called `name`, with the settings that the run gives it where it does.
fn chosen(name: &str, of_run: &[Named]) -> Named {
    of_run.iter().find(|metric| metric.name == name).cloned().unwrap_or_else(|| named(name))
}

fn all_metrics() -> Vec<Named> {
    METRICS.iter().map(|entry| named(entry.name)).collect()
}

fn named(name: &str) -> Named {
    Named { name: name.to_string(), settings: Table::new() }
}
