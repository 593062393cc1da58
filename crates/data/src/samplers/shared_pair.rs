//! `shared_pair`: an image, and another that shares the value of one factor; which factor is told. For weakly supervised GANs.
//!
//! Shu et al., "Weakly Supervised Disentanglement with Guarantees", 2020: match pairing with full sharing, the supervision that
//! T4 section 4.3 takes over. Which factor is shared is drawn uniformly among those with more than one value; all other factors of the
//! second image are drawn anew from all their values, and may stay as they were by chance. This is what the published code does
//! (google-research, `weak_disentangle`, strategy `s` with one factor at a time).

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Entry, Example, MOST_TRIES, Sampler};
use crate::error::{Error, Result};
use crate::factor_space::{FactorSpace, Numbering};
use crate::seed::Rng;
use crate::settings;
use crate::split::Split;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {}

struct SharedPair {
    numbering: Numbering,
    n_images: usize,
    /// Positions of the factors that can be shared, with their names.
    sharable: Vec<(usize, String)>,
    split: Arc<Split>,
}

impl SharedPair {
    fn new(factors: &FactorSpace, split: &Arc<Split>) -> Result<Self> {
        let numbering = factors.numbering()?;
        let name = |factor: usize| factors.factors()[factor].name.clone();
        let sharable: Vec<(usize, String)> =
            numbering.varying().into_iter().map(|factor| (factor, name(factor))).collect();
        if sharable.len() < 2 {
            let n_varying = sharable.len();
            let help = "wanted two or more: images that share all that varies are the same";
            return Err(Error::new(format!("{n_varying} of the factors have two values or more")).help(help));
        }
        Ok(Self { n_images: numbering.n_images(), numbering, sharable, split: split.clone() })
    }
}

impl Sampler for SharedPair {
    fn arity(&self) -> usize {
        2
    }

    fn draw(&self, anchor: usize, rng: &mut Rng, example: &mut Example) -> Result<()> {
        // The factor is drawn once, so that a split that leaves few pairs that share it does not make it rarer.
        let (shared, name) = &self.sharable[rng.random_range(0..self.sharable.len())];
        let value = self.numbering.value(anchor, *shared);
        for _ in 0..MOST_TRIES {
            let other = self.numbering.with_value(rng.random_range(0..self.n_images), *shared, value);
            if self.split.train().contains(other) {
                example.images.copy_from_slice(&[anchor, other]);
                example.shared = Some(*shared);
                return Ok(());
            }
        }
        Err(Error::new(format!(
            "found no train image that shares \"{name}\" with image {anchor}, in {MOST_TRIES} tries"
        ))
        .help("train on a larger share of the images (\"split.train\")"))
    }
}

fn build(table: &Table, factors: &FactorSpace, split: &Arc<Split>) -> Result<Box<dyn Sampler>> {
    settings::read::<Settings>(table)?;
    Ok(Box::new(SharedPair::new(factors, split)?))
}

/// The row in the list of samplers.
pub const ENTRY: Entry = Entry {
    name: "shared_pair",
    about: "Two images that share one factor, which is told, for weakly supervised GANs",
    paper: "Shu et al. 2020",
    members: &["first", "second"],
    tells_shared: true,
    settings: &[],
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::super::tests::assert_frequencies;
    use super::*;
    use crate::factor_space::Factor;
    use crate::seed::Seed;
    use crate::split::Fractions;

    fn space() -> FactorSpace {
        FactorSpace::grid([("shape", 3), ("still", 1), ("x", 5), ("y", 2)])
    }

    fn drawn(sampler: &dyn Sampler, anchor: usize, rng: &mut Rng) -> Example {
        let mut example = Example::new(2);
        sampler.draw(anchor, rng, &mut example).unwrap();
        example
    }

    #[test]
    fn each_factor_is_shared_equally_often_and_all_else_is_drawn_anew() {
        let sampler = build(&Table::new(), &space(), &Arc::new(Split::all(30))).unwrap();
        let numbering = space().numbering().unwrap();
        let anchor = 14;
        // Of each of the three factors that vary, a third of the pairs; these are uniform over the 30 / size images that share it.
        let mut probabilities = vec![0.0; 4 * 30];
        for (factor, size) in [(0, 3.0), (2, 5.0), (3, 2.0)] {
            for image in (0..30).filter(|&image| numbering.value(image, factor) == numbering.value(anchor, factor)) {
                probabilities[factor * 30 + image] = size / 30.0 / 3.0;
            }
        }
        let mut rng = Seed(4).stream("test");
        let mut counts = vec![0; 4 * 30];
        for _ in 0..60_000 {
            let example = drawn(&*sampler, anchor, &mut rng);
            counts[example.shared.unwrap() * 30 + example.images[1]] += 1;
        }
        assert_frequencies(&counts, &probabilities);
    }

    #[test]
    fn both_images_are_train_images_and_the_factor_is_shared() {
        let split = Arc::new(Split::new(30, &Fractions { train: 0.4, ..Fractions::default() }).unwrap());
        let sampler = build(&Table::new(), &space(), &split).unwrap();
        let numbering = space().numbering().unwrap();
        let mut rng = Seed(2).stream("test");
        for draw in 0..1000 {
            let anchor = split.train().number(draw % split.train().len());
            let Example { images, shared } = drawn(&*sampler, anchor, &mut rng);
            assert!(images[0] == anchor && split.train().contains(images[1]));
            assert_eq!(numbering.value(anchor, shared.unwrap()), numbering.value(images[1], shared.unwrap()));
        }
    }

    #[test]
    fn a_split_that_leaves_no_pair_is_an_error_that_says_what_to_change() {
        // An anchor that is no train image, which the loader does not ask for, finds no partner among no others.
        let space = FactorSpace::grid([("x", 2), ("y", 2)]);
        let split = Arc::new(Split::new(4, &Fractions { train: 0.25, ..Fractions::default() }).unwrap());
        let anchor = 3 - split.train().number(0);
        let sampler = build(&Table::new(), &space, &split).unwrap();
        let refused = sampler.draw(anchor, &mut Seed(1).stream("test"), &mut Example::new(2));
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("found no train image that shares \""), "{message}");
        assert!(message.contains("in 10000 tries") && message.contains("\"split.train\""), "{message}");
    }

    #[test]
    fn factors_that_leave_nothing_to_differ_are_refused() {
        let message =
            |factors: &FactorSpace| build(&Table::new(), factors, &Arc::new(Split::all(5))).err().unwrap().to_string();
        let one = message(&FactorSpace::grid([("still", 1), ("x", 5)]));
        assert!(one.starts_with("1 of the factors have two values or more\n"), "{one}");
        let continuous = FactorSpace::sample(vec![Factor { name: "angle".to_string(), size: None }]);
        assert!(message(&continuous).contains("do not form a grid"));
    }
}
