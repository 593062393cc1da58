//! A folder with the photographs of CelebA and their attributes.

use std::path::Path;

use toml::{Table, Value};

use super::Recognised;
use super::pictures::{Listing, add_pictures};
use super::reads::dataset;
use crate::datasets::{self, celeba};
use crate::error::Result;

/// A folder that has both.
pub(super) fn recognise(folder: &Path) -> Option<Result<Recognised>> {
    if !folder.join(celeba::ATTRIBUTES).is_file() {
        return None;
    }
    let pictures = celeba::PICTURES.iter().map(|name| folder.join(name)).find(|pictures| pictures.is_dir())?;
    Some(check(folder, &pictures))
}

fn check(folder: &Path, pictures: &Path) -> Result<Recognised> {
    let mut recognised = Recognised::new("the photographs of CelebA").read_by(dataset("celeba", folder));
    let listing = Listing::of(pictures)?;
    add_pictures(pictures, &listing, &mut recognised);
    if recognised.is_whole.is_ok() {
        // The list of attributes is read, and each picture that it names has to be there.
        let settings = Table::from_iter([("path".to_string(), Value::String(folder.display().to_string()))]);
        match datasets::build("celeba", &settings) {
            Ok(dataset) => recognised.detail(format!("{} attributes of each", dataset.factors().n_factors())),
            Err(error) => recognised.broken(error),
        }
    }
    Ok(recognised)
}
