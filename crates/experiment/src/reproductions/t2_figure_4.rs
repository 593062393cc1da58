//! T2 figure 4 (section 5.4): can good models be selected? Scores over the strength of each objective; metrics against scores that need no factors; settings that carry over to other
//! datasets.
//!
//! The figure has no numbers in the text. What the text says is put so: no objective dominates, the one with the best setting by a metric is not the same for all metrics and datasets; for more than half of the objectives no strength is
//! the best by all metrics and on all datasets; no score that needs no factors goes with the metrics as they go with each other, by the mean size of rank correlations; and, where both are there, settings carry over between dSprites and Color-dSprites: a
//! rank correlation of more than 0.5 by each metric.

use unbraid_data::Result;
use unbraid_report::figures::points::XAxis;
use unbraid_study::StudyTable;
use unbraid_study::figures::{agreement, transfer};
use unbraid_study::statistics::agreement::{of_named, with_unsupervised};
use unbraid_study::statistics::correlations::Coefficient;
use unbraid_study::statistics::transfer::across_datasets;

use super::planned::{Runs, above, datasets, shown};
use super::run_figures::over_number;
use super::t2_runs::{METRICS, as_table, pairs_of_metrics, place_of_strength, trained_runs};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

/// The metric whose transfer between datasets is shown.
const TRANSFERRED: &str = "dci";
/// The datasets between which settings are said to carry over.
const CLOSE: [&str; 2] = ["dsprites", "dsprites_color"];
/// A rank correlation above this is a strong one.
const STRONG: f64 = 0.5;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(runs) = trained_runs(request, watch, &mut outcome.notes)? else { return Ok(None) };
    let mut means = Vec::new();
    for dataset in datasets(&runs) {
        let of_dataset: Vec<Runs> = runs.iter().filter(|runs| runs.dataset() == dataset).cloned().collect();
        means.extend(of_metrics(&dataset, &of_dataset)?);
        let figure = over_number(
            &format!("{dataset}: scores over the strength of regularisation"),
            ("strength or capacity, from the least to the largest", XAxis::Linear),
            &of_dataset,
            &METRICS.map(|metric| (metric, metric)),
            |one| place_of_strength(&of_dataset, one) as f64,
            |one| one.framework().to_string(),
        )?;
        outcome.figures.push((format!("strengths_{dataset}.png"), figure));
    }
    outcome.rows.extend(of_strengths(&means));
    let table = as_table(&runs)?;
    for dataset in 0..table.datasets().len() {
        outcome.rows.extend(without_factors(&table, dataset));
        match agreement::without_factors(&table, dataset) {
            Ok(figure) => outcome.figures.push((format!("without_factors_{dataset}.png"), figure.canvas)),
            Err(missing) => outcome.notes.push(missing),
        }
    }
    outcome.rows.extend(carried_over(&table));
    if let Some(score) = table.score(TRANSFERRED) {
        match transfer::datasets(&table, score) {
            Ok(figure) => outcome.figures.push(("datasets.png".to_string(), figure.canvas)),
            Err(missing) => outcome.notes.push(missing),
        }
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The mean over seeds of one objective at one strength, by one metric on one dataset.
#[derive(Clone)]
struct Mean {
    /// Dataset and metric.
    by: String,
    objective: String,
    /// The place of the strength among those of the objective.
    place: usize,
    value: f64,
}

/// Those that are defined.
fn of_metrics(dataset: &str, runs: &[Runs]) -> Result<Vec<Mean>> {
    let mut means = Vec::new();
    for metric in METRICS {
        for one in runs {
            means.push(Mean {
                by: format!("{dataset} {metric}"),
                objective: one.framework().to_string(),
                place: place_of_strength(runs, one),
                value: one.spread(metric)?.mean,
            });
        }
    }
    means.retain(|mean| mean.value.is_finite());
    Ok(means)
}

/// Whether one objective is always best, and for each objective one strength.
fn of_strengths(means: &[Mean]) -> [Row; 2] {
    let winners = best_of_each(means, |mean| mean.by.clone());
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for winner in &winners {
        match counts.iter_mut().find(|(objective, _)| *objective == winner.objective) {
            Some((_, count)) => *count += 1,
            None => counts.push((&winner.objective, 1)),
        }
    }
    let told: Vec<String> =
        counts.iter().map(|(objective, count)| format!("{objective} by {count} of {}", winners.len())).collect();
    let best = best_of_each(means, |mean| (mean.by.clone(), mean.objective.clone()));
    let mut objectives: Vec<&str> = best.iter().map(|mean| mean.objective.as_str()).collect();
    objectives.sort_unstable();
    objectives.dedup();
    let moves = |objective: &&&str| {
        let mut places = best.iter().filter(|mean| mean.objective == ***objective).map(|mean| mean.place);
        let first = places.next();
        places.any(|place| Some(place) != first)
    };
    let n_moving = objectives.iter().filter(moves).count();
    [
        Row::claim("no objective is best by all metrics", told.join(", "), counts.len() > 1),
        Row::claim(
            "the best strength depends on the metric, for most objectives",
            format!("for {n_moving} of {}", objectives.len()),
            2 * n_moving > objectives.len(),
        ),
    ]
}

/// The highest mean among those that have the same key, for each key.
fn best_of_each<K: PartialEq>(means: &[Mean], key: impl Fn(&Mean) -> K) -> Vec<&Mean> {
    let mut best: Vec<&Mean> = Vec::new();
    for mean in means {
        match best.iter_mut().find(|other| key(other) == key(mean)) {
            Some(other) if mean.value > other.value => *other = mean,
            Some(_) => {}
            None => best.push(mean),
        }
    }
    best
}

/// How each score that needs no factors goes with T2's metrics, whichever way, beside how these go with each other.
fn without_factors(table: &StudyTable, dataset: usize) -> Vec<Row> {
    let label = &table.datasets().labels[dataset];
    let found = with_unsupervised(table, dataset);
    let with_metrics = |score: &str| mean_size(METRICS.iter().filter_map(|metric| found.between(metric, score)));
    let among = of_named(table, dataset, &METRICS, Coefficient::Spearman);
    let each_other = mean_size(pairs_of_metrics().filter_map(|[one, other]| among.between(one, other)));
    let closest = found.columns.iter().map(|score| with_metrics(score)).fold(f64::NAN, f64::max);
    let row = |score: &String| {
        Row::ours(format!("{label}: {score} with metrics, mean size of rank correlations"), with_metrics(score))
    };
    let mut rows: Vec<Row> = found.columns.iter().map(row).collect();
    rows.push(above(
        format!("{label}: metrics go with each other more than with any score that needs no factors"),
        [each_other, closest],
    ));
    rows
}

/// The mean of the absolute values; not a number where there are none.
fn mean_size(values: impl Iterator<Item = f64>) -> f64 {
    let sizes: Vec<f64> = values.map(f64::abs).collect();
    sizes.iter().sum::<f64>() / sizes.len() as f64
}

/// How settings carry over between the two datasets of which it is said, by each metric, and the claim on it; nothing where one of them is missing.
fn carried_over(table: &StudyTable) -> Vec<Row> {
    let mut rows = Vec::new();
    for metric in METRICS.iter().filter_map(|metric| table.score(metric)) {
        let Some(close) = across_datasets(table, metric).between(CLOSE[0], CLOSE[1]) else { continue };
        let what = format!("settings carry over between {} and {}, by {}", CLOSE[0], CLOSE[1], metric.name);
        rows.push(Row::claim(what, shown(close), close > STRONG));
    }
    rows
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-figure-4",
    about: "Scores over strengths, against scores that need no factors, and between datasets, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, figure 4",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn means(values: &[(&str, &str, usize, f64)]) -> Vec<Mean> {
        let mean = |(by, objective, place, value): &(&str, &str, usize, f64)| Mean {
            by: by.to_string(),
            objective: objective.to_string(),
            place: *place,
            value: *value,
        };
        values.iter().map(mean).collect()
    }

    #[test]
    fn an_objective_that_always_wins_and_strengths_that_stay_are_found() {
        // By both metrics b wins, at its second strength; a is best at its first.
        let same = [
            ("mig", "a", 1, 0.3),
            ("mig", "a", 2, 0.1),
            ("mig", "b", 1, 0.2),
            ("mig", "b", 2, 0.5),
            ("dci", "a", 1, 0.4),
            ("dci", "a", 2, 0.2),
            ("dci", "b", 1, 0.1),
            ("dci", "b", 2, 0.6),
        ];
        let found = of_strengths(&means(&same));
        assert_eq!(found[0], Row::claim("no objective is best by all metrics", "b by 2 of 2", false));
        assert_eq!(found[1].agrees(), Some(false));
        // By dci a wins, and both are best at their other strengths.
        let mut other = same;
        (other[5].3, other[6].3) = (0.9, 0.7);
        let found = of_strengths(&means(&other));
        assert_eq!(found[0], Row::claim("no objective is best by all metrics", "b by 1 of 2, a by 1 of 2", true));
        assert_eq!(
            found[1],
            Row::claim("the best strength depends on the metric, for most objectives", "for 2 of 2", true)
        );
    }

    #[test]
    fn settings_that_carry_over_are_judged_where_both_datasets_are_there() {
        let run = |dataset: &str, beta: i64, mig: f64| unbraid_study::Run {
            name: format!("{dataset}{beta}"),
            config: format!(
                "seed = 1\ndataset.name = '{dataset}'\nframework = {{ name = 'beta_vae', beta = {beta}.0 }}"
            )
            .parse()
            .unwrap(),
            scores: unbraid_metrics::Scores::new().with("mig", mig),
        };
        let of = |dataset: &str, sign: f64| {
            (1..=5).map(move |beta| (dataset.to_string(), beta, sign * beta as f64 / 10.0)).collect::<Vec<_>>()
        };
        let table = |all: &[Vec<(String, i64, f64)>]| {
            let runs: Vec<_> = all.concat().iter().map(|(dataset, beta, mig)| run(dataset, *beta, *mig)).collect();
            StudyTable::new(&runs).unwrap()
        };
        assert_eq!(carried_over(&table(&[of("dsprites", 1.0), of("cars3d", 1.0)])), []);
        let verdict = |sign: f64| carried_over(&table(&[of("dsprites", 1.0), of("dsprites_color", sign)]))[0].agrees();
        assert_eq!((verdict(1.0), verdict(-1.0)), (Some(true), Some(false)));
    }

    #[test]
    fn sizes_do_not_cancel() {
        assert_eq!(mean_size([-0.5, 0.25].into_iter()), 0.375);
        assert!(mean_size(std::iter::empty()).is_nan());
    }
}
