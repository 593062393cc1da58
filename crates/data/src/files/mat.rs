//! Variables of MATLAB's MAT-files of level 5, as much as the published files of Cars3D need: arrays of class uint8.
//!
//! The format is MathWorks' "MAT-File Format": a header of 128 bytes whose last two tell the byte order, then elements
//! that each begin with a type and a number of bytes. A variable is an element of type miMATRIX, most often inside one
//! of type miCOMPRESSED, which is a zlib stream. This reader is our own, rather than the crate `matfile`, because sizes
//! have to be checked before memory is taken for them.
//!
//! Variables other than the one that is wanted are passed over after their names, so that their classes do not matter.

mod element;
mod listing;
mod variable;

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::ZlibDecoder;

use super::announced::{array_bytes, cause, check_allowed, check_left, expect_end, read_bytes, read_field};
use super::inflated::{Inflated, most_inflated};
use crate::error::{Error, Result, did_you_mean};
use crate::file_errors::check_is_file;
use crate::files::hdf5;
use crate::npy::open_file;
pub use listing::{MatVariable, list_variables};

use element::{ByteOrder, COMPRESSED, INT8, MATRIX, Tag, UINT8};
use variable::Variable;

const HEADER_BYTES: u64 = 128;
/// Variables that the error names where the wanted one is not there.
const MOST_NAMED: usize = 20;
/// What to do about a file or variable of a kind that is not read.
const SAVE_AS: &str = "save it again: in MATLAB save(file, 'name', '-v7') of a uint8 array, \
                       in Python scipy.io.savemat(file, {'name': array.astype('uint8')})";

/// A variable of class uint8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatArray {
    /// What the file calls it.
    pub name: String,
    /// The size along each axis.
    pub shape: Vec<usize>,
    /// The values as they are stored: column-major, so that the first axis changes fastest.
    pub bytes: Vec<u8>,
}

/// Reads the variable called `name`, whose values may take up to `most_bytes`.
pub fn read_mat(path: &Path, name: &str, most_bytes: usize) -> Result<MatArray> {
    check_is_file(path)?;
    let (file, n_bytes) = open_file(path)?;
    read_mat_from(BufReader::new(file), n_bytes, name, most_bytes).map_err(|error| error.at(path.display()))
}

/// Reads the variable called `name` from a file of `n_bytes` that `reader` gives.
pub fn read_mat_from(mut reader: impl BufRead, n_bytes: u64, name: &str, most_bytes: usize) -> Result<MatArray> {
    let order = read_file_header(&mut reader)?;
    let mut left = n_bytes.saturating_sub(HEADER_BYTES);
    let mut others = Others::default();
    while left > 0 {
        let tag = read_variable_tag(&mut reader, order, &mut left)?;
        let element_bytes = u64::from(tag.n_bytes);
        let mut element = reader.by_ref().take(element_bytes);
        let found = match tag.kind {
            COMPRESSED => read_compressed(&mut element, order, name, most_bytes)?,
            _ => read_variable(&mut element, order, name, most_bytes)?,
        };
        match found {
            Found::Wanted(array) => return Ok(array),
            Found::Other(name) => others.add(name),
        }
        // What the names were read of is passed over without being inflated.
        io::copy(&mut element, &mut io::sink()).map_err(cause)?;
        left -= element_bytes;
    }
    Err(others.without(name))
}

/// The tag of the next variable, whose bytes must fit the `left` ones that follow it.
fn read_variable_tag(reader: &mut impl Read, order: ByteOrder, left: &mut u64) -> Result<Tag> {
    let tag = Tag::read(reader, order, "the tag of a variable")?;
    *left = left.saturating_sub(Tag::N_BYTES);
    if tag.small.is_some() || !matches!(tag.kind, COMPRESSED | MATRIX) {
        let message = format!("wanted a variable (miMATRIX or miCOMPRESSED), found {}", tag.name());
        return Err(Error::new(message).help("the file is damaged: copy or download it again"));
    }
    if u64::from(tag.n_bytes) > *left {
        return Err(announced_too_many(u64::from(tag.n_bytes), &left.to_string()));
    }
    Ok(tag)
}

enum Found {
    Wanted(MatArray),
    /// The name of another variable, empty where it has none.
    Other(String),
}

/// Reads a file's header, and tells the kinds of MAT-files apart.
fn read_file_header(reader: &mut impl Read) -> Result<ByteOrder> {
    // Files of level 4 can be shorter than this header, so that its first bytes are looked at on their own.
    let start: [u8; 8] = read_field(reader, "the header of a MAT-file")?;
    if start == *hdf5::SIGNATURE {
        return Err(Error::new("is an HDF5 file, wanted a MAT-file of level 5").help(SAVE_AS));
    }
    if is_level_4([start[0], start[1], start[2], start[3]]) {
        return Err(Error::new("is a MAT-file of level 4, wanted one of level 5").help(SAVE_AS));
    }
    let rest: [u8; 120] = read_field(reader, "the header of a MAT-file")?;
    let [.., version_start, version_end, mark_start, mark_end] = rest;
    let (order, version) = match &[mark_start, mark_end] {
        b"IM" => (ByteOrder::Little, u16::from_le_bytes([version_start, version_end])),
        b"MI" => (ByteOrder::Big, u16::from_be_bytes([version_start, version_end])),
        [first, second] => {
            let message = format!(
                "is not a MAT-file: wanted the endian mark IM or MI at byte 126, found {first:#04x} {second:#04x}"
            );
            return Err(Error::new(message).help("name a file that MATLAB or scipy.io.savemat wrote"));
        }
    };
    match version {
        0x0100 => Ok(order),
        0x0200 => Err(Error::new("is a MAT-file of version 7.3 (HDF5), wanted one of level 5").help(SAVE_AS)),
        _ => Err(Error::new(format!("wanted version 0x0100 of the MAT-file, found {version:#06x}")).help(SAVE_AS)),
    }
}

/// Whether a file begins like one of level 4: with a number whose decimal digits, at most four, each tell something.
fn is_level_4(start: [u8; 4]) -> bool {
    // A file of level 5 begins with a text, in which there are no zeros.
    let is_code = |code: u32| code <= 4_052 && (code / 100).is_multiple_of(10) && code / 10 % 10 <= 5 && code % 10 <= 2;
    is_code(u32::from_le_bytes(start)) || is_code(u32::from_be_bytes(start))
}

/// Inflates a variable as far as it is wanted.
fn read_compressed(
    element: &mut io::Take<impl BufRead>,
    order: ByteOrder,
    name: &str,
    most_bytes: usize,
) -> Result<Found> {
    let most_inflated = most_inflated(element.limit());
    let mut inflated = Inflated::new(ZlibDecoder::new(element), "the compressed stream of a variable");
    let body_bytes = read_inner_tag(&mut inflated, order, most_inflated)?;
    let found = read_variable(&mut inflated.by_ref().take(body_bytes), order, name, most_bytes)?;
    if let Found::Wanted(_) = found {
        expect_end(&mut inflated, "a compressed variable")?;
    }
    Ok(found)
}

/// The bytes of the variable that a compressed one inflates to, of which there can be `most_inflated`.
fn read_inner_tag(inflated: &mut impl Read, order: ByteOrder, most_inflated: u64) -> Result<u64> {
    let tag = Tag::read(inflated, order, "the tag of a compressed variable")?;
    if tag.kind != MATRIX || tag.small.is_some() {
        let message = format!("wanted miMATRIX inside miCOMPRESSED, found {}", tag.name());
        return Err(Error::new(message).help("the file is damaged: copy or download it again"));
    }
    let body_bytes = u64::from(tag.n_bytes);
    if body_bytes > most_inflated {
        return Err(announced_too_many(body_bytes, &format!("at most {most_inflated} can")));
    }
    Ok(body_bytes)
}

/// Reads a variable from its `body`, the values only where it is called `name`.
fn read_variable(body: &mut io::Take<impl Read>, order: ByteOrder, name: &str, most_bytes: usize) -> Result<Found> {
    let variable = Variable::read(body, order)?;
    if variable.name != name {
        return Ok(Found::Other(variable.name));
    }
    let array = read_values(body, order, variable, most_bytes);
    array.map(Found::Wanted).map_err(|error| error.at(format!("variable \"{name}\"")))
}

/// Reads the values of a variable, of which the rest of `body` consists.
fn read_values(body: &mut io::Take<impl Read>, order: ByteOrder, variable: Variable, most: usize) -> Result<MatArray> {
    let class = variable.class_name();
    if class != "uint8" {
        return Err(Error::new(format!("wanted an array of class uint8, found {class}")).help(SAVE_AS));
    }
    let Variable { name, shape, .. } = variable;
    let wanted = array_bytes(&shape, 1)?;
    check_allowed(&shape, wanted, most as u64)?;
    check_left(&shape, wanted, body.limit())?;
    let tag = Tag::read(body, order, "the tag of the values")?;
    // Writers choose the smallest type that holds all values: bytes with a sign are as small.
    if !matches!(tag.kind, UINT8 | INT8) {
        let message = format!("wanted values of type miUINT8 in an array of class uint8, found {}", tag.name());
        return Err(Error::new(message).help(SAVE_AS));
    }
    if tag.n_bytes as usize != wanted {
        let message = format!("wanted {wanted} bytes of values for shape {shape:?}, found {}", tag.n_bytes);
        return Err(Error::new(message).help("the file is damaged: copy or download it again"));
    }
    let bytes = match tag.small {
        Some(small) => small[..wanted].to_vec(),
        None => read_bytes(body, wanted, "the values")?,
    };
    if tag.kind == INT8 && bytes.iter().any(|byte| *byte > 127) {
        return Err(Error::new("wanted values from 0 to 255, found a negative one").help(SAVE_AS));
    }
    // Up to seven bytes fill the values up to a multiple of eight.
    let over = body.limit();
    if over >= 8 {
        return Err(Error::new(format!("wanted the end after the values, found {over} more bytes"))
            .help("the file is damaged: copy or download it again"));
    }
    read_bytes(body, over as usize, "the padding after the values")?;
    Ok(MatArray { name, shape, bytes })
}

fn announced_too_many(n_bytes: u64, found: &str) -> Error {
    Error::new(format!("a variable of {n_bytes} bytes was announced, but {found} follow"))
        .help("the file is cut short or damaged: copy or download it again")
}

/// The variables that are there where the wanted one is not.
#[derive(Default)]
struct Others {
    /// The first of them.
    names: Vec<String>,
    n_more: usize,
}

impl Others {
    fn add(&mut self, name: String) {
        // MATLAB keeps what belongs to its objects in variables without names.
        match name.as_str() {
            "" => (),
            _ if self.names.len() < MOST_NAMED => self.names.push(name),
            _ => self.n_more += 1,
        }
    }

    /// The error where `name` is not among them.
    fn without(&self, name: &str) -> Error {
        let meant = did_you_mean(name, self.names.iter().map(String::as_str));
        let mut list = self.names.iter().map(|other| format!("\"{other}\"")).collect::<Vec<_>>().join(", ");
        if self.n_more > 0 {
            list += &format!(" and {} more", self.n_more);
        }
        let help = if list.is_empty() { "it holds no variable".to_string() } else { format!("it holds {list}") };
        Error::new(format!("no variable is called \"{name}\"{meant}")).help(help)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::element::{INT32, UINT32};
    use super::*;
    use crate::files::damaged::for_each_damaged;

    const MOST: usize = 1000;
    const INT16: u32 = 3;

    fn header(version: u16, mark: &[u8; 2]) -> Vec<u8> {
        let mut bytes = b"MATLAB 5.0 MAT-file, made by hand".to_vec();
        bytes.resize(124, b' ');
        bytes.extend(if mark == b"IM" { version.to_le_bytes() } else { version.to_be_bytes() });
        bytes.extend(mark);
        bytes
    }

    fn element(kind: u32, bytes: &[u8]) -> Vec<u8> {
        let mut element = [kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
        element.extend(bytes);
        if kind != COMPRESSED {
            element.resize(element.len().next_multiple_of(8), 0);
        }
        element
    }

    fn small(kind: u32, bytes: &[u8]) -> Vec<u8> {
        let mut element = ((bytes.len() as u32) << 16 | kind).to_le_bytes().to_vec();
        element.extend(bytes);
        element.resize(8, 0);
        element
    }

    /// The body of a variable: its flags and class, sizes, name, and the element of its values.
    fn body(flags: u32, sizes: &[i32], name: &str, values: &[u8]) -> Vec<u8> {
        let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        let flags = [flags.to_le_bytes(), [0; 4]].concat();
        [element(UINT32, &flags), element(INT32, &sizes), element(INT8, name.as_bytes()), values.to_vec()].concat()
    }

    fn variable(flags: u32, sizes: &[i32], name: &str, values: &[u8]) -> Vec<u8> {
        element(MATRIX, &body(flags, sizes, name, values))
    }

    fn compressed(bytes: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(bytes).unwrap();
        element(COMPRESSED, &encoder.finish().unwrap())
    }

    fn file(variables: &[Vec<u8>]) -> Vec<u8> {
        [header(0x0100, b"IM"), variables.concat()].concat()
    }

    /// A 2 x 3 variable called "im".
    fn images() -> Vec<u8> {
        variable(9, &[2, 3], "im", &element(UINT8, b"abcdef"))
    }

    fn read(file: &[u8]) -> Result<MatArray> {
        read_mat_from(file, file.len() as u64, "im", MOST)
    }

    fn message(file: &[u8]) -> String {
        read(file).unwrap_err().to_string()
    }

    /// What is wrong with the only variable of a file, plain and compressed.
    fn wrong(variable: &[u8]) -> String {
        let plain = message(&file(&[variable.to_vec()]));
        assert_eq!(message(&file(&[compressed(variable, 6)])), plain);
        plain
    }

    #[test]
    fn variables_are_read_plain_and_compressed() {
        let wanted = MatArray { name: "im".into(), shape: vec![2, 3], bytes: b"abcdef".to_vec() };
        assert_eq!(read(&file(&[images()])).unwrap(), wanted);
        assert_eq!(read(&file(&[compressed(&images(), 9)])).unwrap(), wanted);
        assert_eq!(read(&file(&[compressed(&images(), 0)])).unwrap(), wanted);
        // Others come before and after it, of classes that could not be read.
        let cells = variable(1, &[1, 1], "names", &variable(4, &[1, 1], "", &small(UINT8, b"x")));
        let opaque = element(MATRIX, &[element(UINT32, &[17, 0, 0, 0, 0, 0, 0, 0]), small(INT8, b"obj")].concat());
        let several = [cells.clone(), compressed(&cells, 6), opaque, images(), variable(6, &[1, 1], "x", &[])];
        assert_eq!(read(&file(&several)).unwrap(), wanted);
    }

    #[test]
    fn small_empty_and_signed_values_are_read() {
        let bytes = |sizes: &[i32], values: &[u8]| read(&file(&[variable(9, sizes, "im", values)])).unwrap().bytes;
        assert_eq!(bytes(&[1, 3], &small(UINT8, &[1, 2, 255])), [1, 2, 255]);
        assert_eq!(bytes(&[2, 2, 1, 1, 2], &element(UINT8, &[8; 8])), [8; 8]);
        assert_eq!(bytes(&[0, 3], &element(UINT8, &[])), b"");
        assert_eq!(bytes(&[1, 2], &small(INT8, &[0, 127])), [0, 127]);
        let negative = wrong(&variable(9, &[1, 2], "im", &small(INT8, &[0, 128])));
        assert!(negative.starts_with("variable \"im\": wanted values from 0 to 255, found a negative one\n"));
    }

    #[test]
    fn big_endian_files_are_read() {
        let mut file = header(0x0100, b"MI");
        let words: [u32; 12] = [MATRIX, 48, UINT32, 8, 9, 0, INT32, 8, 1, 2, 2 << 16 | INT8, 0x696d_0000];
        words.iter().for_each(|word| file.extend(word.to_be_bytes()));
        file.extend([0, 2, 0, 2, 5, 6, 0, 0]);
        assert_eq!(read(&file).unwrap(), MatArray { name: "im".into(), shape: vec![1, 2], bytes: vec![5, 6] });
    }

    #[test]
    fn a_name_that_is_not_there_lists_those_that_are() {
        let other = |name: &str| variable(9, &[1, 1], name, &small(UINT8, &[1]));
        let several = file(&[other("Im"), other(""), compressed(&other("depth"), 6)]);
        assert_eq!(
            message(&several),
            "no variable is called \"im\"; did you mean \"Im\"?\n       it holds \"Im\", \"depth\""
        );
        assert_eq!(message(&file(&[])), "no variable is called \"im\"\n       it holds no variable");
        let many: Vec<Vec<u8>> = (0..23).map(|number| other(&format!("variable_{number}"))).collect();
        assert!(message(&file(&many)).ends_with("\"variable_19\" and 3 more"));
    }

    #[test]
    fn classes_are_refused_by_name() {
        let values = element(9, &[0; 8]);
        for (flags, class) in [
            (1, "cell"),
            (2, "struct"),
            (3, "object"),
            (4, "char"),
            (5, "sparse"),
            (6, "double"),
            (7, "single"),
            (8, "int8"),
            (0x0209, "logical"),
            (0x0809, "complex uint8"),
            (0x0806, "complex double"),
            (10, "int16"),
            (11, "uint16"),
            (12, "int32"),
            (13, "uint32"),
            (14, "int64"),
            (15, "uint64"),
            (16, "function"),
            (99, "the unknown class 99"),
        ] {
            let message = wrong(&variable(flags, &[1, 1], "im", &values));
            let wanted = format!("variable \"im\": wanted an array of class uint8, found {class}\n");
            assert!(message.starts_with(&wanted), "{message}");
        }
        let opaque = element(MATRIX, &[element(UINT32, &[17, 0, 0, 0, 0, 0, 0, 0]), small(INT8, b"im")].concat());
        assert!(wrong(&opaque).contains("found opaque\n"));
        let message = wrong(&variable(9, &[1, 1], "im", &element(INT16, &[1, 0])));
        assert!(message.contains("wanted values of type miUINT8 in an array of class uint8, found miINT16\n"));
    }

    #[test]
    fn other_kinds_of_files_are_refused_by_name() {
        let of_version = |version| message(&header(version, b"IM"));
        assert!(of_version(0x0200).starts_with("is a MAT-file of version 7.3 (HDF5), wanted one of level 5\n"));
        assert!(of_version(0x0300).starts_with("wanted version 0x0100 of the MAT-file, found 0x0300\n"));
        assert!(message(&header(0x0200, b"MI")).contains("version 7.3"));
        assert!(message(b"\x89HDF\r\n\x1a\n and more").starts_with("is an HDF5 file"));
        // Level 4 begins with 1000 (big-endian doubles), 0 (little-endian doubles) or 50 (little-endian bytes).
        for start in [b"\0\0\x03\xe8\0\0\0\x01", b"\0\0\0\0\x01\0\0\0", b"\x32\0\0\0\x01\0\0\0"] {
            assert!(message(start).starts_with("is a MAT-file of level 4, wanted one of level 5\n"));
        }
        let foreign = [header(0x0100, b"IM")[..126].to_vec(), b"PK".to_vec()].concat();
        assert!(message(&foreign).contains("wanted the endian mark IM or MI at byte 126, found 0x50 0x4b\n"));
        let top = |kind| message(&file(&[element(kind, &[0; 8])]));
        assert!(top(6).starts_with("wanted a variable (miMATRIX or miCOMPRESSED), found miUINT32\n"));
        assert!(top(8).contains("found the unknown type 8\n"));
        assert!(message(&file(&[small(MATRIX, &[0])])).contains("found a small miMATRIX\n"));
        let inside = compressed(&element(UINT8, &[0; 8]), 6);
        assert!(message(&file(&[inside])).starts_with("wanted miMATRIX inside miCOMPRESSED, found miUINT8\n"));
    }

    #[test]
    fn files_that_are_cut_short_are_refused_wherever_they_are_cut() {
        for whole in [file(&[images()]), file(&[images(), compressed(&images(), 6)])] {
            for n_bytes in 0..whole.len() {
                // Whether or not the length is known, and whichever variable is wanted.
                let cut = &whole[..n_bytes];
                assert!(read_mat_from(cut, n_bytes as u64, "none", MOST).is_err());
                assert!(read_mat_from(cut, whole.len() as u64, "none", MOST).is_err());
                if n_bytes < file(&[images()]).len() {
                    assert!(read_mat_from(cut, n_bytes as u64, "im", MOST).is_err());
                    assert!(read_mat_from(cut, whole.len() as u64, "im", MOST).is_err());
                }
            }
        }
        let stream = &compressed(&images(), 6)[8..];
        for n_bytes in 0..stream.len() {
            let message = message(&file(&[element(COMPRESSED, &stream[..n_bytes])]));
            assert!(message.contains("the compressed stream of a variable is cut short\n"), "{n_bytes}: {message}");
        }
        let whole = file(&[images()]);
        let at = |n_bytes| message(&whole[..n_bytes]);
        assert!(at(5).starts_with("is cut short: wanted 8 bytes of the header of a MAT-file, found 5\n"));
        assert!(at(130).starts_with("is cut short: wanted 8 bytes of the tag of a variable, found 2\n"));
        assert!(at(140).starts_with("a variable of 64 bytes was announced, but 4 follow\n"));
    }

    #[test]
    fn fields_that_are_wrong_are_named() {
        let image = element(UINT8, b"abcdef");
        let of_shape = |sizes: &[i32]| wrong(&variable(9, sizes, "im", &image));
        assert!(of_shape(&[2, 4]).contains("wanted 8 bytes of values for shape [2, 4], found 6\n"));
        assert!(of_shape(&[2, -3]).starts_with("wanted a size from 0 along axis 1 of a variable, found -3\n"));
        assert!(of_shape(&[1001, 1]).contains("shape [1001, 1] was announced, 1001 bytes, above the 1000 allowed\n"));
        assert!(of_shape(&[i32::MAX; 3]).contains("which no memory holds"));
        assert!(of_shape(&[0, i32::MAX, i32::MAX, i32::MAX]).contains("which no memory holds"));
        assert!(of_shape(&[]).starts_with("wanted 4 bytes for each axis of a variable, found 0 in all\n"));
        assert!(of_shape(&[1; 33]).starts_with("wanted at most 128 bytes of the shape of a variable, found 132\n"));
        let long = wrong(&variable(9, &[2, 3], &"m".repeat(1025), &image));
        assert!(long.starts_with("wanted at most 1024 bytes of the name of a variable, found 1025\n"));
        let no_flags = wrong(&element(MATRIX, &element(INT32, &[0; 8])));
        assert!(no_flags.starts_with("wanted the flags of a variable of type miUINT32, found miINT32\n"));
        let few_flags = wrong(&element(MATRIX, &small(UINT32, &[9, 0])));
        assert!(few_flags.starts_with("wanted 8 bytes of the flags of a variable, found 2\n"));
        let large = wrong(&element(MATRIX, &[6, 0, 5, 0, 0, 0, 0, 0]));
        assert!(large.starts_with("wanted at most 4 bytes in the flags of a variable, found 5\n"));
        let over = wrong(&variable(9, &[2, 3], "im", &[image, vec![0; 8]].concat()));
        assert!(over.contains("wanted the end after the values, found 10 more bytes\n"), "{over}");
    }

    #[test]
    fn wrong_checksums_are_refused() {
        let mut file = file(&[compressed(&images(), 6)]);
        *file.last_mut().unwrap() ^= 1;
        assert!(message(&file).contains("the compressed stream of a variable is damaged: "));
    }

    #[test]
    fn streams_that_inflate_to_far_more_are_stopped() {
        let zeros = vec![0; 1 << 25];
        let bomb = |sizes: &[i32]| message(&file(&[compressed(&variable(9, sizes, "im", &element(UINT8, &zeros)), 9)]));
        assert!(bomb(&[1 << 25, 1]).contains("33554432 bytes, above the 1000 allowed\n"));
        assert!(bomb(&[10, 1]).contains("wanted 10 bytes of values for shape [10, 1], found 33554432\n"));
        // What is announced is more than the stream can hold, or than the variable does.
        let announced = |n_bytes: u32| [MATRIX.to_le_bytes(), n_bytes.to_le_bytes()].concat();
        let huge = compressed(&[announced(u32::MAX), images()[8..].to_vec()].concat(), 9);
        let most = (huge.len() - 8) * 1032;
        let wanted = format!("a variable of 4294967295 bytes was announced, but at most {most} can follow\n");
        assert!(message(&file(&[huge])).starts_with(&wanted));
        let large = wrong(&variable(9, &[5, 100], "im", &element(UINT8, b"abcdef")));
        assert!(large.contains("shape [5, 100] was announced, 500 bytes, but at most 16 can follow\n"));
        // The variable is as announced, and is followed by more.
        let followed = compressed(&[images(), zeros].concat(), 9);
        assert!(
            message(&file(&[followed])).starts_with("wanted the end after a compressed variable, found more bytes\n")
        );
    }

    #[test]
    fn damaged_files_are_errors_or_small_arrays() {
        let cells = variable(1, &[1, 1], "names", &variable(4, &[1, 1], "", &small(UINT8, b"x")));
        // In a stream that is stored, not compressed, damage reaches what is inside before the checksum is compared.
        let wholes = [
            file(&[images()]),
            file(&[cells.clone(), variable(9, &[1, 3], "im", &small(UINT8, &[1, 2, 3]))]),
            file(&[compressed(&cells, 9), compressed(&images(), 0)]),
            file(&[compressed(&images(), 9)]),
        ];
        // The texts of the headers would take most of the damage.
        let bodies: Vec<Vec<u8>> = wholes.iter().map(|whole| whole[124..].to_vec()).collect();
        let start = &wholes[0][..124];
        let mut n_read = 0;
        for_each_damaged("damaged mat", &bodies, |bytes| {
            if let Ok(array) = read(&[start, bytes].concat()) {
                assert!(array.bytes.capacity() <= MOST);
                assert_eq!(array.bytes.len(), array.shape.iter().product::<usize>());
                n_read += 1;
            }
        });
        assert!(n_read > 0);
    }
}
