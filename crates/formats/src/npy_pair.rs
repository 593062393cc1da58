//! Labelled codes from two `.npy` files: codes `[rows, latents]` in one, factors `[rows, factors]` in the other.

use std::path::Path;

use unbraid_data::error::Result;
use unbraid_data::factor_array::{factor_array, rows_and_factors};
use unbraid_data::factor_kinds::{FactorKinds, factor_space};
use unbraid_data::labelled_codes::{Extras, LabelledCodes, check_sizes};
use unbraid_data::npy::{read_announced, read_file, read_table};

use crate::memory_limit::MemoryLimit;
use crate::npz::rows_and_latents;

/// Reads codes and factors; the factors are called `factor_0`, `factor_1` and so on.
pub fn read_labelled_codes(
    codes: &Path,
    factors: &Path,
    kinds: &FactorKinds,
    limit: MemoryLimit,
) -> Result<LabelledCodes> {
    check_announced(codes, factors, limit)?;
    let table = read_table(codes)?;
    let read = factor_array(&read_file(factors)?, None, None, kinds).map_err(|error| error.at(factors.display()))?;
    let mut labels = read.values;
    let space = factor_space(&mut labels, read.stated, kinds).map_err(|error| error.at(factors.display()))?;
    let extras = Extras { text_factors: read.texts, ..Extras::default() };
    LabelledCodes::new(table, labels, space, extras).map_err(|error| error.at(both(codes, factors)))
}

/// Compares the shapes that the files announce with each other and with the limit, before either is read.
fn check_announced(codes: &Path, factors: &Path, limit: MemoryLimit) -> Result<()> {
    let (code_array, factor_array) = (read_announced(codes)?, read_announced(factors)?);
    let code_sizes = rows_and_latents(&code_array.shape).map_err(|error| error.at(codes.display()))?;
    let factor_sizes = rows_and_factors(&factor_array.shape).map_err(|error| error.at(factors.display()))?;
    check_sizes(code_sizes, factor_sizes)
        .and_then(|()| limit.check(code_array.memory() + factor_array.memory()))
        .map_err(|error| error.at(both(codes, factors)))
}

/// Both files as the place of an error.
fn both(codes: &Path, factors: &Path) -> String {
    format!("{} with {}", codes.display(), factors.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::tempdir;
    use unbraid_data::npy::write_header;

    use super::*;

    #[test]
    fn a_pair_is_read_and_its_rows_are_counted() {
        let folder = tempdir().unwrap();
        let write = |name: &str, descr: &str, shape: &[usize], data: Vec<u8>| {
            let path = folder.path().join(name);
            let mut file = Vec::new();
            write_header(&mut file, descr, shape).unwrap();
            file.extend(data);
            fs::write(&path, file).unwrap();
            path
        };
        let codes = write("codes.npy", "<f4", &[2, 1], [0.5_f32, 2.5].iter().flat_map(|v| v.to_le_bytes()).collect());
        let factors = write("factors.npy", "|u1", &[2, 1], vec![1, 0]);
        let data = read_labelled_codes(&codes, &factors, &FactorKinds::default(), MemoryLimit::default()).unwrap();
        assert_eq!(data.codes().column(0).to_vec(), [0.5, 2.5]);
        assert_eq!(data.space().grid_sizes().unwrap(), [2]);
        let short = write("short.npy", "|u1", &[1, 1], vec![0]);
        let message = read_labelled_codes(&codes, &short, &FactorKinds::default(), MemoryLimit::default())
            .unwrap_err()
            .to_string();
        assert!(message.ends_with("codes have 2 rows but factors have 1"), "{message}");
        assert!(message.contains("codes.npy with ") && message.contains("short.npy: "), "{message}");
        let limit = MemoryLimit::gigabytes(1e-9).unwrap();
        let message = read_labelled_codes(&codes, &factors, &FactorKinds::default(), limit).unwrap_err().to_string();
        assert!(message.contains("factors.npy: would take 0 MB of memory, above the limit"), "{message}");
        let text = write("text.npy", "|S2", &[2], b"b\0a\0".to_vec());
        let limit = MemoryLimit::default();
        let data = read_labelled_codes(&codes, &text, &FactorKinds::default(), limit).unwrap();
        assert_eq!(data.factors().column(0).to_vec(), [1.0, 0.0]);
        assert_eq!((data.extras().text_factors.as_slice(), data.n_factors()), (&[0][..], 1));
        let absurd = write("absurd.npy", "<f8", &[0, usize::MAX], Vec::new());
        let message = read_labelled_codes(&absurd, &factors, &FactorKinds::default(), limit).unwrap_err().to_string();
        assert!(message.contains("absurd.npy: an array of shape [0, "), "{message}");
    }
}
