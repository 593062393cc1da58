//! `single`: an example is one image.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Entry, Example, Sampler};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::seed::Rng;
use crate::settings;
use crate::split::Split;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {}

struct Single;

impl Sampler for Single {
    fn arity(&self) -> usize {
        1
    }

    fn draw(&self, anchor: usize, _rng: &mut Rng, example: &mut Example) -> Result<()> {
        example.images[0] = anchor;
        Ok(())
    }
}

fn build(table: &Table, _factors: &FactorSpace, _split: &Arc<Split>) -> Result<Box<dyn Sampler>> {
    settings::read::<Settings>(table)?;
    Ok(Box::new(Single))
}

/// The row in the list of samplers.
pub const ENTRY: Entry = Entry {
    name: "single",
    about: "One image at a time, for unsupervised frameworks",
    paper: "Kingma and Welling 2014",
    members: &["image"],
    tells_shared: false,
    settings: &[],
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn the_example_is_the_anchor() {
        let sampler = build(&Table::new(), &FactorSpace::sample(Vec::new()), &Arc::new(Split::all(9))).unwrap();
        let mut example = Example::new(1);
        sampler.draw(7, &mut Seed(0).stream("test"), &mut example).unwrap();
        assert_eq!(example.images, [7]);
    }
}
