//! The idx files of MNIST: two zeros, the type of the values, the number of axes, their sizes, and the values.
//!
//! LeCun, Cortes and Burges, "The MNIST database of handwritten digits", which says of the format that its sizes are
//! big-endian and that the last axis changes fastest. Files may be gzipped.

use std::io::Read;
use std::path::Path;

use super::announced::{
    MOST_BYTES, array_bytes, check_allowed, check_left, expect_end, pass_over_bytes, read_bytes, read_field,
};
use super::gzip;
use crate::error::{Error, Result};

/// An array of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxArray {
    /// The size along each axis.
    pub shape: Vec<usize>,
    /// The values, row-major.
    pub bytes: Vec<u8>,
}

/// What a file says of its array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdxHeader {
    /// The type of the values.
    pub element: Element,
    /// The size along each axis, of which there is at least one.
    pub shape: Vec<usize>,
}

/// The type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Unsigned bytes, the only type that is decoded.
    U8,
    /// Signed bytes.
    I8,
    /// Whole numbers of 16 bits.
    I16,
    /// Whole numbers of 32 bits.
    I32,
    /// Floats of 32 bits.
    F32,
    /// Floats of 64 bits.
    F64,
}

/// Reads the array of a plain or gzipped file.
pub fn read_idx(path: &Path) -> Result<IdxArray> {
    let opened = gzip::open(path)?;
    read_array(opened.reader, opened.most_bytes).map_err(|error| error.at(path.display()))
}

/// Reads what a plain or gzipped file says of its array. Whether the values follow is not looked at.
pub fn read_idx_header(path: &Path) -> Result<IdxHeader> {
    let mut opened = gzip::open(path)?;
    IdxHeader::read(&mut opened.reader).map_err(|error| error.at(path.display()))
}

/// Reads an array that `reader` gives the bytes of.
pub fn read_idx_from(reader: impl Read) -> Result<IdxArray> {
    read_array(reader, u64::MAX)
}

/// Reads what a plain or gzipped file says of its array, and passes over the values, which must be there to the end.
pub fn pass_over_idx(path: &Path) -> Result<IdxHeader> {
    let mut reader = gzip::open(path)?.reader;
    let mut pass_over = || {
        let header = IdxHeader::read(&mut reader)?;
        let n_bytes = array_bytes(&header.shape, header.element.n_bytes())?;
        pass_over_bytes(&mut reader, n_bytes as u64, "the idx values")?;
        expect_end(&mut reader, "the idx values")?;
        Ok(header)
    };
    pass_over().map_err(|error: Error| error.at(path.display()))
}

fn read_array(mut reader: impl Read, most_bytes: u64) -> Result<IdxArray> {
    let IdxHeader { element, shape } = IdxHeader::read(&mut reader)?;
    if element != Element::U8 {
        return Err(Error::new(format!("wanted an idx array of unsigned bytes (type 8), found {}", element.name()))
            .help("only unsigned bytes are read: MNIST and the datasets in its form hold nothing else"));
    }
    let n_bytes = array_bytes(&shape, 1)?;
    let header_bytes = 4 + 4 * shape.len() as u64;
    check_left(&shape, n_bytes, most_bytes.saturating_sub(header_bytes))?;
    check_allowed(&shape, n_bytes, MOST_BYTES)?;
    let bytes = read_bytes(&mut reader, n_bytes, "the idx values")?;
    expect_end(&mut reader, "the idx values")?;
    Ok(IdxArray { shape, bytes })
}

impl IdxHeader {
    /// Reads the bytes that come before the values.
    pub fn read(reader: &mut impl Read) -> Result<Self> {
        let [zero, other_zero, code, n_axes] = read_field(reader, "the idx magic number")?;
        if [zero, other_zero] != [0, 0] {
            return Err(Error::new(format!(
                "is not an idx file: wanted two zeros at its start, found {zero:#04x} {other_zero:#04x}"
            ))
            .help("name a file like train-images-idx3-ubyte, gzipped or not"));
        }
        let element = Element::of_code(code)?;
        if n_axes == 0 {
            return Err(Error::new("wanted an idx array with at least one axis, found 0")
                .help("the file may be damaged: copy or download it again"));
        }
        let mut shape = Vec::new();
        for axis in 0..n_axes {
            let size = read_field(reader, &format!("the idx size of axis {axis}"))?;
            shape.push(u32::from_be_bytes(size) as usize);
        }
        Ok(Self { element, shape })
    }
}

impl Element {
    fn of_code(code: u8) -> Result<Self> {
        Ok(match code {
            0x08 => Self::U8,
            0x09 => Self::I8,
            0x0b => Self::I16,
            0x0c => Self::I32,
            0x0d => Self::F32,
            0x0e => Self::F64,
            _ => {
                let message = format!("wanted an idx type from 8 to 14 (without 10), found {code}");
                return Err(Error::new(message).help("the file is damaged, or not an idx file"));
            }
        })
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "unsigned bytes (type 8)",
            Self::I8 => "signed bytes (type 9)",
            Self::I16 => "16-bit whole numbers (type 11)",
            Self::I32 => "32-bit whole numbers (type 12)",
            Self::F32 => "32-bit floats (type 13)",
            Self::F64 => "64-bit floats (type 14)",
        }
    }

    /// The bytes of one value.
    pub fn n_bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::files::damaged::for_each_damaged;

    /// Two images of 2 x 3.
    const IMAGES: &[u8] = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03abcdefghijkl";

    fn idx(code: u8, sizes: &[u32], values: &[u8]) -> Vec<u8> {
        let mut file = vec![0, 0, code, sizes.len() as u8];
        sizes.iter().for_each(|size| file.extend(size.to_be_bytes()));
        file.extend(values);
        file
    }

    fn message(file: &[u8]) -> String {
        let message = read_idx_from(file).unwrap_err().to_string();
        // With the length of the file known, it is refused too.
        assert!(read_array(file, file.len() as u64).is_err());
        message
    }

    #[test]
    fn images_and_labels_are_read() {
        let images = read_idx_from(IMAGES).unwrap();
        assert_eq!(images, IdxArray { shape: vec![2, 2, 3], bytes: b"abcdefghijkl".to_vec() });
        assert_eq!(read_array(IMAGES, IMAGES.len() as u64).unwrap(), images);
        let labels = read_idx_from(&idx(8, &[3], &[7, 2, 9])[..]).unwrap();
        assert_eq!((labels.shape, labels.bytes), (vec![3], vec![7, 2, 9]));
        assert_eq!(read_idx_from(&idx(8, &[3, 0], &[])[..]).unwrap().bytes, b"");
    }

    #[test]
    fn files_are_read_plain_and_gzipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("images");
        std::fs::write(&path, IMAGES).unwrap();
        let plain = read_idx(&path).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(IMAGES).unwrap();
        let mut gzipped = encoder.finish().unwrap();
        std::fs::write(&path, &gzipped).unwrap();
        assert_eq!(read_idx(&path).unwrap(), plain);
        assert_eq!(read_idx_header(&path).unwrap(), IdxHeader { element: Element::U8, shape: vec![2, 2, 3] });
        for n_bytes in 0..gzipped.len() {
            std::fs::write(&path, &gzipped[..n_bytes]).unwrap();
            let message = read_idx(&path).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
            assert!(message.contains("cut short"), "{message}");
        }
        // The values are all there, but the checksum after them is wrong.
        let place = gzipped.len() - 6;
        gzipped[place] ^= 1;
        std::fs::write(&path, &gzipped).unwrap();
        assert!(read_idx(&path).unwrap_err().to_string().contains("the gzip stream is damaged"));
    }

    #[test]
    fn files_that_are_cut_short_name_what_is_missing() {
        for n_bytes in 0..IMAGES.len() {
            let wanted = match n_bytes {
                0..4 => format!("wanted 4 bytes of the idx magic number, found {n_bytes}"),
                4..16 => {
                    format!("wanted 4 bytes of the idx size of axis {}, found {}", n_bytes / 4 - 1, n_bytes % 4)
                }
                _ => format!("wanted 12 bytes of the idx values, found {}", n_bytes - 16),
            };
            let message = message(&IMAGES[..n_bytes]);
            assert!(message.starts_with(&format!("is cut short: {wanted}\n")), "{message}");
        }
        let known = read_array(&IMAGES[..20], 20).unwrap_err().to_string();
        assert!(known.starts_with("an array of shape [2, 2, 3] was announced, 12 bytes, but at most 4 can follow\n"));
    }

    #[test]
    fn bytes_left_over_are_refused() {
        let more = [IMAGES, b"m"].concat();
        assert!(message(&more).starts_with("wanted the end after the idx values, found more bytes\n"));
    }

    #[test]
    fn types_are_refused_by_name() {
        for (code, name) in [
            (9, "signed bytes"),
            (11, "16-bit whole numbers"),
            (12, "32-bit whole numbers"),
            (13, "32-bit floats"),
            (14, "64-bit floats"),
        ] {
            let file = idx(code, &[1], &[0; 8]);
            let wanted = format!("wanted an idx array of unsigned bytes (type 8), found {name} (type {code})\n");
            assert!(message(&file).starts_with(&wanted));
            assert_eq!(IdxHeader::read(&mut &file[..]).unwrap().shape, [1]);
        }
        assert!(message(&idx(10, &[1], &[0])).starts_with("wanted an idx type from 8 to 14 (without 10), found 10\n"));
        assert!(
            message(b"PK\x03\x04").starts_with("is not an idx file: wanted two zeros at its start, found 0x50 0x4b\n")
        );
        assert!(message(&idx(8, &[], &[1])).starts_with("wanted an idx array with at least one axis, found 0\n"));
    }

    #[test]
    fn sizes_beyond_memory_and_file_are_refused() {
        let most = u32::MAX;
        assert!(message(&idx(8, &[most, most, most], &[])).contains("which no memory holds"));
        assert!(message(&idx(8, &[0, most, most, most], &[])).contains("which no memory holds"));
        assert!(message(&idx(8, &[most, 1000], &[1, 2])).contains("4294967295000 bytes, above the 4294967296 allowed"));
        assert!(message(&idx(8, &[most], &[1, 2])).contains("wanted 4294967295 bytes of the idx values, found 2"));
        assert!(message(&idx(8, &[1; 255], &[])).contains("wanted 1 bytes of the idx values, found 0"));
    }

    #[test]
    fn damaged_files_are_errors_or_small_arrays() {
        let wholes = [IMAGES.to_vec(), idx(8, &[3], &[7, 2, 9]), idx(12, &[1], &[0; 4]), idx(8, &[1; 9], &[5])];
        for_each_damaged("damaged idx", &wholes, |bytes| {
            for array in [read_idx_from(bytes), read_array(bytes, bytes.len() as u64)].into_iter().flatten() {
                assert!(array.bytes.capacity() <= bytes.len());
                assert_eq!(array.bytes.len(), array.shape.iter().product::<usize>());
            }
        });
    }
}
