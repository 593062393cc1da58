//! T3 figures 5.4 to 5.6 (section 5.3): linear correlations between metrics over the models of all datasets together, of metrics that mean to measure compactness, and of those that
//! mean to measure modularity.
//!
//! The text has two numbers, which stand beside ours: T3 does not list its 1,286 models, nor whose code the metrics are. Its observations are claims: CbD is closest to MIG and MIG_SUP;
//! it has no correlation with explicitness, here less than 0.2; scores of compactness agree more than those of modularity; CbD and its modularity are closer to MIG_SUP and FactorVAE's
//! metric than to beta-VAE's metric and modularity. At paper scale the runs are those of tables 7.1 and 7.4, at smaller ones those of table 7.1, of one dataset: there the
//! claims on explicitness and modularity, which come from the differences between datasets, are only shown.

use unbraid_data::Result;
use unbraid_report::figures::heatmap::heatmap_over;
use unbraid_study::StudyTable;
use unbraid_study::statistics::agreement::{COMPACTNESS, MODULARITY};
use unbraid_study::statistics::correlations::{Coefficient, Correlations, LEAST_RUNS, Named, correlations};

use super::planned::{above, shown, study_table, train_at_hand};
use super::t3_tables::only_at_paper;
use super::trained::{Group, of_scale};
use super::{Entry, Outcome, Request, Row, Run, Scale, t3_table_7_1, t3_table_7_4};
use crate::watch::Watch;

/// The metrics of figure 5.4.
const METRICS: [&str; 9] =
    ["cbd", "beta_vae", "factor_vae", "explicitness", "irs", "mig", "mig_sup", "modularity", "sap"];
/// What the text tells of single pairs, to two digits.
const PUBLISHED: [([&str; 2], f64); 2] = [(["explicitness", "sap"], -0.04), (["cbd.compactness", "sap"], 0.65)];
/// A correlation that is nearer to 0 is none.
const NONE: f64 = 0.2;

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let groups = groups(request.scale)?;
    let Some(runs) = train_at_hand(groups, request, watch, &mut outcome.notes)? else { return Ok(None) };
    let table = study_table(&runs, |_| true)?;
    let figures =
        [("metrics", &METRICS[..]), ("scores of compactness", &COMPACTNESS), ("scores of modularity", &MODULARITY)];
    for (number, (what, names)) in (4..).zip(figures) {
        let found = pooled(&table, names);
        if found.tells_something() {
            let title = format!("Linear correlation of {what}: {} runs", table.n_runs());
            outcome.figures.push((format!("figure_5_{number}.png"), heatmap_over(&title, &found.matrix(), -1.0, 1.0)));
        }
        outcome.rows.extend(own_rows(&found, what));
    }
    outcome.rows.extend(claims(&table, request.scale));
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The runs of tables 7.1 and 7.4, each once.
fn groups(scale: Scale) -> Result<Vec<Group>> {
    let mut groups = t3_table_7_1::groups(scale)?;
    if scale == Scale::Paper {
        for group in t3_table_7_4::GRIDS.groups(scale)? {
            if groups.iter().all(|other| other.config != group.config) {
                groups.push(group);
            }
        }
    }
    Ok(groups)
}

/// The correlations of scores over the runs of all datasets.
fn pooled(table: &StudyTable, names: &[&str]) -> Correlations {
    let scores = names.iter().filter_map(|name| table.score(name));
    let columns: Vec<Named> = scores.map(|score| (score.name.as_str(), score.values.clone())).collect();
    correlations(&columns, &columns, Coefficient::Pearson, LEAST_RUNS)
}

/// A row for each pair, of which few numbers were published.
fn own_rows(found: &Correlations, what: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, one) in found.rows.iter().enumerate() {
        for other in &found.rows[place + 1..] {
            let told = format!("{what}: {one} and {other}");
            let ours = found.between(one, other).unwrap_or(f64::NAN);
            let published = PUBLISHED.iter().find(|(of, _)| of.contains(&one.as_str()) && of.contains(&other.as_str()));
            rows.push(match published {
                Some((_, published)) => Row::number(told, ours, *published, 0.005).only_beside(),
                None => Row::ours(told, ours),
            });
        }
    }
    rows
}

fn claims(table: &StudyTable, scale: Scale) -> Vec<Row> {
    let all: Vec<&str> = METRICS.iter().chain(&COMPACTNESS).chain(&MODULARITY).copied().collect();
    let found = pooled(table, &all);
    let mean = |one: &[&str], other: &[&str]| mean_of(&found, one, other);
    let cbd = |others: &[&str]| mean(&["cbd"], others);
    let rest: Vec<&str> = METRICS.iter().copied().filter(|name| !["cbd", "mig", "mig_sup"].contains(name)).collect();
    let explicitness = cbd(&["explicitness"]);
    let own = ["cbd", "cbd.modularity"];
    vec![
        above("CbD is closer to MIG and MIG_SUP than to other metrics", [cbd(&["mig", "mig_sup"]), cbd(&rest)]),
        only_at_paper(
            Row::claim(
                format!("CbD has no correlation with explicitness: less than {NONE}"),
                shown(explicitness),
                explicitness.abs() < NONE,
            ),
            scale,
        ),
        above(
            "scores of compactness agree more than those of modularity",
            [mean(&COMPACTNESS[1..], &COMPACTNESS[1..]), mean(&MODULARITY[1..], &MODULARITY[1..])],
        ),
        only_at_paper(
            above(
                "CbD and its modularity are closer to MIG_SUP and FactorVAE's metric than to beta-VAE's metric and modularity",
                [mean(&own, &["mig_sup", "factor_vae"]), mean(&own, &["beta_vae", "modularity"])],
            ),
            scale,
        ),
    ]
}

/// Every two different names, one of each list.
fn pairs<'a>(one: &'a [&'a str], other: &'a [&'a str]) -> impl Iterator<Item = [&'a str; 2]> {
    one.iter().flat_map(move |one| other.iter().map(move |other| [*one, *other])).filter(|pair| pair[0] != pair[1])
}

/// The mean of the defined correlations of pairs; not a number where none is.
fn mean_of(found: &Correlations, one: &[&str], other: &[&str]) -> f64 {
    let values: Vec<f64> = pairs(one, other).filter_map(|pair| found.between(pair[0], pair[1])).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t3-figure-5.4",
    about: "Linear correlations between metrics over the runs of t3-table-7.1, trained: dsprites, and files at hand",
    paper: "Mogultay Ozcan 2024, figures 5.4 to 5.6",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_at_paper_scale_are_about_as_many_as_published() {
        let n_runs: u64 = groups(Scale::Paper).unwrap().iter().map(|group| group.n_seeds).sum();
        assert_eq!(n_runs, 1296);
    }

    #[test]
    fn correlations_are_of_all_datasets_together() {
        let run = |seed: i64, dataset: &str, mig: f64, cbd: f64| unbraid_study::Run {
            name: format!("{dataset}{seed}"),
            config: format!("seed = {seed}\ndataset.name = '{dataset}'\nframework.name = 'vae'").parse().unwrap(),
            scores: unbraid_metrics::Scores::new().with("cbd", cbd).with("mig", mig),
        };
        // Within each dataset the two go in opposite directions, over both together they do not: deviations of mig are
        // -1.5 -0.5 -0.5 0.5 0.5 1.5 and those of cbd -0.5 -1.5 -0.5 0.5 1.5 0.5, so that the correlation is 3.5 / 5.5.
        let runs = [
            run(1, "a", 0.0, 1.0),
            run(2, "a", 1.0, 0.0),
            run(3, "a", 1.0, 1.0),
            run(1, "b", 2.0, 2.0),
            run(2, "b", 2.0, 3.0),
            run(3, "b", 3.0, 2.0),
        ];
        let found = pooled(&StudyTable::new(&runs).unwrap(), &["cbd", "mig", "sap"]);
        assert_eq!(found.rows, ["cbd", "mig"]);
        assert!((found.between("mig", "cbd").unwrap() - 3.5 / 5.5).abs() < 1e-12);
        assert!((mean_of(&found, &["cbd"], &["mig", "sap"]) - 3.5 / 5.5).abs() < 1e-12);
    }
}
