//! Reconstruction losses: how far a decoder's output is from the image.

use std::fmt::Debug;
use std::sync::Arc;

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use unbraid_data::error::unknown_name;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, ImageShape, Result};

use crate::model::Model;
use crate::ops::{PixelLoss, pixel_sums};
use crate::parameters::Initialiser;
use crate::tensors::{constant, floats};

mod bce;
mod blurred;
mod filtered;
mod mae;
mod mse;
mod mse_box;
mod mse_gaussian;
mod mse_kernel;
pub mod perceptual;

/// Every reconstruction loss.
pub const RECONSTRUCTIONS: &[Entry] =
    &[mse::ENTRY, bce::ENTRY, mae::ENTRY, mse_box::ENTRY, mse_gaussian::ENTRY, mse_kernel::ENTRY, perceptual::ENTRY];

/// The setting by which a framework is told its reconstruction loss.
pub const SETTING: Setting = Setting {
    name: "reconstruction",
    values: Values::OneOf(&["mse", "bce", "mae", "mse_box", "mse_gaussian", "mse_kernel", "perceptual"]),
    meaning: "how far a reconstruction is from the image: `unbraid list reconstructions`",
};

/// How far a decoder's outputs are from the images. What it needs of files it reads in `initialise`, so that a config can be read without
/// them.
pub trait ReconstructionLoss: Debug + Send + Sync {
    /// The loss of each image, summed over its pixels, `[batch, 1]`, from the decoder's outputs and the images, `[batch, pixels]`
    /// both. The model tells the images' shape, and has the parameters that `initialise` added.
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2>;

    /// The image that the decoder's outputs stand for.
    fn to_image(&self, outputs: Tensor<2>) -> Tensor<2> {
        outputs
    }

    /// What it compares of images `[batch, pixels]` where one stands in for the decoder's output and another is wanted.
    fn compared(&self, model: &Model, images: Tensor<2>) -> Compared;

    /// Adds parameters of its own, where it can take images of this shape. It is called once.
    fn initialise(&self, _image_shape: ImageShape, _initialiser: &mut Initialiser) -> Result<()> {
        Ok(())
    }
}

/// Numbers of images, `[batch, numbers]` both: as what a decoder gives, and as what is wanted; and the loss that compares them one by one.
pub struct Compared {
    /// Of the image in place of a decoder's output.
    pub outputs: Tensor<2>,
    /// Of the image that is wanted.
    pub images: Tensor<2>,
    /// The loss of each number, summed.
    pub loss: PixelLoss,
}

/// One row of the list of reconstruction losses.
#[derive(Debug)]
pub struct Entry {
    /// The name in configs.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Settings that it cannot do without, for tests that walk the list: the run `features` and the kernel `kernel.npy` are small ones that
    /// they make.
    pub example: &'static str,
    /// Whether it is a loss only for pixels between 0 and 1.
    pub wants_unit_pixels: bool,
    /// Makes it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn ReconstructionLoss>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// A reconstruction loss chosen by name, `"mse"`, or by a table of name and settings.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Reconstruction {
    /// Its row in the list.
    pub entry: &'static Entry,
    /// The loss itself.
    pub loss: Arc<dyn ReconstructionLoss>,
    settings: Table,
}

impl Reconstruction {
    /// The loss called `name` with these settings.
    pub fn new(name: &str, settings: &Table) -> Result<Self> {
        let entry = find(name)?;
        Ok(Self { entry, loss: Arc::from(build(name, settings)?), settings: complete(name, settings)? })
    }

    /// The loss of each image, summed over its pixels, `[batch, 1]`.
    pub fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        self.loss.per_image(model, outputs, images)
    }

    /// How far apart the images of each pair of rows of `[batch, pixels]` are: the loss of a decoder that gives the first where the second is
    /// wanted (T1 eq 5.24). They are for comparing pairs of the same first image, and constants for the gradient.
    pub fn between_images(&self, model: &Model, images: &Tensor<2>, pairs: &[[usize; 2]]) -> Vec<f64> {
        let Compared { outputs, images, loss } = self.loss.compared(model, constant(images));
        let n_numbers = images.dims()[1];
        loss.sums_of_pairs(&floats(outputs), &floats(images), n_numbers, pairs)
    }
}

impl Default for Reconstruction {
    fn default() -> Self {
        Self::new(mse::ENTRY.name, &Table::new()).expect("squared error has no settings")
    }
}

impl TryFrom<Value> for Reconstruction {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self> {
        match value {
            Value::String(name) => Self::new(&name, &Table::new()),
            Value::Table(mut settings) => match settings.remove("name") {
                Some(Value::String(name)) => {
                    let place = format!("reconstruction \"{name}\"");
                    Self::new(&name, &settings)
                        .map_err(|error| if error.is_about_a_name() { error } else { error.of(place) })
                }
                _ => Err(Error::new("the reconstruction loss has no name").help(LIKE)),
            },
            other => Err(Error::new(format!("found {other}, wanted the name of a reconstruction loss")).help(LIKE)),
        }
    }
}

const LIKE: &str = "wanted a name, or a table of the name and its settings, { name = \"mse\" }";

impl From<Reconstruction> for Value {
    fn from(reconstruction: Reconstruction) -> Self {
        let name = Value::String(reconstruction.entry.name.to_string());
        if reconstruction.settings.is_empty() {
            return name;
        }
        let mut table = Table::from_iter([("name".to_string(), name)]);
        table.extend(reconstruction.settings);
        Value::Table(table)
    }
}

/// Makes the reconstruction loss called `name` with the settings in `table`.
pub fn build(name: &str, table: &Table) -> Result<Box<dyn ReconstructionLoss>> {
    (find(name)?.build)(table)
}

/// All settings of the reconstruction loss called `name`, those left out of `table` at their defaults.
pub fn complete(name: &str, table: &Table) -> Result<Table> {
    (find(name)?.complete)(table)
}

/// The row of the reconstruction loss called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let entry = RECONSTRUCTIONS.iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| unknown_name("reconstruction", name, RECONSTRUCTIONS.iter().map(|entry| entry.name)))
}

/// Sums of a loss of single pixels: by the kernel that knows it where there are kernels, else in burn's operations.
fn sums(
    model: &Model,
    kernel: PixelLoss,
    per_pixel: impl Fn(Tensor<2>, Tensor<2>) -> Tensor<2>,
    outputs: Tensor<2>,
    images: Tensor<2>,
) -> Tensor<2> {
    match model.parameters.device().has_kernels() {
        true => pixel_sums(outputs, images, kernel),
        false => per_pixel(outputs, images).sum_dim(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_chosen_by_a_name_and_by_a_table() {
        for entry in RECONSTRUCTIONS {
            let by_name = Reconstruction::try_from(Value::String(entry.name.to_string())).unwrap();
            let table = Table::from_iter([("name".to_string(), Value::String(entry.name.to_string()))]);
            let by_table = Reconstruction::try_from(Value::Table(table)).unwrap();
            assert_eq!(Value::from(by_name), Value::from(by_table));
        }
        let Values::OneOf(names) = SETTING.values else { panic!("names are told") };
        assert_eq!(names, RECONSTRUCTIONS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    }

    #[test]
    fn mistakes_are_named() {
        let message = |text: &str| {
            let value = format!("value = {text}").parse::<Table>().unwrap().remove("value").unwrap();
            Reconstruction::try_from(value).unwrap_err().to_string()
        };
        assert!(message("'mes'").starts_with("no reconstruction is called \"mes\"; did you mean \"mse\"?"));
        assert!(
            message("{ name = 'mse', radius = 3 }").starts_with("reconstruction \"mse\" has no setting \"radius\"")
        );
        assert!(message("{ radius = 3 }").starts_with("the reconstruction loss has no name"));
        assert!(message("3").starts_with("found 3, wanted the name of a reconstruction loss"));
    }
}
