//! The `.npy` format of numpy: one array, a line that describes it and then its values.
//!
//! Read are booleans, whole numbers, 16 to 64 bit floats and text, in either byte order and either memory order.
//! Pickled objects are refused, since reading them means running the program inside. A description that does not fit
//! the size of the file is refused before anything is allocated for it.

mod decode;
mod file;
mod header;

use std::io::Read;

use ndarray::{Array2, Array3};

use crate::error::{Error, Result};

pub use decode::{float, half};
use decode::{row_major, unicode_text, unsigned};
pub use file::{
    Number, open_file, read_announced, read_file, read_indices, read_list, read_table, read_tables, write_file,
};
use header::{Header, describes_another_type, read_header, read_header_text};
pub use header::{Kind, MAGIC, write_header};

/// What a file says of its array, before any of the values is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announced {
    /// The size along each axis.
    pub shape: Vec<usize>,
    /// What it holds.
    pub kind: Kind,
    /// Bytes of an item.
    pub item_bytes: usize,
    /// Whether values are stored row by row, their least byte first.
    pub is_plain: bool,
    /// Bytes that come before the values.
    pub header_bytes: u64,
    /// How many bytes the values have as they are stored.
    n_bytes: usize,
}

impl Announced {
    /// Reads what is said of an array that takes `n_bytes` in all.
    pub fn read(mut reader: impl Read, n_bytes: u64) -> Result<Self> {
        let (header, header_bytes) = read_header(&mut reader)?;
        let n_bytes = value_bytes(&header, n_bytes.saturating_sub(header_bytes as u64))?;
        let Header { element, fortran_order, shape } = header;
        // A single byte has no order.
        let is_little_endian = !element.big_endian || element.item_bytes == 1;
        let is_plain = is_little_endian && !(fortran_order && shape.len() > 1);
        let header_bytes = header_bytes as u64;
        Ok(Self { shape, kind: element.kind, item_bytes: element.item_bytes, is_plain, header_bytes, n_bytes })
    }

    /// What numpy calls the type of the values: `uint8`, `float32`, `str`.
    pub fn type_name(&self) -> String {
        let bits = 8 * self.item_bytes;
        match self.kind {
            Kind::Bool => "bool".to_string(),
            Kind::Signed => format!("int{bits}"),
            Kind::Unsigned => format!("uint{bits}"),
            Kind::Float => format!("float{bits}"),
            Kind::Unicode => "str".to_string(),
            Kind::Bytes => "bytes".to_string(),
        }
    }

    /// The bytes that the array takes at most while it is read: as it is stored, beside its values as they are used.
    pub fn memory(&self) -> f64 {
        let n_items = self.shape.iter().product::<usize>() as f64;
        match self.kind {
            // A text beside its number, in memory of its own.
            Kind::Unicode | Kind::Bytes => 2.0 * self.n_bytes as f64 + n_items * 48.0,
            _ => self.n_bytes as f64 + n_items * 8.0,
        }
    }
}

/// An array as it was stored: its values are decoded when asked for.
#[derive(Debug, Clone)]
pub struct NpyArray {
    shape: Vec<usize>,
    kind: Kind,
    item_bytes: usize,
    /// Row-major and little-endian, whatever the file was.
    data: Vec<u8>,
}

impl NpyArray {
    /// Reads an array that takes `n_bytes` in all from `reader`.
    pub fn read(mut reader: impl Read, n_bytes: u64) -> Result<Self> {
        let (header, header_bytes) = read_header(&mut reader)?;
        let found = n_bytes.saturating_sub(header_bytes as u64);
        let wanted = value_bytes(&header, found)?;
        let Header { element, fortran_order, shape } = header;
        let mut data = Vec::new();
        // The byte too many makes an archive's reader come to its end, where it compares the checksum.
        reader.take(found + 1).read_to_end(&mut data).map_err(unreadable)?;
        if data.len() != wanted {
            return Err(Error::new(format!("an array of {wanted} bytes was announced, but {} follow", data.len()))
                .help("the file may be cut short or damaged: copy or save it again"));
        }
        if element.big_endian {
            let unit = if element.kind == Kind::Unicode { 4 } else { element.item_bytes };
            data.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
        }
        if fortran_order && shape.len() > 1 {
            data = row_major(&data, &shape, element.item_bytes);
        }
        Ok(Self { shape, kind: element.kind, item_bytes: element.item_bytes, data })
    }

    /// The size along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// What it holds.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it holds text.
    pub fn holds_text(&self) -> bool {
        matches!(self.kind, Kind::Unicode | Kind::Bytes)
    }

    /// The values of an array of bytes or booleans, row-major, without a copy.
    pub fn into_u8(self) -> Result<Vec<u8>> {
        match (self.kind, self.item_bytes) {
            (Kind::Bool | Kind::Unsigned, 1) => Ok(self.data),
            _ => Err(Error::new(format!("wanted bytes, found {}", self.describe_kind())).help("save it as uint8")),
        }
    }

    /// The values as floats, row-major.
    pub fn to_f64(&self) -> Result<Vec<f64>> {
        match self.kind {
            Kind::Float => Ok(self.items().map(float).collect()),
            Kind::Unsigned => Ok(self.items().map(|item| unsigned(item) as f64).collect()),
            Kind::Bool | Kind::Signed => Ok(self.items().map(|item| self.signed(item) as f64).collect()),
            Kind::Unicode | Kind::Bytes => Err(Error::new("wanted numbers, found text")),
        }
    }

    /// The values of an array of whole numbers, row-major.
    pub fn to_i64(&self) -> Result<Vec<i64>> {
        match self.kind {
            Kind::Bool | Kind::Signed => Ok(self.items().map(|item| self.signed(item)).collect()),
            Kind::Unsigned => self
                .items()
                .map(|item| {
                    i64::try_from(unsigned(item))
                        .map_err(|_| Error::new(format!("the whole number {} is too large", unsigned(item))))
                })
                .collect(),
            _ => Err(Error::new(format!("wanted whole numbers, found {}", self.describe_kind()))
                .help("save it as an integer array, for instance int64")),
        }
    }

    /// The values of an array of text.
    pub fn to_text(&self) -> Result<Vec<String>> {
        match self.kind {
            Kind::Unicode => self.items().map(unicode_text).collect(),
            Kind::Bytes => self
                .items()
                .map(|item| {
                    String::from_utf8(item.to_vec())
                        .map(|text| text.trim_end_matches('\0').to_string())
                        .map_err(|_| Error::new("text of bytes is not UTF-8"))
                })
                .collect(),
            _ => Err(Error::new(format!("wanted text, found {}", self.describe_kind()))),
        }
    }

    /// The values of a table, `[rows, columns]`, as floats.
    pub fn to_table(&self) -> Result<Array2<f64>> {
        let &[n_rows, n_columns] = self.shape.as_slice() else {
            return Err(Error::new(format!("wanted a table with two axes, found shape {:?}", self.shape)));
        };
        Ok(Array2::from_shape_vec((n_rows, n_columns), self.to_f64()?).expect("the shape was checked when read"))
    }

    /// The values of several tables of one shape, `[tables, rows, columns]`, as floats.
    pub fn to_tables(&self) -> Result<Array3<f64>> {
        let &[n_tables, n_rows, n_columns] = self.shape.as_slice() else {
            return Err(Error::new(format!("wanted tables with three axes in all, found shape {:?}", self.shape)));
        };
        let shape = (n_tables, n_rows, n_columns);
        Ok(Array3::from_shape_vec(shape, self.to_f64()?).expect("the shape was checked when read"))
    }

    fn items(&self) -> std::slice::ChunksExact<'_, u8> {
        self.data.chunks_exact(self.item_bytes)
    }

    fn signed(&self, item: &[u8]) -> i64 {
        match self.kind {
            Kind::Bool => i64::from(item[0] != 0),
            _ => {
                let unused_bits = 64 - 8 * item.len();
                ((unsigned(item) << unused_bits) as i64) >> unused_bits
            }
        }
    }

    fn describe_kind(&self) -> &'static str {
        match self.kind {
            Kind::Bool => "booleans",
            Kind::Signed | Kind::Unsigned => "whole numbers",
            Kind::Float => "floats",
            Kind::Unicode | Kind::Bytes => "text",
        }
    }
}

/// Whether `reader` gives the description of an array of a type that is not read, like pickled objects.
pub fn is_of_another_type(mut reader: impl Read) -> bool {
    read_header_text(&mut reader).is_ok_and(|(text, _)| describes_another_type(&text))
}

/// The bytes that the values take, which must be those that follow.
fn value_bytes(header: &Header, found: u64) -> Result<usize> {
    // An axis of 0 hides no absurd size along another: an array of that shape could not be made.
    let most = header.shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size.max(1)));
    let fits = most.and_then(|n_items| n_items.checked_mul(header.element.item_bytes.max(size_of::<f64>())));
    if fits.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Error::new(format!("an array of shape {:?} was announced, which no memory holds", header.shape))
            .help("the file may be damaged: copy or save it again"));
    }
    let wanted = header.shape.iter().product::<usize>() * header.element.item_bytes;
    if wanted as u64 != found {
        let shape = &header.shape;
        return Err(Error::new(format!("an array of shape {shape:?} was announced, but {found} bytes follow"))
            .help("the file may be cut short or damaged: copy or save it again"));
    }
    Ok(wanted)
}

/// The values of an array with one axis that holds whole numbers from 0.
pub fn indices(array: &NpyArray) -> Result<Vec<usize>> {
    if array.shape.len() != 1 {
        return Err(Error::new(format!("wanted one axis of whole numbers, found shape {:?}", array.shape))
            .help("in numpy, array.reshape(-1) puts all numbers along one"));
    }
    if array.kind == Kind::Bool {
        return Err(Error::new("wanted whole numbers, found a mask of true and false")
            .help("save the positions instead: numpy.flatnonzero(mask)"));
    }
    let negative = |value: i64| Error::new(format!("wanted whole numbers from 0, found {value}"));
    array.to_i64()?.into_iter().map(|value| usize::try_from(value).map_err(|_| negative(value))).collect()
}

/// The error for values that cannot be read.
#[expect(clippy::needless_pass_by_value, reason = "map_err hands over the error")]
pub fn unreadable(error: std::io::Error) -> Error {
    // What does not come from the system tells of damage: a stream that ends early, a checksum that differs.
    if error.raw_os_error().is_none() {
        return Error::new("is cut short or damaged").help("save it again; if it was copied, copy it again");
    }
    Error::new(format!("cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array as numpy would write it.
    fn read(descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Result<NpyArray> {
        let text = format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.as_bytes());
        file.extend(data);
        NpyArray::read(file.as_slice(), file.len() as u64)
    }

    fn numbers(descr: &str, data: &[u8], n_items: usize) -> Vec<f64> {
        read(&format!("'{descr}'"), "False", &format!("({n_items},)"), data).unwrap().to_f64().unwrap()
    }

    fn message(descr: &str, shape: &str, data: &[u8]) -> String {
        read(descr, "False", shape, data).unwrap_err().to_string()
    }

    #[test]
    fn every_number_type_is_decoded_in_both_byte_orders() {
        assert_eq!(numbers("|b1", &[0, 1], 2), [0.0, 1.0]);
        assert_eq!(numbers("|i1", &[0xff, 0x7f], 2), [-1.0, 127.0]);
        assert_eq!(numbers("<i2", &(-300_i16).to_le_bytes(), 1), [-300.0]);
        assert_eq!(numbers(">i4", &(-70_000_i32).to_be_bytes(), 1), [-70_000.0]);
        assert_eq!(numbers("<u8", &u64::MAX.to_le_bytes(), 1), [u64::MAX as f64]);
        assert_eq!(numbers(">f4", &1.5_f32.to_be_bytes(), 1), [1.5]);
        assert_eq!(numbers("<f8", &(-0.1_f64).to_le_bytes(), 1), [-0.1]);
        // 0x3e00 is 1.5, 0xc000 is -2, 0x0001 is the smallest, 2^-24, 0x7bff the largest, 65504.
        assert_eq!(
            numbers("<f2", &[0x00, 0x3e, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b], 4),
            [1.5, -2.0, 2.0_f64.powi(-24), 65_504.0]
        );
    }

    #[test]
    fn column_major_values_are_put_in_order() {
        let array = read("'|u1'", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]).unwrap();
        assert_eq!(array.into_u8().unwrap(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn text_is_decoded() {
        let letters: Vec<u8> = ['x', '\0', 'é', 'z'].iter().flat_map(|&letter| (letter as u32).to_le_bytes()).collect();
        assert_eq!(read("'<U2'", "False", "(2,)", &letters).unwrap().to_text().unwrap(), ["x", "éz"]);
        assert_eq!(read("'|S3'", "False", "(2,)", b"ab\0xyz").unwrap().to_text().unwrap(), ["ab", "xyz"]);
    }

    #[test]
    fn arrays_that_cannot_be_read_say_why() {
        assert!(message("'|O'", "(2,)", &[]).starts_with("pickled objects are not read"));
        assert!(message("'<c16'", "(1,)", &[0; 16]).starts_with("arrays of type \"<c16\" are not read"));
        assert!(message("'<U0'", "(999999999999,)", &[]).starts_with("arrays of type \"<U0\" are not read"));
        assert!(message("[('a', '<f4')]", "(1,)", &[0; 4]).starts_with("arrays with named fields are not read"));
        assert!(message("'<f4'", "(-1,)", &[]).starts_with("the array's description is not understood"));
        let huge = "(4294967296, 4294967296, 9)";
        assert!(message("'<f4'", huge, &[0; 4]).contains("was announced, which no memory holds"));
        assert!(message("'<f4'", "(2,)", &[0; 4]).starts_with("an array of shape [2] was announced, but 4 bytes"));
        let error = NpyArray::read(&b"PK\x03\x04 something else"[..], 20).unwrap_err();
        assert_eq!(error.to_string(), "is not an array of numpy (.npy)");
    }

    #[test]
    fn shapes_that_no_memory_holds_are_refused_whatever_follows() {
        for shape in [
            "(0, 18446744073709551615)",
            "(18446744073709551615, 0)",
            "(0, 4294967296, 4294967296)",
            "(1, 0, 1152921504606846976)",
        ] {
            assert!(message("'<f8'", shape, &[]).ends_with("copy or save it again"), "{shape}");
            assert!(message("'|u1'", shape, &[]).contains("was announced, which no memory holds"), "{shape}");
        }
        let empty = read("'<f8'", "True", "(0, 3)", &[]).unwrap();
        assert_eq!(empty.to_table().unwrap().dim(), (0, 3));
        assert_eq!(read("'<f8'", "False", "(2, 0, 3)", &[]).unwrap().to_tables().unwrap().dim(), (2, 0, 3));
    }

    #[test]
    fn what_is_announced_is_known_before_it_is_read() {
        let mut file = Vec::new();
        write_header(&mut file, "<f4", &[3, 2]).unwrap();
        // The values need not be there yet, but have to fit.
        let announced = Announced::read(file.as_slice(), file.len() as u64 + 24).unwrap();
        assert_eq!((announced.shape.as_slice(), announced.memory()), (&[3, 2][..], 24.0 + 48.0));
        assert!(Announced::read(file.as_slice(), file.len() as u64 + 23).is_err());
    }

    #[test]
    fn indices_are_whole_numbers_from_0_on_one_axis() {
        let of = |descr: &str, shape: &str, data: &[u8]| indices(&read(descr, "False", shape, data).unwrap());
        assert_eq!(of("'<i2'", "(2,)", &[3, 0, 0, 1]).unwrap(), [3, 256]);
        assert_eq!(of("'|i1'", "(1,)", &[0xff]).unwrap_err().to_string(), "wanted whole numbers from 0, found -1");
        assert!(
            of("'<f4'", "(1,)", &[0; 4]).unwrap_err().to_string().starts_with("wanted whole numbers, found floats")
        );
        assert!(of("'|u1'", "(1, 1)", &[0]).unwrap_err().to_string().contains("found shape [1, 1]"));
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![], vec![6], vec![2, 3]] {
            let n_items = shape.iter().product();
            let mut file = Vec::new();
            write_header(&mut file, "|u1", &shape).unwrap();
            assert_eq!(file.len() % 64, 0);
            file.extend(vec![7; n_items]);
            let array = NpyArray::read(file.as_slice(), file.len() as u64).unwrap();
            assert_eq!(array.shape(), shape);
            assert_eq!(array.into_u8().unwrap(), vec![7; n_items]);
        }
    }
}
