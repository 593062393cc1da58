//! Whole grids of factors, noise, and tables of labelled codes, for tests that make codes by hand.

use ndarray::Array2;
use rand::RngExt;
use unbraid_data::factor_space::values_of;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{FactorSpace, LabelledCodes, Seed};

/// The factors of a full grid in row-major order, `[rows, factors]`.
pub fn grid(sizes: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((sizes.iter().product(), sizes.len()), |(row, factor)| values_of(row, sizes)[factor] as f64)
}

/// Even noise in [-1, 1), `[rows, columns]`.
pub fn noise(shape: (usize, usize), name: &str) -> Array2<f64> {
    let mut rng = Seed(1).stream(name);
    Array2::from_shape_simple_fn(shape, || rng.random_range(-1.0..1.0))
}

/// Codes beside the factors of a grid with these sizes, called `a`, `b`, `c` and so on.
pub fn labelled(codes: Array2<f64>, factors: Array2<f64>, sizes: &[usize], extras: Extras) -> LabelledCodes {
    let named = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].into_iter().zip(sizes.iter().copied());
    LabelledCodes::new(codes, factors, FactorSpace::grid(named), extras).expect("the table is well made")
}
