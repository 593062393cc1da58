//! Folders of numbered pictures, as Falcor3D and Isaac3D are published: `images/000000.png` and so on. The numbers count the
//! factors, the first most significant.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::datasets::{Dataset, Entry};
use crate::error::{Error, Result};
use crate::factor_space::values_of;
use crate::files::data_root::Published;
use crate::files::grid_file::{FACTOR_SIZES, PATH, grid_of, wrong_count};
use crate::files::picture::list_pictures;
use crate::files::pictures::{Crop, Labels, Pictures};
use crate::settings;

/// A folder of numbered pictures.
pub struct Folder {
    /// The row in the list of datasets.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// The factors in the order of the numbers.
    pub factors: &'static [&'static str],
    /// How many values each takes.
    pub sizes: &'static [usize],
    /// Positions of those whose values have no order.
    pub unordered: &'static [usize],
    /// The folder.
    pub published: Published,
    /// Settings with which tests open it.
    pub example: &'static str,
    /// Opens it: [`build`] of itself.
    pub build: fn(&Table) -> Result<Box<dyn Dataset>>,
}

/// Where both are published.
pub const PLACE: &str = "https://github.com/NVlabs/High-res-disentanglement-datasets";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    factor_sizes: Option<Vec<usize>>,
}

/// Opens the folder.
pub fn build(folder: &Folder, table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, factor_sizes } = settings::read(table)?;
    let space = grid_of(folder.factors, &factor_sizes.unwrap_or_else(|| folder.sizes.to_vec()))?;
    let path = folder.published.locate(folder.name, path.as_deref())?;
    let images = path.join("images");
    let files = list_pictures(if images.is_dir() { &images } else { &path })?;
    let n_images = space.n_combinations()?;
    if files.len() != n_images {
        return Err(wrong_count(&path, "the folder", files.len(), &space));
    }
    let files = in_order(files)?;
    let sizes = space.grid_sizes()?;
    let values = Array2::from_shape_vec(
        (n_images, sizes.len()),
        (0..n_images).flat_map(|number| values_of(number, &sizes)).map(|value| value as f64).collect(),
    );
    let values = values.expect("a value for each factor");
    Ok(Box::new(Pictures::open(
        files,
        3,
        Crop::Square,
        Labels { space, values, unordered: folder.unordered.to_vec() },
    )?))
}

/// The pictures in the order of their numbers, which go from 0 without a gap.
fn in_order(files: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut numbered: Vec<(usize, PathBuf)> =
        files.into_iter().map(|file| Ok((number_of(&file)?, file))).collect::<Result<_>>()?;
    numbered.sort();
    for (wanted, (number, file)) in numbered.iter().enumerate() {
        if *number != wanted {
            return Err(Error::new(format!("picture {wanted} is missing: {} comes in its place", file.display()))
                .help("the folder is not whole: unpack it again"));
        }
    }
    Ok(numbered.into_iter().map(|(_, file)| file).collect())
}

fn number_of(file: &Path) -> Result<usize> {
    let number = file.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
    number.ok_or_else(|| {
        Error::new(format!("{} has no number for a name", file.display()))
            .help("wanted pictures like images/000000.png")
    })
}

/// The row in the list of datasets.
pub const fn entry(folder: &'static Folder) -> Entry {
    Entry {
        name: folder.name,
        about: folder.about,
        paper: "Nie et al. 2020",
        settings: &[PATH, FACTOR_SIZES],
        example: folder.example,
        published: Some(&folder.published),
        build: folder.build,
        complete: settings::complete::<Settings>,
    }
}
