//! Where the chunks of a dataset are: every index of HDF5 becomes one sorted list, so that a chunk is found without
//! reading.

use super::btree_v1::{self, Children};
use super::btree_v2;
use super::chunk_arrays::{each_of_extensible_array, each_of_fixed_array};
use super::description::Index;
use super::grid::Grid;
use super::source::{Fields, Source, UNDEFINED, Walk, damaged};
use crate::error::Result;

/// The types of trees of chunks, without and with filters.
const CHUNKS: u8 = 10;
const FILTERED_CHUNKS: u8 = 11;

/// A chunk that was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    /// Its number in the grid, row-major.
    pub(super) number: u64,
    pub(super) address: u64,
    pub(super) n_bytes: u32,
    /// A bit for every filter that was not used.
    pub(super) skipped: u32,
}

/// A place in an index: where a chunk lies, how many bytes it has there and which filters were skipped.
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) n_bytes: u64,
    pub(super) skipped: u32,
}

/// All chunks that were written, in the order of their numbers.
pub(super) fn chunks(walk: &mut Walk, index: &Index, address: u64, grid: &Grid) -> Result<Vec<Chunk>> {
    let mut list = List { grid, source: walk.source(), chunks: Vec::new() };
    let unfiltered = |address| Place { address, n_bytes: grid.chunk_bytes(), skipped: 0 };
    match index {
        _ if address == UNDEFINED => {}
        Index::BtreeV1 => add_btree_v1(walk, address, &mut list)?,
        Index::Single { filtered: None } => list.add(&grid.origin(), &unfiltered(address))?,
        &Index::Single { filtered: Some((n_bytes, skipped)) } => {
            list.add(&grid.origin(), &Place { address, n_bytes, skipped })?;
        }
        Index::Implicit => {
            // The chunks follow each other, those too that the dataset may yet grow to.
            walk.source().check_inside(address, grid.n_growable().saturating_mul(grid.chunk_bytes()))?;
            for position in 0..grid.n_growable() {
                if let Some(place) = grid.place_in_array(position).filter(|place| grid.holds(place)) {
                    list.add(&place, &unfiltered(address + position * grid.chunk_bytes()))?;
                }
            }
        }
        Index::FixedArray => each_of_fixed_array(walk, address, grid, |position, place| list.add_at(position, &place))?,
        Index::ExtensibleArray => {
            each_of_extensible_array(walk, address, grid, |position, place| list.add_at(position, &place))?;
        }
        Index::BtreeV2 => add_btree_v2(walk, address, &mut list)?,
    }
    list.sorted()
}

struct List<'a> {
    grid: &'a Grid,
    source: &'a Source,
    chunks: Vec<Chunk>,
}

impl List<'_> {
    /// Adds the chunk at a place of the grid.
    fn add(&mut self, in_grid: &[u64], place: &Place) -> Result<()> {
        let &Place { address, n_bytes, skipped } = place;
        if !self.grid.holds(in_grid) {
            return Err(damaged(format!("a chunk at {in_grid:?} lies outside of the dataset")));
        }
        self.source.check_inside(address, n_bytes)?;
        if n_bytes == 0 || n_bytes > 2 * self.grid.chunk_bytes() + 1024 {
            return Err(damaged(format!("a chunk of {n_bytes} bytes at {address} was announced")));
        }
        // Chunks have at most 1 GiB, so that twice as much fits 32 bits.
        let number = self.grid.number(in_grid);
        self.chunks.push(Chunk { number, address, n_bytes: n_bytes as u32, skipped });
        Ok(())
    }

    /// Adds the chunk at a position of an array.
    fn add_at(&mut self, position: u64, place: &Place) -> Result<()> {
        match self.grid.place_in_array(position) {
            Some(in_grid) => self.add(&in_grid, place),
            None => Err(damaged(format!("chunk {position} lies outside of the dataset"))),
        }
    }

    fn sorted(mut self) -> Result<Vec<Chunk>> {
        self.chunks.sort_unstable_by_key(|chunk| chunk.number);
        match self.chunks.windows(2).any(|pair| pair[0].number == pair[1].number) {
            true => Err(damaged("a chunk is stored twice")),
            false => Ok(self.chunks),
        }
    }
}

fn add_btree_v1(walk: &mut Walk, address: u64, list: &mut List) -> Result<()> {
    let grid = list.grid;
    btree_v1::for_each(walk, address, Children::Chunks { rank: grid.n_axes() }, |key, address| {
        let mut fields = Fields::new(key);
        let (n_bytes, skipped) = (u64::from(fields.u32()?), fields.u32()?);
        let starts = (0..grid.n_axes()).map(|_| fields.u64()).collect::<Result<Vec<_>>>()?;
        let in_grid = grid.place_of_start(&starts).ok_or_else(|| damaged("a chunk begins inside another"))?;
        list.add(&in_grid, &Place { address, n_bytes, skipped })
    })
}

fn add_btree_v2(walk: &mut Walk, address: u64, list: &mut List) -> Result<()> {
    let grid = list.grid;
    let records = btree_v2::records(walk, address, &[CHUNKS, FILTERED_CHUNKS])?;
    let place_bytes = records.record_bytes.checked_sub(8 * grid.n_axes());
    let place_bytes = place_bytes.ok_or_else(|| damaged("an index of chunks with too few axes"))?;
    for record in records.iter() {
        let mut fields = Fields::new(record);
        let place = read_place(&mut fields, records.kind == FILTERED_CHUNKS, place_bytes, grid)?;
        let in_grid = (0..grid.n_axes()).map(|_| fields.u64()).collect::<Result<Vec<_>>>()?;
        if let Some(place) = place {
            list.add(&in_grid, &place)?;
        }
    }
    Ok(())
}

/// The place of a chunk as arrays and newer trees write it, in `place_bytes`; none where it was not written.
pub(super) fn read_place(
    fields: &mut Fields,
    is_filtered: bool,
    place_bytes: usize,
    grid: &Grid,
) -> Result<Option<Place>> {
    let mut fields = Fields::new(fields.take(place_bytes)?);
    let address = fields.u64()?;
    let (n_bytes, skipped) = match is_filtered {
        // Between the address and the filters, the size has as many bytes as are left.
        true => (fields.number(fields.rest.len().saturating_sub(4))?, fields.u32()?),
        false => (grid.chunk_bytes(), 0),
    };
    Ok((address != UNDEFINED).then_some(Place { address, n_bytes, skipped }))
}
