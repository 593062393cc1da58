//! The newer trees: records of one size, in the order of their keys.

use super::source::{Fields, UNDEFINED, Walk, damaged};
use crate::error::Result;

/// Trees hold at least two records in a node, so that this is far more than any file needs.
const DEEPEST: usize = 32;
/// The signature, version and type before the records of a node, and the checksum after them.
const NODE_FRAME_BYTES: usize = 10;

/// All records of a tree.
pub(super) struct Records {
    /// The type of the tree.
    pub(super) kind: u8,
    pub(super) record_bytes: usize,
    bytes: Vec<u8>,
}

impl Records {
    pub(super) fn iter(&self) -> std::slice::ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.record_bytes)
    }
}

/// The records of the tree at `address`, which must be of one of these kinds.
pub(super) fn records(walk: &mut Walk, address: u64, kinds: &[u8]) -> Result<Records> {
    let head = walk.checked(address, 38, b"BTHD")?;
    let mut fields = Fields::new(&head);
    let (_version, kind, node_bytes) = (fields.u8()?, fields.u8()?, fields.u32()? as usize);
    let (record_bytes, depth) = (usize::from(fields.u16()?), usize::from(fields.u16()?));
    fields.take(2)?;
    let (root, n_records) = (fields.u64()?, usize::from(fields.u16()?));
    if !kinds.contains(&kind) || record_bytes == 0 || depth > DEEPEST {
        return Err(damaged(format!("a tree of type {kind}, with records of {record_bytes} bytes and {depth} levels")));
    }
    let levels = levels(node_bytes, record_bytes, depth);
    let mut records = Records { kind, record_bytes, bytes: Vec::new() };
    let mut nodes = vec![(root, n_records, depth)];
    while let Some((address, n_records, depth)) = nodes.pop() {
        if address == UNDEFINED || n_records == 0 {
            continue;
        }
        let pointers = if depth == 0 { 0 } else { (n_records + 1) * levels[depth - 1].pointer_bytes() };
        let n_bytes = NODE_FRAME_BYTES + n_records * record_bytes + pointers;
        let node = walk.checked(address, n_bytes as u64, if depth == 0 { b"BTLF" } else { b"BTIN" })?;
        let mut fields = Fields::new(&node);
        fields.take(2)?;
        records.bytes.extend_from_slice(fields.take(n_records * record_bytes)?);
        for _ in 0..if depth == 0 { 0 } else { n_records + 1 } {
            let child = fields.u64()?;
            let below = &levels[depth - 1];
            let n_records = fields.number(below.count_bytes)? as usize;
            fields.take(below.total_bytes)?;
            nodes.push((child, n_records, depth - 1));
        }
    }
    Ok(records)
}

/// How a pointer to a node of a level is written.
struct Level {
    count_bytes: usize,
    /// The width of the count of all records below; leaves need none.
    total_bytes: usize,
}

impl Level {
    fn pointer_bytes(&self) -> usize {
        8 + self.count_bytes + self.total_bytes
    }
}

/// The levels from the leaves upwards: what a node may hold decides how wide its counts are.
fn levels(node_bytes: usize, record_bytes: usize, depth: usize) -> Vec<Level> {
    let room = node_bytes.saturating_sub(NODE_FRAME_BYTES);
    let mut most = (room / record_bytes) as u64;
    let count_bytes = bytes_for(most);
    let mut levels = vec![Level { count_bytes, total_bytes: 0 }];
    for _ in 1..depth {
        let pointer_bytes = levels[levels.len() - 1].pointer_bytes();
        let n_records = (room.saturating_sub(pointer_bytes) / (record_bytes + pointer_bytes)) as u64;
        most = (n_records + 1).saturating_mul(most).saturating_add(n_records);
        levels.push(Level { count_bytes, total_bytes: bytes_for(most) });
    }
    levels
}

/// How many bytes whole numbers up to `most` take.
pub(super) fn bytes_for(most: u64) -> usize {
    most.max(1).ilog2() as usize / 8 + 1
}
