//! Samplers: which images are drawn together as one example, the list of all, and how one is built from its settings.

mod pair;
mod single;

use std::sync::Arc;

use toml::Table;

use crate::error::{Result, unknown_name};
use crate::factor_space::FactorSpace;
use crate::seed::Rng;
use crate::settings::Setting;
use crate::split::Split;

/// Every sampler, in the order in which they are shown.
pub const SAMPLERS: &[Entry] = &[single::ENTRY, pair::ENTRY];

/// Draws the images of an example. It sees image numbers and factors, never a pixel.
pub trait Sampler: Send + Sync {
    /// How many images an example has.
    fn arity(&self) -> usize;

    /// The image numbers of an example that begins with the train image `anchor`, as many as `arity`, all of train images. An
    /// error where no such example is found.
    fn draw(&self, anchor: usize, rng: &mut Rng) -> Result<Vec<usize>>;
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

    #[test]
    fn a_misspelt_sampler_gets_a_suggestion() {
        let space = FactorSpace::grid([("shape", 3)]);
        let message = build("pairs", &Table::new(), &space, &Arc::new(Split::all(3))).err().unwrap().to_string();
        assert!(message.starts_with("no sampler is called \"pairs\"; did you mean \"pair\"?"), "{message}");
    }
}
