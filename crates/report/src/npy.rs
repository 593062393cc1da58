//! Arrays in numpy's `.npy` format, written as whole files and read whatever number type they hold.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use ndarray::{Array, Array1, Array2, ArrayBase, Data, Dimension};
use ndarray_npy::{ReadNpyError, ReadNpyExt, ReadableElement, WritableElement, WriteNpyError, WriteNpyExt};
use unbraid_data::{Error, Result};

use crate::whole_file::{cannot_read, write_whole_with};

/// Writes an array.
pub fn write_npy<S, D>(path: &Path, array: &ArrayBase<S, D>) -> Result<()>
where
    S: Data,
    S::Elem: WritableElement,
    D: Dimension,
{
    write_whole_with(path, |writer| {
        array.write_npy(writer).map_err(|error| match error {
            WriteNpyError::Io(error) => error,
            other => io::Error::other(other.to_string()),
        })
    })
}

/// Reads a table, `[rows, columns]`, of 32- or 64-bit floats or integers.
pub fn read_table(path: &Path) -> Result<Array2<f64>> {
    read_numbers(path)
}

/// Reads a list of numbers, `[rows]`, of 32- or 64-bit floats or integers.
pub fn read_list(path: &Path) -> Result<Array1<f64>> {
    read_numbers(path)
}

fn read_numbers<D: Dimension>(path: &Path) -> Result<Array<f64, D>> {
    // The header names the number type, so every attempt but the right one ends before any number is read.
    let attempts = [
        |path: &Path| read_as::<f32, D>(path, f64::from),
        |path: &Path| read_as::<f64, D>(path, |value| value),
        |path: &Path| read_as::<i64, D>(path, |value| value as f64),
        |path: &Path| read_as::<i32, D>(path, f64::from),
    ];
    for attempt in attempts {
        match attempt(path) {
            Err(ReadNpyError::WrongDescriptor(_)) => {}
            Err(error) => return Err(explain(path, &error)),
            Ok(array) => return Ok(array),
        }
    }
    Err(Error::new(format!("{} holds neither 32- nor 64-bit floats or integers", path.display()))
        .help("save it with `.astype(\"float32\")`"))
}

fn read_as<T: ReadableElement + Copy, D: Dimension>(
    path: &Path,
    widen: fn(T) -> f64,
) -> std::result::Result<Array<f64, D>, ReadNpyError> {
    let file = File::open(path).map_err(ReadNpyError::Io)?;
    let array = Array::<T, D>::read_npy(BufReader::new(file))?;
    Ok(array.mapv(widen))
}

fn explain(path: &Path, error: &ReadNpyError) -> Error {
    let place = path.display();
    match error {
        ReadNpyError::Io(error) => cannot_read(path, error),
        ReadNpyError::WrongNdim(Some(wanted), found) => {
            Error::new(format!("{place} holds an array of {found} dimensions; wanted {wanted}"))
        }
        ReadNpyError::MissingData => Error::new(format!("{place} ends before its last number"))
            .help("the file was cut short: write or copy it again"),
        other => Error::new(format!("{place} is no .npy file that can be read: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn numbers_come_back_whatever_their_type() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write_npy(&path, &array![[1.5_f32, 2.0], [0.25, -4.0]]).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[1.5, 2.0], [0.25, -4.0]]);
        write_npy(&path, &array![[3_i64, -7]]).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[3.0, -7.0]]);
        write_npy(&path, &array![0.1_f64]).unwrap();
        assert_eq!(read_list(&path).unwrap(), array![0.1]);
        // Transposed arrays are stored column by column and have to come back the right way round.
        write_npy(&path, &array![[1.0_f32, 2.0], [3.0, 4.0]].t()).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[1.0, 3.0], [2.0, 4.0]]);
    }

    #[test]
    fn files_that_cannot_be_read_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        assert!(read_table(&path).unwrap_err().to_string().contains("there is no such file"));
        write_npy(&path, &array![1.0_f32]).unwrap();
        assert!(read_table(&path).unwrap_err().to_string().contains("an array of 1 dimensions; wanted 2"));
        write_npy(&path, &array![[true]]).unwrap();
        assert!(read_table(&path).unwrap_err().to_string().contains("neither 32- nor 64-bit"));
        let whole = {
            write_npy(&path, &array![[1.0_f32, 2.0]]).unwrap();
            std::fs::read(&path).unwrap()
        };
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        assert!(read_table(&path).unwrap_err().to_string().contains("cut short"));
        std::fs::write(&path, b"not an array").unwrap();
        assert!(read_table(&path).unwrap_err().to_string().contains("is no .npy file"));
    }
}
