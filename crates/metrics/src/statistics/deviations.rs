//! Deviations of a column from its mean, in a form that neither overflows nor turns a constant into noise.

use ndarray::{Array2, ArrayRef1};
use rayon::prelude::*;

/// What is left of a column when its mean is taken away.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviations {
    /// Deviations from the mean in units of `scale`, all 0 for a constant column. `[rows]`
    pub of_rows: Vec<f64>,
    /// The largest distance of a value from the first one; exactly 0 for a constant column.
    pub scale: f64,
}

/// The deviations of a column with at least one row. They are taken from the first value before they are averaged, so
/// that a constant column comes out as exactly 0, which the rounded mean of equal numbers need not.
pub fn deviations(column: &ArrayRef1<f64>) -> Deviations {
    // Halves keep the difference of two huge numbers finite.
    let first = column[0] / 2.0;
    let mut of_rows: Vec<f64> = column.iter().map(|value| value / 2.0 - first).collect();
    let scale = of_rows.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    if scale > 0.0 {
        of_rows.iter_mut().for_each(|value| *value /= scale);
        let mean = of_rows.iter().sum::<f64>() / of_rows.len() as f64;
        of_rows.iter_mut().for_each(|value| *value -= mean);
    }
    Deviations { of_rows, scale: 2.0 * scale }
}

/// The deviations of each column of a table with at least one row.
pub fn deviations_of_columns(table: &Array2<f64>) -> Vec<Deviations> {
    (0..table.ncols()).into_par_iter().map(|column| deviations(&table.column(column).to_owned())).collect()
}

/// Variance of a column over its rows (divided by their number, so that one row has variance 0); may be infinite,
/// never NaN.
pub fn variance(column: &ArrayRef1<f64>) -> f64 {
    deviation(column).powi(2)
}

/// The root of the variance; as a column's range, it may be infinite where the column is wider than the largest number.
pub fn deviation(column: &ArrayRef1<f64>) -> f64 {
    let Deviations { of_rows, scale } = deviations(column);
    let in_units = of_rows.iter().map(|value| value * value).sum::<f64>() / of_rows.len() as f64;
    in_units.sqrt() * scale
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_variance_of_one_to_four() {
        // Mean 2.5; (2.25 + 0.25 + 0.25 + 2.25) / 4 = 1.25
        assert!((variance(&array![1.0, 2.0, 3.0, 4.0]) - 1.25).abs() < 1e-15);
    }

    #[test]
    fn equal_numbers_do_not_vary_at_all() {
        // Summed and divided naively, three times 0.1 has a mean that is not 0.1.
        assert_eq!(deviations(&array![0.1, 0.1, 0.1]), Deviations { of_rows: vec![0.0; 3], scale: 0.0 });
    }

    #[test]
    fn each_column_has_its_own() {
        let [first, second] = &deviations_of_columns(&array![[1.0, 5.0], [3.0, 5.0]])[..] else {
            panic!("two columns")
        };
        assert_eq!(*first, Deviations { of_rows: vec![-0.5, 0.5], scale: 2.0 });
        assert_eq!(*second, deviations(&array![5.0, 5.0]));
    }

    #[test]
    fn huge_numbers_stay_finite() {
        let huge = deviations(&array![f64::MAX, f64::MIN]);
        assert_eq!(huge.of_rows, [0.5, -0.5]);
        assert_eq!(variance(&array![f64::MAX, f64::MIN]), f64::INFINITY);
    }
}
