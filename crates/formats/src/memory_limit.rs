//! How much memory the tables of one input may take.
//!
//! A small compressed file can hold a table of any size, and a pipe one without end. What a table would take is reckoned
//! from the shapes that its file announces, or counted as it is read, and refused where it is above the limit.

use unbraid_data::error::{Error, Result};

const GIGABYTE: f64 = 1e9;

/// The most memory that the tables of one input may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryLimit {
    bytes: f64,
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self { bytes: Self::DEFAULT_GIGABYTES * GIGABYTE }
    }
}

impl MemoryLimit {
    /// Room for a million rows of a hundred latents; metrics take a few times as much again.
    pub const DEFAULT_GIGABYTES: f64 = 1.0;

    /// A limit of this many gigabytes, which is above 0.
    pub fn gigabytes(gigabytes: f64) -> Result<Self> {
        if gigabytes > 0.0 && gigabytes.is_finite() {
            return Ok(Self { bytes: gigabytes * GIGABYTE });
        }
        Err(Error::new(format!("--memory-limit is {gigabytes}")).help("wanted a number of gigabytes above 0"))
    }

    /// Refuses what would take more bytes than the limit.
    pub(crate) fn check(self, bytes: f64) -> Result<()> {
        if self.allows(bytes) { Ok(()) } else { Err(self.refusal(bytes)) }
    }

    /// Whether so many bytes are within the limit.
    pub(crate) fn allows(self, bytes: f64) -> bool {
        bytes <= self.bytes
    }

    /// The error for what would take so many bytes.
    pub(crate) fn refusal(self, bytes: f64) -> Error {
        // Rounded up, so that the limit it names is enough.
        let enough = (bytes / GIGABYTE * 10.0 + 1.0).ceil() / 10.0;
        Error::new(format!("would take {} of memory, above the limit of {}", in_units(bytes), in_units(self.bytes)))
            .help(format!("keep fewer rows; or, where there is as much memory, raise it: `--memory-limit {enough}`"))
    }
}

/// `2 GB`, `1.5 GB`, `40 MB`: to three digits.
fn in_units(bytes: f64) -> String {
    let (number, unit) = if bytes >= GIGABYTE { (bytes / GIGABYTE, "GB") } else { (bytes / 1e6, "MB") };
    let digits = if number >= 100.0 { 0 } else { 2 - number.max(1.0).log10().floor() as usize };
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_how_much_it_would_be_and_how_to_raise_the_limit() {
        let limit = MemoryLimit::default();
        assert_eq!(limit.check(1e9), Ok(()));
        let wanted = "would take 8.12 GB of memory, above the limit of 1 GB\n       keep fewer rows; or, where there is as \
                      much memory, raise it: `--memory-limit 8.3`";
        assert_eq!(limit.check(8.125e9).unwrap_err().to_string(), wanted);
        assert_eq!(MemoryLimit::gigabytes(8.3).unwrap().check(8.125e9), Ok(()));
    }

    #[test]
    fn a_limit_is_above_nothing() {
        for gigabytes in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(MemoryLimit::gigabytes(gigabytes).is_err());
        }
    }

    #[test]
    fn sizes_have_three_digits() {
        let found = [2e9, 1.25e9, 1.2e13, 4e7, 123_456.0].map(in_units);
        assert_eq!(found, ["2 GB", "1.25 GB", "12000 GB", "40 MB", "0.12 MB"]);
    }
}
