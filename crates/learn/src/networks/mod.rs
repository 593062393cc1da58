//! Networks: an encoder and a decoder that belong together.

use burn::tensor::Tensor;
use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, ImageShape, Result};

use crate::parameters::{Initialiser, Parameters};

pub mod conv64;
pub mod conv64_locatello;
pub mod conv64_norm;
pub mod conv_deep;
pub mod layers;
pub mod linear;
pub mod mlp;

/// Every network.
pub const NETWORKS: &[Entry] =
    &[conv64::ENTRY, conv64_norm::ENTRY, conv64_locatello::ENTRY, conv_deep::ENTRY, mlp::ENTRY, linear::ENTRY];

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
    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>>;
}

/// One row of the list of networks.
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Sides of the square images that it takes; none where it takes images of any size.
    pub sides: &'static [usize],
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Makes it for images of a shape.
    pub build: fn(&Table, ImageShape) -> Result<Box<dyn Network>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

impl Entry {
    /// The side that images of this shape are resized to for this network, where it does not take them as they are: the largest
    /// that is no larger than they are, or the smallest.
    pub fn fitting(&self, shape: ImageShape) -> Option<usize> {
        if self.takes(shape) {
            return None;
        }
        let smaller = self.sides.iter().filter(|&&side| side <= shape.height.min(shape.width)).max();
        smaller.or_else(|| self.sides.iter().min()).copied()
    }

    fn takes(&self, shape: ImageShape) -> bool {
        self.sides.is_empty() || (shape.height == shape.width && self.sides.contains(&shape.height))
    }
}

/// Makes the network called `name`, with the settings in `table`, for images of a shape.
pub fn build(name: &str, table: &Table, shape: ImageShape) -> Result<Box<dyn Network>> {
    let entry = find(name)?;
    if !entry.takes(shape) {
        return Err(another_size(entry, shape));
    }
    (entry.build)(table, shape)
}

/// Names the networks that take images of this shape.
fn another_size(entry: &Entry, shape: ImageShape) -> Error {
    let found = format!("{}x{}", shape.height, shape.width);
    let wanted: Vec<String> = entry.sides.iter().map(|side| format!("{side}x{side}")).collect();
    let others = NETWORKS.iter().filter(|other| other.takes(shape)).map(|other| format!("\"{}\"", other.name));
    Error::new(format!(
        "model \"{}\" wants images of {} pixels but the dataset's are {found}",
        entry.name,
        wanted.join(" or ")
    ))
    .help(format!("models that take {found}: {}", others.collect::<Vec<_>>().join(", ")))
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
    check_range("latents", latents, 1, MOST_LATENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_made_for_the_sizes_that_it_tells_and_no_other() {
        for entry in NETWORKS {
            for (height, width) in [(64, 64), (128, 128), (64, 128), (28, 28), (1, 1)] {
                let shape = ImageShape { height, width, channels: 3 };
                let refused = build(entry.name, &Table::new(), shape).err().map(|error| error.to_string());
                let taken = entry.sides.is_empty() || (height == width && entry.sides.contains(&height));
                assert_eq!(refused.is_none(), taken, "{} {height}x{width}: {refused:?}", entry.name);
            }
        }
    }

    #[test]
    fn another_size_is_refused_with_the_networks_that_take_it() {
        let message = |name: &str, side: usize| {
            let shape = ImageShape { height: side, width: side, channels: 1 };
            build(name, &Table::new(), shape).err().unwrap().to_string()
        };
        assert_eq!(
            message("conv64", 128),
            "model \"conv64\" wants images of 64x64 pixels but the dataset's are 128x128\n       \
             models that take 128x128: \"conv_deep\", \"mlp\", \"linear\""
        );
        assert_eq!(
            message("conv_deep", 28),
            "model \"conv_deep\" wants images of 64x64 or 128x128 pixels but the dataset's are 28x28\n       \
             models that take 28x28: \"mlp\", \"linear\""
        );
    }
}
