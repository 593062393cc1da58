//! The share of a column's variance that predictions explain.

use ndarray::ArrayRef1;

/// `R^2 = 1 - sum (truth - predicted)^2 / sum (truth - mean)^2`, at most 1 and below 0 where predictions are worse than the
/// mean. As in scikit-learn, predictions of a constant have 1 where all are right and 0 otherwise. Numbers of ordinary size, at
/// least one row.
pub fn r_squared(predicted: &ArrayRef1<f64>, truth: &ArrayRef1<f64>) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let errors: f64 = truth.iter().zip(predicted).map(|(truth, predicted)| (truth - predicted).powi(2)).sum();
    let squares: f64 = truth.iter().map(|truth| (truth - mean).powi(2)).sum();
    match (errors, squares) {
        (0.0, 0.0) => 1.0,
        (_, 0.0) => 0.0,
        _ => 1.0 - errors / squares,
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn three_rows_worked_by_hand() {
        // Squares 1 + 0 + 1, errors 0 + 0 + 1 and 4 + 0 + 4.
        let truth = array![1.0, 2.0, 3.0];
        assert_eq!(r_squared(&array![1.0, 2.0, 2.0], &truth), 0.5);
        assert_eq!(r_squared(&array![3.0, 2.0, 1.0], &truth), -3.0);
        assert_eq!([1.0, 2.0].map(|value| r_squared(&array![value], &array![1.0])), [1.0, 0.0]);
    }
}
