//! `smallnorb`: photographs of toys from 9 heights and 18 sides under 6 lights, read from binary matrices.
//!
//! LeCun, Huang and Bottou 2004, "Learning methods for generic object recognition with invariance to pose and lighting". Of each pair
//! of photographs the left is taken. Training and test files have five other instances of each category. Photographs lie in random
//! order; here they are numbered by their factors.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::file_errors::cannot_read;
use crate::files::data_root::Published;
use crate::files::grid_file::{PATH, Part};
use crate::files::labels::numbered_grid;
use crate::files::small_norb::open_matrix;
use crate::files::store::{Packed, not_unpacked};
use crate::files::stored::{Pixels, Stored};
use crate::settings::{self, Setting, Values};

const NAMES: [&str; 5] = ["category", "instance", "elevation", "rotation", "lighting"];
/// Categories, instances and lights have no order.
const UNORDERED: [usize; 3] = [0, 1, 4];
/// Whatever is larger is no photograph.
const MOST_SIDE: usize = 1 << 12;

const PUBLISHED: Published = Published {
    names: &["smallnorb", "small_norb", "SmallNORB"],
    place: "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/",
    size: "a folder with smallnorb-5x46789x9x18x6x2x96x96-training-{dat,cat,info}.mat.gz, 140 MB, or the testing files",
    md5: None,
};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    part: Part,
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, part } = settings::read(table)?;
    let folder = PUBLISHED.locate("smallnorb", path.as_deref())?;
    let word = if part == Part::Train { "training" } else { "testing" };
    let [images, categories, infos] =
        ["dat", "cat", "info"].map(|kind| file_of(&folder, &format!("-{word}-{kind}.mat")));
    let (images, mut table) = (images?, read_factors(&categories?, &infos?)?);
    let space = numbered_grid(&NAMES, &mut table)
        .map_err(|error| error.at(folder.display()).more_help("the files may be of two sets"))?;
    let matrix = open_matrix(&images)?;
    let (n_images, image_shape) = left_of(matrix.shape()).map_err(|error| error.at(images.display()))?;
    if n_images != table.nrows() {
        return Err(Error::new(format!("has {n_images} photographs, and the categories are of {}", table.nrows()))
            .at(images.display())
            .help("the files may be of two sets: get them again"));
    }
    let item_bytes = image_shape.n_pixels();
    let packed =
        Packed { path: &images, part: "left photographs", state: String::new(), n_items: n_images, item_bytes };
    let store = packed.unpack(|writer| {
        let mut matrix = matrix;
        let mut pair = vec![0; 2 * item_bytes];
        for _ in 0..n_images {
            matrix.read_u8(&mut pair).map_err(|error| error.at(images.display()))?;
            writer.write_all(&pair[..item_bytes]).map_err(|error| not_unpacked(&error))?;
        }
        matrix.finish().map_err(|error| error.at(images.display()))
    })?;
    let stored = Stored::labelled(space, table, image_shape, Pixels::Bytes, store);
    Ok(Box::new(stored.with_unordered(UNORDERED.to_vec())))
}

/// The file of the folder whose name has this part, gzipped or not.
pub(crate) fn file_of(folder: &Path, part: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    let names: BTreeSet<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let found =
        names.into_iter().find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(part)));
    found.ok_or_else(|| {
        Error::new(format!("{} has no file called *{part}.gz", folder.display()))
            .help(format!("wanted {}; from {}", PUBLISHED.size, PUBLISHED.place))
    })
}

/// Category, instance, elevation, azimuth and lighting of each photograph, `[photographs, 5]`.
fn read_factors(categories: &Path, infos: &Path) -> Result<Array2<f64>> {
    let category = open_matrix(categories)?;
    let &[n_images @ 1..=usize::MAX] = category.shape() else {
        return Err(
            Error::new(format!("has shape {:?}, wanted [photographs]", category.shape())).at(categories.display())
        );
    };
    let category = category.into_i32().map_err(|error| error.at(categories.display()))?;
    let info = open_matrix(infos)?;
    if info.shape() != [n_images, 4] {
        let message = format!("has shape {:?}, wanted [{n_images}, 4]", info.shape());
        return Err(Error::new(message).at(infos.display()).help("the files may be of two sets: get them again"));
    }
    let info = info.into_i32().map_err(|error| error.at(infos.display()))?;
    let rows = category.iter().zip(info.chunks_exact(4));
    let values =
        rows.flat_map(|(category, info)| std::iter::once(*category).chain(info.iter().copied())).map(f64::from);
    Ok(Array2::from_shape_vec((n_images, NAMES.len()), values.collect()).expect("five values for each photograph"))
}

/// How many pairs there are, and the shape of a photograph.
fn left_of(shape: &[usize]) -> Result<(usize, ImageShape)> {
    match *shape {
        [n_images, 2, height @ 1..=MOST_SIDE, width @ 1..=MOST_SIDE] => {
            Ok((n_images, ImageShape { height, width, channels: 1 }))
        }
        _ => Err(Error::new(format!("has shape {shape:?}, wanted [photographs, 2, height, width]"))),
    }
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "smallnorb",
    about: "Photographs of 25 toys from all sides and under six lights; 24,300 images of 96 x 96",
    paper: "LeCun et al. 2004",
    settings: &[
        PATH,
        Setting {
            name: "part",
            values: Values::OneOf(&["train", "test"]),
            meaning: "the training files, or those for testing, which have other toys",
        },
    ],
    example: "path = '../../reference/datasets/smallnorb'",
    published: Some(&PUBLISHED),
    build,
    complete: settings::complete::<Settings>,
};
