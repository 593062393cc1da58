//! The gap between the largest and the second largest of several numbers.

/// Largest minus second largest of numbers that are not negative; the second is 0 where there is only one.
pub fn gap<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    let (mut largest, mut second) = (0.0, 0.0);
    for &value in values {
        if value > largest {
            (largest, second) = (value, largest);
        } else if value > second {
            second = value;
        }
    }
    largest - second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_does_not_matter_and_a_lone_number_stands_against_zero() {
        assert_eq!(gap(&[0.25, 1.0, 0.5]), 0.5);
        assert_eq!(gap(&[1.0, 0.5, 0.25]), 0.5);
        assert_eq!(gap(&[0.5, 0.5]), 0.0);
        assert_eq!(gap(&[0.75]), 0.75);
    }
}
