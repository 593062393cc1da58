//! How well two kinds of distances agree over a pool of pairs: Pearson's and Spearman's correlation, and how many triples
//! both put into the same order.
//!
//! Distances that are equal by definition come out of floating-point arithmetic a little apart, and so would have ranks
//! of their own. They are rounded before they are compared, to a share of the largest one in the pool, so that the unit
//! of the codes does not matter.

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
    /// The classes of the rounded `distances`, which are in units of `unit`: whole numbers in their order, the same for
    /// equal ones, and 0 for a distance of 0.
    pub fn classes(self, distances: &[f64], unit: f64) -> Vec<u32> {
        let step = match self {
            Self::ShareOfLargest(share) => share * distances.iter().fold(0.0_f64, |largest, &value| largest.max(value)),
            Self::Absolute(step) => step / unit,
            Self::None => 0.0,
        };
        // The bits of numbers that are not negative have the order of the numbers.
        let key = |&distance: &f64| if step > 0.0 { (distance / step).round() as u64 } else { distance.to_bits() };
        let keys: Vec<u64> = distances.par_iter().map(key).collect();
        if keys.iter().all(|&key| key < MOST_CLASSES) {
            return keys.into_iter().map(|key| key as u32).collect();
        }
        let mut distinct = keys.clone();
        distinct.push(0);
        distinct.par_sort_unstable();
        distinct.dedup();
        keys.par_iter().map(|&key| distinct.partition_point(|&known| known < key) as u32).collect()
    }
}

/// What distances are rounded to before they are ranked unless told: a share of the largest one. A power of two has no simple fraction
/// halfway between two multiples.
pub const ROUND_SHARE: f64 = 1.0 / 131_072.0;

/// Which of two kinds of distances is the same for all pairs, and so agrees with nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// The first.
    First,
    /// The second.
    Second,
}

/// Pearson's and Spearman's correlation of two kinds of distances over all ordered pairs within traversals of `n_values` images, each image
/// with itself among them (T1 equations 4.2 and 4.10). Distances are the same both ways: there are those of the pairs `(i, j)`, `i < j`,
/// in ascending order, of one traversal after another.
pub fn correlations_of_traversals(n_values: usize, first: &[f64], second: &[f64]) -> Result<[f64; 2], Constant> {
    if n_values < 2 {
        return Err(Constant::First);
    }
    let n_coincident = 2.0 * first.len() as f64 / (n_values - 1) as f64;
    let counts = Counts { multiplicity: 2.0, n_coincident };
    let classes = |distances: &[f64]| Rounding::ShareOfLargest(ROUND_SHARE).classes(distances, 1.0);
    Ok([pearson_of(counts, first, second)?, spearman_of(counts, &classes(first), &classes(second))?])
}

/// Rounded distances are classes as they are where they are below this; else the distinct ones are numbered.
const MOST_CLASSES: u64 = 1 << 20;

/// How often pairs count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counts {
    /// Of each pair.
    pub multiplicity: f64,
    /// How many more pairs there are of a thing with itself, which are 0 apart on both sides.
    pub n_coincident: f64,
}

/// Pearson's correlation of two kinds of distances of the same pairs.
pub fn pearson_of(counts: Counts, first: &[f64], second: &[f64]) -> Result<f64, Constant> {
    let Counts { multiplicity, n_coincident } = counts;
    let n_pairs = multiplicity * second.len() as f64 + n_coincident;
    let mean = |values: &[f64]| multiplicity * values.iter().sum::<f64>() / n_pairs;
    let (mean_a, mean_b) = (mean(first), mean(second));
    let mut sums = [mean_a * mean_a, mean_b * mean_b, mean_a * mean_b].map(|product| product * n_coincident);
    for (a, b) in first.iter().zip(second) {
        let (a, b) = (a - mean_a, b - mean_b);
        let products = [a * a, b * b, a * b].map(|product| product * multiplicity);
        sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }
    correlation(sums, varies(counts, first), varies(counts, second))
}

/// Spearman's correlation of two kinds of distances of the same pairs, given as classes.
pub fn spearman_of(counts: Counts, first: &[u32], second: &[u32]) -> Result<f64, Constant> {
    let (first_ranks, second_ranks) = (Ranks::new(counts, first), Ranks::new(counts, second));
    let pairs = first.iter().zip(second);
    let product = pairs.map(|(&a, &b)| first_ranks.of_classes[a as usize] * second_ranks.of_classes[b as usize]);
    let coincident = counts.n_coincident * first_ranks.of_classes[0] * second_ranks.of_classes[0];
    let sums = [first_ranks.squares, second_ranks.squares, coincident + counts.multiplicity * product.sum::<f64>()];
    correlation(sums, first_ranks.n_present > 1, second_ranks.n_present > 1)
}

/// Pearson's correlation of the factors' and the codes' distances over the pool.
pub(crate) fn pearson(pool: &Pool, latent: &[f64]) -> Result<f64, String> {
    pearson_of(pool.counts(), &pool.ground, latent).map_err(reason)
}

/// Spearman's correlation over the pool, of distances given as classes.
pub(crate) fn spearman(pool: &Pool, ground: &[u32], latent: &[u32]) -> Result<f64, String> {
    spearman_of(pool.counts(), ground, latent).map_err(reason)
}

fn reason(constant: Constant) -> String {
    let of_what = match constant {
        Constant::First => "factors",
        Constant::Second => "codes",
    };
    format!("all pairs are equally far apart in their {of_what}")
}

/// The share of triples `(a, p, n)` for which both kinds of distances, given as classes, say alike whether `p` or `n` is
/// closer to `a`, or that neither is.
pub(crate) fn rank_same(pool: &Pool, ground: &[u32], latent: &[u32]) -> f64 {
    match pool.origin {
        Origin::Triples => {
            let triples = ground.chunks_exact(2).zip(latent.chunks_exact(2));
            let same = triples.filter(|(ground, latent)| ground[0].cmp(&ground[1]) == latent[0].cmp(&latent[1]));
            same.count() as f64 / (ground.len() / 2) as f64
        }
        Origin::Traversals(n_values) => {
            let n_pairs = n_values * (n_values - 1) / 2;
            let n_same: u64 = latent.par_chunks_exact(n_pairs).map(|classes| n_same(classes, n_values)).sum();
            n_same as f64 / ((latent.len() / n_pairs) as f64 * (n_values as f64).powi(3))
        }
    }
}

/// How many of all `n_values^3` triples of one traversal have the order of their positions, given the classes of its pairs.
fn n_same(classes: &[u32], n_values: usize) -> u64 {
    let mut square = vec![0; n_values * n_values]; // [values, values]
    let pairs = (0..n_values).flat_map(|i| (i + 1..n_values).map(move |j| (i, j)));
    for ((i, j), &class) in pairs.zip(classes) {
        square[i * n_values + j] = class;
        square[j * n_values + i] = class;
    }
    let mut n_same = 0;
    for (anchor, of_anchor) in square.chunks_exact(n_values).enumerate() {
        let steps: Vec<u32> = (0..n_values).map(|value| anchor.abs_diff(value) as u32).collect();
        for p in 0..n_values {
            let others = steps[p + 1..].iter().zip(&of_anchor[p + 1..]);
            let agrees = |(&step, &class): (&u32, &u32)| {
                u32::from((steps[p] < step) == (of_anchor[p] < class) && (steps[p] > step) == (of_anchor[p] > class))
            };
            n_same += 2 * u64::from(others.map(agrees).sum::<u32>());
        }
        n_same += n_values as u64; // p = n
    }
    n_same
}

/// `sums` are those of squares of either side and of products.
fn correlation(sums: [f64; 3], first_varies: bool, second_varies: bool) -> Result<f64, Constant> {
    let [a, b, product] = sums;
    if !first_varies || a <= 0.0 {
        return Err(Constant::First);
    }
    if !second_varies || b <= 0.0 {
        return Err(Constant::Second);
    }
    Ok((product / (a.sqrt() * b.sqrt())).clamp(-1.0, 1.0))
}

/// Whether the distances of all pairs, coincident ones among them, differ at all.
fn varies(counts: Counts, distances: &[f64]) -> bool {
    let first = if counts.n_coincident > 0.0 { 0.0 } else { distances.first().copied().unwrap_or(0.0) };
    distances.iter().any(|distance| *distance != first)
}

/// The mean ranks of classes of distances, taken from the mean of all ranks.
struct Ranks {
    /// `[classes]`
    of_classes: Vec<f64>,
    /// How many classes some pair has.
    n_present: usize,
    /// The sum of the squares over all pairs.
    squares: f64,
}

impl Ranks {
    fn new(pairs: Counts, classes: &[u32]) -> Self {
        let n_classes = classes.iter().max().map_or(1, |&largest| largest as usize + 1);
        let mut counts = vec![0.0; n_classes];
        classes.iter().for_each(|&class| counts[class as usize] += pairs.multiplicity);
        counts[0] += pairs.n_coincident;
        let middle = counts.iter().sum::<f64>() / 2.0;
        let (mut n_below, mut squares) = (0.0, 0.0);
        let rank_of = |count: &f64| {
            let rank = n_below + count / 2.0 - middle;
            squares += count * rank * rank;
            n_below += count;
            rank
        };
        let of_classes = counts.iter().map(rank_of).collect();
        Self { of_classes, n_present: counts.iter().filter(|count| **count > 0.0).count(), squares }
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

    /// The classes of the factors' and the codes' distances.
    fn classes(pool: &Pool) -> (Vec<u32>, Vec<u32>) {
        (Rounding::None.classes(&pool.ground, 1.0), Rounding::ShareOfLargest(1e-5).classes(&pool.latent[0], 1.0))
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
        let (ground, latent) = classes(&pool);
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
            let (ground, latent) = classes(&pool);
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
        let (ground, latent) = classes(&pool);
        assert!((spearman(&pool, &ground, &latent).unwrap() - 1.0).abs() < 1e-15);
        let unrounded = Rounding::None.classes(&pool.latent[0], 1.0);
        assert!(spearman(&pool, &ground, &unrounded).unwrap() < 0.99);
        assert_eq!(Rounding::Absolute(0.5).classes(&[0.0, 0.3, 0.6, 1.0], 1.0), [0, 1, 1, 2]);
    }

    #[test]
    fn any_two_kinds_of_distances_agree_as_those_of_a_pool() {
        // The traversal by hand above, with the sides swapped too: both coefficients are the same both ways.
        let (ground, latent) = ([1.0, 2.0, 1.0], [1.0, 5.0, 4.0]);
        let expected = [110.0 / (44.0_f64 * 356.0).sqrt(), 52.5 / (52.5_f64 * 56.5).sqrt()];
        for (first, second) in [(&ground, &latent), (&latent, &ground)] {
            let found = correlations_of_traversals(3, first, second).unwrap();
            assert!((found[0] - expected[0]).abs() < 1e-12 && (found[1] - expected[1]).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(correlations_of_traversals(3, &ground, &[0.0; 3]), Err(Constant::Second));
        assert_eq!(correlations_of_traversals(3, &[0.0; 3], &latent), Err(Constant::First));
        // Where all values are equally far apart, the pairs of an image with itself still make a correlation.
        assert!(correlations_of_traversals(3, &ground, &[2.0; 3]).is_ok());
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        let pool = traversal(&[7.0, 7.0, 7.0]);
        let (ground, latent) = classes(&pool);
        let reason = Err("all pairs are equally far apart in their codes".to_string());
        assert_eq!(pearson(&pool, &pool.latent[0]), reason);
        assert_eq!(spearman(&pool, &ground, &latent), reason);
    }
}
