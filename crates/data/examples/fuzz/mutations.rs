//! Damaged inputs, made of whole ones: bits flipped, bytes and sizes set to what readers trip over, parts cut, repeated and
//! spliced, and words put in. What lies in a container is also damaged within, and the container is made anew around it.

use rand::RngExt;
use unbraid_data::Rng;

/// Sizes and counts at the ends of their ranges, terabytes, and numbers near what small files hold.
const SIZES: [u64; 16] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x0001_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 40,
    1 << 61,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];
/// Bytes that begin or end something in one format or another.
const BYTES: [u8; 12] = [0x00, 0x01, 0x7f, 0x80, 0xff, b' ', b'\n', b'"', b',', b'\'', b'(', b'-'];

/// A whole input, which damaged ones are made of.
pub struct Whole {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What lies in it, with names, where it is a container.
    pub members: Vec<(String, Vec<u8>)>,
    /// Makes the container around its members.
    pub wrap: Wrap,
}

/// Makes a container around named members.
pub type Wrap = fn(&[(String, Vec<u8>)], &mut Rng) -> Vec<u8>;

impl Whole {
    /// An input that is no container.
    pub fn plain(bytes: Vec<u8>) -> Self {
        Self { bytes, members: Vec::new(), wrap: |_, _| Vec::new() }
    }
}

/// A damaged input, made of one or two of `wholes`, with some of `words` put in.
pub fn damaged(wholes: &[Whole], words: &[&str], rng: &mut Rng) -> Vec<u8> {
    // The smaller of two draws: wholes are sorted by length, and small ones say as much in less time.
    let draw = |rng: &mut Rng| &wholes[rng.random_range(0..wholes.len()).min(rng.random_range(0..wholes.len()))];
    let whole = draw(rng);
    let other = draw(rng);
    let mut bytes = whole.bytes.clone();
    let is_within = !whole.members.is_empty() && rng.random_range(0..8) < 5;
    if is_within {
        let mut members = whole.members.clone();
        damage_member(&mut members, words, rng);
        bytes = (whole.wrap)(&members, rng);
    }
    if !is_within || rng.random_range(0..8) == 0 {
        damage_several(&mut bytes, &other.bytes, words, rng);
    }
    bytes
}

fn damage_member(members: &mut Vec<(String, Vec<u8>)>, words: &[&str], rng: &mut Rng) {
    let position = rng.random_range(0..members.len());
    let other = members[rng.random_range(0..members.len())].1.clone();
    match rng.random_range(0..16) {
        0 => drop(members.remove(position)),
        1 => members[position].1 = other,
        2 => {
            let mut name = std::mem::take(&mut members[position].0).into_bytes();
            damage_several(&mut name, b"", words, rng);
            members[position].0 = String::from_utf8_lossy(&name).into_owned();
        }
        _ => damage_several(&mut members[position].1, &other, words, rng),
    }
}

fn damage_several(bytes: &mut Vec<u8>, other: &[u8], words: &[&str], rng: &mut Rng) {
    // Most often one thing is wrong, so that what comes after it is reached.
    let n_times = 1 + rng.random_range(0..6_u32).saturating_sub(3);
    for _ in 0..n_times {
        damage(bytes, other, words, rng);
    }
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], words: &[&str], rng: &mut Rng) {
    if bytes.is_empty() {
        bytes.extend_from_slice(other);
        return;
    }
    let place = place_in(bytes.len(), rng);
    let end = bytes.len().min(place + rng.random_range(1..=32));
    match rng.random_range(0..12) {
        0 | 1 => bytes[place] ^= 1 << rng.random_range(0..8),
        2 => bytes[place] = rng.random(),
        3 => bytes[place] = BYTES[rng.random_range(0..BYTES.len())],
        4 => bytes[place] = bytes[place].wrapping_add(if rng.random() { 1 } else { 0xff }),
        5 | 6 => set_size(bytes, place, rng),
        7 => bytes.truncate(place),
        8 => drop(bytes.drain(place..end)),
        9 => {
            let part = bytes[place..end].repeat(rng.random_range(1..=8));
            drop(bytes.splice(place..place, part));
        }
        10 if !other.is_empty() => {
            let from = rng.random_range(0..other.len());
            let to = other.len().min(from + rng.random_range(1..=256));
            drop(bytes.splice(place..end, other[from..to].iter().copied()));
        }
        _ if !words.is_empty() => {
            let word = words[rng.random_range(0..words.len())].bytes();
            // In place of as much, or between what is there.
            let until = if rng.random() { bytes.len().min(place + word.len()) } else { place };
            drop(bytes.splice(place..until, word));
        }
        _ => bytes[place] = 0,
    }
}

/// Half of the places are near the beginning or the end, where formats say how much there is.
fn place_in(n_bytes: usize, rng: &mut Rng) -> usize {
    let near = rng.random_range(0..n_bytes.min(128));
    match rng.random_range(0..4) {
        0 => near,
        1 => n_bytes - 1 - near,
        _ => rng.random_range(0..n_bytes),
    }
}

/// Puts a size into two, four or eight bytes, in either order.
fn set_size(bytes: &mut [u8], place: usize, rng: &mut Rng) {
    let size = SIZES[rng.random_range(0..SIZES.len())];
    let n_bytes = [2, 4, 8][rng.random_range(0..3)];
    let little = size.to_le_bytes();
    let mut field = little[..n_bytes].to_vec();
    if rng.random() {
        field.reverse();
    }
    let start = if rng.random() { place } else { place / n_bytes * n_bytes };
    let length = n_bytes.min(bytes.len() - start);
    bytes[start..start + length].copy_from_slice(&field[..length]);
}
