//! The beginning of a file: where addresses count from, where the file ends and where its root group is.

use super::checksum::lookup3;
use super::source::{Fields, Source, damaged, unsupported};
use crate::error::{Error, Result};

/// The first bytes of a file, unless a user put others before them.
pub const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Finds the superblock, moves the source's address 0 to where it says, and tells the address of the root group's
/// header.
pub(super) fn read_superblock(source: &mut Source) -> Result<u64> {
    let start = signature_address(source)?;
    let bytes = source.read(start, source.after(start).min(128) as usize)?;
    let mut fields = Fields::new(&bytes[8..]);
    let version = fields.u8()?;
    let (base, end, root) = match version {
        0 | 1 => {
            fields.take(4)?;
            check_sizes(fields.u8()?, fields.u8()?)?;
            fields.take(if version == 0 { 9 } else { 13 })?;
            let base = fields.u64()?;
            let _free_space = fields.u64()?;
            let end = fields.u64()?;
            // The driver's block, and the name of the root group.
            fields.take(16)?;
            (base, end, fields.u64()?)
        }
        2 | 3 => {
            check_sizes(fields.u8()?, fields.u8()?)?;
            let _flags = fields.u8()?;
            let base = fields.u64()?;
            let _extension = fields.u64()?;
            let (end, root) = (fields.u64()?, fields.u64()?);
            let n_summed = bytes.len() - fields.rest.len();
            if fields.u32()? != lookup3(&bytes[..n_summed]) {
                return Err(damaged("the checksum of its beginning differs"));
            }
            (base, end, root)
        }
        _ => return Err(unsupported(format!("is an HDF5 file of version {version}, which is not read"))),
    };
    if end > source.n_bytes() {
        return Err(damaged(format!("should have {end} bytes, but has {}", source.n_bytes())));
    }
    source.base = base;
    Ok(root)
}

/// The signature is at the beginning, or at a power of two from 512 after what a user put before it.
fn signature_address(source: &Source) -> Result<u64> {
    let mut start = 0;
    while source.after(start) >= 64 {
        if source.read(start, 8)? == SIGNATURE {
            return Ok(start);
        }
        start = if start == 0 { 512 } else { start * 2 };
    }
    Err(Error::new("is not an HDF5 file").help("name a file that h5py can open"))
}

fn check_sizes(address_bytes: u8, length_bytes: u8) -> Result<()> {
    if (address_bytes, length_bytes) == (8, 8) {
        return Ok(());
    }
    Err(unsupported(format!("has addresses of {address_bytes} and lengths of {length_bytes} bytes; 8 and 8 are read")))
}
