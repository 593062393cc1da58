//! About how long a sweep takes, by a few training steps of each kind of run.

use std::collections::BTreeMap;

use unbraid_data::Result;

use super::plan::PlannedRun;
use crate::config::Config;
use crate::step_time::secs_per_step;
use crate::watch::Watch;

/// What the training of runs takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Runs that are trained.
    pub n_runs: usize,
    /// Kinds of runs, of each of which a few steps were taken.
    pub n_kinds: usize,
    /// Seconds of training on this machine.
    pub secs: f64,
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
    let mut estimate = Estimate { n_runs: 0, n_kinds: kinds.len(), secs: 0.0 };
    watch.stage("measuring", kinds.len() as u64);
    for (config, steps, n_runs) in kinds.into_values() {
        if watch.should_stop() {
            return Ok(None);
        }
        watch.next_item(&format!("{} on {}", config.framework.name, config.dataset.name));
        estimate.secs += steps * secs_per_step(&config)?;
        estimate.n_runs += n_runs;
    }
    Ok(Some(estimate))
}

/// Runs of one kind take about as long a step: they differ by numbers such as seeds and weights alone.
fn kind(config: &Config) -> String {
    let model = toml::to_string(&config.model.settings).unwrap_or_default();
    let size = config.dataset.settings.get("size").map(ToString::to_string).unwrap_or_default();
    let reconstruction = config.framework.settings.get("reconstruction").map(ToString::to_string).unwrap_or_default();
    format!(
        "{} {size} {} {reconstruction} {} {model} {}",
        config.dataset.name, config.framework.name, config.model.name, config.training.batch_size
    )
}
