//! Feeds damaged files of labelled codes to the readers of this crate, on all threads:
//!
//!     cargo run --release -p unbraid-formats --example fuzz_codes -- [TARGET...] [--inputs N] [--seed S]
//!
//! Targets are `npz`, `csv` and `parquet`; all where none is named. How inputs are damaged and what is looked for is shared with
//! the example `fuzz` of `unbraid-data`. The exit code is 1 where something was found.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program for the command line, whose own files are whole"
)]

#[path = "../../data/examples/fuzz/campaign.rs"]
mod campaign;
#[path = "../../data/examples/fuzz/mutations.rs"]
mod mutations;
#[path = "../../data/examples/fuzz/zip_container.rs"]
mod zip_container;

use std::path::Path;
use std::process::ExitCode;

use unbraid_data::npy::write_header;
use unbraid_data::{FactorKinds, LabelledCodes, Result, Rng, Seed};
use unbraid_formats::columns::Roles;
use unbraid_formats::{MemoryLimit, csv, npz, parquet};

use campaign::{Options, Outcome, Target, remove_scratch_files, run, scratch_file};
use mutations::Whole;
use zip_container::of_members;

/// A thread may reserve 64 MB of addresses of which it uses few; none of the small files needs more.
const MOST_MEGABYTES: u64 = 150;
const NPZ_WORDS: &[&str] = &[
    "18446744073709551615",
    "4294967296",
    "1099511627776",
    "(0, ",
    "(1,)",
    "()",
    "-1",
    "'<f8'",
    "'<f2'",
    "'|b1'",
    "'>i8'",
    "'<U3'",
    "'|S2'",
    "'|O'",
    "True",
    "'shape': ",
];
const CSV_WORDS: &[&str] = &[
    "latent_0", "factor_", "split", "train", ",", "\n", "\r", "\"", "\"\"", "nan", "inf", "-0", "1e400", "é",
    "\u{feff}",
];

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
        target("npz", archives(&mut rng), NPZ_WORDS, check_npz),
        target("csv", tables(), CSV_WORDS, check_csv),
        target("parquet", parquets(), &[], check_parquet),
    ]
}

/// A hundred megabytes, so that what a small file may honestly ask for stays well below what is told of.
fn limit() -> MemoryLimit {
    MemoryLimit::gigabytes(0.1).expect("a number above 0")
}

fn check_npz(bytes: &[u8]) -> Outcome {
    let path = scratch_file(bytes, "npz");
    checked(npz::read_labelled_codes_as(&path, &FactorKinds::default(), limit()).as_ref())
}

fn check_csv(bytes: &[u8]) -> Outcome {
    let read = csv::read_labelled_codes(&scratch_file(bytes, "csv"), &Roles::default(), limit());
    checked(read.as_ref().map(|understood| &understood.data))
}

fn check_parquet(bytes: &[u8]) -> Outcome {
    let read = parquet::read_labelled_codes(&scratch_file(bytes, "parquet"), &Roles::default(), limit());
    checked(read.as_ref().map(|understood| &understood.data))
}

/// Codes that were read are finite, and have as many rows as their factors, whose values are such that they take.
fn checked(read: std::result::Result<&LabelledCodes, &unbraid_data::Error>) -> Outcome {
    if let Ok(data) = read {
        assert!(data.codes().iter().all(|value| value.is_finite()), "a code is not finite");
        assert_eq!(data.codes().nrows(), data.factors().nrows());
        for (column, factor) in data.factors().columns().into_iter().zip(data.space().factors()) {
            let takes =
                |value: &f64| value.is_finite() && factor.size.is_none_or(|size| (0.0..size as f64).contains(value));
            assert!(column.iter().all(takes), "{} of {:?}: {column}", factor.name, factor.size);
        }
    }
    let read: Result<()> = read.map(|_| ()).map_err(Clone::clone);
    Outcome::of(&read)
}

/// Archives of six codes of two latents, with all that may stand beside them.
fn archives(rng: &mut Rng) -> Vec<Whole> {
    let npy = |name: &str, descr: &str, shape: &[usize], values: Vec<u8>| {
        let mut bytes = Vec::new();
        write_header(&mut bytes, descr, shape).expect("memory takes all bytes");
        bytes.extend(values);
        (format!("{name}.npy"), bytes)
    };
    let floats =
        |n_values: usize| (0..n_values).flat_map(|value| (value as f64 / 4.0).to_le_bytes()).collect::<Vec<_>>();
    let wholes = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let codes = npy("codes", "<f8", &[6, 2], floats(12));
    let grid = npy("factors", "<i8", &[6, 2], wholes(&[0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2]));
    let texts = npy("factors", "|S2", &[6], b"aabbccaabbcc".to_vec());
    let others = [
        npy("factor_sizes", "<i8", &[2], wholes(&[2, 3])),
        npy("factor_names", "|S1", &[2], b"xy".to_vec()),
        npy("text_factors", "<i8", &[1], wholes(&[0])),
        npy("train_rows", "<i8", &[3], wholes(&[0, 2, 4])),
        npy("test_rows", "<i8", &[2], wholes(&[1, 5])),
        npy("log_variances", "<f8", &[6, 2], floats(12)),
        npy("reconstruction_losses", "<f8", &[6], floats(6)),
        npy("kl_divergences", "<f8", &[6], floats(6)),
        npy("jacobians", "<f8", &[2, 3, 2], floats(12)),
    ];
    let all: Vec<(String, Vec<u8>)> = [codes.clone(), grid.clone()].into_iter().chain(others).collect();
    [vec![codes.clone(), grid], all, vec![codes, texts]].map(|members| of_members(members, rng)).into()
}

fn tables() -> Vec<Whole> {
    let texts = [
        "latent_0,latent_1,factor_x,factor_y\n0.5,1,0,0\n1.5,2,0,1\n-0.25,3,1,0\n1e-3,4,1,1\n",
        "z0,z1,factor_shape,split\r\n0.5,1,square,train\r\n1.5,2,\"heart, red\",test\r\n0,3,square,train\r\n",
    ];
    texts.map(|text| Whole::plain(text.as_bytes().to_vec())).into()
}

fn parquets() -> Vec<Whole> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("the files of the tests are there");
    ["arrow.parquet", "zstd.parquet"].map(|name| Whole::plain(read(name))).into()
}
