//! Datasets: what they are, the list of all, and how one is opened from its settings.

mod dsprites;
mod synth_linear;
mod synth_nonlinear;
mod xy_object;
mod xy_object_shaded;
mod xy_squares;

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::{Error, Result, unknown_name};
use crate::factor_space::{FactorSpace, values_of};
use crate::settings::{Setting, Values};
use crate::standardised::Standardised;
use crate::sub_grid::SubGrid;

/// Every dataset, in the order in which they are shown.
pub const DATASETS: &[Entry] = &[
    xy_squares::ENTRY,
    xy_object::ENTRY,
    xy_object_shaded::ENTRY,
    dsprites::ENTRY,
    synth_linear::ENTRY,
    synth_nonlinear::ENTRY,
];

/// Images and the factors behind them. Opening a dataset may fail, and so may reading an image.
pub trait Dataset: Send + Sync {
    /// The factors behind the images.
    fn factors(&self) -> &FactorSpace;

    /// The shape of every image.
    fn image_shape(&self) -> ImageShape;

    /// How many images there are.
    fn n_images(&self) -> usize;

    /// Writes image `index` into `pixels`, `[height, width, channels]`. Where `holds_bytes`, each pixel is a byte
    /// divided by 255, so in [0, 1]. An error where it cannot be read, as where a file was cut or a disk is gone; the caller
    /// adds which image it is.
    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()>;

    /// Whether each pixel is a byte divided by 255, as in all pictures; points in space and standardised pixels are not.
    fn holds_bytes(&self) -> bool {
        true
    }

    /// Itself, where its pixels are standardised: pictures are drawn of what they were before.
    fn as_standardised(&self) -> Option<&Standardised> {
        None
    }

    /// Writes the factors of image `index` into `values`.
    fn read_factors(&self, index: usize, values: &mut [f64]) {
        let sizes = self.factors().grid_sizes().expect("a dataset that is no grid has its own way to read factors");
        for (value, whole) in values.iter_mut().zip(values_of(index, &sizes)) {
            *value = whole as f64;
        }
    }
}

/// Height, width and channels of an image; a point in space is an image of height and width 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageShape {
    /// Rows of pixels.
    pub height: usize,
    /// Pixels in a row.
    pub width: usize,
    /// 1 for grey, 3 for colour.
    pub channels: usize,
}

impl ImageShape {
    /// How many numbers an image has.
    pub fn n_pixels(self) -> usize {
        self.height * self.width * self.channels
    }
}

/// Checks image numbers that came from outside: at least one, and all of images that there are.
pub fn check_indices(dataset: &dyn Dataset, indices: &[usize]) -> Result<()> {
    if indices.is_empty() {
        return Err(Error::new("no image numbers were given").help("leave them out to take all images"));
    }
    let n_images = dataset.n_images();
    match indices.iter().find(|&&index| index >= n_images) {
        Some(index) => Err(Error::new(format!("there is no image {index}: the dataset has {n_images}"))
            .help(format!("they are numbered 0 to {}", n_images - 1))),
        None => Ok(()),
    }
}

/// The images with these numbers, `[rows, height, width, channels]`, read side by side.
pub fn read_images(dataset: &dyn Dataset, numbers: &[usize]) -> Result<Vec<f32>> {
    let n_pixels = dataset.image_shape().n_pixels();
    let mut images = vec![0.0; numbers.len() * n_pixels];
    let read =
        images.par_chunks_mut(n_pixels).zip(numbers).map(|(pixels, &number)| read_numbered(dataset, number, pixels));
    // The first in order, whichever thread comes first.
    read.collect::<Vec<_>>().into_iter().collect::<Result<()>>()?;
    Ok(images)
}

/// Reads image `number`; the error where that fails says which image it is.
pub fn read_numbered(dataset: &dyn Dataset, number: usize, pixels: &mut [f32]) -> Result<()> {
    dataset.read_image(number, pixels).map_err(|error| error.at(format!("image {number}")).on_the_way())
}

/// The factors of the images with these numbers, `[rows, factors]`.
pub fn read_factors(dataset: &dyn Dataset, numbers: &[usize]) -> Array2<f64> {
    let mut factors = Array2::zeros((numbers.len(), dataset.factors().n_factors()));
    for (mut values, &number) in factors.outer_iter_mut().zip(numbers) {
        dataset.read_factors(number, values.as_slice_mut().expect("a new matrix is row-major"));
    }
    factors
}

/// One row of the list of datasets.
pub struct Entry {
    /// The name in configs and commands.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its settings, in the order in which they are told.
    pub settings: &'static [Setting],
    /// Settings, as TOML, with which tests that walk the list open it; paths in it start from the folder of a crate.
    pub example: &'static str,
    /// Opens it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Dataset>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

/// The settings that every dataset takes beside its own.
pub const SHARED_SETTINGS: &[Setting] = &[
    Setting {
        name: "fix",
        values: Values::Words("a table of factors and values, like { shape = 0 }"),
        meaning: "factors that are held at a value, numbered from 0, and leave the factor space; none where left out",
    },
    Setting {
        name: "standardise",
        values: Values::Flag,
        meaning: "whether each channel has its mean taken away and is divided by its deviation; false where left out",
    },
];

impl Entry {
    /// The settings with which tests that walk the list open it.
    pub fn example_settings(&self) -> Table {
        self.example.parse().expect("an example is TOML, which a test reads of every row")
    }
}

/// The row of the dataset called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    let names = DATASETS.iter().map(|entry| entry.name);
    DATASETS.iter().find(|entry| entry.name == name).ok_or_else(|| unknown_name("dataset", name, names))
}

/// Opens the dataset called `name`. Beside its own settings every dataset takes `fix = { shape = 0 }`, which holds the
/// named factors at a value and takes them out of the factor space, and then `standardise = true` ([`SHARED_SETTINGS`]).
///
/// ```
/// use unbraid_data::datasets;
///
/// let settings = "squares = 1\nrgb = false".parse()?;
/// let dataset = datasets::build("xy_squares", &settings)?;
/// let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
/// dataset.read_image(5, &mut pixels)?;
/// assert_eq!(dataset.n_images(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build(name: &str, settings: &Table) -> Result<Box<dyn Dataset>> {
    let entry = find(name)?;
    let Taken { own, fix, standardise } = take_shared(settings)?;
    let mut dataset = (entry.build)(&own)?;
    if let Some(fix) = fix.filter(|fix| !fix.is_empty()) {
        dataset = Box::new(SubGrid::new(dataset, &fix)?);
    }
    if standardise {
        dataset = Box::new(Standardised::new(dataset)?);
    }
    Ok(dataset)
}

/// The table of every setting of the dataset called `name`, those left out at their defaults; `fix` is kept as it is.
pub fn complete(name: &str, settings: &Table) -> Result<Table> {
    let entry = find(name)?;
    let Taken { own, fix, standardise } = take_shared(settings)?;
    let mut completed = (entry.complete)(&own)?;
    if let Some(fix) = fix {
        completed.insert("fix".to_string(), Value::Table(fix));
    }
    completed.insert("standardise".to_string(), Value::Boolean(standardise));
    Ok(completed)
}

/// A dataset's own settings, and those that all share.
struct Taken {
    own: Table,
    fix: Option<Table>,
    standardise: bool,
}

fn take_shared(settings: &Table) -> Result<Taken> {
    let mut own = settings.clone();
    let fix = match own.remove("fix") {
        None => None,
        Some(Value::Table(fix)) => Some(fix),
        Some(other) => {
            return Err(Error::new(format!("setting \"fix\" is {other}, which is not a table"))
                .help("write the factors and their values, for instance fix = { shape = 0, scale = 2 }"));
        }
    };
    let standardise = match own.remove("standardise") {
        None => false,
        Some(Value::Boolean(standardise)) => standardise,
        Some(other) => {
            return Err(Error::new(format!("setting \"standardise\" is {other}")).help("it takes true or false"));
        }
    };
    Ok(Taken { own, fix, standardise })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    fn message(name: &str, settings: &str) -> String {
        build(name, &table(settings)).err().unwrap().to_string()
    }

    #[test]
    fn a_misspelt_dataset_gets_a_suggestion() {
        let expected = "no dataset is called \"dsprite\"; did you mean \"dsprites\"?";
        assert!(message("dsprite", "").starts_with(expected));
        assert!(complete("dsprite", &Table::new()).unwrap_err().to_string().starts_with(expected));
    }

    #[test]
    fn every_dataset_takes_fix_beside_its_own_settings() {
        let dataset = build("xy_squares", &table("spacing = 14\nfix = { x_R = 1 }")).unwrap();
        assert_eq!(dataset.factors().grid_sizes().unwrap(), [5, 5, 5, 5, 5]);
        let completed = complete("xy_object", &table("fix = { x = 1 }")).unwrap();
        assert_eq!(completed, table("fix = { x = 1 }\nstandardise = false"));
    }

    #[test]
    fn shared_settings_have_their_types() {
        assert!(message("xy_object", "fix = 3").starts_with("setting \"fix\" is 3, which is not a table"));
        let expected = "setting \"standardise\" is \"yes\"\n       it takes true or false";
        assert_eq!(message("xy_object", "standardise = 'yes'"), expected);
    }

    #[test]
    fn an_unknown_setting_is_an_error() {
        assert!(message("xy_squares", "squars = 2").contains("no setting \"squars\"; did you mean \"squares\"?"));
    }
}
