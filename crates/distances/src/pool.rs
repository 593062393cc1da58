//! Distances of all pairs of some groups of images: of their factors, and as each loss sees them.

use rayon::prelude::*;
use unbraid_data::datasets::{read_factors, read_numbered};
use unbraid_data::{Dataset, Result};
use unbraid_kernels::{absolute_difference_of_bytes, bytes_of_pixels, numbers_of_bytes, squared_difference_of_bytes};

use crate::groups::Groups;
use crate::losses::Loss;
use crate::views::{Numbers, View, squared_differences};

/// Groups that are compared before the next ones; fixed, so that threads make no difference, and progress is heard of.
const AT_ONCE: usize = 256;

/// Distances of pairs of images, group after group, in each group of positions `(i, j)`, `i < j`, in ascending order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pool {
    /// L1 distances of the factors' values. `[pairs]`
    pub ground: Vec<f64>,
    /// As each loss sees them. `[losses][pairs]`
    pub perceived: Vec<Vec<f64>>,
    /// To which share of the largest they are rounded before they are ranked. `[losses]`
    pub round_shares: Vec<f64>,
    /// How many images each group has.
    pub group_sizes: Vec<usize>,
    /// Whether these are all pairs that there are.
    pub are_all: bool,
    /// How many values the factor has, where each group has an image of each, in their order.
    pub n_values: Option<usize>,
}

impl Pool {
    /// Compares all pairs of all groups. `heard` is told how many groups are done.
    pub fn compare(
        dataset: &dyn Dataset,
        groups: &Groups,
        losses: &[Loss],
        mut heard: impl FnMut(usize),
    ) -> Result<Self> {
        let comparer = Comparer::new(dataset, losses);
        let round_shares = comparer.views.iter().map(View::round_share).collect();
        let Groups { are_all, n_values, .. } = *groups;
        let perceived = vec![Vec::new(); losses.len()];
        let mut pool = Self { perceived, round_shares, are_all, n_values, ..Self::default() };
        for some in groups.of_images.chunks(AT_ONCE) {
            let compared: Vec<Result<Compared>> = some.par_iter().map(|images| comparer.compare(images)).collect();
            // The first error in order, whichever thread comes first.
            for (compared, images) in compared.into_iter().zip(some) {
                let Compared { ground, perceived } = compared?;
                pool.ground.extend(ground);
                pool.perceived.iter_mut().zip(perceived).for_each(|(all, distances)| all.extend(distances));
                pool.group_sizes.push(images.len());
            }
            heard(pool.group_sizes.len());
        }
        Ok(pool)
    }
}

struct Compared {
    ground: Vec<f64>,
    perceived: Vec<Vec<f64>>,
}

/// What is needed to compare the images of a dataset.
struct Comparer<'a> {
    dataset: &'a dyn Dataset,
    views: Vec<View>,
    /// Where pixels are bytes over 255, distances are in whole bytes, and exact.
    numbers: Numbers,
    unit: f64,
}

impl<'a> Comparer<'a> {
    fn new(dataset: &'a dyn Dataset, losses: &[Loss]) -> Self {
        let (numbers, unit) = if dataset.holds_bytes() { (Numbers::Bytes, 255.0) } else { (Numbers::Floats, 1.0) };
        let views = losses.iter().map(|loss| loss.view(dataset.image_shape(), numbers)).collect();
        Self { dataset, views, numbers, unit }
    }

    fn compare(&self, numbers: &[usize]) -> Result<Compared> {
        let n_values = self.dataset.image_shape().n_pixels();
        let mut images = vec![0.0; numbers.len() * n_values];
        for (image, number) in images.chunks_exact_mut(n_values).zip(numbers) {
            read_numbered(self.dataset, *number, image)?;
        }
        let bytes = match self.numbers {
            Numbers::Bytes => bytes_of_pixels(&images),
            Numbers::Floats => Vec::new(),
        };
        let pixels = match self.numbers {
            Numbers::Bytes => {
                numbers_of_bytes(&bytes, &mut images);
                Pixels::Bytes(&bytes, n_values)
            }
            Numbers::Floats => Pixels::Floats(&images, n_values),
        };
        // What all but absolute errors need, once.
        let squares = match self.views.iter().all(|view| matches!(view, View::Absolutes)) {
            true => Vec::new(),
            false => pixels.squares(),
        };
        let (unit, count) = (self.unit, n_values as f64);
        let perceived = self.views.iter().map(|view| match view {
            View::Squares => squares.iter().map(|sum| sum / (unit * unit * count)).collect(),
            View::Absolutes => pairs(numbers.len(), |i, j| pixels.absolutes(i, j) / (unit * count)),
            View::Filtered { filter, weight } => {
                let both = squares.iter().zip(squared_differences(&filter.differences(&images), n_values));
                both.map(|(sum, filtered)| (sum + weight * filtered) / (unit * unit * count)).collect()
            }
        });
        Ok(Compared { perceived: perceived.collect(), ground: self.ground(numbers) })
    }

    /// L1 distances of the factors' values.
    fn ground(&self, numbers: &[usize]) -> Vec<f64> {
        let factors = read_factors(self.dataset, numbers); // [images, factors]
        pairs(numbers.len(), |i, j| factors.row(i).iter().zip(factors.row(j)).map(|(a, b)| (a - b).abs()).sum())
    }
}

/// `of(i, j)` of all positions `i < j` below `n`.
fn pairs(n: usize, of: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| of(i, j)).collect()
}

/// The pixels of some images, as bytes where they are.
enum Pixels<'a> {
    Bytes(&'a [u8], usize),
    Floats(&'a [f32], usize),
}

impl Pixels<'_> {
    /// Of all pairs.
    fn squares(&self) -> Vec<f64> {
        match self {
            Self::Bytes(bytes, n) => {
                pairs(bytes.len() / n, |i, j| squared_difference_of_bytes(row(bytes, *n, i), row(bytes, *n, j)) as f64)
            }
            Self::Floats(floats, n) => {
                let rows: Vec<f64> = floats.iter().map(|value| f64::from(*value)).collect();
                squared_differences(&rows, *n)
            }
        }
    }

    fn absolutes(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Bytes(bytes, n) => absolute_difference_of_bytes(row(bytes, *n, i), row(bytes, *n, j)) as f64,
            Self::Floats(floats, n) => {
                let both = row(floats, *n, i).iter().zip(row(floats, *n, j));
                both.map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs()).sum()
            }
        }
    }
}

fn row<T>(values: &[T], n_values: usize, index: usize) -> &[T] {
    &values[index * n_values..(index + 1) * n_values]
}

#[cfg(test)]
mod tests {
    use unbraid_data::datasets;

    use super::*;

    #[test]
    fn squares_that_do_not_overlap_by_hand() {
        // Squares of 8 x 8 pixels, 14 pixels from place to place: two that differ have 128 of 4,096 pixels different.
        let settings = "squares = 1\nspacing = 14\nrgb = false".parse().unwrap();
        let dataset = datasets::build("xy_squares", &settings).unwrap();
        let losses = ["mse", "mae", "mse_box1"].map(|name| Loss::parse(name).unwrap());
        let groups = Groups { of_images: vec![vec![0, 1, 12]], are_all: false, n_values: None };
        let pool = Pool::compare(&*dataset, &groups, &losses, |_| ()).unwrap();
        assert_eq!(pool.ground, [1.0, 4.0, 3.0]); // (0, 0), (0, 1), (2, 2)
        let part = 128.0 / 4096.0;
        assert_eq!(pool.perceived[0], [part; 3]);
        assert_eq!(pool.perceived[1], [part; 3]);
        // Window sums of three by three around a square of eight by eight: along a side 1, 2, 3 six times, 2, 1; squares of these sum to
        // 1 + 4 + 54 + 4 + 1 = 64, and 64^2 = 4,096 for both sides together. Five places of 14 pixels fill an image, so that
        // the one in the corner loses its edge.
        let (inner, edge) = (64.0_f64, 63.0_f64);
        let weight = BLUR / 81.0;
        let blurred = |a: f64, b: f64| part + weight * (a + b) / 4096.0;
        let wanted = [
            blurred(edge * edge, edge * inner),
            blurred(edge * edge, inner * inner),
            blurred(edge * inner, inner * inner),
        ];
        for (found, wanted) in pool.perceived[2].iter().zip(wanted) {
            assert!((found / wanted - 1.0).abs() < 1e-6, "{found} {wanted}");
        }
    }

    const BLUR: f64 = crate::losses::BLUR_WEIGHT;

    #[test]
    fn threads_make_no_difference() {
        let dataset = datasets::build("xy_object", &toml::Table::new()).unwrap();
        let losses = ["mse", "mse_gaussian3"].map(|name| Loss::parse(name).unwrap());
        let limits = crate::groups::Limits { n_pairs: 4000, most_pairs: 0 };
        let groups = Groups::along(&*dataset, 1, limits, unbraid_data::Seed(1)).unwrap();
        let on = |threads: usize| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            threads.install(|| Pool::compare(&*dataset, &groups, &losses, |_| ()).unwrap())
        };
        assert!(on(1) == on(3));
    }
}
