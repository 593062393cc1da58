//! The elements of a MAT-file: a type, a number of bytes, and these bytes, filled up to a multiple of eight.

use std::io::Read;

use crate::error::{Error, Result};
use crate::files::announced::{read_bytes, read_field};

pub(super) const INT8: u32 = 1;
pub(super) const UINT8: u32 = 2;
pub(super) const INT32: u32 = 5;
pub(super) const UINT32: u32 = 6;
pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;
pub(super) const UTF8: u32 = 16;

/// How the bytes of a number are ordered.
#[derive(Debug, Clone, Copy)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// What begins an element.
pub(super) struct Tag {
    /// The type of its bytes.
    pub(super) kind: u32,
    pub(super) n_bytes: u32,
    /// Up to four bytes lie in the tag itself.
    pub(super) small: Option<[u8; 4]>,
}

impl Tag {
    pub(super) const N_BYTES: u64 = 8;

    pub(super) fn read(reader: &mut impl Read, order: ByteOrder, what: &str) -> Result<Self> {
        let [a, b, c, d, after @ ..]: [u8; 8] = read_field(reader, what)?;
        let first = order.u32([a, b, c, d]);
        // The types fit half of their four bytes; a number in the other half is that of the bytes in a small element.
        let small_bytes = first >> 16;
        if small_bytes == 0 {
            return Ok(Self { kind: first, n_bytes: order.u32(after), small: None });
        }
        if small_bytes > 4 {
            return Err(Error::new(format!("wanted at most 4 bytes in {what}, found {small_bytes}"))
                .help("the file is damaged: copy or download it again"));
        }
        Ok(Self { kind: first & 0xffff, n_bytes: small_bytes, small: Some(after) })
    }

    /// What the format calls its type.
    pub(super) fn name(&self) -> String {
        let name = type_name(self.kind);
        if self.small.is_some() { format!("a small {name}") } else { name }
    }
}

/// The bytes of an element that holds `what`: at most `most_bytes`, of one of the types `kinds`.
pub(super) fn read_element(
    reader: &mut impl Read,
    order: ByteOrder,
    kinds: &[u32],
    most_bytes: u32,
    what: &str,
) -> Result<Vec<u8>> {
    let tag = Tag::read(reader, order, what)?;
    if !kinds.contains(&tag.kind) {
        let (wanted, found) = (type_name(kinds[0]), tag.name());
        return Err(Error::new(format!("wanted {what} of type {wanted}, found {found}"))
            .help("the file is damaged: copy or download it again"));
    }
    if tag.n_bytes > most_bytes {
        return Err(Error::new(format!("wanted at most {most_bytes} bytes of {what}, found {}", tag.n_bytes))
            .help("the file is damaged: copy or download it again"));
    }
    let n_bytes = tag.n_bytes as usize;
    if let Some(small) = tag.small {
        return Ok(small[..n_bytes].to_vec());
    }
    let mut bytes = read_bytes(reader, n_bytes.next_multiple_of(8), what)?;
    bytes.truncate(n_bytes);
    Ok(bytes)
}

/// What the format calls a type of elements.
fn type_name(kind: u32) -> String {
    let name = match kind {
        1 => "miINT8",
        2 => "miUINT8",
        3 => "miINT16",
        4 => "miUINT16",
        5 => "miINT32",
        6 => "miUINT32",
        7 => "miSINGLE",
        9 => "miDOUBLE",
        12 => "miINT64",
        13 => "miUINT64",
        14 => "miMATRIX",
        15 => "miCOMPRESSED",
        16 => "miUTF8",
        17 => "miUTF16",
        18 => "miUTF32",
        _ => return format!("the unknown type {kind}"),
    };
    name.to_string()
}
