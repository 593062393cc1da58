//! A dataset whose images have another size: the setting `size` that every dataset takes, and what a network needs.

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::files::resize::Resizer;

/// A larger image is more than any network here takes.
pub const MOST_SIZE: usize = 1024;

/// A dataset of bytes in another size, by antialiased bilinear interpolation.
pub struct Resized {
    original: Box<dyn Dataset>,
    size: usize,
    resizer: Resizer,
}

impl Resized {
    /// Images of `size` rows and columns.
    pub fn new(original: Box<dyn Dataset>, size: usize) -> Result<Self> {
        if !original.holds_bytes() {
            return Err(Error::new("only images of bytes are resized, and the dataset's pixels are other numbers")
                .help("resize them before they are saved, or save them as bytes (uint8)"));
        }
        let ImageShape { height, width, channels } = original.image_shape();
        Ok(Self { original, size, resizer: Resizer::new((height, width), (size, size), channels) })
    }
}

impl Dataset for Resized {
    fn factors(&self) -> &FactorSpace {
        self.original.factors()
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: self.size, width: self.size, ..self.original.image_shape() }
    }

    fn n_images(&self) -> usize {
        self.original.n_images()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let mut large = vec![0.0; self.original.image_shape().n_pixels()];
        self.original.read_image(index, &mut large)?;
        let bytes: Vec<u8> = large.iter().map(|pixel| (pixel * 255.0 + 0.5) as u8).collect();
        let mut resized = vec![0; pixels.len()];
        self.resizer.resize(&bytes, &mut resized);
        pixels.iter_mut().zip(&resized).for_each(|(pixel, &byte)| *pixel = f32::from(byte) / 255.0);
        Ok(())
    }

    fn file_row(&self, index: usize) -> Option<usize> {
        self.original.file_row(index)
    }

    fn image_name(&self, index: usize) -> Option<String> {
        self.original.image_name(index)
    }

    fn unordered_factors(&self) -> Vec<usize> {
        self.original.unordered_factors()
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        self.original.read_factors(index, values);
    }
}
