//! Squared error, and with a weight that of the images filtered by a learned kernel (T1 equation 6.3).
//!
//! The kernel is a file, as `unbraid learn-kernel` writes it, and is taken as it is. Its taps are fixed parameters of the model, `kernel`, so
//! that a checkpoint has them and is refused where they are others.

use std::path::{Path, PathBuf};

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::kernel_file::read_kernel;
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, ImageShape, Result, settings};

use super::filtered::{Filtered, WEIGHT_SETTING};
use super::{Compared, Entry, ReconstructionLoss};
use crate::frameworks::MOST_WEIGHT;
use crate::model::Model;
use crate::ops::{Filter, FilteredError};
use crate::parameters::Initialiser;

const HOW: &str = "learn one first, `unbraid learn-kernel DATASET --out FOLDER`, and give it: \
     { name = \"mse_kernel\", path = \"FOLDER/kernel.npy\" }";

/// Settings of the loss; the weight is that of the author's runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<KernelPath>,
    weight: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { path: None, weight: 1.0 }
    }
}

/// The file of a kernel, as an absolute path: a run is resumed from anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PathBuf", into = "PathBuf")]
struct KernelPath(PathBuf);

impl From<PathBuf> for KernelPath {
    fn from(path: PathBuf) -> Self {
        Self(std::path::absolute(&path).unwrap_or(path))
    }
}

impl From<KernelPath> for PathBuf {
    fn from(path: KernelPath) -> Self {
        path.0
    }
}

#[derive(Debug)]
struct MseKernel {
    settings: Settings,
    filtered: Filtered,
}

impl MseKernel {
    fn new(settings: Settings) -> Result<Self> {
        check_range("weight", settings.weight, 0.0, MOST_WEIGHT)?;
        Ok(Self { settings, filtered: Filtered::default() })
    }
}

impl ReconstructionLoss for MseKernel {
    fn per_image(&self, model: &Model, outputs: Tensor<2>, images: Tensor<2>) -> Tensor<2> {
        self.filtered.per_image(model, outputs, images)
    }

    fn compared(&self, model: &Model, images: Tensor<2>) -> Compared {
        self.filtered.compared(model, images)
    }

    fn initialise(&self, shape: ImageShape, initialiser: &mut Initialiser) -> Result<()> {
        let Some(KernelPath(path)) = &self.settings.path else {
            return Err(Error::new("setting \"path\" of \"mse_kernel\" is left out").help(HOW));
        };
        let kernel = read_kernel(path).map_err(|error| of_setting(error, path))?;
        let weight = self.settings.weight as f32;
        let weighted = kernel.taps().iter().map(|tap| tap * weight.sqrt()).collect();
        let filter = |shape| FilteredError { filter: Filter::kernel(shape, kernel.taps()), weight };
        self.filtered.make(shape, filter, weighted);
        initialiser.fixed("kernel", kernel.taps().to_vec(), [kernel.side(); 2]);
        Ok(())
    }
}

fn of_setting(error: Error, path: &Path) -> Error {
    let error = error.at("reconstruction \"mse_kernel\"");
    match path.exists() {
        true => error,
        false => error.more_help(
            "a kernel that was moved is told to the run that needs it by `unbraid resume RUN --set framework.reconstruction.path=FILE` \
             (framework.perceived.path where it orders triplets)",
        ),
    }
}

/// The setting by which the kernel is told.
const PATH_SETTING: Setting = Setting {
    name: "path",
    values: Values::Words("an .npy file of a kernel; has to be there"),
    meaning: "the kernel, [side, side] of an odd side, as `unbraid learn-kernel` writes it",
};

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mse_kernel",
    about: "squared error of each pixel, and of the images filtered by a learned kernel",
    paper: "Michlo, thesis section 6.1",
    settings: &[PATH_SETTING, WEIGHT_SETTING],
    example: "path = 'kernel.npy'",
    wants_unit_pixels: false,
    build: |table| Ok(Box::new(MseKernel::new(settings::read(table)?)?)),
    complete: settings::complete::<Settings>,
};
