//! The kind of a file, by its first bytes; those of a gzipped file are looked at as they are inflated.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::Result;
use crate::file_errors::cannot_read;
use crate::files::announced::cause;
use crate::files::gzip;

/// Bytes that are looked at. The header of a tar archive, which has the longest, takes 512; a line of a table may be longer.
const HEAD_BYTES: u64 = 1 << 16;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Zip,
    Npy,
    Hdf5,
    /// Gzipped or not.
    Idx,
    /// Gzipped or not.
    SmallNorb,
    Mat,
    Parquet,
    Picture,
    /// With what lies between the cells.
    Csv(u8),
    /// Has to be unpacked first.
    Packed(&'static str),
    Empty,
    /// With what can be said all the same.
    Unknown(&'static str),
}

/// The kind of the file at `path`, which must be a regular file.
pub(super) fn of_file(path: &Path) -> Result<Kind> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.map_err(|error| cannot_read(path, &error))?;
    if !head.starts_with(&[0x1f, 0x8b]) {
        return Ok(of_head(&head));
    }
    let mut inflated = Vec::new();
    // Where the stream is cut, what comes before that tells the kind.
    let _ = gzip::open(path)?.reader.take(HEAD_BYTES).read_to_end(&mut inflated);
    Ok(match of_head(&inflated) {
        kind @ (Kind::Idx | Kind::SmallNorb) => kind,
        Kind::Packed(_) => Kind::Packed("a gzipped tar archive"),
        _ => Kind::Packed("a gzipped file"),
    })
}

/// Reads a plain or gzipped file to its end, where its checksum is compared.
pub(super) fn read_to_end(path: &Path) -> Result<()> {
    let mut reader = gzip::open(path)?.reader;
    io::copy(&mut reader, &mut io::sink()).map(|_| ()).map_err(|error| cause(error).at(path.display()))
}

fn of_head(head: &[u8]) -> Kind {
    match head {
        [] => Kind::Empty,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Kind::Zip,
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Kind::Npy,
        [0x89, b'H', b'D', b'F', b'\r', b'\n', 0x1a, b'\n', ..] => Kind::Hdf5,
        [b'P', b'A', b'R', b'1', ..] => Kind::Parquet,
        [0x51 | 0x53..=0x56, 0x4c, 0x3d, 0x1e, ..] => Kind::SmallNorb,
        // Two zeros, the type of the values, and the number of axes.
        [0, 0, 8 | 9 | 11..=14, 1..=8, ..] => Kind::Idx,
        _ if matches!(head.get(126..128), Some(b"IM" | b"MI")) || head.starts_with(b"MATLAB 5.0 MAT-file") => Kind::Mat,
        _ if head.get(257..262) == Some(b"ustar") => Kind::Packed("a tar archive"),
        _ => match image::guess_format(head) {
            Ok(format) if format.reading_enabled() => Kind::Picture,
            Ok(_) => Kind::Unknown("a picture of another format"),
            Err(_) => of_text(head),
        },
    }
}

/// A table, or text that is none, or something else.
fn of_text(head: &[u8]) -> Kind {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A letter may have been cut where the head ends.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or(""),
        Err(_) => return Kind::Unknown("binary"),
    };
    if text.chars().any(|letter| letter.is_control() && !letter.is_whitespace()) {
        return Kind::Unknown("binary");
    }
    let mut lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    let n_cells = |line: &str, delimiter: char| line.matches(delimiter).count();
    // Names of columns, and as many cells in the next line; quoted cells may hold more.
    let is_table = |delimiter: char| {
        n_cells(first, delimiter) > 0
            && second
                .is_none_or(|second| n_cells(second, delimiter) == n_cells(first, delimiter) || second.contains('"'))
    };
    match (is_table('\t'), is_table(',')) {
        (true, _) => Kind::Csv(b'\t'),
        (_, true) => Kind::Csv(b','),
        _ => Kind::Unknown("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_table_where_its_first_two_lines_have_as_many_cells() {
        assert_eq!(of_head(b"z0,z1,shape\n1,2,3\n"), Kind::Csv(b','));
        assert_eq!(of_head(b"z0\tsize, in m\n1\t2\n"), Kind::Csv(b'\t'));
        assert_eq!(of_head(b"name,size\n\"a, b\",2\n"), Kind::Csv(b','));
        assert_eq!(of_head("größe,ö\n1,2".as_bytes()), Kind::Csv(b','));
        assert_eq!(of_head(b"Dear reader,\nthere is a second line, and a third, too."), Kind::Unknown("text"));
        assert_eq!(of_head(b"202599\nSmiling Young"), Kind::Unknown("text"));
        assert_eq!(of_head(b"a,b\0"), Kind::Unknown("binary"));
        assert_eq!(of_head(b"\xff\xfe,"), Kind::Unknown("binary"));
        assert_eq!(of_head(b""), Kind::Empty);
    }
}
