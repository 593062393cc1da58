//! How scores go together over runs: heatmaps of correlations, and scatter plots against scores that need no factors.

use unbraid_data::words::counted;
use unbraid_report::figures::heatmap::heatmap_over;
use unbraid_report::figures::{ScatterAxis, ScatterGrid, scatter_grid};

use super::{Drawn, Figure, counts_text, lower_is_better};
use crate::chosen_scores::{first_to_look_at, unsupervised};
use crate::statistics::agreement::{of_metrics, of_named, with_unsupervised};
use crate::statistics::correlations::{Coefficient, Correlations, LEAST_RUNS};
use crate::table::{ScoreColumn, StudyTable};

/// More rows or columns of scatter plots would be too small to read.
const MOST_ROWS: usize = 4;
const MOST_COLUMNS: usize = 6;

/// The correlations of all metrics of factors on one dataset (T2 figure 2 by ranks, T3 figure 5.4 by values).
pub fn metrics(table: &StudyTable, dataset: usize, coefficient: Coefficient) -> Drawn {
    let found = of_metrics(table, dataset, coefficient);
    let label = &table.datasets().labels[dataset];
    let words = capital(coefficient.words());
    if found.rows.len() < 2 {
        return Err(format!("{words} on {label}: needs two metrics of factors, and runs have {}.", found.rows.len()));
    }
    drawn(
        table,
        dataset,
        &found,
        &format!("{words} of metrics on {label}"),
        match coefficient {
            Coefficient::Spearman => "1 where two metrics put runs in the same order, −1 in the opposite one",
            Coefficient::Pearson => {
                "1 where one metric is a rising straight line of the other; T3 has one figure over all its datasets together"
            }
        },
    )
}

/// The correlations of scores that measure the same property (T3 figures 5.5 and 5.6).
pub fn named(table: &StudyTable, dataset: usize, property: &str, names: &[&str], coefficient: Coefficient) -> Drawn {
    let found = of_named(table, dataset, names, coefficient);
    let label = &table.datasets().labels[dataset];
    if found.rows.len() < 2 {
        return Err(format!(
            "Scores of {property} on {label}: needs two of {}, and runs have {}.",
            names.join(", "),
            found.rows.len()
        ));
    }
    let title = format!("{} of scores of {property} on {label}", capital(coefficient.words()));
    drawn(table, dataset, &found, &title, "these scores mean to measure the same property")
}

/// The rank correlations of metrics with scores that need no factors (T2, on unsupervised model selection).
pub fn without_factors(table: &StudyTable, dataset: usize) -> Drawn {
    let found = with_unsupervised(table, dataset);
    let label = &table.datasets().labels[dataset];
    if found.rows.is_empty() || found.columns.is_empty() {
        let missing = if found.rows.is_empty() { "no metric of factors" } else { "no score that needs no factors" };
        return Err(format!("Scores without factors on {label}: runs have {missing}."));
    }
    let title = format!("Rank correlation of metrics with scores that need no factors, {label}");
    drawn(
        table,
        dataset,
        &found,
        &title,
        "far from 0 where a model could be selected without factors; of losses and total correlations lower is better",
    )
}

fn drawn(table: &StudyTable, dataset: usize, found: &Correlations, title: &str, says: &str) -> Drawn {
    if !found.tells_something() {
        let n_runs = table.datasets().runs_of(dataset).len();
        return Err(format!(
            "{title}: needs {LEAST_RUNS} runs in which two scores are defined and vary, and there are {} in all.",
            counted(n_runs, "run")
        ));
    }
    let counts = counts_text(found, "run");
    let canvas = heatmap_over(&format!("{title}: {counts}"), &found.matrix(), -1.0, 1.0);
    let caption = format!(
        "{title}, over {counts}: {says}.{} A dash: fewer than {LEAST_RUNS} runs have both, or one is constant.",
        lower_is_better(table, &found.rows)
    );
    Ok(Figure { name: "correlations".to_string(), caption, canvas })
}

/// The first metrics against the scores that need no factors, a point for each run.
pub fn scatter(table: &StudyTable, dataset: usize) -> Drawn {
    let label = &table.datasets().labels[dataset];
    let runs = table.datasets().runs_of(dataset);
    let there = |score: &&ScoreColumn| runs.iter().any(|&run| score.values[run].is_some());
    let rows: Vec<&ScoreColumn> =
        first_to_look_at(table, usize::MAX).into_iter().filter(there).take(MOST_ROWS).collect();
    let columns: Vec<&ScoreColumn> = unsupervised(table).into_iter().filter(there).take(MOST_COLUMNS).collect();
    if runs.len() < LEAST_RUNS || rows.is_empty() || columns.is_empty() || rows[0].name == columns[0].name {
        return Err(format!(
            "Metrics against scores that need no factors on {label}: needs {LEAST_RUNS} runs with both, and there are {}.",
            counted(runs.len(), "run")
        ));
    }
    let objectives = table.objectives();
    let present = objectives.among(&runs);
    let place = |run: &usize| present.iter().position(|one| *one == objectives.of_runs[*run]).unwrap_or(0);
    let axis = |score: &&ScoreColumn| ScatterAxis {
        name: score.name.clone(),
        values: runs.iter().map(|&run| score.values[run]).collect(),
    };
    let found = with_unsupervised(table, dataset);
    let grid = ScatterGrid {
        rows: rows.iter().map(axis).collect(),
        columns: columns.iter().map(axis).collect(),
        series_of: runs.iter().map(place).collect(),
        series: present.iter().map(|&objective| objectives.labels[objective].clone()).collect(),
        notes: rows.iter().map(|row| columns.iter().map(|column| note(&found, row, column)).collect()).collect(),
    };
    let counted = counted(runs.len(), "run");
    let canvas = scatter_grid(&format!("Metrics against scores that need no factors, {label}: {counted}"), &grid);
    let caption = format!(
        "Each point is one of {counted} on {label}. ρ is the rank correlation, n how many runs have both scores."
    );
    Ok(Figure { name: "scatter".to_string(), caption, canvas })
}

fn note(found: &Correlations, row: &ScoreColumn, column: &ScoreColumn) -> String {
    let place = |names: &[String], name: &str| names.iter().position(|one| one == name);
    match (place(&found.rows, &row.name), place(&found.columns, &column.name)) {
        (Some(row), Some(column)) => {
            let value =
                found.values[[row, column]].map_or("–".to_string(), |value| format!("{value:.2}").replace('-', "−"));
            format!("ρ {value}, n {}", found.counts[[row, column]])
        }
        _ => String::new(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}
