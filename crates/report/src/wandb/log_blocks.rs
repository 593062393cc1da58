//! The frame of a `.wandb` file: W&B's mark, and then the log of LevelDB, whose blocks of 32 KiB are filled with pieces of records.
//!
//! A piece has a checksum, its length, its kind and its bytes. Other than LevelDB's, the checksum is the CRC-32 of zip files, and
//! the first block is shorter by the mark.

use std::io::{self, Write};

const BLOCK_BYTES: usize = 32 * 1024;
const HEADER_BYTES: usize = 7;
/// `:W&B`, the number 0xbee1 and the version of the format, 0.
const MARK: [u8; 7] = [b':', b'W', b'&', b'B', 0xe1, 0xbe, 0];

/// Writes records into a log.
pub(super) struct LogBlocks<W> {
    writer: W,
    /// How much of the block is filled.
    n_filled: usize,
}

impl<W: Write> LogBlocks<W> {
    /// Begins the log.
    pub(super) fn begin(mut writer: W) -> io::Result<Self> {
        writer.write_all(&MARK)?;
        Ok(Self { writer, n_filled: MARK.len() })
    }

    /// Appends a record, in as many pieces as it needs.
    pub(super) fn push(&mut self, mut record: &[u8]) -> io::Result<()> {
        let mut is_first = true;
        loop {
            let left = BLOCK_BYTES - self.n_filled;
            if left < HEADER_BYTES {
                self.writer.write_all(&[0; HEADER_BYTES][..left])?;
                self.n_filled = 0;
                continue;
            }
            let (piece, rest) = record.split_at(record.len().min(left - HEADER_BYTES));
            let kind = match (is_first, rest.is_empty()) {
                (true, true) => 1,
                (true, false) => 2,
                (false, false) => 3,
                (false, true) => 4,
            };
            self.push_piece(kind, piece)?;
            if rest.is_empty() {
                return Ok(());
            }
            (is_first, record) = (false, rest);
        }
    }

    fn push_piece(&mut self, kind: u8, piece: &[u8]) -> io::Result<()> {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&[kind]);
        checksum.update(piece);
        self.writer.write_all(&checksum.finalize().to_le_bytes())?;
        self.writer.write_all(&(piece.len() as u16).to_le_bytes())?;
        self.writer.write_all(&[kind])?;
        self.writer.write_all(piece)?;
        self.n_filled += HEADER_BYTES + piece.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds, places and lengths of the pieces of a log, which are checked for their sums.
    fn pieces(log: &[u8]) -> Vec<(u8, usize, usize)> {
        let (mut at, mut pieces) = (MARK.len(), Vec::new());
        while at < log.len() {
            if BLOCK_BYTES - at % BLOCK_BYTES < HEADER_BYTES {
                at = at.next_multiple_of(BLOCK_BYTES);
                continue;
            }
            let n_bytes = usize::from(u16::from_le_bytes([log[at + 4], log[at + 5]]));
            assert_eq!(crc32fast::hash(&log[at + 6..at + 7 + n_bytes]).to_le_bytes(), log[at..at + 4]);
            pieces.push((log[at + 6], at, n_bytes));
            at += HEADER_BYTES + n_bytes;
        }
        pieces
    }

    fn log_of(records: &[usize]) -> Vec<u8> {
        let mut log = Vec::new();
        let mut blocks = LogBlocks::begin(&mut log).unwrap();
        records.iter().for_each(|n_bytes| blocks.push(&vec![7; *n_bytes]).unwrap());
        log
    }

    #[test]
    fn records_are_cut_at_the_ends_of_blocks() {
        // 32,768 less the mark and a header are 32,754 bytes; each further block has 32,761.
        assert_eq!(pieces(&log_of(&[3, 0])), [(1, 7, 3), (1, 17, 0)]);
        assert_eq!(pieces(&log_of(&[32_754, 1])), [(1, 7, 32_754), (1, 32_768, 1)]);
        let long = [(2, 7, 32_754), (3, 32_768, 32_761), (4, 65_536, 85), (1, 65_628, 5)];
        assert_eq!(pieces(&log_of(&[65_600, 5])), long);
    }

    #[test]
    fn what_is_too_short_for_a_header_is_filled_with_zeros() {
        for n_left in 0..HEADER_BYTES {
            let log = log_of(&[32_754 - n_left, 2]);
            assert_eq!(pieces(&log)[1], (1, 32_768, 2));
            assert!(log[32_768 - n_left..32_768].iter().all(|byte| *byte == 0));
        }
        // A header fits, and nothing after it.
        assert_eq!(pieces(&log_of(&[32_747, 2]))[1..], [(2, 32_761, 0), (4, 32_768, 2)]);
    }
}
