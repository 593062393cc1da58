//! What the distances of a dataset's images say, factor by factor and at random (T1 tables 3.1, 4.1 and 4.2), under several losses.

use ndarray::Array2;
use unbraid_data::{Dataset, Error, Result, Seed};

use crate::estimate::{Classes, Coincident, Correlations, Estimate, correlations, order_within_groups};
use crate::groups::{Groups, Limits};
use crate::losses::Loss;
use crate::pool::Pool;

/// How many images T1 draws its random pairs from, with replacement: one pair in 32 is an image with itself.
const T1_GROUP: f64 = 32.0;
/// Distances that vary by less than this share of their mean do not vary.
const LEAST_VARIATION: f64 = 1e-4;
/// Points of a cumulative curve.
const N_POINTS: usize = 400;

/// How a dataset is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How many pairs are compared.
    pub limits: Limits,
    /// Decides which, where not all are.
    pub seed: Seed,
}

impl Settings {
    /// What is done within a minute, about: 262,144 pairs are drawn, and all are compared where there are no more than these, or under losses of single
    /// pixels no more than 1,048,576, as many as T1 table 4.1 draws.
    pub fn suited_to(losses: &[Loss]) -> Self {
        let n_pairs = 1 << 18;
        let most_pairs = if losses.iter().all(Loss::is_of_pixels) { 1 << 20 } else { n_pairs };
        Self { limits: Limits { n_pairs, most_pairs }, seed: Seed(1) }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The losses, in the order of what was found under each.
    pub losses: Vec<Loss>,
    /// Of pairs along each factor.
    pub factors: Vec<OfFactor>,
    /// Of pairs of images drawn independently.
    pub random: OfPairs,
    /// Of random pairs as T1 draws them, from groups of 32 images with replacement.
    pub random32: OfPairs,
}

/// What was found along a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct OfFactor {
    /// The factor.
    pub name: String,
    /// How many values it has; none for a continuous one.
    pub size: Option<usize>,
    /// Whether its values have an order, unlike shapes.
    pub has_order: bool,
    /// What was found, or why nothing could be.
    pub pairs: std::result::Result<OfPairs, String>,
}

/// What was found of some pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct OfPairs {
    /// How many pairs of different images were compared.
    pub n_pairs: usize,
    /// Whether these are all.
    pub are_all: bool,
    /// Under each loss.
    pub under: Vec<UnderLoss>,
    /// The mean distance of each two values of the factor, where all groups have an image of each, `[values, values]`; under each loss.
    pub matrices: Vec<Array2<f64>>,
}

/// What was found of some pairs under a loss.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderLoss {
    /// The mean distance of different images, along a factor of different values (T1 equations 3.9 and 3.10).
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Whether all are equally far apart: constant overlap.
    pub is_constant: bool,
    /// With the distances of the factors, an image with itself being a pair as in T1.
    pub correlations: Correlations,
    /// The share of pairs that look about as far apart as the farthest of their group: 1 where all do, 0 where none but the farthest does.
    pub saturated: f64,
    /// Spearman's correlation of different images within groups, on average: whether those that differ more look so.
    pub order: std::result::Result<Estimate, String>,
    /// Distances and the share of pairs that are at most as far apart (T1 figure 3.13).
    pub cumulative: Vec<(f64, f64)>,
}

/// Looks at a dataset. `heard` is told what is looked at and how much of it is done, of how much.
pub fn examine(
    dataset: &dyn Dataset,
    losses: &[Loss],
    settings: Settings,
    mut heard: impl FnMut(&str, usize, usize),
) -> Result<Findings> {
    check(dataset)?;
    let unordered = dataset.unordered_factors();
    let mut factors = Vec::new();
    for (position, factor) in dataset.factors().factors().iter().enumerate() {
        let pairs = match Groups::along(dataset, position, settings.limits, settings.seed) {
            Err(reason) => Err(reason),
            Ok(groups) => {
                let n_groups = groups.of_images.len();
                let pool = Pool::compare(dataset, &groups, losses, |done| heard(&factor.name, done, n_groups))?;
                Ok(of_pairs(&pool, &Classes::of(&pool), Coincident::WithinGroups))
            }
        };
        let has_order = !unordered.contains(&position);
        factors.push(OfFactor { name: factor.name.clone(), size: factor.size, has_order, pairs });
    }
    let [random, random32] = at_random(dataset, losses, settings, |done, total| heard("random", done, total))?;
    Ok(Findings { losses: losses.to_vec(), factors, random, random32 })
}

/// What is found of random pairs alone: drawn independently, and as T1 draws them.
pub fn at_random(
    dataset: &dyn Dataset,
    losses: &[Loss],
    settings: Settings,
    mut heard: impl FnMut(usize, usize),
) -> Result<[OfPairs; 2]> {
    check(dataset)?;
    let groups = Groups::at_random(dataset, settings.limits, settings.seed);
    let n_groups = groups.of_images.len();
    let pool = Pool::compare(dataset, &groups, losses, |done| heard(done, n_groups))?;
    let classes = Classes::of(&pool);
    let random = of_pairs(&pool, &classes, Coincident::None);
    // An image may also be drawn twice.
    let share = 1.0 / T1_GROUP + (1.0 - 1.0 / T1_GROUP) / dataset.n_images() as f64;
    let mut random32 = random.clone();
    for (loss, under) in random32.under.iter_mut().enumerate() {
        under.correlations = correlations(&pool, &classes, loss, Coincident::Share(share));
    }
    Ok([random, random32])
}

fn check(dataset: &dyn Dataset) -> Result<()> {
    if dataset.factors().n_factors() == 0 {
        return Err(Error::new("the images have no factors, which their distances could follow").help(
            "this needs a dataset with factors: an .npz file with an array `factors`, or a folder with sub-folders or a CSV file",
        ));
    }
    if dataset.n_images() < 2 {
        return Err(Error::new("there is one image, and nothing to compare it with").help("wanted at least two"));
    }
    Ok(())
}

fn of_pairs(pool: &Pool, classes: &Classes, coincident: Coincident) -> OfPairs {
    OfPairs {
        n_pairs: pool.ground.len(),
        are_all: pool.are_all,
        under: (0..pool.perceived.len()).map(|loss| under_loss(pool, classes, loss, coincident)).collect(),
        matrices: pool.perceived.iter().filter_map(|distances| mean_matrix(pool, distances)).collect(),
    }
}

fn under_loss(pool: &Pool, classes: &Classes, loss: usize, coincident: Coincident) -> UnderLoss {
    let distances = &pool.perceived[loss];
    // Along a factor those of different values count: a labelled sample has many images of one value.
    let apart: Vec<f64> = match coincident {
        Coincident::WithinGroups => distances
            .iter()
            .zip(&pool.ground)
            .filter(|(_, ground)| **ground > 0.0)
            .map(|(distance, _)| *distance)
            .collect(),
        _ => distances.clone(),
    };
    let n = apart.len().max(1) as f64;
    let mean = apart.iter().sum::<f64>() / n;
    let deviation = (apart.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / n).sqrt();
    UnderLoss {
        mean,
        deviation,
        is_constant: deviation_within_groups(pool, distances).unwrap_or(deviation) <= LEAST_VARIATION * mean,
        correlations: correlations(pool, classes, loss, coincident),
        saturated: saturated(pool, distances),
        order: order_within_groups(pool, classes, loss),
        cumulative: cumulative(&apart),
    }
}

/// How much the distances of a group differ among themselves, groups of three images and more: traversals of large and of small objects may differ
/// from each other.
fn deviation_within_groups(pool: &Pool, distances: &[f64]) -> Option<f64> {
    let (mut rest, mut squares, mut n) = (distances, 0.0, 0);
    for size in &pool.group_sizes {
        let (group, others) = rest.split_at(size * (size - 1) / 2);
        rest = others;
        if group.len() > 1 {
            let mean = group.iter().sum::<f64>() / group.len() as f64;
            squares += group.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>();
            n += group.len();
        }
    }
    (n > 0).then(|| (squares / n as f64).sqrt())
}

/// What counts as about as far apart as the farthest.
const NEARLY: f64 = 0.98;

fn saturated(pool: &Pool, distances: &[f64]) -> f64 {
    let (mut rest, mut n_far, mut n) = (distances, 0, 0);
    for size in pool.group_sizes.iter().copied() {
        let (group, others) = rest.split_at(size * (size - 1) / 2);
        rest = others;
        if group.len() > 1 {
            let farthest = group.iter().copied().fold(0.0, f64::max);
            // The farthest one itself is no sign of anything.
            n_far += group.iter().filter(|distance| **distance >= NEARLY * farthest).count() - 1;
            n += group.len() - 1;
        }
    }
    if n == 0 { 0.0 } else { n_far as f64 / n as f64 }
}

/// The mean distance of each two values over all groups, where all have an image of each.
fn mean_matrix(pool: &Pool, distances: &[f64]) -> Option<Array2<f64>> {
    let size = pool.n_values?;
    let n_pairs = size * (size - 1) / 2;
    let mut sums = vec![0.0; n_pairs];
    for group in distances.chunks_exact(n_pairs) {
        sums.iter_mut().zip(group).for_each(|(sum, distance)| *sum += distance);
    }
    let mut matrix = Array2::zeros((size, size));
    let places = (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j)));
    for ((i, j), sum) in places.zip(sums) {
        let mean = sum / pool.group_sizes.len() as f64;
        matrix[(i, j)] = mean;
        matrix[(j, i)] = mean;
    }
    Some(matrix)
}

/// Corners of the curve: at most so many, evenly spread over the distances that there are, and all where there are few.
fn cumulative(distances: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = distances.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let ends = (0..n).filter(|&place| place + 1 == n || sorted[place] < sorted[place + 1]);
    let ends: Vec<usize> = ends.collect();
    let step = ends.len().div_ceil(N_POINTS).max(1);
    let last = ends.len().saturating_sub(1);
    for (index, &place) in ends.iter().enumerate() {
        if index % step == 0 || index == last {
            points.push((sorted[place], (place + 1) as f64 / n as f64));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use unbraid_data::datasets;

    use super::*;

    fn findings(name: &str, settings: &str, losses: &[&str]) -> Findings {
        let dataset = datasets::build(name, &settings.parse().unwrap()).unwrap();
        let losses: Vec<Loss> = losses.iter().map(|name| Loss::parse(name).unwrap()).collect();
        examine(&*dataset, &losses, Settings::suited_to(&losses), |_, _, _| ()).unwrap()
    }

    /// The numbers of `xy_squares` do not depend on how many squares there are, so one is enough along a factor.
    #[test]
    fn squares_by_spacing_are_as_worked_out_exactly() {
        let exact = [
            (1, 1.0, 1.0),
            (2, 0.9444, 0.9858),
            (3, 0.8563, 0.9494),
            (4, 0.7538, 0.8507),
            (5, 0.7228, 0.8507),
            (6, 0.6729, 0.8507),
            (7, 0.6046, 0.8507),
            (8, 0.5222, 0.5804),
        ];
        for (spacing, linear, rank) in exact {
            let found = findings("xy_squares", &format!("squares = 1\ngrid = 8\nspacing = {spacing}"), &["mse"]);
            for factor in &found.factors {
                let pairs = factor.pairs.as_ref().unwrap();
                assert!(pairs.are_all);
                let Correlations { pearson, spearman } = pairs.under[0].correlations.clone();
                let (pearson, spearman) = (pearson.unwrap(), spearman.unwrap());
                assert!((pearson.value - linear).abs() < 5e-5, "{spacing}: {pearson:?}");
                assert!((spearman.value - rank).abs() < 5e-5, "{spacing}: {spearman:?}");
                assert_eq!(pearson.interval, None);
                assert_eq!(pairs.under[0].is_constant, spacing == 8);
            }
        }
    }

    #[test]
    fn distances_by_hand() {
        // Squares of 8 x 8 that do not overlap differ in 128 of an image's numbers.
        let found = findings("xy_squares", "squares = 1\nrgb = false", &["mse"]);
        let pairs = found.factors[0].pairs.as_ref().unwrap();
        assert_eq!((pairs.under[0].mean, pairs.under[0].deviation), (128.0 / 4096.0, 0.0));
        assert_eq!(
            (pairs.matrices[0].dim(), pairs.matrices[0][(3, 3)], pairs.matrices[0][(2, 7)]),
            ((8, 8), 0.0, 0.03125)
        );
        assert_eq!(pairs.under[0].cumulative, [(0.03125, 1.0)]);
        assert_eq!(pairs.under[0].order, Ok(Estimate { value: 0.0, interval: None }));
        assert_eq!(pairs.under[0].saturated, 1.0);
        // Squares that overlap with their next neighbours alone: of 28 pairs 21 are far, one of which is the farthest.
        let found = findings("xy_squares", "squares = 1\nrgb = false\ngrid = 8\nspacing = 7", &["mse"]);
        let saturated = found.factors[0].pairs.as_ref().unwrap().under[0].saturated;
        assert!((saturated - 20.0 / 27.0).abs() < 1e-12, "{saturated}");
    }

    #[test]
    fn random_pairs_drawn_as_t1_draws_them_by_hand() {
        // Four images, at the corners of a square: of two different ones two in three are 1 apart and one in three is 2 apart, and all look equally
        // far apart. From groups of 32 that are drawn with replacement, two are different with probability q = 31/32 * 3/4. So
        // covariance 4/3 q (1 - q), variances q (1 - q) and 2 q - (4/3 q)^2.
        let found = findings("xy_squares", "squares = 1\nrgb = false\ngrid = 2\nspacing = 20", &["mse"]);
        let q: f64 = 31.0 / 32.0 * 0.75;
        let wanted = 4.0 / 3.0 * q * (1.0 - q) / (q * (1.0 - q) * (2.0 * q - 16.0 / 9.0 * q * q)).sqrt();
        let pearson = found.random32.under[0].correlations.pearson.clone().unwrap();
        assert!((pearson.value - wanted).abs() < 1e-12, "{pearson:?} {wanted}");
        let apart = found.random.under[0].correlations.pearson.clone();
        assert_eq!(apart, Err("all pairs look equally far apart".to_string()));
    }

    #[test]
    fn pairs_alone_are_no_constant_overlap() {
        // A sample in which single pairs differ in one factor alone.
        let settings = "squares = 1\ngrid = 8\nspacing = 1\nsubset = { count = 6, seed = 2 }";
        let found = findings("xy_squares", settings, &["mse"]);
        for factor in found.factors.iter().filter(|factor| factor.pairs.is_ok()) {
            let pairs = factor.pairs.as_ref().unwrap();
            assert!(pairs.matrices.is_empty());
            assert!(pairs.n_pairs == 1 || !pairs.under[0].is_constant, "{pairs:?}");
        }
    }

    #[test]
    fn few_values_have_all_their_corners() {
        assert_eq!(cumulative(&[2.0, 1.0, 2.0, 4.0]), [(1.0, 0.25), (2.0, 0.75), (4.0, 1.0)]);
        let many: Vec<f64> = (0..10_000).map(f64::from).collect();
        let points = cumulative(&many);
        assert!(points.len() <= N_POINTS + 1 && points.last() == Some(&(9999.0, 1.0)));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let message = |name: &str, settings: &str| {
            let dataset = datasets::build(name, &settings.parse().unwrap()).unwrap();
            examine(&*dataset, &[], Settings::suited_to(&[]), |_, _, _| ()).unwrap_err().to_string()
        };
        let one = "squares = 1\nsubset = { count = 1 }";
        assert!(message("xy_squares", one).starts_with("there is one image"), "{}", message("xy_squares", one));
    }
}
