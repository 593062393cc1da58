//! Splits, the best checkpoint, standardised images, the status, and the record of the dataset.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use serde_json::Value;
use support::{Place, SMALL};
use unbraid_data::npy::read_table;
use unbraid_learn::checkpoint;

/// SMALL with a split and a selection.
fn selected() -> String {
    let split = "[split]\ntrain = 0.5\nvalidation = 0.25\ntest = 0.25\n[selection]\nmetric = 'mig'\nevery = 4\n";
    format!("{SMALL}\n{split}")
}

fn rows_of(place: &Place, array: &str) -> usize {
    read_table(&place.path(array)).unwrap().nrows()
}

fn step_of(place: &Place, model: &str) -> u64 {
    checkpoint::steps_taken(&std::fs::read(place.path(model)).unwrap()).unwrap()
}

fn json(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(place.path(name)).unwrap()).unwrap()
}

#[test]
fn the_best_checkpoint_is_the_one_with_the_best_validation_score() {
    let place = Place::new();
    place.write("a.toml", selected());
    place.output(&["train", "a.toml", "--out", "best"]);
    place.output(&["train", "a.toml", "--out", "last", "--set", "selection.checkpoint=last"]);
    let log = std::fs::read_to_string(place.path("best/selection.csv")).unwrap();
    let rows: Vec<(u64, f64)> = log
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells[1], "mig");
            (cells[0].parse().unwrap(), cells[2].parse().unwrap())
        })
        .collect();
    assert_eq!(rows.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [4, 8, 12, 16, 20, 24, 28, 32, 36, 40]);
    let best = rows.iter().copied().reduce(|best, row| if row.1 > best.1 { row } else { best }).unwrap().0;
    assert_ne!(best, 40, "nothing was selected: {log}");
    assert_eq!((step_of(&place, "best/best.safetensors"), step_of(&place, "best/model.safetensors")), (best, 40));
    // The final scores are of test images, by the checkpoint that the config asks for.
    assert_eq!([rows_of(&place, "best/codes.npy"), rows_of(&place, "last/codes.npy")], [16, 16]);
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(bytes("best/model.safetensors") == bytes("last/model.safetensors"));
    assert!(bytes("best/codes.npy") != bytes("last/codes.npy"));
    // What is made again is of the same checkpoint.
    let scores = bytes("best/scores.json");
    place.output(&["report", "best"]);
    assert!(bytes("best/scores.json") == scores);
    assert!(place.path("best/figures/selection.png").exists());
    assert!(String::from_utf8(bytes("best/report.html")).unwrap().contains("validation"));
}

#[test]
fn selections_that_cannot_be_made_are_refused() {
    let place = Place::new();
    place.write("a.toml", selected());
    let refusal = |changes: &[&str]| {
        let mut arguments = vec!["train", "a.toml", "--out", "refused"];
        changes.iter().for_each(|change| arguments.extend(["--set", change]));
        place.refusal(&arguments, 2)
    };
    let message = refusal(&["split.validation=0"]);
    assert!(message.contains("[selection] scores validation images, and there are none"), "{message}");
    let message = refusal(&["selection.metric=kl"]);
    assert!(message.contains("\"kl\", of which neither more nor less is better"), "{message}");
    let message = refusal(&["selection.metric=migg"]);
    assert!(message.contains("no metric is called \"migg\"; did you mean \"mig\"?"), "{message}");
    let message = refusal(&["selection.every=41"]);
    assert!(message.contains("\"every\" is 41, more than all steps"), "{message}");
    let message = refusal(&["split.train=0.9"]);
    assert!(message.contains("[split] train, validation and test are 0.9, 0.25 and 0.25, together 1.4"), "{message}");
    let message = refusal(&["training.batch_size=33"]);
    assert!(message.contains("\"batch_size\" is 33 but the dataset has 32 images to learn from"), "{message}");
    assert!(!place.path("refused").exists());
}

#[test]
fn a_best_checkpoint_or_a_log_that_is_lost_is_missed() {
    let place = Place::new();
    place.write("a.toml", selected());
    place.output(&["train", "a.toml", "--out", "a"]);
    let (best, log) = (place.path("a/best.safetensors"), place.path("a/selection.csv"));
    let kept = std::fs::read(&best).unwrap();
    std::fs::remove_file(&best).unwrap();
    let message = place.refusal(&["report", "a"], 2);
    assert!(message.contains("best.safetensors"), "{message}");
    std::fs::copy(place.path("a/model.safetensors"), &best).unwrap();
    let message = place.refusal(&["traverse", "a"], 2);
    assert!(message.contains("best.safetensors is of step 40, but step "), "{message}");
    std::fs::write(&best, kept).unwrap();
    place.output(&["report", "a"]);
    std::fs::remove_file(&log).unwrap();
    let message = place.refusal(&["resume", "a", "--set", "training.steps=50"], 1);
    assert!(message.contains("selection.csv has 0 scores, where 10 were taken up to step 40"), "{message}");
}

#[test]
fn a_score_that_is_never_defined_is_told() {
    let place = Place::new();
    place.write("a.toml", selected());
    let run = place.run(&["train", "a.toml", "--out", "a", "--set", "selection.metric=udr"]);
    assert!(run.status.success());
    let told = String::from_utf8(run.stderr).unwrap() + &String::from_utf8(run.stdout).unwrap();
    assert!(told.contains("after step 4, udr of validation images is not defined: needs several runs"), "{told}");
    assert!(!place.path("a/best.safetensors").exists());
}

#[test]
fn standardised_images_are_learned_and_pictures_keep_their_colours() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "plain"]);
    place.output(&["train", "small.toml", "--out", "standardised", "--set", "dataset.standardise=true"]);
    assert!(place.path("standardised/figures/reconstructions.png").exists());
    assert!(place.path("standardised/figures/traversals.png").exists());
    let bytes = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(bytes("plain/codes.npy") != bytes("standardised/codes.npy"));
    let bce = ["train", "small.toml", "--set", "dataset.standardise=true", "--set", "framework.reconstruction=bce"];
    let message = place.refusal(&bce, 2);
    assert!(message.contains("pixels between 0 and 1, but the dataset's are standardised"), "{message}");
}

#[test]
fn a_run_says_how_it_ended() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    let status = json(&place, "a/status.json");
    assert_eq!((&status["state"], &status["step"], &status["steps"]), (&"finished".into(), &40.into(), &40.into()));
    assert!(status["process"].as_u64().is_some() && status["host"].as_str().is_some_and(|host| !host.is_empty()));
    assert!(status["started_secs"].as_u64().unwrap() <= status["updated_secs"].as_u64().unwrap());
    place.refusal(&["train", "small.toml", "--out", "b", "--set", "training.learning_rate=1e6"], 1);
    let status = json(&place, "b/status.json");
    assert_eq!(status["state"], "failed");
    assert!(status["error"].as_str().unwrap().contains("became"), "{status}");
}

#[test]
fn a_run_whose_images_changed_is_refused() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    let record = std::fs::read_to_string(place.path("a/dataset.json")).unwrap();
    let fingerprint = json(&place, "a/dataset.json")["fingerprint"].as_str().unwrap().to_string();
    place.write("a/dataset.json", record.replace(&fingerprint, "00000000"));
    for arguments in [&["resume", "a", "--set", "training.steps=50"][..], &["report", "a"], &["traverse", "a"]] {
        let message = place.refusal(arguments, 2);
        assert!(message.contains("wanted images of fingerprint 00000000, found images of fingerprint"), "{message}");
    }
    // Its scores were made of what is in the folder.
    place.output(&["evaluate", "a", "--metrics", "mig"]);
    // A run of an earlier version has no record, and gets one.
    std::fs::remove_file(place.path("a/dataset.json")).unwrap();
    place.output(&["resume", "a", "--set", "training.steps=50"]);
    assert_eq!(std::fs::read_to_string(place.path("a/dataset.json")).unwrap(), record);
}
