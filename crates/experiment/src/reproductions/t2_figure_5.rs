//! T2 figures 5 and 6 (section 5.5): do disentangled codes help to predict the factors, and from fewer images?
//!
//! Figure 5 has the rank correlations of metrics with the accuracy of boosted trees and logistic regression from 10 to 10,000 images, and with their efficiency, the accuracy from 100 images over that from the most. Figure 6 has
//! the efficiency of boosted trees against FactorVAE's metric, a point for each run. Neither has numbers in the text. The paper says that on variants of dSprites metrics other than modularity go with accuracy: each of them, by its mean rank correlation. And a
//! higher FactorVAE score does not reliably bring more efficiency: their rank correlation is below 0.5. The most images are 1,000 at small scale, where efficiency is computed here, since the metric's is of 10,000; at smoke scale they are the 100 themselves.

use unbraid_data::Result;
use unbraid_metrics::metric_of;
use unbraid_report::Canvas;
use unbraid_report::figures::heatmap::heatmap_over;
use unbraid_report::figures::points::{Join, PointPanel, PointSeries, XAxis, point_panels};
use unbraid_study::StudyTable;
use unbraid_study::statistics::correlations::{Coefficient, Correlations, LEAST_RUNS, Named, correlations};

use super::planned::{shown, study_table};
use super::t2_runs::{METRICS, trained_runs};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// What accuracies of each predictor are called, and how they are shown.
const PREDICTORS: [(&str, &str); 2] =
    [("downstream.boosted_trees", "boosted trees"), ("downstream.logistic_regression", "logistic regression")];
/// Images that efficiency is the accuracy from, over that from the most.
const FEW: usize = 100;
/// A rank correlation that is below this is none to rely on.
const RELIABLE: f64 = 0.5;
const FIGURE_6: &str = "factor_vae";
/// What variants of dSprites are called.
const OF_DSPRITES: &str = "dsprites";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(runs) = trained_runs(request, watch, &mut outcome.notes)? else { return Ok(None) };
    let is_wanted = |name: &str| METRICS.contains(&metric_of(name)) || metric_of(name) == "downstream";
    let table = study_table(&runs, is_wanted)?;
    for dataset in 0..table.datasets().len() {
        let label = &table.datasets().labels[dataset];
        let (accuracies, efficiencies) = performance(&table, dataset, request.scale);
        let [with_accuracy, with_efficiency] =
            [&accuracies, &efficiencies].map(|columns| with_performance(&table, dataset, columns));
        outcome.rows.extend(rows(label, &with_accuracy, &with_efficiency));
        let all = with_performance(&table, dataset, &[accuracies, efficiencies.clone()].concat());
        if all.tells_something() {
            let n_runs = table.datasets().runs_of(dataset).len();
            let title = format!("Rank correlation of metrics with accuracy and efficiency, {label}: {n_runs} runs");
            outcome.figures.push((format!("downstream_{dataset}.png"), heatmap_over(&title, &all.matrix(), -1.0, 1.0)));
        }
        outcome.figures.push((format!("efficiency_{dataset}.png"), scatter(&table, dataset, &efficiencies[0].1)));
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// A number for each run of a dataset, with a name.
type Column = (String, Vec<Option<f64>>);

/// Accuracies from few to many images of both predictors, and their efficiencies, that of boosted trees first.
fn performance(table: &StudyTable, dataset: usize, scale: Scale) -> (Vec<Column>, Vec<Column>) {
    let sizes = scale.pick(&[10, 100][..], &[10, 100, 1_000][..], &[10, 100, 1_000, 10_000][..]);
    let runs = table.datasets().runs_of(dataset);
    let accuracy = |predictor: &str, n_rows: usize| -> Vec<Option<f64>> {
        let score = table.score(&format!("{predictor}.{n_rows}"));
        runs.iter().map(|&run| score.and_then(|score| score.values[run])).collect()
    };
    let (mut accuracies, mut efficiencies) = (Vec::new(), Vec::new());
    for (predictor, shown) in PREDICTORS {
        accuracies.extend(sizes.iter().map(|&n_rows| (format!("{shown}, {n_rows}"), accuracy(predictor, n_rows))));
        let [few, most] = [FEW, sizes[sizes.len() - 1]].map(|n_rows| accuracy(predictor, n_rows));
        let ratios = few.iter().zip(&most).map(|(few, most)| ratio(*few, *most)).collect();
        efficiencies.push((format!("efficiency, {shown}"), ratios));
    }
    (accuracies, efficiencies)
}

fn ratio(few: Option<f64>, most: Option<f64>) -> Option<f64> {
    Some(few? / most.filter(|most| *most > 0.0)?)
}

fn with_performance(table: &StudyTable, dataset: usize, columns: &[Column]) -> Correlations {
    let runs = table.datasets().runs_of(dataset);
    let scores = METRICS.iter().filter_map(|metric| table.score(metric));
    let metrics: Vec<Named> =
        scores.map(|score| (score.name.as_str(), runs.iter().map(|&run| score.values[run]).collect())).collect();
    let columns: Vec<Named> = columns.iter().map(|(name, values)| (name.as_str(), values.clone())).collect();
    correlations(&metrics, &columns, Coefficient::Spearman, LEAST_RUNS)
}

fn rows(label: &str, with_accuracy: &Correlations, with_efficiency: &Correlations) -> Vec<Row> {
    let mean = |found: &Correlations, metric: &str| {
        let values: Vec<f64> = found.columns.iter().filter_map(|column| found.between(metric, column)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let mut rows = Vec::new();
    for (found, what) in [(with_accuracy, "accuracy"), (with_efficiency, "efficiency")] {
        let row =
            |metric| Row::ours(format!("{label}: {metric} with {what}, mean rank correlation"), mean(found, metric));
        rows.extend(METRICS.map(row));
    }
    let others = METRICS.into_iter().filter(|metric| *metric != "modularity");
    let accuracies: Vec<f64> = others.map(|metric| mean(with_accuracy, metric)).collect();
    let least = accuracies.iter().copied().fold(f64::NAN, f64::min);
    let claim = Row::claim(
        format!("{label}: each metric other than modularity goes with accuracy"),
        format!("{} at the least", shown(least)),
        accuracies.iter().all(|accuracy| *accuracy > 0.0),
    );
    rows.push(if label.starts_with(OF_DSPRITES) { claim } else { claim.only_beside() });
    let efficiency = with_efficiency.columns.first().and_then(|trees| with_efficiency.between(FIGURE_6, trees));
    rows.push(Row::claim(
        format!("{label}: a higher FactorVAE score does not reliably bring more efficiency of boosted trees"),
        efficiency.map_or("undefined".to_string(), shown),
        efficiency.is_some_and(|efficiency| efficiency < RELIABLE),
    ));
    rows
}

/// Figure 6: efficiency of boosted trees over FactorVAE's metric.
fn scatter(table: &StudyTable, dataset: usize, efficiencies: &[Option<f64>]) -> Canvas {
    let runs = table.datasets().runs_of(dataset);
    let metric = table.score(FIGURE_6);
    let of_objective = |objective: usize| {
        let is_of = |(_, run): &(usize, &usize)| table.objectives().of_runs[**run] == objective;
        let point = |(place, run): (usize, &usize)| Some((metric?.values[*run]?, efficiencies[place]?));
        PointSeries {
            name: table.objectives().labels[objective].clone(),
            points: runs.iter().enumerate().filter(is_of).filter_map(point).collect(),
            join: Join::Nothing,
        }
    };
    let panel = PointPanel {
        title: String::new(),
        x_label: "FactorVAE's metric".to_string(),
        y_label: "accuracy from 100 images over that from the most".to_string(),
        x: XAxis::Linear,
        y_range: None,
        series: table.objectives().among(&runs).into_iter().map(of_objective).collect(),
        marks: Vec::new(),
    };
    let label = &table.datasets().labels[dataset];
    point_panels(&format!("{label}: each point is one of {} runs", runs.len()), &[panel])
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-figure-5",
    about: "Metrics against accuracy and efficiency of predicting factors, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, figures 5 and 6",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_is_a_share_of_the_accuracy_from_the_most_images() {
        assert_eq!(ratio(Some(0.3), Some(0.6)), Some(0.5));
        assert_eq!([ratio(Some(0.3), Some(0.0)), ratio(None, Some(0.5)), ratio(Some(0.3), None)], [None; 3]);
    }

    #[test]
    fn performance_is_read_off_the_scores_of_runs() {
        let run = |seed: i64, few: f64, most: f64, metric: f64| unbraid_study::Run {
            name: format!("{seed}"),
            config: format!("seed = {seed}\ndataset.name = 'a'\nframework.name = 'vae'").parse().unwrap(),
            scores: unbraid_metrics::Scores::new()
                .with("mig", metric)
                .with("downstream.boosted_trees.100", few)
                .with("downstream.boosted_trees.1000", most),
        };
        // Accuracy from the most images falls as the metric rises, efficiency rises.
        let runs = [
            run(1, 0.2, 0.9, 0.1),
            run(2, 0.2, 0.8, 0.2),
            run(3, 0.2, 0.5, 0.3),
            run(4, 0.2, 0.4, 0.4),
            run(5, 0.2, 0.25, 0.5),
        ];
        let table = StudyTable::new(&runs).unwrap();
        let (accuracies, efficiencies) = performance(&table, 0, Scale::Small);
        assert_eq!(accuracies.len(), 6);
        assert_eq!(efficiencies[0].1[4], Some(0.8));
        let [accuracy, efficiency] = [&accuracies, &efficiencies].map(|columns| with_performance(&table, 0, columns));
        assert!((accuracy.between("mig", "boosted trees, 1000").unwrap() + 1.0).abs() < 1e-12);
        assert!((efficiency.between("mig", "efficiency, boosted trees").unwrap() - 1.0).abs() < 1e-12);
        // It is the same in all runs.
        assert_eq!(accuracy.between("mig", "boosted trees, 100"), None);
    }

    #[test]
    fn one_metric_that_goes_against_accuracy_is_enough_and_efficiency_may_not_be_reliable() {
        let of = |columns: &[&str], values: &[f64]| Correlations {
            rows: METRICS.map(String::from).to_vec(),
            columns: columns.iter().map(|name| name.to_string()).collect(),
            values: ndarray::Array2::from_shape_fn((METRICS.len(), columns.len()), |(row, _)| Some(values[row])),
            counts: ndarray::Array2::from_elem((METRICS.len(), columns.len()), 9),
        };
        let verdicts = |label: &str, accuracy: &[f64], efficiency: &[f64]| {
            let found =
                rows(label, &of(&["boosted trees, 10"], accuracy), &of(&["efficiency, boosted trees"], efficiency));
            [found[12].agrees(), found[13].agrees()]
        };
        // Metrics stand in the order beta_vae, dci, factor_vae, mig, modularity, sap.
        let (good, low) = ([0.5, 0.4, 0.3, 0.2, -0.1, 0.1], [0.9, 0.9, 0.4, 0.9, 0.9, 0.9]);
        assert_eq!(verdicts("dsprites", &good, &low), [Some(true), Some(true)]);
        assert_eq!(
            verdicts("dsprites", &low.map(|value| 0.5 - value), &good.map(|value| 2.0 * value)),
            [Some(false); 2]
        );
        assert_eq!(verdicts("cars3d", &good, &low)[0], None);
    }
}
