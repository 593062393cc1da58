//! Spearman's rank correlation coefficient: Pearson's, of the ranks.

use ndarray::{Array2, ArrayRef1, ArrayView1};
use rayon::prelude::*;

use super::deviations::{Deviations, deviations};
use super::pearson::{absolute_correlations, pearson};
use super::ranks::average_ranks;

/// The coefficient of two columns with as many rows, within [-1, 1]; 0 where either column is constant, which leaves it
/// undefined.
pub fn spearman(a: &ArrayRef1<f64>, b: &ArrayRef1<f64>) -> f64 {
    let (of_a, of_b) = rayon::join(|| rank_deviations(a), || rank_deviations(b));
    pearson(&of_a, &of_b)
}

/// The absolute coefficient of every pair of columns of `a [rows, m]` and `b [rows, n]`, `[m, n]`. Each column is ranked
/// once.
pub fn absolute_spearman_matrix(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    absolute_correlations(&of_columns(a), &of_columns(b))
}

/// The deviations of a column's ranks from their mean.
pub fn rank_deviations(column: &ArrayRef1<f64>) -> Deviations {
    deviations(&ArrayView1::from(&average_ranks(column)))
}

fn of_columns(table: &Array2<f64>) -> Vec<Deviations> {
    let columns: Vec<ArrayView1<f64>> = table.columns().into_iter().collect();
    columns.par_iter().map(|column| rank_deviations(column)).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn only_the_order_counts() {
        let a = array![1.0, 2.0, 3.0, 4.0];
        assert!((spearman(&a, &array![0.1, 0.2, 50.0, 1e300]) - 1.0).abs() < 1e-15);
        assert!((spearman(&a, &array![9.0, 8.0, 7.0, -1e300]) + 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_coefficient_with_ties_worked_by_hand() {
        // Ranks 1, 2, 3, 4 and 1.5, 1.5, 3, 4: deviations -1.5, -0.5, 0.5, 1.5 and -1, -1, 0.5, 1.5.
        // (1.5 + 0.5 + 0.25 + 2.25) / sqrt(5 * 4.5) = 4.5 / sqrt(22.5)
        let coefficient = spearman(&array![1.0, 2.0, 3.0, 4.0], &array![7.0, 7.0, 8.0, 9.0]);
        assert!((coefficient - 4.5 / 22.5_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn every_pair_of_columns_and_a_constant_one() {
        let a = array![[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]];
        let b = array![[3.0, 0.0], [2.0, 2.0], [1.0, 1.0]];
        // Ranks 1, 2, 3 against 3, 2, 1 and against 1, 3, 2: -1 and 1/2.
        let expected = array![[1.0, 0.5], [0.0, 0.0]];
        let found = absolute_spearman_matrix(&a, &b);
        assert!((found - expected).iter().all(|difference| difference.abs() < 1e-15));
    }
}
