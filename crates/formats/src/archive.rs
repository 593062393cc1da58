//! An `.npz` file that is being written: it takes its name when it is whole.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use ndarray::Array2;
use unbraid_data::files::npz::entry_index;
use unbraid_data::npy::write_header;
use unbraid_data::whole_file::write_whole_with;
use unbraid_data::{Error, FactorSpace, Result};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// An archive that is being written.
pub(crate) struct Archive<'a> {
    /// Where values go once an array has begun.
    pub(crate) zip: ZipWriter<&'a mut BufWriter<File>>,
}

impl Archive<'_> {
    /// Begins the next array; its values follow.
    pub(crate) fn begin(&mut self, name: &str, descr: &str, shape: &[usize]) -> std::io::Result<()> {
        // Level 1 is the fastest, and pictures of a few flat areas shrink well at any level.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .large_file(true);
        self.zip.start_file(format!("{name}.npy"), options)?;
        write_header(&mut self.zip, descr, shape)
    }

    /// Adds a table of 64-bit floats.
    pub(crate) fn add_table(&mut self, name: &str, table: &Array2<f64>) -> std::io::Result<()> {
        self.begin(name, "<f8", table.shape())?;
        table.iter().try_for_each(|value| self.zip.write_all(&value.to_le_bytes()))
    }

    /// Adds a list of whole numbers.
    pub(crate) fn add_whole_numbers(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = usize>,
    ) -> std::io::Result<()> {
        self.begin(name, "<i8", &[values.len()])?;
        values.into_iter().try_for_each(|value| self.zip.write_all(&(value as i64).to_le_bytes()))
    }

    /// Adds the names of factors, and their sizes, 0 for a continuous one.
    pub(crate) fn add_factor_space(&mut self, space: &FactorSpace) -> std::io::Result<()> {
        let factors = space.factors();
        self.add_whole_numbers("factor_sizes", factors.iter().map(|factor| factor.size.unwrap_or(0)))?;
        let names: Vec<&str> = space.names().collect();
        self.add_texts("factor_names", &names)
    }

    /// Adds a list of texts.
    pub(crate) fn add_texts(&mut self, name: &str, texts: &[&str]) -> std::io::Result<()> {
        // numpy pads every text to the longest one, four bytes a character.
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        self.begin(name, &format!("<U{width}"), &[texts.len()])?;
        for text in texts {
            let padded = text.chars().chain(std::iter::repeat('\0')).take(width);
            for character in padded {
                self.zip.write_all(&(character as u32).to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Adds all that another archive holds, byte for byte, but these tables, which take the place of what is called so or
    /// come last, and what is left out.
    pub(crate) fn copy_but(
        &mut self,
        other: &mut ZipArchive<BufReader<File>>,
        tables: &[(&str, &Array2<f64>)],
        left_out: &[&str],
    ) -> std::io::Result<()> {
        let places: Vec<Option<usize>> = tables.iter().map(|(name, _)| entry_index(other, name)).collect();
        let left_out: Vec<usize> = left_out.iter().filter_map(|name| entry_index(other, name)).collect();
        for index in 0..other.len() {
            let replaced = places.iter().position(|place| *place == Some(index));
            match replaced {
                _ if left_out.contains(&index) => {}
                Some(table) => self.add_table(tables[table].0, tables[table].1)?,
                None => self.zip.raw_copy_file(other.by_index_raw(index)?)?,
            }
        }
        let new = tables.iter().zip(&places).filter(|(_, place)| place.is_none());
        new.into_iter().try_for_each(|((name, table), _)| self.add_table(name, table))
    }
}

/// Puts at `path` the archive that `fill` writes. Where that fails, what was there stays.
pub(crate) fn write_archive(path: &Path, fill: impl FnOnce(&mut Archive<'_>) -> std::io::Result<()>) -> Result<()> {
    if path.exists() && !path.is_file() && !path.is_dir() {
        // The list of an archive's parts is put right at the end, for which a pipe cannot go back.
        let message = format!("{} is a device or a pipe", path.display());
        return Err(Error::new(message).help("name a file, for instance data.npz"));
    }
    write_whole_with(path, |writer| {
        let mut archive = Archive { zip: ZipWriter::new(writer) };
        let written = fill(&mut archive);
        if written.is_err() {
            // Dropped, the archive would try to end itself and print a message of its own.
            std::mem::forget(archive);
            return written;
        }
        archive.zip.finish()?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

    use unbraid_data::file_errors::cannot_write;
    use zip::result::ZipError;

    use super::*;

    #[test]
    fn what_the_system_said_is_told_through_the_archive() {
        let system = || io::Error::from_raw_os_error(5);
        let wrapped = io::Error::from(ZipError::Io(system()));
        assert_eq!(wrapped.to_string(), "i/o error");
        let message = cannot_write(Path::new("a.npz"), &wrapped).to_string();
        assert_eq!(message, format!("cannot write a.npz: {}", system()));
        let full = io::Error::from(ZipError::Io(ErrorKind::StorageFull.into()));
        assert!(cannot_write(Path::new("a.npz"), &full).to_string().contains("no space left on the disk"));
    }

    #[test]
    fn an_archive_that_is_not_finished_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        std::fs::write(&path, b"old").unwrap();
        let error = write_archive(&path, |archive| {
            archive.begin("images", "|u1", &[9])?;
            Err(io::Error::other(Error::new("image 3: the file was cut")))
        });
        assert_eq!(error.unwrap_err().to_string(), "image 3: the file was cut");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
