//! Folders: what they hold decides what they are.

use std::path::Path;

use super::kind::{self, Kind};
use super::pictures::Listing;
use super::reads::file_name;
use super::{KNOWN, Recognised, cars3d, celeba, data_root, mnist, pictures, run, small_norb};
use crate::error::{Error, Result};
use crate::words::counted;

/// Files that are offered where the folder itself is nothing.
const MOST_OFFERED: usize = 5;

pub(super) fn recognise(folder: &Path) -> Result<Recognised> {
    if let Some(recognised) = published(folder).or_else(|| data_root::recognise(folder)) {
        return recognised;
    }
    of_pictures(folder)
}

/// The same for a folder within a data root, which is none itself.
pub(super) fn recognise_dataset(folder: &Path) -> Result<Recognised> {
    published(folder).unwrap_or_else(|| of_pictures(folder))
}

fn of_pictures(folder: &Path) -> Result<Recognised> {
    match pictures::recognise(folder)? {
        Some(recognised) => Ok(recognised),
        None => Err(unknown(folder)),
    }
}

/// A run, or the folder of a published dataset, where that shows without looking through all of it.
fn published(folder: &Path) -> Option<Result<Recognised>> {
    let at_once = [run::recognise, small_norb::recognise_folder, mnist::recognise_folder, cars3d::recognise];
    at_once.iter().find_map(|recognise| recognise(folder)).map(Ok).or_else(|| celeba::recognise(folder))
}

/// The error for a folder that is nothing itself. The files in it may be something.
fn unknown(folder: &Path) -> Error {
    let Ok(listing) = Listing::of(folder) else {
        return Error::new(format!("{} cannot be looked through", folder.display()))
            .help("ask for the right to read it");
    };
    let is_known = |path: &&std::path::PathBuf| {
        let kind = if path.is_file() { kind::of_file(path) } else { Ok(Kind::Unknown("special")) };
        kind.is_ok_and(|kind| !matches!(kind, Kind::Unknown(_) | Kind::Empty | Kind::Packed(_)))
    };
    let offered: Vec<String> =
        listing.others.iter().filter(is_known).take(MOST_OFFERED).map(|path| file_name(path)).collect();
    let n_files = counted(listing.others.len(), "file");
    let error = Error::new(format!("{} is a folder of no kind that is known, with {n_files}", folder.display()));
    if offered.is_empty() {
        error.help(KNOWN)
    } else {
        error.help(format!("name one of its files: {}", offered.join(", ")))
    }
}
