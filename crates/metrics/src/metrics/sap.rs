//! Separated attribute predictability: how much better the best latent predicts a factor than the second best does.
//!
//! Kumar et al. 2018, "Variational inference of disentangled latent concepts from unlabeled observations", section 3, as
//! in Locatello et al. 2019. Each latent alone predicts each factor:
//!
//! `sap`: a linear support vector machine (C = 0.01, classes balanced) is fitted on the train rows and its accuracy taken on
//! the test rows; `sap.continuous`: the squared correlation `cov(z, v)^2 / (var(z) var(v))` of the train rows, 0 for
//! latents of variance 1e-12 or less. Then the mean over factors of the largest minus the second largest.
//!
//! Departures: where there is one latent only, the second best has 0; a factor with a single value among the train rows
//! takes no part; a continuous factor has no classes, so that only `sap.continuous` is defined for it. Where latents
//! move, but none by a variance above 1e-12, both are undefined: in another unit they might be anything.

use ndarray::{Array2, ArrayRef1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::predictors::linear_svm::LinearSvm;
use crate::scores::latent_name;
use crate::statistics::deviations::{Deviations, deviation, deviations};
use crate::statistics::gap::gap;
use crate::statistics::known_values::KnownValues;
use crate::statistics::mean::mean_of_defined;
use crate::statistics::pearson::pearson;
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Split, Subject};

/// Latents that vary no more than this predict nothing, as in disentanglement_lib.
const LEAST_VARIANCE: f64 = 1e-12;

/// Codes whose means are further from 0 than this many deviations of the most moving latent are out of reach of the machine,
/// whose intercept costs as much as its slope: `sap` of one table of good codes is 0.36
/// at 0, 0.21 at 10 and 0.17 at 29, and of another 0.01 at 100.
const MOST_DISTANCE: f64 = 30.0;

/// Settings of separated attribute predictability.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Sap {
    /// What a row inside the margin costs the support vector machine, above 0; 0.01 in Locatello et al. 2019.
    pub c: f64,
}

impl Default for Sap {
    fn default() -> Self {
        Self { c: 0.01 }
    }
}

/// What each latent achieves for one factor, `[latents]`, or why the factor has no part.
type PerLatent = Result<Vec<f64>, String>;

impl Metric for Sap {
    /// `sap`, `sap.FACTOR`, `sap.continuous` and `sap.continuous.FACTOR` in [0, 1], and the matrices `sap.accuracy` and
    /// `sap.r2`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let moves = |column: &ArrayRef1<f64>| sample_variance(&deviations(column)) > LEAST_VARIANCE;
        let train = subject.train();
        if !all_constant(&train.codes) && !train.codes.columns().into_iter().any(|column| moves(&column)) {
            let reason = format!("no latent has a variance above {LEAST_VARIANCE:e}, from which on it counts");
            return Scores::new().without("sap", &reason).without("sap.continuous", &reason);
        }
        let split = subject.split().and_then(|split| why_too_far(&train.codes).map_or(Ok(split), Err));
        let per_factor: Vec<PerLatent> = match split {
            Err(reason) => vec![Err(reason); data.n_factors()],
            Ok(split) => (0..data.n_factors()).map(|factor| self.accuracies(data, split, factor)).collect(),
        };
        let of_numbers = squared_correlations(train);
        // Both means first: a factor may be called `continuous`.
        let scores = Scores::new()
            .with_outcome("sap", mean_of_defined(&gaps(&per_factor)))
            .with_outcome("sap.continuous", mean_of_defined(&gaps(&of_numbers)));
        let scores = with_parts(scores, data, ("sap", "sap.accuracy"), &per_factor);
        with_parts(scores, data, ("sap.continuous", "sap.r2"), &of_numbers)
    }
}

/// Why no machine can reach the codes, where their means are too far from 0. `codes [rows, latents]`
fn why_too_far(codes: &Array2<f64>) -> Option<String> {
    let n_rows = codes.nrows() as f64;
    let mean = |column: &ArrayRef1<f64>| column.iter().map(|value| value / n_rows).sum::<f64>().abs();
    let furthest = codes.columns().into_iter().map(|column| mean(&column)).fold(0.0, f64::max);
    let widest = codes.columns().into_iter().map(|column| deviation(&column)).fold(0.0, f64::max);
    (widest > 0.0 && furthest / widest > MOST_DISTANCE).then(|| {
        format!(
            "the codes' means are up to {:.0} deviations from 0, where a machine with a penalised intercept finds little: \
             take the means away",
            furthest / widest
        )
    })
}

impl Sap {
    /// The accuracy of a machine on each latent alone.
    fn accuracies(&self, data: &LabelledCodes, split: &Split, factor: usize) -> PerLatent {
        if data.space().factors()[factor].size.is_none() {
            return Err("the factor is continuous and has no classes; `sap.continuous` is for it".to_string());
        }
        let (known, classes) = KnownValues::of(&split.train.factors.column(factor));
        if classes.n_classes == 1 {
            return Err("the factor has a single value among the rows fitted on".to_string());
        }
        let wanted = known.classes_of(&split.test.factors.column(factor));
        let of_latent = |latent: usize| {
            let machine = LinearSvm::fit(&split.train.codes.column(latent).to_vec(), &classes, self.c);
            let tested = split.test.codes.column(latent);
            let n_right =
                tested.iter().zip(&wanted).filter(|&(&x, &wanted)| Some(machine.predict(x)) == wanted).count();
            n_right as f64 / wanted.len() as f64
        };
        Ok((0..data.n_latents()).into_par_iter().map(of_latent).collect())
    }
}

/// The squared correlation of each latent with each factor, `[factors, latents]`.
fn squared_correlations(Tables { codes, factors }: &Tables) -> Vec<PerLatent> {
    let of_latents: Vec<Deviations> = codes.columns().into_iter().map(|column| deviations(&column)).collect();
    let vary: Vec<bool> = of_latents.iter().map(|latent| sample_variance(latent) > LEAST_VARIANCE).collect();
    let of_factor = |factor: Deviations| {
        if factor.scale == 0.0 {
            return Err("the factor has a single value among the rows".to_string());
        }
        let latents = of_latents.iter().zip(&vary);
        Ok(latents.map(|(latent, &varies)| if varies { pearson(latent, &factor).powi(2) } else { 0.0 }).collect())
    };
    factors.columns().into_iter().map(|column| of_factor(deviations(&column))).collect()
}

/// The variance over one row less than there are.
fn sample_variance(latent: &Deviations) -> f64 {
    let n_degrees = (latent.of_rows.len() as f64 - 1.0).max(1.0);
    let squares: f64 = latent.of_rows.iter().map(|value| value * value).sum();
    ((squares / n_degrees).sqrt() * latent.scale).powi(2)
}

/// The gap of each factor.
fn gaps(per_factor: &[PerLatent]) -> Vec<Result<f64, String>> {
    per_factor.iter().map(|of_latents| of_latents.as_ref().map(gap).map_err(Clone::clone)).collect()
}

/// Adds each factor's gap, and the matrix over the factors that have one.
fn with_parts(mut scores: Scores, data: &LabelledCodes, names: (&str, &str), per_factor: &[PerLatent]) -> Scores {
    let (name, matrix_name) = names;
    for (factor, gap) in data.space().names().zip(&gaps(per_factor)) {
        scores = scores.with_factor(name, factor, gap.as_ref().copied());
    }
    let (columns, defined): (Vec<String>, Vec<&Vec<f64>>) = data
        .space()
        .names()
        .zip(per_factor)
        .filter_map(|(factor, of_latents)| Some((factor.to_string(), of_latents.as_ref().ok()?)))
        .unzip();
    let mut values = Array2::zeros((data.n_latents(), columns.len()));
    for (mut column, of_latents) in values.axis_iter_mut(Axis(1)).zip(defined) {
        column.iter_mut().zip(of_latents).for_each(|(value, of_latent)| *value = *of_latent);
    }
    let rows = (0..data.n_latents()).map(latent_name).collect();
    scores.with_matrix(Matrix { name: matrix_name.to_string(), rows, columns, values })
}

fn build(table: &Table) -> unbraid_data::Result<Box<dyn Metric>> {
    let sap: Sap = settings::read(table)?;
    if !(1e-100..=1e100).contains(&sap.c) {
        return Err(Error::new(format!("setting \"c\" is {}", sap.c)).help("wanted a number from 1e-100 to 1e100"));
    }
    Ok(Box::new(sap))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "sap",
    about: "gap between the two latents that predict each factor best",
    paper: "Kumar et al. 2018",
    settings: &[Setting {
        name: "c",
        values: Values::Number(1e-100, 1e100),
        meaning: "what a row inside the margin costs the support vector machine",
    }],
    scores: &[
        ScoreKind { name: "sap", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "sap.continuous", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, RowOrder, ValueOrder, LogVariances, Losses],
    build,
    complete: settings::complete::<Sap>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, Seed};

    use super::*;

    fn score(codes: Array2<f64>, factors: Array2<f64>, space: FactorSpace) -> Scores {
        let rows = Some((0..codes.nrows()).collect::<Vec<usize>>());
        let extras = Extras { train_rows: rows.clone(), test_rows: rows, ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, space, extras).unwrap();
        Sap::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/sap"))
    }

    #[test]
    fn gaps_worked_by_hand() {
        // z0 is the factor about 0: 4 of 4 right, R^2 = 1. z1 has one row of four out of place: 3 of 4, and
        // cov = 1/4, var = 3/16 and 1/4 (over 4 rows): R^2 = (1/8)^2 / (3/16 1/4) = 1/3.
        let codes = array![[-1.0, 0.0], [-1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
        let scores = score(codes, array![[0.0], [0.0], [1.0], [1.0]], FactorSpace::grid([("shape", 2)]));
        for (name, expected) in [("sap", 0.25), ("sap.continuous", 2.0 / 3.0)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}: {scores:?}");
        }
        assert_eq!(scores.matrices[0].values, array![[1.0], [0.75]]);
    }

    #[test]
    fn codes_out_of_the_machines_reach_have_the_continuous_score_only() {
        let codes = array![[-1.0, 0.0], [-1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
        let of =
            |shift: f64| score(&codes + shift, array![[0.0], [0.0], [1.0], [1.0]], FactorSpace::grid([("shape", 2)]));
        assert!(of(20.0).value("sap").is_some());
        let far = of(1e5);
        assert!(far.undefined[0].reason.contains("take the means away"), "{far:?}");
        assert!((far.value("sap.continuous").unwrap() - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_continuous_factor_has_the_continuous_score_only() {
        let factors = vec![Factor { name: "angle".to_string(), size: None }];
        let scores = score(array![[0.0], [1.0]], array![[0.5], [0.7]], FactorSpace::sample(factors));
        assert!((scores.value("sap.continuous").unwrap() - 1.0).abs() < 1e-12);
        assert!(scores.undefined[0].reason.starts_with("the factor is continuous"), "{scores:?}");
    }

    #[test]
    fn latents_that_hardly_vary_predict_nothing_continuously() {
        let space = || FactorSpace::grid([("shape", 2)]);
        let factors = array![[0.0], [1.0], [0.0], [1.0]];
        // z1 alone correlates with the factor, by 1.
        let scores = score(array![[0.0, 0.0], [1.0, 1e-7], [1.0, 0.0], [0.0, 1e-7]], factors.clone(), space());
        assert_eq!(scores.value("sap.continuous"), Some(0.0));
        // Where all are so small, that is a matter of the unit.
        let scores = score(array![[0.0], [1e-7], [0.0], [1e-7]], factors, space());
        assert!(scores.undefined.iter().all(|score| score.reason.starts_with("no latent has a variance above 1e-12")));
        assert_eq!(scores.undefined.len(), 2);
    }
}
