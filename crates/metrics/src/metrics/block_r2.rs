//! Block R^2: how much of the variance of a block of factors is predicted from all latents together.
//!
//! Von Kuegelgen et al. 2021, "Self-supervised learning with data augmentations provably isolates content from style",
//! section 5: a block of factors is identified, up to an invertible map, if it can be predicted from the code. Codes and
//! factors are brought to mean 0 and variance 1, a regression is fitted on the train rows, and on the test rows
//!
//! `R^2 = mean over the block's factors v of 1 - sum (v - predicted)^2 / sum (v - mean v)^2`.
//!
//! `block_r2.nonlinear`, which `block_r2` is, takes kernel ridge regression with a Gaussian kernel, whose strength `alpha` (1, 0.1,
//! 0.01, 0.001) and `gamma` (0.01, 0.215, 4.64, 100) are chosen for each block by 3-fold cross-validation, as in the authors' code;
//! `block_r2.linear` takes linear least squares. Both are means over the blocks. By default each factor is a block of its own,
//! as in the authors' experiments with images; in those with numbers there are two blocks, content and style.
//!
//! Departures: where there are more than `rows` train rows, the kernel is fitted on so many of them, drawn at random, since its cost
//! grows with their third power; the authors take 20,480 (10,240 with images). Discrete factors are numbers here; the authors tell
//! one that is not, the class of the object, by a logistic regression, which is `downstream.logistic_regression`. A block
//! predicted worse than by its mean has 0.

use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::predictors::kernel_ridge::{KernelRidge, cross_validated, squared_distances};
use crate::predictors::least_squares::least_squares;
use crate::statistics::deviations::deviations;
use crate::statistics::mean::mean_of_defined;
use crate::statistics::r_squared::r_squared;
use crate::statistics::standardise::Standardisation;
use crate::subject::rows_of;
use crate::{Entry, Metric, ScoreKind, ScoreOf, Scores, Split, Subject};

/// The strengths that cross-validation chooses from.
const ALPHAS: [f64; 4] = [1.0, 0.1, 0.01, 0.001];

/// How many widths of the kernel it chooses from: from 0.01 to 100, evenly by their logarithm.
const N_GAMMAS: usize = 4;

/// How many parts of the rows are held back in turn.
const N_FOLDS: usize = 3;

/// The most rows that the kernel may be fitted on: von Kuegelgen et al. 2021 take as many.
const MOST_ROWS: usize = 20_480;

/// How many rows are predicted at a time.
const ROWS_AT_ONCE: usize = 256;

/// Settings of block R^2.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockR2 {
    /// The names of each block's factors; none for a block of each factor.
    pub blocks: Vec<Vec<String>>,
    /// How many rows the kernel is fitted on at most; 20,480 in von Kuegelgen et al. 2021.
    pub rows: usize,
}

impl Default for BlockR2 {
    fn default() -> Self {
        Self { blocks: Vec::new(), rows: 2_000 }
    }
}

/// Some factors that are predicted together.
struct Block {
    name: String,
    factors: Vec<usize>,
}

impl Block {
    /// What its scores are of: its factor where it has one alone, several together as parts of the whole.
    fn of(&self) -> ScoreOf {
        if let [_] = self.factors[..] { ScoreOf::Factor(self.name.clone()) } else { ScoreOf::Whole }
    }

    /// The mean over its factors of `r_squared [factors]`, at least 0, or why there is none.
    fn outcome(&self, split: &Split, r_squared: &[f64]) -> Result<f64, String> {
        for (table, rows) in [(&split.train, "to fit on"), (&split.test, "tested on")] {
            if self.factors.iter().any(|&factor| deviations(&table.factors.column(factor)).scale == 0.0) {
                return Err(format!("the factor has a single value in the rows {rows}"));
            }
        }
        let sum: f64 = self.factors.iter().map(|&factor| r_squared[factor]).sum();
        Ok((sum / self.factors.len() as f64).max(0.0))
    }
}

impl Metric for BlockR2 {
    /// `block_r2`, `block_r2.linear` and `block_r2.nonlinear` with a part for each block, all in [0, 1].
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let names = ["block_r2", "block_r2.linear", "block_r2.nonlinear"];
        let tables = self.blocks_of(subject.data()).and_then(|blocks| Ok((blocks, subject.split()?)));
        let (blocks, split) = match tables {
            Ok((_, split)) if split.train.codes.nrows() < N_FOLDS => {
                let found = split.train.codes.nrows();
                let reason = format!("needs at least {N_FOLDS} rows to fit on, found {found}");
                return Scores::new().without_all(names, &reason);
            }
            Ok(tables) => tables,
            Err(reason) => return Scores::new().without_all(names, &reason),
        };
        let linear = linear_r_squared(split);
        let nonlinear = self.nonlinear_r_squared(split, &blocks, rng);
        let linear: Vec<_> = blocks.iter().map(|block| block.outcome(split, &linear)).collect();
        let nonlinear: Vec<_> =
            blocks.iter().zip(nonlinear).map(|(block, parts)| block.outcome(split, &parts)).collect();
        let mut scores = Scores::new().with_outcome("block_r2", mean_of_defined(&nonlinear));
        for (name, parts) in [("block_r2.linear", linear), ("block_r2.nonlinear", nonlinear)] {
            scores = scores.with_outcome(name, mean_of_defined(&parts));
            for (block, part) in blocks.iter().zip(parts) {
                scores = scores.with_score(&format!("{name}.{}", block.name), name, block.of(), part);
            }
        }
        scores
    }
}

impl BlockR2 {
    fn check(self) -> unbraid_data::Result<Self> {
        if let Some(block) = self.blocks.iter().find(|block| block.is_empty()) {
            return Err(
                Error::new(format!("setting \"blocks\" has the block {block:?}")).help("wanted names of factors")
            );
        }
        let mut known: Vec<Vec<&String>> = Vec::new();
        for block in &self.blocks {
            let mut names: Vec<&String> = block.iter().collect();
            names.sort_unstable();
            if names.windows(2).any(|pair| pair[0] == pair[1]) {
                let found = format!("setting \"blocks\" has the block {block:?}, which names a factor twice");
                return Err(Error::new(found).help("wanted each factor once in a block"));
            }
            if known.contains(&names) {
                let found = format!("setting \"blocks\" has the factors {names:?} as a block twice");
                return Err(Error::new(found).help("wanted blocks that differ"));
            }
            known.push(names);
        }
        if !(N_FOLDS..=MOST_ROWS).contains(&self.rows) {
            let wanted = format!("wanted a whole number from {N_FOLDS} to {MOST_ROWS}");
            return Err(Error::new(format!("setting \"rows\" is {}", self.rows)).help(wanted));
        }
        Ok(self)
    }

    /// The blocks as numbers of factors, or which name is none.
    fn blocks_of(&self, data: &LabelledCodes) -> Result<Vec<Block>, String> {
        let names: Vec<&str> = data.space().names().collect();
        if self.blocks.is_empty() {
            let alone = |(factor, name): (usize, &&str)| Block { name: name.to_string(), factors: vec![factor] };
            return Ok(names.iter().enumerate().map(alone).collect());
        }
        let number_of = |name: &String| {
            let number = names.iter().position(|known| known == name);
            number
                .ok_or_else(|| format!("setting \"blocks\" names \"{name}\", but the factors are {}", names.join(", ")))
        };
        let block = |names: &Vec<String>| {
            Ok(Block { name: names.join("+"), factors: names.iter().map(number_of).collect::<Result<_, String>>()? })
        };
        self.blocks.iter().map(block).collect()
    }

    /// The `R^2` of each factor on the test rows, with the candidate chosen for each block. `[blocks][factors]`
    fn nonlinear_r_squared(&self, split: &Split, blocks: &[Block], rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut rows: Vec<usize> = (0..split.train.codes.nrows()).collect();
        if rows.len() > self.rows {
            rows.shuffle(rng);
            rows.truncate(self.rows);
        }
        let scaled = Scaled::new(split, &rows);
        let distances = squared_distances(&scaled.codes, &scaled.codes);
        let candidates = candidates();
        let validated = cross_validated(&candidates, N_FOLDS, &distances, &scaled.values); // [candidates, factors]
        let chosen: Vec<usize> = blocks.iter().map(|block| best_candidate(&validated, &block.factors)).collect();
        let mut distinct = chosen.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let fitted: Vec<Vec<f64>> = distinct
            .par_iter()
            .map(|&number| {
                let weights = candidates[number].fit(&distances, &scaled.values);
                scaled.r_squared(&predict(candidates[number], &scaled, &weights))
            })
            .collect();
        let of_candidate = |number| distinct.iter().position(|known| known == number).expect("it is among the chosen");
        chosen.iter().map(|number| fitted[of_candidate(number)].clone()).collect()
    }
}

/// Codes and factors at mean 0 and variance 1 over the rows fitted on.
struct Scaled {
    /// `[rows, latents]`
    codes: Array2<f64>,
    /// `[rows, factors]`
    values: Array2<f64>,
    /// `[tested, latents]`
    test_codes: Array2<f64>,
    /// `[tested, factors]`
    test_values: Array2<f64>,
}

impl Scaled {
    fn new(split: &Split, rows: &[usize]) -> Self {
        let [codes, values] = [&split.train.codes, &split.train.factors].map(|table| rows_of(table, rows));
        let [of_codes, of_values] = [&codes, &values].map(Standardisation::of);
        Self {
            codes: of_codes.apply(&codes),
            values: of_values.apply(&values),
            test_codes: of_codes.apply(&split.test.codes),
            test_values: of_values.apply(&split.test.factors),
        }
    }

    /// Of each factor, for predictions `[tested, factors]`.
    fn r_squared(&self, predicted: &Array2<f64>) -> Vec<f64> {
        predicted.columns().into_iter().zip(self.test_values.columns()).map(|(a, b)| r_squared(&a, &b)).collect()
    }
}

/// Every strength with every width of the kernel, in the order in which the first of several equally good ones is chosen.
fn candidates() -> Vec<KernelRidge> {
    let gamma = |place: usize| 10_f64.powf(-2.0 + 4.0 * place as f64 / (N_GAMMAS - 1) as f64);
    ALPHAS
        .iter()
        .flat_map(|&alpha| (0..N_GAMMAS).map(move |place| KernelRidge { alpha, gamma: gamma(place) }))
        .collect()
}

/// The candidate with the best mean over the factors of a block.
fn best_candidate(r_squared: &Array2<f64>, factors: &[usize]) -> usize {
    let sums: Vec<f64> = r_squared.outer_iter().map(|row| factors.iter().map(|&factor| row[factor]).sum()).collect();
    (1..sums.len()).fold(0, |best, number| if sums[number] > sums[best] { number } else { best })
}

/// The predictions for the rows tested on, some at a time. `[tested, factors]`
fn predict(ridge: KernelRidge, scaled: &Scaled, weights: &Array2<f64>) -> Array2<f64> {
    let mut predicted = Array2::zeros(scaled.test_values.dim());
    let parts = scaled.test_codes.axis_chunks_iter(Axis(0), ROWS_AT_ONCE);
    for (codes, mut part) in parts.zip(predicted.axis_chunks_iter_mut(Axis(0), ROWS_AT_ONCE)) {
        part.assign(&ridge.predict(&squared_distances(&codes, &scaled.codes), weights));
    }
    predicted
}

/// The `R^2` of each factor on the test rows by linear least squares on all train rows. `[factors]`
fn linear_r_squared(split: &Split) -> Vec<f64> {
    let rows: Vec<usize> = (0..split.train.codes.nrows()).collect();
    let scaled = Scaled::new(split, &rows);
    let weights = least_squares(&scaled.codes, &scaled.values);
    scaled.r_squared(&scaled.test_codes.dot(&weights))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "block_r2",
    about: "variance of factors, or blocks of them, that all latents together predict",
    paper: "von Kuegelgen et al. 2021",
    settings: &[
        Setting {
            name: "blocks",
            values: Values::Words(
                "lists of factors' names, such as [[\"x\", \"y\"], [\"shape\"]]; [] for each factor alone",
            ),
            meaning: "the factors that are predicted together",
        },
        Setting {
            name: "rows",
            values: Values::Whole(N_FOLDS as u64, MOST_ROWS as u64),
            meaning: "how many rows the kernel is fitted on at most; its time grows with their third power",
        },
    ],
    scores: &[
        ScoreKind { name: "block_r2", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "block_r2.linear", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "block_r2.nonlinear", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, LatentScales, Shift, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<BlockR2>(table)?.check()?)),
    complete: settings::complete::<BlockR2>,
};

#[cfg(test)]
mod tests {
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, Seed};

    use super::*;

    /// 90 codes on a curve and three factors of them, of which 60 are fitted on.
    fn data() -> LabelledCodes {
        let wave =
            |row: usize, latent: usize| ((row + 1) as f64 * (latent + 1) as f64 * 1.7 + 0.3 * latent as f64).sin();
        let codes = Array2::from_shape_fn((90, 3), |(row, latent)| wave(row, latent));
        let factors = Array2::from_shape_fn((90, 3), |(row, factor)| match factor {
            0 => codes[[row, 0]].powi(2) + 0.5 * codes[[row, 1]],
            1 => codes[[row, 1]] - codes[[row, 2]] * codes[[row, 0]],
            _ => (2.0 * codes[[row, 2]] + 2.0).floor(),
        });
        let factor = |name: &str, size| Factor { name: name.to_string(), size };
        let space = FactorSpace::sample(vec![factor("a", None), factor("b", None), factor("c", Some(5))]);
        let extras =
            Extras { train_rows: Some((0..60).collect()), test_rows: Some((60..90).collect()), ..Extras::default() };
        LabelledCodes::new(codes, factors, space, extras).unwrap()
    }

    fn score(data: &LabelledCodes, settings: &str) -> Scores {
        let metric = (ENTRY.build)(&settings.parse().unwrap()).unwrap();
        metric.score(&Subject::new(data, Seed(1)), &mut Seed(1).stream("metric/block_r2"))
    }

    fn assert_close(scores: &Scores, expected: &[(&str, f64)]) {
        for (name, expected) in expected {
            let value = scores.value(&format!("block_r2.{name}")).unwrap();
            assert!((value - expected).abs() < 1e-9, "{name}: {value}");
        }
    }

    #[test]
    fn each_factor_agrees_with_scikit_learn() {
        // The authors' procedure with scikit-learn 1.9.1: `LinearRegression`, and `GridSearchCV` over `KernelRidge`, which takes
        // alpha 0.001 and gamma 0.215 for a and b, and 0.01 of both for c.
        let scores = score(&data(), "");
        assert_close(&scores, &[("linear.a", 0.280_848_179_603_201), ("linear.b", 0.736_822_016_052_848)]);
        assert_close(&scores, &[("linear.c", 0.939_496_824_304_833), ("nonlinear.a", 0.999_982_251_164_263)]);
        assert_close(&scores, &[("nonlinear.b", 0.999_982_802_380_469), ("nonlinear.c", 0.940_776_032_540_510)]);
        assert_eq!(scores.value("block_r2"), scores.value("block_r2.nonlinear"));
    }

    #[test]
    fn cross_validation_agrees_with_scikit_learn() {
        // `mean_test_score` of the second factor for alpha 1 and 0.001, with the rows in their order.
        let data = data();
        let subject = Subject::new(&data, Seed(1));
        let scaled = Scaled::new(subject.split().unwrap(), &(0..60).collect::<Vec<usize>>());
        let distances = squared_distances(&scaled.codes, &scaled.codes);
        let found = cross_validated(&candidates(), N_FOLDS, &distances, &scaled.values);
        let expected = [
            (0, [0.487_835_956_366, 0.945_781_056_600, 0.727_884_434_326, 0.055_335_111_804]),
            (12, [0.999_110_392_721, 0.999_911_991_686, 0.919_218_788_154, 0.106_796_476_988]),
        ];
        for (first, expected) in expected {
            for (place, expected) in expected.into_iter().enumerate() {
                assert!((found[[first + place, 1]] - expected).abs() < 1e-9, "{found}");
            }
        }
    }

    #[test]
    fn a_block_is_the_mean_of_its_factors() {
        let scores = score(&data(), "blocks = [['a', 'b'], ['c']]");
        assert_close(&scores, &[("linear.a+b", 0.508_835_097_828_024), ("nonlinear.a+b", 0.999_982_526_772_366)]);
        assert_close(&scores, &[("linear", (0.508_835_097_828_024 + 0.939_496_824_304_833) / 2.0)]);
    }

    #[test]
    fn neither_offset_nor_scale_of_the_codes_matters() {
        let data = data();
        let plain = score(&data, "");
        for (shift, scale) in [(1e8, 1.0), (0.0, 1e300), (0.0, 1e-300)] {
            let codes = data.codes().mapv(|value| value * scale + shift);
            let space = data.space().clone();
            let changed = LabelledCodes::new(codes, data.factors().clone(), space, data.extras().clone()).unwrap();
            for name in ["block_r2", "block_r2.linear"] {
                let (plain, changed) = (plain.value(name).unwrap(), score(&changed, "").value(name).unwrap());
                assert!((plain - changed).abs() < 1e-6, "{name}: {plain}, {changed}");
            }
        }
    }

    #[test]
    fn unknown_factors_and_empty_blocks_are_named() {
        let scores = score(&data(), "blocks = [['a', 'shape']]");
        let reason = "setting \"blocks\" names \"shape\", but the factors are a, b, c";
        assert_eq!(scores.reason("block_r2"), Some(reason));
        let message = |text: &str| (ENTRY.build)(&text.parse().unwrap()).err().unwrap().to_string();
        assert!(message("blocks = [[]]").contains("wanted names of factors"));
        for repeated in ["blocks = [['a'], ['a']]", "blocks = [['a', 'b'], ['b', 'a']]"] {
            assert!(message(repeated).contains("twice"), "{}", message(repeated));
        }
        assert!(message("blocks = [['a', 'b', 'a']]").contains("[\"a\", \"b\", \"a\"], which names a factor twice"));
        assert!(message("rows = 2").contains("wanted a whole number from 3 to 20480"));
    }
}
