//! The leading eigenvectors of a covariance that is only ever multiplied with, from a random start.
//!
//! Halko, Martinsson, Shkolnisky and Tygert 2011, "An algorithm for the principal component analysis of large data sets": a few more
//! random directions than components are wanted, multiplied by the covariance C again and again; the directions of all passes
//! are kept, and the components are the best within their span (Rayleigh-Ritz), so that each pass gains more than a plain power
//! iteration would.
//!
//! Departures: the number of passes is not fixed. They end when `|C u - v u|` is a small share of the variance v of each
//! wanted component u, which bounds its error by that over the gap to its neighbours. Where the span gets large it is cut back to the
//! best of it, and the passes go on from there (Wu and Simon 2000, thick restarts).

use faer::{Mat, Side};
use ndarray::{Array2, Axis};
use unbraid_data::{Error, Result, Rng};

use crate::statistics::normal::normal_noise;

/// Directions beside those that are wanted.
const OVERSAMPLING: usize = 10;
/// The span is cut back when it holds this many times the directions of a pass.
const MOST_BLOCKS: usize = 8;
/// Components with less than this share of the largest variance settle to a share of that, which rounding allows.
const LEAST_UNIT: f64 = 1e-6;
/// A direction of which less than this share is new adds nothing.
const NOTHING_NEW: f64 = 1e-10;
/// Directions that would take more than this are not kept in memory.
const MOST_BYTES: u128 = 1 << 33;
/// Entries of less than this share of the largest are none.
const ROUNDING: f64 = 1e-18;

/// When the passes end.
pub(super) struct Limits {
    /// The residual of a component, as a share of its variance, at which it has settled.
    pub(super) settled: f64,
    /// Passes after which what was found is taken as it is.
    pub(super) most_passes: usize,
}

/// What the passes found.
pub(super) struct Leading {
    /// `[components, columns]`, each of length 1, those with the largest eigenvalues first.
    pub(super) vectors: Array2<f64>,
    /// `[components]`
    pub(super) values: Vec<f64>,
    /// How many passes there were.
    pub(super) n_passes: usize,
    /// The greatest residual, where it is not below the limit.
    pub(super) unsettled: Option<f64>,
}

/// The first `n_wanted` eigenvectors of the covariance of so many rows and columns; fewer where the covariance has fewer that are not 0. `multiply` is told the number of the pass and
/// gives each of `directions [directions, columns]` times the covariance.
pub(super) fn leading(
    n_wanted: usize,
    [n_rows, n_columns]: [usize; 2],
    limits: &Limits,
    mut multiply: impl FnMut(usize, &Array2<f64>) -> Result<Array2<f64>>,
    rng: &mut Rng,
) -> Result<Leading> {
    let n_directions = (n_wanted + OVERSAMPLING).min(n_columns);
    check_memory(n_rows, n_directions, n_columns)?;
    let start = Array2::from_shape_simple_fn((n_directions, n_columns), || normal_noise(rng));
    let mut span = Span { basis: Array2::zeros((0, n_columns)), products: Array2::zeros((0, n_columns)) };
    let mut directions = span.new_directions(&start); // [directions, columns]
    let mut n_passes = 0;
    loop {
        n_passes += 1;
        let products = multiply(n_passes, &directions)?;
        span.add(&directions, &products);
        directions = span.new_directions(&products);
        let best = span.best(n_directions)?;
        let worst = best.worst_residual(n_wanted);
        let has_settled = worst <= limits.settled || directions.is_empty();
        if has_settled || n_passes == limits.most_passes {
            let (Best { vectors, mut values, .. }, unsettled) = (best, (!has_settled).then_some(worst));
            values.truncate(n_wanted);
            let kept: Vec<usize> = (0..values.len()).collect();
            return Ok(Leading { vectors: vectors.select(Axis(0), &kept), values, n_passes, unsettled });
        }
        if span.basis.nrows() >= MOST_BLOCKS * n_directions {
            span = Span { basis: best.vectors, products: best.products };
        }
    }
}

/// Refuses directions that would not fit into memory. The span has at most as many as there are rows, beside those of the start.
fn check_memory(n_rows: usize, n_directions: usize, n_columns: usize) -> Result<()> {
    let n_kept = ((MOST_BLOCKS + 1) * n_directions).min(n_rows + n_directions);
    // Directions and products, each in the span and, cut back, once more.
    let n_bytes = 2 * (n_kept + n_directions) as u128 * n_columns as u128 * size_of::<f64>() as u128;
    if n_bytes <= MOST_BYTES {
        return Ok(());
    }
    Err(Error::new(format!("components of {n_columns} columns would take {n_bytes} bytes of memory"))
        .help(format!("wanted {MOST_BYTES} or fewer: ask for fewer components, or for smaller images by \"size\"")))
}

/// Orthonormal directions, `[directions, columns]`, and each times the covariance.
struct Span {
    basis: Array2<f64>,
    products: Array2<f64>,
}

/// What comes nearest to eigenvectors within a span, those with the largest eigenvalues first.
struct Best {
    /// `[directions, columns]`, each of length 1.
    vectors: Array2<f64>,
    /// Each times the covariance. `[directions, columns]`
    products: Array2<f64>,
    /// `[directions]`
    values: Vec<f64>,
}

impl Span {
    /// Adds directions and each of them times the covariance, in place: both may be large.
    fn add(&mut self, directions: &Array2<f64>, products: &Array2<f64>) {
        self.basis.append(Axis(0), directions.view()).expect("both have as many columns");
        self.products.append(Axis(0), products.view()).expect("both have as many columns");
    }

    /// What is new in these directions, made orthonormal; fewer where some lie in the span.
    fn new_directions(&self, wanted: &Array2<f64>) -> Array2<f64> {
        let mut found: Array2<f64> = Array2::zeros((0, wanted.ncols()));
        for direction in wanted.outer_iter() {
            let mut direction = direction.to_owned();
            let length = direction.dot(&direction).sqrt();
            // Twice is enough: what rounding leaves of the first is gone after the second.
            for _ in 0..2 {
                for known in [&self.basis, &found] {
                    let along = known.dot(&direction);
                    direction -= &known.t().dot(&along);
                }
            }
            let left = direction.dot(&direction).sqrt();
            if left > NOTHING_NEW * length {
                direction /= left;
                found.push_row(direction.view()).expect("it has as many columns");
            }
        }
        found
    }

    fn best(&self, n: usize) -> Result<Best> {
        let small = self.basis.dot(&self.products.t());
        let (n_basis, largest) = (small.nrows(), small.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs())));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        // Entries that rounding alone made would keep the iterations for eigenvalues of 0 going.
        let entry = |i: usize, j: usize| {
            Some((small[[i, j]] + small[[j, i]]) / 2.0 / unit).filter(|entry| entry.abs() > ROUNDING)
        };
        let eigen = Mat::from_fn(n_basis, n_basis, |i, j| entry(i, j).unwrap_or(0.0))
            .self_adjoint_eigen(Side::Lower)
            .map_err(|_| Error::failure("the components did not converge within their span"))?;
        let n = n.min(n_basis);
        // faer has them in rising order.
        let place = |position: usize| n_basis - 1 - position;
        let turn = Array2::from_shape_fn((n, n_basis), |(position, row)| eigen.U()[(row, place(position))]);
        let values = (0..n).map(|position| unit * eigen.S().column_vector()[place(position)].max(0.0)).collect();
        Ok(Best { vectors: turn.dot(&self.basis), products: turn.dot(&self.products), values })
    }
}

impl Best {
    /// The greatest `|C u - v u| / v` of the first `n`.
    fn worst_residual(&self, n: usize) -> f64 {
        let unit = |value: f64| value.max(LEAST_UNIT * self.values[0]).max(f64::MIN_POSITIVE);
        let residual = |position: usize| {
            let off = &self.products.row(position) - &(&self.vectors.row(position) * self.values[position]);
            off.dot(&off).sqrt() / unit(self.values[position])
        };
        (0..n.min(self.values.len())).map(residual).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;

    fn of_diagonal(diagonal: &[f64], n_wanted: usize) -> Leading {
        let limits = Limits { settled: 1e-10, most_passes: 200 };
        let multiply = |_: usize, directions: &Array2<f64>| {
            let mut products = directions.clone();
            products.rows_mut().into_iter().for_each(|mut row| row.iter_mut().zip(diagonal).for_each(|(x, d)| *x *= d));
            Ok(products)
        };
        leading(n_wanted, [1000, diagonal.len()], &limits, multiply, &mut Seed(1).stream("start")).unwrap()
    }

    #[test]
    fn a_diagonal_has_its_axes() {
        // 300, 299, ... with neighbours a third of a percent apart.
        let diagonal: Vec<f64> = (1..=300).map(f64::from).collect();
        let found = of_diagonal(&diagonal, 3);
        assert!(found.unsettled.is_none());
        for (position, (value, vector)) in found.values.iter().zip(found.vectors.rows()).enumerate() {
            assert!((value - (300.0 - position as f64)).abs() < 1e-9, "{value}");
            assert!((vector[299 - position].abs() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn what_would_not_fit_into_memory_is_refused() {
        // 85 pictures of 1024 x 1024 in three colours and 10 components: 2 (105 + 20) 3,145,728 8 bytes are 6.3 GB; 256 components of
        // all dSprites' pixels, 2 (2,394 + 266) 4,096 8, 0.2 GB.
        assert!(check_memory(85, 20, 1024 * 1024 * 3).is_ok() && check_memory(737_280, 266, 4096).is_ok());
        let message = check_memory(1000, 20, 1024 * 1024 * 3).unwrap_err().to_string();
        assert!(message.starts_with("components of 3145728 columns would take 10066329600 bytes"), "{message}");
        assert!(check_memory(usize::MAX >> 1, usize::MAX >> 8, usize::MAX).is_err());
    }

    #[test]
    fn equal_and_missing_eigenvalues_end_the_passes() {
        let equal = of_diagonal(&[vec![2.0; 50], vec![0.0; 150]].concat(), 4);
        assert!(equal.values.iter().all(|value| (value - 2.0).abs() < 1e-12) && equal.n_passes < 5);
        // Three that are not 0, where five are wanted.
        let few = of_diagonal(&[vec![3.0, 2.0, 1.0], vec![0.0; 400]].concat(), 5);
        assert!(few.unsettled.is_none() && few.values[3..].iter().all(|value| value.abs() < 1e-12), "{:?}", few.values);
        let none = of_diagonal(&[0.0; 30], 2);
        assert_eq!((none.unsettled, none.values), (None, vec![0.0, 0.0]));
    }
}
