//! For every metric: which changes of the input leave its score as it was, and that every other change moves it. Also that
//! the same input gives the same bits, on any number of threads.

mod grids;
mod tables;

use ndarray::{Array1, Array2, Axis, array};
use rayon::ThreadPoolBuilder;
use unbraid_data::LabelledCodes;
use unbraid_data::labelled_codes::Extras;
use unbraid_metrics::Change::{self, *};
use unbraid_metrics::{METRICS, Scores};

use grids::{grid, noise};
use tables::{labelled, scores_of_all};

const CHANGES: [Change; 9] =
    [LatentOrder, LatentSigns, CommonScale, LatentScales, Shift, Rotation, RowOrder, LogVariances, Losses];

/// Changes that may move a metric but do not on the table below, and why.
const UNMOVED: &[(&str, Change, &str)] = &[(
    "infomec",
    LatentScales,
    "a latent that shrinks below a twentieth of the widest takes no part; here it takes a factor with it that scored 1",
)];

const SIZES: [usize; 3] = [4, 5, 6];

/// The parts of a table, before they are put together.
#[derive(Clone)]
struct Parts {
    codes: Array2<f64>,
    factors: Array2<f64>,
    log_variances: Array2<f64>,
    losses: Vec<f64>,
    train_rows: Vec<usize>,
    test_rows: Vec<usize>,
}

impl Parts {
    /// Noisy factors and one latent that hardly moves.
    fn new() -> Self {
        let factors = grid(&SIZES);
        let mut codes = noise((120, 4), "codes");
        codes.column_mut(3).mapv_inplace(|value| value * 1e-3);
        for latent in 0..3 {
            codes.column_mut(latent).scaled_add(1.0, &factors.column(latent));
        }
        Self {
            codes,
            factors,
            log_variances: noise((120, 4), "log-variances"),
            losses: noise((120, 1), "losses").into_iter().collect(),
            train_rows: (0..120).filter(|row| row % 3 != 0).collect(),
            test_rows: (0..120).step_by(3).collect(),
        }
    }

    fn change(mut self, change: Change) -> Self {
        match change {
            LatentOrder => self.codes = self.codes.select(Axis(1), &[2, 0, 3, 1]),
            LatentSigns => self.codes *= &array![[-1.0, 1.0, -1.0, -1.0]],
            CommonScale => self.codes *= 0.01,
            LatentScales => self.codes *= &array![[0.01, 3.0, 0.5, 2.0]],
            Shift => self.codes += 0.7,
            Rotation => self.codes = self.codes.dot(&rotation()),
            RowOrder => self = self.select(&(0..120).map(|row| row * 77 % 120).collect::<Vec<usize>>()),
            LogVariances => self.log_variances += 0.5,
            Losses => self.losses.iter_mut().for_each(|loss| *loss += 0.5),
        }
        self
    }

    /// The same rows in the order that `rows` gives; the same of them are fitted and tested on, in the same order.
    fn select(&self, rows: &[usize]) -> Self {
        let place_of = |row: &usize| rows.iter().position(|old| old == row).expect("every row is kept");
        Self {
            train_rows: self.train_rows.iter().map(place_of).collect(),
            test_rows: self.test_rows.iter().map(place_of).collect(),
            codes: self.codes.select(Axis(0), rows),
            factors: self.factors.select(Axis(0), rows),
            log_variances: self.log_variances.select(Axis(0), rows),
            losses: Array1::from(self.losses.clone()).select(Axis(0), rows).to_vec(),
        }
    }

    fn into_data(self) -> LabelledCodes {
        let extras = Extras {
            log_variances: Some(self.log_variances),
            reconstruction_losses: Some(self.losses),
            train_rows: Some(self.train_rows),
            test_rows: Some(self.test_rows),
        };
        labelled(self.codes, self.factors, &SIZES, extras)
    }
}

/// Turns the first latent towards the last, and the second towards the third.
fn rotation() -> Array2<f64> {
    array![[0.6, 0.0, 0.0, 0.8], [0.0, 0.8, 0.6, 0.0], [0.0, -0.6, 0.8, 0.0], [-0.8, 0.0, 0.0, 0.6]]
}

fn scores(parts: Parts) -> Scores {
    scores_of_all(&parts.into_data())
}

#[test]
fn what_leaves_a_metric_alone_does_and_all_else_moves_it() {
    let before = scores(Parts::new());
    for change in CHANGES {
        let after = scores(Parts::new().change(change));
        for entry in METRICS {
            let (before, after) = (before.value(entry.name), after.value(entry.name));
            let (before, after) = (before.expect("it is defined"), after.expect("it is defined"));
            if UNMOVED.iter().any(|(name, unmoved, _)| *name == entry.name && *unmoved == change) {
                continue;
            }
            let stays = (before - after).abs() <= 1e-9 * (1.0 + before.abs());
            assert_eq!(
                stays,
                entry.left_alone_by.contains(&change),
                "{} under {change:?}: {before}, {after}",
                entry.name
            );
        }
    }
}

#[test]
fn the_same_input_and_seed_give_the_same_bits_on_any_number_of_threads() {
    let with_threads = |n_threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads can be started");
        pool.install(|| scores(Parts::new()))
    };
    let once = with_threads(1);
    // `PartialEq` on scores compares every number, matrix and reason; there is no NaN that would hide a difference.
    assert_eq!(once, with_threads(1));
    assert_eq!(once, with_threads(2));
    assert_eq!(once, with_threads(5));
}
