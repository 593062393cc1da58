//! InfoMEC: modularity, explicitness and compactness of latents, all in terms of information.
//!
//! Hsu et al. 2023, "Disentanglement via latent quantization", section 5. With `N_jk = I(z_j; v_k) / H(v_k)` over the A
//! active latents and K factors:
//!
//! `modularity = (mean_j max_k N_jk / sum_k N_jk - 1/K) / (1 - 1/K)`,
//! `compactness = (mean_k max_j N_jk / sum_j N_jk - 1/A) / (1 - 1/A)`,
//! `explicitness = mean_k (H(v_k) - H_V(v_k | z)) / H(v_k)`,
//!
//! where `H_V` is the log loss of logistic regression without penalty from all latents. All is measured on the train rows,
//! predictions too. As in the authors' code, what the latents are decides how:
//!
//! | `latents` | information | regression from | active |
//! |---|---|---|---|
//! | `"continuous"` | the distances to 10 nearest neighbours | latents at mean 0 and variance 1 | a range above a twentieth of the widest |
//! | `"discrete"` | counts of their exact values | a column for each value of each latent | any two values |
//!
//! There the caller says which. Here `"auto"` takes latents for discrete, and says so in a note, where each has at most 20
//! values, these have 10 rows each on average, and all latents together have at most 2,000, each a column of the
//! regression. The authors' quantised models have 10 values for each latent, while codes of any other network have nearly
//! as many values as rows; and where more rows share a value than there are neighbours, the distances that the other
//! estimator rests on are 0. `estimator = "bins"` counts continuous latents in
//! bins as `mig` does.
//!
//! `infomec` itself is the mean of the three, which is ours: the authors print them side by side.
//!
//! Departures: rows count equally in the regression, as in the definition of `H_V`, where the authors' code weights
//! classes equally (the same where the values of a factor are equally frequent); a latent that tells nothing and a factor
//! of which nothing is told have no ratio and take no part; neighbours at equal values are counted, where scikit-learn
//! adds noise; a continuous factor is cut into equal-width bins.

use std::num::NonZeroUsize;

use ndarray::{Array2, ArrayRef1, ArrayView1, Axis};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::Rng;
use unbraid_data::settings::{self, Setting, Values};

use crate::Better::High;
use crate::Change::*;
use crate::metrics::mig::SINGLE_VALUE;
use crate::predictors::logistic_regression::LogisticRegression;
use crate::statistics::classes::{Classes, classes_of_columns, classes_of_factors, distinct_values};
use crate::statistics::entropy::entropy;
use crate::statistics::few_values::{has_few_values, one_hot};
use crate::statistics::information::{Binning, Information, MOST_BINS, Normaliser, check_bins, published};
use crate::statistics::mean::mean_of_defined;
use crate::statistics::neighbour_information::{Sorted, neighbour_information};
use crate::statistics::standardise::Standardisation;
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// A latent whose range is at most this share of the widest is not active (Hsu et al. 2023).
const ACTIVE_ABOVE: f64 = 1.0 / 20.0;

/// More values of all discrete latents together would make a regression of as many columns.
const MOST_VALUES: usize = 2_000;

/// Settings of InfoMEC.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Infomec {
    /// What the latents are taken for.
    pub latents: Latents,
    /// Where the information of a continuous latent and a factor comes from.
    pub estimator: Estimator,
    /// How many neighbours; 10 in Hsu et al. 2023.
    pub neighbours: NonZeroUsize,
    /// How many bins, for continuous factors and for the estimator of that name.
    pub bins: NonZeroUsize,
    /// How many rows the regression is fitted to at most, drawn where there are more; 10,000 bounds its cost.
    pub regression_rows: NonZeroUsize,
}

/// What the latents are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Latents {
    /// Discrete where all have few values, and these are not too many for a regression; else continuous.
    Auto,
    /// Names of their values.
    Discrete,
    /// Numbers.
    Continuous,
}

/// Where information comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// Distances to nearest neighbours.
    Neighbours,
    /// Counts in equal-width bins.
    Bins,
}

impl Default for Infomec {
    fn default() -> Self {
        Self {
            latents: Latents::Auto,
            estimator: Estimator::Neighbours,
            neighbours: published(10),
            bins: published(20),
            regression_rows: published(10_000),
        }
    }
}

impl Metric for Infomec {
    /// `infomec` and its parts `modularity`, `compactness` (in [0, 1]) and `explicitness` (at most 1, each factor's as
    /// `infomec.explicitness.FACTOR`), and the matrix `infomec.information` of shares of the factors' entropies.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let Tables { codes, factors } = subject.train();
        let classes = classes_of_factors(factors, data.space().factors(), self.bins.get());
        let values = match self.values_of_latents(codes) {
            Ok(values) => values,
            Err(reason) => return no_scores(&reason),
        };
        let shares = self.shares(subject, values.as_deref(), &classes); // [latents, factors]
        let active = active_latents(codes, values.as_deref());
        let of_active = shares.select(Axis(0), &active); // [active latents, factors]
        let (modularity, compactness) = if all_constant(codes) {
            (Err("every latent is constant".to_string()), Err("every latent is constant".to_string()))
        } else {
            (mean_share(of_active.outer_iter(), "factors"), mean_share(of_active.axis_iter(Axis(1)), "active latents"))
        };
        let per_factor = self.explicitness(subject, values.as_deref(), &classes, rng);
        let explicitness = mean_of_defined(&per_factor);
        let parts = [("modularity", modularity), ("explicitness", explicitness), ("compactness", compactness)];
        let reason = parts.iter().find_map(|(name, part)| part.as_ref().err().map(|why| format!("{name}: {why}")));
        let mean = parts.iter().filter_map(|(_, part)| part.as_ref().ok()).sum::<f64>() / 3.0;

        let mut scores = Scores::new().with_outcome("infomec", reason.map_or(Ok(mean), Err));
        if let (Latents::Auto, Some(values)) = (self.latents, &values) {
            scores = scores.with_note("infomec", &few_values_note(values));
        }
        for (name, part) in parts {
            scores = scores.with_outcome(&format!("infomec.{name}"), part);
        }
        for (factor, outcome) in data.space().names().zip(&per_factor) {
            scores = scores.with_factor("infomec.explicitness", factor, outcome.as_ref().copied());
        }
        scores.with_matrix(Matrix::of_latents_and_factors("infomec.information", data, shares))
    }
}

impl Infomec {
    /// The values of each latent as classes where latents are discrete, nothing where they are continuous.
    fn values_of_latents(&self, codes: &Array2<f64>) -> Result<Option<Vec<Classes>>, String> {
        let is_discrete = match self.latents {
            Latents::Auto => !all_constant(codes) && codes.columns().into_iter().all(|column| has_few_values(&column)),
            Latents::Discrete => true,
            Latents::Continuous => false,
        };
        if !is_discrete {
            return Ok(None);
        }
        let values = classes_of_columns(codes, |_, column| distinct_values(column));
        let n_values: usize = values.iter().map(|of_latent| of_latent.n_classes).sum();
        if n_values > MOST_VALUES {
            if self.latents == Latents::Auto {
                return Ok(None);
            }
            return Err(format!(
                "takes {MOST_VALUES} values of all discrete latents together at most, and these have {n_values}: set \
                 `infomec.latents` to \"continuous\""
            ));
        }
        Ok(Some(values))
    }

    /// The explicitness of each factor, from the latents' `values` where they are discrete.
    fn explicitness(
        &self,
        subject: &Subject,
        values: Option<&[Classes]>,
        classes: &[Classes],
        rng: &mut Rng,
    ) -> Vec<Result<f64, String>> {
        let codes = &subject.train().codes;
        let mut rows: Vec<usize> = (0..codes.nrows()).collect();
        if rows.len() > self.regression_rows.get() {
            // Named rows have an order of their own; all others that of their factors.
            if subject.data().extras().train_rows.is_none() {
                rows.copy_from_slice(subject.rows_by_factors());
            }
            rows.shuffle(rng);
            rows.truncate(self.regression_rows.get());
        }
        let features = match values {
            Some(values) => one_hot(values, &rows),
            None => {
                let codes = codes.select(Axis(0), &rows);
                Standardisation::of(&codes).apply(&codes)
            }
        };
        let of_rows = |classes: &Classes| {
            let of_rows = rows.iter().map(|&row| classes.of_rows[row]).collect();
            explicitness_of(&features, &Classes { of_rows, n_classes: classes.n_classes })
        };
        classes.iter().map(of_rows).collect()
    }

    /// Each latent's information about each factor as a share of the factor's entropy, 0 where that is 0.
    fn shares(&self, subject: &Subject, values: Option<&[Classes]>, classes: &[Classes]) -> Array2<f64> {
        if let Some(values) = values {
            return Information::of_classes(values.to_vec(), classes).normalised(Normaliser::FactorEntropy);
        }
        if self.estimator == Estimator::Bins {
            let information = subject.information(Binning::EqualWidth, self.bins.get());
            return information.normalised(Normaliser::FactorEntropy);
        }
        let codes = &subject.train().codes;
        let columns = (0..codes.ncols()).into_par_iter();
        let latents: Vec<Sorted> = columns.map(|latent| Sorted::of(&codes.column(latent).to_owned())).collect();
        let entropies: Vec<f64> = classes.iter().map(entropy).collect();
        let pairs = (0..latents.len() * classes.len()).into_par_iter();
        let entries = pairs.map(|pair| {
            let (latent, factor) = (&latents[pair / classes.len()], pair % classes.len());
            match entropies[factor] {
                0.0 => 0.0,
                entropy => neighbour_information(latent, &classes[factor], self.neighbours.get()) / entropy,
            }
        });
        Array2::from_shape_vec((latents.len(), classes.len()), entries.collect()).expect("an entry for each pair")
    }
}

/// What was chosen for latents of few values.
fn few_values_note(values: &[Classes]) -> String {
    let most = values.iter().fold(0, |most, of_latent| most.max(of_latent.n_classes));
    format!(
        "no latent has more than {most} values, so that latents are taken for discrete: information counts exact values, and \
         explicitness rests on a column for each value; `infomec.latents` = \"continuous\" takes them for numbers"
    )
}

/// The scores that every input has, all undefined for the same reason.
fn no_scores(reason: &str) -> Scores {
    let names = ["infomec", "infomec.modularity", "infomec.explicitness", "infomec.compactness"];
    Scores::new().without_all(names, reason)
}

/// Which share of a factor's entropy logistic regression from the features takes away.
fn explicitness_of(features: &Array2<f64>, classes: &Classes) -> Result<f64, String> {
    let classes = classes.with_rows_only();
    if classes.n_classes < 2 {
        return Err(SINGLE_VALUE.to_string());
    }
    let fitted = LogisticRegression::fit(features, &classes, f64::INFINITY);
    let probabilities = fitted.probabilities(features); // [rows, classes]
    let of_own = classes.of_rows.iter().zip(probabilities.outer_iter()).map(|(&class, of_row)| of_row[class]);
    // A probability may round to 0, whose loss would be infinite; scikit-learn clips it in the same way.
    let losses = of_own.map(|probability| -probability.max(f64::EPSILON).ln());
    let loss = losses.sum::<f64>() / features.nrows() as f64;
    // The frequencies of the classes are a fit too, so a fit that was stopped short of them is no loss of information.
    Ok((1.0 - loss / entropy(&classes)).max(0.0))
}

/// The discrete latents of two values or more, or the continuous ones whose range exceeds a twentieth of the widest.
fn active_latents(codes: &Array2<f64>, values: Option<&[Classes]>) -> Vec<usize> {
    if let Some(values) = values {
        return (0..values.len()).filter(|&latent| values[latent].n_classes > 1).collect();
    }
    let range = |column: &ArrayRef1<f64>| {
        // Halves keep the range of huge numbers finite.
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = column.iter().fold(ends, |(low, high), &value| (low.min(value / 2.0), high.max(value / 2.0)));
        high - low
    };
    let ranges: Vec<f64> = codes.columns().into_iter().map(|column| range(&column)).collect();
    let widest = ranges.iter().fold(0.0_f64, |widest, &range| widest.max(range));
    (0..ranges.len()).filter(|&latent| ranges[latent] > widest * ACTIVE_ABOVE).collect()
}

/// The mean over lines of the largest entry's share of the sum, brought from [1/n, 1] to [0, 1], where a line has n entries.
fn mean_share<'a>(lines: impl Iterator<Item = ArrayView1<'a, f64>>, entries: &str) -> Result<f64, String> {
    let mut shares = Vec::new();
    for line in lines {
        if line.len() < 2 {
            return Err(format!("needs at least two {entries}"));
        }
        let (sum, least) = (line.sum(), 1.0 / line.len() as f64);
        if sum > 0.0 {
            let largest = line.fold(0.0_f64, |largest, &value| largest.max(value));
            shares.push(Ok(((largest / sum - least) / (1.0 - least)).clamp(0.0, 1.0)));
        }
    }
    if shares.is_empty() {
        return Err("no active latent tells about any factor".to_string());
    }
    mean_of_defined(&shares)
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "infomec",
    about: "modularity, explicitness and compactness by information",
    paper: "Hsu et al. 2023",
    settings: &[
        Setting {
            name: "latents",
            values: Values::OneOf(&["auto", "discrete", "continuous"]),
            meaning: "what latents are taken for; auto: discrete where each has at most 20 values",
        },
        Setting {
            name: "estimator",
            values: Values::OneOf(&["neighbours", "bins"]),
            meaning: "where the information of continuous latents comes from",
        },
        Setting {
            name: "neighbours",
            values: Values::Whole(1, i64::MAX as u64),
            meaning: "how many nearest neighbours",
        },
        Setting {
            name: "bins",
            values: Values::Whole(1, MOST_BINS as u64),
            meaning: "how many bins, for continuous factors and for the estimator of that name",
        },
        Setting {
            name: "regression_rows",
            values: Values::Whole(1, i64::MAX as u64),
            meaning: "how many rows the regression is fitted to at most, drawn where there are more",
        },
    ],
    scores: &[
        ScoreKind { name: "infomec", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "infomec.modularity", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "infomec.explicitness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "infomec.compactness", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| {
        let infomec: Infomec = settings::read(table)?;
        check_bins(infomec.bins)?;
        Ok(Box::new(infomec))
    },
    complete: settings::complete::<Infomec>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(infomec: &Infomec, codes: Array2<f64>) -> Scores {
        let factors = Array2::from_shape_fn((40, 2), |(row, factor)| [row / 10 % 2, row / 20][factor] as f64);
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        infomec.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/infomec"))
    }

    #[test]
    fn shares_of_bins_worked_by_hand() {
        // z0 is the first factor, z1 tells the four combinations apart, z2 moves too little to count. Shares [[1, 0],
        // [1, 1]]: modularity from 1 and 1/2, hence 1 and 0; compactness from 1/2 and 1, hence 0 and 1. Explicitness: both
        // factors are linear in (z0, z1), so that their loss falls to nearly 0.
        let codes = Array2::from_shape_fn((40, 3), |(row, latent)| {
            let (a, b) = ((row / 10 % 2) as f64, (row / 20) as f64);
            [a, a + 2.0 * b, 0.01 * a][latent]
        });
        let bins = Infomec { latents: Latents::Continuous, estimator: Estimator::Bins, ..Infomec::default() };
        let scores = score(&bins, codes);
        for (name, expected) in [("infomec.modularity", 0.5), ("infomec.compactness", 0.5)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert!(scores.value("infomec.explicitness").unwrap() > 0.99);
    }

    #[test]
    fn discrete_latents_worked_by_hand() {
        // The same latents by their values: z2 is as good as z0, however little it moves. Shares [[1, 0], [1, 1], [1, 0]]:
        // modularity from 1, 1/2 and 1, hence 2/3; compactness from 1/3 and 1, hence 0 and 1.
        let codes = Array2::from_shape_fn((40, 3), |(row, latent)| {
            let (a, b) = ((row / 10 % 2) as f64, (row / 20) as f64);
            [a, a + 2.0 * b, 0.01 * a][latent]
        });
        let scores = score(&Infomec::default(), codes);
        for (name, expected) in [("infomec.modularity", 2.0 / 3.0), ("infomec.compactness", 0.5)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}: {scores:?}");
        }
        assert!(scores.value("infomec.explicitness").unwrap() > 0.99);
        assert!(scores.notes[0].1.starts_with("no latent has more than 4 values"), "{:?}", scores.notes);
    }

    #[test]
    fn one_latent_of_many_values_leaves_all_of_them_numbers() {
        let codes = Array2::from_shape_fn((40, 2), |(row, latent)| [(row / 10 % 2) as f64, row as f64 / 40.0][latent]);
        let scores = score(&Infomec::default(), codes);
        assert!(scores.notes.is_empty() && scores.value("infomec").is_some(), "{scores:?}");
    }

    #[test]
    fn too_many_values_to_be_discrete_are_refused() {
        let codes = Array2::from_shape_fn((2001, 1), |(row, _)| row as f64);
        let factors = Array2::from_shape_fn((2001, 1), |(row, _)| (row % 2) as f64);
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        let discrete = Infomec { latents: Latents::Discrete, ..Infomec::default() };
        let scores = discrete.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/infomec"));
        assert!(scores.values.is_empty());
        assert!(scores.undefined[0].reason.contains("and these have 2001"), "{:?}", scores.undefined);
    }

    #[test]
    fn more_values_than_a_regression_takes_leave_latents_numbers() {
        // 101 latents of 20 values each.
        let codes = Array2::from_shape_fn((400, 101), |(row, latent)| ((row + row / 20 * latent) % 20) as f64);
        assert!(Infomec::default().values_of_latents(&codes).unwrap().is_none());
        let discrete = Infomec { latents: Latents::Discrete, ..Infomec::default() };
        assert!(discrete.values_of_latents(&codes).unwrap_err().contains("and these have 2020"));
        let fewer = codes.select(Axis(1), &(0..100).collect::<Vec<usize>>());
        assert!(Infomec::default().values_of_latents(&fewer).unwrap().is_some());
    }

    #[test]
    fn the_rows_that_are_drawn_do_not_depend_on_their_order() {
        let explicitness = |order: fn(usize) -> usize| {
            let factors =
                Array2::from_shape_fn((40, 2), |(row, factor)| [order(row) / 20, order(row) % 20][factor] as f64);
            let codes = Array2::from_shape_fn((40, 2), |(row, latent)| (order(row) * [7, 11][latent] % 13) as f64);
            let space = FactorSpace::grid([("shape", 2), ("scale", 20)]);
            let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
            let infomec = Infomec { regression_rows: published(20), ..Infomec::default() };
            let scores = infomec.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/infomec"));
            scores.value("infomec.explicitness.shape").unwrap()
        };
        assert_eq!(explicitness(|row| row), explicitness(|row| row * 7 % 40));
    }

    #[test]
    fn latents_that_tell_nothing_leave_no_explicitness() {
        // z0 is independent of both factors, so that the best fit is the classes' frequency.
        let codes = Array2::from_shape_fn((40, 1), |(row, _)| (row % 2) as f64);
        let scores = score(&Infomec::default(), codes);
        assert!(scores.value("infomec.explicitness").unwrap() < 1e-6);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(&Infomec::default(), Array2::ones((40, 2)));
        assert_eq!(scores.reason("infomec"), Some("modularity: every latent is constant"));
    }

    #[test]
    fn a_range_of_a_twentieth_of_the_widest_is_not_active() {
        assert_eq!(active_latents(&array![[0.0, 0.0], [1.0, 0.05]], None), [0]);
    }
}
