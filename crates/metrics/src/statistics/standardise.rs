//! Columns at mean 0 and variance 1, by the mean and variance of the rows that a predictor is fitted on.

use ndarray::{Array2, ArrayRef1, Axis};

use super::deviations::{Deviations, deviations};

/// Values further out than this, in standard deviations, are taken for it: sums of their products stay finite, and every
/// predictor is certain long before.
const FURTHEST: f64 = 1e100;

/// Where a column's middle is and how far it spreads.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Column {
    /// Half the first value.
    first: f64,
    /// Half the largest distance from the first value; 0 for a constant column.
    unit: f64,
    /// The mean of half the distances from the first value, in units.
    mean: f64,
    /// Their standard deviation, in units.
    deviation: f64,
}

impl Column {
    fn of(column: &ArrayRef1<f64>) -> Self {
        let Deviations { of_rows, .. } = deviations(column);
        let variance = of_rows.iter().map(|value| value * value).sum::<f64>() / of_rows.len() as f64;
        // The first value's own deviation from the mean is minus the mean of the distances from it.
        let first = column[0] / 2.0;
        let unit = column.iter().fold(0.0_f64, |unit, value| unit.max((value / 2.0 - first).abs()));
        Self { first, unit, mean: -of_rows[0], deviation: variance.sqrt() }
    }

    fn apply(&self, value: f64) -> f64 {
        if self.unit == 0.0 {
            return 0.0;
        }
        let distance = (value / 2.0 - self.first) / self.unit;
        ((distance - self.mean) / self.deviation).clamp(-FURTHEST, FURTHEST)
    }
}

/// The mean and deviation of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardisation {
    columns: Vec<Column>,
}

impl Standardisation {
    /// That of `table [rows, columns]`, at least one row.
    pub fn of(table: &Array2<f64>) -> Self {
        Self { columns: table.columns().into_iter().map(|column| Column::of(&column)).collect() }
    }

    /// The columns of another table less the mean, over the standard deviation (divided by the number of rows); a
    /// column that was constant becomes 0.
    pub fn apply(&self, table: &Array2<f64>) -> Array2<f64> {
        let mut standardised = table.clone();
        for (mut values, column) in standardised.axis_iter_mut(Axis(1)).zip(&self.columns) {
            values.mapv_inplace(|value| column.apply(value));
        }
        standardised
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn other_rows_are_measured_by_the_fitted_ones() {
        // Mean 2, deviation 1; the second column is constant.
        let standardisation = Standardisation::of(&array![[1.0, 0.1], [3.0, 0.1]]);
        let table = standardisation.apply(&array![[1.0, 0.1], [5.0, 7.0]]);
        assert!((&table - &array![[-1.0, 0.0], [3.0, 0.0]]).iter().all(|off: &f64| off.abs() < 1e-15), "{table}");
    }

    #[test]
    fn any_scale_is_finite() {
        let table = array![[f64::MAX, 5e-324, 1e-300], [f64::MIN, 0.0, 3e-300]];
        let others = array![[f64::MIN, 1e300, 1e300], [0.0, f64::MAX, -1e300]];
        let standardised = Standardisation::of(&table).apply(&others);
        assert!(standardised.iter().all(|value| value.abs() <= FURTHEST), "{standardised}");
    }
}
