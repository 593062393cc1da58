//! The rows on which metrics are computed where the input names some to fit on.

use ndarray::{Array2, Axis};
use unbraid_data::LabelledCodes;

/// Codes `[rows, latents]` and factors `[rows, factors]` of the train rows, or of all rows where none are named.
pub fn train_tables(data: &LabelledCodes) -> (Array2<f64>, Array2<f64>) {
    match &data.extras().train_rows {
        Some(rows) => (data.codes().select(Axis(0), rows), data.factors().select(Axis(0), rows)),
        None => (data.codes().clone(), data.factors().clone()),
    }
}

/// Whether every column of `table [rows, columns]` holds a single value.
pub fn all_constant(table: &Array2<f64>) -> bool {
    table.columns().into_iter().all(|column| column.iter().all(|&value| value == column[0]))
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    #[test]
    fn only_the_named_rows_are_used_and_in_their_order() {
        let extras = Extras { train_rows: Some(vec![2, 0]), ..Extras::default() };
        let space = FactorSpace::grid([("shape", 3)]);
        let factors = array![[0.0], [1.0], [2.0]];
        let data = LabelledCodes::new(array![[5.0], [6.0], [7.0]], factors, space, extras).unwrap();
        assert_eq!(train_tables(&data), (array![[7.0], [5.0]], array![[2.0], [0.0]]));
    }

    #[test]
    fn one_moving_column_is_enough() {
        assert!(all_constant(&array![[1.0, 2.0], [1.0, 2.0]]));
        assert!(!all_constant(&array![[1.0, 2.0], [1.0, 3.0]]));
    }
}
