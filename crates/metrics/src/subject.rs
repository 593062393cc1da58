//! What is measured: labelled codes, the rows that predictors are fitted and tested on, other models' codes of the same
//! images, and whatever several metrics need of them, computed once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ndarray::{Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use unbraid_data::{Factor, LabelledCodes, Seed};

use crate::coarse_codes::why_too_coarse;
use crate::posterior_information::{PosteriorInformation, SharedEstimate};
use crate::predictors::boosted_trees::BoostedTrees;
use crate::predictors::ranked_columns::RankedColumns;
use crate::row_order::rows_by_factors;
use crate::statistics::information::{Binning, Information};
use crate::traversal_ratios::{TraversalRatios, ratios_of_traversals};
use crate::traversals::complete_traversals;

/// Codes `[rows, latents]` and factors `[rows, factors]` of the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Tables {
    /// `[rows, latents]`.
    pub codes: Array2<f64>,
    /// `[rows, factors]`; a discrete factor's values are whole numbers from 0.
    pub factors: Array2<f64>,
}

/// The rows that predictors are fitted on, and others that they are tested on.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// To fit on; at least one row.
    pub train: Tables,
    /// To test on; at least one row.
    pub test: Tables,
}

/// How many rows are drawn for a split where the input names none; Locatello et al. 2019 take 10,000 and 5,000.
const MOST_TRAIN_ROWS: usize = 10_000;
const MOST_TEST_ROWS: usize = 5_000;

/// What the metrics are given.
pub struct Subject<'a> {
    data: &'a LabelledCodes,
    others: &'a [&'a LabelledCodes],
    seed: Seed,
    why_too_coarse: OnceLock<Option<String>>,
    train: OnceLock<Tables>,
    split: OnceLock<Result<Split, String>>,
    information: Mutex<BTreeMap<(Binning, usize), Arc<Information>>>,
    rows_by_factors: OnceLock<Vec<usize>>,
    traversals: Vec<OnceLock<Result<Array2<usize>, String>>>,
    traversal_ratios: OnceLock<Vec<Result<TraversalRatios, String>>>,
    ranked_codes: OnceLock<RankedColumns>,
    boosted_trees: OnceLock<Vec<BoostedTrees>>,
    posterior_information: Mutex<BTreeMap<(usize, usize), SharedEstimate>>,
}

impl<'a> Subject<'a> {
    /// The codes of one model. Rows are drawn from the stream `metric rows` of `seed`, where the input names none; the order of
    /// the table plays a part in that only among rows with equal factors.
    pub fn new(data: &'a LabelledCodes, seed: Seed) -> Self {
        Self::among(data, &[], seed)
    }

    /// The codes of one model beside those that `others` give to the same images.
    pub fn among(data: &'a LabelledCodes, others: &'a [&'a LabelledCodes], seed: Seed) -> Self {
        Self {
            data,
            others,
            seed,
            why_too_coarse: OnceLock::new(),
            train: OnceLock::new(),
            split: OnceLock::new(),
            information: Mutex::default(),
            rows_by_factors: OnceLock::new(),
            traversals: vec![OnceLock::new(); data.n_factors()],
            traversal_ratios: OnceLock::new(),
            ranked_codes: OnceLock::new(),
            boosted_trees: OnceLock::new(),
            posterior_information: Mutex::default(),
        }
    }

    /// The same of another table, beside the same other models and with the same seed.
    pub fn with_data<'b>(&self, data: &'b LabelledCodes) -> Subject<'b>
    where
        'a: 'b,
    {
        Subject::among(data, self.others, self.seed)
    }

    /// The whole table.
    pub fn data(&self) -> &'a LabelledCodes {
        self.data
    }

    /// Other models' codes.
    pub fn others(&self) -> &'a [&'a LabelledCodes] {
        self.others
    }

    /// Why the codes cannot be scored, where rounding has changed them.
    pub fn why_too_coarse(&self) -> Option<&str> {
        self.why_too_coarse.get_or_init(|| why_too_coarse(self.data.codes())).as_deref()
    }

    /// The rows on which statistics are counted: the train rows, or all rows where none are named.
    pub fn train(&self) -> &Tables {
        self.train.get_or_init(|| match &self.data.extras().train_rows {
            Some(rows) => tables(self.data, rows),
            None => Tables { codes: self.data.codes().clone(), factors: self.data.factors().clone() },
        })
    }

    /// What latents tell about factors on the train rows, with so many bins; counted once for all metrics.
    pub fn information(&self, binning: Binning, n_bins: usize) -> Arc<Information> {
        let key = (binning, n_bins);
        let lock = || self.information.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        // Counted while others may look, since a thread that waits for the others may begin another metric.
        let counted = Arc::new(Information::of(self.train(), self.data.space().factors(), binning, n_bins));
        Arc::clone(lock().entry(key).or_insert(counted))
    }

    /// The rows on which predictors are fitted and tested: those that the input names; else rows drawn without
    /// replacement, two thirds to fit on (10,000 at most) and the others to test on (5,000 at most).
    pub fn split(&self) -> Result<&Split, String> {
        self.split.get_or_init(|| self.draw_split()).as_ref().map_err(Clone::clone)
    }

    /// All row numbers in an order that follows from the factors, for metrics that draw rows: a shuffled table then gives
    /// the same images. Rows with equal factors stay in the order that they have.
    pub fn rows_by_factors(&self) -> &[usize] {
        self.rows_by_factors.get_or_init(|| rows_by_factors(self.data))
    }

    /// The complete traversals of a factor in the whole table: row numbers `[traversals, values]`; or why there are none.
    pub fn traversals(&self, factor: usize) -> Result<&Array2<usize>, String> {
        self.traversals[factor].get_or_init(|| complete_traversals(self.data, factor)).as_ref().map_err(Clone::clone)
    }

    /// For each factor the ratios of its traversals, or why there are none.
    pub fn traversal_ratios(&self) -> &[Result<TraversalRatios, String>] {
        self.traversal_ratios.get_or_init(|| ratios_of_traversals(self))
    }

    /// The codes of the rows to fit on, sorted for trees.
    pub fn ranked_codes(&self) -> Result<&RankedColumns, String> {
        let split = self.split()?;
        Ok(self.ranked_codes.get_or_init(|| RankedColumns::new(&split.train.codes)))
    }

    /// Boosted trees for each factor, fitted on the rows to fit on: a classifier for a discrete factor, a regressor for
    /// a continuous one. Ties are broken by the stream `ties of trees` of the seed. `[factors]`
    pub fn boosted_trees(&self) -> Result<&[BoostedTrees], String> {
        let (split, table) = (self.split()?, self.ranked_codes()?);
        Ok(self.boosted_trees.get_or_init(|| {
            let factors = self.data.space().factors();
            let columns: Vec<Vec<f64>> = split.train.factors.columns().into_iter().map(|of| of.to_vec()).collect();
            let fit = |(number, (factor, values)): (usize, (&Factor, &Vec<f64>))| {
                let mut ties = self.seed.stream_at("ties of trees", number as u64);
                match factor.size {
                    Some(_) => BoostedTrees::classify(table, values, &mut ties),
                    None => BoostedTrees::regress(table, values, &mut ties),
                }
            };
            factors.par_iter().zip(&columns).enumerate().map(fit).collect()
        }))
    }

    /// What latents tell about which row was coded, from so many draws and at most so many rows, or why it is not known;
    /// estimated once for all metrics. It is drawn from the seed itself.
    pub fn posterior_information(&self, n_samples: usize, most_rows: usize) -> SharedEstimate {
        let key = (n_samples, most_rows);
        let lock = || self.posterior_information.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        // Estimated while others may look, as above.
        let seed = Seed(self.seed.stream("posterior information").random());
        let estimated = Arc::new(PosteriorInformation::of(self, n_samples, most_rows, seed));
        Arc::clone(lock().entry(key).or_insert(estimated))
    }

    fn draw_split(&self) -> Result<Split, String> {
        let extras = self.data.extras();
        let n_rows = self.data.n_rows();
        let mut free: Vec<usize> = self.rows_by_factors().to_vec();
        for named in [&extras.train_rows, &extras.test_rows].into_iter().flatten() {
            let mut is_named = vec![false; n_rows];
            named.iter().for_each(|&row| is_named[row] = true);
            free.retain(|&row| !is_named[row]);
        }
        free.shuffle(&mut self.seed.stream("metric rows"));
        let n_train = match (&extras.train_rows, &extras.test_rows) {
            (Some(_), _) => 0,
            (None, Some(_)) => free.len(),
            (None, None) => (2 * n_rows).div_ceil(3).min(n_rows - 1),
        };
        let (for_train, for_test) = free.split_at(n_train);
        let train = extras.train_rows.as_deref().unwrap_or(&for_train[..n_train.min(MOST_TRAIN_ROWS)]);
        let test = extras.test_rows.as_deref().unwrap_or(&for_test[..for_test.len().min(MOST_TEST_ROWS)]);
        if train.is_empty() || test.is_empty() {
            return Err(match (&extras.train_rows, &extras.test_rows) {
                (Some(_), _) => "`train_rows` names all rows and leaves none to test on: name `test_rows`".to_string(),
                (_, Some(_)) => "`test_rows` names all rows and leaves none to fit on: name `train_rows`".to_string(),
                (None, None) => "needs at least two rows, one to fit on and one to test on".to_string(),
            });
        }
        Ok(Split { train: tables(self.data, train), test: tables(self.data, test) })
    }
}

fn tables(data: &LabelledCodes, rows: &[usize]) -> Tables {
    Tables { codes: rows_of(data.codes(), rows), factors: rows_of(data.factors(), rows) }
}

/// Some rows of a table; `select` of ndarray takes many times as long where rows are short.
pub fn rows_of(table: &Array2<f64>, rows: &[usize]) -> Array2<f64> {
    let n_columns = table.ncols();
    let Some(values) = table.as_slice() else { return table.select(Axis(0), rows) };
    let mut chosen = Vec::with_capacity(rows.len() * n_columns);
    rows.iter().for_each(|row| chosen.extend_from_slice(&values[row * n_columns..][..n_columns]));
    Array2::from_shape_vec((rows.len(), n_columns), chosen).expect("each row has all columns")
}

/// Whether every column of `table [rows, columns]` holds a single value.
pub fn all_constant(table: &Array2<f64>) -> bool {
    table.columns().into_iter().all(|column| column.iter().all(|&value| value == column[0]))
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    fn data(n_rows: usize, train_rows: Option<Vec<usize>>, test_rows: Option<Vec<usize>>) -> LabelledCodes {
        let codes = Array2::from_shape_fn((n_rows, 1), |(row, _)| row as f64);
        let space = FactorSpace::grid([("shape", n_rows)]);
        let extras = Extras { train_rows, test_rows, ..Extras::default() };
        LabelledCodes::new(codes.clone(), codes, space, extras).unwrap()
    }

    /// The numbers of the rows in both halves of a split, in order.
    fn halves(data: &LabelledCodes) -> (Vec<f64>, Vec<f64>) {
        let subject = Subject::new(data, Seed(1));
        let split = subject.split().unwrap();
        (split.train.codes.iter().copied().collect(), split.test.codes.iter().copied().collect())
    }

    #[test]
    fn named_rows_are_used_and_in_their_order() {
        let data = data(4, Some(vec![2, 0]), Some(vec![3]));
        assert_eq!(Subject::new(&data, Seed(1)).train().codes, array![[2.0], [0.0]]);
        assert_eq!(halves(&data), (vec![2.0, 0.0], vec![3.0]));
    }

    #[test]
    fn where_no_rows_are_named_two_thirds_are_fitted_on_and_the_others_tested_on() {
        let (mut train, test) = halves(&data(9, None, None));
        assert_eq!((train.len(), test.len()), (6, 3));
        train.extend(test);
        train.sort_by(f64::total_cmp);
        assert_eq!(train, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let (train, test) = halves(&data(20_000, None, None));
        assert_eq!((train.len(), test.len()), (10_000, 5_000));
    }

    #[test]
    fn the_half_that_is_not_named_is_drawn_from_the_other_rows() {
        let (train, mut test) = halves(&data(4, Some(vec![1, 3]), None));
        test.sort_by(f64::total_cmp);
        assert_eq!((train, test), (vec![1.0, 3.0], vec![0.0, 2.0]));
        let (mut train, test) = halves(&data(4, None, Some(vec![1])));
        train.sort_by(f64::total_cmp);
        assert_eq!((train, test), (vec![0.0, 2.0, 3.0], vec![1.0]));
    }

    #[test]
    fn one_row_cannot_be_split() {
        let data = data(1, None, None);
        assert!(Subject::new(&data, Seed(1)).split().is_err());
    }

    #[test]
    fn one_moving_column_is_enough() {
        assert!(all_constant(&array![[1.0, 2.0], [1.0, 2.0]]));
        assert!(!all_constant(&array![[1.0, 2.0], [1.0, 3.0]]));
    }
}
