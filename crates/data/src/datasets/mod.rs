//! Datasets: what they are, the list of all, and how one is opened from its settings.

pub(crate) mod cars3d;
pub(crate) mod celeba;
mod dsprites;
mod dsprites_color;
mod dsprites_imagenet;
mod dsprites_noisy;
mod dsprites_scream;
mod falcor3d;
mod fashion_mnist;
pub(crate) mod folder;
mod isaac3d;
mod mnist;
mod mpi3d_complex;
mod mpi3d_real;
mod mpi3d_realistic;
mod mpi3d_toy;
mod npz;
mod shapes3d;
mod shapes3d_made;
pub(crate) mod smallnorb;
mod synth_linear;
mod synth_nonlinear;
mod xy_object;
mod xy_object_shaded;
mod xy_squares;

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::error::{Error, Result, did_you_mean, unknown_name};
use crate::factor_space::{FactorSpace, values_of};
use crate::files::data_root::Published;
use crate::settings::Setting;
pub use crate::shared_settings::SHARED_SETTINGS;
use crate::shared_settings::Shared;
use crate::standardised::Standardised;

/// Every dataset, in the order in which they are shown.
pub const DATASETS: &[Entry] = &[
    xy_squares::ENTRY,
    xy_object::ENTRY,
    xy_object_shaded::ENTRY,
    dsprites::ENTRY,
    dsprites_color::ENTRY,
    dsprites_noisy::ENTRY,
    dsprites_scream::ENTRY,
    dsprites_imagenet::ENTRY,
    shapes3d_made::ENTRY,
    synth_linear::ENTRY,
    synth_nonlinear::ENTRY,
    shapes3d::ENTRY,
    cars3d::ENTRY,
    smallnorb::ENTRY,
    mpi3d_toy::ENTRY,
    mpi3d_realistic::ENTRY,
    mpi3d_real::ENTRY,
    mpi3d_complex::ENTRY,
    falcor3d::ENTRY,
    isaac3d::ENTRY,
    celeba::ENTRY,
    mnist::ENTRY,
    fashion_mnist::ENTRY,
    npz::ENTRY,
    folder::ENTRY,
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

    /// Whether each pixel is a number in [0, 1], as in all pictures.
    fn has_unit_pixels(&self) -> bool {
        self.holds_bytes()
    }

    /// Positions of the factors whose values have no order, like shapes.
    fn unordered_factors(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The row of the file that image `index` is, where images are numbered in another order than they lie in.
    fn file_row(&self, _index: usize) -> Option<usize> {
        None
    }

    /// What image `index` is called where it comes from, as the path of a file.
    fn image_name(&self, _index: usize) -> Option<String> {
        None
    }

    /// Delivers images of `size` rows and columns from now on, where it can do that better than by resizing what it delivers
    /// now: whether it does.
    fn resize_to(&mut self, _size: usize) -> bool {
        false
    }

    /// Itself, where its pixels are standardised: pictures are drawn of what they were before.
    fn as_standardised(&self) -> Option<&Standardised> {
        None
    }

    /// Writes the factors of image `index` into `values`.
    fn read_factors(&self, index: usize, values: &mut [f64]) {
        read_grid_factors(self.factors(), index, values);
    }
}

/// Writes the factors of image `index` of a grid into `values`.
pub(crate) fn read_grid_factors(factors: &FactorSpace, index: usize, values: &mut [f64]) {
    let sizes = factors.grid_sizes().expect("a dataset that is no grid has its own way to read factors");
    for (value, whole) in values.iter_mut().zip(values_of(index, &sizes)) {
        *value = whole as f64;
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
    /// The file that it is read from, where it is not generated.
    pub published: Option<&'static Published>,
    /// Opens it with these settings.
    pub build: fn(&Table) -> Result<Box<dyn Dataset>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}

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

/// Opens the dataset called `name`. Beside its own settings every dataset takes those of [`SHARED_SETTINGS`].
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
    build_fitting(name, settings, &|_| None)
}

/// The same; where no `size` is set, `fit` is given the shape of the images, and may give another size that they are resized to.
pub fn build_fitting(
    name: &str,
    settings: &Table,
    fit: &dyn Fn(ImageShape) -> Option<usize>,
) -> Result<Box<dyn Dataset>> {
    let entry = find(name)?;
    let (own, shared) = Shared::take(settings)?;
    check_own(entry, &own)?;
    shared.apply((entry.build)(&own)?, fit)
}

/// The table of every setting of the dataset called `name`, those left out at their defaults. Of those that all datasets share,
/// only `standardise` is filled in.
pub fn complete(name: &str, settings: &Table) -> Result<Table> {
    let entry = find(name)?;
    let (own, shared) = Shared::take(settings)?;
    check_own(entry, &own)?;
    let mut completed = (entry.complete)(&own)?;
    completed.extend(shared.to_table());
    Ok(completed)
}

/// Refuses a key that is neither the dataset's own nor shared by all, with the closest of both.
fn check_own(entry: &Entry, own: &Table) -> Result<()> {
    let names = || entry.settings.iter().map(|setting| setting.name);
    let Some(key) = own.keys().find(|key| !names().any(|name| name == key.as_str())) else { return Ok(()) };
    let shared: Vec<&str> = SHARED_SETTINGS.iter().map(|setting| setting.name).collect();
    let close = did_you_mean(key, names().chain(shared.iter().copied()));
    let own: Vec<&str> = names().collect();
    let own = if own.is_empty() { String::new() } else { format!("it has {}; ", own.join(", ")) };
    Err(Error::new(format!("has no setting \"{key}\"{close}"))
        .help(format!("{own}every dataset has {}", shared.join(", "))))
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
