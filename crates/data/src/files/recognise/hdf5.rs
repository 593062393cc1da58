//! HDF5 files.

use std::path::Path;

use super::Recognised;
use super::reads::dataset;
use crate::error::Result;
use crate::files::hdf5::{Array, Hdf5};
use crate::files::hdf5_images::rows_at_once;

/// Datasets that are named.
const MOST_NAMED: usize = 20;

pub(super) fn recognise(path: &Path) -> Recognised {
    let recognised = Recognised::new("an HDF5 file");
    let file = match Hdf5::open(path) {
        Ok(file) => file,
        Err(error) => return recognised.checked(Err(error)),
    };
    let names = file.names();
    let mut recognised = recognised;
    for name in &names {
        let read = file.dataset(name).and_then(|array| {
            if recognised.details.len() < MOST_NAMED {
                recognised.detail(format!("{name} {:?}", array.shape()));
            }
            read_to_the_end(&array).map_err(|error| error.at(format!("dataset \"{name}\"")).at(path.display()))
        });
        recognised = recognised.checked(read);
    }
    let has = |wanted: &[&str]| wanted.iter().all(|wanted| names.iter().any(|name| name == wanted));
    let readers = [("shapes3d", has(&["images", "labels"])), ("dsprites", has(&["imgs", "latents/classes"]))];
    let ways = readers.into_iter().filter(|(_, reads)| *reads).filter_map(|(name, _)| dataset(name, path));
    recognised.read_by(ways)
}

/// Decodes all of it, so that checksums are compared.
fn read_to_the_end(array: &Array) -> Result<()> {
    if !array.holds_bytes() {
        return array.to_f64().map(|_| ());
    }
    let Some(&n_rows) = array.shape().first() else { return Ok(()) };
    let at_once = rows_at_once(array);
    (0..n_rows).step_by(at_once).try_for_each(|first| array.rows(first, at_once.min(n_rows - first)).map(|_| ()))
}
