//! Optimisers: how gradients change parameters. Our own, since their state must be saved and resumed to the bit and the
//! update of a matrix should be one pass over memory.

use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result};

pub mod adagrad;
pub mod adam;

/// Every optimiser.
pub const OPTIMISERS: &[Entry] = &[adam::ENTRY, adagrad::ENTRY];

/// Changes parameters by their gradients.
pub trait Optimiser: Send + Sync {
    /// The names of the moments that are kept for each parameter, for checkpoints.
    fn moments(&self) -> &'static [&'static str];

    /// Changes `values` by `gradient`. `moments` are as many slices of the same length as `moments()` names, zero at
    /// first. `step` counts from 1.
    fn change(&self, step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [Vec<f32>]);
}

/// One row of the list of optimisers.
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The paper that defines it.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Optimiser>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// The row of the optimiser called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = OPTIMISERS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("optimiser", name, OPTIMISERS.iter().map(|entry| entry.name)))
}

const LEAST_EPSILON: f64 = 1e-30;

/// What keeps a division away from zero, which every optimiser has.
const EPSILON: Setting = Setting {
    name: "epsilon",
    values: Values::Number(LEAST_EPSILON, 1.0),
    meaning: "keeps the division by the size of gradients away from zero",
};

fn check_epsilon(epsilon: f64) -> Result<()> {
    if (LEAST_EPSILON..=1.0).contains(&epsilon) {
        return Ok(());
    }
    Err(Error::new(format!("setting \"epsilon\" is {epsilon}")).help("wanted 1e-30 to 1"))
}

/// Values are changed in pieces of this many, side by side; each value on its own, so the pieces do not matter.
const PIECE: usize = 1 << 14;
