//! Linear regression with an L1 penalty, by coordinate descent.
//!
//! As scikit-learn's `Lasso(alpha)` (Friedman et al. 2010): for `n` rows the minimum of
//!
//! `1/(2n) |y - X w - b|^2 + alpha |w|_1`,
//!
//! the intercept `b` not penalised. One weight after another is set to its best value,
//! `soft(x_j . rest / n, alpha) / (x_j . x_j / n)`, until none moves. Unlike scikit-learn, which stops at a duality gap
//! of 1e-4 of the targets' variance, the descent goes on to the precision of the numbers.

use ndarray::{Array1, Array2, ArrayRef1, Axis};

const MOST_ROUNDS: usize = 10_000;
const SMALLEST_MOVE: f64 = 1e-13;

/// The inner products of centred features, from which any target's weights follow.
#[derive(Debug, Clone)]
pub struct Lasso {
    alpha: f64,
    /// `[rows, features]`, less their means.
    centred: Array2<f64>,
    means: Array1<f64>,
    /// `[features, features]`, divided by the number of rows.
    products: Array2<f64>,
}

/// Weights of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// `[features]`
    pub weights: Array1<f64>,
    /// What is added.
    pub intercept: f64,
}

impl Fitted {
    /// The targets of `features [rows, features]`.
    pub fn predict(&self, features: &Array2<f64>) -> Array1<f64> {
        features.dot(&self.weights) + self.intercept
    }
}

impl Lasso {
    /// Prepares `features [rows, features]`, at least one row; numbers of such size that their squares are finite.
    pub fn new(features: &Array2<f64>, alpha: f64) -> Self {
        let n_rows = features.nrows() as f64;
        let means = features.sum_axis(Axis(0)) / n_rows;
        let centred = features - &means;
        let products = centred.t().dot(&centred) / n_rows;
        Self { alpha, centred, means, products }
    }

    /// The weights for `targets [rows]`.
    pub fn fit(&self, targets: &ArrayRef1<f64>) -> Fitted {
        let n_rows = targets.len() as f64;
        let mean = targets.sum() / n_rows;
        let with_targets = self.centred.t().dot(&(targets - mean)) / n_rows;
        let weights = self.descend(&with_targets);
        let intercept = mean - self.means.dot(&weights);
        Fitted { weights, intercept }
    }

    fn descend(&self, with_targets: &Array1<f64>) -> Array1<f64> {
        let mut weights = Array1::zeros(with_targets.len());
        for _ in 0..MOST_ROUNDS {
            let (mut largest_move, mut largest_weight) = (0.0_f64, 0.0_f64);
            for feature in 0..weights.len() {
                let products = self.products.row(feature);
                let square = products[feature];
                if square <= 0.0 {
                    continue;
                }
                let before: f64 = weights[feature];
                let rest = with_targets[feature] - products.dot(&weights) + square * before;
                let after = rest.signum() * (rest.abs() - self.alpha).max(0.0) / square;
                weights[feature] = after;
                largest_move = largest_move.max((after - before).abs());
                largest_weight = largest_weight.max(after.abs());
            }
            if largest_move <= SMALLEST_MOVE * largest_weight {
                break;
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn uncorrelated_features_have_their_weights_cut_by_alpha() {
        // Features of mean 0 and variance 1 that do not correlate: w_j = soft(x_j . y / n, alpha). y = 5 + 2 x_0 - 0.3 x_1.
        let features = array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let targets = array![6.7, 7.3, 2.7, 3.3];
        let fitted = Lasso::new(&features, 0.5).fit(&targets);
        assert!((fitted.weights[0] - 1.5).abs() < 1e-12 && fitted.weights[1] == 0.0, "{fitted:?}");
        assert!((fitted.intercept - 5.0).abs() < 1e-12);
        assert!((fitted.predict(&array![[2.0, 9.0]])[0] - 8.0).abs() < 1e-12);
    }

    #[test]
    fn equal_features_leave_all_to_the_first() {
        // The first of two equal features takes soft(1, 0.1) = 0.9 and leaves nothing that is worth the penalty.
        let fitted = Lasso::new(&array![[1.0, 1.0], [-1.0, -1.0]], 0.1).fit(&array![1.0, -1.0]);
        assert!((fitted.weights[0] - 0.9).abs() < 1e-12 && fitted.weights[1].abs() < 1e-12, "{fitted:?}");
    }
}
