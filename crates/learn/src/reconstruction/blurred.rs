//! What the losses share that blur by a kernel of a radius: their settings, and the loss itself.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{ImageShape, Result, settings};

use super::filtered::{Filtered, WEIGHT_SETTING};
use super::{Compared, ReconstructionLoss};
use crate::frameworks::MOST_WEIGHT;
use crate::model::Model;
use crate::ops::{FilterShape, FilteredError};
use crate::parameters::Initialiser;

/// Kernels that reach farther than this are asked for by mistake.
const MOST_RADIUS: usize = 255;

/// What a config may set.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "radius",
        values: Values::Whole(1, MOST_RADIUS as u64),
        meaning: "pixels that the kernel reaches to each side",
    },
    WEIGHT_SETTING,
];

/// Settings of a blurring loss; the defaults are those of T1: section 3.4.1 for the weight, 63 times 63, and tables 4.1 and 6.1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How far the kernel reaches to each side.
    pub radius: usize,
    /// The weight of the squared error of blurred images.
    pub weight: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { radius: 31, weight: 3969.0 }
    }
}

/// A blur: the filter for images of a shape with the weight of what it gives, and the same as a kernel `[side, side]`, times the root of the
/// weight.
pub struct Blur {
    /// For images of a shape.
    pub error: fn(FilterShape, &Settings) -> FilteredError,
    /// As a kernel.
    pub kernel: fn(&Settings) -> Vec<f32>,
}

/// The loss with the settings of a table.
pub fn build(table: &Table, blur: Blur) -> Result<Box<dyn ReconstructionLoss>> {
    let settings: Settings = settings::read(table)?;
    check_range("radius", settings.radius, 1, MOST_RADIUS)?;
    check_range("weight", settings.weight, 0.0, MOST_WEIGHT)?;
    Ok(Box::new(Blurred { settings, blur, filtered: Filtered::default() }))
}

struct Blurred {
    settings: Settings,
    blur: Blur,
    filtered: Filtered,
}

impl std::fmt::Debug for Blurred {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Blurred({:?})", self.settings)
    }
}

impl ReconstructionLoss for Blurred {
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        self.filtered.per_image(model, outputs, images)
    }

    fn compared(&self, model: &Model, images: Tensor<2>) -> Compared {
        self.filtered.compared(model, images)
    }

    fn initialise(&self, shape: ImageShape, _initialiser: &mut Initialiser) -> Result<()> {
        let error = |shape| (self.blur.error)(shape, &self.settings);
        self.filtered.make(shape, error, (self.blur.kernel)(&self.settings));
        Ok(())
    }
}
