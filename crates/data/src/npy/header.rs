//! The description that begins a `.npy` file: the type, order and shape of its values.

use std::io::{Read, Write};

use crate::error::{Error, Result};
use crate::words::shortened;

/// What begins a `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Descriptions are about a hundred bytes; numpy itself refuses above 10,000.
const MOST_HEADER_BYTES: usize = 10_000;
/// The longest text of an item, in characters.
const MOST_TEXT: usize = 1 << 20;

/// Letters of a description that are told where it is not understood.
const MOST_LETTERS: usize = 300;

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True and false.
    Bool,
    /// Whole numbers with a sign.
    Signed,
    /// Whole numbers without a sign.
    Unsigned,
    /// Floats.
    Float,
    /// Text of four bytes a character.
    Unicode,
    /// Text of one byte a character.
    Bytes,
}

/// The description that begins a `.npy` file of row-major values. `descr` is numpy's name of their type, like `|u1`.
pub fn write_header(writer: &mut impl Write, descr: &str, shape: &[usize]) -> std::io::Result<()> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", sizes.trim_end());
    // Spaces and a line end fill up to a multiple of 64, so that values are aligned in a mapped file.
    let n_bytes = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64);
    let padded = format!("{text:width$}\n", width = n_bytes - MAGIC.len() - 4 - 1);
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    writer.write_all(&(padded.len() as u16).to_le_bytes())?;
    writer.write_all(padded.as_bytes())
}

/// What a description says.
pub(super) struct Header {
    pub(super) element: Element,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

/// The type of the values.
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) item_bytes: usize,
    pub(super) big_endian: bool,
}

/// What the description says, and how many bytes come before the values.
pub(super) fn read_header(reader: &mut impl Read) -> Result<(Header, usize)> {
    let (text, n_bytes) = read_header_text(reader)?;
    Ok((parse_header(&text)?, n_bytes))
}

/// The description as it is stored, and how many bytes come before the values.
pub(super) fn read_header_text(reader: &mut impl Read) -> Result<(String, usize)> {
    let foreign = || Error::new("is not an array of numpy (.npy)");
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(|_| foreign())?;
    if !start.starts_with(MAGIC) {
        return Err(foreign());
    }
    let cut = || {
        Error::new("is cut short: the array's description is not whole")
            .help("save it again; if it was copied, copy it again")
    };
    // Version 1 gives the description's length in two bytes, versions 2 and 3 in four.
    let mut length = [0; 4];
    let n_length_bytes = if start[6] == 1 { 2 } else { 4 };
    reader.read_exact(&mut length[..n_length_bytes]).map_err(|_| cut())?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_HEADER_BYTES {
        return Err(Error::new(format!("the array's description has {length} bytes, above {MOST_HEADER_BYTES}")));
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).map_err(|_| cut())?;
    let text = String::from_utf8(text).map_err(|_| foreign())?;
    Ok((text, start.len() + n_length_bytes + length))
}

/// Whether a description is of a type that is not read: named fields, pickled objects, complex numbers and so on.
pub(super) fn describes_another_type(text: &str) -> bool {
    let descr = value_of(text, "descr").unwrap_or_default();
    match descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')) {
        Some((descr, _)) => parse_descr(descr).is_err(),
        None => descr.starts_with('['),
    }
}

/// What follows a key of a description.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after_key = text.split_once(&format!("'{key}'"))?.1;
    Some(after_key.trim_start().strip_prefix(':')?.trim_start())
}

/// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }`.
fn parse_header(text: &str) -> Result<Header> {
    let broken = || {
        Error::new(format!("the array's description is not understood: {}", shortened(text.trim_end(), MOST_LETTERS)))
    };
    let value = |key: &str| value_of(text, key);
    let descr = value("descr").ok_or_else(broken)?;
    if descr.starts_with('[') {
        return Err(Error::new("arrays with named fields are not read")
            .help("save a plain one: numpy.column_stack([array[name] for name in array.dtype.names])"));
    }
    let descr = descr.strip_prefix('\'').and_then(|rest| Some(rest.split_once('\'')?.0)).ok_or_else(broken)?;
    let fortran_order = value("fortran_order").ok_or_else(broken)?.starts_with("True");
    let sizes = value("shape").and_then(|rest| Some(rest.strip_prefix('(')?.split_once(')')?.0)).ok_or_else(broken)?;
    let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape: Option<Vec<usize>> = sizes.map(|size| size.parse().ok()).collect();
    Ok(Header { element: parse_descr(descr)?, fortran_order, shape: shape.ok_or_else(broken)? })
}

/// Parses a type like `<f4`: byte order, kind, size.
fn parse_descr(descr: &str) -> Result<Element> {
    let unread = || {
        Error::new(format!("arrays of type \"{}\" are not read", shortened(descr, MOST_LETTERS)))
            .help("save whole numbers, floats of at most 64 bits, booleans or text")
    };
    let big_endian = descr.starts_with('>');
    let plain = descr.trim_start_matches(['<', '>', '|', '=']);
    if plain.starts_with('O') {
        return Err(Error::new("pickled objects are not read: that would run the program inside them")
            .help("save plain arrays; text from pandas: numpy.array(values, dtype=str)"));
    }
    let kind = plain.chars().next().ok_or_else(unread)?;
    let size: usize = plain.get(kind.len_utf8()..).and_then(|size| size.parse().ok()).ok_or_else(unread)?;
    let (kind, item_bytes) = match (kind, size) {
        ('b', 1) => (Kind::Bool, 1),
        ('i', 1 | 2 | 4 | 8) => (Kind::Signed, size),
        ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
        ('f', 2 | 4 | 8) => (Kind::Float, size),
        ('U', 1..=MOST_TEXT) => (Kind::Unicode, 4 * size),
        ('S', 1..=MOST_TEXT) => (Kind::Bytes, size),
        _ => return Err(unread()),
    };
    Ok(Element { kind, item_bytes, big_endian })
}
