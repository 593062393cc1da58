//! Files that cannot be read or written: which, why, and what to do.

use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Error, Result};

/// The error for a file that could not be written: which, why, and what to do. A disk that is full is a failure on the way,
/// whatever was asked for. An error of ours that came up on the way is told as it is.
pub fn cannot_write(path: &Path, error: &io::Error) -> Error {
    if let Some(ours) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return ours.clone();
    }
    with_advice(Error::new(format!("cannot write {}: {}", path.display(), reason(error))), path, error)
}

/// The error for a folder that could not be made, with those above it.
pub fn cannot_create(path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot create the folder {}: {}", path.display(), reason(error));
    match error.kind() {
        // The folders above were asked for as well, so to create these first is no advice.
        ErrorKind::NotFound => Error::new(message).help("choose another path"),
        _ => with_advice(Error::new(message), path, error),
    }
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

/// Refuses a pipe or a device at `path`, which have no length, may have no end, and cannot be read a second time. Whatever else is
/// wrong with the path is found when it is opened.
pub fn check_is_file(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(Error::new(format!("{} is a pipe or a device", path.display())).help("give the path of a file"))
        }
        _ => Ok(()),
    }
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
        // Libraries wrap what happened in "i/o error" and the like: the innermost error is what the system said.
        _ => match error.source() {
            None => error.to_string(),
            Some(mut cause) => {
                while let Some(inner) = cause.source() {
                    cause = inner;
                }
                cause.to_string()
            }
        },
    }
}

fn with_advice(error: Error, path: &Path, cause: &io::Error) -> Error {
    match cause.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            error.help("choose a place that you may write to")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            error.on_the_way().about_a_full_disk().help("free some space, or choose a place on another disk")
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
    use crate::error::Kind;

    #[test]
    fn a_full_disk_is_a_failure_on_the_way_and_a_missing_folder_is_not() {
        let path = Path::new("runs/a/model.safetensors");
        let full = cannot_write(path, &ErrorKind::StorageFull.into());
        assert_eq!(
            full.to_string(),
            "cannot write runs/a/model.safetensors: no space left on the disk\n       \
             free some space, or choose a place on another disk"
        );
        assert_eq!(full.kind(), Kind::Failure);
        assert_eq!(cannot_write(path, &ErrorKind::NotFound.into()).kind(), Kind::Input);
    }

    /// An error that says nothing itself, around one that does.
    #[derive(Debug)]
    struct Wrapped(io::Error);

    impl std::fmt::Display for Wrapped {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(formatter, "i/o error")
        }
    }

    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn what_the_system_said_is_told_however_it_is_wrapped() {
        let system = || io::Error::from_raw_os_error(5);
        let message = cannot_write(Path::new("a.npz"), &io::Error::other(Wrapped(system()))).to_string();
        assert_eq!(message, format!("cannot write a.npz: {}", system()));
    }

    #[test]
    fn an_error_of_ours_is_told_as_it_is() {
        let ours = Error::failure("image 7: the file was cut");
        assert_eq!(cannot_write(Path::new("a.npz"), &io::Error::other(ours.clone())), ours);
    }
}
