//! Copies of the files of `reference/datasets`, to be broken, and what is said where they are opened.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use unbraid_data::datasets::{build, read_images};
use unbraid_data::npy::write_header;
use unbraid_data::{Dataset, Result};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A file or folder of `reference/datasets` in a folder of its own.
pub struct Copied {
    folder: TempDir,
    name: String,
}

impl Copied {
    pub fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/datasets").join(name),
            &folder.path().join(name),
        );
        Self { folder, name: name.to_string() }
    }

    /// A file with these bytes.
    pub fn file(name: &str, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        Self { folder, name: name.to_string() }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// A file within.
    pub fn at(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.path() } else { self.path().join(name) }
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).unwrap()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.at(name), bytes).unwrap();
    }

    /// Changes the text of a file within.
    pub fn replace(&self, name: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.bytes(name)).unwrap();
        assert!(text.contains(from), "{text}");
        self.write(name, text.replacen(from, to, 1));
    }

    /// The only error where the dataset is opened and all of its images are read: one message, in which the broken file (that
    /// called `broken` within) comes once, and these words.
    #[track_caller]
    pub fn refused(&self, dataset: &str, settings: &str, broken: &str, words: &[&str]) {
        refused(dataset, &self.path(), settings, &self.at(broken), words);
    }

    pub fn opened(&self, dataset: &str, settings: &str) -> Result<Box<dyn Dataset>> {
        opened(dataset, &self.path(), settings)
    }
}

pub fn opened(dataset: &str, path: &Path, settings: &str) -> Result<Box<dyn Dataset>> {
    let mut table: toml::Table = settings.parse().unwrap();
    table.insert("path".to_string(), path.display().to_string().into());
    build(dataset, &table)
}

#[track_caller]
pub fn refused(dataset: &str, path: &Path, settings: &str, broken: &Path, words: &[&str]) {
    let read = opened(dataset, path, settings)
        .and_then(|dataset| read_images(&*dataset, &(0..dataset.n_images()).collect::<Vec<_>>()));
    let Err(error) = read else { panic!("{dataset} is read, wanted an error that says {words:?}") };
    let message = error.to_string();
    let name = broken.display().to_string();
    // What follows the name tells it from that of a longer one, as a folder's from those of the files in it.
    let n_times = message.match_indices(&name).filter(|(at, _)| !message[at + name.len()..].starts_with('/')).count();
    assert_eq!(n_times, 1, "{name} is not named once: {message}");
    assert!(message.lines().count() <= 2 && message.len() < 1000, "{message}");
    for word in words {
        assert!(message.contains(word), "no \"{word}\" in: {message}");
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        copy(&from.join(&name), &to.join(&name));
    }
}

/// An array of numpy: its name, type, shape and bytes.
pub type Array<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

pub fn npy((_, descr, shape, values): &Array) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_header(&mut bytes, descr, shape).unwrap();
    bytes.extend(values);
    bytes
}

/// An archive of arrays, stored as they are.
pub fn npz(arrays: &[Array]) -> Vec<u8> {
    npz_by(arrays, CompressionMethod::Stored)
}

pub fn npz_by(arrays: &[Array], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for array in arrays {
        zip.start_file(format!("{}.npy", array.0), SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(&npy(array)).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An archive of one member whose directory claims `claimed` bytes, of which `bytes` are there as they are kept.
pub fn claiming(member: &str, method: u16, bytes: &[u8], claimed: u64) -> Vec<u8> {
    let packed = bytes.len() as u64;
    // In the fields for the sizes, these are said to follow in 64 bits.
    let sizes =
        [&1_u16.to_le_bytes()[..], &16_u16.to_le_bytes(), &claimed.to_le_bytes(), &packed.to_le_bytes()].concat();
    let entry = [
        &[45, 0, 0, 0][..],
        &method.to_le_bytes(),
        &[0; 8],
        &[0xff; 8],
        &(member.len() as u16).to_le_bytes(),
        &(sizes.len() as u16).to_le_bytes(),
    ]
    .concat();
    let local = [b"PK\x03\x04", &entry[..], member.as_bytes(), &sizes, bytes].concat();
    let directory = [b"PK\x01\x02\x2d\x00", &entry[..], &[0; 14], member.as_bytes(), &sizes].concat();
    let end = [
        &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
        &(directory.len() as u32).to_le_bytes(),
        &(local.len() as u32).to_le_bytes(),
        &[0; 2],
    ];
    [local.clone(), directory, end.concat()].concat()
}

/// The most memory that this process has had, in bytes, where the system tells.
pub fn peak_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().map_or(0, |kilobytes| kilobytes.parse::<u64>().unwrap() << 10)
}
