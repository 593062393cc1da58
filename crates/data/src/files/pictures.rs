//! A dataset of pictures that lie in files of their own, decoded when they are asked for.
//!
//! Decoded images are kept while there is room for them (256 MB); beyond that, pictures are decoded each time. Which ones are
//! kept does not matter where all are asked for equally often, so none is ever thrown out for another.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::datasets::{Dataset, ImageShape, read_grid_factors};
use crate::error::{Error, Result};
use crate::factor_space::{FactorSpace, index_of};
use crate::files::picture::{Picture, middle_square, picture_size, read_picture};
use crate::files::resize::resized;
use crate::files::watched_file::FileState;

/// What pictures of several sizes are brought to.
const COMMON_SIZE: usize = 64;
/// Bytes of decoded images that are kept.
const MOST_KEPT: usize = 1 << 28;

/// What becomes of a picture that is no square, where its size is changed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crop {
    /// The largest square in its middle is taken.
    #[default]
    Square,
    /// It is stretched.
    None,
}

/// The factors of the pictures.
pub struct Labels {
    /// What they are.
    pub space: FactorSpace,
    /// `[pictures, factors]`, in the order of the files.
    pub values: Array2<f64>,
    /// Positions of the factors whose values have no order.
    pub unordered: Vec<usize>,
}

/// Pictures in files of their own.
pub struct Pictures {
    files: Vec<File>,
    image_shape: ImageShape,
    /// Whether pictures have to be brought to the shape.
    is_resized: bool,
    crop: Crop,
    labels: Labels,
    kept: Vec<OnceLock<Box<[u8]>>>,
    room: AtomicUsize,
}

struct File {
    path: PathBuf,
    state: FileState,
}

impl Pictures {
    /// Looks at the size of every picture. Where their factors form a grid, images are numbered by it.
    pub fn open(files: Vec<PathBuf>, channels: usize, crop: Crop, mut labels: Labels) -> Result<Self> {
        let looked_at: Vec<Result<((usize, usize), FileState)>> =
            files.par_iter().map(|path| Ok((picture_size(path)?, FileState::at(path)?))).collect();
        // The first error in order, whichever thread comes first.
        let (sizes, states): (Vec<_>, Vec<_>) = looked_at.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let first = *sizes.first().ok_or_else(|| Error::new("there is no picture"))?;
        let is_resized = sizes.iter().any(|size| *size != first);
        let (height, width) = if is_resized { (COMMON_SIZE, COMMON_SIZE) } else { first };
        let mut files: Vec<Option<File>> =
            files.into_iter().zip(states).map(|(path, state)| Some(File { path, state })).collect();
        if let Ok(grid) = labels.space.grid_sizes() {
            let mut by_number: Vec<Option<File>> = files.iter().map(|_| None).collect();
            for (file, values) in files.iter_mut().zip(labels.values.outer_iter()) {
                let values: Vec<usize> = values.iter().map(|&value| value as usize).collect();
                by_number[index_of(&values, &grid)] = file.take();
            }
            files = by_number;
            labels.values = Array2::zeros((0, 0));
        }
        let files: Vec<File> = files.into_iter().flatten().collect();
        Ok(Self {
            kept: files.iter().map(|_| OnceLock::new()).collect(),
            files,
            image_shape: ImageShape { height, width, channels },
            is_resized,
            crop,
            labels,
            room: AtomicUsize::new(MOST_KEPT),
        })
    }

    /// The bytes of image `index`.
    fn decode(&self, index: usize) -> Result<Picture> {
        let File { path, state } = &self.files[index];
        let ImageShape { height, width, channels } = self.image_shape;
        let picture = read_picture(path, channels);
        // Looked at afterwards, so that no change is missed; of a file that was cut, this says why it cannot be decoded.
        state.check(path)?;
        let picture = picture?;
        if !self.is_resized {
            if (picture.height, picture.width) != (height, width) {
                return Err(Error::new(format!("{} is {} x {} now", path.display(), picture.height, picture.width)));
            }
            return Ok(picture);
        }
        match self.crop {
            Crop::Square => Ok(resized(&middle_square(&picture), height, width)),
            Crop::None => Ok(resized(&picture, height, width)),
        }
    }

    /// Takes room for an image, where there is some.
    fn takes_room(&self, n_bytes: usize) -> bool {
        let take = |room: usize| room.checked_sub(n_bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

impl Dataset for Pictures {
    fn factors(&self) -> &FactorSpace {
        &self.labels.space
    }

    fn image_shape(&self) -> ImageShape {
        self.image_shape
    }

    fn n_images(&self) -> usize {
        self.files.len()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let write = |bytes: &[u8], pixels: &mut [f32]| {
            pixels.iter_mut().zip(bytes).for_each(|(pixel, &byte)| *pixel = f32::from(byte) / 255.0);
        };
        if let Some(bytes) = self.kept[index].get() {
            write(bytes, pixels);
            return Ok(());
        }
        let picture = self.decode(index)?;
        write(&picture.bytes, pixels);
        if self.takes_room(picture.bytes.len()) && self.kept[index].set(picture.bytes.into()).is_err() {
            // Another thread was faster, and has taken room as well.
            self.room.fetch_add(pixels.len(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn image_name(&self, index: usize) -> Option<String> {
        Some(self.files[index].path.display().to_string())
    }

    fn unordered_factors(&self) -> Vec<usize> {
        self.labels.unordered.clone()
    }

    fn resize_to(&mut self, size: usize) -> bool {
        self.image_shape = ImageShape { height: size, width: size, ..self.image_shape };
        self.is_resized = true;
        self.kept = self.files.iter().map(|_| OnceLock::new()).collect();
        self.room = AtomicUsize::new(MOST_KEPT);
        true
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        if self.labels.space.is_grid() {
            return read_grid_factors(&self.labels.space, index, values);
        }
        let known = self.labels.values.row(index);
        values.iter_mut().zip(known).for_each(|(value, &known)| *value = known);
    }
}
