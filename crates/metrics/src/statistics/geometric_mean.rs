//! The geometric mean.

/// `(prod_i v_i)^(1/n)` of numbers that are not negative, 0 where one of them is; NaN of none at all.
pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_and_eight_make_four_and_a_zero_makes_zero() {
        assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-15);
        assert_eq!(geometric_mean(&[0.0, 8.0]), 0.0);
    }
}
