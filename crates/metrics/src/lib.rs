//! Metrics: labelled codes in, scores out. Each is a pure function of the codes, its settings and a random stream.

use toml::Table;
use unbraid_data::{LabelledCodes, Result, Rng};

pub mod metrics;
mod scores;
pub mod statistics;
mod train_rows;
mod traversal_ratios;
mod traversals;

pub use metrics::{METRICS, build, complete, score_all};
pub use scores::{Matrix, Scores};

/// A procedure that turns labelled codes into scores.
pub trait Metric {
    /// Scores the codes. What is not defined for them is recorded with its reason.
    fn score(&self, data: &LabelledCodes, rng: &mut Rng) -> Scores;
}

/// One row of the list of metrics.
pub struct Entry {
    /// The name in configs and commands.
    pub name: &'static str,
    /// What it measures, in one line.
    pub about: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Metric>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}
