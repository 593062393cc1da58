//! All scores of a table, shared by the tests that walk the list of metrics.

use toml::Table;
use unbraid_data::{LabelledCodes, Seed};
use unbraid_metrics::{METRICS, Scores, Subject, build, score_all};

/// The scores of every metric at its published settings, beside other models' codes of the same images, checked for what
/// must hold of any: finite numbers, reasons in words, each name once, and each metric heard of.
pub fn scores_of_all(data: &LabelledCodes, others: &[&LabelledCodes]) -> Scores {
    let metrics: Vec<_> = METRICS
        .iter()
        .map(|entry| (entry.name.to_string(), build(entry.name, &Table::new()).expect("defaults are accepted")))
        .collect();
    let scores = score_all(&metrics, &Subject::among(data, others, Seed(1)), Seed(1));
    assert!(scores.values.iter().all(|score| score.value.is_finite()), "{scores:?}");
    assert!(scores.matrices.iter().all(|matrix| matrix.values.iter().all(|value| value.is_finite())), "{scores:?}");
    assert!(scores.undefined.iter().all(|score| !score.reason.is_empty()), "{scores:?}");
    let mut names: Vec<&str> = scores.values.iter().map(|score| score.name.as_str()).collect();
    names.extend(scores.undefined.iter().map(|score| score.name.as_str()));
    for entry in METRICS {
        assert!(names.contains(&entry.name), "{} is neither defined nor undefined", entry.name);
    }
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name occurs twice: {names:?}");
    scores
}
