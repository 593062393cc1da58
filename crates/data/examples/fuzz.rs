//! Feeds damaged files to the readers of this crate, on all threads:
//!
//!     cargo run --release -p unbraid-data --example fuzz -- [TARGET...] [--inputs N] [--seed S]
//!
//! Targets are `npy`, `npz`, `idx`, `small_norb`, `mat`, `picture`, `csv` and `npz_dataset`; all where none is named. Whole files
//! are those of `reference/datasets` and smaller ones of the same kinds. Told are panics, inputs that take long and memory that
//! grows; the first input of each kind is kept in the folder for temporary files. The exit code is 1 where there was any.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program for the command line, whose own files are whole"
)]

#[path = "fuzz/campaign.rs"]
mod campaign;
#[path = "fuzz/mutations.rs"]
mod mutations;
#[path = "fuzz/whole_files.rs"]
mod whole_files;
#[path = "fuzz/zip_container.rs"]
mod zip_container;

use std::io::Cursor;
use std::path::Path;
use std::process::ExitCode;

use unbraid_data::datasets::{build, read_factors, read_images};
use unbraid_data::files::factor_table::read_factor_table;
use unbraid_data::files::gzip;
use unbraid_data::files::hdf5::Hdf5;
use unbraid_data::files::idx::read_idx_from;
use unbraid_data::files::mat::read_mat_from;
use unbraid_data::files::npz::Npz;
use unbraid_data::files::picture::{picture_size, read_picture};
use unbraid_data::files::small_norb::{Element, Matrix};
use unbraid_data::npy::{NpyArray, indices};
use unbraid_data::{Result, Seed};

use campaign::{Options, Outcome, Target, remove_scratch_files, run, scratch_file};
use whole_files::{archives, arrays, digits, factor_tables, hdf5_files, matrices, own_images, pictures, variables};

/// A thread may reserve 64 MB of addresses of which it uses few; none of the small files needs more.
const MOST_MEGABYTES: u64 = 150;
const NPY_WORDS: &[&str] = &[
    "18446744073709551615",
    "9223372036854775807",
    "4294967296",
    "1099511627776",
    "(0, ",
    "(1,)",
    "()",
    ", ",
    "-1",
    "'<f8'",
    "'<f2'",
    "'>f4'",
    "'|u1'",
    "'|b1'",
    "'>i8'",
    "'<u8'",
    "'<U3'",
    "'>U1048576'",
    "'|S2'",
    "'|O'",
    "'<c16'",
    "[('a', '<f4')]",
    "True",
    "False",
    "'shape': ",
    "'descr': ",
    "'fortran_order': ",
    "nan",
];
const CSV_WORDS: &[&str] =
    &["file", ",", "\n", "\r", "\"", "\"\"", "nan", "inf", "-0", "1e400", "é", "\u{feff}", "cat/one.png"];

fn main() -> ExitCode {
    let clean = Options::from_command_line().and_then(|options| run(targets(), &options));
    remove_scratch_files();
    match clean {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            println!("{message}");
            ExitCode::from(2)
        }
    }
}

fn targets() -> Vec<Target> {
    let mut rng = Seed(0).stream("whole files");
    let target = |name, wholes, words, check| Target { name, wholes, words, most_megabytes: MOST_MEGABYTES, check };
    vec![
        target("npy", arrays(&mut rng), NPY_WORDS, check_npy),
        target("npz", archives(&mut rng), NPY_WORDS, check_npz),
        target("idx", digits(), &[], check_idx),
        target("small_norb", matrices(), &[], check_small_norb),
        target("mat", variables(), &[], check_mat),
        // Decoders of pictures may take 256 MB each, as their reader says.
        Target { most_megabytes: 600, ..target("picture", pictures(), &[], check_picture) },
        target("csv", factor_tables(), CSV_WORDS, check_csv),
        target("hdf5", hdf5_files(), &[], check_hdf5),
        target("npz_dataset", own_images(&mut rng), NPY_WORDS, check_npz_dataset),
    ]
}

fn check_npy(bytes: &[u8]) -> Outcome {
    let array = NpyArray::read(bytes, bytes.len() as u64);
    if let Ok(array) = &array {
        decode(array);
    }
    Outcome::of(&array)
}

/// Every way in which an array is decoded.
fn decode(array: &NpyArray) {
    let n_items: usize = array.shape().iter().product();
    assert!(array.to_f64().is_ok_and(|values| values.len() == n_items) || array.holds_text());
    Outcome::of(&array.to_i64());
    Outcome::of(&array.to_text());
    Outcome::of(&array.to_table());
    Outcome::of(&array.to_tables());
    Outcome::of(&indices(array));
    Outcome::of(&array.clone().into_u8());
}

fn check_npz(bytes: &[u8]) -> Outcome {
    let read = |path: &Path| {
        let mut npz = Npz::open(path)?;
        for name in npz.names() {
            Outcome::of(&npz.values_at(&name));
            npz.array(&name)?.iter().for_each(decode);
        }
        Ok(())
    };
    Outcome::of(&read(&scratch_file(bytes, "npz")))
}

fn check_hdf5(bytes: &[u8]) -> Outcome {
    let read = |path: &Path| {
        let file = Hdf5::open(path)?;
        for name in file.names() {
            let Ok(array) = file.dataset(&name) else { continue };
            Outcome::of(&array.to_f64());
            let n_rows = array.shape().first().copied().unwrap_or(0);
            Outcome::of(&array.rows(n_rows / 2, n_rows.min(3)));
        }
        Ok(())
    };
    Outcome::of(&read(&scratch_file(bytes, "h5")))
}

fn check_idx(bytes: &[u8]) -> Outcome {
    let opened = gzip::opened(Cursor::new(bytes.to_vec()), bytes.len() as u64);
    Outcome::of(&opened.and_then(|opened| read_idx_from(opened.reader)))
}

fn check_small_norb(bytes: &[u8]) -> Outcome {
    let read = || {
        let opened = gzip::opened(Cursor::new(bytes.to_vec()), bytes.len() as u64)?;
        let mut matrix = Matrix::open(opened.reader, opened.most_bytes)?;
        match matrix.element() {
            Element::U8 => {
                Outcome::of(&matrix.read_u8(&mut [0; 4]));
                matrix.into_u8().map(|_| ())
            }
            _ => matrix.into_i32().map(|_| ()),
        }
    };
    Outcome::of(&read())
}

fn check_mat(bytes: &[u8]) -> Outcome {
    let read = read_mat_from(bytes, bytes.len() as u64, "im", 1 << 27);
    if let Ok(array) = &read {
        assert_eq!(array.shape.iter().product::<usize>(), array.bytes.len());
    }
    Outcome::of(&read)
}

fn check_picture(bytes: &[u8]) -> Outcome {
    let path = scratch_file(bytes, "png");
    Outcome::of(&picture_size(&path));
    let read = read_picture(&path, 3);
    if let Ok(picture) = &read {
        assert_eq!(picture.bytes.len(), picture.height * picture.width * 3);
    }
    Outcome::of(&read)
}

fn check_csv(bytes: &[u8]) -> Outcome {
    let names = ["cat/one.png", "cat/two.png", "dog/one.bmp"].map(String::from);
    let read = read_factor_table(&scratch_file(bytes, "csv"), &names);
    for column in read.iter().flatten() {
        assert!(column.values.len() == names.len() && column.values.iter().all(|value| value.is_finite()));
    }
    Outcome::of(&read)
}

fn check_npz_dataset(bytes: &[u8]) -> Outcome {
    let path = scratch_file(bytes, "npz");
    let settings = toml::Table::from_iter([("path".to_string(), path.display().to_string().into())]);
    let read = || -> Result<()> {
        let dataset = build("npz", &settings)?;
        let numbers: Vec<usize> = (0..dataset.n_images()).collect();
        let images = read_images(&*dataset, &numbers)?;
        assert!(!dataset.has_unit_pixels() || images.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
        let values = read_factors(&*dataset, &numbers);
        for (column, factor) in values.columns().into_iter().zip(dataset.factors().factors()) {
            let takes =
                |value: &f64| value.is_finite() && factor.size.is_none_or(|size| (0.0..size as f64).contains(value));
            assert!(column.iter().all(takes), "{} of {:?}: {column}", factor.name, factor.size);
        }
        Ok(())
    };
    Outcome::of(&read())
}
