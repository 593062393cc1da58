//! One's own images, as a new user has them: pictures in a folder and arrays of numpy, with and without factors, trained on,
//! encoded, and changed while they are used.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::Place;
use unbraid_data::npy::write_header;
use unbraid_formats::npz::{Npz, read_labelled_codes};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A run of a few steps of a small network.
fn config(dataset: &str, steps: u64) -> String {
    format!(
        "[dataset]\n{dataset}\n[framework]\nname = 'beta_vae'\n[model]\nname = 'mlp'\nlatents = 3\nencoder = [16]\ndecoder = [16]\n\
         [training]\nsteps = {steps}\nbatch_size = 8\ncheckpoint_every = 10\n"
    )
}

/// An `.npz` file of grey images of 8 x 8 bytes, stored as they are.
fn write_images(path: &Path, n_images: usize) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("images.npy", stored).unwrap();
    write_header(&mut zip, "|u1", &[n_images, 8, 8]).unwrap();
    let bytes: Vec<u8> = (0..n_images * 64).map(|place| (place * 31 % 251) as u8).collect();
    zip.write_all(&bytes).unwrap();
    zip.finish().unwrap();
}

/// Pictures of 12 x 12 pixels in two sub-folders, as PPM files.
fn write_pictures(folder: &Path, n_pictures: usize) {
    for number in 0..n_pictures {
        let kind = folder.join(["dark", "light"][number % 2]);
        std::fs::create_dir_all(&kind).unwrap();
        let mut file = b"P6\n12 12\n255\n".to_vec();
        file.extend((0..12 * 12 * 3).map(|place| (place * (number + 3) % 120 + 120 * (number % 2)) as u8));
        std::fs::write(kind.join(format!("{number:03}.ppm")), file).unwrap();
    }
}

fn scores(place: &Place, run: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(place.path(run).join("scores.json")).unwrap()).unwrap()
}

#[test]
fn images_without_factors_are_trained_on_scored_drawn_and_encoded() {
    let place = Place::new();
    write_images(&place.path("mine.npz"), 40);
    place.write("mine.toml", config("name = 'npz'\npath = 'mine.npz'", 20));
    place.output(&["train", "mine.toml", "--out", "run"]);
    let text = scores(&place, "run").to_string();
    for wanted in ["unsupervised", "active_units", "needs factors, and the images have none"] {
        assert!(text.contains(wanted), "{text}");
    }
    for file in ["figures/traversals.png", "figures/reconstructions.png", "report.html"] {
        assert!(place.path("run").join(file).exists(), "{file}");
    }
    assert!(!place.path("run/figures/correlation.png").exists());
    assert!(place.run(&["resume", "run"]).status.success());
    let table = place.output(&["evaluate", "run", "--metrics", "active_units,unsupervised"]);
    assert!(table.contains("active_units"), "{table}");

    // The dataset that it learned from need not be there.
    write_images(&place.path("new.npz"), 7);
    std::fs::remove_file(place.path("mine.npz")).unwrap();
    place.output(&["encode", "run", "new.npz", "--out", "codes.npz"]);
    let codes = read_labelled_codes(&place.path("codes.npz")).unwrap();
    assert_eq!((codes.n_rows(), codes.n_latents(), codes.n_factors()), (7, 3, 0));
    assert!(codes.extras().log_variances.is_some() && codes.extras().reconstruction_losses.is_some());
    let table = place.output(&["evaluate", "codes.npz", "--metrics", "active_units"]);
    assert!(table.contains("active_units"), "{table}");
}

#[test]
fn a_folder_is_trained_on_and_new_pictures_are_encoded_with_their_names() {
    let place = Place::new();
    write_pictures(&place.path("photos"), 24);
    place.write("photos/notes.txt", "no picture");
    place.write("mine.toml", config("name = 'folder'\npath = 'photos'", 20));
    place.output(&["train", "mine.toml", "--out", "run"]);
    let dataset: Value =
        serde_json::from_str(&std::fs::read_to_string(place.path("run/dataset.json")).unwrap()).unwrap();
    assert_eq!(dataset["factors"][0]["name"], "folder");
    write_pictures(&place.path("new"), 4);
    place.output(&["encode", "run", "new", "--out", "codes.npz"]);
    let mut npz = Npz::open(&place.path("codes.npz")).unwrap();
    let names = npz.required("names").unwrap().to_text().unwrap();
    assert_eq!(names.len(), 4);
    assert!(names[0].ends_with("new/dark/000.ppm") && names[3].ends_with("new/light/003.ppm"), "{names:?}");
    // The same images give the same codes as the run's own.
    place.output(&["encode", "run", "photos", "--out", "again.npz"]);
    let again = read_labelled_codes(&place.path("again.npz")).unwrap();
    let own = unbraid_data::npy::read_table(&place.path("run/codes.npy")).unwrap();
    assert_eq!(again.codes(), &own);
}

#[test]
fn what_does_not_fit_the_model_is_refused() {
    let place = Place::new();
    write_images(&place.path("mine.npz"), 16);
    place.write("mine.toml", config("name = 'npz'\npath = 'mine.npz'\nstandardise = true", 10));
    place.output(&["train", "mine.toml", "--out", "run"]);
    write_pictures(&place.path("photos"), 2);
    // Grey, because the model is; the size is made to fit.
    place.output(&["encode", "run", "photos", "--out", "codes.npz"]);
    let refused = place.refusal(&["encode", "run", "photos", "--out", "codes.npz", "--set", "channels=3"], 2);
    assert!(refused.contains("the model takes images of 8 x 8 x 1, but these are 8 x 8 x 3"), "{refused}");
    let refused = place.refusal(&["encode", "run", "nothing.npz", "--out", "codes.npz"], 2);
    assert!(refused.contains("nothing.npz"), "{refused}");
    let refused = place.refusal(&["encode", "run", "mine.npz", "--out", "codes.csv"], 2);
    assert!(refused.contains("codes.csv"), "{refused}");
    let refused = place.refusal(&["encode", "run", "mine.npz", "--out", "codes.npz", "--set", "standardise=true"], 2);
    assert!(refused.contains("is the run's own"), "{refused}");
}

#[test]
fn a_file_that_changes_ends_the_training_and_keeps_the_checkpoint() {
    let place = Place::new();
    let path = place.path("mine.npz");
    write_images(&path, 64);
    place.write("mine.toml", config("name = 'npz'\npath = 'mine.npz'", 10_000_000));
    let mut child = place.command(&["train", "mine.toml", "--out", "run"]).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !place.path("run/model.safetensors").exists() {
        assert!(began.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(20));
    }
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(2000)).unwrap();
    file.write_all(&[0; 100]).unwrap();
    drop(file);
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("mine.npz was changed while it was read"), "{said}");
    assert!(place.path("run/model.safetensors").exists());
    // With other images it does not go on; with the old ones it does.
    let refused = place.refusal(&["resume", "run"], 2);
    assert!(refused.contains("wanted images of fingerprint"), "{refused}");
    std::fs::create_dir(place.path("moved")).unwrap();
    write_images(&place.path("moved/mine.npz"), 64);
    let steps = std::fs::read_to_string(place.path("run/losses.csv")).unwrap().lines().count() + 20;
    let (steps, moved) = (format!("training.steps={steps}"), "dataset.path=moved/mine.npz");
    place.output(&["resume", "run", "--set", moved, "--set", &steps]);
    assert!(place.path("run/report.html").exists());
}

#[test]
fn images_of_another_size_are_resized_for_the_network() {
    let place = Place::new();
    write_pictures(&place.path("photos"), 8);
    let text = config("name = 'folder'\npath = 'photos'", 1).replace("name = 'mlp'", "name = 'conv64'");
    let text = text.replace("encoder = [16]\ndecoder = [16]\n", "").replace("batch_size = 8", "batch_size = 2");
    place.write("mine.toml", format!("metrics = []\n{text}"));
    let said = String::from_utf8(place.run(&["train", "mine.toml", "--out", "run"]).stderr).unwrap();
    assert!(said.contains("12 x 12") && said.contains("64 x 64"), "{said}");
    let dataset = std::fs::read_to_string(place.path("run/dataset.json")).unwrap();
    assert!(dataset.contains("\"height\": 64"), "{dataset}");
}

#[test]
fn a_missing_file_is_told_with_where_it_comes_from() {
    let place = Place::new();
    let mut command = place.command(&["data", "stats", "shapes3d"]);
    let refused = command.env("HOME", place.path("home")).env_remove("UNBRAID_DATA").output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    for wanted in
        ["3dshapes.h5", "267 MB", "console.cloud.google.com", "--data-root", "UNBRAID_DATA", ".local/share/unbraid"]
    {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let refused = place.refusal(&["data", "stats", "shapes3d", "--data-root", "nowhere"], 2);
    assert!(refused.contains("there is no folder nowhere"), "{refused}");
}

/// Distances have nothing to follow where there are no factors.
#[test]
fn the_doctor_needs_factors() {
    let place = Place::new();
    write_images(&place.path("bare.npz"), 40);
    assert!(place.refusal(&["doctor", "bare.npz"], 2).contains("the images have no factors"));
}
