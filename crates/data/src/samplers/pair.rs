//! `pair`: an image, and another that differs from it in k of the F factors. Weak supervision for Ada-GVAE.
//!
//! Locatello et al., "Weakly-Supervised Disentanglement Without Compromises", 2020; Michlo 2022 (T1),
//! A.2.3: k is uniform in 1..=F for every pair, and the k chosen factors take another value. Factors with one value
//! cannot differ and take no part.
//!
//! The published code (disentanglement_lib, `simple_dynamics`) does otherwise, and `rule = "disentanglement_lib"` does
//! as it does: k is uniform in 1..=F-1, then with even odds k or 1 factors are chosen, and each is drawn anew from all its
//! values, so that it may stay as it was.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::index;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{Entry, Example, MOST_TRIES, Sampler};
use crate::error::{Error, Result};
use crate::factor_space::{FactorSpace, Numbering};
use crate::seed::Rng;
use crate::settings::{self, Setting, Values};
use crate::split::Split;
use crate::words::counted;

/// How many factors differ, and in what sense; the defaults are the thesis's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// `"uniform"`, or how many factors are chosen.
    k: Value,
    /// What happens to the chosen factors.
    rule: Rule,
}

impl Default for Settings {
    fn default() -> Self {
        Self { k: Value::String("uniform".to_string()), rule: Rule::Differ }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    /// Each chosen factor takes another value.
    Differ,
    /// Each chosen factor is drawn anew, and often only one is chosen.
    DisentanglementLib,
}

/// How many factors are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Uniform,
    Exactly(usize),
}

struct Pair {
    numbering: Numbering,
    /// Positions of the factors that can be chosen.
    choosable: Vec<usize>,
    chosen: Chosen,
    rule: Rule,
    split: Arc<Split>,
}

impl Pair {
    fn new(settings: &Settings, factors: &FactorSpace, split: &Arc<Split>) -> Result<Self> {
        let chosen = parse_k(&settings.k)?;
        let rule = settings.rule;
        let numbering = factors.numbering()?;
        let choosable = match rule {
            Rule::Differ => numbering.varying(),
            Rule::DisentanglementLib => (0..factors.n_factors()).collect(),
        };
        if numbering.varying().is_empty() {
            return Err(Error::new("no factor has two values, so no pair of images can differ"));
        }
        match chosen {
            Chosen::Exactly(k) if k > choosable.len() => {
                Err(Error::new(format!("setting \"k\" is {k}, but {} factors can differ", choosable.len()))
                    .help(format!("it takes 1 to {} here, or \"uniform\"", choosable.len())))
            }
            _ => Ok(Self { numbering, choosable, chosen, rule, split: split.clone() }),
        }
    }

    /// How many factors are chosen for one pair.
    fn draw_k(&self, rng: &mut Rng) -> usize {
        let n_choosable = self.choosable.len();
        match (self.rule, self.chosen) {
            (Rule::Differ, Chosen::Uniform) => rng.random_range(1..=n_choosable),
            (Rule::Differ, Chosen::Exactly(k)) => k,
            (Rule::DisentanglementLib, chosen) => {
                let k = match chosen {
                    Chosen::Uniform => rng.random_range(1..=(n_choosable - 1).max(1)),
                    Chosen::Exactly(k) => k,
                };
                if rng.random() { k } else { 1 }
            }
        }
    }

    /// An image whose k chosen factors are drawn.
    fn draw_other(&self, anchor: usize, k: usize, rng: &mut Rng) -> usize {
        let mut other = anchor;
        for chosen in index::sample(rng, self.choosable.len(), k) {
            let factor = self.choosable[chosen];
            let value = self.numbering.value(anchor, factor);
            let drawn = self.draw_value(value, self.numbering.sizes()[factor], rng);
            other = self.numbering.moved(other, factor, value, drawn);
        }
        other
    }

    /// The new value of a chosen factor.
    fn draw_value(&self, value: usize, size: usize, rng: &mut Rng) -> usize {
        match self.rule {
            Rule::DisentanglementLib => rng.random_range(0..size),
            Rule::Differ => {
                let other = rng.random_range(0..size - 1);
                // Those from the old value on move up by one, which leaves the old value out.
                if other < value { other } else { other + 1 }
            }
        }
    }
}

impl Sampler for Pair {
    fn arity(&self) -> usize {
        2
    }

    fn draw(&self, anchor: usize, rng: &mut Rng, example: &mut Example) -> Result<()> {
        // k is drawn once, so that a split that leaves few pairs of a k does not make it rarer.
        let k = self.draw_k(rng);
        for _ in 0..MOST_TRIES {
            let other = self.draw_other(anchor, k, rng);
            if self.split.train().contains(other) {
                example.images.copy_from_slice(&[anchor, other]);
                return Ok(());
            }
        }
        let chosen = counted(k, "factor");
        Err(Error::new(format!(
            "found no train image that differs from image {anchor} in {chosen}, in {MOST_TRIES} tries"
        ))
        .help("train on a larger share of the images (\"split.train\"), or set another \"k\" of the sampler"))
    }
}

fn parse_k(value: &Value) -> Result<Chosen> {
    match value {
        Value::String(text) if text == "uniform" => Ok(Chosen::Uniform),
        Value::Integer(k) if *k >= 1 => Ok(Chosen::Exactly(usize::try_from(*k).unwrap_or(usize::MAX))),
        _ => Err(Error::new(format!("setting \"k\" is {value}"))
            .help("it takes \"uniform\", or how many factors differ, a whole number from 1")),
    }
}

fn build(table: &Table, factors: &FactorSpace, split: &Arc<Split>) -> Result<Box<dyn Sampler>> {
    Ok(Box::new(Pair::new(&settings::read(table)?, factors, split)?))
}

fn complete(table: &Table) -> Result<Table> {
    let settings: Settings = settings::read(table)?;
    parse_k(&settings.k)?;
    Ok(settings::as_table(&settings))
}

/// The row in the list of samplers.
pub const ENTRY: Entry = Entry {
    name: "pair",
    about: "Two images that differ in k factors, for weakly supervised frameworks",
    paper: "Locatello et al. 2020; Michlo, thesis A.2.3",
    members: &["first", "second"],
    tells_shared: false,
    settings: &[
        Setting {
            name: "k",
            values: Values::Words("\"uniform\", or a whole number from 1 to the factors that can differ"),
            meaning: "how many factors differ within a pair; \"uniform\" draws it anew for each pair",
        },
        Setting {
            name: "rule",
            values: Values::OneOf(&["differ", "disentanglement_lib"]),
            meaning: "whether each chosen factor takes another value, or is drawn anew as in the published code",
        },
    ],
    build,
    complete,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factor_space::{Factor, values_of};
    use crate::seed::Seed;
    use crate::split::Fractions;

    fn space() -> FactorSpace {
        FactorSpace::grid([("shape", 3), ("still", 1), ("x", 5), ("y", 2)])
    }

    fn all() -> Arc<Split> {
        Arc::new(Split::all(30))
    }

    fn drawn(sampler: &dyn Sampler, anchor: usize, rng: &mut Rng) -> Vec<usize> {
        let mut example = Example::new(2);
        sampler.draw(anchor, rng, &mut example).unwrap();
        example.images
    }

    /// How often each number of factors differed in 30,000 pairs.
    fn counts(settings: &str) -> Vec<usize> {
        let sampler = build(&settings.parse().unwrap(), &space(), &all()).unwrap();
        let sizes = space().grid_sizes().unwrap();
        let mut rng = Seed(3).stream("test");
        let mut counts = vec![0; sizes.len() + 1];
        for draw in 0..30_000 {
            let pair = drawn(&*sampler, draw % 30, &mut rng);
            let [from, to] = [values_of(pair[0], &sizes), values_of(pair[1], &sizes)];
            counts[from.iter().zip(&to).filter(|(a, b)| a != b).count()] += 1;
        }
        counts
    }

    fn message(settings: &str, factors: &FactorSpace) -> String {
        build(&settings.parse().unwrap(), factors, &all()).err().unwrap().to_string()
    }

    /// Within five standard deviations of a binomial.
    fn assert_near(count: usize, probability: f64) {
        let expected = 30_000.0 * probability;
        let deviation = (expected * (1.0 - probability)).sqrt();
        assert!((count as f64 - expected).abs() <= 5.0 * deviation, "{count} but {expected} were expected");
    }

    #[test]
    fn k_is_uniform_over_the_factors_that_can_differ() {
        let counts = counts("");
        assert_eq!((counts[0], counts[4]), (0, 0));
        counts[1..=3].iter().for_each(|&count| assert_near(count, 1.0 / 3.0));
    }

    #[test]
    fn a_fixed_k_is_always_met() {
        assert_eq!(counts("k = 2"), [0, 0, 30_000, 0, 0]);
    }

    #[test]
    fn the_published_rule_leaves_factors_as_they_were_now_and_then() {
        // With k = 4 every factor is drawn anew in half of the pairs and one of them in the other half. None differs
        // with probability 1/2 * 1/3*1/1*1/5*1/2 + 1/2 * (1/3 + 1 + 1/5 + 1/2)/4.
        let expected = 0.5 / 30.0 + 0.5 * (1.0 / 3.0 + 1.0 + 0.2 + 0.5) / 4.0;
        assert_near(counts("k = 4\nrule = 'disentanglement_lib'")[0], expected);
        // k is 1, 2 or 3, so one factor is chosen with probability 1/2 + 1/2 * 1/3 and never four.
        let uniform = counts("rule = 'disentanglement_lib'");
        assert!(uniform[0] > 0 && uniform[1] > uniform[2] && uniform[2] > uniform[3], "{uniform:?}");
    }

    #[test]
    fn other_values_are_equally_likely() {
        let sampler = build(&"k = 3".parse().unwrap(), &space(), &all()).unwrap();
        let mut rng = Seed(1).stream("test");
        let mut seen = [0; 5];
        for _ in 0..30_000 {
            // The anchor has shape 1, x 2, y 0: (1*5 + 2)*2.
            let pair = drawn(&*sampler, 14, &mut rng);
            seen[pair[1] / 2 % 5] += 1;
        }
        assert_eq!(seen[2], 0);
        [0, 1, 3, 4].iter().for_each(|&value| assert_near(seen[value], 0.25));
    }

    #[test]
    fn both_images_are_train_images_and_k_is_met() {
        let split = Arc::new(Split::new(30, &Fractions { train: 0.4, ..Fractions::default() }).unwrap());
        let sampler = build(&"k = 2".parse().unwrap(), &space(), &split).unwrap();
        let sizes = space().grid_sizes().unwrap();
        let mut rng = Seed(2).stream("test");
        for anchor in split.train().numbers() {
            let pair = drawn(&*sampler, anchor, &mut rng);
            assert!(pair[0] == anchor && split.train().contains(pair[1]));
            let [from, to] = [values_of(pair[0], &sizes), values_of(pair[1], &sizes)];
            assert_eq!(from.iter().zip(&to).filter(|(a, b)| a != b).count(), 2);
        }
    }

    #[test]
    fn a_split_that_leaves_no_pair_is_an_error_that_says_what_to_change() {
        // One train image of 30 has no partner.
        let split = Arc::new(Split::new(30, &Fractions { train: 0.04, ..Fractions::default() }).unwrap());
        let sampler = build(&"k = 1".parse().unwrap(), &space(), &split).unwrap();
        let anchor = split.train().number(0);
        let refused = sampler.draw(anchor, &mut Seed(1).stream("test"), &mut Example::new(2));
        let message = refused.unwrap_err().to_string();
        let expected = format!("found no train image that differs from image {anchor} in 1 factor, in 10000 tries");
        assert!(message.starts_with(&expected) && message.contains("\"split.train\""), "{message}");
    }

    #[test]
    fn settings_that_cannot_be_met_are_refused() {
        let expected = "setting \"k\" is 4, but 3 factors can differ\n       it takes 1 to 3 here, or \"uniform\"";
        assert_eq!(message("k = 4", &space()), expected);
        assert!(message("k = 0", &space()).starts_with("setting \"k\" is 0"));
        assert!(message("k = 'most'", &space()).starts_with("setting \"k\" is \"most\""));
        assert!(message("rule = 'other'", &space()).contains("rule"));
        assert!(message("", &FactorSpace::grid([("still", 1)])).starts_with("no factor has two values"));
        let continuous = FactorSpace::sample(vec![Factor { name: "angle".to_string(), size: None }]);
        assert!(message("", &continuous).contains("do not form a grid"));
    }

    #[test]
    fn completed_settings_name_the_rule() {
        let completed = complete(&Table::new()).unwrap();
        assert_eq!(completed, "k = 'uniform'\nrule = 'differ'".parse().unwrap());
        assert_eq!(complete(&completed).unwrap(), completed);
    }
}
