//! Images and labels in the idx files of MNIST. What is shown is the only factor, so the images do not form a grid.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::datasets::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::{Factor, FactorSpace};
use crate::files::data_root::Published;
use crate::files::grid_file::{PATH, Part};
use crate::files::idx::{IdxArray, read_idx};
use crate::files::store::Store;
use crate::files::stored::{Pixels, Stored};
use crate::settings::{self, Setting, Values};

/// What there is to tell apart, in both.
const N_CLASSES: usize = 10;

/// One of the two that are published so.
pub struct Variant {
    /// The row in the list of datasets.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What the labels are called.
    pub factor: &'static str,
    /// The folder of the files.
    pub published: Published,
    /// Opens it: [`build`] of itself.
    pub build: fn(&Table) -> Result<Box<dyn Dataset>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    part: Part,
}

/// Opens the folder of the files.
pub fn build(variant: &Variant, table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, part } = settings::read(table)?;
    let folder = variant.published.locate(variant.name, path.as_deref())?;
    let word = if part == Part::Train { "train" } else { "t10k" };
    let images_file = file_of(&folder, &format!("{word}-images"), "idx3-ubyte", variant)?;
    let labels_file = file_of(&folder, &format!("{word}-labels"), "idx1-ubyte", variant)?;
    let images = read_idx(&images_file)?;
    let labels = read_idx(&labels_file)?;
    let image_shape = shape_of(&images).map_err(|error| error.at(images_file.display()))?;
    let n_images = images.shape[0];
    let table = table_of(&labels, n_images).map_err(|error| error.at(labels_file.display()))?;
    let factors = FactorSpace::sample(vec![Factor { name: variant.factor.to_string(), size: Some(N_CLASSES) }]);
    let store = Store::in_memory(images.bytes, image_shape.n_pixels());
    Ok(Box::new(Stored::labelled(factors, table, image_shape, Pixels::Bytes, store).with_unordered(vec![0])))
}

/// A file by its name, which has a dot or a hyphen within and may be gzipped.
fn file_of(folder: &Path, first: &str, second: &str, variant: &Variant) -> Result<PathBuf> {
    find_file(folder, first, second).ok_or_else(|| {
        Error::new(format!("{} has no {first}-{second}.gz", folder.display()))
            .help(format!("wanted {}; from {}", variant.published.size, variant.published.place))
    })
}

/// The same, where it is there.
pub(super) fn find_file(folder: &Path, first: &str, second: &str) -> Option<PathBuf> {
    let names = ["-", "."].map(|between| format!("{first}{between}{second}"));
    let paths = names.iter().flat_map(|name| [folder.join(name), folder.join(format!("{name}.gz"))]);
    paths.into_iter().find(|path| path.is_file())
}

fn shape_of(images: &IdxArray) -> Result<ImageShape> {
    match *images.shape.as_slice() {
        [n_images, height, width] if n_images.min(height).min(width) > 0 => {
            Ok(ImageShape { height, width, channels: 1 })
        }
        _ => Err(Error::new(format!("has shape {:?}, wanted [images, height, width]", images.shape))),
    }
}

fn table_of(labels: &IdxArray, n_images: usize) -> Result<Array2<f64>> {
    if labels.shape != [n_images] {
        return Err(Error::new(format!("has labels of shape {:?}, and there are {n_images} images", labels.shape))
            .help("the two files are not of one set: get them again"));
    }
    if let Some(label) = labels.bytes.iter().find(|label| usize::from(**label) >= N_CLASSES) {
        return Err(Error::new(format!("has a label {label}, wanted 0 to {}", N_CLASSES - 1)));
    }
    let values = labels.bytes.iter().map(|&label| f64::from(label)).collect();
    Ok(Array2::from_shape_vec((n_images, 1), values).expect("a label for each image"))
}

/// The row in the list of datasets.
pub const fn entry(variant: &'static Variant) -> Entry {
    Entry {
        name: variant.name,
        about: variant.about,
        paper: variant.paper,
        settings: &[
            PATH,
            Setting {
                name: "part",
                values: Values::OneOf(&["train", "test"]),
                meaning: "the 60,000 images for training, or the 10,000 for testing",
            },
        ],
        example: "path = '../../reference/datasets/mnist'",
        published: Some(&variant.published),
        build: variant.build,
        complete: settings::complete::<Settings>,
    }
}
