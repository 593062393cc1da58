//! `unbraid sweep`: each run once, whatever is killed.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Place, exact_files};

/// Runs of a fraction of a second.
const SWEEP: &str = r#"
best = "mig"

[base]
rows = 64
metrics = [{ name = "mig" }]

[base.dataset]
name = "xy_squares"
squares = 1
rgb = false

[base.framework]
name = "beta_vae"

[base.model]
name = "mlp"
latents = 2
encoder = [8]
decoder = [8]

[base.training]
steps = 60
batch_size = 8
checkpoint_every = 10

[shared]
seed = [1, 2, 3]

[[grid]]
framework.beta = [0.5, 2.0]

[[grid]]
framework = [{ name = "vae" }]
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("grid.toml", SWEEP);
    place
}

/// The folders of runs in `out`, without that of sweeps.
fn runs_in(out: &Path) -> Vec<PathBuf> {
    let mut runs: Vec<PathBuf> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    runs.retain(|path| !path.ends_with("sweeps"));
    runs.sort();
    runs
}

fn files_of_all(out: &Path) -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let name = |run: &Path| run.file_name().unwrap().to_string_lossy().to_string();
    runs_in(out).iter().map(|run| (name(run), exact_files(run))).collect()
}

fn status(place: &Place, sweep: &str) -> Value {
    serde_json::from_str(&place.output(&["sweep", "status", sweep, "--json"])).unwrap()
}

#[test]
fn a_sweep_makes_every_run_and_the_next_start_has_nothing_to_do() {
    let place = place();
    let said = place.output(&["sweep", "grid.toml", "--jobs", "2"]);
    assert!(said.starts_with("9 of 9 runs finished\nbest mig 0."), "{said}");
    let runs = runs_in(&place.path("runs"));
    assert_eq!(runs.len(), 9);
    let written = |run: &PathBuf| std::fs::metadata(run.join("model.safetensors")).unwrap().modified().unwrap();
    let before: Vec<_> = runs.iter().map(written).collect();
    place.output(&["sweep", "grid.toml"]);
    assert_eq!(runs.iter().map(written).collect::<Vec<_>>(), before);

    // Another sweep shares what is the same, and trains the rest.
    place.write("other.toml", SWEEP.replace("[0.5, 2.0]", "[2.0, 8.0]"));
    place.output(&["sweep", "other.toml"]);
    assert_eq!(runs_in(&place.path("runs")).len(), 12);
    assert_eq!(runs.iter().map(written).collect::<Vec<_>>(), before);
    assert_eq!(status(&place, "runs/sweeps/other")["counts"]["finished"], 9);
    // Nothing is left of the claims on finished runs.
    assert_eq!(std::fs::read_dir(place.path("runs/sweeps/.claims")).unwrap().count(), 0);

    // A run of a sweep is what its config alone makes.
    let config = runs[0].join("config.toml");
    place.output(&["train", config.to_str().unwrap(), "--out", "alone"]);
    assert_eq!(exact_files(&place.path("alone")), exact_files(&runs[0]));
}

#[test]
fn killed_at_random_a_sweep_ends_in_the_same_bytes() {
    let undisturbed = place();
    undisturbed.output(&["sweep", "grid.toml", "--jobs", "2", "--set", "training.steps=400"]);
    let place = place();
    let mut n_kills = 0_u64;
    let mut finished: BTreeMap<PathBuf, u64> = BTreeMap::new();
    loop {
        let mut sweep = place.command(&["sweep", "grid.toml", "--jobs", "2", "--set", "training.steps=400"]);
        let mut child = sweep.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (began, for_millis) = (Instant::now(), 200 + 60 * n_kills + 97 * (n_kills * 7 % 5));
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if began.elapsed() > Duration::from_millis(for_millis) {
                break None;
            }
            sleep(Duration::from_millis(5));
        };
        if let Some(status) = ended {
            assert!(status.success());
            break;
        }
        // Now the sweep, now one of its workers; the next start may find workers that are still saving.
        if n_kills.is_multiple_of(2) {
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            kill_a_worker(child.id());
            sleep(Duration::from_millis(50));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        n_kills += 1;
        assert!(n_kills < 60, "{:?}", status(&place, "runs/sweeps/grid")["counts"]);
        // What is finished is never touched again: a file that is written again is another file.
        for run in runs_in(&place.path("runs")).iter().filter(|run| run.join("report.html").exists()) {
            let number = file_number(&run.join("report.html"));
            assert_eq!(*finished.entry(run.clone()).or_insert(number), number, "{}", run.display());
        }
    }
    assert!(n_kills > 2, "{n_kills}");
    assert_eq!(files_of_all(&place.path("runs")), files_of_all(&undisturbed.path("runs")));
    let counts = status(&place, "runs/sweeps/grid")["counts"].clone();
    assert_eq!((&counts["finished"], &counts["failed"]), (&Value::from(9), &Value::from(0)));
}

fn file_number(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).unwrap().ino()
}

/// Kills one of the processes that a process started.
fn kill_a_worker(parent: u32) {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    if let Some(child) = children.split_whitespace().next() {
        std::process::Command::new("kill").args(["-9", child]).status().unwrap();
    }
}

#[test]
fn a_run_that_fails_keeps_its_error_and_others_go_on() {
    let place = place();
    // A step size with which weights overflow: known only when it happens.
    let wild = format!(
        "{SWEEP}\n[[grid]]\ntraining.learning_rate = 1e6\nframework.beta = 0.25\noptimiser = [{{ name = 'sgd' }}]\n"
    );
    place.write("grid.toml", wild.replace("seed = [1, 2, 3]", "seed = [1]"));
    let output = place.run(&["sweep", "grid.toml", "--jobs", "1"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("3 of 4 runs finished, 1 failed\n") && said.contains("became inf"), "{said}");
    let found = status(&place, "runs/sweeps/grid");
    let failed = found["runs"].as_array().unwrap().iter().find(|run| run["state"] == "failed").unwrap();
    assert!(failed["error"].as_str().unwrap().contains("became inf"), "{failed}");
    assert_eq!(failed["settings"]["training.learning_rate"], 1e6);
    // The next start leaves it, unless it is told to try.
    let again = |arguments: &[&str]| {
        let output = place.run(&[&["sweep", "grid.toml", "--jobs", "1"], arguments].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap().contains("failed: xy_squares-beta_vae-s1-"))
    };
    assert_eq!(again(&[]), (Some(1), false));
    assert_eq!(again(&["--retry-failed"]), (Some(1), true));
}

#[test]
fn a_dry_run_prints_runs_and_hours_and_trains_nothing() {
    let place = place();
    let said = place.output(&["sweep", "grid.toml", "--dry-run"]);
    assert_eq!(said.lines().filter(|line| line.starts_with("xy_squares-")).count(), 9, "{said}");
    assert!(said.contains("framework.beta = 0.5, seed = 1"), "{said}");
    assert!(said.contains("training 9 runs takes about ") && said.contains(" hours)"), "{said}");
    assert!(!place.path("runs").exists());
}

#[test]
fn runs_that_learned_from_other_images_of_the_same_path_are_not_taken_for_finished() {
    let place = place();
    let export = |spacing: &str| {
        place.output(&[
            "data",
            "export",
            "xy_squares",
            "a.npz",
            "--set",
            "squares=1",
            "--set",
            "rgb=false",
            "--set",
            spacing,
        ])
    };
    export("spacing=8");
    let grid = "[[grid]]\ndataset.name = 'npz'\ndataset.path = 'a.npz'\n";
    place.write("mine.toml", SWEEP.split("[[grid]]").next().unwrap().to_string() + grid);
    place.output(&["sweep", "mine.toml"]);
    place.output(&["sweep", "mine.toml"]);
    export("spacing=4");
    for elsewhere in [&[][..], &["--export", "commands"], &["--slurm"]] {
        let refused = place.refusal(&[&["sweep", "mine.toml"], elsewhere].concat(), 2);
        assert!(
            refused.contains("dataset.json") && refused.contains("the run was made with other images"),
            "{refused}"
        );
    }
}

#[test]
fn a_dry_run_leaves_out_datasets_that_are_not_here_and_estimates_the_others() {
    let place = place();
    let grids = "[[grid]]\nmodel.latents = [2, 3]\n[[grid]]\ndataset.name = 'cars3d'\nmodel.latents = [2, 3, 4]\n";
    place.write("files.toml", SWEEP.split("[[grid]]").next().unwrap().to_string() + grids);
    let said = place.output(&["sweep", "files.toml", "--dry-run"]);
    assert!(said.contains("\n9 runs on cars3d left out: "), "{said}");
    assert!(said.contains("training 6 runs takes about "), "{said}");
}

#[test]
fn commands_work_on_one_run_each_and_a_run_that_is_held_is_left_to_its_holder() {
    let place = place();
    let said = place.output(&["sweep", "grid.toml", "--export", "commands", "--out", "my runs"]);
    let commands: Vec<&str> = said.lines().collect();
    assert_eq!(commands.len(), 9);
    // All at once, each of them twice, from another folder.
    let script =
        commands.iter().chain(&commands).map(|command| format!("{command} &\n")).collect::<String>() + "wait\n";
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir("/").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).to_string();
    assert_eq!(runs_in(&place.path("my runs")).len(), 9, "{errors}");
    assert!(!errors.contains("error:") && !errors.contains("failed:"), "{errors}");
    assert_eq!(status(&place, "my runs/sweeps/grid")["counts"]["finished"], 9);
    assert_eq!(place.output(&["sweep", "grid.toml", "--export", "commands", "--out", "my runs"]), "");
}

#[test]
fn tasks_share_the_runs_and_a_cancelled_sweep_goes_on_later() {
    let place = place();
    place.output(&["sweep", "grid.toml", "--export", "commands"]);
    // A list of names decides the shares, and runs of a plan that was changed since are still made.
    let plan = std::fs::read_to_string(place.path("runs/sweeps/grid/plan.jsonl")).unwrap();
    let names = plan.lines().take(3).map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone());
    let names: Vec<String> = names.map(|name| name.as_str().unwrap().to_string()).collect();
    place.write("list.txt", names.join("\n"));
    place.output(&["sweep", "grid.toml", "--export", "commands", "--set", "training.steps=61"]);
    place.output(&["sweep", "run", "runs/sweeps/grid", "--list", "list.txt", "--task", "1", "--tasks", "2"]);
    assert_eq!(runs_in(&place.path("runs")), [place.path("runs").join(&names[1])]);
    for (task, n_finished) in [("0", 5), ("1", 9)] {
        place.output(&["sweep", "run", "runs/sweeps/grid", "--task", task, "--tasks", "2"]);
        assert_eq!(status(&place, "runs/sweeps/grid")["counts"]["finished"], n_finished);
    }

    let long = ["sweep", "grid.toml", "--out", "long", "--set", "training.steps=100_000"];
    let mut child = place.command(&long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while status_if_begun(&place).is_none_or(|counts| counts["running"] == 0) {
        sleep(Duration::from_millis(20));
    }
    place.output(&["sweep", "cancel", "long/sweeps/grid"]);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let counts = status(&place, "long/sweeps/grid")["counts"].clone();
    assert_eq!((&counts["running"], &counts["failed"], &counts["finished"]), (&0.into(), &0.into(), &0.into()));
    let said = place.output(&["sweep", "status", "long/sweeps/grid"]);
    assert!(said.contains("cancelled") && said.contains("stopped") && said.contains(" of 100000"), "{said}");
}

#[test]
fn a_run_that_somebody_goes_on_with_by_hand_is_waited_for() {
    let place = place();
    let sweep = ["sweep", "grid.toml", "--set", "training.steps=2_000"];
    place.output(&[&sweep[..], &["--export", "commands"]].concat());
    let plan = std::fs::read_to_string(place.path("runs/sweeps/grid/plan.jsonl")).unwrap();
    let first: Value = serde_json::from_str(plan.lines().next().unwrap()).unwrap();
    place.write("first.toml", first["config"].as_str().unwrap());
    let run = format!("runs/{}", first["name"].as_str().unwrap());
    let mut by_hand = place.command(&["train", "first.toml", "--out", &run]).stderr(Stdio::null()).spawn().unwrap();
    while !place.path(&run).join("config.toml").exists() {
        sleep(Duration::from_millis(5));
    }
    place.output(&sweep);
    assert!(by_hand.wait().unwrap().success());
    let counts = status(&place, "runs/sweeps/grid")["counts"].clone();
    assert_eq!((&counts["finished"], &counts["failed"]), (&9.into(), &0.into()));
}

fn status_if_begun(place: &Place) -> Option<Value> {
    place.path("long/sweeps/grid/plan.jsonl").exists().then(|| status(place, "long/sweeps/grid")["counts"].clone())
}

#[test]
fn mistakes_are_told_before_anything_is_trained() {
    let place = place();
    let refusal = |text: &str| {
        place.write("wrong.toml", text);
        place.refusal(&["sweep", "wrong.toml"], 2)
    };
    let wrong = refusal(&SWEEP.replace("[0.5, 2.0]", "[0.5, -2.0]"));
    assert!(wrong.contains("wrong.toml: the run with seed = 1, framework.beta = -2.0: [framework]"), "{wrong}");
    assert!(refusal(&SWEEP.replace("[[grid]]", "[[grids]]")).contains("did you mean \"grid\"?"));
    assert!(place.refusal(&["sweep", "none.toml"], 2).contains("cannot read none.toml"));
    assert!(place.refusal(&["sweep", "grid.toml", "--jobs", "0"], 2).contains("--jobs is 0"));
    assert!(!place.path("runs").exists());
    assert!(place.refusal(&["sweep", "status", "."], 2).contains("holds no sweep"));
    place.output(&["sweep", "grid.toml", "--export", "commands"]);
    let refused = place.refusal(&["sweep", "run", "runs/sweeps/grid", "--task", "2", "--tasks", "2"], 2);
    assert!(refused.contains("tasks are counted from 0"), "{refused}");
}
