//! Explicitness: how well a linear classifier tells each factor's values from the whole code.
//!
//! Ridgeway and Mozer 2018, "Learning deep disentangled embeddings with the F-statistic loss", section 3, as in Locatello
//! et al. 2019: logistic regression (L2, C = 1) of each factor on the codes at mean 0 and variance 1, both taken from the
//! train rows, and the mean over the factor's values of the area under the curve of that value against the others.
//! `explicitness` is the mean over factors on the test rows, `explicitness.train` on the train rows, and
//! `explicitness.scaled = 2 explicitness - 1`, which is 0 for guesses, what Mogultay Ozcan 2024 seems to print.
//!
//! Departures: the mean is over those values that some but not all rows have (the reference stops where one is
//! missing), and test rows with a value that was not fitted on count against all others; a constant latent is left at 0
//! (the reference divides by 0); a factor with a single value among the train rows takes no part, nor does a continuous
//! one, which has no values to tell apart.

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::predictors::logistic_regression::LogisticRegression;
use crate::statistics::known_values::KnownValues;
use crate::statistics::mean::mean_of_defined;
use crate::statistics::roc_auc::roc_auc;
use crate::statistics::standardise::Standardisation;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// Settings of explicitness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Explicitness {
    /// Inverse strength of the classifier's penalty, above 0; 1 in Locatello et al. 2019.
    pub c: f64,
}

impl Default for Explicitness {
    fn default() -> Self {
        Self { c: 1.0 }
    }
}

/// Mean area under the curve of one factor's values.
struct Areas {
    train: Result<f64, String>,
    test: Result<f64, String>,
}

/// Standardised codes and the factors of the same rows.
struct Half<'a> {
    codes: Array2<f64>,
    factors: &'a Array2<f64>,
}

impl Metric for Explicitness {
    /// `explicitness` and `explicitness.train` with a part for each factor, in [0, 1], and `explicitness.scaled`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let areas: Vec<Areas> = match subject.split() {
            Err(reason) => {
                let none = || Areas { train: Err(reason.clone()), test: Err(reason.clone()) };
                (0..data.n_factors()).map(|_| none()).collect()
            }
            Ok(split) => {
                let standardisation = Standardisation::of(&split.train.codes);
                let half = |codes, factors| Half { codes: standardisation.apply(codes), factors };
                let train = half(&split.train.codes, &split.train.factors);
                let test = half(&split.test.codes, &split.test.factors);
                (0..data.n_factors()).into_par_iter().map(|factor| self.areas(data, &train, &test, factor)).collect()
            }
        };
        let (train, test): (Vec<_>, Vec<_>) = areas.into_iter().map(|areas| (areas.train, areas.test)).unzip();
        let scaled = mean_of_defined(&test).map(|area| 2.0 * area - 1.0);
        // The means first: a factor may be called `train`.
        let scores = Scores::new()
            .with_outcome("explicitness", mean_of_defined(&test))
            .with_outcome("explicitness.train", mean_of_defined(&train))
            .with_outcome("explicitness.scaled", scaled);
        let scores = with_parts(scores, data, "explicitness", &test);
        with_parts(scores, data, "explicitness.train", &train)
    }
}

impl Explicitness {
    fn areas(&self, data: &LabelledCodes, train: &Half, test: &Half, factor: usize) -> Areas {
        let undefined = |reason: &str| Areas { train: Err(reason.to_string()), test: Err(reason.to_string()) };
        if data.space().factors()[factor].size.is_none() {
            return undefined("the factor is continuous and has no values to tell apart");
        }
        let (known, classes) = KnownValues::of(&train.factors.column(factor));
        if classes.n_classes == 1 {
            return undefined("the factor has a single value among the rows fitted on");
        }
        let fitted = LogisticRegression::fit(&train.codes, &classes, self.c);
        let area = |half: &Half| {
            mean_area(&fitted.probabilities(&half.codes), &known.classes_of(&half.factors.column(factor)))
        };
        Areas { train: area(train), test: area(test) }
    }
}

/// The mean over classes of the area under the curve of their `probabilities [rows, classes]`.
fn mean_area(probabilities: &Array2<f64>, classes: &[Option<usize>]) -> Result<f64, String> {
    let of_class = |class: usize| {
        let is_positive: Vec<bool> = classes.iter().map(|&of_row| of_row == Some(class)).collect();
        roc_auc(&probabilities.column(class).to_vec(), &is_positive)
    };
    let areas: Vec<Option<f64>> = (0..probabilities.ncols()).into_par_iter().map(of_class).collect();
    let areas: Vec<f64> = areas.into_iter().flatten().collect();
    if areas.is_empty() {
        return Err("needs rows with at least two values of the factor to test on".to_string());
    }
    Ok(areas.iter().sum::<f64>() / areas.len() as f64)
}

/// Adds each factor's own.
fn with_parts(mut scores: Scores, data: &LabelledCodes, name: &str, per_factor: &[Result<f64, String>]) -> Scores {
    for (factor, area) in data.space().names().zip(per_factor) {
        scores = scores.with_factor(name, factor, area.as_ref().copied());
    }
    scores
}

fn build(table: &Table) -> unbraid_data::Result<Box<dyn Metric>> {
    let explicitness: Explicitness = settings::read(table)?;
    let c = explicitness.c;
    if !(1e-100..=1e100).contains(&c) {
        return Err(Error::new(format!("setting \"c\" is {c}")).help("wanted a number from 1e-100 to 1e100"));
    }
    Ok(Box::new(explicitness))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "explicitness",
    about: "how well a linear classifier tells each factor's values from the code",
    paper: "Ridgeway and Mozer 2018",
    settings: &[Setting {
        name: "c",
        values: Values::Number(1e-100, 1e100),
        meaning: "inverse strength of the classifier's penalty",
    }],
    scores: &[
        ScoreKind { name: "explicitness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "explicitness.train", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "explicitness.scaled", least: -1.0, greatest: 1.0, better: High },
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
    build,
    complete: settings::complete::<Explicitness>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    fn score(codes: Array2<f64>, factors: Array2<f64>, train: &[usize], test: &[usize]) -> Scores {
        let (train_rows, test_rows) = (Some(train.to_vec()), Some(test.to_vec()));
        let extras = Extras { train_rows, test_rows, ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("shape", 3)]), extras).unwrap();
        Explicitness::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/explicitness"))
    }

    #[test]
    fn a_line_of_three_values_is_told_apart_at_its_ends_only_by_order() {
        // Along one latent the probabilities of the first and the last value fall and rise, so both areas are 1 on any
        // rows in order; by symmetry the middle value's is highest at the middle: 1 too.
        let codes = array![[-1.0], [0.0], [1.0], [-1.1], [0.1], [1.1]];
        let factors = array![[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]];
        let scores = score(codes, factors, &[0, 1, 2], &[3, 4, 5]);
        for name in ["explicitness", "explicitness.train", "explicitness.scaled", "explicitness.shape"] {
            assert_eq!(scores.value(name), Some(1.0), "{name}");
        }
    }

    #[test]
    fn values_that_no_test_row_has_are_left_out() {
        // Tested on the values 0 and 2 in the wrong order: both areas are 0.
        let codes = array![[-1.0], [0.0], [1.0], [1.0], [-1.0]];
        let factors = array![[0.0], [1.0], [2.0], [0.0], [2.0]];
        let scores = score(codes, factors, &[0, 1, 2], &[3, 4]);
        assert_eq!(scores.value("explicitness"), Some(0.0));
        assert_eq!(scores.value("explicitness.scaled"), Some(-1.0));
    }

    #[test]
    fn constant_codes_are_guesses() {
        let factors = array![[0.0], [1.0], [2.0], [1.0]];
        let scores = score(Array2::from_elem((4, 2), 0.1), factors, &[0, 1, 2], &[2, 3]);
        assert_eq!(scores.value("explicitness"), Some(0.5));
    }
}
