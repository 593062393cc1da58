//! Files that are either the old one or the new one, never half of either, however the program ends.
//!
//! The bytes go to a temporary file in the same folder, are forced to disk, and take the final name in one step.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use unbraid_data::{Error, Result};

/// Puts `bytes` at `path`, in place of what was there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole_with(path, |writer| writer.write_all(bytes))
}

/// Puts at `path` what `fill` writes, in place of what was there. Where `fill` fails, the old file stays.
pub fn write_whole_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    // A link keeps pointing where it did: it is the file behind it that is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let written = match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // Pipes and devices such as /dev/stdout cannot be replaced, only written to.
        Ok(found) if !found.is_file() => File::create(&target).and_then(|file| fill_file(file, fill)),
        _ => replace(&target, fill),
    };
    written.map_err(|error| cannot_write(path, &error))
}

/// Puts `bytes` at `path`, where nothing may be yet.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let link = || {
        let temporary = temporary_path(path)?;
        let linked = File::create(&temporary)
            .and_then(|file| fill_file(file, |writer| writer.write_all(bytes)))
            // Unlike a rename, a link never takes the place of a file.
            .and_then(|()| fs::hard_link(&temporary, path));
        let _ = fs::remove_file(&temporary);
        linked
    };
    link().map_err(|error| cannot_write(path, &error))
}

/// The bytes at `path`.
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| cannot_read(path, &error))
}

/// The text at `path`.
pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| cannot_read(path, &error))
}

/// Makes the folder and those above it, where they are not there yet.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| {
        let message = format!("cannot create the folder {}: {}", path.display(), reason(&error));
        match error.kind() {
            // The folders above were asked for as well, so to create these first is no advice.
            ErrorKind::NotFound => Error::new(message).help("choose another path"),
            _ => with_advice(Error::new(message), path, &error),
        }
    })
}

/// The error for a file that could not be written: which, why, and what to do.
pub fn cannot_write(path: &Path, error: &io::Error) -> Error {
    with_advice(Error::new(format!("cannot write {}: {}", path.display(), reason(error))), path, error)
}

/// The error for a file that could not be read: which and why.
pub fn cannot_read(path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot read {}: {}", path.display(), reason(error));
    match error.kind() {
        ErrorKind::NotFound => Error::new(message).help("check the path"),
        ErrorKind::PermissionDenied => Error::new(message).help("ask for the right to read it"),
        ErrorKind::IsADirectory => Error::new(message).help("give the path of a file"),
        ErrorKind::InvalidData => Error::new(message).help("the file is damaged, or of another kind"),
        _ => Error::new(message),
    }
}

/// Whether `name` is one that a write in progress gives its temporary file.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    let process = name.rsplit_once(".tmp-").map(|(_, process)| process);
    name.starts_with('.')
        && process.is_some_and(|process| !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()))
}

fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let temporary = temporary_path(path)?;
    let moved =
        File::create(&temporary).and_then(|file| fill_file(file, fill)).and_then(|()| fs::rename(&temporary, path));
    if moved.is_err() {
        // The first error is the one to report; that there may be nothing to remove is no other.
        let _ = fs::remove_file(&temporary);
        return moved;
    }
    // The new name also has to reach the disk. Some file systems cannot promise it, and the file is whole either way.
    if let Some(folder) = path.parent() {
        let _ = File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .and_then(|folder| folder.sync_all());
    }
    Ok(())
}

fn fill_file(file: File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let is_regular = file.metadata()?.is_file();
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    fill(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    if is_regular { file.sync_all() } else { Ok(()) }
}

fn temporary_path(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?.to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.tmp-{}", std::process::id())))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        ErrorKind::StorageFull => "no space left on the disk".to_string(),
        ErrorKind::IsADirectory => "it is a folder".to_string(),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "a part of the path is a file, not a folder".to_string(),
        ErrorKind::NotFound => "there is no such file or folder".to_string(),
        ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_string(),
        ErrorKind::QuotaExceeded => "the disk quota is used up".to_string(),
        _ => error.to_string(),
    }
}

fn with_advice(error: Error, path: &Path, cause: &io::Error) -> Error {
    match cause.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            error.help("choose a place that you may write to")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            error.help("free some space, or choose a place on another disk")
        }
        ErrorKind::IsADirectory => error.help("give the path of a file"),
        ErrorKind::NotFound => match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => {
                error.help(format!("create the folder first: mkdir -p {}", folder.display()))
            }
            _ => error,
        },
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => error.help("choose another path"),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_written_file_replaces_the_old_one_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_write_that_fails_half_way_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_whole(&path, b"old").unwrap();
        let error = write_whole_with(&path, |writer| {
            writer.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        let expected = format!(
            "cannot write {}: no space left on the disk\n       free some space, or choose a place on another disk",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), ["a.txt"]);
    }

    #[test]
    fn folders_and_missing_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(folder.path(), b"").unwrap_err().to_string();
        assert!(error.contains("it is a folder\n       give the path of a file"), "{error}");
        let error = write_whole(&folder.path().join("none/a.txt"), b"").unwrap_err().to_string();
        assert!(error.contains("there is no such file or folder\n       create the folder first: mkdir -p"), "{error}");
        assert_eq!(names_in(folder.path()), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to_and_a_link_is_followed() {
        write_whole(Path::new("/dev/null"), b"away").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
