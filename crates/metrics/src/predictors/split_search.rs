//! The split of a node's rows that leaves the least squared error, found without looking at most places.
//!
//! Every place between two sorted values of a latent is a candidate, as in scikit-learn's exact trees. With `n` of the `N`
//! rows and `s` of the sum `S` on the left, a split gains `c^2 N / (n (N - n))`, where `c = s - S n / N`. A histogram of
//! the latent's buckets gives `n` and `s` at their borders, and how far `c` can deviation within each; only buckets that can
//! hold the best place are walked through.
//!
//! Sums are of whole numbers (see `gradients`), so latents that split alike gain exactly alike.
//!
//! Of splits that gain alike one is drawn, by numbers that follow from `Node::salt`. First the way in which the rows
//! are parted, in proportion to how many latents part them so; neither the order nor the signs of latents matter for that.
//! Then one of the latents that part them so, which decides about other rows: none is preferred for its place.

use std::collections::BTreeMap;

use super::gradients::{Cell, Gradients, Histogram};
use super::ranked_columns::{Bucket, MOST_BUCKETS, RankedColumn, RankedColumns};

/// Some rows of the table, which are to be split.
pub struct Node<'a> {
    /// The number that `node_of_rows` has for its rows.
    pub id: u8,
    /// Which they are.
    pub rows: &'a [u32],
    /// The sum of their gradients.
    pub sum: i64,
    /// What ties are broken by.
    pub salt: u64,
}

/// The best split of a node.
pub struct Split {
    /// What it takes off the squared error.
    pub gain: f64,
    /// The latent to split.
    pub latent: usize,
    /// All latents that gain as much, that one among them.
    pub tied: Vec<usize>,
    /// Rows go left where the latent's value is at most this.
    pub threshold: f64,
}

/// A search for the best split of one node.
pub struct Search<'a> {
    table: &'a RankedColumns,
    gradients: &'a Gradients,
    node_of_rows: &'a [u8],
    node: &'a Node<'a>,
    n_rows: i64,
    mean: f64,
    slack: f64,
    best: f64,
    /// The latents and places of all splits that gain so much; where nothing is gained, the first and the last place of
    /// each latent, which stand for all.
    candidates: Vec<(usize, usize)>,
}

impl<'a> Search<'a> {
    /// A search that has not begun.
    pub fn new(table: &'a RankedColumns, gradients: &'a Gradients, node_of_rows: &'a [u8], node: &'a Node<'a>) -> Self {
        let n_rows = node.rows.len() as i64;
        let mean = node.sum as f64 / n_rows as f64;
        // More than rounding can add to or take from `c`.
        let slack = 1e-14 * (mean.abs() * n_rows as f64 + 1.0);
        Self { table, gradients, node_of_rows, node, n_rows, mean, slack, best: -1.0, candidates: Vec::new() }
    }

    /// The best split by sorting the node's rows for each latent, which is quick for few rows.
    pub fn by_sorting(mut self) -> Option<Split> {
        let mut places: Vec<u32> = Vec::with_capacity(self.node.rows.len());
        for (latent, column) in self.table.columns.iter().enumerate() {
            places.clear();
            places.extend(self.node.rows.iter().map(|&row| column.ranks[row as usize]));
            places.sort_unstable();
            self.walk(latent, places.iter().map(|&place| place as usize), (0, 0), None);
        }
        self.finish()
    }

    /// The best split by the node's histogram.
    pub fn by_histogram(mut self, histogram: &Histogram) -> Option<Split> {
        let (mut bar, mut first) = (0.0, None);
        for (latent, (column, cells)) in self.table.columns.iter().zip(histogram).enumerate() {
            let (gain, border) = self.best_border(column, cells);
            if gain > bar {
                (bar, first) = (gain, Some((latent, border)));
            }
        }
        // The best place is most often beside the best border, and once it is known few others need a look.
        let is_first =
            |latent, bucket| first.is_some_and(|(z, border)| z == latent && (bucket == border || bucket + 1 == border));
        if let Some((latent, _)) = first {
            self.look_at(latent, &histogram[latent], |_, bucket, _| is_first(latent, bucket));
        }
        for (latent, cells) in histogram.iter().enumerate() {
            self.look_at(latent, cells, |search, bucket, highest| {
                !is_first(latent, bucket) && highest >= bar.max(search.best)
            });
        }
        self.finish()
    }

    /// Looks into those of a latent's buckets that `is_wanted` by their number and highest gain.
    #[inline]
    fn look_at(&mut self, latent: usize, cells: &[Cell; MOST_BUCKETS], is_wanted: impl Fn(&Self, usize, f64) -> bool) {
        let table = self.table;
        let (mut n_left, mut sum_left) = (0, 0);
        for (number, (bucket, &cell)) in table.columns[latent].buckets.iter().zip(cells).enumerate() {
            let n_inside = self.gradients.n_rows(cell);
            if n_inside > 0 && is_wanted(self, number, self.highest_gain(bucket, cell, n_left, sum_left)) {
                self.look_into(latent, bucket, (n_left, sum_left));
            }
            n_left += n_inside;
            sum_left += cell.sum;
        }
    }

    /// No more than the gain at the best border of buckets, which the best split has at least, and the bucket after it.
    fn best_border(&self, column: &RankedColumn, cells: &[Cell; MOST_BUCKETS]) -> (f64, usize) {
        let (mut n_left, mut sum_left) = (0, 0);
        let (mut best_square, mut best_product, mut border) = (0.0, 1.0, 0);
        for (number, (bucket, &cell)) in column.buckets.iter().zip(cells).enumerate() {
            let n_inside = self.gradients.n_rows(cell);
            if bucket.is_apart && n_inside > 0 && n_left > 0 {
                let deviation = (self.deviation(n_left, sum_left).abs() - self.slack).max(0.0);
                let (square, product_of_sizes) = (deviation * deviation, self.product_of_sizes(n_left));
                if square * best_product > best_square * product_of_sizes {
                    (best_square, best_product, border) = (square, product_of_sizes, number);
                }
            }
            n_left += n_inside;
            sum_left += cell.sum;
        }
        (best_square / best_product * self.n_rows as f64 * (1.0 - 1e-12), border)
    }

    /// At least the gain at any place in or right before a bucket that has rows.
    #[inline]
    fn highest_gain(&self, bucket: &Bucket, cell: Cell, n_left: i64, sum_left: i64) -> f64 {
        let n_inside = self.gradients.n_rows(cell);
        let deviation = self.deviation(n_left, sum_left);
        let (mut largest, mut product_of_sizes) = (deviation.abs(), self.product_of_sizes(n_left));
        if !bucket.is_single && n_inside > 1 {
            let positive = self.gradients.positive(cell);
            let drift = self.mean * n_inside as f64;
            let upwards = positive as f64 + (-drift).max(0.0);
            let downwards = (positive - cell.sum) as f64 + drift.max(0.0);
            largest = (deviation + upwards).max(downwards - deviation);
            let product_after = self.product_of_sizes(n_left + n_inside - 1);
            product_of_sizes = if n_left == 0 {
                self.product_of_sizes(1).min(product_after)
            } else {
                product_of_sizes.min(product_after)
            };
        }
        if product_of_sizes == 0.0 {
            return -1.0;
        }
        let largest = largest + self.slack;
        largest * largest * self.n_rows as f64 / product_of_sizes * (1.0 + 1e-12)
    }

    /// How far the sum of the left side is from what its share of the rows would have.
    #[inline]
    fn deviation(&self, n_left: i64, sum_left: i64) -> f64 {
        sum_left as f64 - self.mean * n_left as f64
    }

    /// The number of rows on the left times that on the right.
    #[inline]
    fn product_of_sizes(&self, n_left: i64) -> f64 {
        (n_left * (self.n_rows - n_left)) as f64
    }

    fn look_into(&mut self, latent: usize, bucket: &Bucket, (n_left, sum_left): (i64, i64)) {
        let column = &self.table.columns[latent];
        let before = if n_left > 0 { Some(self.place_before(latent, bucket.start)) } else { None };
        if bucket.is_single {
            if before.is_some_and(|before| column.is_apart(before, bucket.start)) {
                self.consider(latent, bucket.start, n_left, sum_left);
            }
            return;
        }
        let (node_of_rows, id) = (self.node_of_rows, self.node.id);
        let is_inside = |place: &usize| node_of_rows[column.rows[*place] as usize] == id;
        self.walk(latent, (bucket.start..bucket.end).filter(is_inside), (n_left, sum_left), before);
    }

    /// Considers each of `places`, where `before` is the node's place right before the first.
    fn walk(
        &mut self,
        latent: usize,
        places: impl Iterator<Item = usize>,
        (mut n_left, mut sum_left): (i64, i64),
        mut before: Option<usize>,
    ) {
        let column = &self.table.columns[latent];
        for place in places {
            if before.is_some_and(|before| column.is_apart(before, place)) {
                self.consider(latent, place, n_left, sum_left);
            }
            n_left += 1;
            sum_left += self.gradients.cells[column.rows[place] as usize].sum;
            before = Some(place);
        }
    }

    /// Keeps the split right before `place` if it gains most so far.
    #[inline]
    fn consider(&mut self, latent: usize, place: usize, n_left: i64, sum_left: i64) {
        let product_of_sizes = self.product_of_sizes(n_left);
        let largest = self.deviation(n_left, sum_left).abs() + self.slack;
        if largest * largest * self.n_rows as f64 * (1.0 + 1e-12) < self.best * product_of_sizes {
            return;
        }
        // N c, which is the same number whichever side is called left.
        let cross = i128::from(sum_left) * i128::from(self.n_rows) - i128::from(self.node.sum) * i128::from(n_left);
        let cross = cross as f64;
        let gain = cross * cross / (self.n_rows as f64 * product_of_sizes);
        if gain > self.best {
            self.best = gain;
            self.candidates.clear();
            self.candidates.push((latent, place));
        } else if gain == self.best {
            let n_of_latent = self.candidates.iter().rev().take_while(|(known, _)| *known == latent).take(2).count();
            if gain == 0.0 && n_of_latent == 2 {
                self.candidates.pop();
            }
            self.candidates.push((latent, place));
        }
    }

    /// One of the candidates.
    #[cold]
    fn chosen(&self) -> (usize, usize) {
        let fingerprints: Vec<u64> =
            self.candidates.iter().map(|&(latent, place)| self.fingerprint_of(latent, place)).collect();
        let mut counts = BTreeMap::new();
        let keys = fingerprints.iter().map(|&fingerprint| {
            let count: &mut u64 = counts.entry(fingerprint).or_default();
            *count += 1;
            (spread(fingerprint.wrapping_add(*count) ^ self.node.salt), fingerprint)
        });
        let (_, wanted) = keys.min().expect("there are candidates");
        let alike = self.candidates.iter().zip(&fingerprints).filter(|(_, fingerprint)| **fingerprint == wanted);
        let drawn = alike.min_by_key(|((latent, _), _)| spread(*latent as u64 ^ spread(wanted ^ self.node.salt)));
        *drawn.expect("one candidate has the fingerprint").0
    }

    /// A number that stands for which rows are parted from which, whichever side is called left.
    fn fingerprint_of(&self, latent: usize, place: usize) -> u64 {
        let ranks = &self.table.columns[latent].ranks;
        let (mut left, mut right) = (0_u64, 0_u64);
        for &row in self.node.rows {
            let side = if (ranks[row as usize] as usize) < place { &mut left } else { &mut right };
            *side = side.wrapping_add(spread(u64::from(row + 1)));
        }
        left.min(right)
    }

    /// The node's last place before `place`.
    fn place_before(&self, latent: usize, place: usize) -> usize {
        let rows = &self.table.columns[latent].rows[..place];
        let is_inside = |&row: &u32| self.node_of_rows[row as usize] == self.node.id;
        rows.iter().rposition(is_inside).expect("the node has rows to the left")
    }

    fn finish(self) -> Option<Split> {
        let (latent, place) = match self.candidates[..] {
            [] => return None,
            [only] => only,
            _ => self.chosen(),
        };
        let threshold = self.table.columns[latent].threshold(self.place_before(latent, place), place);
        let gain = self.best * self.gradients.unit * self.gradients.unit;
        let mut tied: Vec<usize> = self.candidates.iter().map(|(latent, _)| *latent).collect();
        tied.sort_unstable();
        tied.dedup();
        Some(Split { gain, latent, tied, threshold })
    }
}

/// Spreads a number over all bits, as Steele et al. 2014 do for their generator.
fn spread(number: u64) -> u64 {
    let spread = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let spread = (spread ^ (spread >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let spread = (spread ^ (spread >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    spread ^ (spread >> 31)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;
    use crate::predictors::gradients::fill_histogram;

    /// Some rows of a table with a fine, a coarse and a hardly moving latent, and gradients with a step at 0.
    #[test]
    fn buckets_and_sorting_find_the_same_split() {
        let mut rng = Seed(1).stream("codes");
        for n_rows in [2, 30, 500, 3000] {
            let codes = Array2::from_shape_fn((n_rows, 3), |(_, latent)| {
                let value: f64 = rng.random_range(-1.0..1.0);
                [value, (value * 3.0).round(), value * 1e-5][latent]
            });
            let values: Vec<f64> =
                codes.column(0).iter().map(|&z| f64::from(u8::from(z > 0.0)) + rng.random_range(-1.0..1.0)).collect();
            let table = RankedColumns::new(&codes);
            let mut gradients = Gradients::default();
            gradients.fill(&values);
            let node_of_rows: Vec<u8> = (0..n_rows).map(|row| u8::from(row % 3 == 2)).collect();
            let rows: Vec<u32> = (0..n_rows as u32).filter(|row| row % 3 != 2).collect();
            let sum = rows.iter().map(|&row| gradients.cells[row as usize].sum).sum();
            let node = Node { id: 0, rows: &rows, sum, salt: 1 };
            let mut histogram = Histogram::new();
            fill_histogram(&mut histogram, &table, &gradients.cells, &rows);
            let search = || Search::new(&table, &gradients, &node_of_rows, &node);
            let (quick, plain) = (search().by_histogram(&histogram).unwrap(), search().by_sorting().unwrap());
            assert_eq!((quick.gain, quick.latent, quick.threshold), (plain.gain, plain.latent, plain.threshold));
        }
    }

    #[test]
    fn a_gain_worked_by_hand() {
        // Gradients 1, 1, -2 at 0, 1, 3: after the second row n = 2, s = 2, S = 0, so 2^2 * 3 / (2 * 1) = 6.
        let table = RankedColumns::new(&ndarray::array![[0.0], [1.0], [3.0]]);
        let mut gradients = Gradients::default();
        gradients.fill(&[1.0, 1.0, -2.0]);
        let node = Node { id: 0, rows: &[0, 1, 2], sum: 0, salt: 1 };
        let split = Search::new(&table, &gradients, &[0; 3], &node).by_sorting().unwrap();
        assert_eq!((split.gain, split.latent, split.threshold), (6.0, 0, 2.0));
    }
}
