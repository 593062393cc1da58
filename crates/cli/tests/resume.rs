//! What `resume` does with runs that were killed, that have ended, or that have lost something.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use support::{Place, SMALL, exact_files};

/// A finished run in the folder `a`.
fn trained() -> Place {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "a"]);
    place
}

/// Every file below a folder and its bytes.
fn files_in(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_in(&path));
        } else {
            files.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    files
}

fn change(place: &Place, name: &str, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(place.path(name)).unwrap();
    place.write(name, change(&text));
}

#[test]
fn a_run_killed_while_it_said_that_it_was_finished_leaves_nothing_behind() {
    let place = trained();
    let names = || files_in(&place.path("a")).into_keys().collect::<Vec<_>>();
    let before = names();
    // What a kill between the page and the last status leaves.
    change(&place, "a/status.json", |text| text.replace("finished", "running"));
    place.write("a/.status.json.tmp-7154000023", "{");
    place.output(&["resume", "a"]);
    assert_eq!(names(), before);
    assert!(fs::read_to_string(place.path("a/status.json")).unwrap().contains("finished"));
}

#[test]
fn a_run_that_has_lost_its_checkpoint_keeps_its_results() {
    let place = trained();
    fs::remove_file(place.path("a/model.safetensors")).unwrap();
    let before = files_in(&place.path("a"));
    let message = place.refusal(&["resume", "a"], 2);
    assert!(
        message.contains("a has no model.safetensors, and what was made with it is there: report.html"),
        "{message}"
    );
    for wanted in ["codes.npy", "scores.json", "figures", "losses.csv", "unbraid train a/config.toml --out FOLDER"] {
        assert!(message.contains(wanted), "{wanted}: {message}");
    }
    place.refusal(&["resume", "a", "--set", "training.steps=80"], 2);
    assert!(files_in(&place.path("a")) == before, "a refusal changes nothing");

    // Its log alone tells that there was a checkpoint.
    for (name, _) in before.iter().filter(|(name, _)| !name.ends_with("config.toml") && !name.ends_with("losses.csv")) {
        fs::remove_file(name).unwrap();
    }
    fs::remove_dir(place.path("a/figures")).unwrap();
    let message = place.refusal(&["resume", "a"], 2);
    assert!(message.contains("is there: losses.csv"), "{message}");
}

#[test]
fn a_run_that_was_killed_before_its_first_checkpoint_starts_again() {
    let place = trained();
    // Checkpoints are taken after every tenth step; the log is flushed before.
    for n_rows in [0, 7, 10] {
        let run = format!("killed{n_rows}");
        fs::create_dir(place.path(&run)).unwrap();
        fs::copy(place.path("a/config.toml"), place.path(&run).join("config.toml")).unwrap();
        let losses = fs::read_to_string(place.path("a/losses.csv")).unwrap();
        let kept: String = losses.split_inclusive('\n').take(1 + n_rows).collect();
        place.write(&format!("{run}/losses.csv"), kept);
        place.output(&["resume", &run]);
        assert!(exact_files(&place.path(&run)) == exact_files(&place.path("a")), "{n_rows}");
    }
}

#[test]
fn a_checkpoint_with_one_changed_bit_is_refused() {
    let place = trained();
    let mut model = fs::read(place.path("a/model.safetensors")).unwrap();
    let middle = model.len() / 2;
    model[middle] ^= 1;
    place.write("a/model.safetensors", &model);
    for command in [["resume", "a"], ["report", "a"], ["traverse", "a"]] {
        let message = place.refusal(&command, 2);
        assert!(message.contains("a/model.safetensors: the checkpoint is damaged: its checksum"), "{message}");
    }
}

#[test]
fn a_finished_run_says_so_and_is_left_as_it_is() {
    let place = trained();
    let before = files_in(&place.path("a"));
    let again = place.run(&["resume", "a"]);
    assert!(again.status.success());
    let errors = String::from_utf8(again.stderr).unwrap();
    assert!(errors.contains("a was finished before, after step 40: nothing was left to do"), "{errors}");
    assert!(errors.contains("unbraid resume a --set training.steps=80"), "{errors}");
    assert!(files_in(&place.path("a")) == before);
    // A stage that was not finished is done again.
    fs::remove_file(place.path("a/report.html")).unwrap();
    let again = place.run(&["resume", "a"]);
    assert!(again.status.success() && !String::from_utf8(again.stderr).unwrap().contains("finished before"));
    assert!(exact_files(&place.path("a")).iter().all(|(name, bytes)| {
        before.iter().any(|(path, of_path)| path.ends_with(&format!("a/{name}")) && of_path == bytes)
    }));
}

#[test]
fn a_run_that_goes_on_longer_ends_like_one_that_was_that_long_from_the_start() {
    let place = trained();
    place.output(&["resume", "a", "--set", "training.steps=60", "--set", "rows=30"]);
    place.output(&["train", "small.toml", "--out", "b", "--set", "training.steps=60", "--set", "rows=30"]);
    let [found, wanted] = ["a", "b"].map(|run| exact_files(&place.path(run)));
    assert_eq!(found.len(), wanted.len());
    // Posteriors are looked at on images that are scored, which were others before.
    for (found, wanted) in found.iter().zip(wanted).filter(|(found, _)| found.0 != "posteriors.csv") {
        assert!(*found == wanted, "{} differs", found.0);
    }
    assert!(place.run(&["resume", "a"]).status.success());
}

#[test]
fn only_what_does_not_decide_the_training_may_change() {
    let place = trained();
    let before = files_in(&place.path("a"));
    for key in ["seed", "framework.beta", "training.batch_size", "dataset.name"] {
        let message = place.refusal(&["resume", "a", "--set", &format!("{key}=2")], 2);
        assert!(message.contains(&format!("a run goes on with the \"{key}\" that it was started with")), "{message}");
        assert!(message.contains(
            "only training.steps, training.checkpoint_every, selection.checkpoint, rows, rows_seed, metrics, "
        ));
    }
    let message = place.refusal(&["resume", "a", "--set", "training.steps=30"], 2);
    assert!(message.contains("was taken after step 40, past the 30"), "{message}");
    place.refusal(&["resume", "a", "--set", "rows=99"], 2);
    place.refusal(&["resume", "a", "--set", "training.step=99"], 2);
    assert!(files_in(&place.path("a")) == before, "a refusal changes nothing");
    // Losses that are missing are found before the config is written.
    place.write("a/losses.csv", "step,loss,reconstruction,kl\n");
    place.refusal(&["resume", "a", "--set", "training.steps=50"], 2);
    assert!(fs::read_to_string(place.path("a/config.toml")).unwrap().contains("steps = 40"));
}

#[test]
fn other_metrics_and_other_rows_are_made_without_training() {
    let place = trained();
    let model = fs::read(place.path("a/model.safetensors")).unwrap();
    place.output(&["resume", "a", "--set", "metrics=[{ name = 'mig', bins = 5 }]", "--set", "rows=16"]);
    let scores = fs::read_to_string(place.path("a/scores.json")).unwrap();
    assert!(scores.contains("\"mig\"") && !scores.contains("sap"), "{scores}");
    assert!(fs::read(place.path("a/model.safetensors")).unwrap() == model);
    place.output(&["resume", "a", "--set", "rows_seed=5"]);
    place.output(&["report", "a"]);
    // The same number of rows, but of other images.
    change(&place, "a/config.toml", |text| text.replace("rows_seed = 5", "rows_seed = 6"));
    assert!(place.refusal(&["report", "a"], 2).contains("a has codes of other images than its config's"));
}

#[test]
#[cfg(unix)]
fn a_disk_that_is_full_is_a_failure_on_the_way() {
    let place = trained();
    fs::remove_file(place.path("a/report.html")).unwrap();
    fs::remove_file(place.path("a/scores.json")).unwrap();
    std::os::unix::fs::symlink("/dev/full", place.path("a/scores.json")).unwrap();
    let message = place.refusal(&["resume", "a"], 1);
    assert!(message.contains("error: cannot write a/scores.json: no space left on the disk"), "{message}");
}

#[test]
#[cfg(unix)]
fn a_folder_that_is_removed_while_it_trains_is_a_failure_on_the_way() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let arguments = ["train", "small.toml", "--out", "a", "--set", "training.steps=10_000_000"];
    let child = place.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("a/model.safetensors").exists() {
        sleep(Duration::from_millis(1));
    }
    // The run may write a file while the folder is being removed.
    while fs::remove_dir_all(place.path("a")).is_err() && place.path("a").exists() {}
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("error: a was removed while the run went on"), "{errors}");
}

/// A run with the features of another, in a folder of their own.
const WITH_FEATURES: &str = "[dataset]\nname = 'xy_squares'\nsquares = 1\nrgb = false\n[framework]\nname = 'dfc_vae'\n\
                             features = 'features'\n[model]\nname = 'mlp'\nlatents = 2\nencoder = [16]\ndecoder = [16]\n\
                             [training]\nsteps = 20\nbatch_size = 8\n[[metrics]]\nname = 'mig'\n";

#[test]
fn a_run_with_features_goes_on_from_anywhere_and_only_with_the_same_features() {
    let place = Place::with_features_for(WITH_FEATURES);
    place.write("run.toml", WITH_FEATURES);
    place.output(&["train", "run.toml", "--out", "a"]);
    let absolute = place.path("features").canonicalize().unwrap();
    let config = fs::read_to_string(place.path("a/config.toml")).unwrap();
    assert!(config.contains(&format!("features = \"{}\"", absolute.display())), "{config}");

    // From another folder.
    fs::create_dir(place.path("elsewhere")).unwrap();
    let from_elsewhere = |arguments: &[&str]| {
        let output = place.command(arguments).current_dir(place.path("elsewhere")).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    from_elsewhere(&["resume", "../a", "--set", "training.steps=30"]);
    from_elsewhere(&["traverse", "../a"]);
    from_elsewhere(&["evaluate", "../a"]);
    from_elsewhere(&["report", "../a"]);

    // Without the features' run, scores and pages can be had, a model not; nor with one that is another.
    fs::rename(place.path("features"), place.path("moved")).unwrap();
    place.output(&["evaluate", "a"]);
    for command in ["resume", "traverse"] {
        let message = place.refusal(&[command, "a"], 2);
        assert!(
            message.contains("[framework] setting \"features\" is") && message.contains("no such folder"),
            "{message}"
        );
        assert!(message.contains("--set framework.features=FOLDER"), "{message}");
    }
    place.output(&["resume", "a", "--set", "framework.features=moved", "--set", "training.steps=40"]);
    place.output(&["resume", "moved", "--set", "training.steps=50"]);
    let message = place.refusal(&["resume", "a", "--set", "training.steps=60"], 2);
    let wanted = "a/model.safetensors: \"features.encoder.hidden0.weight\" is not what the checkpoint was trained with";
    assert!(message.contains(wanted), "{message}");
    assert!(message.contains("was trained further, or is another one"), "{message}");
}
