//! A folder of MAT-files with cars.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::kind::{self, Kind};
use super::mat::is_car;
use super::reads::dataset;
use super::{Recognised, check_is_file};
use crate::datasets::cars3d::files_of;
use crate::error::{Error, Result};
use crate::files::mat::list_variables;
use crate::words::counted;

/// A folder that has MAT-files, of which one holds a car.
pub(super) fn recognise(folder: &Path) -> Option<Recognised> {
    let files = files_of(folder).ok()?;
    let is_mat = |file: &PathBuf| file.is_file() && kind::of_file(file).is_ok_and(|kind| kind == Kind::Mat);
    let first = files.iter().find(|file| is_mat(file))?;
    // The others are looked at where this one holds a car, or is broken before that shows.
    if shape_of_car(first).is_ok_and(|shape| shape.is_none()) {
        return None;
    }
    let mut recognised = Recognised::new("the cars of Cars3D").read_by(dataset("cars3d", folder));
    let shapes: Vec<Result<Option<Vec<usize>>>> = files.par_iter().map(|file| shape_of_car(file)).collect();
    let wanted = shapes.iter().find_map(|shape| shape.as_ref().ok()?.clone());
    recognised.detail(match &wanted {
        Some(shape) => {
            format!("{}: im {shape:?}, [height, width, channels, azimuth, elevation]", counted(files.len(), "car"))
        }
        None => counted(files.len(), "car"),
    });
    for (file, shape) in files.iter().zip(shapes) {
        let odd =
            |found: String| Error::new(found).at(file.display()).help("it is another file, or broken: unpack it again");
        match shape {
            Err(error) => recognised.broken(error),
            Ok(None) => recognised.broken(odd("has no variable \"im\" of images".to_string())),
            Ok(shape) if shape != wanted => {
                recognised.broken(odd(format!("has images of shape {:?}", shape.unwrap_or_default())));
            }
            Ok(_) => (),
        }
    }
    Some(recognised)
}

/// The shape of the images in a file that is read to its end, where it has any.
fn shape_of_car(file: &Path) -> Result<Option<Vec<usize>>> {
    check_is_file(file)?;
    let mut variables = Vec::new();
    list_variables(file, &mut variables)?;
    Ok(variables.into_iter().find(is_car).map(|variable| variable.shape))
}
