//! Unfairness: how much the predictions of one factor shift when another one, which should not matter, is changed.
//!
//! Locatello et al. 2019, "On the fairness of disentangled representations", section 3: boosted trees are fitted to a target
//! factor on the train rows. A hundred images are drawn, and of each all those that differ in the sensitive factor alone; for
//! each value of the sensitive factor, the predictions have a distribution `p(. | s)`, and over all values `p(.)`:
//!
//! `unfairness(target, sensitive) = 1/S sum_s TV(p(. | s), p(.))`, with `TV(p, q) = 1/2 sum_y |p(y) - q(y)|`.
//!
//! `fairness` is the mean over all pairs of different factors, the score of the paper's section 4: 0 is fair.
//!
//! Departures: images that differ in the sensitive factor alone are taken from the table's complete traversals, which a full
//! grid has for every image and a sample may lack; continuous factors and those with a single value take no part.

use std::collections::BTreeMap;

use ndarray::{Array2, Axis};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Result, Rng, settings};

use crate::Better::Low;
use crate::Change::*;
use crate::statistics::mean::mean_of_defined;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of unfairness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Fairness {
    /// How many images are drawn for each pair of factors, at least 1; 100 in Locatello et al. 2019.
    pub images: usize,
}

impl Default for Fairness {
    fn default() -> Self {
        Self { images: 100 }
    }
}

/// How far the predictions for single values of the sensitive factor are from those for all.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unfairness {
    mean: f64,
    largest: f64,
}

impl Metric for Fairness {
    /// `fairness`, `fairness.worst_value` (the value of the sensitive factor with the largest distance, mean over pairs),
    /// `fairness.worst_pair` (the pair with the largest mean distance) and a part for each target factor, all in [0, 1],
    /// and the matrix `fairness.total_variation` of target and sensitive factors.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let pairs = match self.pairs(subject, rng) {
            Ok(pairs) => pairs,
            Err(reason) => {
                let whole = ["fairness", "fairness.worst_value", "fairness.worst_pair"];
                let scores = Scores::new().without_all(whole, &reason);
                let names = data.space().names();
                return names.fold(scores, |scores, name| scores.with_factor("fairness", name, Err(&reason)));
            }
        };
        let n_factors = data.n_factors();
        let all: Vec<Unfairness> = pairs.values().copied().collect();
        let mean = |part: fn(&Unfairness) -> f64| all.iter().map(part).sum::<f64>() / all.len() as f64;
        let mut scores = Scores::new()
            .with("fairness", mean(|pair| pair.mean))
            .with("fairness.worst_value", mean(|pair| pair.largest))
            .with("fairness.worst_pair", all.iter().fold(0.0, |worst, pair| pair.mean.max(worst)));
        for (target, name) in data.space().names().enumerate() {
            let of_target = (0..n_factors).map(|sensitive| match pairs.get(&(target, sensitive)) {
                Some(pair) => Ok(pair.mean),
                None => Err("the factor has a single value or is continuous".to_string()),
            });
            let of_target: Vec<_> = of_target.collect();
            scores = scores.with_factor("fairness", name, mean_of_defined(&of_target));
        }
        let matrix =
            Array2::from_shape_fn((n_factors, n_factors), |pair| pairs.get(&pair).map_or(0.0, |pair| pair.mean));
        let names: Vec<String> = data.space().names().map(str::to_string).collect();
        let name = "fairness.total_variation".to_string();
        scores.with_matrix(Matrix { name, rows: names.clone(), columns: names, values: matrix })
    }
}

impl Fairness {
    /// The unfairness of every pair of different factors with at least two values, by target and sensitive factor.
    fn pairs(
        &self,
        subject: &Subject,
        rng: &mut Rng,
    ) -> std::result::Result<BTreeMap<(usize, usize), Unfairness>, String> {
        let data = subject.data();
        let taking_part: Vec<usize> = (0..data.n_factors())
            .filter(|&factor| data.space().factors()[factor].size.is_some_and(|size| size > 1))
            .collect();
        if taking_part.len() < 2 {
            return Err("needs two discrete factors of at least two values".to_string());
        }
        // Drawn before the threads part, in one order. [sensitive factors][values, images]
        let drawn = taking_part.iter().map(|&sensitive| self.draw(subject, sensitive, rng));
        let drawn: Vec<Array2<usize>> = drawn.collect::<std::result::Result<_, _>>()?;
        let trees = subject.boosted_trees()?;
        let of_targets: Vec<Vec<((usize, usize), Unfairness)>> = taking_part
            .par_iter()
            .map(|&target| {
                let others = taking_part.iter().zip(&drawn).filter(|(sensitive, _)| **sensitive != target);
                let predict = |codes: &Array2<f64>| trees[target].predict(codes);
                others.map(|(&sensitive, rows)| ((target, sensitive), unfairness(data, rows, predict))).collect()
            })
            .collect();
        Ok(of_targets.into_iter().flatten().collect())
    }

    /// Rows of images that differ in the sensitive factor alone, `[values, images]`.
    fn draw(&self, subject: &Subject, sensitive: usize, rng: &mut Rng) -> std::result::Result<Array2<usize>, String> {
        let traversals = subject.traversals(sensitive)?;
        let drawn: Vec<usize> = (0..self.images).map(|_| rng.random_range(0..traversals.nrows())).collect();
        Ok(traversals.select(Axis(0), &drawn).reversed_axes())
    }
}

/// How the predictions depend on which row of `rows [values, images]` the images are from.
fn unfairness(data: &LabelledCodes, rows: &Array2<usize>, predict: impl Fn(&Array2<f64>) -> Vec<f64>) -> Unfairness {
    let row_numbers: Vec<usize> = rows.iter().copied().collect();
    let predictions = predict(&data.codes().select(Axis(0), &row_numbers));
    let of_values = predictions.chunks_exact(rows.ncols());
    total_variations(&of_values.collect::<Vec<_>>())
}

/// The total variation between the predictions of each group and those of all groups, which are equally large.
fn total_variations(groups: &[&[f64]]) -> Unfairness {
    let counts = |predictions: &[f64]| {
        let mut sorted = predictions.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0].to_bits(), equal.len() as f64)).collect::<BTreeMap<_, _>>()
    };
    let n_groups = groups.len() as f64;
    let all = counts(&groups.concat());
    let distances: Vec<f64> = groups
        .iter()
        .map(|group| {
            let own = counts(group);
            let differences = all.iter().map(|(class, count)| own.get(class).unwrap_or(&0.0) - count / n_groups);
            differences.map(f64::abs).sum::<f64>() / (2 * group.len()) as f64
        })
        .collect();
    Unfairness {
        mean: distances.iter().sum::<f64>() / n_groups,
        largest: distances.iter().copied().fold(0.0, f64::max),
    }
}

fn build(table: &Table) -> Result<Box<dyn Metric>> {
    let fairness: Fairness = settings::read(table)?;
    if !(1..=1_000_000).contains(&fairness.images) {
        return Err(Error::new(format!("setting \"images\" is {}", fairness.images)).help("wanted 1 to 1,000,000"));
    }
    Ok(Box::new(fairness))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "fairness",
    about: "how much predictions of one factor shift with another (0 is fair)",
    paper: "Locatello et al. 2019",
    settings: &[Setting {
        name: "images",
        values: Values::Whole(1, 1_000_000),
        meaning: "images drawn for each pair of factors",
    }],
    scores: &[
        ScoreKind { name: "fairness", least: 0.0, greatest: 1.0, better: Low },
        ScoreKind { name: "fairness.worst_value", least: 0.0, greatest: 1.0, better: Low },
        ScoreKind { name: "fairness.worst_pair", least: 0.0, greatest: 1.0, better: Low },
    ],
    needs: &[],
    left_alone_by: &[LatentSigns, CommonScale, LatentScales, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build,
    complete: settings::complete::<Fairness>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    #[test]
    fn total_variations_worked_by_hand() {
        // Of eight predictions half are 0. The first group has three of four: |3/4 - 1/2| = 1/4, as has the second.
        let unfair = total_variations(&[&[0.0, 0.0, 0.0, 1.0], &[1.0, 1.0, 1.0, 0.0]]);
        assert_eq!(unfair, Unfairness { mean: 0.25, largest: 0.25 });
        // 1/3 of all are 2: one group is (|0 - 2/3| + |1 - 1/3|) / 2 = 2/3 off, the others (|1 - 2/3| + |0 - 1/3|) / 2 = 1/3.
        let unfair = total_variations(&[&[2.0, 2.0], &[0.0, 0.0], &[0.0, 0.0]]);
        assert!((unfair.mean - 4.0 / 9.0).abs() < 1e-15 && (unfair.largest - 2.0 / 3.0).abs() < 1e-15, "{unfair:?}");
        assert_eq!(total_variations(&[&[1.0, 0.0], &[0.0, 1.0]]).mean, 0.0);
    }

    fn score(codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let rows = Some(vec![0, 1, 2, 3]);
        let extras = Extras { train_rows: rows.clone(), test_rows: rows, ..Extras::default() };
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, extras).unwrap();
        Fairness::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/fairness"))
    }

    #[test]
    fn factors_as_codes_are_fair() {
        let scores = score(array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
        for name in ["fairness", "fairness.worst_value", "fairness.worst_pair", "fairness.shape"] {
            assert_eq!(scores.value(name), Some(0.0), "{name}");
        }
    }

    #[test]
    fn one_latent_for_both_factors_is_unfair() {
        // The latent is shape + scale: 0, 1, 1, 2. At 1 either prediction is as good, so shape is told by scale in part.
        let scores = score(array![[0.0], [1.0], [1.0], [2.0]]);
        let unfair = scores.value("fairness").unwrap();
        assert!(unfair > 0.1, "{unfair}");
    }
}
