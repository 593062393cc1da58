//! T2's tables of the variance explained: which share of a metric's variance over runs is known once one knows the objective, and once one knows objective and strength. The rest is the
//! seed. Numbers are compared at paper scale, for the datasets whose files are at hand.

use unbraid_data::Result;
use unbraid_study::StudyTable;
use unbraid_study::figures::explained;
use unbraid_study::statistics::variance_explained::{Divided, explained_in_dataset};

use super::planned::shown;
use super::t2_runs::{METRICS, trained};
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run, Scale};
use crate::watch::Watch;

/// Percentages of a dataset in the order of [`METRICS`]: by objective, and by objective and strength.
type Published = (&'static str, [f64; 6], [f64; 6]);

/// The datasets as configs call them.
const PUBLISHED: [Published; 7] = [
    ("cars3d", [1.0, 36.0, 26.0, 34.0, 37.0, 13.0], [4.0, 69.0, 42.0, 59.0, 51.0, 17.0]),
    ("dsprites_color", [30.0, 39.0, 52.0, 26.0, 23.0, 29.0], [69.0, 80.0, 61.0, 76.0, 40.0, 56.0]),
    ("dsprites_noisy", [17.0, 21.0, 17.0, 11.0, 41.0, 6.0], [26.0, 42.0, 25.0, 29.0, 50.0, 20.0]),
    ("dsprites_scream", [89.0, 50.0, 76.0, 45.0, 60.0, 56.0], [93.0, 74.0, 83.0, 66.0, 68.0, 75.0]),
    ("shapes3d", [31.0, 21.0, 14.0, 20.0, 26.0, 10.0], [61.0, 78.0, 53.0, 59.0, 49.0, 35.0]),
    ("smallnorb", [68.0, 71.0, 58.0, 71.0, 62.0, 62.0], [87.0, 89.0, 81.0, 88.0, 72.0, 82.0]),
    ("dsprites", [29.0, 41.0, 47.0, 26.0, 29.0, 31.0], [59.0, 77.0, 54.0, 72.0, 39.0, 56.0]),
];
/// By how many points a share of 1,800 other runs may differ: shares are those of fifty seeds, and of networks that are not told in all detail.
const ALLOWED: f64 = 10.0;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(table) = trained(request, watch, &mut outcome.notes)? else { return Ok(None) };
    for dataset in 0..table.datasets().len() {
        outcome.rows.extend(rows(&table, dataset, request.scale));
    }
    match explained::variance_explained(&table) {
        Ok(figure) => outcome.figures.push(("variance_explained.png".to_string(), figure.canvas)),
        Err(missing) => outcome.notes.push(missing),
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

fn rows(table: &StudyTable, dataset: usize, scale: Scale) -> Vec<Row> {
    let label = &table.datasets().labels[dataset];
    let published = PUBLISHED.iter().find(|(name, _, _)| label.split(' ').next() == Some(name));
    let shares = [Divided::ByObjective, Divided::BySetting]
        .map(|divided| METRICS.map(|metric| share(table, dataset, metric, divided)));
    let mut rows = Vec::new();
    for (which, by) in ["objective", "objective and strength"].iter().enumerate() {
        for (metric, ours) in METRICS.iter().zip(shares[which]) {
            let what = format!("{label}, {metric}, % explained by {by}");
            let of_metric = METRICS.iter().position(|name| name == metric).unwrap_or_default();
            let row = match published {
                Some((_, by_objective, by_both)) => {
                    Row::number(what, ours, [by_objective, by_both][which][of_metric], ALLOWED)
                }
                None => Row::ours(what, ours),
            };
            rows.push(if scale == Scale::Paper { row } else { row.only_beside() });
        }
    }
    let [by_objective, by_both] = shares.map(|shares| mean(&shares));
    let less_than_half = Row::claim(
        format!("{label}: strength and seed matter more than the objective, which explains less than half"),
        format!("{} % by objective, {} % with strength, on average", shown(by_objective), shown(by_both)),
        by_objective < 50.0,
    );
    // On two datasets T2's own numbers are above: 63 % and 65 %.
    let was_found = published.is_none_or(|(_, by_objective, _)| mean(by_objective) < 50.0);
    rows.push(if was_found { less_than_half } else { less_than_half.only_beside() });
    rows.push(Row::claim(
        format!("{label}: a good part is left to the seed, a tenth or more"),
        format!("{} % on average", shown(100.0 - by_both)),
        by_both <= 90.0,
    ));
    rows
}

/// In percent; not a number where the metric does not vary.
fn share(table: &StudyTable, dataset: usize, metric: &str, divided: Divided) -> f64 {
    let explained =
        table.score(metric).and_then(|score| explained_in_dataset(table, dataset, &score.values, divided).ok());
    explained.map_or(f64::NAN, |explained| 100.0 * explained.share)
}

/// The mean of those that are defined.
fn mean(shares: &[f64]) -> f64 {
    let defined: Vec<f64> = shares.iter().copied().filter(|share| share.is_finite()).collect();
    defined.iter().sum::<f64>() / defined.len() as f64
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-variance-explained",
    about: "Share of the variance of scores that objective and strength explain, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, tables of variance explained",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_explains_more_in_every_published_cell() {
        let cells = PUBLISHED.iter().flat_map(|(_, objective, both)| objective.iter().zip(both));
        assert!(cells.clone().all(|(objective, both)| objective < both));
        // T2's text has the means over all cells of the larger table: 37 % and 59 %.
        let mean = |which: fn(&Published) -> [f64; 6]| PUBLISHED.iter().flat_map(which).sum::<f64>() / 42.0;
        assert!((mean(|row| row.1) - 37.0).abs() < 1.0 && (mean(|row| row.2) - 59.0).abs() < 1.0);
    }
}
