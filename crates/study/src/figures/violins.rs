//! How scores are spread over runs: by objective (T2 figure 3, left) and by the values of each setting (T2 figure 3, right).

use unbraid_data::words::counted;
use unbraid_report::figures::{LEAST_OF_A_VIOLIN, ViolinGroup, ViolinPanel, violins};

use super::{Drawn, Figure};
use crate::columns::SettingColumn;
use crate::statistics::summary::defined;
use crate::table::{ScoreColumn, StudyTable};

/// A violin of every objective, a panel for each score.
pub fn by_objective(table: &StudyTable, dataset: usize, scores: &[&ScoreColumn]) -> Drawn {
    let label = &table.datasets().labels[dataset];
    let runs = table.datasets().runs_of(dataset);
    let objectives = table.objectives();
    let groups: Vec<(String, Vec<usize>)> = objectives
        .among(&runs)
        .into_iter()
        .map(|objective| (objectives.labels[objective].clone(), of(&runs, |run| objectives.of_runs[run] == objective)))
        .collect();
    let panels: Vec<ViolinPanel> = scores.iter().filter_map(|score| panel(score, &score.name, &groups)).collect();
    drawn(&format!("Scores by objective on {label}"), "The spread is over settings and seeds", &panels, runs.len())
}

/// A violin of every value of a setting, a panel for each score; where it is a setting of frameworks, which mean different things by the same name,
/// a panel for each of these too.
pub fn by_value(table: &StudyTable, dataset: usize, column: &SettingColumn, scores: &[&ScoreColumn]) -> Drawn {
    let label = &table.datasets().labels[dataset];
    let runs: Vec<usize> = of(&table.datasets().runs_of(dataset), |run| column.text(run).is_some());
    let objectives = table.objectives();
    let parts: Vec<(String, Vec<usize>)> = if column.name.starts_with("framework.") {
        let of_objective = |objective: usize| of(&runs, |run| objectives.of_runs[run] == objective);
        objectives
            .among(&runs)
            .into_iter()
            .map(|one| (format!(" of {}", objectives.labels[one]), of_objective(one)))
            .collect()
    } else {
        vec![(String::new(), runs.clone())]
    };
    let (mut panels, mut n_runs) = (Vec::new(), 0);
    for (of_part, runs) in &parts {
        let groups = groups_by_value(column, runs);
        if groups.len() >= 2 {
            n_runs += runs.len();
            panels.extend(scores.iter().filter_map(|score| panel(score, &format!("{}{of_part}", score.name), &groups)));
        }
    }
    if panels.is_empty() {
        return Err(format!("Scores by {} on {label}: needs two values of it in runs of one objective.", column.name));
    }
    drawn(
        &format!("Scores by {} on {label}", column.name),
        "The spread is over seeds and over what else differs",
        &panels,
        n_runs,
    )
}

/// The runs of each value, in rising order of values.
fn groups_by_value(column: &SettingColumn, runs: &[usize]) -> Vec<(String, Vec<usize>)> {
    let places = column.places();
    let mut distinct: Vec<usize> = runs.iter().map(|&run| places[run]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let group = |place: usize| {
        let runs = of(runs, |run| places[run] == place);
        (column.text(runs[0]).unwrap_or_default(), runs)
    };
    distinct.into_iter().map(group).collect()
}

fn of(runs: &[usize], is_wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    runs.iter().copied().filter(|&run| is_wanted(run)).collect()
}

/// None where no run has the score.
fn panel(score: &ScoreColumn, title: &str, groups: &[(String, Vec<usize>)]) -> Option<ViolinPanel> {
    let groups = groups.iter().map(|(name, runs)| {
        let values = defined(&score.values, runs);
        ViolinGroup { name: format!("{name} ({})", values.len()), values }
    });
    let groups: Vec<ViolinGroup> = groups.collect();
    let is_empty = groups.iter().all(|group| group.values.is_empty());
    let y_label = score.kind.map_or(String::new(), ToString::to_string);
    (!is_empty).then(|| ViolinPanel { title: title.to_string(), y_label, groups })
}

fn drawn(title: &str, spread: &str, panels: &[ViolinPanel], n_runs: usize) -> Drawn {
    if panels.is_empty() {
        return Err(format!("{title}: no run has a score."));
    }
    let n_runs = counted(n_runs, "run");
    let canvas = violins(&format!("{title}: {n_runs}"), panels);
    let caption = format!(
        "{title}, {n_runs}; below each group how many of them have the score. {spread}. Cross lines are medians, thick lines quartiles; groups of \
         fewer than {LEAST_OF_A_VIOLIN} runs are points alone."
    );
    Ok(Figure { name: "violins".to_string(), caption, canvas })
}
