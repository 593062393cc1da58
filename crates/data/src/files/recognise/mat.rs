//! MAT-files, of which Cars3D consists.

use std::path::Path;

use super::Recognised;
use super::reads::{dataset, folder_of};
use crate::error::Error;
use crate::files::mat::{MatVariable, list_variables};

pub(super) fn recognise(path: &Path) -> Recognised {
    let mut variables = Vec::new();
    let listed = list_variables(path, &mut variables);
    let mut recognised = Recognised::new("a MAT-file (MATLAB)").checked(listed);
    if variables.is_empty() {
        let empty = Error::new("holds no variable, only its header").at(path.display());
        recognised.broken(empty.help("it is cut short, or was saved without any: copy or save it again"));
    }
    recognised.details.extend(variables.iter().map(described));
    if variables.iter().any(is_car) {
        recognised.what = "a car of Cars3D (a MAT-file)".to_string();
        recognised.detail("read with all cars of its folder");
        recognised.reads_it.extend(dataset("cars3d", &folder_of(path)));
    }
    recognised
}

/// Whether a variable holds the images of a car: bytes, `[height, width, channels, azimuth, elevation]`.
pub(super) fn is_car(variable: &MatVariable) -> bool {
    variable.name == "im" && variable.class == "uint8" && matches!(variable.shape[..], [_, _, 1 | 3, _, _])
}

fn described(variable: &MatVariable) -> String {
    let name = if variable.name.is_empty() { "(no name)" } else { &variable.name };
    format!("{name}: {} {:?}", variable.class, variable.shape)
}
