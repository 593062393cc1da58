//! Which scores a study looks at: one for each metric of factors, and those that need no factors.

use unbraid_metrics::{Better, ScoreKind, ScoreOf, metric_of, reads_factors};

use unbraid_report::key_scores::KEY_SCORES;

use crate::table::{ScoreColumn, StudyTable};

/// Metrics that need no factors, so that a model could be selected by them where there are none.
const UNSUPERVISED: [&str; 5] = ["unsupervised", "udr", "reconstruction", "kl", "elbo"];

/// The scores that metrics of factors are known by, in the order of their list; and those of no known metric, for instance of
/// another program.
pub fn supervised(table: &StudyTable) -> Vec<&ScoreColumn> {
    let is_wanted = |column: &&ScoreColumn| {
        let is_known = unbraid_metrics::find(metric_of(&column.name)).is_ok();
        column.of == ScoreOf::Whole
            && metric_of(&column.name) == column.name
            && (reads_factors(&column.name) || !is_known)
    };
    without_copies(table.score_columns().iter().filter(is_wanted))
}

/// The scores that need no factors: `unsupervised` with its variants, `udr`, `reconstruction`, `kl`, `elbo`.
pub fn unsupervised(table: &StudyTable) -> Vec<&ScoreColumn> {
    let is_wanted =
        |column: &&ScoreColumn| column.of == ScoreOf::Whole && UNSUPERVISED.contains(&metric_of(&column.name));
    without_copies(table.score_columns().iter().filter(is_wanted))
}

/// The `most` scores to look at first: the key scores of factors, then others of factors; where there is none, those that need no factors.
pub fn first_to_look_at(table: &StudyTable, most: usize) -> Vec<&ScoreColumn> {
    let scores = if supervised(table).is_empty() { unsupervised(table) } else { supervised(table) };
    let place = |score: &&ScoreColumn| KEY_SCORES.iter().position(|key| key.name == score.name).unwrap_or(usize::MAX);
    let mut ordered = scores;
    ordered.sort_by_key(place);
    ordered.truncate(most);
    ordered
}

/// Supervised scores of which one way is better.
pub fn directed(table: &StudyTable) -> Vec<&ScoreColumn> {
    supervised(table).into_iter().filter(|column| better(column) != Better::Neither).collect()
}

/// Which way a score is better; neither where nothing is known of it.
pub fn better(column: &ScoreColumn) -> Better {
    column.kind.map_or(Better::Neither, |kind: &ScoreKind| kind.better)
}

/// The value turned so that higher is better.
pub fn goodness(column: &ScoreColumn, value: f64) -> f64 {
    if better(column) == Better::Low { -value } else { value }
}

/// Columns with at least one number, those left out that are another one again in every run: some metrics give their first score a
/// second name.
fn without_copies<'a>(columns: impl Iterator<Item = &'a ScoreColumn>) -> Vec<&'a ScoreColumn> {
    let mut kept: Vec<&ScoreColumn> = Vec::new();
    for column in columns.filter(|column| column.n_defined() > 0) {
        let is_copy =
            |other: &&ScoreColumn| metric_of(&other.name) == metric_of(&column.name) && other.values == column.values;
        if !kept.iter().any(is_copy) {
            kept.push(column);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use unbraid_metrics::Scores;

    use super::*;
    use crate::table::Run;

    #[test]
    fn metrics_are_told_by_whether_they_read_factors() {
        let scores = Scores::new()
            .with("mig", 0.5)
            .with_factor("mig", "shape", Ok::<f64, String>(0.5))
            .with("cbd.modularity", 0.5)
            .with("jemmig", 0.25)
            .with("unsupervised", 2.0)
            .with("unsupervised.gaussian_total_correlation", 2.0)
            .with("unsupervised.mutual_information", 0.5)
            .with("elbo", -9.0)
            .with("active_units", 3.0)
            .with("mine", 1.0)
            .without("udr", "one run");
        let config = "seed = 1\ndataset.name = 'a'\nframework.name = 'vae'".parse().unwrap();
        let table = StudyTable::new(&[Run { name: "a".to_string(), config, scores }]).unwrap();
        let names = |columns: Vec<&ScoreColumn>| columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(supervised(&table)), ["mig", "jemmig", "mine"]);
        assert_eq!(names(directed(&table)), ["mig", "jemmig"]);
        assert_eq!(names(unsupervised(&table)), ["unsupervised", "unsupervised.mutual_information", "elbo"]);
        assert_eq!(goodness(table.score("unsupervised").unwrap(), 2.0), -2.0);
    }
}
