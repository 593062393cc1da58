//! The binary matrices of SmallNORB: the type of the values, the number of axes, at least three sizes, and the values.
//!
//! LeCun, Huang and Bottou, "Learning methods for generic object recognition with invariance to pose and lighting",
//! CVPR 2004, whose page for the dataset describes the format. Numbers are little-endian, the last axis changes
//! fastest, and a matrix of fewer than three axes still has three sizes, the last of which mean nothing. The images of
//! both cameras take 448 MB, so values are read piece by piece: who wants one camera never has both in memory.

use std::io::Read;
use std::path::Path;

use super::announced::{
    MOST_BYTES, array_bytes, cause, check_allowed, check_left, expect_end, pass_over_bytes, read_bytes, read_field,
};
use super::gzip;
use crate::error::{Error, Result};

/// More axes than any matrix of the dataset has.
const MOST_AXES: i32 = 8;
/// All types begin with these bits; the last byte tells them apart.
const MAGIC: u32 = 0x1e3d_4c00;

/// A matrix whose description was read, and whose values come next.
#[derive(Debug)]
pub struct Matrix<R> {
    element: Element,
    shape: Vec<usize>,
    /// Bytes of values that were not read yet.
    left_bytes: usize,
    reader: R,
}

/// The type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// Bytes.
    U8,
    /// Whole numbers of 32 bits.
    I32,
    /// Whole numbers of 16 bits, which are not decoded.
    I16,
    /// Floats of 32 bits, which are not decoded.
    F32,
    /// Floats of 64 bits, which are not decoded.
    F64,
}

/// Opens the matrix of a plain or gzipped file.
pub fn open_matrix(path: &Path) -> Result<Matrix<Box<dyn Read + Send>>> {
    let opened = gzip::open(path)?;
    Matrix::open(opened.reader, opened.most_bytes).map_err(|error| error.at(path.display()))
}

impl<R: Read> Matrix<R> {
    /// Reads the description of a matrix from `reader`, which gives at most `most_bytes` (`u64::MAX` where unknown).
    pub fn open(mut reader: R, most_bytes: u64) -> Result<Self> {
        let element = Element::of_magic(read_field(&mut reader, "the magic number of the matrix")?)?;
        let n_axes = i32::from_le_bytes(read_field(&mut reader, "the number of axes")?);
        if !(1..=MOST_AXES).contains(&n_axes) {
            return Err(Error::new(format!("wanted a number of axes from 1 to {MOST_AXES}, found {n_axes}"))
                .help("the file may be damaged: copy or download it again"));
        }
        let mut shape = Vec::new();
        for axis in 0..n_axes.max(3) {
            let size = i32::from_le_bytes(read_field(&mut reader, &format!("the size of axis {axis}"))?);
            if axis < n_axes {
                shape.push(usize::try_from(size).map_err(|_| negative(axis, size))?);
            }
        }
        let left_bytes = array_bytes(&shape, element.n_bytes())?;
        let header_bytes = 8 + 4 * shape.len().max(3) as u64;
        check_left(&shape, left_bytes, most_bytes.saturating_sub(header_bytes))?;
        Ok(Self { element, shape, left_bytes, reader })
    }

    /// The type of the values.
    pub fn element(&self) -> Element {
        self.element
    }

    /// The size along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Fills `values` with the next of a matrix of bytes, row-major.
    pub fn read_u8(&mut self, values: &mut [u8]) -> Result<()> {
        self.expect_element(Element::U8)?;
        if values.len() > self.left_bytes {
            let message = format!("wanted {} more values of the matrix, found {}", values.len(), self.left_bytes);
            return Err(Error::new(message).help(format!("its shape is {:?}", self.shape)));
        }
        self.reader.read_exact(values).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                Error::new(format!("is cut short: wanted {} more bytes of the matrix, found fewer", self.left_bytes))
                    .help("copy or download the file again")
            }
            _ => cause(error),
        })?;
        self.left_bytes -= values.len();
        Ok(())
    }

    /// All values of a matrix of bytes that were not read yet, row-major.
    pub fn into_u8(mut self) -> Result<Vec<u8>> {
        self.expect_element(Element::U8)?;
        self.read_left()
    }

    /// All values of a matrix of 32-bit whole numbers, row-major.
    pub fn into_i32(mut self) -> Result<Vec<i32>> {
        self.expect_element(Element::I32)?;
        let bytes = self.read_left()?;
        Ok(bytes.as_chunks().0.iter().map(|&value| i32::from_le_bytes(value)).collect())
    }

    /// Passes over all values that were not read yet, which must be there to the end.
    pub fn pass_over(mut self) -> Result<()> {
        pass_over_bytes(&mut self.reader, self.left_bytes as u64, "the values of the matrix")?;
        expect_end(&mut self.reader, "the values of the matrix")
    }

    /// Refuses values that were not read, and bytes after the values. Compares the checksum of a gzipped file.
    pub fn finish(mut self) -> Result<()> {
        if self.left_bytes > 0 {
            let message = format!("wanted the end of the matrix, found {} more bytes of values", self.left_bytes);
            return Err(Error::new(message).help(format!("its shape is {:?}", self.shape)));
        }
        expect_end(&mut self.reader, "the values of the matrix")
    }

    fn read_left(&mut self) -> Result<Vec<u8>> {
        check_allowed(&self.shape, self.left_bytes, MOST_BYTES)?;
        let bytes = read_bytes(&mut self.reader, self.left_bytes, "the values of the matrix")?;
        expect_end(&mut self.reader, "the values of the matrix")?;
        Ok(bytes)
    }

    fn expect_element(&self, wanted: Element) -> Result<()> {
        if self.element == wanted {
            return Ok(());
        }
        Err(Error::new(format!("wanted a matrix of {}, found {}", wanted.name(), self.element.name())).help(
            "the names of SmallNORB's files end with -dat (images, bytes), -cat and -info (32-bit whole numbers)",
        ))
    }
}

impl Element {
    fn of_magic(bytes: [u8; 4]) -> Result<Self> {
        let magic = u32::from_le_bytes(bytes);
        let last = magic.wrapping_sub(MAGIC);
        Ok(match last {
            0x55 => Self::U8,
            0x54 => Self::I32,
            0x56 => Self::I16,
            0x51 => Self::F32,
            0x53 => Self::F64,
            _ if magic.swap_bytes() & 0xffff_ff00 == MAGIC => {
                return Err(Error::new(format!("wanted a little-endian matrix, found the magic number {magic:#010x}"))
                    .help("big-endian matrices are not read: SmallNORB was published little-endian"));
            }
            _ => {
                let message = format!("wanted the magic number of a matrix, 0x1e3d4c51 to 56, found {magic:#010x}");
                return Err(Error::new(message).help("name a file like smallnorb-...-dat.mat, gzipped or not"));
            }
        })
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "bytes",
            Self::I32 => "32-bit whole numbers",
            Self::I16 => "16-bit whole numbers",
            Self::F32 => "32-bit floats",
            Self::F64 => "64-bit floats",
        }
    }

    /// The bytes of one value.
    pub fn n_bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

fn negative(axis: i32, size: i32) -> Error {
    Error::new(format!("wanted a size from 0 along axis {axis}, found {size}"))
        .help("the file may be damaged: copy or download it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::damaged::for_each_damaged;

    fn norb(magic: u32, n_axes: i32, sizes: &[i32], values: &[u8]) -> Vec<u8> {
        let mut file = magic.to_le_bytes().to_vec();
        file.extend(n_axes.to_le_bytes());
        sizes.iter().for_each(|size| file.extend(size.to_le_bytes()));
        file.extend(values);
        file
    }

    /// Three pairs of images of 1 x 2.
    fn pairs() -> Vec<u8> {
        norb(0x1e3d_4c55, 4, &[3, 2, 1, 2], b"LlRrLlRrLlRr")
    }

    fn categories() -> Vec<u8> {
        norb(0x1e3d_4c54, 1, &[2, 1, 1], &[3, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff])
    }

    fn open(file: &[u8]) -> Result<Matrix<&[u8]>> {
        Matrix::open(file, u64::MAX)
    }

    fn message<T>(read: Result<T>) -> String {
        read.err().unwrap().to_string()
    }

    #[test]
    fn bytes_and_whole_numbers_are_read() {
        assert_eq!(pairs()[..8], *b"\x55\x4c\x3d\x1e\x04\0\0\0");
        let file = pairs();
        let matrix = Matrix::open(&file[..], file.len() as u64).unwrap();
        assert_eq!((matrix.element(), matrix.shape()), (Element::U8, &[3, 2, 1, 2][..]));
        assert_eq!(matrix.into_u8().unwrap(), b"LlRrLlRrLlRr");
        let file = categories();
        let matrix = Matrix::open(&file[..], file.len() as u64).unwrap();
        assert_eq!((matrix.element(), matrix.shape()), (Element::I32, &[2][..]));
        assert_eq!(matrix.into_i32().unwrap(), [3, -2]);
    }

    #[test]
    fn one_camera_is_kept_piece_by_piece() {
        let file = pairs();
        let mut matrix = open(&file).unwrap();
        let (mut pair, mut left) = ([0; 4], Vec::<u8>::new());
        for _ in 0..3 {
            matrix.read_u8(&mut pair).unwrap();
            left.extend(&pair[..2]);
        }
        assert_eq!(left, b"LlLlLl");
        assert!(message(matrix.read_u8(&mut pair)).starts_with("wanted 4 more values of the matrix, found 0\n"));
        matrix.finish().unwrap();
        let mut matrix = open(&file).unwrap();
        matrix.read_u8(&mut pair).unwrap();
        assert!(message(matrix.finish()).starts_with("wanted the end of the matrix, found 8 more bytes of values\n"));
    }

    #[test]
    fn files_are_read_plain_and_gzipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.mat");
        std::fs::write(&path, categories()).unwrap();
        assert_eq!(open_matrix(&path).unwrap().into_i32().unwrap(), [3, -2]);
        let whole = pairs();
        let mut encoder = flate2::read::GzEncoder::new(&whole[..], flate2::Compression::fast());
        let mut gzipped = Vec::new();
        encoder.read_to_end(&mut gzipped).unwrap();
        std::fs::write(&path, &gzipped).unwrap();
        assert_eq!(open_matrix(&path).unwrap().into_u8().unwrap(), b"LlRrLlRrLlRr");
        for n_bytes in 0..gzipped.len() {
            std::fs::write(&path, &gzipped[..n_bytes]).unwrap();
            assert!(message(open_matrix(&path).and_then(Matrix::into_u8)).contains("cut short"));
        }
    }

    #[test]
    fn files_that_are_cut_short_or_too_long_are_refused() {
        for (file, header_bytes) in [(pairs(), 24), (categories(), 20)] {
            for n_bytes in 0..file.len() {
                let read = open(&file[..n_bytes]).and_then(|matrix| match matrix.element() {
                    Element::U8 => matrix.into_u8().map(|_| ()),
                    _ => matrix.into_i32().map(|_| ()),
                });
                assert!(message(read).starts_with("is cut short: wanted "), "{n_bytes}");
                if n_bytes >= header_bytes {
                    let known = message(Matrix::open(&file[..n_bytes], n_bytes as u64));
                    assert!(known.contains(&format!("but at most {} can follow", n_bytes - header_bytes)), "{known}");
                }
            }
        }
        let cut = &pairs()[..30];
        let mut matrix = open(cut).unwrap();
        matrix.read_u8(&mut [0; 4]).unwrap();
        assert!(message(matrix.read_u8(&mut [0; 4])).contains("wanted 8 more bytes of the matrix, found fewer"));
        let long = [pairs(), vec![1]].concat();
        let wanted = "wanted the end after the values of the matrix, found more bytes\n";
        assert!(message(open(&long).unwrap().into_u8()).starts_with(wanted));
        let mut matrix = open(&long).unwrap();
        matrix.read_u8(&mut [0; 12]).unwrap();
        assert!(message(matrix.finish()).starts_with(wanted));
    }

    #[test]
    fn foreign_files_and_types_are_refused_by_name() {
        let big_endian = [0x1e, 0x3d, 0x4c, 0x55, 0, 0, 0, 1];
        assert!(
            message(open(&big_endian)).starts_with("wanted a little-endian matrix, found the magic number 0x554c3d1e")
        );
        assert!(message(open(b"PK\x03\x04....")).contains("found 0x04034b50\n"));
        // Packed matrices, of which the page says no more than this number.
        assert!(message(open(&norb(0x1e3d_4c52, 1, &[1, 1, 1], &[0]))).contains("found 0x1e3d4c52\n"));
        for (last, name, n_bytes) in
            [(0x56, "16-bit whole numbers", 2), (0x51, "32-bit floats", 4), (0x53, "64-bit floats", 8)]
        {
            let file = norb(MAGIC + last, 1, &[1, 1, 1], &vec![0; n_bytes]);
            assert_eq!(open(&file).unwrap().element().n_bytes(), n_bytes);
            let wanted = format!("wanted a matrix of bytes, found {name}\n");
            assert!(message(open(&file).unwrap().into_u8()).starts_with(&wanted));
            assert!(message(open(&file).unwrap().read_u8(&mut [0])).starts_with(&wanted));
            let wanted = format!("wanted a matrix of 32-bit whole numbers, found {name}\n");
            assert!(message(open(&file).unwrap().into_i32()).starts_with(&wanted));
        }
    }

    #[test]
    fn absurd_sizes_are_refused() {
        for n_axes in [0, -1, 9, i32::MAX, i32::MIN] {
            let file = norb(0x1e3d_4c55, n_axes, &[1; 9], &[]);
            assert!(
                message(open(&file)).starts_with(&format!("wanted a number of axes from 1 to 8, found {n_axes}\n"))
            );
        }
        let file = norb(0x1e3d_4c55, 3, &[2, -5, 1], &[]);
        assert!(message(open(&file)).starts_with("wanted a size from 0 along axis 1, found -5\n"));
        let most = i32::MAX;
        let file = norb(0x1e3d_4c54, 3, &[most, most, most], &[]);
        assert!(message(open(&file)).contains("which no memory holds"));
        let file = norb(0x1e3d_4c54, 3, &[0, most, most], &[]);
        assert!(message(open(&file)).contains("which no memory holds"));
        let file = norb(0x1e3d_4c55, 2, &[most, 1000, 1], &[1, 2]);
        assert!(message(open(&file).unwrap().into_u8()).contains("above the 4294967296 allowed"));
        assert!(message(Matrix::open(&file[..], file.len() as u64)).contains("but at most 2 can follow"));
        // Sizes beyond the number of axes mean nothing.
        assert_eq!(open(&norb(0x1e3d_4c55, 1, &[1, -1, most], b"x")).unwrap().into_u8().unwrap(), b"x");
    }

    #[test]
    fn damaged_files_are_errors_or_small_matrices() {
        let wholes = [pairs(), categories(), norb(0x1e3d_4c53, 2, &[1, 1, 1], &[0; 8])];
        for_each_damaged("damaged norb", &wholes, |bytes| {
            for most_bytes in [u64::MAX, bytes.len() as u64] {
                let Ok(mut matrix) = Matrix::open(bytes, most_bytes) else { continue };
                let n_values = matrix.shape().iter().product::<usize>();
                if let Ok(values) = open(bytes).unwrap().into_i32() {
                    assert_eq!((values.len(), 4 * values.len() <= bytes.len()), (n_values, true));
                }
                let _ = matrix.read_u8(&mut [0; 3]);
                if let Ok(values) = matrix.into_u8() {
                    assert!(values.capacity() <= bytes.len());
                }
            }
        });
    }
}
