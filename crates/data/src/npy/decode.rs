//! Stored bytes to values: memory order, whole numbers, floats of any width and text.

use crate::error::{Error, Result};

/// Reorders column-major values.
pub(super) fn row_major(data: &[u8], shape: &[usize], item_bytes: usize) -> Vec<u8> {
    let mut strides = vec![item_bytes; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut ordered = Vec::with_capacity(data.len());
    for index in 0..data.len() / item_bytes {
        let mut rest = index;
        let mut start = 0;
        for (size, stride) in shape.iter().zip(&strides).rev() {
            start += rest % size * stride;
            rest /= size;
        }
        ordered.extend_from_slice(&data[start..start + item_bytes]);
    }
    ordered
}

pub(super) fn unsigned(item: &[u8]) -> u64 {
    item.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// The float of 2, 4 or 8 bytes, the least first.
pub fn float(item: &[u8]) -> f64 {
    match item.len() {
        2 => half(unsigned(item) as u16),
        4 => f64::from(f32::from_bits(unsigned(item) as u32)),
        _ => f64::from_bits(unsigned(item)),
    }
}

/// The number of a 16-bit float: 1 bit of sign, 5 of exponent, 10 of fraction.
pub fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let magnitude = match bits >> 10 & 0x1f {
        0 => fraction * 2.0_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction) * 2.0_f64.powi(i32::from(exponent) - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

pub(super) fn unicode_text(item: &[u8]) -> Result<String> {
    let characters = item.chunks_exact(4).map(|bytes| unsigned(bytes) as u32);
    let text: Option<String> = characters.map(char::from_u32).collect();
    text.map(|text| text.trim_end_matches('\0').to_string()).ok_or_else(|| Error::new("text holds a broken character"))
}
