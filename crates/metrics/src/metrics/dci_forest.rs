//! Disentanglement, completeness and informativeness by random forests.
//!
//! Eastwood and Williams 2018, "A framework for the quantitative evaluation of disentangled representations", who use
//! lasso and random forests; the same scores as `dci`, with importances and predictions of scikit-learn's
//! `RandomForestClassifier` at its defaults, as later libraries offer them. A forest draws a few latents for each split,
//! so that latents without information are split too: they get a share of importance, and scores stay well below
//! those of boosted trees.
//!
//! Departures: see `importance_scores` for entropies. The forest's draws are ours, so scores agree with scikit-learn's
//! as two of its seeds do. A continuous factor is cut into 20 bins of equal width on the train rows, and what is
//! predicted is the mean of a bin's train rows; its informativeness is `R^2`, 0 where that is negative. A factor with a
//! single value in the train rows takes no part in informativeness.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::dci_scores::{Prediction, dci_scores};
use crate::importance_scores::no_dci_scores;
use crate::predictors::random_forest::RandomForest;
use crate::statistics::classes::{Classes, classes_of_factors};
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// How many bins a continuous factor is cut into, as `mig` does.
pub const N_BINS: usize = 20;

/// DCI by random forests, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DciForest {}

impl Metric for DciForest {
    /// `dci_forest`, `dci_forest.disentanglement` and `.zI`, `dci_forest.completeness` and `.FACTOR`,
    /// `dci_forest.informativeness_train` and `_test` and `.FACTOR`, all in [0, 1], and the matrix
    /// `dci_forest.importance`, each of whose columns sums to 1.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let (split, table) = match subject.split().and_then(|split| Ok((split, subject.ranked_codes()?))) {
            Ok(tables) => tables,
            Err(reason) => return no_dci_scores("dci_forest", &reason),
        };
        let classes = classes_of_factors(&split.train.factors, data.space().factors(), N_BINS);
        let columns = classes.iter().zip(split.train.factors.columns());
        let predictions: Vec<Prediction> = columns
            .map(|(classes, column)| {
                let forest = RandomForest::fit(table, classes, rng);
                let means = mean_of_classes(classes, column.iter());
                let values = |classes: Vec<usize>| classes.into_iter().map(|class| means[class]).collect();
                Prediction {
                    importance: forest.importance().to_vec(),
                    train: values(forest.predict(&split.train.codes)),
                    test: values(forest.predict(&split.test.codes)),
                }
            })
            .collect();
        dci_scores("dci_forest", data, split, &predictions)
    }
}

/// The mean of the rows of each class: the factor's value itself where it is discrete. Empty bins, which are never
/// predicted, have 0. `[classes]`
pub fn mean_of_classes<'a>(classes: &Classes, values: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let (mut means, mut counts) = (vec![0.0; classes.n_classes], vec![0.0; classes.n_classes]);
    for (&class, value) in classes.of_rows.iter().zip(values) {
        // A running mean of equal values is exactly their value, and never leaves the range of numbers.
        counts[class] += 1.0;
        means[class] += value / counts[class] - means[class] / counts[class];
    }
    means
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "dci_forest",
    about: "whether each latent matters for one factor, by random forests",
    paper: "Eastwood and Williams 2018",
    settings: &[],
    scores: &[
        ScoreKind { name: "dci_forest", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_forest.disentanglement", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_forest.completeness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_forest.informativeness_train", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_forest.informativeness_test", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[CommonScale, LatentScales, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<DciForest>(table)?)),
    complete: settings::complete::<DciForest>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_equal_values_has_their_value() {
        let classes = Classes { of_rows: vec![0, 2, 0, 2, 0], n_classes: 3 };
        assert_eq!(mean_of_classes(&classes, [0.3, 1.0, 0.3, 2.0, 0.3].iter()), [0.3, 0.0, 1.5]);
        let widest = Classes { of_rows: vec![0, 0], n_classes: 1 };
        assert_eq!(mean_of_classes(&widest, [f64::MIN, f64::MAX].iter()), [0.0]);
    }
}
