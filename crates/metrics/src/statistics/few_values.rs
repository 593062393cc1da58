//! Columns of few values, such as quantised latents: how to know them, and how to hand them to a linear predictor.

use ndarray::{Array2, ArrayRef1};

use super::classes::Classes;

/// Few are at most this many values, with this many rows for each on average. The quantised models of Hsu et al. 2023 have 10
/// values for each latent; codes of any other network have nearly as many values as rows.
const MOST_VALUES: usize = 20;
const ROWS_PER_VALUE: usize = 10;

/// Whether a column has so few values that they are names rather than numbers.
pub fn has_few_values(column: &ArrayRef1<f64>) -> bool {
    let mut known: Vec<f64> = Vec::with_capacity(MOST_VALUES);
    for &value in column {
        if !known.contains(&value) {
            if known.len() == MOST_VALUES {
                return false;
            }
            known.push(value);
        }
    }
    known.len() * ROWS_PER_VALUE <= column.len()
}

/// An indicator for each class of each column: 1 in those of the `rows` that have it, else 0. `[rows, classes]`
pub fn one_hot(columns: &[Classes], rows: &[usize]) -> Array2<f64> {
    let mut indicators = Array2::zeros((rows.len(), columns.iter().map(|column| column.n_classes).sum()));
    let mut first = 0;
    for column in columns {
        for (place, &row) in rows.iter().enumerate() {
            indicators[[place, first + column.of_rows[row]]] = 1.0;
        }
        first += column.n_classes;
    }
    indicators
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;

    #[test]
    fn few_values_are_twenty_with_ten_rows_each() {
        let values = |n_values: usize, n_rows: usize| Array1::from_shape_fn(n_rows, |row| (row % n_values) as f64);
        assert!(has_few_values(&values(20, 200)));
        assert!(!has_few_values(&values(20, 199)));
        assert!(!has_few_values(&values(21, 10_000)));
    }

    #[test]
    fn each_class_of_each_column_has_its_indicator() {
        let of_rows = |of_rows: &[usize], n_classes| Classes { of_rows: of_rows.to_vec(), n_classes };
        let columns = [of_rows(&[0, 1, 0], 2), of_rows(&[2, 1, 0], 3)];
        assert_eq!(one_hot(&columns, &[2, 0]), array![[1.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0]]);
    }
}
