//! Where the bytes of a dataset's images lie once they are unpacked: in memory where they are few, else in a file.
//!
//! Files of the literature are compressed in ways in which no single image can be read: a deflated array, tiles that cut
//! through thousands of images. They are unpacked once. What takes more than [`MOST_IN_MEMORY`] is unpacked into the cache
//! folder (`XDG_CACHE_HOME/unbraid`, or `~/.cache/unbraid`), under a name that follows from the file's path, length and time
//! of writing, and is found there the next time.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::file_errors::cannot_write;
use crate::files::hdf5::Array;
use crate::files::watched_file::{FileState, WatchedFile, changed};
use crate::notice::tell;
use crate::whole_file::{create_folder, is_temporary_name, write_whole_with};

/// More bytes than this are not held in memory.
pub const MOST_IN_MEMORY: u64 = 1 << 28;

/// A file that is being unpacked is written to more often than that.
const ABANDONED: Duration = Duration::from_secs(600);

/// Items of equal length, one after the other.
#[derive(Debug)]
pub struct Store {
    place: Place,
    item_bytes: usize,
}

#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    /// A file, and the position in it at which the first item begins.
    File(WatchedFile, u64),
    /// A dataset of an HDF5 file, an item in each row.
    Hdf5(Array),
}

impl Store {
    /// Items that lie in memory.
    pub fn in_memory(bytes: Vec<u8>, item_bytes: usize) -> Self {
        Self { place: Place::Memory(bytes), item_bytes }
    }

    /// Items that lie in a file from `start` on.
    pub fn in_file(file: WatchedFile, start: u64, item_bytes: usize) -> Self {
        Self { place: Place::File(file, start), item_bytes }
    }

    /// Items that are the rows of a dataset of an HDF5 file.
    pub fn in_hdf5(array: Array, item_bytes: usize) -> Self {
        Self { place: Place::Hdf5(array), item_bytes }
    }

    /// Bytes of an item.
    pub fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// Writes item `index` into `bytes`.
    pub fn read(&self, index: usize, bytes: &mut [u8]) -> Result<()> {
        match &self.place {
            Place::Memory(all) => {
                bytes.copy_from_slice(&all[index * self.item_bytes..][..self.item_bytes]);
                Ok(())
            }
            Place::Hdf5(array) => {
                bytes.copy_from_slice(&array.rows(index, 1)?);
                Ok(())
            }
            Place::File(file, start) => file.read_at(bytes, start + index as u64 * self.item_bytes as u64),
        }
    }
}

/// What is to be unpacked.
pub struct Packed<'a> {
    /// The file that it comes from.
    pub path: &'a Path,
    /// What it is called there; two parts of a file have two names.
    pub part: &'a str,
    /// What else decides the bytes beside the file's length and time of writing, as those of files in a folder.
    pub state: String,
    /// How many items there are.
    pub n_items: usize,
    /// Bytes of an item as it is unpacked.
    pub item_bytes: usize,
}

impl Packed<'_> {
    /// Unpacks it by `fill`, which writes all items in order, or finds it where it was unpacked before.
    pub fn unpack(&self, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Store> {
        self.unpack_into(MOST_IN_MEMORY, cache_folder, fill)
    }

    fn unpack_into(
        &self,
        most_in_memory: u64,
        folder: impl FnOnce() -> Result<PathBuf>,
        fill: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Store> {
        let n_bytes = self.n_items as u64 * self.item_bytes as u64;
        if n_bytes <= most_in_memory {
            // It grows as bytes come, whatever was announced.
            let mut bytes = Vec::new();
            fill(&mut bytes)?;
            self.check_length(bytes.len() as u64, n_bytes)?;
            return Ok(Store::in_memory(bytes, self.item_bytes));
        }
        let folder = folder()?;
        let name = self.cached_name()?;
        let path = folder.join(&name);
        let is_there = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() == n_bytes);
        if !is_there {
            tell(&format!(
                "{}: unpacking {} to {} ({:.1} GB, the first time only; it may be deleted)",
                self.path.display(),
                self.part,
                path.display(),
                n_bytes as f64 / 1e9
            ));
            create_folder(&folder)?;
            remove_abandoned(&path);
            write_whole_with(&path, |writer| {
                let mut counted = Counted { writer, n_bytes: 0 };
                fill(&mut counted).map_err(std::io::Error::other)?;
                self.check_length(counted.n_bytes, n_bytes).map_err(std::io::Error::other)?;
                // What was changed meanwhile must not be found under the name of what it was.
                if self.cached_name().ok() == Some(name) {
                    return Ok(());
                }
                Err(std::io::Error::other(changed(self.path)))
            })?;
        }
        Ok(Store::in_file(WatchedFile::open(&path)?, 0, self.item_bytes))
    }

    fn check_length(&self, found: u64, wanted: u64) -> Result<()> {
        if found == wanted {
            return Ok(());
        }
        Err(Error::new(format!("{} has {found} bytes where {wanted} were announced", self.part))
            .at(self.path.display())
            .help("the file may be cut short or damaged: copy it again"))
    }

    /// `3dshapes-1f2e3d4c-5b6a7988.bytes`: the file's name, and checksums of what decides the bytes.
    fn cached_name(&self) -> Result<String> {
        let absolute = std::path::absolute(self.path).unwrap_or_else(|_| self.path.to_path_buf());
        let state = FileState::at(self.path)?;
        let stem = self.path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        let place = crc32fast::hash(absolute.as_os_str().as_encoded_bytes());
        let Self { part, item_bytes, .. } = self;
        let (n_bytes, modified) = (state.n_bytes, state.modified_nanoseconds());
        let what = format!("{part} {item_bytes} {n_bytes} {modified} {}", self.state);
        Ok(format!("{stem}-{place:08x}-{:08x}.bytes", crc32fast::hash(what.as_bytes())))
    }
}

/// Removes what processes that were killed have left of the file at `path`: nobody has written to it for a while.
fn remove_abandoned(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else { return };
    let is_abandoned = |file: &Path| {
        let found = file.file_name().and_then(|found| found.to_str()).unwrap_or_default();
        let since =
            std::fs::metadata(file).and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        is_temporary_name(found) && found.contains(name) && since.is_some_and(|since| since > ABANDONED)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    // One that cannot be removed is in nobody's way.
    entries.filter(|file| is_abandoned(file)).for_each(|file| drop(std::fs::remove_file(file)));
}

/// Where unpacked files go.
fn cache_folder() -> Result<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let missing = || {
        Error::new("a file is to be unpacked, but there is no folder for that")
            .help("name one in the variable XDG_CACHE_HOME, on a disk with room")
    };
    Ok(caches.ok_or_else(missing)?.join("unbraid"))
}

struct Counted<'a, W: Write> {
    writer: &'a mut W,
    n_bytes: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n_written = self.writer.write(bytes)?;
        self.n_bytes += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// The error for bytes that could not be unpacked: one of ours as it is, else what the system said of the cache.
pub fn not_unpacked(error: &std::io::Error) -> Error {
    cannot_write(Path::new("the unpacked images"), error)
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;

    fn write(writer: &mut dyn Write, bytes: &[u8]) -> Result<()> {
        writer.write_all(bytes).map_err(|error| not_unpacked(&error))
    }

    fn item(store: &Store, index: usize) -> [u8; 2] {
        let mut bytes = [0; 2];
        store.read(index, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_large_is_unpacked_once_and_found_again() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.npz");
        std::fs::write(&path, b"packed").unwrap();
        let packed = Packed { path: &path, part: "images", state: String::new(), n_items: 3, item_bytes: 2 };
        let unpack = |most: u64, fill: &dyn Fn(&mut dyn Write) -> Result<()>| {
            packed.unpack_into(most, || Ok(folder.path().join("cache")), |writer| fill(writer))
        };
        let never = |_: &mut dyn Write| panic!("it was unpacked before");
        let fill = |writer: &mut dyn Write| write(writer, b"aabbcc");
        assert_eq!(item(&unpack(6, &fill).unwrap(), 1), *b"bb");
        assert!(!folder.path().join("cache").exists());
        assert_eq!(item(&unpack(5, &fill).unwrap(), 2), *b"cc");
        assert_eq!(item(&unpack(5, &never).unwrap(), 0), *b"aa");
        // Another file under the same name is unpacked anew.
        std::fs::write(&path, b"packed otherwise").unwrap();
        assert_eq!(item(&unpack(5, &|writer| write(writer, b"ddeeff")).unwrap(), 0), *b"dd");
    }

    #[test]
    fn what_is_changed_while_it_is_unpacked_is_not_kept() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.npz");
        std::fs::write(&path, b"packed").unwrap();
        let packed = Packed { path: &path, part: "images", state: String::new(), n_items: 1, item_bytes: 2 };
        let unpacked = packed.unpack_into(
            0,
            || Ok(folder.path().join("cache")),
            |writer| {
                std::fs::write(&path, b"packed otherwise").unwrap();
                write(writer, b"aa")
            },
        );
        assert!(unpacked.unwrap_err().to_string().contains("was changed while it was read"));
        assert_eq!(std::fs::read_dir(folder.path().join("cache")).unwrap().count(), 0);
    }

    #[test]
    fn too_few_bytes_are_an_error_and_nothing_is_kept() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("a.npz");
        std::fs::write(&path, b"packed").unwrap();
        let packed = Packed { path: &path, part: "images", state: String::new(), n_items: 3, item_bytes: 2 };
        for most in [0, 100] {
            let cache = || Ok(folder.path().join("cache"));
            let unpacked = packed.unpack_into(most, cache, |writer| write(writer, b"aab"));
            let message = unpacked.unwrap_err().to_string();
            assert!(message.contains("a.npz: images has 3 bytes where 6 were announced"), "{message}");
        }
        assert_eq!(std::fs::read_dir(folder.path().join("cache")).unwrap().count(), 0);
    }
}
