//! The published files of dSprites, `.npz` and `.hdf5`: images of 0 and 1, and the numbers of their factors.

use std::io::Read;
use std::path::Path;

use ndarray::{Array2, Axis};

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::file_errors::{cannot_read, check_is_file};
use crate::files::data_root::Published;
use crate::files::hdf5::{self, Hdf5};
use crate::files::hdf5_images::store_of;
use crate::files::image_array::{images_of_shape, open_images};
use crate::files::labels::{numbered_grid, table_of};
use crate::files::npz::Npz;
use crate::files::store::Store;
use crate::files::stored::{Pixels, Stored};

/// Columns of the published table: the colour, of which there is one, comes first.
const N_COLUMNS: usize = 6;

/// The published files.
pub const PUBLISHED: Published = Published {
    names: &[
        "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
        "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",
        "dsprites/dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
    ],
    place: "https://github.com/google-deepmind/dsprites-dataset",
    size: "26 MB",
    md5: None,
};

/// Opens a published file; the factors have these names.
pub fn open(path: &Path, names: &[&str]) -> Result<Box<dyn Dataset>> {
    let at = |error: Error| error.at(path.display());
    check_is_file(path)?;
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| cannot_read(path, &error))?;
    file.take(8).read_to_end(&mut start).map_err(|error| cannot_read(path, &error))?;
    let (image_shape, store, classes) = if start == hdf5::SIGNATURE { from_hdf5(path)? } else { from_npz(path)? };
    let mut table = classes;
    // The colour has one value, and is no factor.
    table.remove_index(Axis(1), 0);
    let factors = numbered_grid(names, &mut table).map_err(at)?;
    let stored = Stored::labelled(factors, table, image_shape, Pixels::Bits, store);
    Ok(Box::new(stored.with_unordered(vec![0])))
}

fn from_npz(path: &Path) -> Result<(ImageShape, Store, Array2<f64>)> {
    let mut npz = Npz::open(path)?;
    let at = |error: Error| error.at("array \"latents_classes\"").at(path.display());
    let images = open_images(path, &mut npz, "imgs")?;
    if !matches!(images.pixels, Pixels::Bytes | Pixels::Bits) {
        return Err(Error::new("array \"imgs\" does not hold bytes").at(path.display()));
    }
    let classes = npz.required("latents_classes").map_err(|error| error.at(path.display()))?;
    let table = classes.to_f64().and_then(|values| table_of(values, classes.shape(), images.n_images, N_COLUMNS));
    Ok((images.image_shape, images.store, table.map_err(at)?))
}

fn from_hdf5(path: &Path) -> Result<(ImageShape, Store, Array2<f64>)> {
    let file = Hdf5::open(path)?;
    let images = file.dataset("imgs")?;
    let shaped = images_of_shape(images.shape()).map_err(|error| error.at("dataset \"imgs\"").at(path.display()));
    let (n_images, image_shape) = shaped?;
    let classes = file.dataset("latents/classes")?;
    let at = |error: Error| error.at("dataset \"latents/classes\"").at(path.display());
    let shape = classes.shape().to_vec();
    let table = classes.to_f64().and_then(|values| table_of(values, &shape, n_images, N_COLUMNS)).map_err(at)?;
    Ok((image_shape, store_of(path, "imgs", images)?, table))
}
