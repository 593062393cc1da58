//! What was done to a chunk before it was stored, undone: deflate, shuffle and the checksum of Fletcher.

use std::cell::RefCell;

use flate2::{Decompress, FlushDecompress, Status};

use super::checksum::fletcher32;
use super::source::{damaged, unsupported};
use crate::error::Result;

/// Deflate makes bytes at most 1032 times smaller.
pub(super) const MOST_SHRINKING: u64 = 1032;

/// One step of what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    Deflate,
    Shuffle { element_bytes: usize },
    Fletcher32,
}

impl Filter {
    pub(super) fn new(id: u16, numbers: &[u32]) -> Result<Self> {
        match id {
            1 => Ok(Self::Deflate),
            2 => Ok(Self::Shuffle { element_bytes: numbers.first().map_or(1, |&size| size.max(1) as usize) }),
            3 => Ok(Self::Fletcher32),
            4 => Err(unsupported("is compressed by szip, which is not read")),
            5 | 6 => Err(unsupported("is packed in bits, which is not read")),
            32_000 => Err(unsupported("is compressed by lzf, which is not read")),
            _ => Err(unsupported(format!("is compressed by HDF5's filter {id}, which is not read"))),
        }
    }
}

/// Undoes the filters, except those of which `skipped` has the bit, on the stored bytes of a chunk of `n_bytes`.
pub(super) fn undo(filters: &[Filter], skipped: u32, stored: Vec<u8>, n_bytes: usize) -> Result<Vec<u8>> {
    let is_used = |index: usize| skipped >> index.min(31) & 1 == 0;
    let mut bytes = stored;
    for (index, filter) in filters.iter().enumerate().rev().filter(|(index, _)| is_used(*index)) {
        // Checksums that were added before this filter are still part of what it worked on.
        let n_sums = (0..index).filter(|&before| is_used(before) && filters[before] == Filter::Fletcher32).count();
        bytes = match filter {
            Filter::Deflate => inflate(&bytes, n_bytes + 4 * n_sums)?,
            Filter::Shuffle { element_bytes } => unshuffle(bytes, *element_bytes),
            Filter::Fletcher32 => without_sum(bytes)?,
        };
    }
    if bytes.len() != n_bytes {
        return Err(damaged(format!("a chunk of {n_bytes} bytes was announced, but has {}", bytes.len())));
    }
    Ok(bytes)
}

fn inflate(stored: &[u8], n_bytes: usize) -> Result<Vec<u8>> {
    thread_local! {
        // To make one takes as long as to inflate a small image.
        static INFLATER: RefCell<Decompress> = RefCell::new(Decompress::new(true));
    }
    if n_bytes as u64 > (stored.len() as u64 + 16) * MOST_SHRINKING {
        return Err(damaged(format!("a chunk of {n_bytes} bytes was announced in {} bytes", stored.len())));
    }
    let mut bytes = vec![0; n_bytes];
    let ended = INFLATER.with_borrow_mut(|inflater| {
        inflater.reset(true);
        let status = inflater.decompress(stored, &mut bytes, FlushDecompress::Finish);
        matches!(status, Ok(Status::StreamEnd)) && inflater.total_out() == n_bytes as u64
    });
    match ended {
        true => Ok(bytes),
        false => Err(damaged("a compressed chunk is damaged")),
    }
}

/// Puts back together values whose first bytes were stored first, then all second ones and so on.
fn unshuffle(bytes: Vec<u8>, element_bytes: usize) -> Vec<u8> {
    let n_elements = bytes.len() / element_bytes;
    if element_bytes == 1 || n_elements < 2 {
        return bytes;
    }
    let mut joined = bytes.clone();
    for (place, plane) in bytes.chunks_exact(n_elements).take(element_bytes).enumerate() {
        joined[place..].iter_mut().step_by(element_bytes).zip(plane).for_each(|(to, from)| *to = *from);
    }
    joined
}

/// The bytes before the checksum that follows them.
fn without_sum(mut bytes: Vec<u8>) -> Result<Vec<u8>> {
    let sum = bytes.len().checked_sub(4).map(|end| bytes.split_off(end));
    match sum {
        Some(sum) if sum[..] == fletcher32(&bytes).to_le_bytes() => Ok(bytes),
        _ => Err(damaged("the checksum of a chunk differs")),
    }
}
