//! `cars3d`: rendered cars from 24 sides and 4 heights, read from MATLAB files.
//!
//! Reed et al. 2015, "Deep visual analogy-making". The folder has `list.txt`, which names the cars in order, and for each a file with
//! the variable `im` of bytes, `[height, width, channels, azimuth, elevation]`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::{FactorSpace, values_of};
use crate::files::data_root::Published;
use crate::files::grid_file::PATH;
use crate::files::mat::{MatArray, read_mat};
use crate::files::store::{Packed, not_unpacked};
use crate::files::stored::{Pixels, Stored};
use crate::files::watched_file::FileState;
use crate::settings;
use crate::whole_file::read_text;

/// A car of 512 x 512 pixels would take this many bytes.
const MOST_BYTES: usize = 1 << 27;

/// A car is seen from fewer sides and heights: a file that says otherwise would take memory for the factors of each.
const MOST_VIEWS: usize = 1 << 10;

const PUBLISHED: Published = Published {
    names: &["cars", "cars3d", "nips2015-analogy-data/data/cars", "data/cars"],
    place: "http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",
    size: "the folder data/cars of an archive of 306 MB",
    md5: None,
};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path } = settings::read(table)?;
    let folder = PUBLISHED.locate("cars3d", path.as_deref())?;
    let files = files_of(&folder)?;
    let shape = shape_of(&read_car(&files[0])?, &files[0])?;
    let [height, width, channels, n_azimuths, n_elevations] = shape;
    let image_shape = ImageShape { height, width, channels };
    let sizes = [files.len(), n_elevations, n_azimuths];
    let n_images: usize = sizes.iter().product();
    let packed = Packed {
        path: &folder,
        part: "images",
        state: state_of(&files)?,
        n_items: n_images,
        item_bytes: image_shape.n_pixels(),
    };
    let store = packed.unpack(|writer| files.iter().try_for_each(|file| write_car(file, shape, writer)))?;
    let factors =
        FactorSpace::grid([("elevation", n_elevations), ("azimuth", n_azimuths), ("object_type", files.len())]);
    // They lie car by car, and are numbered by elevation first.
    let in_store = |item: usize| {
        let values = values_of(item, &sizes);
        [values[1], values[2], values[0]].map(|value| value as f64)
    };
    let table = Array2::from_shape_vec((n_images, 3), (0..n_images).flat_map(in_store).collect());
    let table = table.expect("a value for each factor");
    Ok(Box::new(Stored::labelled(factors, table, image_shape, Pixels::Bytes, store).with_unordered(vec![2])))
}

/// The files of the cars, in the order of the list, or of their names where there is none.
pub(crate) fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = folder.join("list.txt");
    let files: Vec<PathBuf> = if list.is_file() {
        let text = read_text(&list)?;
        let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
        names.map(|name| folder.join(format!("{}.mat", name.trim_end_matches(".mat")))).collect()
    } else {
        let entries = std::fs::read_dir(folder).map_err(|error| crate::file_errors::cannot_read(folder, &error))?;
        let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "mat"));
        files.sort();
        files
    };
    let mut seen = BTreeSet::new();
    if let Some(repeated) = files.iter().find(|file| !seen.insert(file.as_path())) {
        let message = format!("names {} twice", repeated.display());
        return Err(Error::new(message).of(list.display()).help("name each car once"));
    }
    if files.is_empty() {
        return Err(Error::new(format!("{} names no car", folder.display()))
            .help("wanted list.txt and files like car_001_mesh.mat"));
    }
    Ok(files)
}

fn state_of(files: &[PathBuf]) -> Result<String> {
    let states = files.iter().map(|file| {
        let state = FileState::at(file)?;
        Ok(format!("{} {} {}\n", file.display(), state.n_bytes, state.modified_nanoseconds()))
    });
    states.collect()
}

fn read_car(file: &Path) -> Result<MatArray> {
    read_mat(file, "im", MOST_BYTES)
}

fn shape_of(car: &MatArray, file: &Path) -> Result<[usize; 5]> {
    match *car.shape.as_slice() {
        [height, width, channels @ (1 | 3), azimuths @ 1..=MOST_VIEWS, elevations @ 1..=MOST_VIEWS]
            if height * width > 0 =>
        {
            Ok([height, width, channels, azimuths, elevations])
        }
        _ => Err(Error::new(format!(
            "variable \"im\" has shape {:?}, wanted [height, width, channels, azimuth, elevation]",
            car.shape
        ))
        .at(file.display())),
    }
}

/// Writes the images of a car by elevation and azimuth, each `[height, width, channels]`.
fn write_car(file: &Path, shape: [usize; 5], writer: &mut dyn Write) -> Result<()> {
    let car = read_car(file)?;
    let found = shape_of(&car, file)?;
    if found != shape {
        return Err(Error::new(format!("variable \"im\" has shape {found:?}, and that of the first car {shape:?}"))
            .at(file.display()));
    }
    let [height, width, channels, ..] = shape;
    let mut image = vec![0; height * width * channels];
    // The first axis of a MATLAB array varies fastest, and azimuths before elevations.
    for columns in car.bytes.chunks_exact(image.len()) {
        for (place, byte) in columns.iter().enumerate() {
            let (row, column, channel) = (place % height, place / height % width, place / (height * width));
            image[(row * width + column) * channels + channel] = *byte;
        }
        writer.write_all(&image).map_err(|error| not_unpacked(&error))?;
    }
    Ok(())
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "cars3d",
    about: "183 rendered cars from 24 sides and 4 heights; 17,568 images of 128 x 128",
    paper: "Reed et al. 2015",
    settings: &[PATH],
    example: "path = '../../reference/datasets/cars3d'",
    published: Some(&PUBLISHED),
    build,
    complete: settings::complete::<Settings>,
};
