//! What a dataset's distances say before training, as a table, as JSON and as a page.

mod json;
mod page;
mod table;

use unbraid_data::{Dataset, Result};
use unbraid_distances::examine::{Findings, OfFactor, OfPairs, Settings, examine};
use unbraid_distances::losses::Loss;
use unbraid_distances::verdict::Verdict;

pub use json::findings_json;
pub use page::write_page;
pub(crate) use page::{cumulative_lines, matrix_rows};
pub use table::findings_rows;

use crate::watch::Watch;

/// What was looked at, and what came of it.
#[derive(Debug, Clone)]
pub struct Examined {
    /// What the dataset is called, with its settings: `xy_squares (spacing 1)`.
    pub title: String,
    /// The name of the dataset, or the path of the user's file.
    pub dataset: String,
    /// Its settings, as they were given.
    pub settings: toml::Table,
    /// How many images it has.
    pub n_images: usize,
    /// What was found.
    pub findings: Findings,
    /// What it means.
    pub verdict: Verdict,
}

/// Looks at a dataset, and tells how far it is.
pub fn look(dataset: &dyn Dataset, losses: &[Loss], settings: Settings, watch: &mut dyn Watch) -> Result<Findings> {
    let mut stage = String::new();
    examine(dataset, losses, settings, |what, done, total| {
        if stage != what {
            stage = what.to_string();
            watch.stage(what, total as u64);
        }
        watch.progress(done as u64);
    })
}

/// Factors that could be looked at, those with the largest mean distance under the first loss first.
fn by_importance(findings: &Findings) -> Vec<(&OfFactor, &OfPairs)> {
    let known = findings.factors.iter().filter_map(|factor| Some((factor, factor.pairs.as_ref().ok()?)));
    let mut factors: Vec<_> = known.collect();
    factors.sort_by(|a, b| b.1.under[0].mean.total_cmp(&a.1.under[0].mean));
    factors
}

/// `262,144 pairs, all that there are`, or how many were drawn.
fn how_many(pairs: &OfPairs) -> String {
    match pairs.are_all {
        true => format!("all {} pairs", pairs.n_pairs),
        false => format!("{} pairs, drawn", pairs.n_pairs),
    }
}
