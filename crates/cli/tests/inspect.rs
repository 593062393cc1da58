//! `unbraid inspect`: what it tells of a run is what follows from the run's own files, and what does not apply says why.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;

use serde_json::Value;
use support::{Place, SMALL};
use unbraid_data::npy::read_table;

/// A run in this folder of the small config with these changes.
fn train(place: &Place, folder: &str, changes: &[&str]) {
    place.write("small.toml", SMALL);
    let mut arguments = vec!["train", "small.toml", "--out", folder];
    changes.iter().for_each(|change| arguments.extend(["--set", change]));
    place.output(&arguments);
}

fn inspected(place: &Place, arguments: &[&str]) -> Value {
    let text = place.output(&[&["inspect"], arguments, &["--json"]].concat());
    assert!(!text.contains("NaN") && !text.contains("inf,"), "{text}");
    serde_json::from_str(&text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

const NO_METRICS: &str = "metrics=[]";

#[test]
fn latents_are_told_as_the_run_saved_them() {
    let place = Place::new();
    // Of a smooth decoder differences are as good as backward passes.
    train(&place, "a", &["metrics=[{name='dto'},{name='mig'},{name='polarized'}]", "model.nonlinearity=tanh"]);
    let found = inspected(&place, &["a"]);
    let (codes, log_variances) =
        (read_table(&place.path("a/codes.npy")).unwrap(), read_table(&place.path("a/log_variances.npy")).unwrap());
    let latents = found["latents"].as_array().unwrap();
    let mut variances = Vec::new();
    for (place, latent) in latents.iter().enumerate() {
        assert_eq!(latent["position"], place + 1);
        let column: usize = latent["name"].as_str().unwrap()[1..].parse().unwrap();
        let mean = |values: &dyn Fn(usize) -> f64| (0..codes.nrows()).map(values).sum::<f64>() / codes.nrows() as f64;
        let variance = mean(&|row| log_variances[[row, column]].exp());
        let centre = mean(&|row| codes[[row, column]]);
        let deviation = mean(&|row| (codes[[row, column]] - centre).powi(2)).sqrt();
        let budget = mean(&|row| -0.5 * log_variances[[row, column]]);
        for (name, wanted) in [("mean_variance", variance), ("deviation_of_means", deviation), ("budget", budget)] {
            assert!((number(&latent[name]) - wanted).abs() < 1e-9, "{name}: {} for {wanted}", latent[name]);
        }
        assert_eq!(latent["active_by_means"], deviation > 0.5);
        assert_eq!(latent["active_by_variance"], variance < 0.8);
        variances.push(variance);
    }
    assert!(variances[0] <= variances[1], "{variances:?}");
    // The run scored the same codes by the same Jacobians, rounded to 32 bits.
    let scores: Value = serde_json::from_slice(&fs::read(place.path("a/scores.json")).unwrap()).unwrap();
    assert!((number(&found["directions"]["dto"]) - number(&scores["scores"]["dto"])).abs() < 1e-6);
    assert!((number(&found["relative_kl_error"]["at_end"]) - number(&scores["scores"]["polarized"])).abs() < 1e-9);
    assert_eq!(found["scores"]["mig"], scores["scores"]["mig"]);
    assert!((number(&found["directions"]["random_rotation"]["mean"]) - 0.548).abs() < 0.01);
    assert_eq!(found["relative_kl_error"]["over_training"].as_array().unwrap().len(), 4);
    // Both ways agree, and threads change nothing.
    let exact = inspected(&place, &["a", "--exact", "--images", "5"]);
    let differences = inspected(&place, &["a", "--images", "5", "--threads", "1"]);
    assert_eq!(
        (&exact["jacobians"]["codes"], &exact["jacobians"]["by"]),
        (&Value::from(5), &Value::from("backward passes"))
    );
    let dto = |found: &Value| number(&found["directions"]["dto"]);
    assert!((dto(&exact) - dto(&differences)).abs() < 2e-3, "{} {}", dto(&exact), dto(&differences));
    assert_eq!(differences, inspected(&place, &["a", "--images", "5", "--threads", "2"]));
    assert!(!place.path("a/inspect").exists());
}

#[test]
fn a_page_is_written_with_its_pictures_and_goes_when_training_goes_on() {
    let place = Place::new();
    train(&place, "a", &[NO_METRICS]);
    let text = place.output(&["inspect", "a", "--plane", "1,0", "--plane", "z0,z1"]);
    assert!(text.contains("of 2 latents") && text.trim_end().ends_with("a/inspect/inspect.html"), "{text}");
    for name in ["eigen-images", "plane-z1-z0", "plane-z0-z1", "local-decoders", "relative-kl-error"] {
        let file = place.path(&format!("a/inspect/{name}.png"));
        assert!(fs::read(&file).unwrap().starts_with(b"\x89PNG"), "{}", file.display());
    }
    let page = fs::read_to_string(place.path("a/inspect/inspect.html")).unwrap();
    assert!(page.contains("T4 figure 3.6") && page.contains("T4 figure 4.10"));
    // Asked for without planes, there is one of the first two latents in order, and no other; what is the user's stays.
    place.write("a/inspect/mine.png", b"");
    place.output(&["inspect", "a"]);
    let planes = ["plane-z1-z0", "plane-z0-z1"].map(|name| place.path(&format!("a/inspect/{name}.png")).exists());
    assert!(planes[0] != planes[1] && place.path("a/inspect/mine.png").exists(), "{planes:?}");
    // Pictures of other commands may have the same names.
    fs::create_dir(place.path("elsewhere")).unwrap();
    place.write("elsewhere/orthogonality.png", b"");
    place.output(&["inspect", "a", "--json", "--out", "elsewhere"]);
    assert!(place.path("elsewhere/inspect.html").exists() && place.path("elsewhere/orthogonality.png").exists());
    place.output(&["resume", "a", "--set", "training.steps=50"]);
    assert!(!place.path("a/inspect").exists());
}

/// Makes both latents active.
const ACTIVE: [&str; 3] = ["framework.beta=0.01", "training.learning_rate=0.01", "training.steps=200"];

#[test]
fn several_runs_are_set_against_their_scores() {
    let place = Place::new();
    for (seed, name) in [("seed=1", "a"), ("seed=2", "b"), ("seed=3", "c")] {
        train(&place, name, &[&["metrics=[{name='mig'},{name='ds'}]", seed], &ACTIVE[..]].concat());
    }
    let found = inspected(&place, &["a", "b", "c"]);
    let agreement = &found["orthogonality_and_disentanglement"]["mig"];
    assert_eq!(agreement["n_runs"], 3);
    // Spearman's coefficient of three runs without ties: 1 - 6 (sum of squared differences of ranks) / (3 (9 - 1)).
    let runs = found["runs"].as_array().unwrap();
    let ranks = |value: &dyn Fn(&Value) -> f64| {
        let values: Vec<f64> = runs.iter().map(value).collect();
        values.iter().map(|one| values.iter().filter(|other| *other < one).count() as f64).collect::<Vec<f64>>()
    };
    let by_dto = ranks(&|run| number(&run["directions"]["dto"]));
    let by_mig = ranks(&|run| number(&run["scores"]["mig"]));
    let squares: f64 = by_dto.iter().zip(&by_mig).map(|(a, b)| (a - b).powi(2)).sum();
    let coefficient = number(&agreement["rank_correlation_with_dto"]);
    assert!((coefficient - (1.0 - squares / 4.0)).abs() < 1e-9, "{agreement}: {by_dto:?} {by_mig:?}");
    assert_eq!(runs.len(), 3);
    let text = place.output(&["inspect", "a", "b", "c"]);
    assert!(text.starts_with("3 runs: ") && text.trim_end().ends_with("inspect/inspect.html"), "{text}");
    assert!(place.path("inspect/orthogonality.png").exists() && place.path("inspect/3-eigen-images.png").exists());
    // Pictures of a run that is no longer asked for go.
    place.output(&["inspect", "a", "b"]);
    assert!(place.path("inspect/2-eigen-images.png").exists() && !place.path("inspect/3-eigen-images.png").exists());
    // A run without an active latent has no directions to compare, and does not count.
    train(&place, "passive", &["metrics=[{name='mig'},{name='ds'}]"]);
    let four = inspected(&place, &["a", "b", "c", "passive"]);
    assert_eq!(four["orthogonality_and_disentanglement"]["mig"], *agreement);
    let two = inspected(&place, &["a", "b"]);
    let undefined = &two["orthogonality_and_disentanglement"]["mig"]["undefined"];
    assert!(undefined.as_str().unwrap().contains("3 or more"), "{undefined}");
}

#[test]
fn what_does_not_apply_says_why() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["framework={name='ae'}"], "active and passive latents", "no prior"),
        (&["framework={name='ae'}"], "variances, KL and budgets of latents", "a code is a point"),
        (&["framework={name='beta_vae_full'}"], "relative KL error", "full covariance"),
        (
            &["framework={name='joint_vae', classes=[2]}", "model.latents=4"],
            "relative KL error",
            "probabilities of classes",
        ),
        (&["framework={name='qlae'}"], "variances, KL and budgets of latents", "take a few values"),
        (&["framework={name='pcl'}"], "Jacobians, DtO, singular values and pictures", "the model has no decoder"),
        (
            &["framework={name='beta_vae', reconstruction='bce'}"],
            "how near latents are to their best variance",
            "\"mse\", alone",
        ),
    ];
    for (changes, what, why) in cases {
        let place = Place::new();
        train(&place, "a", &[*changes, &[NO_METRICS]].concat());
        let found = inspected(&place, &["a"]);
        let told = found["left_out"][what].as_str().unwrap_or_else(|| panic!("{changes:?}: {}", found["left_out"]));
        assert!(told.contains(why), "{changes:?}: {told}");
        let text = place.output(&["inspect", "a"]);
        let line = text.lines().find(|line| line.starts_with("left out: ") && line.contains(what));
        assert!(line.is_some_and(|line| line.contains(why)), "{changes:?}: {text}");
        assert!(place.path("a/inspect/inspect.html").exists());
    }
}

#[test]
fn the_last_step_is_logged_and_files_that_are_missing_are_named() {
    let place = Place::new();
    train(&place, "a", &["training.steps=25", NO_METRICS]);
    let steps = || -> Vec<String> {
        let text = fs::read_to_string(place.path("a/posteriors.csv")).unwrap();
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    assert_eq!(steps(), ["10", "20", "25"]);
    // Trained longer, it has the rows of a run that was never stopped.
    place.output(&["resume", "a", "--set", "training.steps=32"]);
    assert_eq!(steps(), ["10", "20", "30", "32"]);
    fs::remove_file(place.path("a/posteriors.csv")).unwrap();
    let found = inspected(&place, &["a"]);
    assert!(found["left_out"]["relative KL error over training"].as_str().unwrap().contains("no posteriors.csv"));
    fs::remove_file(place.path("a/log_variances.npy")).unwrap();
    for command in ["inspect", "pca"] {
        let refused = place.refusal(&[command, "a"], 2);
        assert!(refused.contains("log_variances.npy"), "{refused}");
    }
}

#[test]
fn points_have_everything_but_pictures() {
    let place = Place::new();
    let dataset = "dataset={name='synth_linear', subset={count=200, seed=1}}";
    train(&place, "a", &[dataset, "model={name='linear', latents=2}", NO_METRICS]);
    let found = inspected(&place, &["a"]);
    assert_eq!(found["latents"][0]["direction"].as_array().unwrap().len(), 3);
    assert!(found["left_out"]["eigen-images and planes"].as_str().unwrap().contains("points in space"));
    assert!(place.refusal(&["inspect", "a", "--plane", "0,1"], 2).contains("leave --plane out"));
    place.output(&["inspect", "a"]);
    assert!(place.path("a/inspect/codes.png").exists() && !place.path("a/inspect/eigen-images.png").exists());
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new();
    assert!(place.refusal(&["inspect", "nowhere"], 2).contains("nowhere"));
    place.refusal(&["inspect"], 2);
    train(&place, "a", &[NO_METRICS]);
    assert!(place.refusal(&["inspect", "a", "--plane", "0"], 2).contains("such as 0,3"));
    assert!(place.refusal(&["inspect", "a", "--plane", "0,2"], 2).contains("two different numbers from 0 to 1"));
    assert!(place.refusal(&["inspect", "a", "--plane", "1,1"], 2).contains("two different numbers"));
    assert!(place.refusal(&["inspect", "a", "--alpha", "-1"], 2).contains("alpha is -1"));
    assert!(place.refusal(&["inspect", "a", "--alpha", "NaN"], 2).contains("alpha is NaN"));
    assert!(place.refusal(&["inspect", "a", "--alpha", "1e38"], 2).contains("at most 1000000"));
    assert!(place.refusal(&["inspect", "a", "--plane", "-1,0"], 2).contains("such as 0,3"));
    assert!(place.refusal(&["inspect", "a", "./a"], 2).contains("./a is named twice"));
    place.refusal(&["inspect", "a", "--images", "0"], 2);
    place.write("file", "");
    place.refusal(&["inspect", "a", "--out", "file"], 2);
    fs::remove_file(place.path("a/model.safetensors")).unwrap();
    assert!(place.refusal(&["inspect", "a"], 2).contains("model.safetensors"));
}
