//! Linear least squares, which predicts several factors at once.
//!
//! The weights are the shortest of those with the least squared error, as scikit-learn's `LinearRegression` has them. They
//! follow from the eigenvectors of the codes' second moments; directions in which codes vary less than a millionth as much as in
//! the widest are rounding, and take no part.

use faer::{Mat, Side};
use ndarray::Array2;

/// Eigenvalues below this share of the largest are left out: the square of a millionth.
const LEAST_SHARE: f64 = 1e-12;

/// Weights `[latents, factors]` for codes `[rows, latents]` and values `[rows, factors]`, whose columns have mean 0 and
/// numbers of ordinary size.
pub fn least_squares(codes: &Array2<f64>, values: &Array2<f64>) -> Array2<f64> {
    let n_latents = codes.ncols();
    let moments = codes.t().dot(codes); // [latents, latents]
    let products = codes.t().dot(values); // [latents, factors]
    let matrix = Mat::from_fn(n_latents, n_latents, |i, j| moments[[i, j]]);
    let parts = matrix.self_adjoint_eigen(Side::Lower).expect("a matrix of finite numbers converges");
    let directions = Array2::from_shape_fn((n_latents, n_latents), |(i, j)| parts.U()[(i, j)]);
    let eigenvalues: Vec<f64> = (0..n_latents).map(|number| parts.S()[number]).collect();
    let largest = eigenvalues.iter().fold(0.0_f64, |largest, &value| largest.max(value));
    let mut along = directions.t().dot(&products); // [directions, factors]
    for (mut of_direction, &eigenvalue) in along.rows_mut().into_iter().zip(&eigenvalues) {
        let is_rounding = eigenvalue <= LEAST_SHARE * largest;
        of_direction.mapv_inplace(|product| if is_rounding { 0.0 } else { product / eigenvalue });
    }
    directions.dot(&along)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_shortest_weights_worked_by_hand() {
        // y = 2 x. Over x twice, weights of 1 and 1 are shorter than 2 and 0; a latent that does not move has none.
        let codes = array![[-1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
        let weights = least_squares(&codes, &array![[-2.0], [0.0], [2.0]]);
        assert!((&weights - &array![[1.0], [1.0], [0.0]]).iter().all(|off| off.abs() < 1e-12), "{weights}");
        assert_eq!(least_squares(&array![[0.0], [0.0]], &array![[1.0], [-1.0]]), array![[0.0]]);
    }

    #[test]
    fn a_line_through_three_points() {
        // x = -1, 0, 1 and y = -1, -1, 2: slope sum x y / sum x^2 = 3 / 2.
        let weights = least_squares(&array![[-1.0], [0.0], [1.0]], &array![[-1.0], [-1.0], [2.0]]);
        assert!((weights[[0, 0]] - 1.5).abs() < 1e-12);
    }
}
