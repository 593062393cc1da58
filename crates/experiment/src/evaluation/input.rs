//! One thing that is scored: codes with their factors, and what holds for them where the caller does not choose.

use unbraid_data::LabelledCodes;

use super::choice::all_metrics;
use crate::config::Named;

/// What is scored, and how where a [`super::Choice`] does not say.
#[derive(Debug, Clone)]
pub struct Input {
    /// What it is called beside its scores: the path that was given, or any name.
    pub name: String,
    /// The codes and factors.
    pub data: LabelledCodes,
    /// The metrics of the run's config, or all.
    pub metrics: Vec<Named>,
    /// The run's seed, or 1.
    pub seed: u64,
    /// How it was read, where that has to be known.
    pub notes: Vec<String>,
}

impl Input {
    /// Codes that are in memory: scored by all metrics with seed 1, where nothing else is chosen.
    pub fn in_memory(name: &str, data: LabelledCodes) -> Self {
        Self { name: name.to_string(), data, metrics: all_metrics(), seed: 1, notes: Vec::new() }
    }
}
