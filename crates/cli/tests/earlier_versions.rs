//! Runs made by earlier versions are read, scored and resumed.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::Place;
use unbraid_data::npy::read_table;

fn folders_in(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The runs in `reference/runs`, each with the version that made it: `0.1.0/vae`.
fn earlier_runs() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/runs");
    let runs: Vec<PathBuf> = folders_in(&root).iter().flat_map(|version| folders_in(version)).collect();
    assert!(runs.len() >= 3, "{runs:?}");
    let name = |run: &Path| run.strip_prefix(&root).unwrap().display().to_string();
    runs.into_iter().map(|run| (name(&run), run)).collect()
}

fn copy(from: &Path, place: &Place) {
    fs::create_dir(place.path("run")).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, place.path("run").join(path.file_name().unwrap())).unwrap();
    }
}

fn finished(path: &Path) -> bool {
    path.join("codes.npy").exists()
}

#[test]
fn finished_runs_are_read_and_scored() {
    for (name, from) in earlier_runs().into_iter().filter(|(_, from)| finished(from)) {
        let place = Place::new();
        copy(&from, &place);
        let scores: Value = serde_json::from_str(&place.output(&["evaluate", "run", "--json"])).unwrap();
        assert!(scores["scores"]["mig"].is_number(), "{name}: {scores}");
        // Earlier versions saved nothing of the decoder: what to do is scores, and helps.
        let dto = |place: &Place| -> Value {
            serde_json::from_str(&place.output(&["evaluate", "run", "--json", "--metrics", "dto"])).unwrap()
        };
        let reason = dto(&place)["undefined"]["dto"].to_string();
        assert!(reason.contains("`unbraid report run` makes jacobians.npy"), "{name}: {reason}");
        place.output(&["report", "run"]);
        assert!(place.path("run/report.html").exists(), "{name}");
        assert!(dto(&place)["scores"]["dto"].is_number(), "{name}");
        place.output(&["traverse", "run"]);
        for file in ["codes.npy", "factors.npy", "config.toml", "losses.csv", "model.safetensors"] {
            assert!(
                fs::read(from.join(file)).unwrap() == fs::read(place.path("run").join(file)).unwrap(),
                "{name}: {file}"
            );
        }
    }
}

#[test]
fn runs_are_resumed_to_their_end_and_beyond() {
    for (name, from) in earlier_runs() {
        let place = Place::new();
        copy(&from, &place);
        let n_losses = |place: &Place| fs::read_to_string(place.path("run/losses.csv")).unwrap().lines().count() - 1;
        let before = fs::read_to_string(from.join("losses.csv")).unwrap();
        place.output(&["resume", "run"]);
        assert!(place.path("run/report.html").exists(), "{name}");
        let after = fs::read_to_string(place.path("run/losses.csv")).unwrap();
        assert!(after.starts_with(&before), "{name}: the losses of earlier steps were kept");
        if finished(&from) {
            // The same images are encoded, though their choice came from another setting then.
            let table = |run: &Path, file: &str| read_table(&run.join(file)).unwrap();
            let run = place.path("run");
            assert_eq!(table(&from, "factors.npy"), table(&run, "factors.npy"), "{name}");
            let difference = &table(&from, "codes.npy") - &table(&run, "codes.npy");
            assert!(difference.iter().all(|value| value.abs() < 1e-4), "{name}: {difference}");
        }
        let steps = n_losses(&place) + 5;
        place.output(&["resume", "run", "--set", &format!("training.steps={steps}")]);
        assert_eq!(n_losses(&place), steps, "{name}");
        place.output(&["report", "run"]);
    }
}
