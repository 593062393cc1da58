//! The two arrays that newer files keep the places of chunks in: one of a fixed length, and one that grows along an
//! axis.

use super::chunk_index::{Place, read_place};
use super::grid::Grid;
use super::source::{Fields, UNDEFINED, Walk, damaged};
use crate::error::Result;

/// Calls `visit` with the position and place of every chunk of the array of fixed length at `address`.
pub(super) fn each_of_fixed_array(
    walk: &mut Walk,
    address: u64,
    grid: &Grid,
    visit: impl FnMut(u64, Place) -> Result<()>,
) -> Result<()> {
    let head = walk.checked(address, 28, b"FAHD")?;
    let mut fields = Fields::new(&head);
    let (_version, client, place_bytes, page_bits) = (fields.u8()?, fields.u8()?, fields.u8()?, fields.u8()?);
    let (n_places, block) = (fields.u64()?, fields.u64()?);
    if block == UNDEFINED {
        return Ok(());
    }
    let mut places = Places::new(grid, client, place_bytes, page_bits, visit)?;
    if n_places <= places.page_places {
        let bytes = walk.checked(block, 18 + places.n_bytes(n_places)?, b"FADB")?;
        return places.each(&mut Fields::new(&bytes[10..]), 0, n_places);
    }
    let n_pages = n_places.div_ceil(places.page_places);
    let head_bytes = 18_u64.saturating_add(n_pages.div_ceil(8));
    let head = walk.checked(block, head_bytes, b"FADB")?;
    let pages = Pages { written: &head[10..], first_bit: 0 };
    places.each_page(walk, block.saturating_add(head_bytes), pages, 0, n_places)
}

/// Calls `visit` with the position and place of every chunk of the growing array at `address`.
///
/// Its index block holds the first places, then the addresses of the first blocks of places, then those of secondary
/// blocks. The `s`-th group of blocks has `2^(s / 2)` blocks of `least * 2^((s + 1) / 2)` places, with the halves
/// rounded down; a secondary block lists one group.
pub(super) fn each_of_extensible_array(
    walk: &mut Walk,
    address: u64,
    grid: &Grid,
    visit: impl FnMut(u64, Place) -> Result<()>,
) -> Result<()> {
    let head = walk.checked(address, 72, b"EAHD")?;
    let mut fields = Fields::new(&head);
    let (_version, client, place_bytes) = (fields.u8()?, fields.u8()?, fields.u8()?);
    let (position_bits, n_first, least) = (u64::from(fields.u8()?), u64::from(fields.u8()?), u64::from(fields.u8()?));
    let (least_pointers, page_bits) = (u64::from(fields.u8()?), fields.u8()?);
    fields.take(48)?;
    let index_block = fields.u64()?;
    if !least.is_power_of_two() || !least_pointers.is_power_of_two() || position_bits > 56 {
        return Err(damaged("the index of a dataset contradicts itself"));
    }
    if index_block == UNDEFINED {
        return Ok(());
    }
    let mut places = Places::new(grid, client, place_bytes, page_bits, visit)?;
    places.offset_bytes = position_bits.div_ceil(8);
    let n_groups = 1 + position_bits.saturating_sub(u64::from(least.ilog2()));
    let n_direct_groups = 2 * u64::from(least_pointers.ilog2());
    let n_addresses = 2 * (least_pointers - 1) + n_groups.saturating_sub(n_direct_groups);
    let bytes = walk.checked(index_block, 18 + places.n_bytes(n_first)? + 8 * n_addresses, b"EAIB")?;
    let mut fields = Fields::new(&bytes[10..]);
    places.each(&mut fields, 0, n_first)?;
    let mut start = n_first;
    for group in 0..n_groups.max(n_direct_groups) {
        let blocks = Blocks { n_blocks: 1 << (group / 2), n_places: least << group.div_ceil(2), start };
        if group < n_direct_groups {
            places.each_of_blocks(walk, &mut fields, &blocks, &[])?;
        } else {
            places.each_of_secondary(walk, fields.u64()?, &blocks)?;
        }
        start += blocks.n_blocks * blocks.n_places;
    }
    Ok(())
}

/// The places of an array: how they lie in blocks, and what is done with each.
struct Places<'a, V> {
    grid: &'a Grid,
    is_filtered: bool,
    place_bytes: usize,
    /// The most places in a page; larger blocks are cut into pages.
    page_places: u64,
    /// The bytes in which a block of a growing array tells where in the array it begins.
    offset_bytes: u64,
    visit: V,
}

/// A bit for every page that was written, those of a block from `first_bit` on.
#[derive(Clone, Copy)]
struct Pages<'a> {
    written: &'a [u8],
    first_bit: u64,
}

/// Blocks of one size that follow each other in the array.
struct Blocks {
    n_blocks: u64,
    n_places: u64,
    start: u64,
}

impl<'a, V: FnMut(u64, Place) -> Result<()>> Places<'a, V> {
    fn new(grid: &'a Grid, client: u8, place_bytes: u8, page_bits: u8, visit: V) -> Result<Self> {
        let place_bytes = usize::from(place_bytes);
        if client > 1 || place_bytes < 8 || page_bits > 32 {
            return Err(damaged("the index of a dataset contradicts itself"));
        }
        Ok(Self { grid, is_filtered: client == 1, place_bytes, page_places: 1 << page_bits, offset_bytes: 0, visit })
    }

    /// The bytes of `n_places`.
    fn n_bytes(&self, n_places: u64) -> Result<u64> {
        let n_bytes = n_places.checked_mul(self.place_bytes as u64).filter(|&n_bytes| n_bytes < 1 << 40);
        n_bytes.ok_or_else(|| damaged(format!("an index of {n_places} chunks was announced")))
    }

    /// Visits the next `n_places` of the fields, the first of which is the `start`-th of the array.
    fn each(&mut self, fields: &mut Fields, start: u64, n_places: u64) -> Result<()> {
        for position in start..start + n_places {
            if let Some(place) = read_place(fields, self.is_filtered, self.place_bytes, self.grid)? {
                (self.visit)(position, place)?;
            }
        }
        Ok(())
    }

    /// Visits `n_places` that lie in pages from `address` on.
    fn each_page(&mut self, walk: &mut Walk, address: u64, pages: Pages, start: u64, n_places: u64) -> Result<()> {
        let page_bytes = self.n_bytes(self.page_places)? + 4;
        for page in 0..n_places.div_ceil(self.page_places) {
            let bit = pages.first_bit + page;
            let is_written = pages.written.get((bit / 8) as usize).is_some_and(|byte| byte << (bit % 8) & 0x80 != 0);
            if is_written {
                let before = page * self.page_places;
                let n_places = (n_places - before).min(self.page_places);
                let page_address = address.saturating_add(page.saturating_mul(page_bytes));
                let bytes = walk.summed(page_address, self.n_bytes(n_places)? + 4)?;
                self.each(&mut Fields::new(&bytes), start + before, n_places)?;
            }
        }
        Ok(())
    }

    /// Visits the places of blocks whose addresses come next; `written` has a bit for each of their pages.
    fn each_of_blocks(
        &mut self,
        walk: &mut Walk,
        addresses: &mut Fields,
        blocks: &Blocks,
        written: &[u8],
    ) -> Result<()> {
        let &Blocks { n_blocks, n_places, start } = blocks;
        let head_bytes = 14 + self.offset_bytes;
        for block in 0..n_blocks {
            let address = addresses.u64()?;
            let start = start + block * n_places;
            if address == UNDEFINED {
                continue;
            }
            if n_places > self.page_places {
                walk.checked(address, head_bytes + 4, b"EADB")?;
                let pages = Pages { written, first_bit: block * (n_places / self.page_places) };
                self.each_page(walk, address.saturating_add(head_bytes + 4), pages, start, n_places)?;
            } else {
                let bytes = walk.checked(address, head_bytes + self.n_bytes(n_places)? + 4, b"EADB")?;
                self.each(&mut Fields::new(&bytes[head_bytes as usize - 4..]), start, n_places)?;
            }
        }
        Ok(())
    }

    /// Visits the places of the blocks that the secondary block at `address` lists.
    fn each_of_secondary(&mut self, walk: &mut Walk, address: u64, blocks: &Blocks) -> Result<()> {
        if address == UNDEFINED {
            return Ok(());
        }
        let n_pages = if blocks.n_places > self.page_places { blocks.n_places / self.page_places } else { 0 };
        let written_bytes = blocks.n_blocks * n_pages.div_ceil(8);
        let head_bytes = 14 + self.offset_bytes;
        let bytes = walk.checked(address, head_bytes + written_bytes + 8 * blocks.n_blocks + 4, b"EASB")?;
        let mut fields = Fields::new(&bytes[head_bytes as usize - 4..]);
        let written = fields.take(written_bytes as usize)?;
        self.each_of_blocks(walk, &mut fields, blocks, written)
    }
}
