//! Labelled codes from two `.npy` files: codes `[rows, latents]` in one, factors `[rows, factors]` in the other.

use std::path::Path;

use crate::error::Result;
use crate::factor_kinds::{FactorKinds, factor_space};
use crate::labelled_codes::{Extras, LabelledCodes};
use crate::npy::{read_file, read_table};
use crate::npz::{name_factors, stated_factors};

/// Reads codes and factors; the factors are called `factor_0`, `factor_1` and so on.
pub fn read_labelled_codes(codes: &Path, factors: &Path, kinds: &FactorKinds) -> Result<LabelledCodes> {
    let table = read_table(codes)?;
    let stored = read_file(factors)?;
    let mut labels = stored.to_table().map_err(|error| error.at(factors.display()))?;
    let stated = stated_factors(&stored, name_factors(None, labels.ncols())?, None)?;
    let space = factor_space(&mut labels, stated, kinds).map_err(|error| error.at(factors.display()))?;
    LabelledCodes::new(table, labels, space, Extras::default())
        .map_err(|error| error.at(format!("{} with {}", codes.display(), factors.display())))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::tempdir;

    use super::*;
    use crate::npy::write_header;

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
        let data = read_labelled_codes(&codes, &factors, &FactorKinds::default()).unwrap();
        assert_eq!(data.codes().column(0).to_vec(), [0.5, 2.5]);
        assert_eq!(data.space().grid_sizes().unwrap(), [2]);
        let short = write("short.npy", "|u1", &[1, 1], vec![0]);
        let message = read_labelled_codes(&codes, &short, &FactorKinds::default()).unwrap_err().to_string();
        assert!(message.ends_with("codes have 2 rows but factors have 1"), "{message}");
        assert!(message.contains("codes.npy with ") && message.contains("short.npy: "), "{message}");
    }
}
