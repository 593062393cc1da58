//! `unbraid study`, `compare` and `export`: many runs together.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::path::PathBuf;

use serde_json::Value;
use support::Place;

/// Twelve runs of a fraction of a second.
const SWEEP: &str = r#"
[base]
rows = 64
metrics = [{ name = "mig" }, { name = "cbd" }, { name = "udr" }, { name = "reconstruction" }]

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

[shared]
seed = [1, 2, 3]

[[grid]]
framework.beta = [0.25, 1.0, 4.0]

[[grid]]
framework = [{ name = "vae" }]
"#;

fn swept() -> Place {
    let place = Place::new();
    place.write("grid.toml", SWEEP);
    place.output(&["sweep", "grid.toml"]);
    place
}

#[test]
fn a_study_is_a_page_and_a_table_with_a_row_for_each_run() {
    let place = swept();
    let said = place.output(&["study", "runs"]);
    let lead = "12 runs of 2 objectives (beta_vae, vae) in 4 settings with 3 seeds, on 1 dataset (xy_squares).";
    assert!(said.starts_with(lead), "{said}");
    assert!(said.contains("What decides a score") && said.contains("page: study/study.html"), "{said}");
    let page = std::fs::read_to_string(place.path("study/study.html")).unwrap();
    assert!(page.contains("Do metrics agree?") && page.contains("data:image/png;base64,"));
    let csv = std::fs::read_to_string(place.path("study/runs.csv")).unwrap();
    assert_eq!(csv.lines().count(), 13);
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for column in
        ["run", "seed", "framework.name", "framework.beta", "training.steps", "mig", "cbd", "reconstruction", "udr"]
    {
        assert!(header.contains(&column), "{column}: {header:?}");
    }
    // The folder of the sweep has the same runs, and its table is the same.
    place.output(&["study", "runs/sweeps/grid", "--out", "again"]);
    let rows = |text: &str| -> Vec<String> {
        let mut rows: Vec<String> = text.lines().map(str::to_string).collect();
        rows.sort();
        rows
    };
    let again = std::fs::read_to_string(place.path("again/runs.csv")).unwrap();
    assert_eq!(rows(&again), rows(&csv));
    // A run whose codes were removed to save space takes part in all but UDR.
    let of_vae = |path: &PathBuf| path.to_string_lossy().contains("-vae-s1-");
    let runs = std::fs::read_dir(place.path("runs")).unwrap().map(|run| run.unwrap().path());
    std::fs::remove_file(runs.filter(of_vae).last().unwrap().join("codes.npy")).unwrap();
    let output = place.run(&["study", "runs", "--out", "without"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("note: 1 run without udr: their codes were removed"), "{told}");
    let table = std::fs::read_to_string(place.path("without/runs.csv")).unwrap();
    assert_eq!(table.lines().count(), 13);
}

#[test]
fn runs_are_compared_by_groups_of_seeds() {
    let place = swept();
    let comparison: Value = serde_json::from_str(&place.output(&["compare", "runs", "--json"])).unwrap();
    let groups = comparison["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 4);
    assert!(groups.iter().all(|group| group["seeds"] == serde_json::json!([1, 2, 3])), "{groups:?}");
    let mig = comparison["scores"].as_array().unwrap().iter().find(|score| score["name"] == "mig").unwrap();
    // The mean is that of the three runs.
    let of_run = |run: &Value| -> f64 {
        let text = std::fs::read_to_string(place.path("runs").join(run.as_str().unwrap()).join("scores.json")).unwrap();
        let scores: Value = serde_json::from_str(&text).unwrap();
        find_number(&scores, "mig").unwrap()
    };
    let mean = groups[0]["runs"].as_array().unwrap().iter().map(of_run).sum::<f64>() / 3.0;
    assert!((mig["groups"][0]["mean"].as_f64().unwrap() - mean).abs() < 1e-12, "{mig}");
    assert_eq!(mig["against_first"].as_array().unwrap().len(), 3);
    let said = place.output(&["compare", "runs"]);
    assert!(said.contains("mig") && said.contains('±'), "{said}");
}

/// The score of this name, wherever it stands in the file.
fn find_number(value: &Value, name: &str) -> Option<f64> {
    match value {
        Value::Object(entries) => {
            let here = entries.get(name).and_then(Value::as_f64);
            let named = || (entries.get("name")? == name).then(|| entries.get("value")?.as_f64())?;
            here.or_else(named).or_else(|| entries.values().find_map(|inner| find_number(inner, name)))
        }
        Value::Array(values) => values.iter().find_map(|inner| find_number(inner, name)),
        _ => None,
    }
}

#[test]
fn runs_are_exported_and_what_is_left_out_is_told() {
    let place = swept();
    let run = std::fs::read_dir(place.path("runs")).unwrap().map(|entry| entry.unwrap().path());
    let run = run.filter(|path| path.join("config.toml").exists()).min().unwrap();
    // A run that has no scores yet, and one that is there twice.
    std::fs::create_dir(place.path("runs/begun")).unwrap();
    std::fs::copy(run.join("config.toml"), place.path("runs/begun/config.toml")).unwrap();
    std::fs::write(place.path("runs/begun/losses.csv"), "step\n").unwrap();
    let output = place.run(&["export", "runs", run.to_str().unwrap(), "--format", "csv"]);
    let (said, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(said.lines().count(), 13);
    assert!(notes.contains("1 run left out: without scores yet"), "{notes}");
    assert!(notes.contains("1 run left out: of the same config and seed as another"), "{notes}");
    place.output(&["export", "runs", "--format", "parquet", "--out", "runs.parquet"]);
    assert!(std::fs::read(place.path("runs.parquet")).unwrap().starts_with(b"PAR1"));
    let offline = place.output(&["export", run.to_str().unwrap(), "--format", "wandb"]);
    assert!(offline.starts_with("wandb/offline-run-") && place.path(offline.trim()).is_dir(), "{offline}");
    // One that is damaged does not keep the others from being written.
    std::fs::write(run.join("status.json"), "{").unwrap();
    let output = place.run(&["export", "runs", "--format", "wandb", "--out", "all"]);
    let (said, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 11), "{notes}");
    assert!(notes.contains("1 run left out: ") && notes.contains("status.json"), "{notes}");
}

#[test]
fn a_run_that_failed_or_is_damaged_or_was_measured_twice_is_told_and_does_not_keep_the_others_from_being_seen() {
    let place = swept();
    // The same models with a metric more, and one that diverges.
    place.write("more.toml", SWEEP.replace("{ name = \"cbd\" },", "{ name = \"cbd\" }, { name = \"sap\" },"));
    place.output(&["sweep", "more.toml", "--set", "log.tensorboard=true"]);
    let diverging =
        ["sweep", "grid.toml", "--set", "training.learning_rate=1e6", "--set", "optimiser={ name = 'sgd' }"];
    assert_eq!(place.run(&diverging).status.code(), Some(1));
    let damaged = std::fs::read_dir(place.path("runs")).unwrap().map(|entry| entry.unwrap().path());
    let damaged =
        damaged.filter(|path| path.to_str().unwrap().contains("-vae-s3-") && path.join("scores.json").exists());
    damaged.for_each(|run| std::fs::write(run.join("scores.json"), "{").unwrap());
    let output = place.run(&["study", "runs"]);
    let (said, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(said.starts_with("11 runs of 2 objectives"), "{said}{notes}");
    let page = std::fs::read_to_string(place.path("study/study.html")).unwrap();
    let lines: Vec<&str> = notes.lines().filter_map(|line| line.strip_prefix("note: ")).collect();
    assert_eq!(lines.len(), 3, "{notes}");
    for (line, start) in lines.iter().zip([
        "12 runs left out: failed",
        "2 runs left out: cannot be read",
        "11 runs left out: of the same model",
    ]) {
        assert!(line.starts_with(start), "{notes}");
        assert!(page.contains(start), "{start}");
    }
    // The fuller of two is the one that stays.
    let csv = std::fs::read_to_string(place.path("study/runs.csv")).unwrap();
    let sap = csv.lines().next().unwrap().split(',').position(|name| name == "sap").unwrap();
    assert!(csv.lines().skip(1).all(|row| !row.split(',').nth(sap).unwrap().is_empty()), "{csv}");
}

#[test]
fn runs_that_were_killed_or_never_began_are_told_by_their_sweep() {
    let place = swept();
    let run = std::fs::read_dir(place.path("runs")).unwrap().map(|entry| entry.unwrap().file_name());
    let run = run.map(|name| name.into_string().unwrap()).filter(|name| name != "sweeps").min().unwrap();
    std::fs::remove_dir_all(place.path("runs").join(&run)).unwrap();
    let notes = || String::from_utf8(place.run(&["study", "runs/sweeps/grid"]).stderr).unwrap();
    assert!(notes().contains("1 run left out: without scores yet"), "{}", notes());
    std::fs::create_dir_all(place.path("runs/sweeps/grid/failed")).unwrap();
    place.write(&format!("runs/sweeps/grid/failed/{run}.txt"), "its process was ended 3 times\n");
    let told =
        format!("1 run left out: failed, so that their settings look better than they are ({run}: its process was");
    assert!(notes().contains(&told), "{}", notes());
}

#[test]
fn folders_without_runs_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    for command in ["study", "compare"] {
        let refused = place.refusal(&[command, "empty"], 2);
        assert!(refused.contains("there is no run in empty"), "{refused}");
        assert!(place.refusal(&[command, "none"], 2).contains("there is no folder none"));
    }
    place.write("grid.toml", SWEEP);
    place.output(&["sweep", "grid.toml", "--set", "training.steps=1", "--set", "rows=32", "--jobs", "1"]);
    assert!(place.refusal(&["export", "runs", "--format", "parquet"], 2).contains("wanted --out FILE.parquet"));
}
