//! Best by a rule: the setting of each objective that one score likes best, and what all other scores say of it.
//!
//! T3 tables 7.1 to 7.3 select the hyper-parameters of every model by `cbd`, by its modularity and by its compactness, and compare the models
//! that are left by other scores. Selecting without factors (by `reconstruction`, `elbo`, `unsupervised` or `udr`) is what T2 and Duan et al.
//! 2020 ask about.

use serde::Serialize;
use unbraid_metrics::Better;

use super::summary::{Summary, defined, summary};
use super::transfer::means_of_settings;
use crate::chosen_scores::{better, goodness};
use crate::table::{ScoreColumn, StudyTable};

/// Scores that models are selected by, those of T3 first, then others of factors, then those that need none.
pub const RULES: [&str; 9] =
    ["cbd", "cbd.modularity", "cbd.compactness", "mig", "dci", "udr", "unsupervised", "reconstruction", "elbo"];

/// The setting of one objective that a rule selects on one dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selected {
    /// The number of the dataset.
    pub dataset: usize,
    /// The number of the objective.
    pub objective: usize,
    /// The number of the setting with the best mean over seeds; of equal ones the first.
    pub setting: usize,
    /// How many settings of the objective there were to choose from.
    pub n_settings: usize,
    /// Its runs.
    pub runs: Vec<usize>,
}

impl Selected {
    /// Mean and spread over seeds of a score of the selected setting.
    pub fn summary(&self, score: &ScoreColumn) -> Option<Summary> {
        summary(&defined(&score.values, &self.runs))
    }
}

/// The rules that some run can be selected by.
pub fn rules(table: &StudyTable) -> Vec<&ScoreColumn> {
    let has_numbers = |score: &&ScoreColumn| score.n_defined() > 0 && better(score) != Better::Neither;
    RULES.iter().filter_map(|rule| table.score(rule)).filter(has_numbers).collect()
}

/// What `rule` selects for each dataset and objective; nothing for those without any run that has the score.
pub fn selected(table: &StudyTable, rule: &ScoreColumn) -> Vec<Selected> {
    let mut found = Vec::new();
    for dataset in 0..table.datasets().len() {
        let means = means_of_settings(table, dataset, rule);
        let runs = table.datasets().runs_of(dataset);
        for objective in table.objectives().among(&runs) {
            let own: Vec<usize> =
                runs.iter().copied().filter(|&run| table.objectives().of_runs[run] == objective).collect();
            let settings = table.settings().among(&own);
            let mut candidates: Vec<(usize, f64)> =
                settings.iter().filter_map(|&setting| Some((setting, goodness(rule, means[setting]?)))).collect();
            let n_settings = candidates.len();
            // A stable sort keeps the first of equal ones in front.
            candidates.sort_by(|a, b| b.1.total_cmp(&a.1));
            if let Some(&(setting, _)) = candidates.first() {
                let runs = own.into_iter().filter(|&run| table.settings().of_runs[run] == setting).collect();
                found.push(Selected { dataset, objective, setting, n_settings, runs });
            }
        }
    }
    found
}
