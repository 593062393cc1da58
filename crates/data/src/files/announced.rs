//! What a file announces, and what of it arrives. Memory is taken only for bytes that are there.

use std::io::{self, Read};

use crate::error::{Error, Result};
use crate::npy::unreadable;

/// The most bytes of values that are read into memory at once where no other limit is given.
pub(super) const MOST_BYTES: u64 = 1 << 32;
/// Memory for the first bytes that are announced; more is taken as they arrive.
const FIRST_PIECE_BYTES: usize = 1 << 16;

/// The bytes of an array of `shape`, where memory could hold it.
pub(super) fn array_bytes(shape: &[usize], value_bytes: usize) -> Result<usize> {
    // An axis of 0 hides no absurd size along another: an array of that shape could not be made.
    let most = shape.iter().try_fold(value_bytes, |product, &size| product.checked_mul(size.max(1)));
    if most.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        let message = format!("an array of shape {shape:?} was announced, which no memory holds");
        return Err(Error::new(message).help("the file may be damaged: copy or download it again"));
    }
    Ok(shape.iter().product::<usize>() * value_bytes)
}

/// Refuses an array of `n_bytes` where the file has at most `left`.
pub(super) fn check_left(shape: &[usize], n_bytes: usize, left: u64) -> Result<()> {
    if n_bytes as u64 > left {
        let message =
            format!("an array of shape {shape:?} was announced, {n_bytes} bytes, but at most {left} can follow");
        return Err(Error::new(message).help("the file is cut short or damaged: copy or download it again"));
    }
    Ok(())
}

/// Refuses an array of `n_bytes` where `most` are allowed.
pub(super) fn check_allowed(shape: &[usize], n_bytes: usize, most: u64) -> Result<()> {
    if n_bytes as u64 > most {
        let message = format!("an array of shape {shape:?} was announced, {n_bytes} bytes, above the {most} allowed");
        return Err(Error::new(message).help("the file may be damaged, or not the one that was wanted"));
    }
    Ok(())
}

/// The next `N` bytes, which hold `what`.
pub(super) fn read_field<const N: usize>(reader: &mut impl Read, what: &str) -> Result<[u8; N]> {
    let mut field = [0; N];
    field.copy_from_slice(&read_bytes(reader, N, what)?);
    Ok(field)
}

/// The next `n_bytes`, which hold `what`. The memory at most doubles before the bytes to fill it arrive.
pub(super) fn read_bytes(reader: &mut impl Read, n_bytes: usize, what: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < n_bytes {
        let piece = (n_bytes - bytes.len()).min(bytes.len().max(FIRST_PIECE_BYTES));
        bytes
            .try_reserve_exact(piece)
            .map_err(|_| Error::failure(format!("no memory for {n_bytes} bytes of {what}")))?;
        let n_read = reader.by_ref().take(piece as u64).read_to_end(&mut bytes).map_err(cause)?;
        if n_read < piece {
            let message = format!("is cut short: wanted {n_bytes} bytes of {what}, found {}", bytes.len());
            return Err(Error::new(message).help("copy or download the file again"));
        }
    }
    Ok(bytes)
}

/// Passes over the next `n_bytes`, which hold `what`.
pub(super) fn pass_over_bytes(reader: &mut impl Read, n_bytes: u64, what: &str) -> Result<()> {
    let found = io::copy(&mut reader.by_ref().take(n_bytes), &mut io::sink()).map_err(cause)?;
    if found < n_bytes {
        return Err(Error::new(format!("is cut short: wanted {n_bytes} bytes of {what}, found {found}"))
            .help("copy or download the file again"));
    }
    Ok(())
}

/// Refuses bytes after the last that were announced. Compares the checksum of a compressed file on the way.
pub(super) fn expect_end(reader: &mut impl Read, what: &str) -> Result<()> {
    let mut over = Vec::new();
    reader.by_ref().take(1).read_to_end(&mut over).map_err(cause)?;
    if over.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!("wanted the end after {what}, found more bytes"))
        .help("the file is damaged, or of another kind: copy or download it again"))
}

/// The error behind what a reader said: one of ours as it is.
pub(super) fn cause(error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(ours) => ours.clone(),
        None => unreadable(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_as_bytes_arrive() {
        let mut reader = io::repeat(7).take(200_000);
        let message = read_bytes(&mut reader, 1 << 50, "the values").unwrap_err().to_string();
        assert!(message.starts_with("is cut short: wanted 1125899906842624 bytes of the values, found 200000\n"));
        let bytes = read_bytes(&mut io::repeat(7), 200_001, "the values").unwrap();
        assert_eq!((bytes.len(), bytes.capacity()), (200_001, 200_001));
    }

    #[test]
    fn shapes_that_no_memory_holds_are_refused() {
        assert_eq!(array_bytes(&[3, 0, 5], 4).unwrap(), 0);
        assert_eq!(array_bytes(&[3, 5], 4).unwrap(), 60);
        for shape in [&[1 << 32, 1 << 31][..], &[0, usize::MAX], &[usize::MAX, 2]] {
            assert!(array_bytes(shape, 1).unwrap_err().to_string().contains("which no memory holds"), "{shape:?}");
        }
    }
}
