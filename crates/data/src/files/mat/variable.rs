//! What a MAT-file says of a variable before its values: class, flags, shape and name.

use std::io::{self, Read};

use super::element::{ByteOrder, INT8, INT32, UINT8, UINT32, UTF8, read_element};
use crate::error::{Error, Result};

/// More axes than any published file has.
const MOST_AXES: u32 = 32;
/// MATLAB's names have at most 63 characters.
const MOST_NAME_BYTES: u32 = 1024;
/// Objects of classes that MATLAB does not describe, which have no shape.
const OPAQUE: u8 = 17;
const COMPLEX_FLAG: u32 = 0x0800;
const LOGICAL_FLAG: u32 = 0x0200;

/// What is said of a variable.
pub(super) struct Variable {
    class: u8,
    is_complex: bool,
    is_logical: bool,
    pub(super) shape: Vec<usize>,
    /// Empty where it has none.
    pub(super) name: String,
}

impl Variable {
    /// Reads what comes before the values in the `body` of an element of type miMATRIX.
    pub(super) fn read(body: &mut io::Take<impl Read>, order: ByteOrder) -> Result<Self> {
        let flags = read_element(body, order, &[UINT32], 8, "the flags of a variable")?;
        let [a, b, c, d, ..] = flags[..] else {
            return Err(Error::new(format!("wanted 8 bytes of the flags of a variable, found {}", flags.len()))
                .help("the file is damaged: copy or download it again"));
        };
        let flags = order.u32([a, b, c, d]);
        let class = (flags & 0xff) as u8;
        let shape = if class == OPAQUE { Vec::new() } else { read_shape(body, order)? };
        // Names are ASCII, for which writers use any of the three types.
        let name = read_element(body, order, &[INT8, UINT8, UTF8], MOST_NAME_BYTES, "the name of a variable")?;
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_string();
        Ok(Self { class, is_complex: flags & COMPLEX_FLAG != 0, is_logical: flags & LOGICAL_FLAG != 0, shape, name })
    }

    /// What MATLAB calls its class.
    pub(super) fn class_name(&self) -> String {
        let class = match self.class {
            1 => "cell",
            2 => "struct",
            3 => "object",
            4 => "char",
            5 => "sparse",
            6 => "double",
            7 => "single",
            8 => "int8",
            9 if self.is_logical => "logical",
            9 => "uint8",
            10 => "int16",
            11 => "uint16",
            12 => "int32",
            13 => "uint32",
            14 => "int64",
            15 => "uint64",
            16 => "function",
            OPAQUE => "opaque",
            number => return format!("the unknown class {number}"),
        };
        if self.is_complex { format!("complex {class}") } else { class.to_string() }
    }
}

fn read_shape(body: &mut impl Read, order: ByteOrder) -> Result<Vec<usize>> {
    // Some writers use the type without a sign, whose bytes are the same for sizes that are possible.
    let sizes = read_element(body, order, &[INT32, UINT32], 4 * MOST_AXES, "the shape of a variable")?;
    let (sizes, rest) = sizes.as_chunks::<4>();
    if sizes.is_empty() || !rest.is_empty() {
        let n_bytes = 4 * sizes.len() + rest.len();
        return Err(Error::new(format!("wanted 4 bytes for each axis of a variable, found {n_bytes} in all"))
            .help("the file is damaged: copy or download it again"));
    }
    let size = |(axis, bytes): (usize, &[u8; 4])| {
        let size = order.u32(*bytes).cast_signed();
        usize::try_from(size).map_err(|_| {
            Error::new(format!("wanted a size from 0 along axis {axis} of a variable, found {size}"))
                .help("the file is damaged: copy or download it again")
        })
    };
    sizes.iter().enumerate().map(size).collect()
}
