//! A data root: a folder that holds published files under the names by which datasets look for them.

use std::path::{Path, PathBuf};

use super::reads::command;
use super::{Recognised, folder};
use crate::datasets::{DATASETS, Entry};
use crate::error::Result;

/// A folder that holds at least one published file or folder by its name, and in its form.
pub(super) fn recognise(folder: &Path) -> Option<Result<Recognised>> {
    let found: Vec<(&Entry, PathBuf)> =
        DATASETS.iter().filter_map(|entry| Some((entry, published_in(folder, entry)?))).collect();
    (!found.is_empty()).then(|| list(folder, &found))
}

/// Where the published file of a dataset lies in a folder.
fn published_in(folder: &Path, entry: &Entry) -> Option<PathBuf> {
    let names = entry.published?.names;
    // The first that is there is the one that is read.
    let path = names.iter().map(|name| folder.join(name)).find(|path| path.exists())?;
    if path.is_file() {
        return Some(path);
    }
    // Folders have common names, like "cars", and may hold anything. Pictures are looked for without being decoded.
    (path.is_dir() && has_form(&path, entry.name)).then_some(path)
}

fn has_form(folder: &Path, dataset: &str) -> bool {
    let names = || std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let has = |part: &str| names().any(|name| name.to_string_lossy().contains(part));
    match dataset {
        "cars3d" => has(".mat") && (has("list.txt") || has("_mesh.mat")),
        "smallnorb" => has("-dat.mat"),
        "celeba" => has("list_attr_celeba.txt"),
        "mnist" | "fashion_mnist" => has("-images"),
        _ => folder.join("images").is_dir() || has(".png"),
    }
}

fn recognise_part(path: &Path) -> Result<Recognised> {
    if path.is_dir() { folder::recognise_dataset(path) } else { super::recognise(path) }
}

fn list(folder: &Path, found: &[(&Entry, PathBuf)]) -> Result<Recognised> {
    let mut recognised = Recognised::new("a data root: published files under the names that datasets look for");
    for (entry, path) in found {
        let place = path.strip_prefix(folder).unwrap_or(path).display();
        match recognise_part(path) {
            Ok(part) => {
                let state = if part.is_whole.is_ok() { "whole" } else { "not whole" };
                recognised.detail(format!("{place}: {}, {state}", part.what));
                recognised.details.extend(part.details.iter().map(|line| format!("  {line}")));
                // A part of the published pictures is read with settings that have to be said.
                if part.reads_it.iter().any(|lines| lines.contains(&format!("name = \"{}\"", entry.name))) {
                    let words = format!("unbraid data show {} --data-root {{}}", entry.name);
                    recognised.reads_it.push(command(&words, folder));
                }
                recognised = recognised.checked(part.is_whole);
            }
            Err(error) => {
                recognised.detail(format!("{place}: not recognised"));
                recognised.broken(error);
            }
        }
    }
    Ok(recognised)
}
