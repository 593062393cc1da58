//! `unbraid data sample` and `unbraid data show --sampler`: what is written, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use serde_json::Value;
use support::Place;
use unbraid_data::factor_space::values_of;
use unbraid_data::npy::{read_file, read_table};
use unbraid_data::samplers::SAMPLERS;

#[test]
fn every_sampler_writes_image_numbers_that_do_not_depend_on_threads() {
    let place = Place::new();
    for entry in SAMPLERS {
        let sample = |count: &str, seed: &str, n_threads: &str, out: &str| {
            let chosen = ["data", "sample", "xy_object", "--sampler", entry.name, "--count", count, "--out", out];
            let printed = place.output(&[&chosen[..], &["--seed", seed, "--threads", n_threads]].concat());
            assert_eq!(printed.trim_end(), out);
            std::fs::read(place.path(out)).unwrap()
        };
        let one = sample("10000", "3", "1", "one.npy");
        assert!(one == sample("10000", "3", "3", "three.npy"), "{}", entry.name);
        assert!(one != sample("10000", "4", "1", "other.npy"), "{}", entry.name);
        let array = read_file(&place.path("one.npy")).unwrap();
        assert_eq!(array.shape(), [10_000, entry.members.len()], "{}", entry.name);
        assert!(array.to_i64().unwrap().iter().all(|image| (0..75_000).contains(image)), "{}", entry.name);
        let few = sample("100", "3", "2", "few.npy");
        let n_bytes = 100 * entry.members.len() * 8;
        assert!(few[few.len() - n_bytes..] == one[one.len() - 100 * n_bytes..][..n_bytes], "{}", entry.name);
    }
}

#[test]
fn settings_reach_the_dataset_and_the_sampler() {
    let place = Place::new();
    let sample = ["data", "sample", "dsprites", "--sampler", "triplet", "--count", "500", "--out", "a.npy"];
    let settings =
        ["--set", "fix={ scale = 5 }", "--set", "sampler.distance=category", "--set", "sampler.category=shape"];
    place.output(&[&sample[..], &settings].concat());
    // Without the scale, a shape has 40 * 32 * 32 images.
    let shape = |image: f64| (image / 40_960.0).floor();
    for triplet in read_table(&place.path("a.npy")).unwrap().rows() {
        assert!(shape(triplet[0]) == shape(triplet[1]) && shape(triplet[0]) != shape(triplet[2]), "{triplet}");
        assert!(triplet.iter().all(|&image| image < 3.0 * 40_960.0));
    }
}

#[test]
fn the_factor_that_images_share_is_written_beside_them() {
    let place = Place::new();
    let sample = ["data", "sample", "xy_object", "--count", "5000", "--out", "a.npy", "--shared", "b.npy", "--sampler"];
    assert_eq!(place.output(&[&sample[..], &["shared_pair"]].concat()), "a.npy\nb.npy\n");
    let shared = read_file(&place.path("b.npy")).unwrap();
    assert_eq!(shared.shape(), [5000]);
    let pairs = read_table(&place.path("a.npy")).unwrap();
    for (pair, shared) in pairs.rows().into_iter().zip(shared.to_i64().unwrap()) {
        let value = |image: f64| values_of(image as usize, &[25, 25, 5, 24])[shared as usize];
        assert_eq!(value(pair[0]), value(pair[1]));
    }
    let refused = place.refusal(&[&sample[..], &["pair"]].concat(), 2);
    assert!(refused.contains("sampler \"pair\" does not tell what images share"), "{refused}");
}

#[test]
fn what_cannot_be_sampled_is_refused() {
    let place = Place::new();
    let refused = |changes: &[&str]| {
        let sample = ["data", "sample", "dsprites", "--count", "9", "--out", "a.npy"];
        let message = place.refusal(&[&sample[..], changes].concat(), 2);
        assert!(!place.path("a.npy").exists());
        message
    };
    assert!(
        refused(&["--sampler", "triplets"]).contains("no sampler is called \"triplets\"; did you mean \"triplet\"?")
    );
    let misspelt = refused(&["--sampler", "triplet", "--set", "sampler.distanc=l1"]);
    assert!(
        misspelt.contains("sampler \"triplet\" has no setting \"distanc\"; did you mean \"distance\"?"),
        "{misspelt}"
    );
    let unknown = refused(&["--sampler", "temporal", "--set", "sampler.fixed=['shap']"]);
    assert!(unknown.contains("no factor is called \"shap\"; did you mean \"shape\"?"), "{unknown}");
    let of_dataset = refused(&["--sampler", "triplet", "--set", "distance=l1"]);
    assert!(of_dataset.contains("dataset \"dsprites\" has no setting \"distance\""), "{of_dataset}");
    assert!(of_dataset.contains("the sampler's is set by --set sampler.distance=..."), "{of_dataset}");
    assert!(refused(&["--sampler", "pair", "--set", "sampler=pair"]).contains("has no setting \"sampler\""));
    assert!(refused(&["--sampler", "pair", "--set", "fix={ shape = 9 }"]).contains("dataset \"dsprites\""));
    let sample = ["data", "sample", "dsprites", "--sampler", "pair"];
    let refused = |others: &[&str]| place.refusal(&[&sample[..], others].concat(), 2);
    assert!(refused(&["--count", "0", "--out", "a.npy"]).contains("--count"));
    assert!(refused(&["--count", "9", "--out", "a.npz"]).contains("a.npz is written as .npy"));
    assert!(refused(&["--count", "9", "--out", "no/a.npy"]).contains("no/a.npy"));
    let points = ["data", "sample", "synth_linear", "--sampler", "pair", "--count", "9", "--out", "a.npy"];
    assert!(place.refusal(&points, 2).contains("do not form a grid"));
}

#[test]
fn examples_are_shown_beside_the_dataset() {
    let place = Place::new();
    for entry in SAMPLERS {
        let printed = place.output(&["data", "show", "xy_object", "--sampler", entry.name, "--out", "shown"]);
        assert!(printed.ends_with("xy_object-examples.png\n"), "{printed}");
        assert!(std::fs::read(place.path("shown/xy_object-examples.png")).unwrap().starts_with(b"\x89PNG"));
    }
    let refused = place.refusal(&["data", "show", "xy_object", "--sampler", "pairs"], 2);
    assert!(refused.contains("no sampler is called \"pairs\"; did you mean \"pair\"?"), "{refused}");
    let without = place.refusal(&["data", "show", "xy_object", "--set", "sampler.k=1"], 2);
    assert!(without.contains("has no setting \"sampler\""), "{without}");
}

#[test]
fn the_speed_of_every_sampler_is_told() {
    let place = Place::new();
    let speeds: Value =
        serde_json::from_str(&place.output(&["bench", "samplers", "--json", "--seconds", "0"])).unwrap();
    for dataset in ["dsprites", "xy_squares"] {
        for entry in SAMPLERS {
            assert!(speeds[dataset][entry.name].as_f64().unwrap() > 0.0, "{speeds}");
        }
    }
    assert!(place.refusal(&["bench", "samplers", "--seconds", "9999"], 2).contains("wanted 0 to 3600"));
}
