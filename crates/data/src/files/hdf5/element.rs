//! The type of a dataset's values: whole numbers, floats and booleans of numpy, in either byte order.

use super::source::{Fields, unsupported};
use crate::error::Result;
use crate::npy::half;

/// The type of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) n_bytes: usize,
    pub(super) big_endian: bool,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

const WHOLE: u8 = 0;
const FLOAT: u8 = 1;
const ENUMERATION: u8 = 8;

impl Element {
    /// Reads the message that describes the type.
    pub(super) fn read(fields: &mut Fields) -> Result<Self> {
        let class = fields.u8()? & 15;
        let flags = fields.number(3)?;
        let n_bytes = fields.u32()? as usize;
        match class {
            WHOLE => {
                let wanted = fields.u16()? == 0 && usize::from(fields.u16()?) == 8 * n_bytes;
                let kind = if flags & 8 == 0 { Kind::Unsigned } else { Kind::Signed };
                Self { kind, n_bytes, big_endian: flags & 1 == 1 }.if_wanted(wanted && matches!(n_bytes, 1 | 2 | 4 | 8))
            }
            FLOAT => {
                let wanted = fields.take(12)? == float_layout(n_bytes) && flags & 0x40 == 0;
                Self { kind: Kind::Float, n_bytes, big_endian: flags & 1 == 1 }.if_wanted(wanted)
            }
            // Booleans of numpy are an enumeration of two names over bytes.
            ENUMERATION if fields.rest.first().is_some_and(|&class| class & 15 == WHOLE) => {
                let base = Self::read(fields)?;
                let named = |name: &[u8]| fields.rest.windows(name.len()).any(|window| window == name);
                let wanted = base.n_bytes == 1 && flags & 0xffff == 2 && named(b"FALSE\0") && named(b"TRUE\0");
                Self { kind: Kind::Bool, ..base }.if_wanted(wanted)
            }
            3 | 9 => Err(unsupported("holds text, which is not read")),
            6 => Err(unsupported("holds values with named fields, which are not read")),
            _ => Err(unsupported(format!("holds values of HDF5's class {class}, which are not read"))),
        }
    }

    /// Whether every value is one byte without a sign.
    pub(super) fn is_byte(self) -> bool {
        self.n_bytes == 1 && matches!(self.kind, Kind::Bool | Kind::Unsigned)
    }

    /// The number that these bytes stand for.
    pub(super) fn number(self, bytes: &[u8]) -> f64 {
        let join = |value, &byte: &u8| value << 8 | u64::from(byte);
        let bits = match self.big_endian {
            true => bytes.iter().fold(0_u64, join),
            false => bytes.iter().rev().fold(0_u64, join),
        };
        let n_unused = 64 - 8 * self.n_bytes;
        match (self.kind, self.n_bytes) {
            (Kind::Bool | Kind::Unsigned, _) => bits as f64,
            (Kind::Signed, _) => (((bits << n_unused) as i64) >> n_unused) as f64,
            (Kind::Float, 2) => half(bits as u16),
            (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Kind::Float, _) => f64::from_bits(bits),
        }
    }

    fn if_wanted(self, wanted: bool) -> Result<Self> {
        match wanted {
            true => Ok(self),
            false => Err(unsupported(format!("holds unusual values of {} bytes, which are not read", self.n_bytes))),
        }
    }
}

/// How an IEEE float lies: the first bit and number of bits of the whole, of the exponent and of the fraction, and what
/// the exponent counts from.
fn float_layout(n_bytes: usize) -> [u8; 12] {
    match n_bytes {
        2 => [0, 0, 16, 0, 10, 5, 0, 10, 15, 0, 0, 0],
        4 => [0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0],
        8 => [0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0],
        _ => [255; 12],
    }
}
