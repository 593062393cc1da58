//! The position of the largest of several numbers.

use ndarray::ArrayRef1;

/// The position of the largest number, the first of several; at least one number.
pub fn first_largest(numbers: &ArrayRef1<f64>) -> usize {
    (1..numbers.len()).fold(0, |best, position| if numbers[position] > numbers[best] { position } else { best })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn of_equal_numbers_the_first_counts() {
        assert_eq!(first_largest(&array![1.0, 3.0, 2.0, 3.0]), 1);
    }
}
