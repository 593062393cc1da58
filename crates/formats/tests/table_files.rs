//! CSV and Parquet files that are cut at any byte, or of which any byte is changed.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

#[test]
fn a_panic_of_the_decoder_is_an_error_and_the_thread_says_that_it_was_reading() {
    let mut bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/zstd.parquet")).unwrap();
    // The column is then said to have a dictionary that is not there.
    bytes[311] ^= 0x80;
    let was_reading = Arc::new(AtomicBool::new(false));
    let (heard, usual) = (was_reading.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| match parquet::is_reading() {
        true => heard.store(true, Ordering::Relaxed),
        false => usual(panic),
    }));
    let message = read(".parquet", &bytes).unwrap_err().to_string();
    assert!(message.contains("is not a whole Parquet file"), "{message}");
    assert!(was_reading.load(Ordering::Relaxed) && !parquet::is_reading());
}
