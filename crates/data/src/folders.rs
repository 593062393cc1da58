//! What lies in a folder, and what is removed from it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::file_errors::cannot_read;
use crate::whole_file::is_temporary_name;

/// All that lies in a folder, in the order of names; nothing where there is no folder.
pub fn paths_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    Ok(paths)
}

/// Removes a file, where it is there.
pub fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        // On a disk that cannot be written to, what is not there cannot be removed either.
        Err(error) if error.kind() != ErrorKind::NotFound && path.exists() => {
            Err(Error::new(format!("cannot remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Removes the files of a folder whose names are such.
pub fn remove_files(folder: &Path, is_such: impl Fn(&str) -> bool) -> Result<()> {
    let is_wanted = |path: &&PathBuf| path.file_name().is_some_and(|name| is_such(&name.to_string_lossy()));
    paths_in(folder)?.iter().filter(is_wanted).try_for_each(|path| remove_file(path))
}

/// Removes the unfinished files that a killed process left behind. Only for the one process that writes into the folder.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    remove_files(folder, is_temporary_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_files_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".noise.npz.tmp-12", ".notes.tmp-mine", "kept.tmp-3", "noise.npz"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        remove_leftovers(folder.path()).unwrap();
        let left = [".notes.tmp-mine", "kept.tmp-3", "noise.npz"].map(|name| folder.path().join(name));
        assert_eq!(paths_in(folder.path()).unwrap(), left);
        remove_leftovers(&folder.path().join("none")).unwrap();
        remove_file(&folder.path().join("none")).unwrap();
    }
}
