//! Folders of pictures. Every picture is decoded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::numbered::numbered_dataset;
use super::picture::{Looked, check_picture};
use super::reads::{dataset, dataset_with, file_name, quoted};
use super::{Recognised, first_line};
use crate::datasets::folder::names_from;
use crate::error::{Error, Result};
use crate::file_errors::cannot_read;
use crate::files::factor_table::read_factor_table;
use crate::files::picture::is_picture_name;
use crate::notice::tell;
use crate::words::{counted, listed};

/// Sub-folders below each other that are looked through, as the dataset does.
const MOST_DEPTH: usize = 16;
/// Things that are named of each kind.
const MOST_NAMED: usize = 5;
/// To decode more pictures than this takes so long that it is told.
const MANY: usize = 20_000;

/// What there is in a folder and its sub-folders, hidden files left out. In the order of paths.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) pictures: Vec<PathBuf>,
    pub(super) others: Vec<PathBuf>,
    /// Called like a picture, and a pipe, a device, or a link to nothing.
    special: Vec<PathBuf>,
}

impl Listing {
    pub(super) fn of(folder: &Path) -> Result<Self> {
        let mut listing = Self::default();
        listing.add(folder, MOST_DEPTH)?;
        for paths in [&mut listing.pictures, &mut listing.others, &mut listing.special] {
            paths.sort_by(|one, other| one.as_os_str().as_encoded_bytes().cmp(other.as_os_str().as_encoded_bytes()));
        }
        Ok(listing)
    }

    fn add(&mut self, folder: &Path, depth: usize) -> Result<()> {
        for entry in std::fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))? {
            let path = entry.map_err(|error| cannot_read(folder, &error))?.path();
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            if path.is_dir() {
                if depth > 0 {
                    self.add(&path, depth - 1)?;
                }
            } else if !is_picture_name(&path) {
                self.others.push(path);
            } else if path.is_file() {
                self.pictures.push(path);
            } else {
                self.special.push(path);
            }
        }
        Ok(())
    }
}

/// A folder that has at least one picture.
pub(super) fn recognise(folder: &Path) -> Result<Option<Recognised>> {
    let listing = Listing::of(folder)?;
    if listing.pictures.is_empty() {
        return Ok(None);
    }
    let mut recognised = Recognised::new("a folder of pictures");
    add_pictures(folder, &listing, &mut recognised);
    if let Some((name, what)) = numbered_dataset(folder, &listing.pictures, &mut recognised) {
        recognised.what = what.to_string();
        return Ok(Some(recognised.read_by(dataset(name, folder))));
    }
    add_sub_folders(folder, &listing, &mut recognised);
    let tables = add_tables(folder, &listing, &mut recognised);
    Ok(Some(recognised.read_by(dataset_with("folder", folder, &tables))))
}

/// Decodes all pictures, and adds what they are.
pub(super) fn add_pictures(folder: &Path, listing: &Listing, recognised: &mut Recognised) {
    let n_pictures = listing.pictures.len();
    if n_pictures > MANY {
        tell(&format!("{}: decoding {n_pictures} pictures", folder.display()));
    }
    let looked_at: Vec<Result<Looked>> = listing.pictures.par_iter().map(|path| check_picture(path)).collect();
    let mut formats: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sizes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for looked in looked_at.iter().flatten() {
        *formats.entry(&looked.format).or_default() += 1;
        *sizes.entry((looked.width, looked.height)).or_default() += 1;
    }
    let formats: Vec<String> = formats.iter().map(|(format, count)| format!("{count} {format}")).collect();
    recognised.detail(format!("{}: {}", counted(n_pictures, "picture"), formats.join(", ")));
    recognised.details.extend(sizes_line(&sizes));
    if !listing.others.is_empty() {
        let n_others = counted(listing.others.len(), "other file");
        recognised.detail(format!("{n_others}, passed over: {}", first_names(&names_from(folder, &listing.others))));
    }
    let errors: Vec<&Error> = looked_at.iter().filter_map(|looked| looked.as_ref().err()).collect();
    if !errors.is_empty() {
        recognised.broken(broken(&errors, n_pictures));
    }
    if let Some(special) = listing.special.first() {
        recognised.broken(
            Error::new(format!("{} is called like a picture, and is no file", special.display()))
                .help("take it out of the folder: it is a pipe, a device, or a link to nothing"),
        );
    }
}

fn sizes_line(sizes: &BTreeMap<(usize, usize), usize>) -> Option<String> {
    let mut of_sizes: Vec<_> = sizes.iter().collect();
    match of_sizes[..] {
        [] => None,
        [((width, height), _)] => Some(format!("all of {width} x {height} (width x height)")),
        _ => {
            of_sizes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let first = of_sizes.iter().take(MOST_NAMED);
            let first: Vec<String> =
                first.map(|((width, height), count)| format!("{width} x {height} ({count})")).collect();
            let more = of_sizes.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Some(format!("{} sizes, brought to one when read: {}{more}", sizes.len(), first.join(", ")))
        }
    }
}

/// The error that names the first broken ones.
fn broken(errors: &[&Error], n_pictures: usize) -> Error {
    if let [error] = errors {
        return (*error).clone();
    }
    let first = errors.iter().take(MOST_NAMED).map(|error| first_line(error));
    let more = errors.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let first = first.collect::<Vec<_>>().join("; ");
    Error::new(format!("{} of {n_pictures} pictures are broken: {first}{more}", errors.len()))
        .help("copy them again, or take them out of the folder")
}

/// Adds the sub-folders that become a factor.
fn add_sub_folders(folder: &Path, listing: &Listing, recognised: &mut Recognised) {
    let names = names_from(folder, &listing.pictures);
    let folders: BTreeSet<&str> =
        names.iter().map(|name| name.split_once('/').map_or("", |(first, _)| first)).collect();
    if folders.len() > 1 {
        let names: Vec<String> = folders.iter().filter(|name| !name.is_empty()).map(|name| name.to_string()).collect();
        let n_folders = counted(names.len(), "sub-folder");
        recognised.detail(format!("{n_folders}, the values of factor \"folder\": {}", first_names(&names)));
    }
}

/// The setting for the table of factors, where one lies in the folder that has a row for each picture.
fn add_tables(folder: &Path, listing: &Listing, recognised: &mut Recognised) -> Vec<(&'static str, String)> {
    let is_table = |path: &&PathBuf| {
        path.parent() == Some(folder) && path.extension().is_some_and(|ending| ending == "csv") && path.is_file()
    };
    let names = names_from(folder, &listing.pictures);
    let mut settings = Vec::new();
    for table in listing.others.iter().filter(is_table) {
        match read_factor_table(table, &names) {
            Ok(columns) => {
                let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                recognised.detail(format!("{} tells {} of each picture", file_name(table), listed(&columns)));
                if settings.is_empty() {
                    settings.push(("csv", quoted(table)));
                }
            }
            Err(error) => {
                recognised.detail(format!("not read as factors: {}", first_line(&error)));
            }
        }
    }
    settings
}

fn first_names(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", "))
}
