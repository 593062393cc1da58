//! Disentanglement, completeness and informativeness by boosted trees: whether each latent matters for one factor, each
//! factor rests on one latent, and the latents together tell the factors.
//!
//! Eastwood and Williams 2018, "A framework for the quantitative evaluation of disentangled representations", section 2,
//! with the estimator of Locatello et al. 2019: for each factor, scikit-learn's gradient-boosted trees at their
//! defaults are fitted on the train rows; a latent's importance is its share of what the splits take off the squared error.
//! Informativeness is the share of rows whose factor is predicted right; it is an accuracy, the higher the better,
//! where the paper has an error.
//!
//! What tables print as "DCI" is disentanglement, so `dci` is `dci.disentanglement`.
//!
//! Departures: see `importance_scores` for entropies, `predictors::boosted_trees` for ties. A continuous factor is
//! regressed, and its informativeness is `R^2`, 0 where that is negative. A factor with a single value in the train rows, at
//! which scikit-learn stops, is of importance to no latent and takes no part in informativeness.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::dci_scores::{Prediction, dci_scores};
use crate::importance_scores::no_dci_scores;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// DCI by boosted trees, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dci {}

impl Metric for Dci {
    /// `dci`, `dci.disentanglement` and `.zI`, `dci.completeness` and `.FACTOR`, `dci.informativeness_train` and `_test`
    /// and `.FACTOR`, all in [0, 1], and the matrix `dci.importance`, each of whose columns sums to 1.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let fitted = subject.split().and_then(|split| Ok((split, subject.boosted_trees()?)));
        let (split, trees) = match fitted {
            Ok(fitted) => fitted,
            Err(reason) => return no_dci_scores("dci", &reason),
        };
        let predictions: Vec<Prediction> = trees
            .iter()
            .map(|trees| Prediction {
                importance: trees.importance().to_vec(),
                train: trees.train_predictions().to_vec(),
                test: trees.predict(&split.test.codes),
            })
            .collect();
        dci_scores("dci", subject.data(), split, &predictions)
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "dci",
    about: "whether each latent matters for one factor, by boosted trees",
    paper: "Eastwood and Williams 2018",
    settings: &[],
    scores: &[
        ScoreKind { name: "dci", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci.disentanglement", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci.completeness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci.informativeness_train", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci.informativeness_test", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[
        LatentOrder,
        LatentSigns,
        CommonScale,
        LatentScales,
        Shift,
        RowOrder,
        ValueOrder,
        LogVariances,
        Losses,
    ],
    build: |table| Ok(Box::new(settings::read::<Dci>(table)?)),
    complete: settings::complete::<Dci>,
};
