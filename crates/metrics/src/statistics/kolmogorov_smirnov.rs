//! Kolmogorov and Smirnov's test of whether two samples come from one distribution.

use ndarray::ArrayRef1;

/// The largest distance between the two samples' distribution functions, in [0, 1]; 0 where both hold the same values
/// equally often. Both have at least one row.
pub fn kolmogorov_smirnov(a: &ArrayRef1<f64>, b: &ArrayRef1<f64>) -> f64 {
    let sorted = |column: &ArrayRef1<f64>| {
        let mut values = column.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let (mut below_a, mut below_b, mut largest) = (0, 0, 0.0_f64);
    while below_a < a.len() && below_b < b.len() {
        let value = a[below_a].min(b[below_b]);
        while a.get(below_a).is_some_and(|&next| next <= value) {
            below_a += 1;
        }
        while b.get(below_b).is_some_and(|&next| next <= value) {
            below_b += 1;
        }
        largest = largest.max((below_a as f64 / a.len() as f64 - below_b as f64 / b.len() as f64).abs());
    }
    largest
}

/// What the statistic of two samples of one distribution exceeds with probability `level`, for large samples:
/// `sqrt(-ln(level / 2) / 2) sqrt((n_a + n_b) / (n_a n_b))`.
pub fn critical_distance(n_a: usize, n_b: usize, level: f64) -> f64 {
    let (n_a, n_b) = (n_a as f64, n_b as f64);
    (-(level / 2.0).ln() / 2.0 * (n_a + n_b) / (n_a * n_b)).sqrt()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn distances_worked_by_hand() {
        // After 1, 2 and 3 the functions are 1/3 and 0, 2/3 and 1/4, 1 and 1/2.
        let distance = kolmogorov_smirnov(&array![3.0, 1.0, 2.0], &array![2.0, 5.0, 3.0, 4.0]);
        assert!((distance - 0.5).abs() < 1e-15, "{distance}");
        assert_eq!(kolmogorov_smirnov(&array![1.0, 2.0], &array![3.0]), 1.0);
        assert_eq!(kolmogorov_smirnov(&array![1.0, 2.0, 1.0], &array![2.0, 1.0, 1.0]), 0.0);
    }

    #[test]
    fn the_usual_level() {
        // 1.358 sqrt(2 / 100) at 5 percent.
        assert!((critical_distance(100, 100, 0.05) - 1.358 * 0.02_f64.sqrt()).abs() < 1e-4);
    }
}
