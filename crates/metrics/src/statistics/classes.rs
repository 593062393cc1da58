//! Columns of numbers to columns of classes: equal-width bins, or one class for each distinct value.

use ndarray::{Array1, Array2, ArrayRef1};
use rayon::prelude::*;
use unbraid_data::Factor;

/// A class for each row of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row, below `n_classes`. `[rows]`
    pub of_rows: Vec<usize>,
    /// How many classes there may be.
    pub n_classes: usize,
}

impl Classes {
    /// How many rows each class has, `[classes]`.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.n_classes];
        self.of_rows.iter().for_each(|&class| counts[class] += 1);
        counts
    }

    /// The same classes without those that no row has.
    pub fn with_rows_only(&self) -> Self {
        let mut n_classes = 0;
        let numbers: Vec<usize> = (self.counts().iter())
            .map(|&count| {
                n_classes += usize::from(count > 0);
                n_classes.saturating_sub(1)
            })
            .collect();
        Self { of_rows: self.of_rows.iter().map(|&class| numbers[class]).collect(), n_classes }
    }
}

/// Bins of equal width between the smallest and the largest value, as `numpy.histogram` makes their edges and
/// `numpy.digitize` fills them: each bin holds its lower edge, and the last one the largest value too. A constant
/// column `v` is binned between `v - 0.5` and `v + 0.5`. The column has at least one row.
pub fn equal_width_bins(column: &ArrayRef1<f64>, n_bins: usize) -> Classes {
    let (mut low, mut high) = extremes(column);
    if low == high {
        (low, high) = (low - 0.5, high + 0.5);
    }
    // A range beyond the largest number is measured in quarters, which changes no bin.
    let unit = if (high - low).is_finite() { 1.0 } else { 0.25 };
    let width = (high * unit - low * unit) / n_bins as f64;
    let lower_edges: Vec<f64> = (0..n_bins).map(|bin| bin as f64 * width + low * unit).collect();
    let of_rows = column.iter().map(|value| bin_of(value * unit, &lower_edges, width)).collect();
    Classes { of_rows, n_classes: n_bins }
}

/// Bins of the columns moved to [0, 1], whose lower edges are `0, 1/n_bins, 2/n_bins, ...`, as Carbonneau et al. 2022
/// make them. Their scaling rounds in the precision of the codes, and a value on an edge falls to the side to which it
/// was rounded; `precision` says how. A range of less than ten of its smallest steps counts as none: where the largest
/// number is below 1, steps at that number, so that the unit of small codes plays no part.
pub fn unit_range_bins(column: &ArrayRef1<f64>, n_bins: usize, precision: Precision) -> Classes {
    let (low, high) = extremes(column);
    let least = 10.0 * precision.step();
    if high - low > 0.0 && high - low < least && high - low >= least * low.abs().max(high.abs()) {
        // In a unit near the range, a power of two, no digit is lost.
        let unit = (high - low).log2().floor().exp2();
        return unit_range_bins(&column.mapv(|value| value / unit), n_bins, precision);
    }
    let range = precision.round(high - low);
    if !range.is_finite() {
        return equal_width_bins(column, n_bins);
    }
    let scale = if range < least { 1.0 } else { precision.round(1.0 / range) };
    let shift = precision.round(-precision.round(low * scale));
    let width = 1.0 / n_bins as f64;
    let lower_edges: Vec<f64> = (0..n_bins).map(|bin| bin as f64 * width).collect();
    let scaled = |value: &f64| precision.round(precision.round(value * scale) + shift);
    let of_rows = column.iter().map(|value| bin_of(scaled(value), &lower_edges, width)).collect();
    Classes { of_rows, n_classes: n_bins }
}

/// The precision in which numbers were written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

impl Precision {
    /// `Single` where every number of the table is one of 32 bits, as in codes that a network wrote.
    pub fn of(table: &Array2<f64>) -> Self {
        let is_single = |value: &f64| f64::from(*value as f32) == *value;
        if table.iter().all(is_single) { Self::Single } else { Self::Double }
    }

    fn round(self, value: f64) -> f64 {
        match self {
            Self::Single => f64::from(value as f32),
            Self::Double => value,
        }
    }

    /// The distance from 1 to the next number.
    fn step(self) -> f64 {
        match self {
            Self::Single => f64::from(f32::EPSILON),
            Self::Double => f64::EPSILON,
        }
    }
}

fn extremes(column: &ArrayRef1<f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    column.iter().fold(ends, |(low, high), &value| (low.min(value), high.max(value)))
}

/// The last bin whose lower edge is not above `value`, or the first. A division tells it but for rounding, which the
/// edges then put right.
fn bin_of(value: f64, lower_edges: &[f64], width: f64) -> usize {
    let last = lower_edges.len() - 1;
    let mut bin = (((value - lower_edges[0]) / width) as usize).min(last);
    while bin > 0 && lower_edges[bin] > value {
        bin -= 1;
    }
    while bin < last && lower_edges[bin + 1] <= value {
        bin += 1;
    }
    bin
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

/// What `distinct_values` gives for whole numbers from 0 to below `size`, without sorting them.
fn distinct_whole_numbers(column: &ArrayRef1<f64>, size: usize) -> Classes {
    let mut class_of = vec![0; size];
    column.iter().for_each(|&value| class_of[value as usize] = 1);
    let mut n_classes = 0;
    for class in &mut class_of {
        let occurs = *class;
        *class = n_classes;
        n_classes += occurs;
    }
    let of_rows = column.iter().map(|&value| class_of[value as usize]).collect();
    Classes { of_rows, n_classes }
}

/// The classes of every column of `table [rows, columns]`, each copied out first: a column's numbers lie far apart.
pub fn classes_of_columns(
    table: &Array2<f64>,
    classes: impl Fn(usize, &Array1<f64>) -> Classes + Sync,
) -> Vec<Classes> {
    (0..table.ncols()).into_par_iter().map(|index| classes(index, &table.column(index).to_owned())).collect()
}

/// The classes of every latent: `n_bins` equal-width bins of each column of `codes [rows, latents]`.
pub fn classes_of_latents(codes: &Array2<f64>, n_bins: usize) -> Vec<Classes> {
    classes_of_columns(codes, |_, column| equal_width_bins(column, n_bins))
}

/// The classes of every column of `values [rows, factors]`: a discrete factor's values as they are, a continuous one
/// in `n_bins` equal-width bins like a latent.
pub fn classes_of_factors(values: &Array2<f64>, factors: &[Factor], n_bins: usize) -> Vec<Classes> {
    classes_of_columns(values, |index, column| match factors[index].size {
        // A table of the sizes is cheaper than sorting, unless it would be far longer than the column.
        Some(size) if size <= 4 * column.len() + 1024 => distinct_whole_numbers(column, size),
        Some(_) => distinct_values(column),
        None => equal_width_bins(column, n_bins),
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn classes_without_rows_are_dropped() {
        let classes = Classes { of_rows: vec![3, 1, 3], n_classes: 5 };
        assert_eq!(classes.with_rows_only(), Classes { of_rows: vec![1, 0, 1], n_classes: 2 });
    }

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
    fn values_on_an_edge_fall_where_rounding_puts_them() {
        // 0 to 5 in ten bins of [0, 1]: k / 5 is the lower edge of bin 2 k, and 1.0 falls into the last bin.
        for precision in [Precision::Single, Precision::Double] {
            let bins = unit_range_bins(&array![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 10, precision);
            assert_eq!(bins.of_rows, [0, 2, 4, 6, 8, 9]);
        }
        // In single precision, 0.7 (11744051 / 2^24, which is 0.69999999) lies below the edge 0.7.
        let column = array![0.0, f64::from(0.7_f32), 1.0];
        assert_eq!(unit_range_bins(&column, 10, Precision::Single).of_rows, [0, 6, 9]);
        assert_eq!(unit_range_bins(&array![3.0, 3.0], 10, Precision::Double).of_rows, [0, 0]);
        assert_eq!(unit_range_bins(&array![f64::MIN, f64::MAX], 10, Precision::Double).of_rows, [0, 9]);
    }

    #[test]
    fn whole_numbers_have_the_classes_of_any_values() {
        let column = array![5.0, 0.0, 5.0, 3.0];
        assert_eq!(distinct_whole_numbers(&column, 7), distinct_values(&column));
    }

    #[test]
    fn equal_values_share_a_class() {
        let classes = distinct_values(&array![5.0, -1.0, 5.0, 0.0, -0.0]);
        assert_eq!(classes, Classes { of_rows: vec![2, 0, 2, 1, 1], n_classes: 3 });
    }
}
