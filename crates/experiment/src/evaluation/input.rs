//! One thing that is scored: codes with their factors, and what holds for them where the caller does not choose.

use std::borrow::Cow;

use unbraid_data::{LabelledCodes, Result};
use unbraid_report::RunFolder;

use super::choice::all_metrics;
use crate::config::Named;
use crate::jacobians::wants_jacobians;
use crate::measure::with_saved_jacobians;

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
    /// The run that the codes are of. Its Jacobians, which may take a hundred megabytes, are read where a metric needs them.
    pub run: Option<RunFolder>,
}

impl Input {
    /// Codes that are in memory: scored by all metrics with seed 1, where nothing else is chosen.
    pub fn in_memory(name: &str, data: LabelledCodes) -> Self {
        Self { name: name.to_string(), data, metrics: all_metrics(), seed: 1, notes: Vec::new(), run: None }
    }

    /// The codes, with all that these metrics need.
    pub(super) fn data_for(&self, metrics: &[Named]) -> Result<Cow<'_, LabelledCodes>> {
        match &self.run {
            Some(folder) if wants_jacobians(metrics) => with_saved_jacobians(folder, self.data.clone()).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(&self.data)),
        }
    }
}
