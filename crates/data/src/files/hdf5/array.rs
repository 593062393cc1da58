//! A dataset of a file: its shape, and its values from the rows that are asked for.

use std::sync::Arc;

use rayon::prelude::*;

use super::chunk_index::{Chunk, chunks};
use super::description::{Description, Layout};
use super::element::Element;
use super::filters::{Filter, MOST_SHRINKING, undo};
use super::grid::Grid;
use super::source::{Source, UNDEFINED, Walk, damaged};
use super::tiles::Tiles;
use crate::error::{Error, Result};

/// The most bytes of a dataset that is read whole.
const MOST_WHOLE_BYTES: usize = 1 << 30;
/// Below this, handing chunks to other threads takes longer than decoding them.
const FEW_BYTES: usize = 1 << 16;
/// How much is decoded before it is put into rows.
const BATCH_BYTES: usize = 1 << 24;

/// A dataset of an HDF5 file. Any number of threads may read rows of it at once.
#[derive(Debug)]
pub struct Array {
    source: Arc<Source>,
    name: String,
    shape: Vec<usize>,
    element: Element,
    /// One value that stands where none was written; nothing for zero.
    fill: Vec<u8>,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Compact(Vec<u8>),
    Contiguous(u64),
    NeverWritten,
    Chunked(Box<Chunked>),
}

#[derive(Debug)]
struct Chunked {
    shape: Vec<usize>,
    grid: Grid,
    tiles: Tiles,
    filters: Vec<Filter>,
    /// Those that were written, in the order of their numbers.
    chunks: Vec<Chunk>,
}

impl Array {
    pub(super) fn new(source: &Arc<Source>, name: &str, description: Description) -> Result<Self> {
        let Description { shape, most, element, layout, filters, fill } = description;
        let sizes = checked_sizes(source, &shape, element.n_bytes)?;
        let n_bytes = sizes.iter().product::<usize>() * element.n_bytes;
        let storage = match layout {
            Layout::Compact(bytes) if bytes.len() == n_bytes => Storage::Compact(bytes),
            Layout::Contiguous { address: UNDEFINED, .. } => Storage::NeverWritten,
            Layout::Contiguous { address, n_bytes: found } if found == n_bytes as u64 => {
                source.check_inside(address, found)?;
                Storage::Contiguous(address)
            }
            Layout::Chunked { chunk, address, index, edges_unfiltered } => {
                let grid = Grid::new(&shape, &most, &chunk, element.n_bytes)?;
                let mut chunks = chunks(&mut Walk::new(source), &index, address, &grid)?;
                if edges_unfiltered {
                    chunks
                        .iter_mut()
                        .filter(|chunk| grid.is_cut(chunk.number, &shape))
                        .for_each(|chunk| chunk.skipped = u32::MAX);
                }
                let chunk: Vec<usize> = chunk.iter().map(|&size| size as usize).collect();
                let tiles = Tiles::new(&sizes, &chunk, element.n_bytes);
                Storage::Chunked(Box::new(Chunked { shape: chunk, grid, tiles, filters, chunks }))
            }
            _ => return Err(damaged(format!("shape {sizes:?} does not fit the bytes that are stored"))),
        };
        Ok(Self { source: source.clone(), name: name.to_string(), shape: sizes, element, fill, storage })
    }

    /// The size along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The sizes of the chunks that values are stored in, where there are any.
    pub fn chunk_shape(&self) -> Option<&[usize]> {
        match &self.storage {
            Storage::Chunked(chunked) => Some(&chunked.shape),
            _ => None,
        }
    }

    /// Whether the values are bytes or booleans.
    pub fn holds_bytes(&self) -> bool {
        self.element.is_byte()
    }

    /// The bytes of rows `first` to `first + n` along the first axis, row-major.
    ///
    /// Every chunk that holds some of them is read and decoded once, on several threads where there are many.
    pub fn rows(&self, first: usize, n: usize) -> Result<Vec<u8>> {
        if !self.holds_bytes() {
            return Err(self.at_name(Error::new("wanted bytes, found other numbers").help("save it as uint8")));
        }
        match self.shape.first() {
            Some(&n_rows) if first.checked_add(n).is_some_and(|end| end <= n_rows) => self.values(first, n),
            _ => Err(self.at_name(Error::new(format!("has shape {:?}, without {n} rows from {first}", self.shape)))),
        }
    }

    /// All values as floats, row-major: for tables of factors, not for images.
    pub fn to_f64(&self) -> Result<Vec<f64>> {
        let n_bytes = self.shape.iter().product::<usize>() * self.element.n_bytes;
        if n_bytes > MOST_WHOLE_BYTES {
            return Err(self.at_name(Error::new(format!("has {n_bytes} bytes, too many for a table"))));
        }
        let bytes = self.values(0, self.shape.first().copied().unwrap_or(1))?;
        Ok(bytes.chunks_exact(self.element.n_bytes).map(|value| self.element.number(value)).collect())
    }

    /// The stored values of some rows that there are.
    fn values(&self, first: usize, n: usize) -> Result<Vec<u8>> {
        let row_bytes = self.shape.iter().skip(1).product::<usize>() * self.element.n_bytes;
        let mut rows = vec![0; n * row_bytes];
        let read = match &self.storage {
            Storage::Compact(bytes) => {
                rows.copy_from_slice(&bytes[first * row_bytes..(first + n) * row_bytes]);
                Ok(())
            }
            Storage::Contiguous(address) => self.source.read_into(address + (first * row_bytes) as u64, &mut rows),
            Storage::NeverWritten => {
                self.fill(&mut rows);
                Ok(())
            }
            Storage::Chunked(chunked) => {
                self.fill(&mut rows);
                chunked.read(&self.source, first, &mut rows)
            }
        };
        self.source.unless_changed(read).map_err(|error| self.at_name(error))?;
        Ok(rows)
    }

    fn fill(&self, rows: &mut [u8]) {
        if !self.fill.is_empty() {
            rows.chunks_exact_mut(self.fill.len()).for_each(|value| value.copy_from_slice(&self.fill));
        }
    }

    fn at_name(&self, error: Error) -> Error {
        error.at(format!("{}: dataset \"{}\"", self.source.path.display(), self.name))
    }
}

impl Chunked {
    /// Fills `rows`, the first of which is `first`, from the chunks that hold some of them.
    fn read(&self, source: &Source, first: usize, rows: &mut [u8]) -> Result<()> {
        let Tiles { row_bytes, chunk_rows, .. } = self.tiles;
        if rows.is_empty() {
            return Ok(());
        }
        // Layers are the chunks beside each other: each has rows of its own.
        let mut layers = Vec::new();
        let (mut rest, mut row) = (rows, first);
        while !rest.is_empty() {
            let n_rows = (chunk_rows - row % chunk_rows).min(rest.len() / row_bytes);
            let (layer, after) = rest.split_at_mut(n_rows * row_bytes);
            layers.push((row, layer));
            (rest, row) = (after, row + n_rows);
        }
        let (first_layer, last_layer) = (first / chunk_rows, (row - 1) / chunk_rows);
        let n_chunks = self.in_layers(first_layer, last_layer).len();
        if n_chunks < 2 || n_chunks.saturating_mul(self.grid.chunk_bytes() as usize) < FEW_BYTES {
            return layers.into_iter().try_for_each(|(row, rows)| {
                let chunks = self.in_layers(row / chunk_rows, row / chunk_rows);
                chunks.iter().try_for_each(|chunk| {
                    self.tiles.copy(&self.grid, chunk.number, &self.decode(source, chunk, row, rows.len())?, rows);
                    Ok(())
                })
            });
        }
        // Of several errors the first is told, whichever thread finds one first.
        let done: Vec<Result<()>> =
            layers.into_par_iter().map(|(row, rows)| self.read_layer(source, row, rows)).collect();
        done.into_iter().collect()
    }

    /// Fills rows that all lie in one layer.
    fn read_layer(&self, source: &Source, row: usize, rows: &mut [u8]) -> Result<()> {
        let layer = row / self.tiles.chunk_rows;
        let n_at_once = (BATCH_BYTES / self.grid.chunk_bytes() as usize).max(rayon::current_num_threads());
        for batch in self.in_layers(layer, layer).chunks(n_at_once) {
            let decoded: Vec<Result<Vec<u8>>> =
                batch.par_iter().map(|chunk| self.decode(source, chunk, row, rows.len())).collect();
            let decoded: Vec<Vec<u8>> = decoded.into_iter().collect::<Result<_>>()?;
            let n_rows_at_once = 16;
            rows.par_chunks_mut(n_rows_at_once * self.tiles.row_bytes).enumerate().for_each(|(index, rows)| {
                let start = index * n_rows_at_once * self.tiles.chunk_row_bytes;
                for (chunk, decoded) in batch.iter().zip(&decoded) {
                    self.tiles.copy(&self.grid, chunk.number, &decoded[start..], rows);
                }
            });
        }
        Ok(())
    }

    /// The written chunks of layers `first` to `last`.
    fn in_layers(&self, first: usize, last: usize) -> &[Chunk] {
        let n_in_layer = self.grid.n_in_layer();
        let before = |number: u64| self.chunks.partition_point(|chunk| chunk.number < number);
        &self.chunks[before(first as u64 * n_in_layer)..before((last as u64 + 1) * n_in_layer)]
    }

    /// What a chunk holds from `row` on, for rows of `n_bytes` in all.
    fn decode(&self, source: &Source, chunk: &Chunk, row: usize, n_bytes: usize) -> Result<Vec<u8>> {
        let stored = source.read(chunk.address, chunk.n_bytes as usize)?;
        let mut bytes = undo(&self.filters, chunk.skipped, stored, self.grid.chunk_bytes() as usize)?;
        let start = row % self.tiles.chunk_rows * self.tiles.chunk_row_bytes;
        bytes.truncate(start + n_bytes / self.tiles.row_bytes * self.tiles.chunk_row_bytes);
        bytes.drain(..start);
        Ok(bytes)
    }
}

/// The shape, where a file of this size could hold its values.
fn checked_sizes(source: &Source, shape: &[u64], element_bytes: usize) -> Result<Vec<usize>> {
    // An axis of 0 hides no absurd size along another.
    let n_bytes = shape.iter().try_fold(element_bytes as u64, |product, &size| product.checked_mul(size.max(1)));
    if n_bytes.is_none_or(|n_bytes| n_bytes > source.n_bytes().saturating_mul(MOST_SHRINKING)) {
        let n_file_bytes = source.n_bytes();
        return Err(damaged(format!("shape {shape:?} was announced, too large for a file of {n_file_bytes} bytes")));
    }
    Ok(shape.iter().map(|&size| size as usize).collect())
}
