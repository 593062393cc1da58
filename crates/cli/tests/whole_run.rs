//! From a config to a report, and every command on what the run left.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use serde_json::Value;
use support::{Place, SMALL};
use unbraid_data::datasets::DATASETS;
use unbraid_learn::frameworks::FRAMEWORKS;

fn trained() -> Place {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml"]);
    place
}

#[test]
fn a_run_leaves_all_its_files_and_they_can_be_used_again() {
    let place = trained();
    let run = place.path("runs/small");
    for name in [
        "config.toml",
        "losses.csv",
        "model.safetensors",
        "codes.npy",
        "factors.npy",
        "scores.json",
        "report.html",
        "figures/losses.png",
        "figures/reconstructions.png",
        "figures/traversals.png",
        "figures/traversals.gif",
        "figures/correlation.png",
    ] {
        assert!(run.join(name).metadata().unwrap().len() > 0, "{name}");
    }
    let losses = std::fs::read_to_string(run.join("losses.csv")).unwrap();
    assert!(losses.starts_with("step,loss,reconstruction,kl\n1,"), "{losses}");
    assert_eq!(losses.lines().count(), 41);

    let config = std::fs::read_to_string(run.join("config.toml")).unwrap();
    assert!(config.contains("learning_rate = 0.001") && config.contains("epsilon = 0.00000001"), "{config}");
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("data:image/png;base64,") && page.contains("data:image/gif;base64,"));
    assert!(!page.contains("http://") && !page.contains("https://"), "the page asks for something outside");

    let places = ["<dt>mig</dt>", "<h2>Traversals</h2>", "<h2>Latents and factors</h2>", "<h2>Reconstructions</h2>"]
        .iter()
        .chain(&["<h2>Losses</h2>", "<b>sap</b>", "<summary>Config</summary>", "unbraid resume runs/small --set"])
        .map(|text| page.find(text).unwrap_or_else(|| panic!("the page has no {text}")));
    assert!(places.is_sorted(), "what was learned comes before all numbers");
    assert!(
        page.contains(
            "beta_vae, trained for 40 steps of 8 images on xy_squares: 64 images that differ in x_R and y_R."
        )
    );

    // Each later stage can be repeated alone.
    std::fs::remove_file(run.join("report.html")).unwrap();
    place.output(&["report", "runs/small"]);
    assert!(run.join("report.html").exists());
    for range in ["suited", "fixed", "min-max", "std"] {
        place.output(&["traverse", "runs/small", "--range", range, "--columns", "5", "--image", "9"]);
    }
}

#[test]
fn the_terminal_shows_the_key_scores_and_where_the_rest_is() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let output = place.run(&["train", "small.toml"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    for wanted in ["mig ", "axis_ratio ", "kl ", "0 to 1, higher is better", "runs/small/report.html"] {
        assert!(printed.contains(wanted), "{wanted}\n{printed}");
    }
    assert!(printed.contains("all scores: `unbraid evaluate runs/small`, or runs/small/scores.json"), "{printed}");
    assert!(!printed.contains("\n sap ") && !printed.contains("elbo:") && printed.lines().count() < 20, "{printed}");
    let progress = String::from_utf8(output.stderr).unwrap();
    for stage in ["training", "encoding", "measuring", "drawing"] {
        assert!(
            progress.contains(&format!("{stage}\n")) && progress.contains(&format!("{stage} finished")),
            "{progress}"
        );
    }
}

#[test]
fn scores_of_a_run_are_those_that_it_wrote() {
    let place = trained();
    let printed: Value = serde_json::from_str(&place.output(&["evaluate", "runs/small", "--json"])).unwrap();
    let written = std::fs::read_to_string(place.path("runs/small/scores.json")).unwrap();
    assert_eq!(printed, serde_json::from_str::<Value>(&written).unwrap());
    assert!(printed["scores"]["mig"].is_number(), "{printed}");
    let some: Value =
        serde_json::from_str(&place.output(&["evaluate", "runs/small", "--json", "--metrics", "mig,cbd"])).unwrap();
    assert_eq!(some["scores"]["cbd"], printed["scores"]["cbd"]);
    assert!(some["scores"].get("kl").is_none());
}

#[test]
fn every_list_prints_names_abouts_and_papers() {
    let place = Place::new();
    for kind in ["datasets", "samplers", "models", "frameworks", "reconstructions", "optimisers", "metrics"] {
        let rows: Value = serde_json::from_str(&place.output(&["list", kind, "--json"])).unwrap();
        let rows = rows.as_array().unwrap();
        assert!(!rows.is_empty(), "{kind}");
        let table = place.output(&["list", kind]);
        for row in rows {
            for key in ["name", "about", "paper"] {
                assert!(!row[key].as_str().unwrap().is_empty(), "{kind}: {row}");
            }
            assert!(table.contains(row["name"].as_str().unwrap()), "{table}");
        }
    }
}

#[test]
fn every_dataset_is_measured_and_its_pictures_are_shown() {
    let place = Place::new();
    for entry in DATASETS {
        let name = entry.name;
        // Paths in examples start from the folder of a crate.
        let set = |(key, value): (&String, &toml::Value)| {
            let value = value.to_string().replace("../..", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
            ["--set".to_string(), format!("{key}={value}")]
        };
        let settings: Vec<String> = entry.example_settings().iter().flat_map(set).collect();
        if name.starts_with("synth") {
            assert!(place.refusal(&["data", "show", name], 2).contains("points in space"));
        } else {
            let arguments =
                ["data", "show", name, "--out", "shown"].into_iter().chain(settings.iter().map(String::as_str));
            place.output(&arguments.collect::<Vec<_>>());
            for kind in ["sheet", "factors"] {
                assert!(place.path(&format!("shown/{name}-{kind}.png")).exists(), "{name}-{kind}");
            }
        }
    }
    let stats = place.output(&["data", "stats", "xy_squares"]);
    // 1 / sqrt(65), to which T1's table A.2 agrees in 14 digits.
    assert!(stats.contains("0.015625000000000") && stats.contains("0.124034734589208"), "{stats}");
}

#[test]
fn the_speed_of_training_is_told_for_every_case() {
    let place = Place::new();
    let speeds: Value = serde_json::from_str(&place.output(&["bench", "train", "--json", "--seconds", "0"])).unwrap();
    let cases = ["conv.b64.c1", "conv.b256.c1", "conv.b64.c3", "conv.b256.c3", "encode.c1", "encode.c3", "mlp.b256"];
    for case in cases {
        assert!(speeds[case].as_f64().unwrap() > 0.0, "{speeds}");
        assert!(speeds["share_of_peak"][case].as_f64().unwrap() > 0.0, "{speeds}");
    }
    assert!(speeds["peak_gflops"].as_f64().unwrap() > 0.0, "{speeds}");
    let table = place.output(&["bench", "train", "--seconds", "0", "--cases", "encode.c1"]);
    assert!(table.contains("encode.c1") && !table.contains("mlp"), "{table}");
}

#[test]
fn the_cost_of_a_step_is_told_for_every_framework() {
    let place = Place::new();
    let quick = ["bench", "frameworks", "--rounds", "1", "--batch-size", "2"];
    let costs: Value = serde_json::from_str(&place.output(&[&quick[..], &["--json"]].concat())).unwrap();
    let table = place.output(&quick);
    for entry in FRAMEWORKS {
        assert!(costs[entry.name].as_f64().unwrap() > 0.0, "{}: {costs}", entry.name);
        assert!(table.contains(entry.name), "{}: {table}", entry.name);
    }
    assert_eq!(costs["beta_vae"], 1.0);
}

#[test]
fn an_export_has_the_images_that_were_asked_for() {
    let place = Place::new();
    place.output(&["data", "export", "xy_squares", "few.npz", "--set", "squares=1", "--set", "rgb=false"]);
    assert!(place.path("few.npz").exists());
    let shape = |name: &str| {
        let mut file = unbraid_formats::npz::Npz::open(&place.path(name)).unwrap();
        file.required("images").unwrap().shape().to_vec()
    };
    assert_eq!(shape("few.npz"), [64, 64, 64, 1]);
}

#[test]
fn start_up_needs_neither_files_nor_time() {
    let help = Place::new().output(&["--help"]);
    for command in ["demo", "list", "data", "train", "resume", "evaluate", "entangle", "traverse", "report", "bench"] {
        assert!(help.contains(command), "{help}");
    }
}

#[test]
#[cfg(unix)]
fn an_export_onto_a_full_disk_says_what_happened_and_where() {
    let place = Place::new();
    // The file is written under this name until it is whole; `exec` keeps the number of the process.
    let command = format!("exec {} data export xy_squares out.npz --set squares=1", env!("CARGO_BIN_EXE_unbraid"));
    let line = format!("ln -s /dev/full .out.npz.tmp-$$000000; {command}");
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("error: cannot write out.npz: no space left on the disk"), "{errors}");
    assert!(!place.path("out.npz").exists());
}

#[test]
fn the_whole_config_is_printed_and_nothing_is_trained() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let printed = place.output(&["train", "small.toml", "--print-config", "--set", "framework.beta=8"]);
    assert!(printed.contains("beta = 8.0") && printed.contains("epsilon = 0.00000001"), "{printed}");
    assert!(!place.path("runs").exists());
    place.write("whole.toml", &printed);
    assert_eq!(place.output(&["train", "whole.toml", "--print-config"]), printed);
    place.output(&["train", "whole.toml", "--out", "a"]);
    assert_eq!(std::fs::read_to_string(place.path("a/config.toml")).unwrap(), printed);
    assert!(
        place.refusal(&["train", "small.toml", "--print-config", "--set", "rows=99"], 2).contains("\"rows\" is 99")
    );
}
