//! T2 figure 3: FactorVAE's metric by objective, and that of FactorVAEs by the strength of regularisation.
//!
//! The figure, on Cars3D, has no numbers in the text, which says that the scores of objectives overlap heavily, and that a good run with a bad strength can beat a bad run with a good one.
//! Here: of every two objectives the best run of the one with the lower mean is above the worst of the other, and the same of the best and the worst strength of FactorVAE.

use unbraid_data::Result;
use unbraid_study::StudyTable;
use unbraid_study::figures::violins;
use unbraid_study::table::ScoreColumn;

use super::planned::shown;
use super::spread::Spread;
use super::t2_runs::trained;
use super::trained::of_scale;
use super::{Entry, Outcome, Request, Row, Run};
use crate::watch::Watch;

const METRIC: &str = "factor_vae";
const STRENGTH: &str = "framework.gamma";

fn run(request: &Request, watch: &mut dyn Watch) -> Result<Option<Outcome>> {
    let mut outcome = Outcome::default();
    let Some(table) = trained(request, watch, &mut outcome.notes)? else { return Ok(None) };
    let Some(metric) = table.score(METRIC) else { return Ok(Some(outcome)) };
    for dataset in 0..table.datasets().len() {
        outcome.rows.extend(rows(&table, dataset, metric));
        let strength = table.varying().into_iter().find(|column| column.name == STRENGTH);
        let drawn = [
            ("objectives", Some(violins::by_objective(&table, dataset, &[metric]))),
            ("strengths", strength.map(|column| violins::by_value(&table, dataset, column, &[metric]))),
        ];
        for (name, drawn) in drawn {
            match drawn {
                Some(Ok(figure)) => outcome.figures.push((format!("{name}_{dataset}.png"), figure.canvas)),
                Some(Err(missing)) => outcome.notes.push(missing),
                None => outcome.notes.push("no FactorVAE was trained".to_string()),
            }
        }
    }
    Ok(Some(of_scale(outcome, request.scale)))
}

/// The scores of one group of runs.
struct Scored {
    name: String,
    scores: Vec<f64>,
}

impl Scored {
    fn mean(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    fn least(&self) -> f64 {
        self.scores.iter().copied().fold(f64::NAN, f64::min)
    }

    fn greatest(&self) -> f64 {
        self.scores.iter().copied().fold(f64::NAN, f64::max)
    }
}

fn rows(table: &StudyTable, dataset: usize, metric: &ScoreColumn) -> Vec<Row> {
    let label = &table.datasets().labels[dataset];
    let runs = table.datasets().runs_of(dataset);
    let scored = |name: &str, is_of: &dyn Fn(usize) -> bool| Scored {
        name: name.to_string(),
        scores: runs.iter().filter(|run| is_of(**run)).filter_map(|&run| metric.values[run]).collect(),
    };
    let objectives: Vec<Scored> = (0..table.objectives().len())
        .map(|one| scored(&table.objectives().labels[one], &|run| table.objectives().of_runs[run] == one))
        .filter(|group| !group.scores.is_empty())
        .collect();
    let is_factor_vae = |run: usize| table.objectives().labels[table.objectives().of_runs[run]] == METRIC;
    let strengths: Vec<Scored> = (0..table.settings().len())
        .map(|one| {
            scored(&table.settings().labels[one], &|run| is_factor_vae(run) && table.settings().of_runs[run] == one)
        })
        .filter(|group| !group.scores.is_empty())
        .collect();
    let mut rows: Vec<Row> = objectives
        .iter()
        .chain(&strengths)
        .map(|group| Row::mean(format!("{label}, {METRIC} of {}", group.name), Spread::of(&group.scores), None))
        .collect();
    let n_pairs = objectives.len() * objectives.len().saturating_sub(1) / 2;
    let n_overlapping = objectives
        .iter()
        .enumerate()
        .flat_map(|(place, one)| objectives[place + 1..].iter().map(move |other| overlap(one, other)))
        .filter(|overlaps| *overlaps)
        .count();
    rows.push(Row::claim(
        format!("{label}: the scores of objectives overlap"),
        format!("{n_overlapping} of {n_pairs} pairs do"),
        n_overlapping == n_pairs,
    ));
    let by_mean = |one: &&Scored, other: &&Scored| one.mean().total_cmp(&other.mean());
    if let (Some(worst), Some(best)) = (strengths.iter().min_by(by_mean), strengths.iter().max_by(by_mean)) {
        rows.push(Row::claim(
            format!("{label}: a good run of FactorVAE with a bad strength beats a bad run with a good one"),
            format!("{} against {}", shown(worst.greatest()), shown(best.least())),
            worst.name != best.name && worst.greatest() > best.least(),
        ));
    }
    rows
}

/// Whether the best run of the group with the lower mean is above the worst of the other.
fn overlap(one: &Scored, other: &Scored) -> bool {
    let (lower, upper) = if one.mean() < other.mean() { (one, other) } else { (other, one) };
    lower.greatest() > upper.least()
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "t2-figure-3",
    about: "FactorVAE's metric by objective, and by the strength of FactorVAE, trained: squares of dsprites, at paper scale seven datasets",
    paper: "Locatello et al. 2019, figure 3",
    run: Run::Trained(run),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_overlap_where_the_best_of_the_lower_is_above_the_worst_of_the_upper() {
        let scored = |scores: &[f64]| Scored { name: String::new(), scores: scores.to_vec() };
        assert!(overlap(&scored(&[0.1, 0.5]), &scored(&[0.4, 0.6])));
        assert!(!overlap(&scored(&[0.4, 0.6]), &scored(&[0.1, 0.3])));
    }
}
