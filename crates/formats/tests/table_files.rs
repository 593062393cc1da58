//! CSV and Parquet files that are cut at any byte, or of which any byte is changed.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::io::Write;
use std::path::Path;

use unbraid_data::Result;
use unbraid_formats::columns::{Roles, Understood};
use unbraid_formats::{MemoryLimit, csv, parquet};

const TABLE: &str = "shape,z0,z1,angle,split\n\"a, b\",0.5,-1e3,.25,train\nheart,1,2,3,test\nheart,nan,2,1,train\n";

fn read(suffix: &str, bytes: &[u8]) -> Result<Understood> {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let read = if suffix == ".csv" { csv::read_labelled_codes } else { parquet::read_labelled_codes };
    read(file.path(), &Roles::default(), MemoryLimit::gigabytes(0.01).unwrap())
}

/// Every way to flip a bit, to clear a byte or to fill it, at every place.
fn damaged(whole: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let changes = (0..8).map(|bit| 1 << bit).chain([0x55, 0xff]);
    (0..whole.len()).flat_map(move |place| {
        changes.clone().map(move |change: u8| {
            let mut bytes = whole.to_vec();
            bytes[place] ^= change;
            bytes
        })
    })
}

#[test]
fn csv_that_is_cut_or_changed_never_panics() {
    let whole = TABLE.replace("nan", "0");
    assert!(read(".csv", whole.as_bytes()).is_ok());
    for text in [TABLE, &whole] {
        for n_bytes in 0..text.len() {
            let _ = read(".csv", &text.as_bytes()[..n_bytes]);
        }
        for bytes in damaged(text.as_bytes()) {
            let _ = read(".csv", &bytes);
        }
    }
}

#[test]
fn parquet_that_is_cut_or_changed_never_panics() {
    let whole = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/zstd.parquet")).unwrap();
    assert!(read(".parquet", &whole).is_ok());
    for n_bytes in 0..whole.len() {
        assert!(read(".parquet", &whole[..n_bytes]).is_err(), "{n_bytes} bytes of {}", whole.len());
    }
    for bytes in damaged(&whole) {
        let _ = read(".parquet", &bytes);
    }
}
