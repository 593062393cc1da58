//! Files that may or may not be gzipped, which their first bytes tell, whatever their names.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::announced::cause;
use super::inflated::{Inflated, most_inflated};
use crate::error::Result;
use crate::file_errors::check_is_file;
use crate::npy::open_file;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const BUFFER_BYTES: usize = 1 << 16;

/// A file that is open for reading.
pub struct Opened {
    /// Gives its bytes, inflated where they are gzipped. It is an error where the stream is cut short, or where the
    /// checksum at the end of a gzip member, to which one has to read, is wrong.
    pub reader: Box<dyn Read + Send>,
    /// The bytes that the reader can give at most. A plain file gives exactly these.
    pub most_bytes: u64,
}

/// Opens a plain or gzipped file.
pub fn open(path: &Path) -> Result<Opened> {
    check_is_file(path)?;
    let (file, n_bytes) = open_file(path)?;
    opened(BufReader::with_capacity(BUFFER_BYTES, file), n_bytes).map_err(|error| error.at(path.display()))
}

/// Looks at the first bytes of what `reader` gives, which is `n_bytes` long.
pub fn opened(mut reader: impl BufRead + Send + 'static, n_bytes: u64) -> Result<Opened> {
    let mut start = Vec::new();
    reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).map_err(cause)?;
    let is_gzipped = start == MAGIC;
    let whole = io::Cursor::new(start).chain(reader);
    Ok(if is_gzipped {
        let reader = Box::new(Inflated::new(MultiGzDecoder::new(whole), "the gzip stream"));
        Opened { reader, most_bytes: most_inflated(n_bytes) }
    } else {
        Opened { reader: Box::new(whole), most_bytes: n_bytes }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::files::damaged::for_each_damaged;

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut opened = opened(io::Cursor::new(bytes.to_vec()), bytes.len() as u64)?;
        let mut all = Vec::new();
        opened.reader.read_to_end(&mut all).map_err(cause)?;
        assert!(all.len() as u64 <= opened.most_bytes);
        Ok(all)
    }

    #[test]
    fn plain_and_gzipped_bytes_come_out_the_same() {
        // Made by Python's gzip.compress(b"idx", mtime=0).
        let by_python = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcbL\xa9\x00\x00\x10~\x08\xe7\x03\x00\x00\x00";
        assert_eq!(read(by_python).unwrap(), b"idx");
        for whole in [&b""[..], b"\x1f", b"\x1fx", b"neither of these is gzipped"] {
            assert_eq!(read(whole).unwrap(), whole);
            assert_eq!(read(&gzipped(whole)).unwrap(), whole);
        }
        assert_eq!(read(&[gzipped(b"two "), gzipped(b""), gzipped(b"members")].concat()).unwrap(), b"two members");
    }

    #[test]
    fn zeros_reach_the_most_that_deflate_makes_of_them() {
        let zeros = vec![0; 1 << 20];
        let small = gzipped(&zeros);
        assert!(small.len() < zeros.len() / 900);
        assert_eq!(read(&small).unwrap(), zeros);
    }

    #[test]
    fn files_are_opened_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not_called_gz");
        std::fs::write(&path, gzipped(b"inside")).unwrap();
        let mut inside = String::new();
        open(&path).unwrap().reader.read_to_string(&mut inside).unwrap();
        assert_eq!(inside, "inside");
        assert!(
            open(&folder.path().join("none")).is_err_and(|error| error.to_string().starts_with("there is no file"))
        );
        assert!(open(folder.path()).is_err_and(|error| error.to_string().contains("is a folder")));
    }

    #[test]
    fn streams_that_are_cut_short_are_refused_wherever_they_are_cut() {
        let whole = [gzipped(b"the first member"), gzipped(b"the second member")].concat();
        let first = gzipped(b"the first member").len();
        for n_bytes in (2..whole.len()).filter(|&n_bytes| n_bytes != first) {
            let message = read(&whole[..n_bytes]).unwrap_err().to_string();
            assert!(message.starts_with("the gzip stream is cut short\n"), "{n_bytes}: {message}");
        }
    }

    #[test]
    fn wrong_checksums_lengths_and_what_is_left_over_are_refused() {
        let whole = gzipped(b"checked");
        for place in whole.len() - 8..whole.len() {
            let mut wrong = whole.clone();
            wrong[place] ^= 1;
            let message = read(&wrong).unwrap_err().to_string();
            assert!(message.starts_with("the gzip stream is damaged: "), "{message}");
            assert!(message.contains("checksum"), "{message}");
        }
        assert!(read(&[&whole[..], b"more than is told"].concat()).is_err());
    }

    #[test]
    fn damaged_streams_are_errors_or_bytes() {
        let wholes = [gzipped(b"the first member"), gzipped(&[0; 5000]), b"plain".to_vec(), gzipped(b"")];
        for_each_damaged("damaged gzip", &wholes, |bytes| {
            let _ = read(bytes);
        });
    }
}
