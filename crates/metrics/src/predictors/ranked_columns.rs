//! Codes as trees read them: each latent sorted once and cut into buckets, for any number of trees to share.
//!
//! Values are compared as `f32`, as in scikit-learn; those beyond its range count as its ends.

use ndarray::Array2;
use rayon::prelude::*;

/// Values no further apart than this are not told apart, as in scikit-learn.
pub const LEAST_GAP: f32 = 1e-7;

/// At most this many buckets for each latent, so that a bucket's number fits a byte.
pub const MOST_BUCKETS: usize = 128;

/// The columns of a table of codes, sorted.
pub struct RankedColumns {
    /// One for each latent.
    pub columns: Vec<RankedColumn>,
    /// The bucket of each row's value of each latent. `[rows, latents]`
    pub buckets: Vec<u8>,
    /// How many rows the table has.
    pub n_rows: usize,
}

/// One latent.
pub struct RankedColumn {
    /// In the order of rows.
    pub values: Vec<f32>,
    /// In ascending order.
    pub sorted: Vec<f32>,
    /// The row of each sorted value; equal ones in the order of rows.
    pub rows: Vec<u32>,
    /// The place of each row among the sorted values.
    pub ranks: Vec<u32>,
    /// Runs of the sorted values that together hold all of them.
    pub buckets: Vec<Bucket>,
}

/// A run of sorted values; equal values are never in two.
pub struct Bucket {
    /// The place of its first value.
    pub start: usize,
    /// One past the place of its last value.
    pub end: usize,
    /// Whether all its values are equal.
    pub is_single: bool,
    /// Whether its first value is told apart from the one before, if there is one.
    pub is_apart: bool,
}

impl RankedColumns {
    /// Sorts the columns of `codes [rows, latents]`.
    pub fn new(codes: &Array2<f64>) -> Self {
        let columns: Vec<Vec<f64>> = codes.columns().into_iter().map(|column| column.to_vec()).collect();
        let columns: Vec<RankedColumn> = columns.par_iter().map(|column| RankedColumn::new(column)).collect();
        let (n_rows, n_latents) = codes.dim();
        let mut buckets = vec![0; n_rows * n_latents];
        for (latent, column) in columns.iter().enumerate() {
            for (number, bucket) in column.buckets.iter().enumerate() {
                for &row in &column.rows[bucket.start..bucket.end] {
                    buckets[row as usize * n_latents + latent] = number as u8;
                }
            }
        }
        Self { columns, buckets, n_rows }
    }
}

impl RankedColumn {
    fn new(column: &[f64]) -> Self {
        let values: Vec<f32> = column.iter().map(|&value| as_compared(value)).collect();
        let mut rows: Vec<u32> = (0..values.len() as u32).collect();
        rows.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let sorted: Vec<f32> = rows.iter().map(|&row| values[row as usize]).collect();
        let mut ranks = vec![0; rows.len()];
        rows.iter().enumerate().for_each(|(rank, &row)| ranks[row as usize] = rank as u32);
        let buckets = buckets(&sorted);
        Self { values, sorted, rows, ranks, buckets }
    }
}

/// A code's value as trees compare it.
pub fn as_compared(value: f64) -> f32 {
    // Adding 0 makes one number of both zeros.
    (value as f32).clamp(f32::MIN, f32::MAX) + 0.0
}

/// Whether trees tell `value` apart from `before`, which is not larger.
pub fn is_apart(before: f32, value: f32) -> bool {
    value > before + LEAST_GAP
}

/// A bucket for each distinct value where there are few; else runs of about as many values each.
fn buckets(sorted: &[f32]) -> Vec<Bucket> {
    let starts: Vec<usize> =
        (0..sorted.len()).filter(|&place| place == 0 || sorted[place] != sorted[place - 1]).collect();
    let mut kept = Vec::with_capacity(MOST_BUCKETS);
    for &start in &starts {
        let n_kept: usize = kept.len();
        // The next bucket may begin once the last one has its share of the values that were left to it.
        let is_full = match kept.last() {
            Some(&last) if n_kept < MOST_BUCKETS => (start - last) * (MOST_BUCKETS - n_kept + 1) >= sorted.len() - last,
            Some(_) => false,
            None => true,
        };
        if is_full || starts.len() <= MOST_BUCKETS {
            kept.push(start);
        }
    }
    let ends = kept.iter().skip(1).copied().chain([sorted.len()]);
    let bucket = |(&start, end): (&usize, usize)| Bucket {
        start,
        end,
        is_single: sorted[start] == sorted[end - 1],
        is_apart: start == 0 || is_apart(sorted[start - 1], sorted[start]),
    };
    kept.iter().zip(ends).map(bucket).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn few_values_have_a_bucket_each() {
        let table = RankedColumns::new(&array![[3.0], [-0.0], [3.0], [0.0]]);
        let column = &table.columns[0];
        assert_eq!(column.rows, [1, 3, 0, 2]);
        assert_eq!(column.ranks, [2, 0, 3, 1]);
        assert_eq!(table.buckets, [1, 0, 1, 0]);
        assert!(column.buckets.iter().all(|bucket| bucket.is_single && bucket.is_apart));
    }

    #[test]
    fn many_values_share_buckets_of_about_one_size() {
        let codes = Array2::from_shape_fn((10_000, 1), |(row, _)| (row * 7919 % 10_000) as f64);
        let buckets = &RankedColumns::new(&codes).columns[0].buckets;
        assert_eq!(buckets.len(), MOST_BUCKETS);
        assert_eq!(buckets.last().unwrap().end, 10_000);
        assert!(buckets.iter().all(|bucket| (70..90).contains(&(bucket.end - bucket.start))));
    }

    #[test]
    fn the_largest_numbers_stay_finite_and_tiny_gaps_are_not_seen() {
        let table = RankedColumns::new(&array![[1e300, 0.0], [f64::MIN, 1e-8]]);
        assert_eq!(table.columns[0].values, [f32::MAX, f32::MIN]);
        assert!(!table.columns[1].buckets[1].is_apart);
    }
}
