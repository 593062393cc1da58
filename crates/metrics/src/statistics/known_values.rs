//! The values that a predictor has seen, as classes: others that it is tested on have none.

use ndarray::ArrayRef1;

use super::classes::{Classes, distinct_values};

/// The distinct values of a column in ascending order; a value's position is its class.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownValues {
    values: Vec<f64>,
}

impl KnownValues {
    /// The values of a column, and the class of each of its rows.
    pub fn of(column: &ArrayRef1<f64>) -> (Self, Classes) {
        let classes = distinct_values(column);
        let mut values = vec![0.0; classes.n_classes];
        classes.of_rows.iter().zip(column).for_each(|(&class, &value)| values[class] = value);
        (Self { values }, classes)
    }

    /// The class of a value, where it is known.
    pub fn class_of(&self, value: f64) -> Option<usize> {
        let place = self.values.partition_point(|&known| known < value);
        (self.values.get(place) == Some(&value)).then_some(place)
    }

    /// The classes of the rows of another column.
    pub fn classes_of(&self, column: &ArrayRef1<f64>) -> Vec<Option<usize>> {
        column.iter().map(|&value| self.class_of(value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn values_that_were_not_seen_have_no_class() {
        let (known, classes) = KnownValues::of(&array![5.0, -1.0, 5.0]);
        assert_eq!(classes.of_rows, [1, 0, 1]);
        assert_eq!(known.classes_of(&array![5.0, 0.0, -1.0, 6.0]), [Some(1), None, Some(0), None]);
    }
}
