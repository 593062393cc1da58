//! The bytes of an HDF5 file: positioned reads that stay inside it, and the notice that it changed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::checksum::lookup3;
use crate::error::{Error, Result};
use crate::file_errors::check_is_file;
use crate::files::watched_file::read_exact_at;
use crate::npy::{open_file, unreadable};

/// An address that says "nowhere".
pub(super) const UNDEFINED: u64 = u64::MAX;

/// An open file, of which any thread may read any part. It is not mapped: a file that is cut while mapped ends the
/// process.
#[derive(Debug)]
pub(super) struct Source {
    store: Store,
    n_bytes: u64,
    /// Where address 0 lies, after what a user put before it.
    pub(super) base: u64,
    pub(super) path: PathBuf,
}

#[derive(Debug)]
enum Store {
    File {
        file: File,
        modified: Option<SystemTime>,
    },
    /// Damaged copies of a file. Where checksums are not compared, the damage reaches what lies behind.
    #[cfg(test)]
    Bytes {
        bytes: Vec<u8>,
        compares_checksums: bool,
    },
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self> {
        check_is_file(path)?;
        let (file, n_bytes) = open_file(path)?;
        let modified = file.metadata().and_then(|found| found.modified()).ok();
        Ok(Self { store: Store::File { file, modified }, n_bytes, base: 0, path: path.to_path_buf() })
    }

    #[cfg(test)]
    pub(super) fn damaged(bytes: Vec<u8>, compares_checksums: bool) -> Self {
        let n_bytes = bytes.len() as u64;
        Self { store: Store::Bytes { bytes, compares_checksums }, n_bytes, base: 0, path: PathBuf::from("damaged.h5") }
    }

    /// The size that the file had when it was opened.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// How many bytes follow `address`.
    pub(super) fn after(&self, address: u64) -> u64 {
        self.n_bytes.saturating_sub(self.base).saturating_sub(address)
    }

    /// The `n_bytes` at `address`.
    pub(super) fn read(&self, address: u64, n_bytes: usize) -> Result<Vec<u8>> {
        self.check_inside(address, n_bytes as u64)?;
        let mut bytes = vec![0; n_bytes];
        self.read_into(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes` with those at `address`.
    pub(super) fn read_into(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.check_inside(address, bytes.len() as u64)?;
        let start = self.base + address;
        match &self.store {
            Store::File { file, .. } => read_exact_at(file, bytes, start).map_err(unreadable),
            #[cfg(test)]
            Store::Bytes { bytes: all, .. } => {
                bytes.copy_from_slice(&all[start as usize..start as usize + bytes.len()]);
                Ok(())
            }
        }
    }

    /// The error for a range that is not inside the file.
    pub(super) fn check_inside(&self, address: u64, n_bytes: u64) -> Result<()> {
        let end = self.base.checked_add(address).and_then(|start| start.checked_add(n_bytes));
        match end {
            Some(end) if end <= self.n_bytes => Ok(()),
            _ => Err(damaged(format!("{n_bytes} bytes at {address} were announced, outside of the file"))),
        }
    }

    /// What was read, unless the file is no longer the one that was opened: then that is told, whatever was read.
    pub(super) fn unless_changed<T>(&self, read: Result<T>) -> Result<T> {
        match &self.store {
            Store::File { file, modified } => {
                let found = file.metadata().map_err(unreadable)?;
                if found.len() != self.n_bytes || found.modified().ok() != *modified {
                    return Err(
                        Error::failure("was changed while it was in use").help("leave it as it is, and start again")
                    );
                }
                read
            }
            #[cfg(test)]
            Store::Bytes { .. } => read,
        }
    }

    fn compares_checksums(&self) -> bool {
        match self.store {
            Store::File { .. } => true,
            #[cfg(test)]
            Store::Bytes { compares_checksums, .. } => compares_checksums,
        }
    }
}

/// A walk through the structures of a file. In all it reads at most a few times what the file holds, so that structures
/// that overlap or point in circles come to an end.
pub(super) struct Walk<'a> {
    source: &'a Source,
    n_bytes_left: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, n_bytes_left: source.n_bytes.saturating_mul(4).saturating_add(1 << 16) }
    }

    pub(super) fn source(&self) -> &'a Source {
        self.source
    }

    /// Counts `n_bytes` of work or memory.
    pub(super) fn spend(&mut self, n_bytes: u64) -> Result<()> {
        let left = self.n_bytes_left.checked_sub(n_bytes);
        self.n_bytes_left = left.ok_or_else(|| damaged("its structures overlap"))?;
        Ok(())
    }

    /// The `n_bytes` at `address`.
    pub(super) fn read(&mut self, address: u64, n_bytes: u64) -> Result<Vec<u8>> {
        self.source.check_inside(address, n_bytes)?;
        self.spend(n_bytes)?;
        self.source.read(address, n_bytes as usize)
    }

    /// The structure at `address` that begins with `signature`, after it.
    pub(super) fn signed(&mut self, address: u64, n_bytes: u64, signature: &[u8; 4]) -> Result<Vec<u8>> {
        let mut bytes = self.read(address, n_bytes)?;
        check_signature(&bytes, signature)?;
        bytes.drain(..4);
        Ok(bytes)
    }

    /// The structure of `n_bytes` at `address` that begins with `signature` and ends with a checksum, without both.
    pub(super) fn checked(&mut self, address: u64, n_bytes: u64, signature: &[u8; 4]) -> Result<Vec<u8>> {
        let mut bytes = self.summed(address, n_bytes)?;
        check_signature(&bytes, signature)?;
        bytes.drain(..4);
        Ok(bytes)
    }

    /// The structure of `n_bytes` at `address` that ends with a checksum, without it.
    pub(super) fn summed(&mut self, address: u64, n_bytes: u64) -> Result<Vec<u8>> {
        let mut bytes = self.read(address, n_bytes)?;
        let Some(sum) = bytes.len().checked_sub(4).map(|end| bytes.split_off(end)) else {
            return Err(damaged("a structure is too short for its checksum"));
        };
        self.check_sum(&bytes, &sum)?;
        Ok(bytes)
    }

    /// The error for bytes that do not have this checksum.
    pub(super) fn check_sum(&self, bytes: &[u8], sum: &[u8]) -> Result<()> {
        if self.source.compares_checksums() && lookup3(bytes).to_le_bytes() != sum {
            return Err(damaged("the checksum of a structure differs"));
        }
        Ok(())
    }
}

fn check_signature(bytes: &[u8], signature: &[u8; 4]) -> Result<()> {
    if bytes.starts_with(signature) {
        return Ok(());
    }
    Err(damaged(format!("a structure does not begin with {}", String::from_utf8_lossy(signature))))
}

/// The fields of a structure, one after the other, little-endian.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn take(&mut self, n_bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(n_bytes).ok_or_else(|| damaged("a structure ends before its last field"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A whole number of up to 8 bytes.
    pub(super) fn number(&mut self, n_bytes: usize) -> Result<u64> {
        if n_bytes > 8 {
            return Err(damaged(format!("a number of {n_bytes} bytes was announced")));
        }
        Ok(self.take(n_bytes)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(self.number(2)? as u16)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(self.number(4)? as u32)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.number(8)
    }
}

/// The error for a file whose structures contradict each other.
pub(super) fn damaged(what: impl Into<String>) -> Error {
    Error::new(what).help("the file may be cut short or damaged: copy or save it again")
}

/// The error for something that other programs read and this one does not.
pub(super) fn unsupported(what: impl Into<String>) -> Error {
    Error::new(what).help("save it again with h5py, as uint8 or float64 and with gzip or no compression")
}
