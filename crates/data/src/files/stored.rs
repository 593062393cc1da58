//! A dataset whose images lie in a store, one after the other: what most files are opened as.

use ndarray::Array2;

use crate::datasets::{Dataset, ImageShape, read_grid_factors};
use crate::error::Result;
use crate::factor_space::{FactorSpace, index_of};
use crate::files::store::Store;

/// What the bytes of an image are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixels {
    /// A byte for each pixel, 0 to 255.
    Bytes,
    /// A byte for each pixel, 0 or 1.
    Bits,
    /// A 32-bit float for each pixel, in [0, 1].
    UnitFloats,
    /// Any 32-bit float for each number of a point in space.
    Floats,
}

impl Pixels {
    /// Bytes of a pixel.
    pub fn n_bytes(self) -> usize {
        match self {
            Self::Bytes | Self::Bits => 1,
            Self::UnitFloats | Self::Floats => 4,
        }
    }
}

/// Images in a store.
pub struct Stored {
    factors: FactorSpace,
    /// The factors of each image, `[images, factors]`, where they do not form a grid.
    table: Option<Array2<f64>>,
    /// Where in the store each image lies, where it is not at the place of its number.
    order: Option<Vec<usize>>,
    n_images: usize,
    image_shape: ImageShape,
    pixels: Pixels,
    store: Store,
    unordered: Vec<usize>,
}

impl Stored {
    /// Images that form a grid, and lie in the order of its numbering.
    pub fn grid(factors: FactorSpace, image_shape: ImageShape, pixels: Pixels, store: Store) -> Result<Self> {
        let n_images = factors.n_combinations()?;
        Ok(Self { factors, table: None, order: None, n_images, image_shape, pixels, store, unordered: Vec::new() })
    }

    /// Images with a table of factors `[images, factors]`. Where the factors form a grid, images are numbered by it.
    pub fn labelled(
        factors: FactorSpace,
        table: Array2<f64>,
        image_shape: ImageShape,
        pixels: Pixels,
        store: Store,
    ) -> Self {
        let n_images = table.nrows();
        let order = factors.grid_sizes().ok().map(|sizes| order_of_grid(&table, &sizes));
        let table = if order.is_some() { None } else { Some(table) };
        Self { factors, table, order, n_images, image_shape, pixels, store, unordered: Vec::new() }
    }

    /// The factors at these positions have values without an order.
    pub fn with_unordered(mut self, unordered: Vec<usize>) -> Self {
        self.unordered = unordered;
        self
    }
}

/// For each number of a grid the row that has its combination of values. Every combination is there once.
fn order_of_grid(table: &Array2<f64>, sizes: &[usize]) -> Vec<usize> {
    let mut order = vec![0; table.nrows()];
    for (row, values) in table.outer_iter().enumerate() {
        let values: Vec<usize> = values.iter().map(|&value| value as usize).collect();
        order[index_of(&values, sizes)] = row;
    }
    order
}

impl Dataset for Stored {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        self.image_shape
    }

    fn n_images(&self) -> usize {
        self.n_images
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let place = self.order.as_ref().map_or(index, |order| order[index]);
        let mut bytes = vec![0; self.store.item_bytes()];
        self.store.read(place, &mut bytes)?;
        match self.pixels {
            Pixels::Bytes => pixels.iter_mut().zip(&bytes).for_each(|(pixel, &byte)| *pixel = f32::from(byte) / 255.0),
            Pixels::Bits => pixels.iter_mut().zip(&bytes).for_each(|(pixel, &byte)| *pixel = f32::from(byte.min(1))),
            Pixels::UnitFloats | Pixels::Floats => {
                let floats = bytes.as_chunks::<4>().0.iter().map(|&chunk| f32::from_le_bytes(chunk));
                pixels.iter_mut().zip(floats).for_each(|(pixel, float)| *pixel = float);
            }
        }
        Ok(())
    }

    fn holds_bytes(&self) -> bool {
        matches!(self.pixels, Pixels::Bytes | Pixels::Bits)
    }

    fn has_unit_pixels(&self) -> bool {
        self.pixels != Pixels::Floats
    }

    fn file_row(&self, index: usize) -> Option<usize> {
        self.order.as_ref().map(|order| order[index])
    }

    fn unordered_factors(&self) -> Vec<usize> {
        self.unordered.clone()
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        match &self.table {
            Some(table) => values.iter_mut().zip(table.row(index)).for_each(|(value, &known)| *value = known),
            None => read_grid_factors(&self.factors, index, values),
        }
    }
}
