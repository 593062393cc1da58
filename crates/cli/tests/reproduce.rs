//! `unbraid reproduce` of what is trained, and `unbraid suggest-beta`: what they leave, what they refuse, and a beta that is known.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::Place;

const TRAINED: [&str; 35] = [
    "t1-figure-3.7",
    "t1-figure-3.10",
    "t1-figure-3.12",
    "t1-figure-4.4",
    "t1-figure-5.1",
    "t1-figure-5.5",
    "t1-figure-5.7",
    "t1-figure-6.4",
    "t1-figure-7.3",
    "t1-figure-7.6",
    "t2-figure-1",
    "t2-figure-2",
    "t2-figure-3",
    "t2-figure-4",
    "t2-figure-5",
    "t2-variance-explained",
    "t2-random-good",
    "t3-table-6.1",
    "t3-table-6.2",
    "t3-table-7.1",
    "t3-table-7.2",
    "t3-table-7.3",
    "t3-table-7.4",
    "t3-figure-4.1",
    "t3-figure-4.5",
    "t3-figure-5.4",
    "t3-figure-6.1",
    "t3-figure-7.2",
    "t4-table-3.2",
    "t4-table-3.3",
    "t4-table-3.4",
    "t4-table-4.2",
    "t4-figure-3.4",
    "t4-figure-3.7",
    "t4-figure-4.4",
];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The folders of runs, without that of sweeps.
fn runs_in(folder: &Path) -> Vec<PathBuf> {
    let mut runs: Vec<_> = std::fs::read_dir(folder).unwrap().map(|run| run.unwrap().path()).collect();
    runs.retain(|path| !path.ends_with("sweeps"));
    runs.sort();
    runs
}

#[test]
fn each_is_made_from_runs_that_are_trained_once_and_compared_with_nothing_at_the_smallest_scale() {
    // They share the runs that they have in common.
    let place = Place::new();
    for name in TRAINED {
        let arguments = ["reproduce", name, "--scale", "smoke", "--json"];
        let first = place.output(&arguments);
        let found = json(&first);
        let rows = found["rows"].as_array().unwrap();
        assert!(found["agrees"].is_null(), "{name}: {first}");
        assert!(!rows.is_empty() && rows.iter().all(|row| row["agrees"].is_null()), "{name}: {first}");
        // Some numbers are of all runs together, or of curves.
        let is_of_all = name.starts_with("t2-") || ["t3-figure-4.1", "t3-figure-5.4", "t3-figure-6.1"].contains(&name);
        let is_of_runs = is_of_all || rows.iter().any(|row| row["runs"].as_u64() >= Some(1));
        assert!(is_of_runs, "{name}");
        let models = || -> Vec<_> {
            let runs = runs_in(&place.path("reproductions/runs"));
            let written = |run: &PathBuf| run.join("model.safetensors").metadata().unwrap().modified().unwrap();
            runs.iter().map(|run| (run.clone(), written(run))).collect()
        };
        let before = models();
        assert_eq!(place.output(&arguments), first, "{name}");
        assert_eq!(models(), before, "{name}");
        for figure in found["figures"].as_array().unwrap() {
            assert!(place.path(figure.as_str().unwrap()).exists(), "{name}");
        }
    }
}

#[test]
fn a_scale_is_refused_where_nothing_is_trained_and_one_that_is_none_is_named() {
    let place = Place::new();
    let refused = place.refusal(&["reproduce", "t4-example-3.20", "--scale", "small"], 2);
    assert!(refused.contains("t4-example-3.20 trains nothing, and has no scale"), "{refused}");
    let refused = place.refusal(&["reproduce", "t4-table-3.4", "--scale", "large"], 2);
    assert!(refused.contains("smoke, small, paper"), "{refused}");
    place.output(&["reproduce", "t4-table-3.4", "--scale", "smoke", "--out", "here"]);
    let run = runs_in(&place.path("here/runs")).remove(0);
    std::fs::write(run.join("config.toml"), "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'").unwrap();
    let refused = place.refusal(&["reproduce", "t4-table-3.4", "--scale", "smoke", "--out", "here"], 2);
    assert!(refused.contains("holds a run of another config"), "{refused}");
}

/// Variances of the linear points are 4/12 and 1/12.
const POINTS: &str = "
rows = 500
[dataset]
name = 'synth_linear'
[framework]
name = 'vae'
[model]
name = 'linear'
latents = 2
[training]
steps = 4_000
batch_size = 64
learning_rate = { from = 1e-2, to = 1e-3, steps = 4_000 }
";

#[test]
fn the_first_latent_of_a_linear_vae_goes_out_where_the_closed_form_says() {
    let place = Place::new();
    place.write("points.toml", POINTS);
    let arguments = ["suggest-beta", "points.toml", "--from", "0.03", "--steps", "4000"];
    let found = json(&place.output(&[&arguments[..], &["--json"]].concat()));
    // A latent of variance v has the posterior variance beta / 2 v: 0.95 of the smaller one at 0.95 / 6.
    let [below, above] = ["all_latents_used_at", "one_latent_out_at"].map(|key| found[key].as_f64().unwrap());
    let known = 0.95 / 6.0;
    assert!(below < known && known < above && above / below < 1.35, "{below} {above}");
    let suggestion = found["suggestion"].as_f64().unwrap();
    assert!(below < suggestion && suggestion < above);
    for one in found["tried"].as_array().unwrap() {
        let beta = one["beta"].as_f64().unwrap();
        let mut variances: Vec<f64> =
            one["mean_variances"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        variances.sort_by(f64::total_cmp);
        for (variance, known) in variances.into_iter().zip([4.0, 1.0].map(|v: f64| (beta * 12.0 / (2.0 * v)).min(1.0)))
        {
            assert!((variance - known).abs() < 0.03, "beta {beta}: {variance}, and the closed form says {known}");
        }
    }
    let printed = place.output(&arguments);
    assert!(printed.contains("suggestion: beta about") && printed.contains("2 of 2"), "{printed}");
    assert!(place.path("runs/points-beta/beta.png").exists());

    // In means over 3 pixels and 2 latents the same place is at two thirds of it.
    let set = ["--set", "framework.reduction=mean", "--out", "mean"];
    let found =
        json(&place.output(
            &[&["suggest-beta", "points.toml", "--from", "0.02", "--steps", "4000", "--json"], &set[..]].concat(),
        ));
    let [below, above] = ["all_latents_used_at", "one_latent_out_at"].map(|key| found[key].as_f64().unwrap());
    assert!(below < known * 2.0 / 3.0 && known * 2.0 / 3.0 < above, "{below} {above}");
}

#[test]
fn searches_that_find_nothing_say_so_and_frameworks_without_a_beta_are_refused() {
    let place = Place::new();
    place.write("points.toml", POINTS);
    let search = |more: &[&'static str]| [&["suggest-beta", "points.toml", "--steps", "800"], more].concat();
    let printed = place.output(&search(&["--from", "1e-6", "--to", "2e-6"]));
    assert!(printed.contains("no suggestion: at 0.000002, the largest beta tried"), "{printed}");
    let printed =
        place.output(&search(&["--from", "1000", "--to", "2000", "--set", "training.learning_rate=0.3", "--out", "b"]));
    assert!(printed.contains("no suggestion: at 1000, the least beta tried"), "{printed}");
    for (framework, reason) in [("ae", "has no beta"), ("beta_vae_full", "latents have no variance of their own")] {
        let refused =
            place.refusal(&["suggest-beta", "points.toml", "--set", &format!("framework.name={framework}")], 2);
        assert!(refused.contains(reason) && refused.contains("wanted vae or one of beta_vae,"), "{refused}");
    }
    let refused = place.refusal(&search(&["--from", "2", "--to", "1"]), 2);
    assert!(refused.contains("the search goes from 2.0 to 1.0"), "{refused}");
    let refused = place.refusal(&search(&["--from", "1e-300"]), 2);
    assert!(refused.contains("wanted --from of 1e-12 or more"), "{refused}");
    assert!(place.refusal(&search(&["--from", "-1"]), 2).contains("the search goes from -1.0"));
}
