//! `triplet`: an image, one that is near and one that is farther by a distance of their factors. For metric learning.
//!
//! Michlo 2022 (T1), section 5.2. The anchor is given and two train images are drawn, each uniformly (either may be the anchor
//! itself); the nearer is the positive, the other the negative (equation 5.3). The distance is one of four:
//!
//! | `distance` | of y and y' over factors i with sizes f | T1 |
//! |---|---|---|
//! | `scaled_l1` | sum of \|y_i - y'_i\| / (f_i - 1) | 5.11 |
//! | `l1` | sum of \|y_i - y'_i\| | 3.1, 5.9 |
//! | `factors_differing` | how many y_i differ from y'_i | 5.6 |
//! | `category` | whether one factor, the class, differs | 5.5 |
//!
//! Fractions are compared in whole numbers, over the least common multiple of all f_i - 1: in sums of floats, equal distances come
//! out unequal. 1.4 % of the triplets of `xy_squares` are misordered so with 32 bits, which does harm (T1 5.2.4), and 1.2 % with 64
//! (`data/tests/exact_triplets.rs`). A factor with one value never differs and takes no part.
//!
//! T1 draws anew where both distances are the same (`ties = "redraw"`). The published code (disent, `GroundTruthDistSampler`)
//! does not, and the image that was drawn first is the positive (`ties = "keep"`); it has exact fractions too.

use std::cmp::Ordering;
use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Entry, Example, MOST_TRIES, Sampler};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::seed::Rng;
use crate::settings::{self, Setting, Values};
use crate::split::Split;

/// How images are ordered; the defaults are the thesis's.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    distance: DistanceName,
    /// The factor that is the class where the distance is `category`; the first with more than one value where left out.
    category: Option<String>,
    ties: Ties,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DistanceName {
    #[default]
    ScaledL1,
    L1,
    FactorsDiffering,
    Category,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ties {
    /// Both images are drawn anew.
    #[default]
    Redraw,
    /// The image that was drawn first is the positive.
    Keep,
}

/// A distance of two images, in whole numbers: the sum over factors of `weight * |y - y'|`, or of `weight * [y != y']`.
struct Distance {
    /// The size and the weight of each factor, the last factor first: in that order an image's number gives its values away.
    factors: Vec<(usize, u64)>,
    counts: Counts,
    /// What the sum is divided by to give the distance of the paper.
    denominator: u64,
}

/// What of a factor is counted.
#[derive(PartialEq)]
enum Counts {
    Steps,
    Differences,
}

impl Distance {
    fn new(settings: &Settings, factors: &FactorSpace) -> Result<Self> {
        let sizes = factors.grid_sizes()?;
        let varying = factors.numbering()?.varying();
        let Some(&first_varying) = varying.first() else {
            return Err(Error::new("no factor has two values, so no image is nearer than another"));
        };
        let class = match &settings.category {
            None => first_varying,
            Some(name) => class(name, settings.distance, factors, &varying)?,
        };
        let (counts, denominator) = match settings.distance {
            DistanceName::ScaledL1 => (Counts::Steps, common_denominator(&sizes)?),
            DistanceName::L1 => (Counts::Steps, 1),
            DistanceName::FactorsDiffering | DistanceName::Category => (Counts::Differences, 1),
        };
        let weight = |factor: usize| match settings.distance {
            DistanceName::ScaledL1 if sizes[factor] > 1 => denominator / (sizes[factor] as u64 - 1),
            DistanceName::Category => u64::from(factor == class),
            _ => 1,
        };
        let factors = (0..sizes.len()).rev().map(|factor| (sizes[factor], weight(factor))).collect();
        Ok(Self { factors, counts, denominator })
    }

    /// The distance, times the denominator.
    fn between(&self, mut one: usize, mut other: usize) -> u64 {
        let mut sum = 0;
        for &(size, weight) in &self.factors {
            let steps = (one % size).abs_diff(other % size) as u64;
            sum += weight * if self.counts == Counts::Steps { steps } else { steps.min(1) };
            (one, other) = (one / size, other / size);
        }
        sum
    }

    /// The distance as a fraction in lowest terms: `9/7`, `2`; of one that nobody reads so, four decimals.
    fn shown(&self, one: usize, other: usize) -> String {
        let sum = self.between(one, other);
        let divisor = greatest_common_divisor(sum, self.denominator);
        match self.denominator / divisor {
            1 => (sum / divisor).to_string(),
            denominator if denominator < 100 => format!("{}/{denominator}", sum / divisor),
            _ => format!("{:.4}", sum as f64 / self.denominator as f64),
        }
    }
}

/// The position of the factor that is the class.
fn class(name: &str, distance: DistanceName, factors: &FactorSpace, varying: &[usize]) -> Result<usize> {
    let position = factors.position(name).map_err(|error| error.of("setting \"category\":"))?;
    if distance != DistanceName::Category {
        return Err(Error::new(format!("setting \"category\" is \"{name}\", but the distance has no class"))
            .help("set distance = \"category\", or leave \"category\" out"));
    }
    if !varying.contains(&position) {
        return Err(Error::new(format!("setting \"category\" is \"{name}\", which has one value"))
            .help("wanted a factor with two values or more"));
    }
    Ok(position)
}

/// The least common multiple of all `size - 1`. The largest distance, in which each factor adds it once, also fits.
fn common_denominator(sizes: &[usize]) -> Result<u64> {
    let mut multiple = 1_u64;
    let all_steps = sizes.iter().map(|&size| size as u64 - 1).filter(|&steps| steps > 0);
    for (n_added, steps) in (1_u64..).zip(all_steps) {
        let larger = (multiple / greatest_common_divisor(multiple, steps)).checked_mul(steps);
        let fits = |larger: &u64| larger.checked_mul(n_added).is_some();
        multiple = larger.filter(fits).ok_or_else(|| {
            Error::new(format!("factors of sizes {sizes:?} have scaled distances beyond whole numbers of 64 bits"))
                .help("hold a factor at a value (`fix` of the dataset), or set distance = \"l1\"")
        })?;
    }
    Ok(multiple)
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

struct Triplet {
    distance: Distance,
    ties: Ties,
    split: Arc<Split>,
}

impl Sampler for Triplet {
    fn arity(&self) -> usize {
        3
    }

    fn draw(&self, anchor: usize, rng: &mut Rng, example: &mut Example) -> Result<()> {
        let train = self.split.train();
        for _ in 0..MOST_TRIES {
            let [first, second] = [(); 2].map(|()| train.number(rng.random_range(0..train.len())));
            let order = self.distance.between(anchor, first).cmp(&self.distance.between(anchor, second));
            let [positive, negative] = match order {
                Ordering::Equal if self.ties == Ties::Redraw => continue,
                Ordering::Less | Ordering::Equal => [first, second],
                Ordering::Greater => [second, first],
            };
            example.images.copy_from_slice(&[anchor, positive, negative]);
            return Ok(());
        }
        Err(Error::new(format!(
            "found no two train images at different distances from image {anchor}, in {MOST_TRIES} tries"
        ))
        .help("train on a larger share of the images (\"split.train\"), or set another \"distance\" of the sampler"))
    }

    fn note(&self, images: &[usize], member: usize) -> Option<String> {
        (member > 0).then(|| format!("distance {}", self.distance.shown(images[0], images[member])))
    }
}

fn build(table: &Table, factors: &FactorSpace, split: &Arc<Split>) -> Result<Box<dyn Sampler>> {
    let settings: Settings = settings::read(table)?;
    Ok(Box::new(Triplet { distance: Distance::new(&settings, factors)?, ties: settings.ties, split: split.clone() }))
}

/// The row in the list of samplers.
pub const ENTRY: Entry = Entry {
    name: "triplet",
    about: "An image, a near and a farther one by a distance of their factors, for metric learning",
    paper: "Michlo, thesis 5.2",
    members: &["anchor", "positive", "negative"],
    tells_shared: false,
    settings: &[
        Setting {
            name: "distance",
            values: Values::OneOf(&["scaled_l1", "l1", "factors_differing", "category"]),
            meaning: "by which the nearer of two images is the positive; fractions are compared exactly",
        },
        Setting {
            name: "category",
            values: Values::Words("the name of a factor"),
            meaning: "the class for distance = \"category\"; where left out, the first factor with more than one value",
        },
        Setting {
            name: "ties",
            values: Values::OneOf(&["redraw", "keep"]),
            meaning: "whether images at the same distance are drawn anew, or kept in the order in which they were drawn",
        },
    ],
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::super::tests::assert_frequencies;
    use super::*;
    use crate::factor_space::{Factor, values_of};
    use crate::seed::Seed;
    use crate::split::Fractions;

    const SIZES: [usize; 4] = [3, 1, 5, 2];

    fn space() -> FactorSpace {
        FactorSpace::grid([("shape", 3), ("still", 1), ("x", 5), ("y", 2)])
    }

    fn all() -> Arc<Split> {
        Arc::new(Split::all(30))
    }

    fn built(settings: &str, split: &Arc<Split>) -> Box<dyn Sampler> {
        build(&settings.parse().unwrap(), &space(), split).unwrap()
    }

    fn drawn(sampler: &dyn Sampler, anchor: usize, rng: &mut Rng) -> Vec<usize> {
        let mut example = Example::new(3);
        sampler.draw(anchor, rng, &mut example).unwrap();
        example.images
    }

    fn message(settings: &str, factors: &FactorSpace) -> String {
        build(&settings.parse().unwrap(), factors, &all()).err().unwrap().to_string()
    }

    /// The distances of the paper times 4, which is a multiple of all sizes less one.
    fn quarters(distance: &str, one: usize, other: usize) -> usize {
        let apart: Vec<usize> =
            values_of(one, &SIZES).iter().zip(values_of(other, &SIZES)).map(|(a, b)| a.abs_diff(b)).collect();
        match distance {
            "scaled_l1" => apart[0] * 2 + apart[2] + apart[3] * 4,
            "l1" => apart.iter().sum(),
            "factors_differing" => apart.iter().filter(|&&steps| steps > 0).count(),
            _ => usize::from(apart[0] > 0),
        }
    }

    /// Holds 200,000 triplets of one anchor against the probability of each pair of positive and negative, worked out over all
    /// 30 x 30 draws.
    fn check_frequencies(distance: &str, ties: Ties) {
        let ties_name = if ties == Ties::Keep { "keep" } else { "redraw" };
        let sampler = built(&format!("distance = '{distance}'\nties = '{ties_name}'"), &all());
        let anchor = 14;
        let mut probabilities = vec![0.0; 900];
        for draw in 0..900 {
            let (first, second) = (draw / 30, draw % 30);
            let [near, far] = [first, second].map(|image| quarters(distance, anchor, image));
            if near != far || ties == Ties::Keep {
                let [positive, negative] = if near <= far { [first, second] } else { [second, first] };
                probabilities[positive * 30 + negative] += 1.0;
            }
        }
        let n_possible: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|probability| *probability /= n_possible);
        let mut rng = Seed(5).stream("test");
        let mut counts = vec![0; 900];
        for _ in 0..200_000 {
            let images = drawn(&*sampler, anchor, &mut rng);
            counts[images[1] * 30 + images[2]] += 1;
        }
        assert_frequencies(&counts, &probabilities);
    }

    #[test]
    fn every_triplet_is_as_likely_as_its_two_draws() {
        for distance in ["scaled_l1", "l1", "factors_differing", "category"] {
            check_frequencies(distance, Ties::Redraw);
            check_frequencies(distance, Ties::Keep);
        }
    }

    #[test]
    fn distances_by_hand() {
        // Image 0 has shape 0, x 0, y 0; image 29 has shape 2, x 4, y 1; image 13 has shape 1, x 1, y 1.
        let shown = |distance: &str| {
            let sampler = built(&format!("distance = '{distance}'"), &all());
            assert_eq!(sampler.note(&[0, 29, 13], 0), None);
            [1, 2].map(|member| sampler.note(&[0, 29, 13], member).unwrap())
        };
        // 1 + 1 + 1, and 1/2 + 1/4 + 1 = 7/4.
        assert_eq!(shown("scaled_l1"), ["distance 3", "distance 7/4"]);
        assert_eq!(shown("l1"), ["distance 7", "distance 3"]);
        assert_eq!(shown("factors_differing"), ["distance 3", "distance 3"]);
        assert_eq!(shown("category"), ["distance 1", "distance 1"]);
        // One step of each: 1/11 + 1/13 = 24/143.
        let space = FactorSpace::grid([("a", 12), ("b", 14)]);
        let sampler = build(&Table::new(), &space, &Arc::new(Split::all(168))).unwrap();
        assert_eq!(sampler.note(&[0, 15, 0], 1).unwrap(), "distance 0.1678");
    }

    #[test]
    fn the_class_can_be_chosen() {
        let sampler = built("distance = 'category'\ncategory = 'y'", &all());
        let mut rng = Seed(1).stream("test");
        for draw in 0..1000 {
            let images = drawn(&*sampler, draw % 30, &mut rng);
            assert!(images[0] % 2 == images[1] % 2 && images[0] % 2 != images[2] % 2, "{images:?}");
        }
    }

    #[test]
    fn all_images_are_train_images() {
        let split = Arc::new(Split::new(30, &Fractions { train: 0.4, ..Fractions::default() }).unwrap());
        let sampler = built("", &split);
        let mut rng = Seed(2).stream("test");
        for draw in 0..1000 {
            let anchor = split.train().number(draw % split.train().len());
            let images = drawn(&*sampler, anchor, &mut rng);
            assert!(images[0] == anchor && images.iter().all(|&image| split.train().contains(image)));
            assert!(quarters("scaled_l1", anchor, images[1]) < quarters("scaled_l1", anchor, images[2]));
        }
    }

    #[test]
    fn a_split_that_leaves_no_triplet_is_an_error_that_says_what_to_change() {
        // One train image of 30 is at distance 0 from itself.
        let split = Arc::new(Split::new(30, &Fractions { train: 0.04, ..Fractions::default() }).unwrap());
        let anchor = split.train().number(0);
        let mut rng = Seed(1).stream("test");
        let refused = built("", &split).draw(anchor, &mut rng, &mut Example::new(3)).unwrap_err().to_string();
        let expected = format!("found no two train images at different distances from image {anchor}, in 10000 tries");
        assert!(refused.starts_with(&expected) && refused.contains("\"split.train\""), "{refused}");
        assert_eq!(drawn(&*built("ties = 'keep'", &split), anchor, &mut rng), [anchor; 3]);
    }

    #[test]
    fn settings_that_cannot_be_met_are_refused() {
        let expected = "setting \"category\": no factor is called \"shap\"; did you mean \"shape\"?";
        assert!(message("distance = 'category'\ncategory = 'shap'", &space()).starts_with(expected));
        assert!(message("category = 'shape'", &space()).contains("the distance has no class"));
        assert!(message("distance = 'category'\ncategory = 'still'", &space()).contains("which has one value"));
        assert!(message("distance = 'l2'", &space()).contains("wanted one of scaled_l1, l1"));
        assert!(message("", &FactorSpace::grid([("still", 1)])).starts_with("no factor has two values"));
        let continuous = FactorSpace::sample(vec![Factor { name: "angle".to_string(), size: None }]);
        assert!(message("", &continuous).contains("do not form a grid"));
    }

    #[test]
    fn distances_that_whole_numbers_cannot_hold_are_refused() {
        // Neighbours share no divisor: the common denominator is nearly 2^64, and the largest distance twice that.
        let space = FactorSpace::grid([("a", 4_294_967_295), ("b", 4_294_967_294)]);
        let refused = message("", &space);
        assert!(refused.contains("beyond whole numbers of 64 bits") && refused.contains("distance = \"l1\""));
        assert!(build(&"distance = 'l1'".parse().unwrap(), &space, &all()).is_ok());
        // 2^62 fits twice, 2^63 does not.
        assert_eq!(common_denominator(&[1 << 62 | 1, 1, 2]).unwrap(), 1 << 62);
        assert!(common_denominator(&[1 << 63 | 1, 1, 2]).is_err());
    }
}
