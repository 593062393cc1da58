//! Statistics against those of scipy, statsmodels and pandas on a made-up table with ties, groups of different sizes and undefined scores:
//! `reference/study`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::path::Path;

use serde_json::Value;
use unbraid_data::whole_file::read_text;
use unbraid_metrics::Scores;
use unbraid_study::statistics::correlations::{Coefficient, Correlations};
use unbraid_study::statistics::paired::paired_test;
use unbraid_study::statistics::random_good::{Won, random_good};
use unbraid_study::statistics::selection::selected;
use unbraid_study::statistics::special::{f_above, normal_two_sided, student_quantile, student_two_sided};
use unbraid_study::statistics::summary::{defined, summary};
use unbraid_study::statistics::variance_explained::{Divided, explained_in_dataset};
use unbraid_study::statistics::wilcoxon::wilcoxon;
use unbraid_study::statistics::{agreement, transfer};
use unbraid_study::{Run, StudyTable};

fn json(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/study");
    serde_json::from_str(&read_text(&folder.join(name)).unwrap()).unwrap()
}

fn table() -> StudyTable {
    let runs: Vec<Run> = json("runs.json").as_array().unwrap().iter().map(run).collect();
    StudyTable::new(&runs).unwrap()
}

fn run(row: &Value) -> Run {
    let mut scores = Scores::new();
    for (name, value) in row["scores"].as_object().unwrap() {
        scores = scores.with(name, value.as_f64().unwrap());
    }
    for (name, reason) in row["undefined"].as_object().unwrap() {
        scores = scores.without(name, reason.as_str().unwrap());
    }
    let config = serde_json::from_value(row["config"].clone()).unwrap();
    Run { name: row["name"].as_str().unwrap().to_string(), config, scores }
}

fn rows(values: &Value) -> &[Value] {
    let rows = values.as_array().unwrap();
    assert!(!rows.is_empty());
    rows
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("no {key} in {row}"))
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"))
}

fn count(row: &Value, key: &str) -> usize {
    row[key].as_u64().unwrap() as usize
}

fn place(labels: &[String], label: &str) -> usize {
    labels.iter().position(|one| one == label).unwrap_or_else(|| panic!("no {label} in {labels:?}"))
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &dyn std::fmt::Display) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} is not {expected}: {what}");
}

#[track_caller]
fn assert_correlation(found: &Correlations, row: &Value) {
    let place = [place(&found.rows, text(row, "a")), place(&found.columns, text(row, "b"))];
    assert_eq!(found.counts[place], count(row, "n"), "{row}");
    match row["value"].as_f64() {
        Some(expected) => assert_close(found.values[place].unwrap(), expected, row),
        None => assert_eq!(found.values[place], None, "{row}"),
    }
}

#[test]
fn correlations_of_scores() {
    let (table, values) = (table(), json("values.json"));
    for row in rows(&values["spearman"]) {
        let dataset = place(&table.datasets().labels, text(row, "dataset"));
        assert_correlation(&agreement::of_metrics(&table, dataset, Coefficient::Spearman), row);
    }
    for row in rows(&values["pearson"]) {
        let dataset = place(&table.datasets().labels, text(row, "dataset"));
        assert_correlation(&agreement::of_metrics(&table, dataset, Coefficient::Pearson), row);
    }
    for row in rows(&values["unsupervised"]) {
        let dataset = place(&table.datasets().labels, text(row, "dataset"));
        assert_correlation(&agreement::with_unsupervised(&table, dataset), row);
    }
}

#[test]
fn shares_of_variance() {
    let (table, values) = (table(), json("values.json"));
    let both = [("explained_by_objective", Divided::ByObjective), ("explained_by_setting", Divided::BySetting)];
    for (key, divided) in both {
        for row in rows(&values[key]) {
            let dataset = place(&table.datasets().labels, text(row, "dataset"));
            let score = table.score(text(row, "score")).unwrap();
            let found = explained_in_dataset(&table, dataset, &score.values, divided).unwrap();
            assert_eq!(found.n_runs, count(row, "n"));
            assert_close(found.share, number(row, "share"), row);
            assert_close(found.p_value.unwrap(), number(row, "p"), row);
        }
    }
}

fn runs_of(table: &StudyTable, dataset: &str, setting: &str) -> Vec<usize> {
    let dataset = place(&table.datasets().labels, dataset);
    let setting = place(&table.settings().labels, setting);
    let mut runs = table.datasets().runs_of(dataset);
    runs.retain(|&run| table.settings().of_runs[run] == setting);
    runs
}

#[test]
fn means_deviations_and_intervals() {
    let (table, values) = (table(), json("values.json"));
    for row in rows(&values["summaries"]) {
        let runs = runs_of(&table, text(row, "dataset"), text(row, "setting"));
        let score = table.score(text(row, "score")).unwrap();
        let found = summary(&defined(&score.values, &runs)).unwrap();
        assert_eq!(found.n, count(row, "n"));
        assert_close(found.mean, number(row, "mean"), row);
        assert_close(found.deviation.unwrap(), number(row, "deviation"), row);
        assert_close(found.interval.unwrap().0, number(row, "low"), row);
        assert_close(found.interval.unwrap().1, number(row, "high"), row);
    }
}

#[test]
fn paired_tests() {
    let (table, values) = (table(), json("values.json"));
    for row in rows(&values["paired"]) {
        let score = table.score(text(row, "score")).unwrap();
        let [a, b] = ["a", "b"].map(|side| runs_of(&table, text(row, "dataset"), text(row, side)));
        let pairs: Vec<(f64, f64)> = a
            .iter()
            .flat_map(|&a| b.iter().map(move |&b| (a, b)))
            .filter(|&(a, b)| table.seeds()[a] == table.seeds()[b])
            .filter_map(|(a, b)| Some((score.values[a]?, score.values[b]?)))
            .collect();
        let found = paired_test(&pairs).unwrap();
        assert_eq!(found.difference.n, count(row, "n"));
        assert_close(found.t_p_value.unwrap(), number(row, "t"), row);
        assert_close(found.wilcoxon_p_value.unwrap(), number(row, "wilcoxon"), row);
    }
    for row in rows(&values["wilcoxon"]) {
        let differences: Vec<f64> = rows(&row["differences"]).iter().map(|value| value.as_f64().unwrap()).collect();
        assert_close(wilcoxon(&differences).unwrap(), number(row, "p"), row);
    }
}

#[test]
fn distributions() {
    for row in rows(&json("values.json")["special"]) {
        let at: Vec<f64> = rows(&row["at"]).iter().map(|value| value.as_f64().unwrap()).collect();
        let found = match text(row, "of") {
            "t" => student_two_sided(at[0], at[1]),
            "t_quantile" => student_quantile(at[0], at[1]),
            "f" => f_above(at[0], at[1], at[2]),
            _ => normal_two_sided(at[0]),
        };
        assert_close(found, number(row, "value"), row);
        // Small probabilities are right in their digits too.
        assert!((found - number(row, "value")).abs() <= 1e-9 * found.abs() + 1e-300, "{found}: {row}");
    }
}

#[test]
fn settings_from_metric_to_metric_and_from_dataset_to_dataset() {
    let (table, values) = (table(), json("values.json"));
    for row in rows(&values["transfer"]["metrics"]) {
        let dataset = place(&table.datasets().labels, text(row, "dataset"));
        assert_correlation(&transfer::across_metrics(&table, dataset), row);
    }
    for row in rows(&values["transfer"]["datasets"]) {
        assert_correlation(&transfer::across_datasets(&table, table.score(text(row, "score")).unwrap()), row);
    }
}

#[track_caller]
fn assert_won(found: Option<Won>, expected: &Value) {
    match expected.as_object() {
        None => assert_eq!(found, None),
        Some(_) => {
            let found = found.unwrap();
            assert_eq!(found.n_draws, count(expected, "n"));
            assert_close(found.share, number(expected, "share"), expected);
        }
    }
}

#[test]
fn good_settings_against_random_ones() {
    let found = random_good(&table()).unwrap();
    let expected = &json("values.json")["random_good"];
    for (place, won) in found.overall.iter().enumerate() {
        assert_won(*won, &expected["overall"][place]);
    }
    assert_eq!(found.by_source.len(), expected["by_source"].as_object().unwrap().len());
    for (name, of_source) in &found.by_source {
        for (place, won) in of_source.iter().enumerate() {
            assert_won(*won, &expected["by_source"][name][place]);
        }
    }
}

#[test]
fn best_settings_by_each_rule() {
    let table = table();
    for row in rows(&json("values.json")["selection"]) {
        let found = selected(&table, table.score(text(row, "rule")).unwrap());
        let dataset = place(&table.datasets().labels, text(row, "dataset"));
        let objective = place(&table.objectives().labels, text(row, "objective"));
        let found = found.iter().find(|one| (one.dataset, one.objective) == (dataset, objective)).unwrap();
        assert_eq!(table.settings().labels[found.setting], text(row, "setting"));
        assert_eq!(found.n_settings, count(row, "n_settings"));
        let dci = found.summary(table.score("dci").unwrap()).unwrap();
        assert_eq!(dci.n, count(row, "dci_n"));
        assert_close(dci.mean, number(row, "dci_mean"), row);
        assert_close(dci.deviation.unwrap(), number(row, "dci_deviation"), row);
    }
}
