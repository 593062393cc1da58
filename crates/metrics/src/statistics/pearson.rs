//! Pearson's correlation coefficient.

use ndarray::Array2;

use super::deviations::{Deviations, deviations};

/// `sum_r a_r b_r / sqrt(sum_r a_r^2 sum_r b_r^2)` of two columns' deviations, within [-1, 1]; 0 where either column is
/// constant, which leaves the coefficient undefined.
pub fn pearson(a: &Deviations, b: &Deviations) -> f64 {
    if a.scale == 0.0 || b.scale == 0.0 {
        return 0.0;
    }
    let dot = |a: &Deviations, b: &Deviations| a.of_rows.iter().zip(&b.of_rows).map(|(x, y)| x * y).sum::<f64>();
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).clamp(-1.0, 1.0)
}

/// The absolute coefficient of every pair of columns of `a [rows, m]` and `b [rows, n]`, `[m, n]`.
pub fn absolute_pearson_matrix(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let of_columns = |table: &Array2<f64>| -> Vec<Deviations> {
        table.columns().into_iter().map(|column| deviations(&column)).collect()
    };
    absolute_correlations(&of_columns(a), &of_columns(b))
}

/// The absolute coefficient of every pair of columns' deviations, `[a, b]`.
pub fn absolute_correlations(a: &[Deviations], b: &[Deviations]) -> Array2<f64> {
    Array2::from_shape_fn((a.len(), b.len()), |(row, column)| pearson(&a[row], &b[column]).abs())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;

    fn correlation(a: &Array1<f64>, b: &Array1<f64>) -> f64 {
        pearson(&deviations(a), &deviations(b))
    }

    #[test]
    fn a_coefficient_worked_by_hand() {
        // Deviations -1, 0, 1 and -1, 1, 0: 1 / sqrt(2 * 2)
        assert!((correlation(&array![1.0, 2.0, 3.0], &array![0.0, 2.0, 1.0]) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn scale_does_not_matter_however_extreme() {
        let small = array![1e-300, 2e-300, 3e-300];
        assert!((correlation(&small, &array![3e300, 2e300, 1e300]) + 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_constant_correlates_with_nothing() {
        assert_eq!(correlation(&array![0.1, 0.1, 0.1], &array![0.0, 2.0, 1.0]), 0.0);
    }
}
