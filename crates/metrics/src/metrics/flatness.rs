//! Flatness: how far apart the codes of a factor's traversal get, against how long a way they go.
//!
//! Michlo's disent (`flatness`, with the thesis of 2022). Along each traversal of a factor
//!
//! `width = max_ij |z_i - z_j|`, `length = sum_i |z_i+1 - z_i|` over the closed way less its longest step,
//!
//! are averaged over the traversals, and the mean over the factors is taken of
//!
//! `flatness = width (L2) / length (L1)`, 1 where every traversal is straight and along one latent.
//!
//! `flatness.l1` and `flatness.l2` take the same norm for both, so that a straight line in any direction has 1.
//!
//! Departures: all complete traversals in the table are used instead of a random draw (a random even part of
//! them where they have more than `most_pairs` pairs); a factor with a single value takes no part; where no
//! latent moves along any traversal of a factor, 0/0 is undefined (in disent it is 0).

use ndarray::ArrayRef1;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Factor, LabelledCodes, Rng, settings};

use crate::Better::*;
use crate::Change::*;
use crate::scaled_table::ScaledTable;
use crate::traversal_ratios::values_of_factors;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// Settings of flatness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Flatness {
    /// How many pairs of codes are compared for each factor at most. disent compares those of 1,024 traversals.
    pub most_pairs: usize,
}

impl Default for Flatness {
    fn default() -> Self {
        Self { most_pairs: 50_000_000 }
    }
}

impl Metric for Flatness {
    /// `flatness`, `flatness.l1`, `flatness.l2` and `flatness.FACTOR` in [0, 1]; `flatness.width_l1`, `width_l2`,
    /// `length_l1` and `length_l2`, means over the factors in the codes' own unit.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let codes = ScaledTable::new(data.codes());
        let extents: Vec<Result<Extent, String>> =
            (0..data.n_factors()).map(|factor| self.extent(subject, &codes, factor, rng)).collect();
        let mut scores = Scores::new();
        for (name, part) in PARTS {
            let values = values_of_factors(data, &each_factors(data, &extents, part));
            let mean = values.map(|values| values.iter().sum::<f64>() / values.len() as f64);
            scores = scores.with_outcome(name, mean);
        }
        for (name, flatness) in data.space().names().zip(each_factors(data, &extents, PARTS[0].1)) {
            scores = scores.with_factor("flatness", name, flatness);
        }
        scores
    }
}

/// Width and length of a traversal, or their means over a factor's traversals; by norm, L1 first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Extent {
    width: [f64; 2],
    length: [f64; 2],
    unit: f64,
}

/// A number made of an extent; NaN where nothing moves.
type Part = fn(&Extent) -> f64;

/// Each score and what it is of a factor's extent.
const PARTS: [(&str, Part); 7] = [
    ("flatness", |extent| extent.width[1] / extent.length[0]),
    ("flatness.l1", |extent| extent.width[0] / extent.length[0]),
    ("flatness.l2", |extent| extent.width[1] / extent.length[1]),
    ("flatness.width_l1", |extent| extent.width[0] * extent.unit),
    ("flatness.width_l2", |extent| extent.width[1] * extent.unit),
    ("flatness.length_l1", |extent| extent.length[0] * extent.unit),
    ("flatness.length_l2", |extent| extent.length[1] * extent.unit),
];

/// One part of each factor's extent, or why there is none.
fn each_factors(data: &LabelledCodes, extents: &[Result<Extent, String>], part: Part) -> Vec<Result<f64, String>> {
    let of_factor = |(extent, name): (&Result<Extent, String>, &str)| match part(extent.as_ref().map_err(Clone::clone)?)
    {
        value if value.is_nan() => Err(format!("no latent moves along any traversal of factor \"{name}\"")),
        value => Ok(value),
    };
    extents.iter().zip(data.space().names()).map(of_factor).collect()
}

impl Flatness {
    /// The mean extent of a factor's traversals.
    fn extent(&self, subject: &Subject, codes: &ScaledTable, factor: usize, rng: &mut Rng) -> Result<Extent, String> {
        let Factor { name, size } = &subject.data().space().factors()[factor];
        if *size == Some(1) {
            return Err(format!("factor \"{name}\" has a single value"));
        }
        let traversals = subject.traversals(factor)?;
        let n_values = traversals.ncols();
        let n_most = self.most_pairs / (n_values * (n_values - 1) / 2);
        if n_most == 0 {
            return Err(format!(
                "the {n_values} values of factor \"{name}\" have more pairs than are compared (setting \"most_pairs\")"
            ));
        }
        let chosen = even_part(traversals.nrows(), n_most, rng);
        // Collected in order and summed by one thread, so that the bits do not depend on how many threads there are.
        let extents: Vec<Extent> =
            chosen.into_par_iter().map(|traversal| extent_of(codes, &traversals.row(traversal))).collect();
        let mean = |part: Part| extents.iter().map(part).sum::<f64>() / extents.len() as f64;
        Ok(Extent {
            width: [mean(|extent| extent.width[0]), mean(|extent| extent.width[1])],
            length: [mean(|extent| extent.length[0]), mean(|extent| extent.length[1])],
            unit: codes.unit,
        })
    }
}

/// All numbers below `n`, or `n_most` of them in ascending order: one at random from each of as many equal parts.
fn even_part(n: usize, n_most: usize, rng: &mut Rng) -> Vec<usize> {
    if n <= n_most {
        return (0..n).collect();
    }
    (0..n_most).map(|part| rng.random_range(part * n / n_most..(part + 1) * n / n_most)).collect()
}

/// The extent of the traversal through these rows, of which there are at least two.
fn extent_of(codes: &ScaledTable, rows: &ArrayRef1<usize>) -> Extent {
    let mut extent = Extent::default();
    let mut longest = [0.0_f64; 2];
    for (place, &row) in rows.iter().enumerate() {
        let step = codes.distances(row, rows[(place + 1) % rows.len()]);
        let farthest = rows.iter().skip(place + 1).map(|&other| codes.distances(row, other));
        for distances in farthest {
            (0..2).for_each(|norm| extent.width[norm] = extent.width[norm].max(distances[norm]));
        }
        (0..2).for_each(|norm| extent.length[norm] += step[norm]);
        (0..2).for_each(|norm| longest[norm] = longest[norm].max(step[norm]));
    }
    (0..2).for_each(|norm| extent.length[norm] -= longest[norm]);
    extent
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "flatness",
    about: "how far apart the codes of a traversal get, against the way they go",
    paper: "Michlo 2022",
    settings: &[Setting {
        name: "most_pairs",
        values: Values::Whole(0, u64::MAX),
        meaning: "pairs of codes that are compared for each factor at most",
    }],
    scores: &[
        ScoreKind { name: "flatness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "flatness.l1", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "flatness.l2", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "flatness.width_l1", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "flatness.width_l2", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "flatness.length_l1", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "flatness.length_l2", least: 0.0, greatest: f64::INFINITY, better: Neither },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<Flatness>(table)?)),
    complete: settings::complete::<Flatness>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    fn score(codes: Array2<f64>, settings: &Flatness) -> Scores {
        let n_rows = codes.nrows();
        let factors = Array2::from_shape_fn((n_rows, 1), |(row, _)| row as f64);
        let space = FactorSpace::grid([("scale", n_rows)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        settings.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/flatness"))
    }

    #[test]
    fn an_angle_worked_by_hand() {
        // Steps 3, 4 and back 5 (L2) or 7 (L1), which is the longest. Width 5 or 7, length 7 either way.
        let scores = score(array![[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]], &Flatness::default());
        for (name, expected) in [
            ("flatness", 5.0 / 7.0),
            ("flatness.scale", 5.0 / 7.0),
            ("flatness.l1", 1.0),
            ("flatness.l2", 5.0 / 7.0),
            ("flatness.width_l1", 7.0),
            ("flatness.width_l2", 5.0),
            ("flatness.length_l1", 7.0),
            ("flatness.length_l2", 7.0),
        ] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn the_longest_step_is_left_out_even_where_it_is_not_the_last() {
        // Steps 9, 8 and back 1, without the 9.
        let scores = score(array![[0.0], [9.0], [1.0]], &Flatness::default());
        assert!((scores.value("flatness.length_l1").unwrap() - 9.0).abs() < 1e-12);
        assert!((scores.value("flatness").unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_move_has_width_0_and_no_flatness() {
        let scores = score(array![[0.1], [0.1]], &Flatness::default());
        assert_eq!(scores.value("flatness.width_l1"), Some(0.0));
        let reason = "no latent moves along any traversal of factor \"scale\"".to_string();
        assert_eq!(scores.reason("flatness"), Some(reason.as_str()));
    }

    #[test]
    fn a_traversal_with_too_many_pairs_is_refused_and_many_traversals_are_thinned() {
        let scores = score(array![[0.0], [1.0], [2.0]], &Flatness { most_pairs: 2 });
        assert!(scores.undefined[0].reason.starts_with("the 3 values of factor \"scale\" have more pairs"));
        let part = even_part(1000, 10, &mut Seed(1).stream("part"));
        assert!(part.iter().enumerate().all(|(place, number)| number / 100 == place), "{part:?}");
    }
}
