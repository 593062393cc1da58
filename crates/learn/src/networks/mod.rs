//! Networks: an encoder and a decoder that belong together.

use burn::tensor::Tensor;
use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, ImageShape, Result};

use crate::parameters::{Initialiser, Parameters};

pub mod conv64;
pub mod layers;
pub mod linear;
pub mod mlp;

/// Every network.
pub const NETWORKS: &[Entry] = &[conv64::ENTRY, mlp::ENTRY, linear::ENTRY];

/// An encoder and a decoder. A network holds no tensors: it finds them in `Parameters`, where it put them at first.
/// Models of frameworks without reconstruction have no decoder.
pub trait Network: Send + Sync {
    /// How many latents a code has.
    fn latents(&self) -> usize;

    /// Adds the parameters of an encoder of `outputs` outputs.
    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser);

    /// Adds the parameters of the decoder.
    fn initialise_decoder(&self, initialiser: &mut Initialiser);

    /// Images `[batch, pixels]` (each `[height, width, channels]`) to encoder outputs `[batch, outputs]`.
    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2>;

    /// Latents `[batch, latents]` to decoder outputs `[batch, pixels]`.
    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2>;

    /// What each hidden layer of the encoder makes of images `[batch, pixels]`, the first layer first, `[batch, numbers]` each. At
    /// least one: the encoder outputs where there is no hidden layer.
    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        vec![self.encode(parameters, images)]
    }
}

/// One row of the list of networks.
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Makes it for images of a shape.
    pub build: fn(&Table, ImageShape) -> Result<Box<dyn Network>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// Makes the network called `name`, with the settings in `table`, for images of a shape.
pub fn build(name: &str, table: &Table, shape: ImageShape) -> Result<Box<dyn Network>> {
    (find(name)?.build)(table, shape)
}

/// All settings of the network called `name`, those left out of `table` at their defaults.
pub fn complete(name: &str, table: &Table) -> Result<Table> {
    (find(name)?.complete)(table)
}

/// The row of the network called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = NETWORKS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("model", name, NETWORKS.iter().map(|entry| entry.name)))
}

const MOST_LATENTS: usize = 4096;

/// The setting that every network has.
const LATENTS: Setting =
    Setting { name: "latents", values: Values::Whole(1, MOST_LATENTS as u64), meaning: "how many latents a code has" };

fn check_latents(latents: usize) -> Result<()> {
    if (1..=MOST_LATENTS).contains(&latents) {
        return Ok(());
    }
    Err(Error::new(format!("setting \"latents\" is {latents}")).help(format!("wanted 1 to {MOST_LATENTS}")))
}
