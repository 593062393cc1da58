//! An `.npz` file that is being written: it takes its name when it is whole.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use ndarray::Array2;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::file_errors::cannot_write;
use crate::npy::write_header;
use crate::npz::entry_index;

/// An archive that is being written.
pub(crate) struct Archive {
    /// Where values go once an array has begun.
    pub(crate) zip: ZipWriter<BufWriter<File>>,
}

impl Archive {
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
        // numpy pads every text to the longest one, four bytes a character.
        let width = factors.iter().map(|factor| factor.name.chars().count()).max().unwrap_or(0).max(1);
        self.begin("factor_names", &format!("<U{width}"), &[factors.len()])?;
        for factor in factors {
            let padded = factor.name.chars().chain(std::iter::repeat('\0')).take(width);
            for character in padded {
                self.zip.write_all(&(character as u32).to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Adds all that another archive holds, byte for byte, but the array called `name`, which is replaced by `table`.
    pub(crate) fn copy_but(
        &mut self,
        other: &mut ZipArchive<BufReader<File>>,
        name: &str,
        table: &Array2<f64>,
    ) -> std::io::Result<()> {
        let replaced = entry_index(other, name);
        for index in 0..other.len() {
            let entry = other.by_index_raw(index)?;
            if Some(index) == replaced {
                self.add_table(name, table)?;
            } else {
                self.zip.raw_copy_file(entry)?;
            }
        }
        Ok(())
    }
}

/// Puts at `path` the archive that `fill` writes. Where that fails, what was there stays.
pub(crate) fn write_archive(path: &Path, fill: impl FnOnce(&mut Archive) -> std::io::Result<()>) -> Result<()> {
    // A link keeps pointing where it did: it is the file behind it that is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let partial = partial_path(&target)?;
    let written = write_whole(&partial, fill).and_then(|()| std::fs::rename(&partial, &target));
    written.map_err(|error| {
        // What is left of it may not be there at all, and the first error is the one to tell.
        let _ = std::fs::remove_file(&partial);
        cannot_write(path, &error)
    })
}

/// The name that the file has until it is whole.
fn partial_path(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(Error::new(format!("{} does not name a file", path.display())));
    };
    if path.is_dir() {
        return Err(Error::new(format!("{} is a folder", path.display())).help("name a file, for instance data.npz"));
    }
    if path.exists() && !path.is_file() {
        return Err(
            Error::new(format!("{} is a device or a pipe", path.display())).help("name a file, for instance data.npz")
        );
    }
    let mut name = name.to_os_string();
    name.push(format!(".partial-{}", std::process::id()));
    Ok(path.with_file_name(name))
}

fn write_whole(path: &Path, fill: impl FnOnce(&mut Archive) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut archive = Archive { zip: ZipWriter::new(BufWriter::new(File::create(path)?)) };
    let written = fill(&mut archive);
    if written.is_err() {
        // Dropped, the archive would try to end itself and print a message of its own.
        std::mem::forget(archive);
        return written;
    }
    archive.zip.finish()?.into_inner()?.sync_all()
}
