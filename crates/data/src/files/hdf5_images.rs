//! Images as a dataset of an HDF5 file: read where they lie where a chunk holds few of them, else unpacked once.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files::hdf5::Array;
use crate::files::store::{Packed, Store, not_unpacked};

/// More images than this in a chunk would all be decoded for one of them.
const MOST_IN_CHUNK: usize = 8;
/// Bytes that are decoded at once, where chunks are no larger.
const PIECE: usize = 1 << 26;
/// Bytes that are decoded at once at most, though chunks be decoded several times.
const MOST_BYTES: usize = 1 << 28;

/// Rows that are decoded at once where all are: whole rows of chunks, so that each chunk is decoded once, as long as they do not
/// take too much memory.
pub fn rows_at_once(array: &Array) -> usize {
    let row_bytes = array.shape()[1..].iter().product::<usize>().max(1);
    let n_in_chunk = array.chunk_shape().map_or(1, |chunk| chunk[0].max(1));
    ((PIECE / row_bytes / n_in_chunk).max(1) * n_in_chunk).min((MOST_BYTES / row_bytes).max(1))
}

/// The store of the images of `array`, `[n, ...]` of bytes, which is called `name` in the file at `path`.
pub fn store_of(path: &Path, name: &str, array: Array) -> Result<Store> {
    if !array.holds_bytes() {
        return Err(Error::new(format!("dataset \"{name}\" does not hold bytes")).at(path.display()));
    }
    let shape = array.shape().to_vec();
    let item_bytes: usize = shape[1..].iter().product();
    let lies_well = |chunk: &[usize]| chunk[1..] == shape[1..] && chunk[0] <= MOST_IN_CHUNK;
    if array.chunk_shape().is_none_or(lies_well) {
        return Ok(Store::in_hdf5(array, item_bytes));
    }
    let at_once = rows_at_once(&array);
    let packed = Packed { path, part: name, state: String::new(), n_items: shape[0], item_bytes };
    packed.unpack(|writer| {
        for first in (0..shape[0]).step_by(at_once) {
            let rows = array.rows(first, at_once.min(shape[0] - first))?;
            writer.write_all(&rows).map_err(|error| not_unpacked(&error))?;
        }
        Ok(())
    })
}
