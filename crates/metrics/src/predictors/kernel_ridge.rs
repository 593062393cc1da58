//! Ridge regression with a Gaussian kernel, which predicts several factors at once.
//!
//! As scikit-learn's `KernelRidge` with `kernel = "rbf"`: a row is predicted by `sum_i w_i exp(-gamma |z - z_i|^2)` over the rows
//! fitted on, with weights `w = (K + alpha I)^-1 y`. There is no intercept.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::{Array2, ArrayRef2, Axis};
use rayon::prelude::*;

use crate::statistics::r_squared::r_squared;

/// The settings of one regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelRidge {
    /// How strongly weights are held back, above 0.
    pub alpha: f64,
    /// How fast rows lose touch with their squared distance, above 0.
    pub gamma: f64,
}

impl KernelRidge {
    /// The weights of rows, given their squared distances `[rows, rows]`, for values `[rows, factors]`. `[rows, factors]`
    pub fn fit(&self, distances: &Array2<f64>, values: &Array2<f64>) -> Array2<f64> {
        let n_rows = distances.nrows();
        let matrix = Mat::from_fn(n_rows, n_rows, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0 + self.alpha,
            std::cmp::Ordering::Greater => self.kernel(distances[[i, j]]),
        });
        let values = Mat::from_fn(n_rows, values.ncols(), |row, factor| values[[row, factor]]);
        let factorised = matrix.llt(Side::Lower).expect("a kernel plus alpha has no eigenvalue below it");
        let weights = factorised.solve(&values);
        Array2::from_shape_fn((n_rows, weights.ncols()), |(row, factor)| weights[(row, factor)])
    }

    /// Predictions from squared distances to the rows fitted on, `[tested, rows]`, and their weights. `[tested, factors]`
    pub fn predict(&self, distances: &Array2<f64>, weights: &Array2<f64>) -> Array2<f64> {
        distances.mapv(|distance| self.kernel(distance)).dot(weights)
    }

    fn kernel(&self, distance: f64) -> f64 {
        (-self.gamma * distance).exp()
    }
}

/// The mean `R^2` of each candidate for each factor over parts of the rows that are held back in turn: runs of neighbouring
/// rows, the first ones longer by a row where they cannot be equal, as scikit-learn's `KFold` cuts them. There is at least a
/// row for each part. `distances [rows, rows]`, `values [rows, factors]`, `[candidates, factors]`
pub fn cross_validated(
    candidates: &[KernelRidge],
    n_parts: usize,
    distances: &Array2<f64>,
    values: &Array2<f64>,
) -> Array2<f64> {
    let n_rows = distances.nrows();
    let start_of = |part: usize| part * (n_rows / n_parts) + part.min(n_rows % n_parts);
    let parts: Vec<HeldBack> = (0..n_parts)
        .map(|part| {
            let is_held = |row: &usize| (start_of(part)..start_of(part + 1)).contains(row);
            let (held, kept) = (0..n_rows).partition::<Vec<usize>, _>(is_held);
            HeldBack::new(distances, values, &kept, &held)
        })
        .collect();
    let fits: Vec<Vec<f64>> = (0..candidates.len() * n_parts)
        .into_par_iter()
        .map(|fit| parts[fit % n_parts].r_squared(candidates[fit / n_parts]))
        .collect();
    Array2::from_shape_fn((candidates.len(), values.ncols()), |(candidate, factor)| {
        let of_parts = &fits[candidate * n_parts..(candidate + 1) * n_parts];
        of_parts.iter().map(|of_factors| of_factors[factor]).sum::<f64>() / n_parts as f64
    })
}

/// A part of the rows that is held back, and the others, which are fitted on.
struct HeldBack {
    /// `[kept, kept]`
    among_kept: Array2<f64>,
    /// `[held, kept]`
    to_kept: Array2<f64>,
    /// `[kept, factors]`
    of_kept: Array2<f64>,
    /// `[held, factors]`
    of_held: Array2<f64>,
}

impl HeldBack {
    fn new(distances: &Array2<f64>, values: &Array2<f64>, kept: &[usize], held: &[usize]) -> Self {
        let part =
            |rows: &[usize]| Array2::from_shape_fn((rows.len(), kept.len()), |(i, j)| distances[[rows[i], kept[j]]]);
        Self {
            among_kept: part(kept),
            to_kept: part(held),
            of_kept: values.select(Axis(0), kept),
            of_held: values.select(Axis(0), held),
        }
    }

    /// Of each factor on the rows held back.
    fn r_squared(&self, ridge: KernelRidge) -> Vec<f64> {
        let predicted = ridge.predict(&self.to_kept, &ridge.fit(&self.among_kept, &self.of_kept));
        predicted.columns().into_iter().zip(self.of_held.columns()).map(|(a, b)| r_squared(&a, &b)).collect()
    }
}

/// The squared distances of the rows of `a [n, columns]` from those of `b [m, columns]`. `[n, m]`
pub fn squared_distances(a: &ArrayRef2<f64>, b: &ArrayRef2<f64>) -> Array2<f64> {
    let (a, b) = (a.view(), b.view());
    let rows: Vec<Vec<f64>> = (0..a.nrows())
        .into_par_iter()
        .map(|row| {
            let of_row = a.row(row);
            b.outer_iter().map(|other| of_row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum()).collect()
        })
        .collect();
    Array2::from_shape_vec((a.nrows(), b.nrows()), rows.concat()).expect("a distance for each pair of rows")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn two_rows_worked_by_hand() {
        // exp(-gamma d) = 1/2 at d = 1, alpha = 1: [[2, 1/2], [1/2, 2]] w = (1, 0) has w = (8/15, -2/15). A row at the first
        // has 1 and 1/2 of them, 7/15.
        let ridge = KernelRidge { alpha: 1.0, gamma: 2_f64.ln() };
        let rows = array![[0.0], [1.0]];
        let distances = squared_distances(&rows, &rows);
        assert_eq!(distances, array![[0.0, 1.0], [1.0, 0.0]]);
        let weights = ridge.fit(&distances, &array![[1.0], [0.0]]);
        assert!((&weights - &array![[8.0 / 15.0], [-2.0 / 15.0]]).iter().all(|off| off.abs() < 1e-15), "{weights}");
        let predicted = ridge.predict(&distances, &weights);
        assert!((predicted[[0, 0]] - 7.0 / 15.0).abs() < 1e-15);
    }
}
