//! Whether settings that are good by one metric or on one dataset are good by another: rank correlations over settings of their mean scores
//! over seeds (T2, on transferring hyper-parameters).

use super::correlations::{Coefficient, Correlations, LEAST_RUNS, Named, correlations};
use super::summary::{defined, summary};
use crate::chosen_scores;
use crate::table::{ScoreColumn, StudyTable};

/// Fewer settings than this say nothing of how good ones transfer.
pub const LEAST_SETTINGS: usize = LEAST_RUNS;

/// The mean over seeds of a score for each setting, among the runs of one dataset; none where no run of the setting has it. `[settings]`
pub fn means_of_settings(table: &StudyTable, dataset: usize, score: &ScoreColumn) -> Vec<Option<f64>> {
    let mut runs: Vec<Vec<usize>> = vec![Vec::new(); table.settings().len()];
    for run in table.datasets().runs_of(dataset) {
        runs[table.settings().of_runs[run]].push(run);
    }
    runs.iter().map(|runs| summary(&defined(&score.values, runs)).map(|summary| summary.mean)).collect()
}

/// From metric to metric within one dataset.
pub fn across_metrics(table: &StudyTable, dataset: usize) -> Correlations {
    let columns = chosen_scores::supervised(table).into_iter();
    let columns = columns.map(|score| (score.name.as_str(), means_of_settings(table, dataset, score)));
    let columns: Vec<Named> = columns.filter(|(_, means)| means.iter().any(Option::is_some)).collect();
    correlations(&columns, &columns, Coefficient::Spearman, LEAST_SETTINGS)
}

/// From dataset to dataset for one score, over the settings that both have.
pub fn across_datasets(table: &StudyTable, score: &ScoreColumn) -> Correlations {
    let datasets = table.datasets().labels.iter().enumerate();
    let columns: Vec<Named> =
        datasets.map(|(dataset, label)| (label.as_str(), means_of_settings(table, dataset, score))).collect();
    correlations(&columns, &columns, Coefficient::Spearman, LEAST_SETTINGS)
}
