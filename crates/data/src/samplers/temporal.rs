//! `temporal`: an image and the next one of a sequence in which factors change a little. For SlowVAE and contrastive learning.
//!
//! Klindt et al., "Towards Nonlinear Disentanglement in Natural Data with Temporal Sparse Coding", 2021 (SlowVAE), as its
//! published code draws the LAP data (bethgelab/slow_disentanglement). Each factor of the next image is drawn for itself, value
//! u' with a probability proportional to exp(-rate |u' - u| / ln f), where u is its value, f how many it has, and the rate is 1: a
//! Laplace distribution of scale ln(f) / rate on whole numbers, cut off where the values end. Where nothing changed,
//! one of the factors, all alike, takes another value by the same distribution without u. Factors that are classes, such
//! as the shape of dSprites, never change in the published data: name them in `fixed`.
//!
//! Departures: where values go round, as those of an orientation do, `wrap` measures the distance around the circle; the published
//! code does not. Factors with one value, which break it (ln 1 = 0), take no part. A next image that is no train image is
//! drawn again.

use std::sync::Arc;

use rand::RngExt;
use rand::distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Entry, Example, MOST_TRIES, Sampler};
use crate::error::{Error, Result};
use crate::factor_space::{FactorSpace, Numbering};
use crate::seed::Rng;
use crate::settings::{self, Setting, Values, check_range};
use crate::split::Split;

/// The rates that are taken. At the largest, only one factor changes, and by one step.
const RATES: (f64, f64) = (0.0, 1000.0);

/// How factors change; the rate is that of the published code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    rate: f64,
    /// Names of factors whose last value is beside the first.
    wrap: Vec<String>,
    /// Names of factors that never change.
    fixed: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rate: 1.0, wrap: Vec::new(), fixed: Vec::new() }
    }
}

/// How one factor changes: it stays with weight 1, and goes n steps to either side with weight `decay^n`.
struct Transition {
    /// The factor's position.
    factor: usize,
    size: usize,
    wraps: bool,
    /// Draws how far it goes, as a position among all steps from the most downwards to the most upwards; in constant time, however many
    /// there are.
    steps: WeightedAliasIndex<f64>,
    /// How many of these go downwards.
    n_downwards: usize,
    /// `reach[n]` is the weight of 1 to n steps to one side, in weights of one step: 1 + decay + ... + decay^(n-1). `[size]`. In
    /// these units it is not lost where `decay` is too small for a number.
    reach: Vec<f64>,
}

impl Transition {
    fn new(factor: usize, size: usize, rate: f64, wraps: bool) -> Self {
        let decay = (-rate / (size as f64).ln()).exp();
        let mut reach = vec![0.0];
        let mut weight = 1.0;
        for steps in 1..size {
            reach.push(reach[steps - 1] + weight);
            weight *= decay;
        }
        let [n_downwards, n_upwards] = if wraps { around(size) } else { [size - 1; 2] };
        let weights = (0..=n_downwards + n_upwards).map(|position| decay.powf(position.abs_diff(n_downwards) as f64));
        let steps = WeightedAliasIndex::new(weights.collect()).expect("weights are from 0 to 1, and one is 1");
        Self { factor, size, wraps, steps, n_downwards, reach }
    }

    /// How many steps there are from a value downwards and upwards.
    fn room(&self, value: usize) -> [usize; 2] {
        if self.wraps { around(self.size) } else { [value, self.size - 1 - value] }
    }

    /// The next value.
    fn draw(&self, value: usize, rng: &mut Rng) -> usize {
        loop {
            // Steps beyond the ends are drawn again: at least half the weight is within.
            let moved = value + self.steps.sample(rng);
            if self.wraps {
                return (moved + self.size - self.n_downwards) % self.size;
            } else if (self.n_downwards..self.n_downwards + self.size).contains(&moved) {
                return moved - self.n_downwards;
            }
        }
    }

    /// The next value, which is another.
    fn draw_other(&self, value: usize, rng: &mut Rng) -> usize {
        let [below, above] = self.room(value).map(|steps| self.reach[steps]);
        self.moved(value, rng.random::<f64>() * (below + above))
    }

    /// The value at `target` of the weight of all steps, those downwards first.
    fn moved(&self, value: usize, target: f64) -> usize {
        let [below, above] = self.room(value);
        // Rounding may put the target at the very end, where no step is left: the largest is taken.
        let steps = |room: usize, target: f64| self.reach[1..=room].partition_point(|&reach| reach <= target) + 1;
        if target < self.reach[below] {
            (value + self.size - steps(below, target).min(below)) % self.size
        } else {
            (value + steps(above, target - self.reach[below]).min(above)) % self.size
        }
    }
}

/// How many steps there are downwards and upwards where values go round, each value once.
fn around(size: usize) -> [usize; 2] {
    [(size - 1) / 2, size / 2]
}

struct Temporal {
    numbering: Numbering,
    /// Of the factors that can change.
    transitions: Vec<Transition>,
    split: Arc<Split>,
}

impl Temporal {
    fn new(settings: &Settings, factors: &FactorSpace, split: &Arc<Split>) -> Result<Self> {
        check_range("rate", settings.rate, RATES.0, RATES.1)?;
        let numbering = factors.numbering()?;
        let positions = |setting: &str, names: &[String]| {
            let place = format!("setting \"{setting}\":");
            names
                .iter()
                .map(|name| factors.position(name).map_err(|error| error.of(&place)))
                .collect::<Result<Vec<_>>>()
        };
        let wrapped = positions("wrap", &settings.wrap)?;
        let fixed = positions("fixed", &settings.fixed)?;
        if let Some(name) = settings.wrap.iter().find(|name| settings.fixed.contains(name)) {
            return Err(Error::new(format!("settings \"wrap\" and \"fixed\" both name \"{name}\""))
                .help("a factor that never changes has no way around"));
        }
        let changing = numbering.varying().into_iter().filter(|factor| !fixed.contains(factor));
        let transitions: Vec<Transition> = changing
            .map(|factor| Transition::new(factor, numbering.sizes()[factor], settings.rate, wrapped.contains(&factor)))
            .collect();
        if transitions.is_empty() {
            return Err(Error::new("no factor with two values may change, so the next image would be the same")
                .help("name fewer factors in \"fixed\""));
        }
        Ok(Self { numbering, transitions, split: split.clone() })
    }

    fn draw_next(&self, image: usize, rng: &mut Rng) -> usize {
        let mut next = image;
        for transition in &self.transitions {
            let value = self.numbering.value(image, transition.factor);
            next = self.numbering.moved(next, transition.factor, value, transition.draw(value, rng));
        }
        if next != image {
            return next;
        }
        let transition = &self.transitions[rng.random_range(0..self.transitions.len())];
        let value = self.numbering.value(image, transition.factor);
        self.numbering.moved(image, transition.factor, value, transition.draw_other(value, rng))
    }
}

impl Sampler for Temporal {
    fn arity(&self) -> usize {
        2
    }

    fn draw(&self, anchor: usize, rng: &mut Rng, example: &mut Example) -> Result<()> {
        for _ in 0..MOST_TRIES {
            let next = self.draw_next(anchor, rng);
            if self.split.train().contains(next) {
                example.images.copy_from_slice(&[anchor, next]);
                return Ok(());
            }
        }
        Err(Error::new(format!("found no train image that comes next to image {anchor}, in {MOST_TRIES} tries"))
            .help("train on a larger share of the images (\"split.train\"), or set a smaller \"rate\" of the sampler"))
    }
}

fn build(table: &Table, factors: &FactorSpace, split: &Arc<Split>) -> Result<Box<dyn Sampler>> {
    Ok(Box::new(Temporal::new(&settings::read(table)?, factors, split)?))
}

/// The row in the list of samplers.
pub const ENTRY: Entry = Entry {
    name: "temporal",
    about: "An image and the next, in which factors change a little, for learning from time",
    paper: "Klindt et al. 2021",
    members: &["image", "next"],
    tells_shared: false,
    settings: &[
        Setting {
            name: "rate",
            values: Values::Number(RATES.0, RATES.1),
            meaning: "of the Laplace transition, in 1 / ln(size); the larger, the fewer changes, but one factor always does",
        },
        Setting {
            name: "wrap",
            values: Values::Words("a list of names of factors"),
            meaning: "factors whose last value is beside the first, such as an orientation",
        },
        Setting {
            name: "fixed",
            values: Values::Words("a list of names of factors"),
            meaning: "factors that never change, such as a shape",
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

    fn drawn(sampler: &dyn Sampler, anchor: usize, rng: &mut Rng) -> usize {
        let mut example = Example::new(2);
        sampler.draw(anchor, rng, &mut example).unwrap();
        assert_eq!(example.images[0], anchor);
        example.images[1]
    }

    fn message(settings: &str, factors: &FactorSpace) -> String {
        build(&settings.parse().unwrap(), factors, &all()).err().unwrap().to_string()
    }

    /// The Laplace density at each value of a factor, divided by their sum.
    fn laplace(value: usize, size: usize, rate: f64, wraps: bool) -> Vec<f64> {
        let scale = (size as f64).ln() / rate;
        let density = |other: usize| {
            let straight = value.abs_diff(other);
            let distance = if wraps { straight.min(size - straight) } else { straight };
            (-(distance as f64) / scale).exp() / (2.0 * scale)
        };
        let densities: Vec<f64> = (0..size).map(density).collect();
        let sum: f64 = densities.iter().sum();
        densities.iter().map(|density| density / sum).collect()
    }

    /// The probability of each next image by the definition: every factor for itself, and where nothing changed, one of
    /// them without its value.
    fn probabilities(anchor: usize, rate: f64, wraps: [bool; 4], fixed: [bool; 4]) -> Vec<f64> {
        let from = values_of(anchor, &SIZES);
        let changing: Vec<usize> = (0..4).filter(|&factor| SIZES[factor] > 1 && !fixed[factor]).collect();
        let tables: Vec<Vec<f64>> =
            changing.iter().map(|&factor| laplace(from[factor], SIZES[factor], rate, wraps[factor])).collect();
        let together = |image: usize| {
            let to = values_of(image, &SIZES);
            if (0..4).any(|factor| from[factor] != to[factor] && !changing.contains(&factor)) {
                return 0.0;
            }
            changing.iter().zip(&tables).map(|(&factor, table)| table[to[factor]]).product::<f64>()
        };
        let mut all: Vec<f64> = (0..30).map(together).collect();
        let nothing_changed = std::mem::take(&mut all[anchor]);
        for (&factor, table) in changing.iter().zip(&tables) {
            for value in (0..SIZES[factor]).filter(|&value| value != from[factor]) {
                let image = space().numbering().unwrap().with_value(anchor, factor, value);
                all[image] += nothing_changed / changing.len() as f64 * table[value] / (1.0 - table[from[factor]]);
            }
        }
        all
    }

    /// Holds 400,000 next images of two anchors against the definition.
    fn check_frequencies(settings: &str, rate: f64, wraps: [bool; 4], fixed: [bool; 4]) {
        let sampler = built(settings, &all());
        let mut rng = Seed(9).stream("test");
        // Shape 1, x 2, y 0 is in the middle; shape 0, x 4, y 1 at ends.
        for anchor in [14, 9] {
            let mut counts = vec![0; 30];
            (0..400_000).for_each(|_| counts[drawn(&*sampler, anchor, &mut rng)] += 1);
            assert_frequencies(&counts, &probabilities(anchor, rate, wraps, fixed));
        }
    }

    #[test]
    fn factors_change_by_a_laplace_transition() {
        check_frequencies("", 1.0, [false; 4], [false; 4]);
        check_frequencies("rate = 1.5", 1.5, [false; 4], [false; 4]);
        check_frequencies("rate = 0.0", 1e-300, [false; 4], [false; 4]);
    }

    #[test]
    fn factors_go_round_or_stay_where_this_is_asked_for() {
        check_frequencies("wrap = ['x', 'y']", 1.0, [false, false, true, true], [false; 4]);
        check_frequencies("fixed = ['shape']", 1.0, [false; 4], [true, false, false, false]);
        check_frequencies(
            "wrap = ['x']\nfixed = ['y']\nrate = 2.0",
            2.0,
            [false, false, true, false],
            [false, false, false, true],
        );
    }

    #[test]
    fn at_the_largest_rate_one_factor_takes_one_step() {
        let sampler = built("rate = 1000.0", &all());
        let mut rng = Seed(1).stream("test");
        for draw in 0..3000 {
            let [from, to] = [draw % 30, drawn(&*sampler, draw % 30, &mut rng)].map(|image| values_of(image, &SIZES));
            let steps: usize = from.iter().zip(&to).map(|(a, b)| a.abs_diff(*b)).sum();
            assert_eq!(steps, 1, "{from:?} {to:?}");
        }
    }

    #[test]
    fn both_images_are_train_images() {
        let split = Arc::new(Split::new(30, &Fractions { train: 0.4, ..Fractions::default() }).unwrap());
        let sampler = built("", &split);
        let mut rng = Seed(2).stream("test");
        for draw in 0..1000 {
            let anchor = split.train().number(draw % split.train().len());
            let next = drawn(&*sampler, anchor, &mut rng);
            assert!(next != anchor && split.train().contains(next));
        }
    }

    #[test]
    fn a_split_that_leaves_no_next_image_is_an_error_that_says_what_to_change() {
        let split = Arc::new(Split::new(30, &Fractions { train: 0.04, ..Fractions::default() }).unwrap());
        let anchor = split.train().number(0);
        let refused = built("", &split).draw(anchor, &mut Seed(1).stream("test"), &mut Example::new(2));
        let message = refused.unwrap_err().to_string();
        let expected = format!("found no train image that comes next to image {anchor}, in 10000 tries");
        assert!(message.starts_with(&expected) && message.contains("\"split.train\""), "{message}");
    }

    #[test]
    fn settings_that_cannot_be_met_are_refused() {
        let expected = "setting \"wrap\": no factor is called \"xx\"; did you mean \"x\"?";
        assert!(message("wrap = ['xx']", &space()).starts_with(expected));
        let expected = "setting \"fixed\": no factor is called \"shapes\"; did you mean \"shape\"?";
        assert!(message("fixed = ['shapes']", &space()).starts_with(expected));
        let expected = "settings \"wrap\" and \"fixed\" both name \"x\"";
        assert!(message("wrap = ['x']\nfixed = ['y', 'x']", &space()).starts_with(expected));
        let nothing = message("fixed = ['shape', 'x', 'y']", &space());
        assert!(nothing.starts_with("no factor with two values may change"), "{nothing}");
        assert_eq!(message("rate = -1.0", &space()), "setting \"rate\" is -1\n       wanted 0 to 1000");
        assert!(message("rate = nan", &space()).starts_with("setting \"rate\" is NaN"));
        assert!(message("wrap = 'x'", &space()).contains("wanted a list"));
        assert!(message("", &FactorSpace::grid([("still", 1)])).starts_with("no factor with two values"));
        let continuous = FactorSpace::sample(vec![Factor { name: "angle".to_string(), size: None }]);
        assert!(message("", &continuous).contains("do not form a grid"));
    }
}
