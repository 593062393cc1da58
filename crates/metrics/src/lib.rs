//! Metrics: labelled codes in, scores out. Each is a pure function of the codes, its settings and a random stream.

use toml::Table;
use unbraid_data::settings::Setting;
use unbraid_data::{Result, Rng};

mod coarse_codes;
mod dci_scores;
pub mod distance_agreement;
mod distance_pools;
mod importance_scores;
pub mod impossibility;
mod input_notes;
pub mod known_codes;
mod matched_latents;
pub mod metrics;
mod needs;
mod posterior_information;
pub mod predictors;
pub mod principal;
mod row_order;
mod rows_by_others;
mod rows_by_value;
mod scaled_table;
mod score_kind;
mod scores;
pub mod statistics;
mod subject;
mod traversal_ratios;
mod traversals;
mod voters;

pub use distance_agreement::{Constant, correlations_of_traversals};
pub use metrics::{METRICS, build, complete, find, headline, reads_factors, score_all, score_all_heard, score_kind};
pub use needs::Need;
pub use score_kind::{Better, ScoreKind};
pub use scores::{Matrix, Score, ScoreOf, Scores, Undefined, metric_of};
pub use subject::{Split, Subject, Tables};
pub use traversal_ratios::TraversalRatios;

/// A procedure that turns labelled codes into scores.
pub trait Metric {
    /// Scores the codes. What is not defined for them is recorded with its reason.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores;
}

/// A change of the input that some metrics see and others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The latents in another order.
    LatentOrder,
    /// Some latents times -1.
    LatentSigns,
    /// One scale for all latents.
    CommonScale,
    /// A scale of its own for each latent.
    LatentScales,
    /// The same number added to all latents.
    Shift,
    /// All latents turned together.
    Rotation,
    /// The rows in another order. Where rows are drawn, those with equal factors have to stay in the order that they had.
    RowOrder,
    /// The values of discrete factors numbered in another order. Metrics that draw rows draw others then, so that what this
    /// leaves alone may move as it does from seed to seed.
    ValueOrder,
    /// Other posterior log-variances.
    LogVariances,
    /// Other reconstruction losses.
    Losses,
}

/// One row of the list of metrics.
pub struct Entry {
    /// The name in configs and commands.
    pub name: &'static str,
    /// What it measures, in one line.
    pub about: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Each kind of score that it gives. The first is called like the metric: the one that it is known by, and that a model
    /// is selected by.
    pub scores: &'static [ScoreKind],
    /// What it needs besides codes and factors. Where that is missing, its first score is undefined and says so.
    pub needs: &'static [Need],
    /// The changes of the input that leave the score called like the metric as it was; every other change may move it.
    pub left_alone_by: &'static [Change],
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Metric>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

impl Entry {
    /// Whether any of its scores depends on the codes.
    fn reads_codes(&self) -> bool {
        ![Change::LatentScales, Change::Shift, Change::Rotation]
            .iter()
            .all(|change| self.left_alone_by.contains(change))
    }
}
