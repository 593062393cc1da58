//! The rows of a table grouped by all factors but one, for metrics that vary one factor alone.

use rayon::prelude::*;

use crate::statistics::classes::Classes;

/// Groups of rows in which one factor varies while all others stay equal.
pub struct RowsByOthers {
    /// The number of the factor that varies.
    pub factor: usize,
    /// The rows of all groups, one after another.
    rows: Vec<u32>,
    /// For each group its first place in `rows`, and in the end their number. `[groups + 1]`
    starts: Vec<usize>,
}

impl RowsByOthers {
    /// The groups for one of `factors`, each a class for every row; rows within a group, and groups with
    /// equal values, are in the order of `order`.
    pub fn new(factors: &[Classes], factor: usize, order: &[usize]) -> Self {
        let others = factors.iter().enumerate().filter(|(other, _)| *other != factor).map(|(_, classes)| classes);
        let numbers = combination_numbers(others, order.len());
        let mut sorted: Vec<u32> = order.iter().map(|&row| row as u32).collect();
        sorted.par_sort_by_key(|&row| numbers[row as usize]);
        let value = |row: &u32| factors[factor].of_rows[*row as usize];
        let (mut rows, mut starts) = (Vec::new(), vec![0]);
        for group in sorted.chunk_by(|a, b| numbers[*a as usize] == numbers[*b as usize]) {
            if group.iter().any(|row| value(row) != value(&group[0])) {
                rows.extend_from_slice(group);
                starts.push(rows.len());
            }
        }
        Self { factor, rows, starts }
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a group; at least two.
    pub fn group(&self, group: usize) -> &[u32] {
        &self.rows[self.starts[group]..self.starts[group + 1]]
    }
}

/// A number for each row, the same for rows that share their class in every column.
fn combination_numbers<'a>(columns: impl Iterator<Item = &'a Classes>, n_rows: usize) -> Vec<u64> {
    let mut numbers = vec![0; n_rows];
    let mut n_numbers = 1_u64;
    for column in columns {
        let n_classes = column.n_classes as u64;
        if n_numbers.checked_mul(n_classes).is_none() {
            n_numbers = renumber(&mut numbers);
        }
        n_numbers *= n_classes;
        numbers
            .iter_mut()
            .zip(&column.of_rows)
            .for_each(|(number, &class)| *number = *number * n_classes + class as u64);
    }
    numbers
}

/// Replaces numbers by their place among those that occur, and says how many these are.
fn renumber(numbers: &mut [u64]) -> u64 {
    let mut occurring = numbers.to_vec();
    occurring.par_sort_unstable();
    occurring.dedup();
    numbers.par_iter_mut().for_each(|number| *number = occurring.partition_point(|other| other < number) as u64);
    occurring.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(of_rows: &[usize], n_classes: usize) -> Classes {
        Classes { of_rows: of_rows.to_vec(), n_classes }
    }

    #[test]
    fn groups_are_rows_that_differ_in_one_factor() {
        // Rows 0 and 3 differ in the first factor only, rows 0 and 2 in the second; rows 1 and 4 are alike in both.
        let factors = [classes(&[0, 2, 0, 1, 2], 3), classes(&[0, 0, 1, 0, 0], 2)];
        let first = RowsByOthers::new(&factors, 0, &[4, 3, 2, 1, 0]);
        assert_eq!((first.n_groups(), first.group(0)), (1, &[4, 3, 1, 0][..]));
        let second = RowsByOthers::new(&factors, 1, &[0, 1, 2, 3, 4]);
        assert_eq!((second.n_groups(), second.group(0)), (1, &[0, 2][..]));
    }

    #[test]
    fn one_factor_has_nothing_to_hold_fixed_and_many_have_more_combinations_than_numbers() {
        let alone = RowsByOthers::new(&[classes(&[0, 1, 1], 2)], 0, &[0, 1, 2]);
        assert_eq!((alone.n_groups(), alone.group(0)), (1, &[0, 1, 2][..]));
        // Three others with 2^40 values each: rows 0 and 2 share them, row 1 differs from row 0 in the first alone.
        let large = 1 << 40;
        let mut factors = vec![classes(&[5, large - 1, 5], large); 1];
        factors.extend([classes(&[7, 7, 7], large), classes(&[large - 1, large - 1, large - 1], large)]);
        factors.push(classes(&[0, 0, 1], 2));
        assert_eq!(RowsByOthers::new(&factors, 3, &[0, 1, 2]).group(0), [0, 2]);
        assert_eq!(RowsByOthers::new(&factors, 3, &[0, 1, 2]).n_groups(), 1);
    }
}
