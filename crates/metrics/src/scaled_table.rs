//! Distances between the rows of a table.

use ndarray::Array2;

/// A table `[rows, columns]` in a unit in which distances neither overflow nor vanish.
pub struct ScaledTable {
    /// Row by row, all within (-2, 2).
    values: Vec<f64>,
    n_columns: usize,
    /// The unit, a power of two: no digit is lost, so that equal distances stay equal.
    pub unit: f64,
}

impl ScaledTable {
    /// The table in units of the largest power of two that its largest number reaches.
    pub fn new(table: &Array2<f64>) -> Self {
        let largest = table.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let unit = if largest > 0.0 { largest.log2().floor().clamp(-1074.0, 1023.0).exp2() } else { 1.0 };
        Self { values: table.iter().map(|value| value / unit).collect(), n_columns: table.ncols(), unit }
    }

    /// The L1 and the L2 distance between two rows, in units of `unit`.
    pub fn distances(&self, a: usize, b: usize) -> [f64; 2] {
        let of_row = |row: usize| &self.values[row * self.n_columns..(row + 1) * self.n_columns];
        let (mut sum, mut squares) = (0.0, 0.0);
        for (a, b) in of_row(a).iter().zip(of_row(b)) {
            let distance = (a - b).abs();
            sum += distance;
            squares += distance * distance;
        }
        [sum, squares.sqrt()]
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn distances_of_ordinary_and_extreme_numbers() {
        let [l1, l2] = ScaledTable::new(&array![[0.0, 0.0], [3.0, -4.0]]).distances(0, 1);
        assert_eq!([l1 * 4.0, l2 * 4.0], [7.0, 5.0]);
        // The largest number is just below 2 units of 2^1023.
        let [l1, l2] = ScaledTable::new(&array![[f64::MAX], [f64::MIN]]).distances(0, 1);
        assert!(l1 == l2 && (l1 - 4.0).abs() < 1e-15);
        assert_eq!(ScaledTable::new(&array![[0.0], [5e-324]]).distances(0, 1), [1.0, 1.0]);
    }
}
