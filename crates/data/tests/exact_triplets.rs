//! Triplets by scaled L1 distance against exact fractions, on the factors of real datasets.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::cmp::Ordering;
use std::sync::Arc;

use rand::RngExt;
use toml::Table;
use unbraid_data::factor_space::values_of;
use unbraid_data::samplers::{Example, build};
use unbraid_data::{Seed, Split, datasets};

const N_TRIPLETS: usize = 1_000_000;

/// A fraction that is never shortened.
#[derive(Clone, Copy)]
struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    fn plus(self, other: Self) -> Self {
        Self {
            numerator: self.numerator * other.denominator + other.numerator * self.denominator,
            denominator: self.denominator * other.denominator,
        }
    }

    fn compared(self, other: Self) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

/// How many values two images are apart in each factor, and how many they can be.
fn apart(one: usize, other: usize, sizes: &[usize]) -> Vec<(i128, i128)> {
    let (one, other) = (values_of(one, sizes), values_of(other, sizes));
    (0..sizes.len())
        .map(|factor| ((one[factor] as i128 - other[factor] as i128).abs(), sizes[factor] as i128 - 1))
        .collect()
}

/// T1, equation 5.11.
fn exact_distance(one: usize, other: usize, sizes: &[usize]) -> Fraction {
    let terms = apart(one, other, sizes).into_iter().filter(|(_, most)| *most > 0);
    terms.fold(Fraction { numerator: 0, denominator: 1 }, |sum, (numerator, denominator)| {
        sum.plus(Fraction { numerator, denominator })
    })
}

/// The same in 64-bit floats, factor by factor.
fn double_distance(one: usize, other: usize, sizes: &[usize]) -> f64 {
    apart(one, other, sizes).into_iter().map(|(steps, most)| steps as f64 / most.max(1) as f64).sum()
}

/// The same in 32-bit floats, factor by factor.
fn single_distance(one: usize, other: usize, sizes: &[usize]) -> f64 {
    let terms = apart(one, other, sizes).into_iter().map(|(steps, most)| steps as f32 / most.max(1) as f32);
    f64::from(terms.sum::<f32>())
}

/// How many of the triplets of a dataset are in another order than by exact fractions.
fn n_misordered(dataset: &str, ties: &str) -> usize {
    let dataset = datasets::build(dataset, &Table::new()).unwrap();
    let sizes = dataset.factors().grid_sizes().unwrap();
    let split = Arc::new(Split::all(dataset.n_images()));
    let settings = format!("distance = 'scaled_l1'\nties = '{ties}'").parse().unwrap();
    let sampler = build("triplet", &settings, dataset.factors(), &split).unwrap();
    let mut rng = Seed(12).stream("triplets");
    let mut example = Example::new(3);
    let is_misordered = |_: &usize| {
        let anchor = rng.random_range(0..dataset.n_images());
        sampler.draw(anchor, &mut rng, &mut example).unwrap();
        let [near, far] = [1, 2].map(|member| exact_distance(anchor, example.images[member], &sizes));
        match near.compared(far) {
            Ordering::Less => false,
            Ordering::Equal => ties == "redraw",
            Ordering::Greater => true,
        }
    };
    (0..N_TRIPLETS).filter(is_misordered).count()
}

#[test]
fn no_triplet_is_misordered() {
    for dataset in ["xy_squares", "dsprites", "xy_object"] {
        assert_eq!(n_misordered(dataset, "redraw"), 0, "{dataset}");
    }
    assert_eq!(n_misordered("xy_squares", "keep"), 0);
}

/// The share of a million triplets of `xy_squares` that are in another order by this distance than by exact fractions.
fn share_misordered(distance: fn(usize, usize, &[usize]) -> f64) -> f64 {
    let sizes = datasets::build("xy_squares", &Table::new()).unwrap().factors().grid_sizes().unwrap();
    let n_images: usize = sizes.iter().product();
    let mut rng = Seed(12).stream("floats");
    let is_misordered = |_: &usize| {
        let [anchor, first, second] = [(); 3].map(|()| rng.random_range(0..n_images));
        let exact = exact_distance(anchor, first, &sizes).compared(exact_distance(anchor, second, &sizes));
        let is_farther = distance(anchor, first, &sizes) > distance(anchor, second, &sizes);
        is_farther != (exact == Ordering::Greater)
    };
    (0..N_TRIPLETS).filter(is_misordered).count() as f64 / N_TRIPLETS as f64
}

/// T1 5.2.4 says 1.4 % and disent 1.389 %, counted on 100,000 triplets, which is what 32 bits give; 64 bits give 1.2 %. Five deviations of
/// such a share among a million are 0.0006.
#[test]
fn floats_would_misorder_one_triplet_of_seventy_or_eighty() {
    let [single, double] = [single_distance, double_distance].map(share_misordered);
    assert!((single - 0.0136).abs() < 0.0006, "{single}");
    assert!((double - 0.0121).abs() < 0.0006, "{double}");
}
