//! `shapes3d`: a room with one object, six factors, read from the published file.
//!
//! Burgess and Kim 2018, "3D Shapes dataset". The HDF5 file has `images` of bytes and `labels`, the values of the factors; `shapes3d_made`
//! renders such images without a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry};
use crate::error::{Error, Result};
use crate::files::data_root::Published;
use crate::files::grid_file::PATH;
use crate::files::hdf5::Hdf5;
use crate::files::hdf5_images::store_of;
use crate::files::image_array::images_of_shape;
use crate::files::labels::{numbered_grid, table_of};
use crate::files::stored::{Pixels, Stored};
use crate::settings;

const NAMES: [&str; 6] = ["floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"];
/// Hues go round in a circle, and shapes have no order.
const UNORDERED: [usize; 4] = [0, 1, 2, 4];

const PUBLISHED: Published = Published {
    names: &["3dshapes.h5", "3d-shapes/3dshapes.h5"],
    place: "https://console.cloud.google.com/storage/browser/3d-shapes (described at https://github.com/google-deepmind/3d-shapes)",
    size: "267 MB, 5.9 GB unpacked",
    md5: Some("099a2078d58cec4daad0702c55d06868"),
};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path } = settings::read(table)?;
    let path = PUBLISHED.locate("shapes3d", path.as_deref());
    let path = path.map_err(|error| error.more_help("`shapes3d_made` renders such images without a file"))?;
    let at = |place: &'static str| {
        let path = path.clone();
        move |error: Error| error.at(format!("dataset \"{place}\"")).at(path.display())
    };
    let file = Hdf5::open(&path)?;
    let images = file.dataset("images")?;
    let (n_images, image_shape) = images_of_shape(images.shape()).map_err(at("images"))?;
    let labels = file.dataset("labels")?;
    let shape = labels.shape().to_vec();
    let values = labels.to_f64().and_then(|values| table_of(values, &shape, n_images, NAMES.len()));
    let mut values = values.map_err(at("labels"))?;
    let factors = numbered_grid(&NAMES, &mut values).map_err(at("labels"))?;
    let store = store_of(&path, "images", images)?;
    let stored = Stored::labelled(factors, values, image_shape, Pixels::Bytes, store);
    Ok(Box::new(stored.with_unordered(UNORDERED.to_vec())))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "shapes3d",
    about: "A room with one object: hues of floor, wall and object, scale, shape, view; 480,000 images",
    paper: "Burgess and Kim 2018",
    settings: &[PATH],
    example: "path = '../../reference/datasets/shapes3d.h5'",
    published: Some(&PUBLISHED),
    build,
    complete: settings::complete::<Settings>,
};
