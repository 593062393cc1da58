//! Columns of numbers to columns of classes: equal-width bins, or one class for each distinct value.

use ndarray::{Array2, ArrayRef1};
use unbraid_data::Factor;

/// A class for each row of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row, below `n_classes`. `[rows]`
    pub of_rows: Vec<usize>,
    /// How many classes there may be.
    pub n_classes: usize,
}

/// Bins of equal width between the smallest and the largest value, as `numpy.histogram` makes their edges and
/// `numpy.digitize` fills them: each bin holds its lower edge, and the last one the largest value too. A constant
/// column `v` is binned between `v - 0.5` and `v + 0.5`. The column has at least one row.
pub fn equal_width_bins(column: &ArrayRef1<f64>, n_bins: usize) -> Classes {
    let mut low = column.fold(f64::INFINITY, |low, &value| low.min(value));
    let mut high = column.fold(f64::NEG_INFINITY, |high, &value| high.max(value));
    if low == high {
        (low, high) = (low - 0.5, high + 0.5);
    }
    // A range beyond the largest number is measured in quarters, which changes no bin.
    let unit = if (high - low).is_finite() { 1.0 } else { 0.25 };
    let width = (high * unit - low * unit) / n_bins as f64;
    let lower_edges: Vec<f64> = (0..n_bins).map(|bin| bin as f64 * width + low * unit).collect();
    let bin_of = |&value: &f64| lower_edges.partition_point(|&edge| edge <= value * unit).saturating_sub(1);
    Classes { of_rows: column.iter().map(bin_of).collect(), n_classes: n_bins }
}

/// One class for each distinct value, in ascending order.
pub fn distinct_values(column: &ArrayRef1<f64>) -> Classes {
    let mut order: Vec<usize> = (0..column.len()).collect();
    order.sort_unstable_by(|&a, &b| column[a].total_cmp(&column[b]));
    let mut of_rows = vec![0; column.len()];
    let mut class = 0;
    for pair in order.windows(2) {
        if column[pair[0]] != column[pair[1]] {
            class += 1;
        }
        of_rows[pair[1]] = class;
    }
    Classes { of_rows, n_classes: class + 1 }
}

/// The classes of every latent: `n_bins` equal-width bins of each column of `codes [rows, latents]`.
pub fn classes_of_latents(codes: &Array2<f64>, n_bins: usize) -> Vec<Classes> {
    codes.columns().into_iter().map(|column| equal_width_bins(&column, n_bins)).collect()
}

/// The classes of every column of `values [rows, factors]`: a discrete factor's values as they are, a continuous one
/// in `n_bins` equal-width bins like a latent.
pub fn classes_of_factors(values: &Array2<f64>, factors: &[Factor], n_bins: usize) -> Vec<Classes> {
    let columns = values.columns().into_iter().zip(factors);
    columns
        .map(|(column, factor)| match factor.size {
            Some(_) => distinct_values(&column),
            None => equal_width_bins(&column, n_bins),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn each_bin_holds_its_lower_edge_and_the_last_the_largest_value() {
        // Edges 0, 1, 2, 3, 4.
        let bins = equal_width_bins(&array![0.0, 0.9, 1.0, 3.0, 4.0], 4);
        assert_eq!(bins.of_rows, [0, 0, 1, 3, 3]);
    }

    #[test]
    fn a_constant_column_has_one_bin_in_the_middle() {
        // Between 6.5 and 7.5 with 20 bins, 7.0 is the lower edge of bin 10.
        assert_eq!(equal_width_bins(&array![7.0, 7.0], 20).of_rows, [10, 10]);
        assert_eq!(equal_width_bins(&array![1e300, 1e300], 20).of_rows, [19, 19]);
    }

    #[test]
    fn the_widest_range_there_is_has_bins_too() {
        assert_eq!(equal_width_bins(&array![f64::MIN, -1.0, 1.0, f64::MAX], 2).of_rows, [0, 0, 1, 1]);
    }

    #[test]
    fn equal_values_share_a_class() {
        let classes = distinct_values(&array![5.0, -1.0, 5.0, 0.0, -0.0]);
        assert_eq!(classes, Classes { of_rows: vec![2, 0, 2, 1, 1], n_classes: 3 });
    }
}
