//! Correlations of distances, with how far they may be off where pairs were drawn.
//!
//! Pairs of one group share images and are not independent, groups are. So the groups, which are in a random order, are divided into blocks, a
//! correlation is taken in each, and its spread over the blocks tells that of the whole: an interval of 95 % by Student's distribution.

use ndarray::Array1;
use rayon::prelude::*;
use unbraid_metrics::distance_agreement::{Constant, Counts, Rounding, pearson_of, spearman_of};
use unbraid_metrics::statistics::spearman::spearman;

use crate::pool::Pool;

/// Blocks that groups are divided into.
const N_BLOCKS: usize = 16;
/// The 97.5 % quantile of Student's distribution with 15 degrees of freedom.
const QUANTILE: f64 = 2.131_450;
/// Distances of factors are whole numbers, or sums of a few.
const GROUND_SHARE: f64 = 1.0 / (1_u64 << 38) as f64;

/// A number and the interval that it is likely within.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its 95 % interval; none where it is exact, all pairs having been compared, and where too few groups were drawn to tell.
    pub interval: Option<[f64; 2]>,
}

/// Pairs of an image with itself beside those of a pool, which are 0 apart by all distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coincident {
    /// None: pairs of different images.
    None,
    /// As when both images of a pair are drawn from the group with replacement.
    WithinGroups,
    /// This share of all pairs.
    Share(f64),
}

impl Coincident {
    fn counts(self, n_pairs: usize, group_sizes: &[usize]) -> Counts {
        let both_ways = 2.0 * n_pairs as f64;
        let n_coincident = match self {
            Self::None => 0.0,
            Self::WithinGroups => group_sizes.iter().sum::<usize>() as f64,
            Self::Share(share) => both_ways * share / (1.0 - share),
        };
        Counts { multiplicity: 2.0, n_coincident }
    }
}

/// Pearson's and Spearman's correlation of the factors' distances with those that one loss sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlations {
    /// Of the distances.
    pub pearson: Result<Estimate, String>,
    /// Of their ranks.
    pub spearman: Result<Estimate, String>,
}

/// The order of a pool's distances: whole numbers that are the same for equal ones. Those that are equal by definition come out a little apart, and
/// so are rounded first.
pub struct Classes {
    ground: Vec<u32>,
    perceived: Vec<Vec<u32>>,
}

impl Classes {
    /// Of all distances of a pool.
    pub fn of(pool: &Pool) -> Self {
        let classes = |distances: &[f64], share: f64| Rounding::ShareOfLargest(share).classes(distances, 1.0);
        let perceived = pool.perceived.iter().zip(&pool.round_shares);
        Self {
            ground: classes(&pool.ground, GROUND_SHARE),
            perceived: perceived.map(|(distances, share)| classes(distances, *share)).collect(),
        }
    }
}

/// The correlations of a pool under the loss at this position.
pub fn correlations(pool: &Pool, classes: &Classes, loss: usize, coincident: Coincident) -> Correlations {
    let perceived = &pool.perceived[loss];
    let (ground_classes, classes) = (&classes.ground, &classes.perceived[loss]);
    let blocks = blocks(pool);
    let counts = coincident.counts(perceived.len(), &pool.group_sizes);
    let of_blocks = |of: &dyn Fn(Counts, std::ops::Range<usize>) -> Result<f64, Constant>| {
        let of_block = |block: &Block| {
            let sizes = &pool.group_sizes[block.groups.clone()];
            of(coincident.counts(block.pairs.len(), sizes), block.pairs.clone()).ok()
        };
        blocks.iter().map(of_block).collect::<Option<Vec<f64>>>()
    };
    let pearson =
        |counts, pairs: std::ops::Range<usize>| pearson_of(counts, &pool.ground[pairs.clone()], &perceived[pairs]);
    let spearman =
        |counts, pairs: std::ops::Range<usize>| spearman_of(counts, &ground_classes[pairs.clone()], &classes[pairs]);
    let all = 0..perceived.len();
    let estimate = |value: Result<f64, Constant>, of_blocks: Option<Vec<f64>>| match value {
        Ok(value) if value.is_finite() => {
            Ok(Estimate { value, interval: of_blocks.and_then(|values| interval(value, &values)) })
        }
        Ok(_) => Err("distances are too large for a number".to_string()),
        Err(constant) => Err(reason(constant)),
    };
    Correlations {
        pearson: estimate(pearson(counts, all.clone()), of_blocks(&pearson)),
        spearman: estimate(spearman(counts, all), of_blocks(&spearman)),
    }
}

/// Spearman's correlation within each group of three images or more, on average over groups: whether images look the farther apart the farther apart
/// their values are. Groups may differ from each other, as traversals of large and of small objects do. One in which all images look equally
/// far apart counts 0.
pub fn order_within_groups(pool: &Pool, classes: &Classes, loss: usize) -> Result<Estimate, String> {
    let mut first_pair = 0;
    let mut of_groups: Vec<Option<std::ops::Range<usize>>> = Vec::with_capacity(pool.group_sizes.len());
    for size in &pool.group_sizes {
        let pairs = first_pair..first_pair + size * (size - 1) / 2;
        first_pair = pairs.end;
        of_groups.push((*size > 2).then_some(pairs));
    }
    let spearman_of_group = |pairs: &Option<std::ops::Range<usize>>| {
        let column = |classes: &[u32]| -> Array1<f64> { classes.iter().map(|&class| f64::from(class)).collect() };
        let pairs = pairs.clone()?;
        let ground = column(&classes.ground[pairs.clone()]);
        let varies = ground.iter().any(|class| *class != ground[0]);
        varies.then(|| spearman(&ground, &column(&classes.perceived[loss][pairs])))
    };
    let values: Vec<Option<f64>> = of_groups.par_iter().map(spearman_of_group).collect();
    let mean = |values: &[Option<f64>]| {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let value = mean(&values).ok_or("no three images differ in this factor alone, by different amounts")?;
    let of_blocks = blocks(pool).iter().map(|block| mean(&values[block.groups.clone()])).collect::<Option<Vec<f64>>>();
    Ok(Estimate { value, interval: of_blocks.and_then(|of_blocks| interval(value, &of_blocks)) })
}

fn reason(constant: Constant) -> String {
    match constant {
        Constant::First => "all pairs are equally far apart in their factors".to_string(),
        Constant::Second => "all pairs look equally far apart".to_string(),
    }
}

struct Block {
    groups: std::ops::Range<usize>,
    pairs: std::ops::Range<usize>,
}

/// Blocks of about as many groups; none where there is no spread to tell, or too few groups to tell it.
fn blocks(pool: &Pool) -> Vec<Block> {
    let group_sizes = &pool.group_sizes;
    if pool.are_all || group_sizes.len() < 2 * N_BLOCKS {
        return Vec::new();
    }
    let mut first_pair = 0;
    let block = |block: usize| {
        let bound = |block: usize| block * group_sizes.len() / N_BLOCKS;
        let groups = bound(block)..bound(block + 1);
        let n_pairs: usize = group_sizes[groups.clone()].iter().map(|size| size * (size - 1) / 2).sum();
        first_pair += n_pairs;
        Block { groups, pairs: first_pair - n_pairs..first_pair }
    };
    (0..N_BLOCKS).map(block).collect()
}

/// Around the value of the whole, by the spread over blocks; a correlation cannot leave [-1, 1].
fn interval(value: f64, of_blocks: &[f64]) -> Option<[f64; 2]> {
    let n = of_blocks.len() as f64;
    if of_blocks.len() < N_BLOCKS {
        return None;
    }
    let mean = of_blocks.iter().sum::<f64>() / n;
    let variance = of_blocks.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = QUANTILE * (variance / n).sqrt();
    Some([(value - half).max(-1.0), (value + half).min(1.0)])
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use unbraid_data::Seed;

    use super::*;

    /// Under one loss.
    fn pool(ground: Vec<f64>, perceived: Vec<f64>, group_sizes: Vec<usize>) -> Pool {
        let round_shares = vec![GROUND_SHARE];
        Pool { ground, perceived: vec![perceived], round_shares, group_sizes, are_all: false, n_values: None }
    }

    fn of(pool: &Pool, coincident: Coincident) -> Correlations {
        correlations(pool, &Classes::of(pool), 0, coincident)
    }

    #[test]
    fn a_traversal_worked_by_hand() {
        // As in the metric: places 0, 1, 2 that look 0, 1, 5: Pearson 110 / sqrt(44 * 356), Spearman sqrt(52.5 / 56.5).
        let pool = pool(vec![1.0, 2.0, 1.0], vec![1.0, 5.0, 4.0], vec![3]);
        let found = of(&pool, Coincident::WithinGroups);
        let wanted = 110.0 / (44.0_f64 * 356.0).sqrt();
        assert!((found.pearson.unwrap().value - wanted).abs() < 1e-12);
        assert!((found.spearman.unwrap().value - (52.5_f64 / 56.5).sqrt()).abs() < 1e-12);
        // A third of nine ordered pairs are an image with itself.
        let by_share = of(&pool, Coincident::Share(1.0 / 3.0));
        assert!((by_share.pearson.unwrap().value - wanted).abs() < 1e-12);
        // Without them: 1, 5, 4 against 1, 2, 1 have deviations -7/3, 5/3, 2/3 and -1/3, 2/3, -1/3.
        let wanted = (7.0 + 10.0 - 2.0) / ((49.0_f64 + 25.0 + 4.0) * (1.0 + 4.0 + 1.0)).sqrt();
        assert!((of(&pool, Coincident::None).pearson.unwrap().value - wanted).abs() < 1e-12);
    }

    #[test]
    fn constant_distances_have_a_reason() {
        let found = of(&pool(vec![1.0, 2.0, 1.0], vec![0.5; 3], vec![3]), Coincident::None);
        assert_eq!(found.spearman.unwrap_err(), "all pairs look equally far apart");
    }

    #[test]
    fn order_is_looked_at_within_groups() {
        let order = |ground: Vec<f64>, perceived: Vec<f64>, group_sizes: Vec<usize>| {
            let pool = pool(ground, perceived, group_sizes);
            order_within_groups(&pool, &Classes::of(&pool), 0)
        };
        // A dark and a bright object at places 0, 1, 3: each perfectly ordered, though near bright ones look farther apart than far dark ones.
        let places = [1.0, 3.0, 2.0];
        let bright = places.map(|distance| 10.0 * distance);
        let found = order([places, places].concat(), [places, bright].concat(), vec![3, 3]);
        assert!((found.unwrap().value - 1.0).abs() < 1e-12);
        // One ordered, one the other way round, one all alike, one a pair: (1 - 1 + 0) / 3.
        let perceived = [vec![1.0, 3.0, 2.0], vec![-1.0, -3.0, -2.0], vec![5.0; 3], vec![9.0]].concat();
        let shifted: Vec<f64> = perceived.iter().map(|distance| distance + 4.0).collect();
        let found = order([&places[..], &places, &places, &[1.0]].concat(), shifted, vec![3, 3, 3, 2]);
        assert!(found.unwrap().value.abs() < 1e-12);
        assert_eq!(
            order(vec![1.0], vec![2.0], vec![2]),
            Err("no three images differ in this factor alone, by different amounts".to_string())
        );
    }

    /// Pairs of a group share images: each has a number `a` that counts for both distances and a `b` that counts for one, so that the
    /// correlation is `1 / sqrt(2)`, within the interval in about 95 of 100 experiments.
    #[test]
    fn intervals_hold_what_they_promise() {
        let truth = 0.5_f64.sqrt();
        let mut n_within = 0;
        for experiment in 0..200 {
            let mut rng = Seed(experiment).stream("experiment");
            let mut normal = || (0..12).map(|_| rng.random_range(0.0..1.0)).sum::<f64>() - 6.0 + 10.0;
            let (mut ground, mut seen) = (Vec::new(), Vec::new());
            for _ in 0..320 {
                let images: [[f64; 2]; 4] = std::array::from_fn(|_| [normal(), normal()]);
                for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                    let [a, b] = [0, 1].map(|part| images[i][part] + images[j][part]);
                    ground.push(a);
                    seen.push(a + b);
                }
            }
            let pool = pool(ground, seen, vec![4; 320]);
            let [low, high] = of(&pool, Coincident::None).pearson.unwrap().interval.unwrap();
            n_within += usize::from(low <= truth && truth <= high);
        }
        assert!((180..=198).contains(&n_within), "{n_within} of 200");
    }
}
