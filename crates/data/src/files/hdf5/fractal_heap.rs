//! The heap that holds the links of a large group: blocks of doubling sizes, in rows of one width.

use std::collections::BTreeMap;

use super::btree_v2::bytes_for;
use super::source::{Fields, UNDEFINED, Walk, damaged, unsupported};
use crate::error::Result;

/// Where the blocks of a heap are.
pub(super) struct FractalHeap {
    offset_bytes: usize,
    length_bytes: usize,
    /// The header of a block, before its data or addresses.
    block_head_bytes: u64,
    width: u64,
    first_block_bytes: u64,
    largest_direct_bytes: u64,
    root: u64,
    /// The rows of the root, or none where it is a block of data.
    n_root_rows: u64,
    has_checksums: bool,
    /// The blocks of data that were read, by their addresses.
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl FractalHeap {
    /// Reads the header at `address`.
    pub(super) fn read(walk: &mut Walk, address: u64) -> Result<Self> {
        // Headers of filtered heaps are longer, and no library filters links.
        let head = walk.signed(address, 142, b"FRHP")?;
        let mut fields = Fields::new(&head);
        let (_version, _id_bytes, n_filter_bytes, flags) = (fields.u8()?, fields.u16()?, fields.u16()?, fields.u8()?);
        if n_filter_bytes != 0 {
            return Err(unsupported("has compressed names, which are not read"));
        }
        walk.checked(address, 146, b"FRHP")?;
        let largest_object_bytes = u64::from(fields.u32()?);
        fields.take(12 * 8)?;
        let (width, first_block_bytes) = (u64::from(fields.u16()?), fields.u64()?);
        let (largest_direct_bytes, n_offset_bits) = (fields.u64()?, usize::from(fields.u16()?));
        let _n_starting_rows = fields.u16()?;
        let (root, n_root_rows) = (fields.u64()?, u64::from(fields.u16()?));
        let offset_bytes = n_offset_bits.div_ceil(8);
        let sizes = [first_block_bytes, largest_direct_bytes];
        if width == 0 || offset_bytes > 8 || sizes.iter().any(|&size| !size.is_power_of_two() || size > 1 << 40) {
            return Err(damaged("the description of a heap contradicts itself"));
        }
        let length_bytes = bytes_for(largest_direct_bytes.min(largest_object_bytes));
        let block_head_bytes = 13 + offset_bytes as u64;
        Ok(Self {
            offset_bytes,
            length_bytes,
            block_head_bytes,
            width,
            first_block_bytes,
            largest_direct_bytes,
            root,
            n_root_rows,
            has_checksums: flags & 2 != 0,
            blocks: BTreeMap::new(),
        })
    }

    /// The object that `id` names.
    pub(super) fn object(&mut self, walk: &mut Walk, id: &[u8]) -> Result<Vec<u8>> {
        let mut fields = Fields::new(id);
        if fields.u8()? >> 4 & 3 != 0 {
            return Err(unsupported("has a name too long to be read"));
        }
        let offset = fields.number(self.offset_bytes)?;
        let length = fields.number(self.length_bytes)?;
        let (address, block_bytes, within) = self.block(walk, offset)?;
        if !self.blocks.contains_key(&address) {
            let block = self.read_block(walk, address, block_bytes)?;
            self.blocks.insert(address, block);
        }
        walk.spend(length)?;
        let object = self.blocks.get(&address).and_then(|block| block.get(within as usize..)?.get(..length as usize));
        object.map(<[u8]>::to_vec).ok_or_else(|| damaged("an object lies outside of its block"))
    }

    fn read_block(&self, walk: &mut Walk, address: u64, block_bytes: u64) -> Result<Vec<u8>> {
        let mut block = walk.read(address, block_bytes)?;
        if !block.starts_with(b"FHDB") {
            return Err(damaged("a heap holds a block of another"));
        }
        let sum = self.block_head_bytes as usize..self.block_head_bytes as usize + 4;
        if let Some(place) = block.get_mut(sum).filter(|_| self.has_checksums) {
            // The sum was made while its own place was zero.
            let sum = place.to_vec();
            place.fill(0);
            walk.check_sum(&block, &sum)?;
        }
        Ok(block)
    }

    /// The address and size of the block of data that holds `offset`, and the offset within.
    fn block(&self, walk: &mut Walk, mut offset: u64) -> Result<(u64, u64, u64)> {
        let (mut address, mut n_rows, mut block_bytes) = (self.root, self.n_root_rows, self.first_block_bytes);
        while n_rows > 0 {
            let row = self.row(offset);
            if row >= n_rows {
                return Err(damaged("an object lies outside of its heap"));
            }
            block_bytes = self.row_block_bytes(row);
            let within_row = offset - self.row_start(row);
            let entry = row * self.width + within_row / block_bytes;
            let place = address.saturating_add(self.block_head_bytes).saturating_add(entry * 8);
            walk.signed(address, 4, b"FHIB")?;
            address = Fields::new(&walk.read(place, 8)?).u64()?;
            offset = within_row % block_bytes;
            // A block larger than those of data holds rows again, up to the one that fills it.
            n_rows = if block_bytes > self.largest_direct_bytes {
                u64::from((block_bytes / self.first_block_bytes / self.width).max(1).ilog2()) + 1
            } else {
                0
            };
        }
        if address == UNDEFINED {
            return Err(damaged("an object lies in a missing part of its heap"));
        }
        Ok((address, block_bytes, offset))
    }

    fn row(&self, offset: u64) -> u64 {
        let in_first_rows = offset / self.first_block_bytes / self.width;
        if in_first_rows == 0 { 0 } else { u64::from(in_first_rows.ilog2()) + 1 }
    }

    /// The first two rows hold blocks of the first size, every further one blocks twice as large.
    fn row_block_bytes(&self, row: u64) -> u64 {
        self.first_block_bytes << row.saturating_sub(1)
    }

    fn row_start(&self, row: u64) -> u64 {
        if row == 0 { 0 } else { self.width * self.row_block_bytes(row) }
    }
}
