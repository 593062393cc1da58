//! Disentanglement score: how much better the best single latent predicts a factor than the second best does.
//!
//! Zietlow 2022, "An analysis of the inner workings of variational autoencoders", equations 3.32 to 3.37. A predictor by the
//! 5 nearest neighbours is fitted for each latent and factor on 80 % of the rows, and tested on the others:
//!
//! `ds = 1/K sum_k (A_k,best - A_k,second) / M_k`
//!
//! with `A` the accuracy of a classifier or the deviation that a regressor takes away, `std(v_k) - sqrt(mse)`, and `M` what
//! the best constant reaches, on the rows tested on.
//!
//! Variants. For regression `M = std(v_k)`. For classification the thesis divides by the accuracy of the best constant
//! (`ds.classification.over_constant`), under which scores pass 1 by far; `ds.classification` divides by one minus it,
//! what is left to gain. Regression is reported for all factors, discrete ones as numbers.
//!
//! `ds` takes for each factor the one that suits it, classification for discrete factors and regression for continuous
//! ones, and a latent that predicts worse than the best constant counts as the constant. The thesis calls the score a
//! number between 0 and 1 and prints 0.99 at most (table 3.3), but its equations give more where the second best predicts worse than
//! a constant, as neighbours along a latent that knows nothing do: the mean of 5 values drawn at random errs by
//! `sqrt(1 + 1/5)` deviations, which makes 1.095 of perfect codes. `ds.regression` and `ds.classification` are those equations.
//!
//! Departures: the first 80 % of the named train rows are fitted on; where none are named, all rows are taken in random
//! order. A factor with a single value among the rows tested on leaves nothing to gain and takes no part. Where there is
//! one latent only, the best constant is the second best, and no gap is below 0.

use ndarray::{Array2, ArrayRef1, ArrayView1, Axis, s};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Factor, LabelledCodes, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::predictors::nearest_neighbours::{most_common, nearest_rows};
use crate::statistics::deviations::{deviations, variance};
use crate::statistics::mean::mean_of_defined;
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// The least share of the rows that is fitted on, and that is tested on.
const LEAST_SHARE: f64 = 0.001;

/// Settings of the disentanglement score.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Ds {
    /// How many neighbours predict a row; 5 in the thesis, scikit-learn's default.
    pub neighbours: usize,
    /// The share of the rows that is fitted on; 0.8 in the thesis.
    pub fit_share: f64,
}

impl Default for Ds {
    fn default() -> Self {
        Self { neighbours: 5, fit_share: 0.8 }
    }
}

/// A factor's part of a score, or why it has none.
type OfFactor = fn(&Gaps) -> Result<f64, String>;

/// The scores that are means over the factors.
const VARIANTS: [(&str, OfFactor); 6] = [
    ("ds", Gaps::suited),
    ("ds.classification", Gaps::classification),
    ("ds.classification.gap", |gaps| gaps.accuracy.clone()),
    ("ds.classification.over_constant", Gaps::classification_over_constant),
    ("ds.regression", Gaps::regression),
    ("ds.regression.gap", |gaps| Ok(gaps.error * gaps.unit)),
];

impl Metric for Ds {
    /// `ds` and `ds.FACTOR` in [0, 1]; `ds.classification`, `ds.regression`, their gaps before division
    /// `ds.classification.gap` and `ds.regression.gap`, and `ds.classification.over_constant`, all at least 0; the matrices
    /// `ds.classification` (accuracies, 0 for a continuous factor) and `ds.regression` (the share of the deviation that is
    /// taken away, at most 1).
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let train = subject.train();
        let reason = if train.codes.nrows() < 2 {
            "needs at least two rows, one to fit on and one to test on"
        } else if all_constant(&train.codes) {
            "every latent is constant"
        } else {
            let (tables, n_fitted) = self.split(subject, rng);
            let scores = self.score_split(subject.data(), &tables, n_fitted);
            return match unseen_factor(subject.data(), &tables.factors, n_fitted) {
                Some(factor) => scores.with_note("ds", &note_on_order(factor)),
                None => scores,
            };
        };
        VARIANTS.iter().fold(Scores::new(), |scores, (name, _)| scores.without(name, reason))
    }
}

/// A discrete factor of which most rows tested on have a value that none fitted on has, as in rows that are sorted by it.
fn unseen_factor<'a>(data: &'a LabelledCodes, factors: &Array2<f64>, n_fitted: usize) -> Option<&'a str> {
    let of_factors = data.space().factors().iter().zip(factors.columns());
    let is_unseen = |(factor, column): &(&Factor, ArrayView1<f64>)| {
        let mut fitted: Vec<f64> = column.iter().take(n_fitted).copied().collect();
        fitted.sort_by(f64::total_cmp);
        let is_new = |value: &&f64| fitted.binary_search_by(|known| known.total_cmp(value)).is_err();
        factor.size.is_some() && 2 * column.iter().skip(n_fitted).filter(is_new).count() > column.len() - n_fitted
    };
    of_factors.into_iter().find(is_unseen).map(|(factor, _)| factor.name.as_str())
}

fn note_on_order(factor: &str) -> String {
    format!(
        "the last of the train rows, which are tested on, have values of factor \"{factor}\" that those fitted on lack: name \
         train_rows in random order"
    )
}

impl Ds {
    fn check(self) -> unbraid_data::Result<Self> {
        if self.neighbours == 0 {
            return Err(Error::new("setting \"neighbours\" is 0").help("wanted 1 or more"));
        }
        if !(LEAST_SHARE..=1.0 - LEAST_SHARE).contains(&self.fit_share) {
            return Err(Error::new(format!("setting \"fit_share\" is {}", self.fit_share))
                .help("wanted a share from 0.001 to 0.999, so that rows are left to fit and to test on"));
        }
        Ok(self)
    }

    /// The rows in the order in which they are split, and how many of them are fitted on.
    fn split(&self, subject: &Subject, rng: &mut Rng) -> (Tables, usize) {
        let Tables { codes, factors } = subject.train();
        let n_rows = codes.nrows();
        let mut order: Vec<usize> = (0..n_rows).collect();
        if subject.data().extras().train_rows.is_none() {
            // The last rows of a grid in order have values of its first factor that no other rows have.
            order.copy_from_slice(subject.rows_by_factors());
            order.shuffle(rng);
        }
        let tables = Tables { codes: codes.select(Axis(0), &order), factors: factors.select(Axis(0), &order) };
        (tables, ((self.fit_share * n_rows as f64).round() as usize).clamp(1, n_rows - 1))
    }

    fn score_split(&self, data: &LabelledCodes, tables: &Tables, n_fitted: usize) -> Scores {
        let of_factors = tables.factors.columns().into_iter().zip(data.space().factors());
        let targets: Vec<Target> = of_factors.map(|(column, factor)| Target::new(&column, factor, n_fitted)).collect();
        let latents: Vec<ArrayView1<f64>> = tables.codes.columns().into_iter().collect();
        let performances: Vec<Vec<Performance>> = latents // [latents, factors]
            .par_iter()
            .map(|column| {
                let (fitted, tested) = (column.slice(s![..n_fitted]), column.slice(s![n_fitted..]));
                let nearest = nearest_rows(&fitted, &tested, self.neighbours);
                targets.iter().map(|target| target.performance(&nearest)).collect()
            })
            .collect();
        let gaps: Vec<Gaps> = targets
            .iter()
            .enumerate()
            .map(|(factor, target)| target.gaps(performances.iter().map(|of_latent| of_latent[factor])))
            .collect();
        let shape = (latents.len(), targets.len());
        let accuracy = Array2::from_shape_fn(shape, |(latent, factor)| performances[latent][factor].accuracy);
        let share = Array2::from_shape_fn(shape, |(latent, factor)| {
            targets[factor].share_taken_away(performances[latent][factor].error)
        });
        scores_of_gaps(data, &gaps)
            .with_matrix(Matrix::of_latents_and_factors("ds.classification", data, accuracy))
            .with_matrix(Matrix::of_latents_and_factors("ds.regression", data, share))
    }
}

fn scores_of_gaps(data: &LabelledCodes, gaps: &[Gaps]) -> Scores {
    let mut scores = Scores::new();
    for (name, of_factor) in VARIANTS {
        let per_factor: Vec<Result<f64, String>> = gaps.iter().map(of_factor).collect();
        scores = scores.with_outcome(name, mean_of_defined(&per_factor));
    }
    for (factor, gaps) in data.space().names().zip(gaps) {
        scores = scores.with_factor("ds", factor, gaps.suited());
    }
    scores
}

/// A factor as what is predicted.
struct Target {
    /// Those fitted on first. `[rows]`
    values: Vec<f64>,
    /// The same as deviations from their mean in units of `unit`, whose squares do not overflow. `[rows]`
    in_units: Vec<f64>,
    unit: f64,
    n_fitted: usize,
    is_discrete: bool,
    /// What the best constant reaches on the rows tested on; its error is in units.
    constant: Performance,
}

/// How well a factor is predicted.
#[derive(Debug, Clone, Copy)]
struct Performance {
    /// The share of rows whose class is found; 0 for a continuous factor.
    accuracy: f64,
    /// Root of the mean square error.
    error: f64,
}

impl Target {
    fn new(column: &ArrayRef1<f64>, factor: &Factor, n_fitted: usize) -> Self {
        let deviations = deviations(column);
        let error = variance(&ArrayView1::from(&deviations.of_rows[n_fitted..])).sqrt();
        let mut tested: Vec<f64> = column.iter().skip(n_fitted).copied().collect();
        let constant = most_common(&mut tested);
        let n_right = tested.iter().filter(|&&value| value == constant).count();
        let is_discrete = factor.size.is_some();
        let accuracy = if is_discrete { n_right as f64 / tested.len() as f64 } else { 0.0 };
        Self {
            values: column.to_vec(),
            in_units: deviations.of_rows,
            unit: deviations.scale,
            n_fitted,
            is_discrete,
            constant: Performance { accuracy, error },
        }
    }

    /// What the rows `nearest [rows tested on, neighbours]` predict, against what is true.
    fn performance(&self, nearest: &Array2<usize>) -> Performance {
        let n_neighbours = nearest.ncols() as f64;
        let mut neighbours = vec![0.0; nearest.ncols()];
        let (mut n_right, mut squares) = (0, 0.0);
        for (tested, rows) in (self.n_fitted..).zip(nearest.rows()) {
            let mean = rows.iter().map(|&row| self.in_units[row]).sum::<f64>() / n_neighbours;
            squares += (mean - self.in_units[tested]).powi(2);
            if self.is_discrete {
                neighbours.iter_mut().zip(rows).for_each(|(value, &row)| *value = self.values[row]);
                n_right += usize::from(most_common(&mut neighbours) == self.values[tested]);
            }
        }
        let n_tested = nearest.nrows() as f64;
        Performance { accuracy: n_right as f64 / n_tested, error: (squares / n_tested).sqrt() }
    }

    /// `1 - error / std`, 0 where nothing deviates.
    fn share_taken_away(&self, error: f64) -> f64 {
        if self.constant.error == 0.0 { 0.0 } else { 1.0 - error / self.constant.error }
    }

    /// The gaps between the best and the second best of the latents.
    fn gaps(&self, of_latents: impl Iterator<Item = Performance>) -> Gaps {
        let performances: Vec<Performance> = of_latents.collect();
        let (mut accuracies, mut errors): (Vec<f64>, Vec<f64>) =
            performances.iter().map(|performance| (performance.accuracy, performance.error)).unzip();
        accuracies.sort_by(|a, b| b.total_cmp(a));
        errors.sort_by(f64::total_cmp);
        let second_accuracy = accuracies.get(1).copied().unwrap_or(self.constant.accuracy);
        let second_error = errors.get(1).copied().unwrap_or(self.constant.error);
        let constant = self.constant;
        let not_discrete = "the factor is continuous, and classification needs classes".to_string();
        Gaps {
            accuracy: if self.is_discrete { Ok((accuracies[0] - second_accuracy).max(0.0)) } else { Err(not_discrete) },
            error: (second_error - errors[0]).max(0.0),
            accuracy_over_constant: accuracies[0].max(constant.accuracy) - second_accuracy.max(constant.accuracy),
            error_under_constant: second_error.min(constant.error) - errors[0].min(constant.error),
            unit: self.unit,
            constant,
        }
    }
}

/// A factor's gaps, and what they are divided by.
struct Gaps {
    accuracy: Result<f64, String>,
    /// In units of `unit`.
    error: f64,
    /// The gap where a latent that predicts worse than the best constant counts as the constant.
    accuracy_over_constant: f64,
    /// The same of the errors, in units of `unit`.
    error_under_constant: f64,
    unit: f64,
    constant: Performance,
}

impl Gaps {
    fn classification(&self) -> Result<f64, String> {
        let gap = self.accuracy.clone()?;
        over(gap, 1.0 - self.constant.accuracy)
    }

    fn classification_over_constant(&self) -> Result<f64, String> {
        self.accuracy.clone().map(|gap| gap / self.constant.accuracy)
    }

    fn regression(&self) -> Result<f64, String> {
        over(self.error, self.constant.error)
    }

    /// Classification of a discrete factor, regression of a continuous one, nothing being worse than the constant.
    fn suited(&self) -> Result<f64, String> {
        match self.accuracy {
            Ok(_) => over(self.accuracy_over_constant, 1.0 - self.constant.accuracy),
            Err(_) => over(self.error_under_constant, self.constant.error),
        }
    }
}

/// A gap over what there was to gain.
fn over(gap: f64, to_gain: f64) -> Result<f64, String> {
    if to_gain == 0.0 {
        return Err("the factor has a single value among the rows tested on".to_string());
    }
    Ok(gap / to_gain)
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "ds",
    about: "gap between the two latents that predict each factor best by nearest neighbours",
    paper: "Zietlow 2022",
    settings: &[
        Setting { name: "neighbours", values: Values::Whole(1, u64::MAX), meaning: "nearest rows that predict a row" },
        Setting {
            name: "fit_share",
            values: Values::Number(LEAST_SHARE, 1.0 - LEAST_SHARE),
            meaning: "share of the rows that is fitted on; the others are tested on",
        },
    ],
    scores: &[
        ScoreKind { name: "ds", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "ds.classification", least: 0.0, greatest: f64::INFINITY, better: High },
        ScoreKind { name: "ds.classification.gap", least: 0.0, greatest: f64::INFINITY, better: High },
        ScoreKind { name: "ds.classification.over_constant", least: 0.0, greatest: f64::INFINITY, better: High },
        ScoreKind { name: "ds.regression", least: 0.0, greatest: f64::INFINITY, better: High },
        ScoreKind { name: "ds.regression.gap", least: 0.0, greatest: f64::INFINITY, better: High },
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
    build: |table| Ok(Box::new(settings::read::<Ds>(table)?.check()?)),
    complete: settings::complete::<Ds>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    /// Six rows, of which two thirds are fitted on, predicted by the nearest one.
    fn score(codes: Array2<f64>, factors: Array2<f64>, size: Option<usize>) -> Scores {
        let space = FactorSpace::sample(vec![Factor { name: "shape".to_string(), size }]);
        let extras = Extras { train_rows: Some((0..codes.nrows()).collect()), ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, space, extras).unwrap();
        let ds = Ds { neighbours: 1, fit_share: 2.0 / 3.0 };
        ds.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/ds"))
    }

    fn assert_close(scores: &Scores, expected: &[(&str, f64)]) {
        for (name, expected) in expected {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}: {scores:?}");
        }
    }

    /// z0 is the factor; z1 sends the two rows tested on, with 0 and 2, to fitted rows with 1 and 2.
    fn codes() -> Array2<f64> {
        array![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [2.0, 9.0], [0.0, 1.1], [2.0, 2.1]]
    }

    fn factors() -> Array2<f64> {
        array![[0.0], [1.0], [2.0], [2.0], [0.0], [2.0]]
    }

    #[test]
    fn classification_worked_by_hand() {
        // Accuracies 1 and 1/2; the best constant has 1/2 of the rows tested on. Gap 1/2, over 1 - 1/2 and over 1/2.
        let scores = score(codes(), factors(), Some(3));
        assert_close(&scores, &[("ds.classification.gap", 0.5), ("ds.classification", 1.0)]);
        assert_close(&scores, &[("ds.classification.over_constant", 1.0), ("ds", 1.0), ("ds.shape", 1.0)]);
        assert_eq!(scores.matrices[0].values, array![[1.0], [0.5]]);
    }

    #[test]
    fn rows_in_the_order_of_a_factor_are_noted() {
        assert_eq!(score(codes(), factors(), Some(3)).notes, []);
        let sorted = array![[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]];
        let notes = score(codes(), sorted, Some(3)).notes;
        assert!(notes.len() == 1 && notes[0].1.contains("values of factor \"shape\""), "{notes:?}");
    }

    #[test]
    fn regression_worked_by_hand() {
        // Errors 0 and sqrt((1^2 + 0^2) / 2); 0 and 2 deviate by 1 from their mean.
        let scores = score(codes(), factors(), None);
        let gap = 0.5_f64.sqrt();
        assert_close(&scores, &[("ds.regression.gap", gap), ("ds.regression", gap), ("ds", gap), ("ds.shape", gap)]);
        assert!(scores.reason("ds.classification").is_some());
        // Ten times the factor has ten times the gap, of ten times the deviation.
        let scores = score(codes(), factors() * 10.0, None);
        assert_close(&scores, &[("ds.regression.gap", 10.0 * gap), ("ds.regression", gap)]);
    }

    #[test]
    fn what_is_worse_than_a_constant_counts_as_the_constant() {
        // Factors and latents are independent and even in [0, 1): the neighbours along the wrong latent have 5 values
        // drawn at random, whose mean errs by sqrt(1 + 1/5) deviations.
        let mut rng = Seed(1).stream("codes");
        let factors = Array2::from_shape_simple_fn((5_000, 2), || rand::RngExt::random_range(&mut rng, 0.0..1.0));
        let named = |name: &str| Factor { name: name.to_string(), size: None };
        let space = FactorSpace::sample(vec![named("x"), named("y")]);
        let data = LabelledCodes::new(factors.clone(), factors, space, Extras::default()).unwrap();
        let scores = Ds::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/ds"));
        let [ds, equations] = ["ds", "ds.regression"].map(|name| scores.value(name).unwrap());
        assert!(ds > 0.99 && ds <= 1.0, "{ds}");
        assert!((equations - 1.2_f64.sqrt()).abs() < 0.02, "{equations}");
    }

    #[test]
    fn a_lone_latent_stands_against_the_best_constant() {
        // Accuracy 1 against 1/2, what is left to gain: all of it.
        let scores = score(codes().slice(s![.., ..1]).to_owned(), factors(), Some(3));
        assert_close(&scores, &[("ds.classification.gap", 0.5), ("ds", 1.0), ("ds.regression", 1.0)]);
        // A latent that is right about no row is worse than the constant, and the gap is not below 0.
        let wrong = array![[0.0], [1.0], [2.0], [2.0], [2.0], [0.0]];
        assert_close(&score(wrong, factors(), Some(3)), &[("ds", 0.0), ("ds.regression", 0.0)]);
    }

    #[test]
    fn a_factor_that_stays_equal_among_the_rows_tested_on_leaves_nothing_to_gain() {
        let factors = array![[0.0], [1.0], [2.0], [2.0], [1.0], [1.0]];
        let scores = score(codes(), factors, Some(3));
        let reason = "the factor has a single value among the rows tested on".to_string();
        for name in ["ds", "ds.classification", "ds.regression", "ds.shape"] {
            assert_eq!(scores.reason(name), Some(reason.as_str()), "{name}");
        }
        assert!(scores.value("ds.classification.gap").is_some());
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        let message = |text: &str| (ENTRY.build)(&text.parse().unwrap()).err().unwrap().to_string();
        assert!(message("neighbours = 0").contains("wanted 1 or more"));
        assert!(message("fit_share = 1.0").contains("setting \"fit_share\" is 1"));
    }
}
