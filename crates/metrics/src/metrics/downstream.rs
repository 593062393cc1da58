//! Downstream accuracy: how well the factors are predicted from the codes of few and of many images.
//!
//! Locatello et al. 2019, "Challenging common assumptions in the unsupervised learning of disentangled representations",
//! section 5.5: boosted trees and logistic regression are fitted to each factor on the first 10, 100, 1,000 and 10,000 train rows,
//! and their accuracy on the test rows is averaged over the factors. Statistical efficiency is the accuracy from 100 rows over
//! that from 10,000. `downstream` is the accuracy of boosted trees fitted on all train rows.
//!
//! Departures: the strength of the logistic regression's penalty is fixed (`c`) unless `folds` asks for the published choice
//! among ten by 5-fold cross-validation, which takes fifty fits more; codes are brought to mean 0 and variance 1
//! first, so that the penalty means the same at any scale; the test rows are the same for all numbers of train rows. Continuous
//! factors have no accuracy and take no part.

use ndarray::{Array2, ArrayView1, Axis, s};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Result, Rng, Seed, settings};

use crate::Better::High;
use crate::Change::*;
use crate::predictors::boosted_trees::BoostedTrees;
use crate::predictors::logistic_regression::LogisticRegression;
use crate::predictors::ranked_columns::RankedColumns;
use crate::statistics::classes::Classes;
use crate::statistics::known_values::KnownValues;
use crate::statistics::mean::mean_of_defined;
use crate::statistics::standardise::Standardisation;
use crate::{Entry, Metric, ScoreKind, ScoreOf, Scores, Split, Subject};

/// What the scores of each predictor are called.
const PREDICTORS: [&str; 2] = ["downstream.boosted_trees", "downstream.logistic_regression"];

/// How many strengths of the penalty cross-validation chooses from: 1e-4 to 1e4, evenly by their logarithm.
const N_STRENGTHS: usize = 10;

/// Settings of downstream accuracy.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Downstream {
    /// How many rows are fitted on; 10, 100, 1,000 and 10,000 in Locatello et al. 2019.
    pub rows: Vec<usize>,
    /// Inverse strength of the logistic regression's penalty, above 0, where it is not chosen.
    pub c: f64,
    /// Parts of the train rows in turn held back to choose the strength; 0 for none, 5 in Locatello et al. 2019.
    pub folds: usize,
}

impl Default for Downstream {
    fn default() -> Self {
        Self { rows: vec![10, 100, 1_000, 10_000], c: 1.0, folds: 0 }
    }
}

/// Test accuracies of one predictor, `[sizes][factors]`.
type Accuracies = Vec<Vec<std::result::Result<f64, String>>>;

impl Metric for Downstream {
    /// `downstream`; `downstream.boosted_trees.ROWS` and `downstream.logistic_regression.ROWS` with a part for each factor, all
    /// in [0, 1]; and `.efficiency` of both.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let seed = Seed(rng.random());
        let fitted = subject.split().and_then(|split| Ok((split, subject.boosted_trees()?)));
        let (split, trees) = match fitted {
            Ok(fitted) => fitted,
            Err(reason) => return self.no_scores(&reason),
        };
        let data = subject.data();
        let on_all: Vec<_> = (0..data.n_factors())
            .into_par_iter()
            .map(|factor| classes_only(data, factor).map(|()| accuracy_of(&trees[factor], split, factor)))
            .collect();
        let scores = Scores::new().with_outcome("downstream", mean_of_defined(&on_all));
        let boosted = self.accuracies(data, split, |n_rows, factor| {
            if n_rows == split.train.codes.nrows() {
                return accuracy_of(&trees[factor], split, factor);
            }
            let table = RankedColumns::new(&first_rows(&split.train.codes, n_rows));
            let values: Vec<f64> = split.train.factors.slice(s![..n_rows, factor]).to_vec();
            let mut ties = seed.stream_at(&format!("ties on {n_rows} rows"), factor as u64);
            accuracy_of(&BoostedTrees::classify(&table, &values, &mut ties), split, factor)
        });
        let logistic = self.accuracies(data, split, |n_rows, factor| self.logistic_accuracy(split, n_rows, factor));
        let scores = self.with_accuracies(scores, data, PREDICTORS[0], &boosted);
        self.with_accuracies(scores, data, PREDICTORS[1], &logistic)
    }
}

impl Downstream {
    /// All scores but those of single factors, undefined for the same reason.
    fn no_scores(&self, reason: &str) -> Scores {
        let mut scores = Scores::new().without("downstream", reason);
        for name in PREDICTORS {
            for n_rows in &self.rows {
                scores = scores.with_score(&format!("{name}.{n_rows}"), name, ScoreOf::Whole, Err(reason));
            }
            scores = scores.without(&format!("{name}.efficiency"), reason);
        }
        scores
    }

    /// What `accuracy` gives for every number of rows that there are, and every factor that has classes.
    fn accuracies(
        &self,
        data: &LabelledCodes,
        split: &Split,
        accuracy: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Accuracies {
        let n_train = split.train.codes.nrows();
        let of_size = |&n_rows: &usize| -> Vec<std::result::Result<f64, String>> {
            (0..data.n_factors())
                .into_par_iter()
                .map(|factor| {
                    if n_rows > n_train {
                        return Err(format!("needs {n_rows} rows to fit on, found {n_train}"));
                    }
                    classes_only(data, factor).map(|()| accuracy(n_rows, factor))
                })
                .collect()
        };
        self.rows.iter().map(of_size).collect()
    }

    fn with_accuracies(&self, mut scores: Scores, data: &LabelledCodes, name: &str, accuracies: &Accuracies) -> Scores {
        let means: Vec<_> = accuracies.iter().map(|of_factors| mean_of_defined(of_factors)).collect();
        for ((n_rows, mean), of_factors) in self.rows.iter().zip(&means).zip(accuracies) {
            let of_size = format!("{name}.{n_rows}");
            scores = scores.with_score(&of_size, name, ScoreOf::Whole, mean.clone());
            for (factor, accuracy) in data.space().names().zip(of_factors) {
                let of = ScoreOf::Factor(factor.to_string());
                scores = scores.with_score(&format!("{of_size}.{factor}"), name, of, accuracy.clone());
            }
        }
        let of_size = |wanted: usize| {
            let place = self.rows.iter().position(|&n_rows| n_rows == wanted);
            place.map_or_else(|| Err(format!("needs accuracies on {wanted} rows")), |place| means[place].clone())
        };
        let efficiency = of_size(100).and_then(|few| match of_size(10_000)? {
            0.0 => Err("no row is predicted right".to_string()),
            many => Ok(few / many),
        });
        scores.with_outcome(&format!("{name}.efficiency"), efficiency)
    }

    /// The accuracy of logistic regression fitted on the first rows.
    fn logistic_accuracy(&self, split: &Split, n_rows: usize, factor: usize) -> f64 {
        let codes = first_rows(&split.train.codes, n_rows);
        let standardisation = Standardisation::of(&codes);
        let codes = standardisation.apply(&codes);
        let (known, classes) = KnownValues::of(&split.train.factors.slice(s![..n_rows, factor]));
        let truth = known.classes_of(&split.test.factors.column(factor));
        if classes.n_classes == 1 {
            return share_of_right(&vec![0; truth.len()], &truth);
        }
        let c = if (2..=n_rows).contains(&self.folds) { chosen_strength(&codes, &classes, self.folds) } else { self.c };
        let fitted = LogisticRegression::fit(&codes, &classes, c);
        share_of_right(&fitted.predict(&standardisation.apply(&split.test.codes)), &truth)
    }
}

/// The strength with the best mean accuracy over the parts held back, which are runs of neighbouring rows; the strongest penalty
/// of several.
fn chosen_strength(codes: &Array2<f64>, classes: &Classes, folds: usize) -> f64 {
    let n_rows = codes.nrows();
    let accuracies: Vec<Vec<f64>> = (0..folds)
        .into_par_iter()
        .map(|fold| {
            let held = fold * n_rows / folds..(fold + 1) * n_rows / folds;
            let kept: Vec<usize> = (0..n_rows).filter(|row| !held.contains(row)).collect();
            let of_kept = kept.iter().map(|&row| classes.of_rows[row]).collect();
            let of_kept = Classes { of_rows: of_kept, n_classes: classes.n_classes };
            let kept = codes.select(Axis(0), &kept);
            let tested = codes.slice(s![held.clone(), ..]).to_owned();
            let truth: Vec<Option<usize>> = classes.of_rows[held].iter().map(|&class| Some(class)).collect();
            let mut fitted: Option<LogisticRegression> = None;
            let of_strength = (0..N_STRENGTHS).map(|place| {
                let next = match &fitted {
                    None => LogisticRegression::fit(&kept, &of_kept, strength(place)),
                    Some(last) => LogisticRegression::fit_from(&last.weights, &kept, &of_kept, strength(place)),
                };
                let accuracy = share_of_right(&next.predict(&tested), &truth);
                fitted = Some(next);
                accuracy
            });
            of_strength.collect()
        })
        .collect();
    let sums: Vec<f64> = (0..N_STRENGTHS).map(|place| accuracies.iter().map(|of_fold| of_fold[place]).sum()).collect();
    strength((1..N_STRENGTHS).fold(0, |best, place| if sums[place] > sums[best] { place } else { best }))
}

/// Inverse strengths from 1e-4 to 1e4.
fn strength(place: usize) -> f64 {
    10_f64.powf(-4.0 + 8.0 * place as f64 / (N_STRENGTHS - 1) as f64)
}

fn first_rows(codes: &Array2<f64>, n_rows: usize) -> Array2<f64> {
    codes.slice(s![..n_rows, ..]).to_owned()
}

fn classes_only(data: &LabelledCodes, factor: usize) -> std::result::Result<(), String> {
    match data.space().factors()[factor].size {
        Some(_) => Ok(()),
        None => Err("the factor is continuous and has no accuracy".to_string()),
    }
}

fn accuracy_of(trees: &BoostedTrees, split: &Split, factor: usize) -> f64 {
    let truth: ArrayView1<f64> = split.test.factors.column(factor);
    let right =
        trees.predict(&split.test.codes).iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    right as f64 / truth.len() as f64
}

fn share_of_right(predicted: &[usize], truth: &[Option<usize>]) -> f64 {
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| Some(**predicted) == **truth).count();
    right as f64 / truth.len() as f64
}

fn build(table: &Table) -> Result<Box<dyn Metric>> {
    let downstream: Downstream = settings::read(table)?;
    let Downstream { rows, c, folds } = &downstream;
    if rows.is_empty() || rows.contains(&0) {
        return Err(Error::new(format!("setting \"rows\" is {rows:?}")).help("wanted numbers of 1 or more"));
    }
    if !(1e-100..=1e100).contains(c) {
        return Err(Error::new(format!("setting \"c\" is {c}")).help("wanted a number from 1e-100 to 1e100"));
    }
    if *folds == 1 || *folds > 100 {
        return Err(Error::new(format!("setting \"folds\" is {folds}")).help("wanted 0 for none, or 2 to 100"));
    }
    Ok(Box::new(downstream))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "downstream",
    about: "accuracy of predicting factors from few and many rows",
    paper: "Locatello et al. 2019",
    settings: &[
        Setting {
            name: "rows",
            values: Values::Words("a list of whole numbers from 1"),
            meaning: "how many rows are fitted on, one after the other",
        },
        Setting {
            name: "c",
            values: Values::Number(1e-100, 1e100),
            meaning: "inverse strength of the logistic regression's penalty, where it is not chosen",
        },
        Setting {
            name: "folds",
            values: Values::Words("0, or a whole number from 2 to 100"),
            meaning: "parts of the train rows in turn held back to choose the strength; 0: it is not chosen",
        },
    ],
    scores: &[
        ScoreKind { name: "downstream", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "downstream.boosted_trees", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "downstream.logistic_regression", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "downstream.boosted_trees.efficiency", least: 0.0, greatest: f64::INFINITY, better: High },
        ScoreKind {
            name: "downstream.logistic_regression.efficiency",
            least: 0.0,
            greatest: f64::INFINITY,
            better: High,
        },
    ],
    needs: &[],
    left_alone_by: &[LatentSigns, CommonScale, LatentScales, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build,
    complete: settings::complete::<Downstream>,
};

#[cfg(test)]
mod tests {
    use ndarray::Array1;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    /// 300 rows of a factor with two values, which the only latent tells; every third row is tested on.
    fn score(downstream: &Downstream) -> Scores {
        let factors = Array2::from_shape_fn((300, 1), |(row, _)| (row / 2 % 2) as f64);
        let codes = factors.mapv(|value| 5.0 * value) + Array1::linspace(0.0, 1.0, 300).insert_axis(Axis(1));
        let (test, train): (Vec<usize>, Vec<usize>) = (0..300).partition(|row| row % 3 == 0);
        let extras = Extras { train_rows: Some(train), test_rows: Some(test), ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("shape", 2)]), extras).unwrap();
        downstream.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/downstream"))
    }

    #[test]
    fn a_factor_that_a_latent_tells_is_predicted_from_few_rows() {
        let scores = score(&Downstream { rows: vec![10, 200], ..Downstream::default() });
        for name in ["downstream", "downstream.boosted_trees.10", "downstream.logistic_regression.200.shape"] {
            assert_eq!(scores.value(name), Some(1.0), "{name}");
        }
    }

    #[test]
    fn what_there_are_too_few_rows_for_is_undefined() {
        let scores = score(&Downstream::default());
        let expected = Some("needs 1000 rows to fit on, found 200");
        assert_eq!(scores.reason("downstream.boosted_trees.1000"), expected);
        assert_eq!(
            scores.reason("downstream.logistic_regression.efficiency"),
            Some("needs 10000 rows to fit on, found 200")
        );
    }

    #[test]
    fn cross_validation_prefers_a_penalty_that_does_not_hide_the_factor() {
        let codes = Array2::from_shape_fn((100, 1), |(row, _)| if row % 5 == 0 { 2.0 } else { -0.5 });
        let of_rows = (0..100).map(|row| usize::from(row % 5 == 0)).collect();
        // One row in five is of the second class. Under a strong penalty all rows go to the first, at 80 %.
        let chosen = chosen_strength(&codes, &Classes { of_rows, n_classes: 2 }, 5);
        assert!(chosen > 1e-4, "{chosen}");
        assert!((strength(0) - 1e-4).abs() < 1e-18 && (strength(9) - 1e4).abs() < 1e-9);
    }
}
