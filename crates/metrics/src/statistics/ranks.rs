//! Ranks of the values of a column, where equal values share the mean of their places.

use ndarray::ArrayRef1;

/// Each row's rank from 1 to the number of rows; equal values get the mean of the ranks that they take together, as
/// `scipy.stats.rankdata` does by default. `[rows]`
pub fn average_ranks(column: &ArrayRef1<f64>) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = column.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0.0; order.len()];
    let mut n_below = 0;
    // Groups are cut by `==`, which takes -0 and 0 for equal; the order puts them side by side.
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = n_below as f64 + (group.len() + 1) as f64 / 2.0;
        group.iter().for_each(|&(_, row)| ranks[row] = rank);
        n_below += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;

    #[test]
    fn equal_values_share_their_mean_rank() {
        // Sorted: -1 | 0 0 | 2 2 2 | 5, so 1, then (2 + 3) / 2, then (4 + 5 + 6) / 3, then 7.
        let ranks = average_ranks(&array![2.0, 0.0, 5.0, 2.0, -1.0, -0.0, 2.0]);
        assert_eq!(ranks, [5.0, 2.5, 7.0, 5.0, 1.0, 2.5, 5.0]);
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_have_ranks_too() {
        assert_eq!(average_ranks(&array![f64::MAX, 5e-324, f64::MIN, 0.0]), [4.0, 3.0, 1.0, 2.0]);
        assert!(average_ranks(&Array1::zeros(0)).is_empty());
    }
}
