//! Whether scores agree over the runs of a dataset: metrics among each other (T2 figure 2, T3 figures 5.4 to 5.6), and metrics with what can be
//! measured without factors (T2, on unsupervised model selection).

use super::correlations::{Coefficient, Correlations, LEAST_RUNS, Named, correlations};
use crate::chosen_scores;
use crate::table::{ScoreColumn, StudyTable};

/// The metrics that T3 figure 5.5 compares: whether a factor is in one latent.
pub const COMPACTNESS: [&str; 4] = ["cbd", "cbd.compactness", "mig", "sap"];
/// The metrics that T3 figure 5.6 compares: whether a latent is of one factor.
pub const MODULARITY: [&str; 6] = ["cbd", "cbd.modularity", "beta_vae", "factor_vae", "mig_sup", "modularity"];

/// The correlations of all metrics of factors among each other, over the runs of one dataset.
pub fn of_metrics(table: &StudyTable, dataset: usize, coefficient: Coefficient) -> Correlations {
    let columns = named(table, dataset, &chosen_scores::supervised(table));
    correlations(&columns, &columns, coefficient, LEAST_RUNS)
}

/// The correlations of scores with these names, of those that there are.
pub fn of_named(table: &StudyTable, dataset: usize, names: &[&str], coefficient: Coefficient) -> Correlations {
    let scores: Vec<&ScoreColumn> = names.iter().filter_map(|name| table.score(name)).collect();
    let columns = named(table, dataset, &scores);
    correlations(&columns, &columns, coefficient, LEAST_RUNS)
}

/// The rank correlations of all metrics of factors (rows) with all scores that need none (columns).
pub fn with_unsupervised(table: &StudyTable, dataset: usize) -> Correlations {
    let rows = named(table, dataset, &chosen_scores::supervised(table));
    let columns = named(table, dataset, &chosen_scores::unsupervised(table));
    correlations(&rows, &columns, Coefficient::Spearman, LEAST_RUNS)
}

/// The scores of the runs of one dataset, without those that none of them has.
fn named<'a>(table: &StudyTable, dataset: usize, scores: &[&'a ScoreColumn]) -> Vec<Named<'a>> {
    let runs = table.datasets().runs_of(dataset);
    let of_runs =
        |column: &&'a ScoreColumn| (column.name.as_str(), runs.iter().map(|&run| column.values[run]).collect());
    let columns = scores.iter().map(of_runs);
    columns.filter(|(_, values): &Named| values.iter().any(Option::is_some)).collect()
}
