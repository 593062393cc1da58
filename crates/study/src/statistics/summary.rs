//! Mean, spread and confidence interval of a few numbers.

use serde::Serialize;

use super::special::student_quantile;

/// The probability with which an interval holds the true mean, where numbers are normal.
pub const LEVEL: f64 = 0.95;

/// What there is to say of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are; at least one.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, over the numbers less one; none for a single number, and where it is too large for a number.
    pub deviation: Option<f64>,
    /// The ends of the 95 % confidence interval of the mean, by Student's t; none where there is no deviation.
    pub interval: Option<(f64, f64)>,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// The summary of the numbers; none where there are none.
pub fn summary(numbers: &[f64]) -> Option<Summary> {
    let first = *numbers.first()?;
    let n = numbers.len() as f64;
    // Taken from the first number, equal numbers have a deviation of exactly 0.
    let shift = numbers.iter().map(|number| number - first).sum::<f64>() / n;
    // Numbers whose sum is too large for one still have a mean.
    let mean = if shift.is_finite() { first + shift } else { numbers.iter().map(|number| number / n).sum() };
    let squares: f64 = numbers.iter().map(|number| (number - first - shift).powi(2)).sum();
    let deviation = (numbers.len() > 1).then(|| (squares / (n - 1.0)).sqrt()).filter(|deviation| deviation.is_finite());
    let interval = deviation.map(|deviation| {
        let half = student_quantile(LEVEL, n - 1.0) * deviation / n.sqrt();
        (mean - half, mean + half)
    });
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Summary { n: numbers.len(), mean, deviation, interval, least, greatest })
}

/// The numbers that there are among the values of these runs.
pub fn defined(values: &[Option<f64>], runs: &[usize]) -> Vec<f64> {
    runs.iter().filter_map(|&run| values[run]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_three() {
        let found = summary(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.n, found.mean, found.deviation), (3, 2.0, Some(1.0)));
        // With 2 degrees of freedom, t at the level p is p sqrt(2 / (1 - p^2)).
        let half = LEVEL * (2.0 / (1.0 - LEVEL * LEVEL)).sqrt() / 3.0_f64.sqrt();
        let (low, high) = found.interval.unwrap();
        assert!((high - 2.0 - half).abs() < 1e-12 && (low + high - 4.0).abs() < 1e-12, "{low} to {high}");
    }

    #[test]
    fn one_number_has_no_spread_and_equal_ones_none_to_see() {
        assert_eq!(summary(&[0.1]).unwrap().deviation, None);
        assert_eq!(summary(&[0.1, 0.1, 0.1]).unwrap().interval, Some((0.1, 0.1)));
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn the_largest_numbers_have_a_mean() {
        let found = summary(&[1.5e308, -1.5e308, 1.5e308, 1.5e308]).unwrap();
        assert_eq!((found.mean, found.deviation, found.interval), (0.75e308, None, None));
    }
}
