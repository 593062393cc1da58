//! The share of the variance of each score that the objective explains, and that all settings explain (T2's tables of percentages).

use ndarray::Array2;
use unbraid_metrics::Matrix;
use unbraid_report::figures::heatmap::heatmap_over;

use super::{Drawn, Figure};
use crate::chosen_scores::{supervised, unsupervised};
use crate::statistics::variance_explained::{Divided, Explained, explained_in_dataset};
use crate::table::{ScoreColumn, StudyTable};

/// The shares of one dataset and division, for each score.
pub struct ExplainedRow {
    /// The number of the dataset.
    pub dataset: usize,
    /// What runs are divided by.
    pub divided: Divided,
    /// For each of `scores`, the share or what is missing.
    pub shares: Vec<Result<Explained, String>>,
}

/// The scores that shares are given of: metrics of factors, or where there are none those that need none.
pub fn scores(table: &StudyTable) -> Vec<&ScoreColumn> {
    let scores = supervised(table);
    if scores.is_empty() { unsupervised(table) } else { scores }
}

/// Two rows for each dataset.
pub fn rows(table: &StudyTable) -> Vec<ExplainedRow> {
    let scores = scores(table);
    let both = [Divided::ByObjective, Divided::BySetting];
    let rows = (0..table.datasets().len()).flat_map(|dataset| both.map(|divided| (dataset, divided)));
    rows.map(|(dataset, divided)| ExplainedRow {
        dataset,
        divided,
        shares: scores.iter().map(|score| explained_in_dataset(table, dataset, &score.values, divided)).collect(),
    })
    .collect()
}

/// The shares as a heatmap.
pub fn variance_explained(table: &StudyTable) -> Drawn {
    let (rows, scores) = (rows(table), scores(table));
    let shares = || rows.iter().flat_map(|row| &row.shares);
    if !shares().any(Result::is_ok) {
        let why = shares().find_map(|share| share.as_ref().err()).map_or("runs have no score", String::as_str);
        return Err(format!("Share of the variance that the objective and the settings explain: {why}."));
    }
    let name = |row: &ExplainedRow| format!("{}, {}", table.datasets().labels[row.dataset], row.divided.word());
    let matrix = Matrix {
        name: "variance_explained".to_string(),
        rows: rows.iter().map(name).collect(),
        columns: scores.iter().map(|score| score.name.clone()).collect(),
        values: Array2::from_shape_fn((rows.len(), scores.len()), |(row, score)| {
            rows[row].shares[score].as_ref().map_or(f64::NAN, |found| found.share)
        }),
    };
    let counts = || shares().flatten().map(|found| found.n_runs);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let n_runs = if least == most { format!("{most} runs") } else { format!("{least} to {most} runs") };
    let canvas = heatmap_over(&format!("Share of the variance explained: {n_runs} each"), &matrix, 0.0, 1.0);
    let caption = format!(
        "Share of the variance of each score that is known once one knows the objective, and once one knows all settings but the seed ({n_runs} \
         for each number). What is left is the seed. A dash: not two groups with two runs each, a score that is the same everywhere, or one that was not measured."
    );
    Ok(Figure { name: "variance_explained".to_string(), caption, canvas })
}
