//! The share of a column's variance that predictions explain.

use ndarray::{Array1, ArrayRef1};

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

/// The share of the truth's variance that predictions explain: `R^2` of numbers of any size, and 0 where predictions are
/// worse than the mean; undefined where the truth does not vary.
pub fn explained_variance(predicted: &[f64], truth: &ArrayRef1<f64>) -> Result<f64, String> {
    if truth.iter().all(|value| *value == truth[0]) {
        return Err("the factor has a single value among the rows, so there is no variance to explain".to_string());
    }
    // In units of the largest number, squares stay finite.
    let largest = predicted.iter().chain(truth).fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let predicted: Array1<f64> = predicted.iter().map(|value| value / largest).collect();
    Ok(r_squared(&predicted, &truth.mapv(|value| value / largest)).max(0.0))
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

    #[test]
    fn shares_of_huge_numbers_stay_finite_and_none_is_negative() {
        let truth = array![1e300, 2e300, 3e300];
        assert!((explained_variance(&[1e300, 2e300, 2e300], &truth).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(explained_variance(&[3e300, 2e300, 1e300], &truth), Ok(0.0));
        assert!(explained_variance(&[1.0, 2.0], &array![1.0, 1.0]).is_err());
    }
}
