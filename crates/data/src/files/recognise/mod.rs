//! What a file or folder is, whether it is whole, and what would read it. Told by what it holds; names only decide where a
//! dataset looks for its files by their names.
//!
//! Files are read to their ends, piece by piece, so that checksums are compared and memory stays small; of pictures, one for each
//! thread is decoded at a time.

mod archive;
mod array;
mod cars3d;
mod celeba;
mod data_root;
mod folder;
mod hdf5;
mod kind;
mod mat;
mod mnist;
mod numbered;
mod picture;
mod pictures;
mod published;
mod reads;
mod run;
mod small_norb;
mod table;

use std::fs::FileType;
use std::path::Path;

use crate::error::{Error, Result};
use crate::file_errors::cannot_read;
use crate::files::store::MOST_IN_MEMORY;
use kind::Kind;

/// Everything that is recognised, for whoever gave something else.
const KNOWN: &str = "known are .npz and .npy files, HDF5, MAT-files, the idx files of MNIST, the matrices of SmallNORB, Parquet, \
                     CSV, pictures, folders of these, and runs";

/// What is known of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// What it is, in a few words.
    pub what: String,
    /// What it holds, a line for each thing.
    pub details: Vec<String>,
    /// Whether all of it is there and undamaged; else what is broken, and what to do.
    pub is_whole: Result<()>,
    /// What reads it, each ready to be pasted: the `[dataset]` of a config, or a command.
    pub reads_it: Vec<String>,
}

impl Recognised {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), details: Vec::new(), is_whole: Ok(()), reads_it: Vec::new() }
    }

    /// Something that is broken. The first thing that is found stays.
    fn broken(&mut self, error: Error) {
        if self.is_whole.is_ok() {
            self.is_whole = Err(error);
        }
    }

    fn detail(&mut self, line: impl Into<String>) {
        self.details.push(line.into());
    }

    fn with_detail(mut self, line: impl Into<String>) -> Self {
        self.detail(line);
        self
    }

    /// The same, with what came of reading it to its end.
    fn checked(mut self, read: Result<()>) -> Self {
        if let Err(error) = read {
            self.broken(error);
        }
        self
    }

    fn read_by(mut self, ways: impl IntoIterator<Item = String>) -> Self {
        self.reads_it.extend(ways);
        self
    }
}

/// Says what the file or folder at `path` is. An error where there is nothing, or nothing that is known.
///
/// ```
/// use unbraid_data::files::recognise::recognise;
///
/// let path = "../../reference/datasets/own_factors.npz";
/// let recognised = recognise(path.as_ref())?;
/// assert!(recognised.is_whole.is_ok());
/// assert_eq!(recognised.reads_it, [format!("[dataset]\nname = \"npz\"\npath = \"{path}\"")]);
/// # Ok::<(), unbraid_data::Error>(())
/// ```
pub fn recognise(path: &Path) -> Result<Recognised> {
    // Nothing is opened before it is known that opening it does not wait for anyone.
    let metadata = std::fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
    if metadata.is_dir() {
        return folder::recognise(path);
    }
    if !metadata.is_file() {
        return Err(not_a_file(path, metadata.file_type()));
    }
    let mut recognised = recognise_file(path)?;
    published::compare(path, &mut recognised)?;
    if metadata.len() <= MOST_IN_MEMORY && recognised.is_whole.is_ok() {
        let opened = recognised.reads_it.iter().try_for_each(|way| reads::open_own(way));
        recognised = recognised.checked(opened);
    }
    Ok(recognised)
}

fn recognise_file(path: &Path) -> Result<Recognised> {
    Ok(match kind::of_file(path)? {
        Kind::Zip => archive::recognise(path),
        Kind::Npy => array::recognise(path),
        Kind::Hdf5 => hdf5::recognise(path),
        Kind::Idx => mnist::recognise_file(path),
        Kind::SmallNorb => small_norb::recognise_file(path),
        Kind::Mat => mat::recognise(path),
        Kind::Parquet => table::recognise_parquet(path),
        Kind::Picture => picture::recognise(path),
        Kind::Csv(delimiter) => table::recognise_csv(path, delimiter),
        Kind::Packed(what) => Recognised::new(what)
            .with_detail("to be unpacked: what is inside is not read from here")
            .checked(kind::read_to_end(path)),
        Kind::Empty => {
            return Err(Error::new(format!("{} is empty", path.display()))
                .help("it was not copied or downloaded to its end: do that again"));
        }
        Kind::Unknown(looks_like) => {
            let message = format!("{} is {looks_like}, and of no kind that is known", path.display());
            return Err(Error::new(message).help(KNOWN));
        }
    })
}

/// Refuses a part of a folder that is no file. To open a pipe would wait for whoever writes to it.
fn check_is_file(path: &Path) -> Result<()> {
    let metadata = std::fs::metadata(path).map_err(|error| cannot_read(path, &error))?;
    if metadata.is_file() { Ok(()) } else { Err(not_a_file(path, metadata.file_type())) }
}

/// The message of an error, without what to do.
fn first_line(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

fn not_a_file(path: &Path, file_type: FileType) -> Error {
    Error::new(format!("{} is {}, neither a file nor a folder", path.display(), special_name(file_type)))
        .help("give the path of a file or folder")
}

/// What something that is neither file nor folder is called.
#[cfg(unix)]
fn special_name(file_type: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special_name(_: FileType) -> &'static str {
    "a device"
}
