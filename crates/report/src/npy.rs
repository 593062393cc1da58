//! Arrays in numpy's `.npy` format, written as whole files.

use std::io;
use std::path::Path;

use ndarray::{ArrayBase, Data, Dimension};
use ndarray_npy::{WritableElement, WriteNpyError, WriteNpyExt};
use unbraid_data::Result;

use crate::whole_file::write_whole_with;

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

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::npy::{read_list, read_table};

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
        assert_eq!(read_list(&path).unwrap(), [0.1]);
        assert!(read_table(&path).unwrap_err().to_string().contains("found shape [1]"));
        // Transposed arrays are stored column by column and have to come back the right way round.
        write_npy(&path, &array![[1.0_f32, 2.0], [3.0, 4.0]].t()).unwrap();
        assert_eq!(read_table(&path).unwrap(), array![[1.0, 3.0], [2.0, 4.0]]);
        assert!(read_list(&path).unwrap_err().to_string().contains("found shape [2, 2]"));
    }
}
