//! Whole grids of factors, and noise, for tests that make codes from them.

use ndarray::Array2;
use rand::RngExt;
use unbraid_data::Seed;
use unbraid_data::factor_space::values_of;

/// The factors of a full grid in row-major order, `[rows, factors]`.
pub fn grid(sizes: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((sizes.iter().product(), sizes.len()), |(row, factor)| values_of(row, sizes)[factor] as f64)
}

/// Even noise in [-1, 1), `[rows, columns]`.
pub fn noise(shape: (usize, usize), name: &str) -> Array2<f64> {
    let mut rng = Seed(1).stream(name);
    Array2::from_shape_simple_fn(shape, || rng.random_range(-1.0..1.0))
}
