//! A file that is read here and there, and must not change meanwhile.
//!
//! Read by position rather than mapped into memory: where a mapped file is cut, the process is killed, and here that is an
//! error. The system keeps what was read before in memory as it does for a map.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::file_errors::{cannot_read, check_is_file};

/// A file as it was when it was opened.
#[derive(Debug)]
pub struct WatchedFile {
    file: File,
    path: PathBuf,
    state: FileState,
}

/// What tells that a file was changed: its length and when it was last written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// Its bytes.
    pub n_bytes: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    /// Of the file that is described so.
    pub fn of(metadata: &Metadata) -> Self {
        Self { n_bytes: metadata.len(), modified: metadata.modified().ok() }
    }

    /// Of the file at `path`.
    pub fn at(path: &Path) -> Result<Self> {
        std::fs::metadata(path).map(|metadata| Self::of(&metadata)).map_err(|error| cannot_read(path, &error))
    }

    /// An error where the file at `path` is no longer in this state.
    pub fn check(&self, path: &Path) -> Result<()> {
        if Self::at(path)? == *self { Ok(()) } else { Err(changed(path)) }
    }

    /// Seconds since 1970 and their fraction in nanoseconds, for the name of what is made from the file.
    pub fn modified_nanoseconds(&self) -> u128 {
        let since = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |duration| duration.as_nanos())
    }
}

/// The error for a file that is no longer what it was when it was opened.
pub fn changed(path: &Path) -> Error {
    Error::failure(format!("{} was changed while it was read", path.display()))
        .help("a dataset must stay as it is while it is used: put the file back, or start again")
}

impl WatchedFile {
    /// Opens the file at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        check_is_file(path)?;
        let at = |error: io::Error| cannot_read(path, &error);
        let file = File::open(path).map_err(at)?;
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            return Err(cannot_read(path, &io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { state: FileState::of(&metadata), file, path: path.to_path_buf() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long it is, and when it was last written.
    pub fn state(&self) -> FileState {
        self.state
    }

    /// How many bytes it has.
    pub fn n_bytes(&self) -> u64 {
        self.state.n_bytes
    }

    /// Fills `bytes` from `position` on; an error where the file was changed since it was opened.
    pub fn read_at(&self, bytes: &mut [u8], position: u64) -> Result<()> {
        read_exact_at(&self.file, bytes, position).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => changed(&self.path),
            _ => cannot_read(&self.path, &error),
        })?;
        self.check()
    }

    /// An error where the file was changed since it was opened.
    pub fn check(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|error| cannot_read(&self.path, &error))?;
        if FileState::of(&now) == self.state { Ok(()) } else { Err(changed(&self.path)) }
    }
}

/// Fills `bytes` from `position` on.
#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, position)
}

/// Fills `bytes` from `position` on.
#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut position: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, position)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n_read => {
                bytes = &mut bytes[n_read..];
                position += n_read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::error::Kind;

    #[test]
    fn a_file_that_is_cut_or_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"abcdef").unwrap();
        let file = WatchedFile::open(&path).unwrap();
        let mut bytes = [0; 3];
        file.read_at(&mut bytes, 2).unwrap();
        assert_eq!((&bytes, file.n_bytes()), (b"cde", 6));
        File::options().append(true).open(&path).unwrap().write_all(b"g").unwrap();
        let error = file.read_at(&mut bytes, 2).unwrap_err();
        assert!(error.to_string().contains("was changed while it was read"), "{error}");
        assert_eq!(error.kind(), Kind::Failure);
        File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
        assert!(file.read_at(&mut bytes, 2).unwrap_err().to_string().contains("was changed"));
    }

    #[test]
    fn a_file_in_the_place_of_another_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&path, b"abcdef").unwrap();
        let file = WatchedFile::open(&path).unwrap();
        std::fs::write(&other, b"uvwxyz").unwrap();
        std::fs::rename(&other, &path).unwrap();
        let mut bytes = [0; 3];
        file.read_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"abc");
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let message = WatchedFile::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("it is a folder"), "{message}");
    }
}
