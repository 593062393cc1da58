//! Arrays as `.npy` files: read by their paths, and written whole.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use ndarray::{Array2, Array3, ArrayBase, Data, Dimension};

use super::{Announced, NpyArray, indices, unreadable, write_header};
use crate::error::{Error, Result};
use crate::whole_file::write_whole_with;

/// A number that an array is written of.
pub trait Number: Copy {
    /// numpy's name of its type.
    const DESCR: &'static str;

    /// Its bytes, little-endian.
    fn bytes(self) -> impl AsRef<[u8]>;
}

impl Number for f32 {
    const DESCR: &'static str = "<f4";

    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }
}

impl Number for f64 {
    const DESCR: &'static str = "<f8";

    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }
}

impl Number for i64 {
    const DESCR: &'static str = "<i8";

    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }
}

/// Writes an array of any shape as a whole `.npy` file, row-major.
pub fn write_file<N: Number, S: Data<Elem = N>, D: Dimension>(path: &Path, array: &ArrayBase<S, D>) -> Result<()> {
    write_whole_with(path, |writer| {
        write_header(writer, N::DESCR, array.shape())?;
        array.iter().try_for_each(|value| writer.write_all(value.bytes().as_ref()))
    })
}

/// Reads a table of numbers, `[rows, columns]`, from a `.npy` file.
pub fn read_table(path: &Path) -> Result<Array2<f64>> {
    read_file(path)?.to_table().map_err(|error| error.at(path.display()))
}

/// Reads a list of numbers, `[rows]`, from a `.npy` file.
pub fn read_list(path: &Path) -> Result<Vec<f64>> {
    let array = read_file(path)?;
    if array.shape().len() != 1 {
        let message = format!("wanted a list with one axis, found shape {:?}", array.shape());
        return Err(Error::new(message).at(path.display()));
    }
    array.to_f64().map_err(|error| error.at(path.display()))
}

/// Reads tables of numbers, `[tables, rows, columns]`, from a `.npy` file.
pub fn read_tables(path: &Path) -> Result<Array3<f64>> {
    read_file(path)?.to_tables().map_err(|error| error.at(path.display()))
}

/// Reads image numbers, `[n]`, from a `.npy` file.
pub fn read_indices(path: &Path) -> Result<Vec<usize>> {
    read_file(path).and_then(|array| indices(&array).map_err(|error| error.at(path.display())))
}

/// Opens a file for reading, with its size.
pub fn open_file(path: &Path) -> Result<(File, u64)> {
    let open = || -> std::io::Result<(File, u64)> {
        let file = File::open(path)?;
        let n_bytes = file.metadata()?.len();
        Ok((file, n_bytes))
    };
    if path.is_dir() {
        return Err(Error::new(format!("{} is a folder", path.display())).help("name a file"));
    }
    open().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::new(format!("there is no file {}", path.display())),
        _ => unreadable(error).at(path.display()),
    })
}

/// Reads an array from a `.npy` file.
pub fn read_file(path: &Path) -> Result<NpyArray> {
    let (file, n_bytes) = open_file(path)?;
    NpyArray::read(BufReader::new(file), n_bytes).map_err(|error| error.at(path.display()))
}

/// Reads what a `.npy` file says of its array.
pub fn read_announced(path: &Path) -> Result<Announced> {
    let (file, n_bytes) = open_file(path)?;
    Announced::read(BufReader::new(file), n_bytes).map_err(|error| error.at(path.display()))
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn numbers_come_back_whatever_their_type() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write_file(&path, &array![[1.5_f32, 2.0], [0.25, -4.0]]).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[1.5, 2.0], [0.25, -4.0]]);
        write_file(&path, &array![[3_i64, -7]]).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[3.0, -7.0]]);
        write_file(&path, &array![0.1_f64]).unwrap();
        assert_eq!(read_list(&path).unwrap(), [0.1]);
        assert!(read_table(&path).unwrap_err().to_string().contains("found shape [1]"));
        // Transposed arrays lie in memory column by column and have to come back the right way round.
        write_file(&path, &array![[1.0_f32, 2.0], [3.0, 4.0]].t()).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[1.0, 3.0], [2.0, 4.0]]);
        assert!(read_list(&path).unwrap_err().to_string().contains("found shape [2, 2]"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let message = read_indices(Path::new("/no/such.npy")).unwrap_err().to_string();
        assert_eq!(message, "there is no file /no/such.npy");
    }
}
