//! The `.npz` format of numpy: a zip archive of arrays.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, Result};
use crate::file_errors::check_is_file;
use crate::files::inflated::most_inflated;
use crate::npy::{Announced, NpyArray, open_file, unreadable};
use crate::words::shortened;

/// Letters of the names of arrays that are told where one is missing.
const MOST_LETTERS: usize = 500;

/// An open archive of arrays.
pub struct Npz {
    archive: ZipArchive<BufReader<File>>,
}

impl Npz {
    /// Opens the archive at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        check_is_file(path)?;
        let (file, _) = open_file(path)?;
        match ZipArchive::new(BufReader::new(file)) {
            Ok(archive) => Ok(Self { archive }),
            Err(ZipError::Io(error)) => Err(unreadable(error).at(path.display())),
            Err(error) => Err(Error::new(format!("is not a whole .npz file ({error})"))
                .at(path.display())
                .help("save it with numpy.savez; if it was copied, copy it again")),
        }
    }

    /// The archive itself.
    pub fn archive(&mut self) -> &mut ZipArchive<BufReader<File>> {
        &mut self.archive
    }

    /// The names of the arrays, in order.
    pub fn names(&self) -> Vec<String> {
        self.archive.file_names().map(|name| name.strip_suffix(".npy").unwrap_or(name).to_string()).collect()
    }

    /// The array called `name`, where there is one.
    pub fn array(&mut self, name: &str) -> Result<Option<NpyArray>> {
        self.entry(name, |reader, n_bytes| NpyArray::read(reader, n_bytes))
    }

    /// What is said of the array called `name`, where there is one.
    pub fn announced(&mut self, name: &str) -> Result<Option<Announced>> {
        self.entry(name, |reader, n_bytes| Announced::read(reader, n_bytes))
    }

    /// The array called `name`; an error that says what there is where it is missing.
    pub fn required(&mut self, name: &str) -> Result<NpyArray> {
        self.array(name)?.ok_or_else(|| self.lacks(name))
    }

    /// The error for an array that is missing.
    pub fn lacks(&self, name: &str) -> Error {
        let names = self.names();
        let found = if names.is_empty() { "nothing".to_string() } else { names.join(", ") };
        Error::new(format!("there is no array \"{name}\"; found {}", shortened(&found, MOST_LETTERS)))
    }

    /// Where in the file the values of the array called `name` begin, where they lie there as they are: neither compressed
    /// nor encrypted.
    pub fn values_at(&mut self, name: &str) -> Result<Option<u64>> {
        let Some(index) = entry_index(&self.archive, name) else { return Ok(None) };
        let start = match self.archive.by_index_raw(index) {
            Ok(entry) if entry.compression() == CompressionMethod::Stored && !entry.encrypted() => entry.data_start(),
            Ok(_) => return Ok(None),
            Err(error) => return Err(Error::new(format!("array \"{name}\" cannot be read: {error}"))),
        };
        Ok(self.announced(name)?.map(|announced| start + announced.header_bytes))
    }

    /// Gives `read` the values of the array called `name`, as they are stored, and what is said of them.
    pub fn values<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Announced, &mut dyn Read) -> Result<T>,
    ) -> Result<Option<T>> {
        self.entry(name, |reader, n_bytes| {
            let announced = Announced::read(&mut *reader, n_bytes)?;
            read(&announced, reader)
        })
    }

    /// Reads the entry of an array. Its name ends in `.npy`, which numpy adds and other programs may not.
    fn entry<T>(&mut self, name: &str, read: impl FnOnce(&mut dyn Read, u64) -> Result<T>) -> Result<Option<T>> {
        let Some(index) = entry_index(&self.archive, name) else { return Ok(None) };
        let read = match self.archive.by_index(index) {
            Ok(mut entry) => check_size(&entry).and_then(|n_bytes| read(&mut entry, n_bytes)),
            Err(ZipError::Io(error)) => Err(unreadable(error)),
            Err(error) => Err(Error::new(format!("cannot be read: {error}"))),
        };
        read.map(Some).map_err(|error| error.at(format!("array \"{name}\"")))
    }
}

/// The bytes of an entry, where as many can come of those that the file has for it.
fn check_size(entry: &ZipFile<'_, BufReader<File>>) -> Result<u64> {
    let most = match entry.compression() {
        CompressionMethod::Stored => entry.compressed_size(),
        _ => most_inflated(entry.compressed_size()),
    };
    if entry.size() > most {
        return Err(Error::new(format!("claims to have {} bytes, but at most {most} can follow", entry.size()))
            .help("the file is damaged: copy or save it again"));
    }
    Ok(entry.size())
}

/// The position of the entry that holds the array called `name`.
pub fn entry_index(archive: &ZipArchive<BufReader<File>>, name: &str) -> Option<usize> {
    archive.index_for_name(&format!("{name}.npy")).or_else(|| archive.index_for_name(name))
}
