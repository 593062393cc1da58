//! The rows of a table grouped by the value of a factor, for metrics that draw rows which share one.

use unbraid_data::LabelledCodes;

use crate::Subject;

/// The rows of a table, numbered in the order of `Subject::rows_by_factors` and grouped by one factor.
pub struct RowsByValue {
    /// The number of the factor.
    pub factor: usize,
    /// Each row's value. `[rows]`
    values: Vec<u32>,
    /// For each value its first place in `rows`, and in the end the number of rows. `[values + 1]`
    starts: Vec<usize>,
    /// `[rows]`
    rows: Vec<u32>,
}

impl RowsByValue {
    /// One for each discrete factor.
    pub fn of_discrete_factors(subject: &Subject) -> Vec<Self> {
        let data = subject.data();
        let discrete = (0..data.n_factors()).filter(|&factor| data.space().factors()[factor].size.is_some());
        discrete.map(|factor| Self::new(data, factor, subject.rows_by_factors())).collect()
    }

    /// The rows that have the same value as `row`, itself among them.
    pub fn alike(&self, row: usize) -> &[u32] {
        let value = self.values[row] as usize;
        &self.rows[self.starts[value]..self.starts[value + 1]]
    }

    fn new(data: &LabelledCodes, factor: usize, order: &[usize]) -> Self {
        let column = data.factors().column(factor);
        let values: Vec<usize> = order.iter().map(|&row| column[row] as usize).collect();
        let mut starts = vec![0; values.iter().max().map_or(0, |largest| largest + 2)];
        values.iter().for_each(|value| starts[value + 1] += 1);
        (1..starts.len()).for_each(|value| starts[value] += starts[value - 1]);
        let mut next = starts.clone();
        let mut rows = vec![0; values.len()];
        for (row, &value) in values.iter().enumerate() {
            rows[next[value]] = row as u32;
            next[value] += 1;
        }
        let values = values.into_iter().map(|value| value as u32).collect();
        Self { factor, values, starts, rows }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, Seed};

    use super::*;

    #[test]
    fn rows_that_share_a_value_are_found_and_continuous_factors_left_out() {
        let factor = |name: &str, size| Factor { name: name.to_string(), size };
        let space = FactorSpace::sample(vec![factor("angle", None), factor("shape", Some(4))]);
        // By their factors the rows are in the order 1, 2, 0, 3, with shapes 3, 0, 3, 0.
        let factors = array![[0.5, 3.0], [0.1, 3.0], [0.2, 0.0], [0.9, 0.0]];
        let data = LabelledCodes::new(Array2::zeros((4, 1)), factors, space, Extras::default()).unwrap();
        let groups = RowsByValue::of_discrete_factors(&Subject::new(&data, Seed(1)));
        assert_eq!(groups.iter().map(|group| group.factor).collect::<Vec<_>>(), [1]);
        assert_eq!((groups[0].alike(0), groups[0].alike(3)), (&[0, 2][..], &[1, 3][..]));
    }
}
