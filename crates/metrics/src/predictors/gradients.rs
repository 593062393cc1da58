//! Gradients as whole numbers in a small unit, and their sums in the buckets of each latent.
//!
//! Sums of whole numbers do not depend on the order of rows, and a node's histogram is exactly its parent's less its sibling's.

use super::ranked_columns::{MOST_BUCKETS, RankedColumns};

/// A row's gradient, or the sum of many.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(16))]
pub struct Cell {
    /// In units of `Gradients::unit`.
    pub sum: i64,
    /// How many rows in the low bits; the positive gradients among them, rounded up in a larger unit, in the high ones.
    packed: u64,
}

impl Cell {
    #[inline]
    fn add(&mut self, other: Cell) {
        self.sum += other.sum;
        self.packed += other.packed;
    }

    #[inline]
    fn subtract(&mut self, other: Cell) {
        self.sum -= other.sum;
        self.packed -= other.packed;
    }
}

/// The gradients of all rows as whole numbers.
#[derive(Default)]
pub struct Gradients {
    /// `[rows]`
    pub cells: Vec<Cell>,
    /// What a sum of 1 stands for.
    pub unit: f64,
    /// The sum of all.
    pub sum: i64,
    /// The sum of all squares, in units of `unit^2`.
    pub squares: f64,
    n_bits: u32,
}

impl Gradients {
    /// Rounds towards zero in the smallest unit in which the sum of all rows is surely held.
    pub fn fill(&mut self, gradients: &[f64]) {
        let largest = gradients.iter().fold(0.0_f64, |largest, gradient| largest.max(gradient.abs()));
        self.n_bits = usize::BITS - gradients.len().leading_zeros();
        let above_largest = (exponent(largest) + 1).max(-900);
        let scale = 62 - i32::try_from(self.n_bits).expect("it is at most 64") - above_largest;
        self.unit = power_of_two(-scale);
        let scale = power_of_two(scale);
        let n_bits = self.n_bits;
        (self.sum, self.squares) = (0, 0.0);
        self.cells.clear();
        self.cells.extend(gradients.iter().map(|gradient| {
            let sum = (gradient * scale) as i64;
            self.sum += sum;
            self.squares += sum as f64 * sum as f64;
            let positive = if sum > 0 { (sum as u64 >> (n_bits - 1)) + 1 } else { 0 };
            Cell { sum, packed: positive << n_bits | 1 }
        }));
    }

    /// How many rows a sum is of.
    pub fn n_rows(&self, cell: Cell) -> i64 {
        (cell.packed & ((1 << self.n_bits) - 1)) as i64
    }

    /// At least the sum of the positive gradients.
    pub fn positive(&self, cell: Cell) -> i64 {
        ((cell.packed >> self.n_bits) << (self.n_bits - 1)) as i64
    }
}

/// The whole number `e` for which `2^e <= value < 2^(e + 1)`, or -1023 for numbers below all of those.
fn exponent(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The sums of a node's gradients in each bucket of each latent.
pub type Histogram = Vec<[Cell; MOST_BUCKETS]>;

/// Sums the gradients of `rows`.
pub fn fill_histogram(histogram: &mut Histogram, table: &RankedColumns, cells: &[Cell], rows: &[u32]) {
    let n_latents = table.columns.len();
    histogram.clear();
    histogram.resize(n_latents, [Cell::default(); MOST_BUCKETS]);
    for &row in rows {
        let row = row as usize;
        let cell = cells[row];
        let buckets = &table.buckets[row * n_latents..][..n_latents];
        for (of_latent, &bucket) in histogram.iter_mut().zip(buckets) {
            of_latent[usize::from(bucket) % MOST_BUCKETS].add(cell);
        }
    }
}

/// Takes one child's sums out of its parent's, which leaves the other child's.
pub fn subtract_histogram(parent: &mut Histogram, child: &Histogram) {
    for (parent, child) in parent.as_flattened_mut().iter_mut().zip(child.as_flattened()) {
        parent.subtract(*child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_hold_rows_and_positive_parts() {
        let mut gradients = Gradients::default();
        gradients.fill(&[0.5, -0.25, 0.125]);
        let mut all = Cell::default();
        gradients.cells.iter().for_each(|&cell| all.add(cell));
        assert_eq!(gradients.n_rows(all), 3);
        assert_eq!(all.sum as f64 * gradients.unit, 0.375);
        let positive = gradients.positive(all) as f64 * gradients.unit;
        assert!((0.625..0.626).contains(&positive), "{positive}");
        assert_eq!(gradients.squares * gradients.unit * gradients.unit, 0.328_125);
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_have_units() {
        for value in [1e300, 5e-324, 0.0] {
            let mut gradients = Gradients::default();
            gradients.fill(&[value, -value]);
            assert!(gradients.unit > 0.0 && gradients.sum == 0);
        }
    }
}
