//! Damaged files for the tests of readers: whole ones with bytes flipped, overwritten, cut, left out and spliced.

use rand::RngExt;

use crate::seed::{Rng, Seed};

const N_DAMAGED: usize = 200_000;
/// Sizes that readers trip over: none, one, the ends of signed and unsigned ranges, and terabytes.
const SIZES: [u32; 8] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0100_0000, 0xffff, 0x7f00_0000];

/// Calls `check` with 200,000 damaged files, each made of one or two of `wholes`. The stream called `name` decides how.
pub(super) fn for_each_damaged(name: &str, wholes: &[Vec<u8>], mut check: impl FnMut(&[u8])) {
    let mut rng = Seed(0).stream_at(name, 0);
    let mut bytes = Vec::new();
    for _ in 0..N_DAMAGED {
        bytes.clear();
        bytes.extend_from_slice(&wholes[rng.random_range(0..wholes.len())]);
        for _ in 0..rng.random_range(1..=4) {
            damage(&mut bytes, wholes, &mut rng);
        }
        check(&bytes);
    }
}

fn damage(bytes: &mut Vec<u8>, wholes: &[Vec<u8>], rng: &mut Rng) {
    if bytes.is_empty() {
        return;
    }
    let place = rng.random_range(0..bytes.len());
    let end = bytes.len().min(place + rng.random_range(1..=16));
    match rng.random_range(0..7) {
        0 | 1 => bytes[place] ^= 1 << rng.random_range(0..8),
        2 => bytes[place] = rng.random(),
        3 => {
            let size = SIZES[rng.random_range(0..SIZES.len())];
            let size = if rng.random() { size.to_le_bytes() } else { size.to_be_bytes() };
            // Sizes lie at multiples of four in all of these formats.
            let start = place / 4 * 4;
            let n_bytes = 4.min(bytes.len() - start);
            bytes[start..start + n_bytes].copy_from_slice(&size[..n_bytes]);
        }
        4 => bytes.truncate(place),
        5 => drop(bytes.drain(place..end)),
        _ => {
            let other = &wholes[rng.random_range(0..wholes.len())];
            let from = rng.random_range(0..other.len());
            let to = other.len().min(from + rng.random_range(1..=64));
            drop(bytes.splice(place..end, other[from..to].iter().copied()));
        }
    }
}
