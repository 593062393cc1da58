//! The four files of MPI3D: a robot arm that carries an object.
//!
//! Gondal et al. 2019, "On the transfer of inductive bias from simulation to the real world: a new disentanglement dataset". Each
//! file is an `.npz` with the array `images` of bytes and no factors: these follow from the order of the images.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::datasets::{Dataset, Entry};
use crate::error::Result;
use crate::files::data_root::Published;
use crate::files::grid_file::{FACTOR_SIZES, PATH, grid_of, wrong_count};
use crate::files::image_array::{ImageArray, open_images};
use crate::files::npz::Npz;
use crate::files::stored::{Pixels, Stored};
use crate::settings;

const NAMES: [&str; 7] = [
    "object_color",
    "object_shape",
    "object_size",
    "camera_height",
    "background_color",
    "horizontal_axis",
    "vertical_axis",
];
/// Colours, shapes and backgrounds have no order.
const UNORDERED: [usize; 3] = [0, 1, 4];

/// One of the four files.
pub struct Variant {
    /// The row in the list of datasets.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// How many values each factor takes.
    pub sizes: [usize; 7],
    /// The file.
    pub published: Published,
    /// Opens it: [`build`] of itself.
    pub build: fn(&Table) -> Result<Box<dyn Dataset>>,
}

/// The sizes of three of them; the fourth has fewer colours and shapes.
pub const SIZES: [usize; 7] = [6, 6, 2, 3, 3, 40, 40];
/// Where they are published.
pub const PLACE: &str = "https://github.com/rr-learning/disentanglement_dataset";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    factor_sizes: Option<Vec<usize>>,
}

/// Opens one of the files.
pub fn build(variant: &Variant, table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, factor_sizes } = settings::read(table)?;
    let sizes = factor_sizes.unwrap_or_else(|| variant.sizes.to_vec());
    let factors = grid_of(&NAMES, &sizes)?;
    let path = variant.published.locate(variant.name, path.as_deref())?;
    let ImageArray { n_images, image_shape, pixels, store } = open_images(&path, &mut Npz::open(&path)?, "images")?;
    let wanted = factors.n_combinations()?;
    if (n_images, pixels) != (wanted, Pixels::Bytes) {
        return Err(wrong_count(&path, "array \"images\"", n_images, &factors));
    }
    Ok(Box::new(Stored::grid(factors, image_shape, pixels, store)?.with_unordered(UNORDERED.to_vec())))
}

/// The row in the list of datasets.
pub const fn entry(variant: &'static Variant) -> Entry {
    Entry {
        name: variant.name,
        about: variant.about,
        paper: "Gondal et al. 2019",
        settings: &[PATH, FACTOR_SIZES],
        example: "path = '../../reference/datasets/mpi3d.npz'\nfactor_sizes = [2, 2, 1, 1, 2, 3, 3]",
        published: Some(&variant.published),
        build: variant.build,
        complete: settings::complete::<Settings>,
    }
}
