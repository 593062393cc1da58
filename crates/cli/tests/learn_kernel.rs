//! `unbraid learn-kernel`: what it leaves, what it refuses, and the same bytes however it came there.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;
use std::path::Path;

use support::{Place, kill_until};
use unbraid_distances::read_kernel;
use unbraid_report::read_losses;

/// A dataset and a kernel that are learned in a second.
const SMALL: [&str; 14] = [
    "learn-kernel",
    "xy_squares",
    "--set",
    "squares=1",
    "--set",
    "size=16",
    "--radius",
    "7",
    "--batch",
    "32",
    "--pairs",
    "256",
    "--learning-rate",
    "0.01",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain(more.iter().copied()).collect()
}

/// The files of a learned kernel and their bytes.
fn files(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let names = ["config.toml", "losses.csv", "checkpoint.safetensors", "kernel.npy", "kernel.png"];
    names.map(|name| (name, fs::read(folder.join(name)).unwrap())).to_vec()
}

/// The rank correlations that the doctor finds: of mse, and with the kernel of a folder.
fn ranks(place: &Place, folder: &str, path: &[&str]) -> [f64; 2] {
    let losses = format!("mse,{folder}/kernel.npy");
    let output =
        place.output(&["doctor", "xy_squares", "--set", "squares=1", "--set", "size=16", "--loss", &losses, "--json"]);
    let found: serde_json::Value = serde_json::from_str(&output).unwrap();
    let of = path.iter().fold(&found, |value, key| &value[*key]);
    let kernel = format!("{folder}/kernel.npy");
    ["mse", kernel.as_str()].map(|loss| of["spearman"][loss].as_f64().unwrap())
}

#[test]
fn distances_follow_the_factors_after_learning_and_go_against_them_where_that_is_asked_for() {
    let place = Place::new();
    let output = place.output(&small(&["--steps", "200", "--out", "with"]));
    assert!(output.ends_with("kernel: with/kernel.npy\n"), "{output}");
    for path in [&["random32"][..], &["factors", "x_R"], &["factors", "y_R"]] {
        let [before, after] = ranks(&place, "with", path);
        assert!(after > before + 0.1, "{path:?}: {before} {after}");
    }
    assert!(output.contains("kernel linear") && output.contains("random (T1's groups of 32)"), "{output}");
    let kernel = read_kernel(&place.path("with/kernel.npy")).unwrap();
    assert!(kernel.side() == 15 && kernel.taps().iter().all(|tap| *tap >= 0.0));
    let losses = read_losses(&place.path("with/losses.csv")).unwrap();
    let correlation = losses.column("correlation").unwrap();
    assert_eq!(correlation.len(), 200);
    assert!(correlation[199] > correlation[0] + 0.05, "{} {}", correlation[0], correlation[199]);
    let total = losses.column("total").unwrap();
    assert!(total[199] < total[0]);

    place.output(&small(&["--steps", "200", "--adversarial", "--out", "against"]));
    let [with, against] = ["with", "against"].map(|folder| ranks(&place, folder, &["random32"])[1]);
    assert!(against < with - 0.1, "{with} {against}");
}

#[test]
fn stopped_killed_or_on_other_threads_it_ends_in_the_same_bytes() {
    let place = Place::new();
    let command = |out: &'static str| small(&["--steps", "400", "--out", out]);
    place.output(&command("whole"));
    let wanted = files(&place.path("whole"));

    place.output(&[command("one"), vec!["--threads", "1"]].concat());
    assert!(files(&place.path("one")) == wanted, "another number of threads");
    // Once more on what is finished.
    place.output(&command("one"));
    assert!(files(&place.path("one")) == wanted, "again");

    let kills = kill_until(&place, &command("killed"), "killed/checkpoint.safetensors", "killed/kernel.npy");
    assert!(kills >= 2, "{kills}");
    // The last one may have been killed after the kernel was there.
    place.output(&command("killed"));
    assert!(files(&place.path("killed")) == wanted, "killed");
}

#[test]
fn a_config_file_gives_the_same_kernel() {
    let place = Place::new();
    place.output(&small(&["--steps", "20", "--out", "a"]));
    place.output(&["learn-kernel", "--config", "a/config.toml", "--out", "b"]);
    assert!(files(&place.path("a")) == files(&place.path("b")));
    // Left out, the folder is called after the dataset.
    place.output(&["learn-kernel", "--config", "a/config.toml"]);
    assert!(files(&place.path("a")) == files(&place.path("kernels/xy_squares")));
}

#[test]
fn what_cannot_be_learned_is_refused_and_nothing_is_written() {
    let place = Place::new();
    let refusal = |more: &[&str]| place.refusal(&[&["learn-kernel"], more, &["--out", "k"]].concat(), 2);
    let cases: &[(&[&str], &str)] = &[
        (&["xy_squares", "--radius", "0"], "[kernel] setting \"radius\" is 0"),
        (&["xy_squares", "--radius=-3"], "[kernel] setting \"radius\": found integer -3"),
        (&["xy_squares", "--radius", "64"], "a kernel of radius 64 reaches beyond images of 64 x 64"),
        (&["xy_squares", "--radius", "99999"], "[kernel] setting \"radius\" is 99999"),
        (&["xy_square"], "no dataset is called \"xy_square\"; did you mean \"xy_squares\"?"),
        (&["xy_squares", "--set", "squars=1"], "has no setting \"squars\"; did you mean \"squares\"?"),
        (&["xy_squares", "--set", "grid=1"], "dataset \"xy_squares\" has no factors that vary"),
        (&["xy_squares", "--learning-rate", "nan"], "setting \"learning_rate\""),
        (&["xy_squares", "--pairs", "1"], "[kernel] setting \"pairs\" is 1"),
        (&["synth_linear"], "reaches beyond images of 1 x 1"),
        (&["--config", "none.toml"], "none.toml"),
    ];
    for (arguments, wanted) in cases {
        let message = refusal(arguments);
        assert!(message.contains(wanted), "{arguments:?}: {message}");
    }
    place.write("wrong.toml", "[dataset]\nname = 'xy_squares'\n[kernal]\nradius = 3");
    assert!(refusal(&["--config", "wrong.toml"]).contains("has no \"kernal\"; did you mean \"kernel\"?"));
    assert!(!place.path("k").exists());
}

#[test]
fn another_config_another_folder() {
    let place = Place::new();
    place.output(&small(&["--steps", "5", "--out", "k"]));
    let message = place.refusal(&small(&["--steps", "6", "--out", "k"]), 2);
    assert!(message.contains("k was begun with another config: \"kernel.steps\" is 6 now, and was 5"), "{message}");
    place.write("model.toml", support::SMALL);
    fs::create_dir(place.path("run")).unwrap();
    place.write("run/config.toml", support::SMALL);
    assert!(place.refusal(&small(&["--out", "run"]), 2).contains("holds something else than a kernel"));
    let mut bytes = fs::read(place.path("k/checkpoint.safetensors")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    place.write("k/checkpoint.safetensors", bytes);
    let message = place.refusal(&small(&["--steps", "5", "--out", "k"]), 2);
    assert!(message.contains("checkpoint.safetensors: this is no whole checkpoint of a kernel"), "{message}");
}
