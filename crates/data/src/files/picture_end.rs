//! Whether a picture has its end. Decoders make do without, and fill what is missing with grey.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use image::ImageFormat;

/// Bytes that are looked through for the end of a GIF, after which there may be zeros.
const TAIL_BYTES: u64 = 1 << 10;

/// The format of a picture, and whether it has the end that the format wants.
pub(super) fn look_for_end(path: &Path) -> io::Result<(ImageFormat, bool)> {
    let mut file = File::open(path)?;
    let n_bytes = file.metadata()?.len();
    let mut head = Vec::new();
    file.by_ref().take(32).read_to_end(&mut head)?;
    let format = image::guess_format(&head).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    file.rewind()?;
    let has_end = match format {
        ImageFormat::Png => png_has_end(&mut BufReader::new(file)),
        ImageFormat::Jpeg => jpeg_has_end(&mut BufReader::new(file)),
        ImageFormat::Gif => gif_has_end(&mut file, n_bytes),
        // The bytes that follow the first eight are announced in these.
        ImageFormat::WebP => Ok(u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]])) + 8 <= n_bytes),
        // Decoders want all of the others.
        _ => Ok(true),
    };
    match has_end {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok((format, false)),
        has_end => has_end.map(|has_end| (format, has_end)),
    }
}

/// Whether the chunks of a PNG go on to the last, IEND: a length, a name, as many bytes and a checksum each.
fn png_has_end(reader: &mut impl BufRead) -> io::Result<bool> {
    skip(reader, 8)?;
    loop {
        let (length, name): ([u8; 4], [u8; 4]) = (field(reader)?, field(reader)?);
        skip(reader, u64::from(u32::from_be_bytes(length)) + 4)?;
        if &name == b"IEND" {
            return Ok(true);
        }
    }
}

/// Whether a JPEG has the marker of its end after its first scan. Small pictures within its segments have one of their own.
fn jpeg_has_end(reader: &mut impl BufRead) -> io::Result<bool> {
    skip(reader, 2)?;
    loop {
        let mut marker = [0xff];
        while marker == [0xff] {
            marker = field(reader)?;
        }
        let length: [u8; 2] = match marker[0] {
            // Markers without a length.
            0x01 | 0xd0..=0xd8 => continue,
            0xd9 => return Ok(true),
            _ => field(reader)?,
        };
        skip(reader, u64::from(u16::from_be_bytes(length)).saturating_sub(2))?;
        if marker[0] == 0xda {
            break;
        }
    }
    let mut after_mark = false;
    loop {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Ok(false);
        }
        for &byte in piece {
            if after_mark && byte == 0xd9 {
                return Ok(true);
            }
            after_mark = byte == 0xff;
        }
        let n_bytes = piece.len();
        reader.consume(n_bytes);
    }
}

/// Whether a GIF ends with a semicolon, maybe with zeros after it.
fn gif_has_end(file: &mut File, n_bytes: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(n_bytes.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    Ok(tail.iter().rfind(|byte| **byte != 0) == Some(&b';'))
}

fn field<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn skip(reader: &mut impl Read, n_bytes: u64) -> io::Result<()> {
    let found = io::copy(&mut reader.take(n_bytes), &mut io::sink())?;
    if found == n_bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
