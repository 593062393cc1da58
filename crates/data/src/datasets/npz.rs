//! `npz`: one's own images in an `.npz` file of numpy, with or without factors.
//!
//! `images` is `[n, height, width]` or `[n, height, width, channels]`, of bytes or of floats in [0, 1]. `factors` `[n, factors]`,
//! `factor_names` and `factor_sizes` (0 for a continuous factor) may stand beside it, as `unbraid data export` writes them. Where
//! every combination of discrete factors is there exactly once, images are numbered by the grid that they form, in whatever
//! order they are stored.

use std::path::PathBuf;

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry};
use crate::error::{Error, Result};
use crate::factor_array::{check_count, factor_array, rows_and_factors};
use crate::factor_kinds::{FactorKinds, factor_space};
use crate::factor_space::FactorSpace;
use crate::files::image_array::{ImageArray, open_images};
use crate::files::npz::Npz;
use crate::files::stored::Stored;
use crate::npy::{NpyArray, indices};
use crate::settings::{self, Setting, Values};
use crate::words::counted;

/// More than anyone has told of images.
const MOST_FACTORS: usize = 1 << 16;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path } = settings::read(table)?;
    let Some(path) = path else {
        return Err(Error::new("has no path").help("say where the images are: path = \"mine.npz\""));
    };
    let mut npz = Npz::open(&path)?;
    let images = open_images(&path, &mut npz, "images")?;
    let labels = read_labels(&mut npz, images.n_images).map_err(|error| error.at(path.display()))?;
    let ImageArray { image_shape, pixels, store, .. } = images;
    let stored = Stored::labelled(labels.space, labels.values, image_shape, pixels, store);
    Ok(Box::new(stored.with_unordered(labels.texts)))
}

/// What a file tells of factors.
struct Labels {
    space: FactorSpace,
    /// `[images, factors]`.
    values: Array2<f64>,
    /// Positions of factors that are text.
    texts: Vec<usize>,
}

fn read_labels(npz: &mut Npz, n_images: usize) -> Result<Labels> {
    check_announced(npz, n_images)?;
    let Some(stored) = npz.array("factors")? else {
        return Ok(Labels { space: FactorSpace::sample(vec![]), values: Array2::zeros((n_images, 0)), texts: vec![] });
    };
    let at = |name: &'static str| move |error: Error| error.at(format!("array \"{name}\""));
    let names = npz.array("factor_names")?.as_ref().map(NpyArray::to_text).transpose().map_err(at("factor_names"))?;
    let sizes = npz.array("factor_sizes")?.as_ref().map(indices).transpose().map_err(at("factor_sizes"))?;
    let kinds = FactorKinds::default();
    let mut factors = factor_array(&stored, names, sizes.as_deref(), &kinds).map_err(at("factors"))?;
    let space = factor_space(&mut factors.values, factors.stated, &kinds)?;
    check_values(&factors.values, &space)?;
    Ok(Labels { space, values: factors.values, texts: factors.texts })
}

/// Compares the shapes that are announced with each other before any array is read: a small archive can hold arrays that fill
/// the memory.
fn check_announced(npz: &mut Npz, n_images: usize) -> Result<()> {
    let Some(factors) = npz.announced("factors")? else { return Ok(()) };
    let at = |error: Error| error.at("array \"factors\"");
    let (n_rows, n_factors) = rows_and_factors(&factors.shape).map_err(at)?;
    if n_rows != n_images {
        return Err(Error::new(format!("there are {} of factors, but {n_images} images", counted(n_rows, "row"))));
    }
    if n_factors > MOST_FACTORS {
        let message = format!("has {n_factors} columns, wanted at most {MOST_FACTORS}");
        return Err(at(Error::new(message)).help("wanted one row for each image, and one column for each factor"));
    }
    for name in ["factor_names", "factor_sizes"] {
        if let Some([n_entries]) = npz.announced(name)?.as_ref().map(|announced| announced.shape.as_slice()) {
            check_count(name, *n_entries, n_factors).map_err(at)?;
        }
    }
    Ok(())
}

/// Every value is finite, and one that its factor takes.
pub(super) fn check_values(values: &Array2<f64>, space: &FactorSpace) -> Result<()> {
    for (column, factor) in values.columns().into_iter().zip(space.factors()) {
        let is_taken = |value: f64| match factor.size {
            Some(size) => value.fract() == 0.0 && value >= 0.0 && value < size as f64,
            None => value.is_finite(),
        };
        if let Some(row) = column.iter().position(|&value| !is_taken(value)) {
            let wanted = match factor.size {
                Some(size) => format!("wanted whole numbers from 0 to {}, or factor_sizes that are larger", size - 1),
                None => "wanted finite numbers".to_string(),
            };
            return Err(Error::new(format!("factor \"{}\" is {} at row {row}", factor.name, column[row])).help(wanted));
        }
    }
    Ok(())
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "npz",
    about: "Your own images in an .npz file of numpy: images, and factors where you have them",
    paper: "your own",
    settings: &[Setting {
        name: "path",
        values: Values::Words("the path of an .npz file"),
        meaning: "the file: images, and maybe factors, factor_names and factor_sizes",
    }],
    example: "path = '../../reference/datasets/own_factors.npz'",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};
