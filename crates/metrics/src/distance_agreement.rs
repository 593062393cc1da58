//! How well two kinds of distances agree over a pool of pairs: Pearson's and Spearman's correlation, and how many triples
//! both put into the same order.
//!
//! Distances that are equal by definition come out of floating-point arithmetic a little apart, and so would have ranks
//! of their own. They are rounded before they are compared, to a share of the largest one in the pool, so that the unit
//! of the codes does not matter.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::distance_pools::{Origin, Pool};

/// How distances are rounded before they are ranked or put into order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rounding {
    /// To multiples of this share of the largest distance in the pool.
    ShareOfLargest(f64),
    /// To multiples of this distance.
    Absolute(f64),
    /// Not at all.
    None,
}

impl Rounding {
    /// Whole numbers in the order of the rounded `distances`, which are in units of `unit`; equal ones share a number,
    /// and a distance of 0 has 0.
    pub fn keys(self, distances: &[f64], unit: f64) -> Vec<u64> {
        let step = match self {
            Self::ShareOfLargest(share) => share * distances.iter().fold(0.0_f64, |largest, &value| largest.max(value)),
            Self::Absolute(step) => step / unit,
            Self::None => 0.0,
        };
        // The bits of numbers that are not negative have the order of the numbers.
        let key = |&distance: &f64| if step > 0.0 { (distance / step).round() as u64 } else { distance.to_bits() };
        distances.par_iter().map(key).collect()
    }
}

/// Pearson's correlation of the factors' and the codes' distances over the pool.
pub fn pearson(pool: &Pool, latent: &[f64]) -> Result<f64, String> {
    let (multiplicity, n_coincident) = (pool.multiplicity(), pool.n_coincident());
    let n_pairs = multiplicity * latent.len() as f64 + n_coincident;
    let mean = |values: &[f64]| multiplicity * values.iter().sum::<f64>() / n_pairs;
    let (mean_a, mean_b) = (mean(&pool.ground), mean(latent));
    let mut sums = [mean_a * mean_a, mean_b * mean_b, mean_a * mean_b].map(|product| product * n_coincident);
    for (a, b) in pool.ground.iter().zip(latent) {
        let (a, b) = (a - mean_a, b - mean_b);
        let products = [a * a, b * b, a * b].map(|product| product * multiplicity);
        sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }
    correlation(sums, varies(pool, &pool.ground), varies(pool, latent))
}

/// Spearman's correlation over the pool, of distances given as `keys`.
pub fn spearman(pool: &Pool, ground: &[u64], latent: &[u64]) -> Result<f64, String> {
    let ground_ranks = Ranks::new(pool, ground);
    let mut pairs: Vec<(u64, u64)> = latent.iter().copied().zip(ground.iter().copied()).collect();
    pairs.par_sort_unstable();
    let latent_ranks = Ranks::of_sorted(pool, pairs.iter().map(|(key, _)| *key));
    let zeros = pool.n_coincident() * ground_ranks.ranks[0] * latent_ranks.ranks[0];
    let mut product = 0.0;
    for (of_key, rank) in pairs.chunk_by(|a, b| a.0 == b.0).zip(latent_ranks.of_present_keys(pairs[0].0)) {
        product += rank * of_key.iter().map(|(_, ground)| ground_ranks.rank(*ground)).sum::<f64>();
    }
    let sums = [ground_ranks.squares, latent_ranks.squares, zeros + pool.multiplicity() * product];
    correlation(sums, ground_ranks.keys.len() > 1, latent_ranks.keys.len() > 1)
}

/// The share of triples `(a, p, n)` for which both kinds of distances, given as `keys`, say alike whether `p` or `n` is
/// closer to `a`, or that neither is.
pub fn rank_same(pool: &Pool, ground: &[u64], latent: &[u64]) -> f64 {
    match pool.origin {
        Origin::Triples => {
            let triples = ground.chunks_exact(2).zip(latent.chunks_exact(2));
            let same = triples.filter(|(ground, latent)| ground[0].cmp(&ground[1]) == latent[0].cmp(&latent[1]));
            same.count() as f64 / (ground.len() / 2) as f64
        }
        Origin::Traversals(n_values) => {
            let n_pairs = n_values * (n_values - 1) / 2;
            let n_same: u64 = latent.par_chunks_exact(n_pairs).map(|keys| n_same(keys, n_values)).sum();
            n_same as f64 / ((latent.len() / n_pairs) as f64 * (n_values as f64).powi(3))
        }
    }
}

/// How many of all `n_values^3` triples of one traversal have the order of their positions, given the keys of its pairs.
fn n_same(keys: &[u64], n_values: usize) -> u64 {
    let mut square = vec![0; n_values * n_values]; // [values, values]
    let pairs = (0..n_values).flat_map(|i| (i + 1..n_values).map(move |j| (i, j)));
    for ((i, j), &key) in pairs.zip(keys) {
        square[i * n_values + j] = key;
        square[j * n_values + i] = key;
    }
    let mut n_same = 0;
    for (anchor, of_anchor) in square.chunks_exact(n_values).enumerate() {
        for (p, key) in of_anchor.iter().enumerate() {
            for (n, other) in of_anchor.iter().enumerate().skip(p + 1) {
                let order: Ordering = anchor.abs_diff(p).cmp(&anchor.abs_diff(n));
                n_same += 2 * u64::from(order == key.cmp(other));
            }
        }
        n_same += n_values as u64; // p = n
    }
    n_same
}

/// `sums` are those of squares of either side and of products.
fn correlation(sums: [f64; 3], ground_varies: bool, latent_varies: bool) -> Result<f64, String> {
    let [a, b, product] = sums;
    if !ground_varies || a <= 0.0 {
        return Err("all pairs are equally far apart in their factors".to_string());
    }
    if !latent_varies || b <= 0.0 {
        return Err("all pairs are equally far apart in their codes".to_string());
    }
    Ok((product / (a.sqrt() * b.sqrt())).clamp(-1.0, 1.0))
}

/// Whether the distances of all pairs, coincident ones among them, differ at all.
fn varies(pool: &Pool, distances: &[f64]) -> bool {
    let first = if pool.n_coincident() > 0.0 { 0.0 } else { distances[0] };
    distances.iter().any(|distance| *distance != first)
}

/// The distinct keys of a pool and their mean ranks, taken from the mean of all ranks.
struct Ranks {
    keys: Vec<u64>,
    ranks: Vec<f64>,
    /// The sum of the squares over all pairs.
    squares: f64,
}

impl Ranks {
    fn new(pool: &Pool, keys: &[u64]) -> Self {
        let mut keys = keys.to_vec();
        keys.par_sort_unstable();
        Self::of_sorted(pool, keys.into_iter())
    }

    fn of_sorted(pool: &Pool, sorted: impl ExactSizeIterator<Item = u64>) -> Self {
        let n_pairs = pool.multiplicity() * sorted.len() as f64 + pool.n_coincident();
        let mut groups: Vec<(u64, f64)> = Vec::new(); // keys and how many pairs have them
        if pool.n_coincident() > 0.0 {
            groups.push((0, pool.n_coincident()));
        }
        for key in sorted {
            match groups.last_mut() {
                Some((last, count)) if *last == key => *count += pool.multiplicity(),
                _ => groups.push((key, pool.multiplicity())),
            }
        }
        let mut n_below = 0.0;
        let (mut squares, mut ranks) = (0.0, Vec::with_capacity(groups.len()));
        for (_, count) in &groups {
            let rank = n_below + count / 2.0 - n_pairs / 2.0;
            squares += count * rank * rank;
            ranks.push(rank);
            n_below += count;
        }
        Self { keys: groups.into_iter().map(|(key, _)| key).collect(), ranks, squares }
    }

    fn rank(&self, key: u64) -> f64 {
        self.ranks[self.keys.partition_point(|&known| known < key)]
    }

    /// The ranks from that of `first` on, the smallest key that a pair has.
    fn of_present_keys(&self, first: u64) -> impl Iterator<Item = f64> {
        self.ranks[self.keys.partition_point(|&known| known < first)..].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::scaled_table::ScaledTable;

    /// One traversal through the values of a single latent.
    fn traversal(codes: &[f64; 3]) -> Pool {
        let table = ScaledTable::new(&array![[codes[0]], [codes[1]], [codes[2]]]);
        Pool::of_traversals(&table, &array![[0, 1, 2]])
    }

    /// All ordered pairs of a traversal as triples, which must score the same but for the order of triples.
    fn keys(pool: &Pool) -> (Vec<u64>, Vec<u64>) {
        (Rounding::None.keys(&pool.ground, 1.0), Rounding::ShareOfLargest(1e-5).keys(&pool.latent[0], 1.0))
    }

    #[test]
    fn a_traversal_worked_by_hand() {
        // Codes 0, 1, 5. Ordered pairs: three at (0, 0), and twice each (1, 1), (1, 4), (2, 5).
        // Means 8/9 and 20/9; sums of squares 12 - 64/9 = 44/9, 84 - 400/9 = 356/9; of products 30 - 160/9 = 110/9.
        let pool = traversal(&[0.0, 1.0, 5.0]);
        let expected = 110.0 / (44.0_f64 * 356.0).sqrt();
        assert!((pearson(&pool, &pool.latent[0]).unwrap() - expected).abs() < 1e-12);
        // Ranks: factors 2 (x3), 5.5 (x4), 8.5 (x2); codes 2 (x3), 4.5 (x2), 6.5 (x2), 8.5 (x2). From the mean 5: squares
        // 27 + 1 + 24.5 = 52.5 and 27 + 0.5 + 4.5 + 24.5 = 56.5; products 27 - 0.5 + 1.5 + 24.5 = 52.5.
        let (ground, latent) = keys(&pool);
        let expected = 52.5 / (52.5_f64 * 56.5).sqrt();
        assert!((spearman(&pool, &ground, &latent).unwrap() - expected).abs() < 1e-12);
        // From 0 and from 2 all 9 are in order. From 1, whose neighbours are alike by position but not by code, 2 of 9
        // are not.
        assert!((rank_same(&pool, &ground, &latent) - 25.0 / 27.0).abs() < 1e-12);
    }

    #[test]
    fn all_ordered_triples_score_as_the_traversal_does() {
        let codes = array![[0.0], [1.0], [5.0]];
        let positions = array![[0.0], [1.0], [2.0]];
        let triples: Vec<[usize; 3]> = (0..27).map(|number| [number / 9, number / 3 % 3, number % 3]).collect();
        let drawn = Pool::of_triples(&ScaledTable::new(&codes), &ScaledTable::new(&positions), &triples);
        let pool = traversal(&[0.0, 1.0, 5.0]);
        let of_pools = [drawn, pool].map(|pool| {
            let (ground, latent) = keys(&pool);
            let correlations = [pearson(&pool, &pool.latent[0]), spearman(&pool, &ground, &latent)];
            (correlations.map(|correlation| correlation.unwrap()), rank_same(&pool, &ground, &latent))
        });
        assert!((of_pools[0].0[0] - of_pools[1].0[0]).abs() < 1e-12);
        assert!((of_pools[0].0[1] - of_pools[1].0[1]).abs() < 1e-12);
        assert!((of_pools[0].1 - of_pools[1].1).abs() < 1e-12);
    }

    #[test]
    fn rounding_errors_do_not_break_ties() {
        // 0.1 and 0.3 - 0.2 differ in the last digit.
        let pool = traversal(&[0.1, 0.2, 0.3]);
        let (ground, latent) = keys(&pool);
        assert!((spearman(&pool, &ground, &latent).unwrap() - 1.0).abs() < 1e-15);
        let unrounded = Rounding::None.keys(&pool.latent[0], 1.0);
        assert!(spearman(&pool, &ground, &unrounded).unwrap() < 0.99);
        assert_eq!(Rounding::Absolute(0.5).keys(&[0.0, 0.3, 0.6, 1.0], 1.0), [0, 1, 1, 2]);
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let pool = traversal(&[7.0, 7.0, 7.0]);
        let (ground, latent) = keys(&pool);
        let reason = Err("all pairs are equally far apart in their codes".to_string());
        assert_eq!(pearson(&pool, &pool.latent[0]), reason);
        assert_eq!(spearman(&pool, &ground, &latent), reason);
    }
}
