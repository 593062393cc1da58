//! `unbraid entangle`: every latent keeps its values and is mixed with all others.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs::File;
use std::io::{Cursor, Write};

use support::tables::{Table, every_format, json};
use support::{Place, SMALL};
use unbraid_data::npy::write_header;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

#[test]
fn entangled_codes_keep_their_marginals_and_lose_their_axes() {
    let place = Place::new();
    place.write("plain.npz", Table::new(0.0).npz(Some(["shape", "angle"])));
    assert_eq!(place.output(&["entangle", "plain.npz", "mixed.npz"]), "mixed.npz\n");
    let columns = |name: &str| {
        let data = unbraid_formats::npz::read_labelled_codes(&place.path(name)).unwrap();
        let sorted = |latent: usize| {
            let mut values = data.codes().column(latent).to_vec();
            values.sort_by(f64::total_cmp);
            values
        };
        (0..data.n_latents()).map(sorted).collect::<Vec<_>>()
    };
    assert_eq!(columns("mixed.npz"), columns("plain.npz"));
    let both = json(&place, &["plain.npz", "mixed.npz", "--metrics", "mig"]);
    let mig = |name: &str| both["inputs"][name]["scores"]["mig"].as_f64().unwrap();
    assert!(mig("mixed.npz") < 0.7 * mig("plain.npz"), "{both}");
    // The names of the factors came along.
    assert!(both["inputs"]["mixed.npz"]["scores"]["mig.shape"].is_number(), "{both}");
    // The same codes from every other kind of input, and a run's with all that belongs to them.
    let place = every_format();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    place.output(&["entangle", "named.npz", "mixed.npz"]);
    let mixed = json(&place, &["mixed.npz"]);
    for file in ["table.csv", "table.tsv", "table.parquet"] {
        place.output(&["entangle", file, "out.npz"]);
        assert_eq!(json(&place, &["out.npz"]), mixed, "{file}");
    }
    place.output(&["entangle", "other_names.csv", "out.npz", "--factors", "shape,angle"]);
    assert_eq!(json(&place, &["out.npz"]), mixed);
    place.output(&["entangle", "codes.npy", "out.npz", "--factors", "factors.npy"]);
    assert_eq!(json(&place, &["out.npz"])["scores"]["mig"], mixed["scores"]["mig"]);
    place.output(&["entangle", "run", "out.npz"]);
    let (before, after) = (json(&place, &["run"]), json(&place, &["out.npz"]));
    assert_eq!(before["scores"]["reconstruction"], after["scores"]["reconstruction"]);
    assert!(after["scores"]["axis_ratio"].is_number(), "{after}");
    let refused = ["entangle", "named.npz", "out.npz", "--continuous", "shape"];
    assert!(place.refusal(&refused, 2).contains("are copied as they are"));
    assert!(place.refusal(&["entangle", "missing.npz", "out.npz"], 2).contains("there is no file missing.npz"));
    assert!(place.refusal(&["entangle", "plain.npz", "nowhere/out.npz"], 2).contains("nowhere/out.npz"));
    assert!(place.refusal(&["entangle", "plain.npz", "./plain.npz"], 2).contains("is the input itself"));
}

/// An archive of arrays, each with its name, numpy's type, shape and bytes.
fn archive(arrays: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, descr, shape, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        write_header(&mut zip, descr, shape).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn what_belongs_to_the_latents_before_is_left_out_of_runs_and_files() {
    let place = Place::new();
    let floats = |n: usize| (0..n).flat_map(|value| (0.1 * value as f64).to_le_bytes()).collect::<Vec<u8>>();
    let whole = |n: usize| (0..n as i64).flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    place.write(
        "all.npz",
        archive(&[
            ("codes", "<f8", &[12, 2], floats(24)),
            ("factors", "<i8", &[12, 1], whole(12)),
            ("log_variances", "<f8", &[12, 2], floats(24)),
            ("jacobians", "<f8", &[3, 5, 2], floats(30)),
            ("mine", "<f8", &[4], floats(4)),
        ]),
    );
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let names = |name: &str| -> Vec<String> {
        let zip = ZipArchive::new(File::open(place.path(name)).unwrap()).unwrap();
        zip.file_names().map(String::from).collect()
    };
    for input in ["all.npz", "run"] {
        place.output(&["entangle", input, "mixed.npz"]);
        let found = names("mixed.npz");
        assert!(!found.iter().any(|name| ["jacobians.npy", "log_variances.npy"].contains(&name.as_str())), "{found:?}");
        assert_eq!(found.contains(&"mine.npy".to_string()), input == "all.npz", "{found:?}");
    }
}

#[test]
fn whole_numbers_that_floats_do_not_tell_apart_are_refused() {
    let place = Place::new();
    let codes = |largest: i64| -> Vec<u8> { (0..24).flat_map(|value: i64| (largest - value).to_le_bytes()).collect() };
    let factors: Vec<u8> = (0..12_i64).flat_map(i64::to_le_bytes).collect();
    for (largest, is_exact) in [((1_i64 << 53) - 1, true), ((1 << 53) + 1, false)] {
        let arrays = [("codes", "<i8", &[12, 2][..], codes(largest)), ("factors", "<i8", &[12, 1], factors.clone())];
        place.write("whole.npz", archive(&arrays));
        match is_exact {
            true => assert_eq!(place.output(&["entangle", "whole.npz", "mixed.npz"]), "mixed.npz\n"),
            false => assert!(place.refusal(&["entangle", "whole.npz", "mixed.npz"], 2).contains("below 2^53")),
        }
    }
}

#[test]
fn the_way_back_gives_the_codes_before_to_the_bit() {
    let place = every_format();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let codes_of = |name: &str| match name {
        "run" => unbraid_data::npy::read_table(&place.path("run/codes.npy")).unwrap(),
        "table.csv" => ndarray::arr2(&Table::new(0.3).codes),
        file => unbraid_formats::npz::read_labelled_codes(&place.path(file)).unwrap().codes().clone(),
    };
    for input in ["run", "named.npz", "table.csv"] {
        place.output(&["entangle", input, "mixed.npz"]);
        assert_eq!(place.output(&["entangle", "--undo", "mixed.npz", "back.npz"]), "back.npz\n");
        let bits = |name: &str| codes_of(name).mapv(f64::to_bits);
        assert_eq!(bits("back.npz"), bits(input), "{input}");
        assert_ne!(bits("mixed.npz"), bits(input), "{input}");
        // A run is scored by its own seed, so that metrics which draw nothing are compared.
        let scores = |name: &str| {
            json(&place, &[name, "--metrics", "mig,modularity,cbd,mcc,irs,active_units"])["scores"].clone()
        };
        assert_eq!(scores("back.npz"), scores(input), "{input}");
        if input != "run" {
            assert_eq!(json(&place, &["back.npz"])["scores"], json(&place, &[input])["scores"], "{input}");
        }
        // It came back whole, so there is no map left.
        let refusal = place.refusal(&["entangle", "--undo", "back.npz", "again.npz"], 2);
        assert!(refusal.contains("back.npz holds no map back"), "{refusal}");
    }
    for input in ["run", "table.csv", "named.npz"] {
        assert!(place.refusal(&["entangle", "--undo", input, "out.npz"], 2).contains("holds no map back"), "{input}");
    }
    assert!(!place.path("out.npz").exists());
    // Entangled twice, the last map leads back by one step.
    place.output(&["entangle", "named.npz", "mixed.npz"]);
    place.output(&["entangle", "mixed.npz", "twice.npz"]);
    place.output(&["entangle", "--undo", "twice.npz", "back.npz"]);
    assert_eq!(codes_of("back.npz"), codes_of("mixed.npz"));
}

#[test]
#[cfg(unix)]
fn entangling_onto_a_full_disk_says_what_happened_and_where() {
    let place = Place::new();
    place.write("codes.npz", Table::new(0.5).npz(None));
    // The file is written under this name until it is whole, the first of the process; `exec` keeps the number of the process.
    let binary = env!("CARGO_BIN_EXE_unbraid");
    let line = format!("ln -s /dev/full .out.npz.tmp-$$000000; exec {binary} entangle codes.npz out.npz");
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(errors.lines().next(), Some("error: cannot write out.npz: no space left on the disk"));
    assert!(!place.path("out.npz").exists());
}
