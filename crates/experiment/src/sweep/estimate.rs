//! About how long a sweep takes, by a few training steps of each kind of run.

use std::collections::BTreeMap;

use unbraid_data::words::counted;
use unbraid_data::{Error, Result};

use super::plan::PlannedRun;
use crate::config::Config;
use crate::dataset_record;
use crate::step_time::secs_per_step;
use crate::watch::Watch;

/// What the training of runs takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Runs that are trained, without those that are left out.
    pub n_runs: usize,
    /// Kinds of runs, of each of which a few steps were taken.
    pub n_kinds: usize,
    /// Seconds of training on this machine.
    pub secs: f64,
    /// A line on each dataset whose runs take no part, because it cannot be opened here.
    pub left_out: Vec<String>,
}

/// Takes a few steps of one run of each kind, and multiplies. Nothing where the user asks to stop.
pub fn estimate<'a>(runs: impl IntoIterator<Item = &'a PlannedRun>, watch: &mut dyn Watch) -> Result<Option<Estimate>> {
    let mut kinds: BTreeMap<String, (Config, f64, usize)> = BTreeMap::new();
    for run in runs {
        let config = run.config()?;
        let steps = config.training.steps as f64;
        let kind = kinds.entry(kind(&config)).or_insert_with(|| (config, 0.0, 0));
        kind.1 += steps;
        kind.2 += 1;
    }
    let mut estimate = Estimate { n_runs: 0, n_kinds: 0, secs: 0.0, left_out: Vec::new() };
    let mut missing: BTreeMap<String, (String, usize)> = BTreeMap::new(); // Why, and of how many runs.
    watch.stage("measuring", kinds.len() as u64);
    for (config, steps, n_runs) in kinds.into_values() {
        if watch.should_stop() {
            return Ok(None);
        }
        watch.next_item(&format!("{} on {}", config.framework.name, config.dataset.name));
        let dataset = dataset(&config);
        if let Some((_, n_missing)) = missing.get_mut(&dataset) {
            *n_missing += n_runs;
            continue;
        }
        match secs_per_step(&config) {
            Ok(secs) => {
                estimate.secs += steps * secs;
                estimate.n_kinds += 1;
                estimate.n_runs += n_runs;
            }
            Err(error) => {
                let why = why_closed(&config).ok_or(error)?;
                missing.insert(dataset, (why, n_runs));
            }
        }
    }
    let told = missing
        .iter()
        .map(|(dataset, (why, n_runs))| format!("{} on {dataset} left out: {why}", counted(*n_runs, "run")));
    estimate.left_out = told.collect();
    Ok(Some(estimate))
}

/// The name of a dataset, with its file where it has one.
fn dataset(config: &Config) -> String {
    let path = config.dataset.settings.get("path").map(|path| format!(" {path}")).unwrap_or_default();
    format!("{}{path}", config.dataset.name)
}

/// Why the dataset of a config cannot be opened; none where it can.
fn why_closed(config: &Config) -> Option<String> {
    let error: Error = dataset_record::open(config).err()?;
    Some(error.to_string().lines().next().unwrap_or_default().to_string())
}

/// Runs of one kind take about as long a step: they differ by numbers such as seeds and weights alone.
fn kind(config: &Config) -> String {
    let model = toml::to_string(&config.model.settings).unwrap_or_default();
    let dataset = dataset(config);
    let size = config.dataset.settings.get("size").map(ToString::to_string).unwrap_or_default();
    let reconstruction = config.framework.settings.get("reconstruction").map(ToString::to_string).unwrap_or_default();
    format!(
        "{dataset} {size} {} {reconstruction} {} {model} {}",
        config.framework.name, config.model.name, config.training.batch_size
    )
}
