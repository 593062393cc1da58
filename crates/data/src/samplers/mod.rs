//! Samplers: which images are drawn together as one example, the list of all, and how one is built from its settings.

mod pair;
mod shared_pair;
mod single;
mod temporal;
mod triplet;

use std::sync::Arc;

use toml::Table;

use crate::error::{Result, unknown_name};
use crate::factor_space::FactorSpace;
use crate::seed::Rng;
use crate::settings::Setting;
use crate::split::Split;

/// Every sampler, in the order in which they are shown.
pub const SAMPLERS: &[Entry] = &[single::ENTRY, pair::ENTRY, shared_pair::ENTRY, temporal::ENTRY, triplet::ENTRY];

/// An example is drawn again this often at most, until it is one that may be learned from.
const MOST_TRIES: usize = 10_000;

/// Draws the images of an example. It sees image numbers and factors, never a pixel.
pub trait Sampler: Send + Sync {
    /// How many images an example has.
    fn arity(&self) -> usize;

    /// Fills in an example that begins with the train image `anchor`; all its images are train images. An error where no such
    /// example is found.
    fn draw(&self, anchor: usize, rng: &mut Rng, example: &mut Example) -> Result<()>;

    /// What the sampler knows of the image at `member` of an example that is not seen in its factors, for the caption of a
    /// picture: how far it is from the anchor.
    fn note(&self, _images: &[usize], _member: usize) -> Option<String> {
        None
    }
}

/// Images that are learned from together; filled in anew by each draw, so that millions can be drawn a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The images' numbers, as many as the sampler's `arity`, the anchor first.
    pub images: Vec<usize>,
    /// The position of the factor that the sampler made them share, where it says so; others may be equal by chance.
    pub shared: Option<usize>,
}

impl Example {
    /// Of so many images.
    pub fn new(arity: usize) -> Self {
        Self { images: vec![0; arity], shared: None }
    }
}

/// Builds a sampler from its settings, the factors of the images, and the split whose train images it draws.
pub type Build = fn(&Table, &FactorSpace, &Arc<Split>) -> Result<Box<dyn Sampler>>;

/// One row of the list of samplers.
pub struct Entry {
    /// The name in configs and commands.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What each image of an example is called, the anchor first.
    pub members: &'static [&'static str],
    /// Whether its examples name the factor that their images share.
    pub tells_shared: bool,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Builds it with these settings for images of these factors, of which the train images are drawn.
    pub build: Build,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// The row of the sampler called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let names = SAMPLERS.iter().map(|entry| entry.name);
    SAMPLERS.iter().find(|entry| entry.name == name).ok_or_else(|| unknown_name("sampler", name, names))
}

/// Builds the sampler called `name` for images of these factors; it draws train images only.
pub fn build(name: &str, settings: &Table, factors: &FactorSpace, split: &Arc<Split>) -> Result<Box<dyn Sampler>> {
    (find(name)?.build)(settings, factors, split)
}

/// The table of every setting of the sampler called `name`, those left out at their defaults.
pub fn complete(name: &str, settings: &Table) -> Result<Table> {
    (find(name)?.complete)(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pearson's statistic of counts that should follow these probabilities. It has a mean of as many degrees of freedom as
    /// there are possible outcomes less one, and twice that variance: five deviations above the mean are too many.
    pub(super) fn assert_frequencies(counts: &[usize], probabilities: &[f64]) {
        let n_draws = counts.iter().sum::<usize>() as f64;
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let (mut statistic, mut n_possible) = (0.0, 0);
        for (&count, &probability) in counts.iter().zip(probabilities) {
            assert!(probability > 0.0 || count == 0, "what is impossible was drawn {count} times");
            if probability > 0.0 {
                let expected = n_draws * probability;
                assert!(expected >= 5.0, "{expected} draws are too few for the bound");
                statistic += (count as f64 - expected).powi(2) / expected;
                n_possible += 1;
            }
        }
        let degrees = f64::from(n_possible - 1);
        let bound = degrees + 5.0 * (2.0 * degrees).sqrt();
        assert!(
            statistic <= bound,
            "chi-square is {statistic} with {degrees} degrees of freedom, the bound is {bound}"
        );
    }

    #[test]
    fn a_misspelt_sampler_gets_a_suggestion() {
        let space = FactorSpace::grid([("shape", 3)]);
        let message = build("pairs", &Table::new(), &space, &Arc::new(Split::all(3))).err().unwrap().to_string();
        assert!(message.starts_with("no sampler is called \"pairs\"; did you mean \"pair\"?"), "{message}");
    }
}
