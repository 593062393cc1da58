//! A reader of compressed bytes whose errors say what is wrong with the stream.

use std::io::{self, Read};

use crate::error::Error;

/// The bytes that `n_bytes` can inflate to at most: deflate makes no more than 258 of two bits.
pub(super) fn most_inflated(n_bytes: u64) -> u64 {
    n_bytes.saturating_mul(258 * 8 / 2)
}

/// What `decoder` gives. Where the stream is cut short or damaged, the error names it.
pub(super) struct Inflated<R> {
    decoder: R,
    /// The name of the stream in messages.
    what: &'static str,
}

impl<R: Read> Inflated<R> {
    pub(super) fn new(decoder: R, what: &'static str) -> Self {
        Self { decoder, what }
    }
}

impl<R: Read> Read for Inflated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            // What the system says is passed on: it tells of the disk, or asks for another try.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let message = match error.kind() {
                io::ErrorKind::UnexpectedEof => format!("{} is cut short", self.what),
                _ => format!("{} is damaged: {error}", self.what),
            };
            io::Error::other(Error::new(message).help("copy or download the file again"))
        })
    }
}
