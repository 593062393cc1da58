//! Whether good settings stay good by another metric and on another dataset (T2, on transferring hyper-parameters).

use unbraid_data::words::counted;
use unbraid_report::figures::heatmap::heatmap_over;

use super::{Drawn, Figure, counts_text, lower_is_better};
use crate::statistics::correlations::Correlations;
use crate::statistics::transfer::{LEAST_SETTINGS, across_datasets, across_metrics};
use crate::table::{ScoreColumn, StudyTable};

/// From metric to metric within a dataset.
pub fn metrics(table: &StudyTable, dataset: usize) -> Drawn {
    let found = across_metrics(table, dataset);
    let label = &table.datasets().labels[dataset];
    let n_settings = table.settings().among(&table.datasets().runs_of(dataset)).len();
    let question = format!("Do good settings on {label} stay good by another metric?");
    let mut figure = drawn(&found, &format!("Settings by other metrics, {label}"), &question, n_settings)?;
    figure.caption += &lower_is_better(table, &found.rows);
    Ok(figure)
}

/// From dataset to dataset by one metric.
pub fn datasets(table: &StudyTable, score: &ScoreColumn) -> Drawn {
    let question = format!("Do settings that are good by {} stay good on another dataset?", score.name);
    if table.datasets().len() < 2 {
        return Err(format!("{question} Needs two datasets, and there is 1."));
    }
    drawn(&across_datasets(table, score), &format!("Settings by {}", score.name), &question, table.settings().len())
}

fn drawn(found: &Correlations, title: &str, question: &str, n_settings: usize) -> Drawn {
    if !found.tells_something() {
        let of = if found.rows.is_empty() { String::new() } else { format!(" for {}", found.rows.join(", ")) };
        return Err(format!(
            "{question} Needs two that share {LEAST_SETTINGS} settings whose scores differ, of {} in all{of}.",
            counted(n_settings, "setting")
        ));
    }
    let counts = counts_text(found, "setting");
    let canvas = heatmap_over(&format!("{title}: {counts}"), &found.matrix(), -1.0, 1.0);
    let caption = format!(
        "{question} Rank correlation over {counts} of their mean scores over seeds; 1 where the order of settings is the same."
    );
    Ok(Figure { name: "transfer".to_string(), caption, canvas })
}
