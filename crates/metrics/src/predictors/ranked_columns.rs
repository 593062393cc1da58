//! Codes as trees read them: each latent sorted once and cut into buckets, for any number of trees to share.
//!
//! Scikit-learn rounds values to `f32` and does not tell them apart where they are within 1e-7 of each other. Here values stay
//! as they are, and those within a small share of the latent's range are not told apart: the same for codes of deviation 1,
//! and what trees see depends neither on the codes' unit nor on how far they are from 0.

use ndarray::Array2;
use rayon::prelude::*;

/// Values no further apart than this share of a latent's range are not told apart: scikit-learn's 1e-7 for codes that go
/// from -5 to 5.
const LEAST_GAP: f64 = 1e-8;

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
    pub values: Vec<f64>,
    /// In ascending order.
    pub sorted: Vec<f64>,
    /// The row of each sorted value; equal ones in the order of rows.
    pub rows: Vec<u32>,
    /// The place of each row among the sorted values.
    pub ranks: Vec<u32>,
    /// Runs of the sorted values that together hold all of them.
    pub buckets: Vec<Bucket>,
    /// Values no further apart than this are not told apart.
    least_gap: f64,
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
        // Adding 0 makes one number of both zeros.
        let values: Vec<f64> = column.iter().map(|value| value + 0.0).collect();
        let mut rows: Vec<u32> = (0..values.len() as u32).collect();
        rows.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let sorted: Vec<f64> = rows.iter().map(|&row| values[row as usize]).collect();
        let mut ranks = vec![0; rows.len()];
        rows.iter().enumerate().for_each(|(rank, &row)| ranks[row as usize] = rank as u32);
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        // Nor does rounding alone part values that are far from 0.
        let rounding = 2.0 * f64::EPSILON * low.abs().max(high.abs());
        // The shares before the difference, which may pass the largest number.
        let least_gap = high * LEAST_GAP - low * LEAST_GAP + rounding;
        let buckets = buckets(&sorted, least_gap);
        Self { values, sorted, rows, ranks, buckets, least_gap }
    }

    /// Whether trees tell the sorted value at `place` apart from that at `before`, which is not larger.
    pub fn is_apart(&self, before: usize, place: usize) -> bool {
        is_apart(self.sorted[before], self.sorted[place], self.least_gap)
    }

    /// What parts the sorted value at `before` from that at `place`: at most this, or more.
    pub fn threshold(&self, before: usize, place: usize) -> f64 {
        let (below, above) = (self.sorted[before], self.sorted[place]);
        let middle = below / 2.0 + above / 2.0;
        // Between neighbouring numbers there is no other.
        if middle < above { middle } else { below }
    }
}

fn is_apart(before: f64, value: f64, least_gap: f64) -> bool {
    value > before + least_gap
}

/// A bucket for each distinct value where there are few; else runs of about as many values each.
fn buckets(sorted: &[f64], least_gap: f64) -> Vec<Bucket> {
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
        is_apart: start == 0 || is_apart(sorted[start - 1], sorted[start], least_gap),
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
    fn neither_the_unit_nor_the_distance_from_zero_plays_a_part_and_rounding_parts_nothing() {
        let is_apart = |codes: &Array2<f64>| -> Vec<bool> {
            let column = &RankedColumns::new(codes).columns[0];
            (1..5).map(|place| column.is_apart(place - 1, place)).collect()
        };
        let codes = array![[0.0], [0.1 + 0.2], [0.3], [0.3001], [1.0]];
        let expected = [true, false, true, true];
        for codes in [codes.clone(), &codes + 1e8, &codes * 1e40, &codes * 1e-300, &codes * f64::MAX, &codes * -1e-40] {
            let mut expected = expected;
            if codes[[4, 0]] < 0.0 {
                expected.reverse();
            }
            assert_eq!(is_apart(&codes), expected, "{codes}");
        }
    }

    #[test]
    fn a_threshold_lies_between_neighbouring_numbers() {
        let next: f64 = 1.0 + f64::EPSILON;
        for (below, above) in [(1.0, next), (f64::MIN, f64::MAX), (-5e-324, 0.0), (0.0, 5e-324), (-next, -1.0)] {
            let threshold = RankedColumns::new(&array![[below], [above]]).columns[0].threshold(0, 1);
            assert!(below <= threshold && threshold < above, "{below}, {above}: {threshold}");
        }
    }
}
