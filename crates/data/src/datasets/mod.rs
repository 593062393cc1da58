//! Datasets: what they are, the list of all, and how one is opened from its settings.

use toml::Table;

use crate::error::Result;
use crate::factor_space::{FactorSpace, values_of};

/// Images and the factors behind them. Opening a dataset may fail, reading an image may not.
pub trait Dataset: Send + Sync {
    /// The factors behind the images.
    fn factors(&self) -> &FactorSpace;

    /// The shape of every image.
    fn image_shape(&self) -> ImageShape;

    /// How many images there are.
    fn n_images(&self) -> usize;

    /// Writes image `index` into `pixels`, `[height, width, channels]`. Where `holds_bytes`, each pixel is a byte
    /// divided by 255, so in [0, 1].
    fn read_image(&self, index: usize, pixels: &mut [f32]);

    /// Whether each pixel is a byte divided by 255, as in all pictures; points in space are not.
    fn holds_bytes(&self) -> bool {
        true
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// One row of the list of datasets.
pub struct Entry {
    /// The name in configs and commands.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Opens it with these settings.
    pub open: fn(&Table) -> Result<Box<dyn Dataset>>,
    /// Fills in the settings that were left out.
    pub complete: fn(&Table) -> Result<Table>,
}
