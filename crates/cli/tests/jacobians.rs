//! What metrics need of the decoder is saved with a run's codes: scoring them never opens the model.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;

use serde_json::Value;
use support::tables::json;
use support::{Place, SMALL, exact_files};
use unbraid_data::npy::read_tables;

/// A run in `a`; with these metrics, or all where there are none.
fn trained(metrics: &str) -> Place {
    let place = Place::new();
    place.write("small.toml", format!("{SMALL}{metrics}"));
    place.output(&["train", "small.toml", "--out", "a"]);
    place
}

const ONE_METRIC: &str = "\n[[metrics]]\nname = \"mig\"\n";

fn written_scores(place: &Place) -> Value {
    serde_json::from_str(&fs::read_to_string(place.path("a/scores.json")).unwrap()).unwrap()
}

#[test]
fn a_run_is_scored_without_its_model_to_the_bit() {
    let place = trained("");
    // All 64 images of 64 x 64 pixels, two latents.
    assert_eq!(read_tables(&place.path("a/jacobians.npy")).unwrap().dim(), (64, 64 * 64, 2));
    let written = written_scores(&place);
    assert!(written["scores"]["dto"].is_number(), "{written}");
    fs::write(place.path("a/model.safetensors"), b"damaged").unwrap();
    assert_eq!(json(&place, &["a"]), written);
    fs::remove_file(place.path("a/model.safetensors")).unwrap();
    assert_eq!(json(&place, &["a"]), written);
}

#[test]
fn what_no_metric_asked_for_is_made_by_a_report() {
    let place = trained(ONE_METRIC);
    assert!(!place.path("a/jacobians.npy").exists());
    let without = json(&place, &["a", "--metrics", "dto"]);
    for score in ["dto", "dto.active", "dto.degenerate"] {
        let reason = without["undefined"][score].as_str().unwrap();
        assert_eq!(
            reason,
            "needs the decoder's Jacobians, which a does not hold: `unbraid report a` makes jacobians.npy"
        );
    }
    let before = fs::read(place.path("a/codes.npy")).unwrap();
    place.output(&["report", "a"]);
    assert!(fs::read(place.path("a/codes.npy")).unwrap() == before);
    // The same as where the config asks for them from the start, and as where it does so later.
    let asked = trained("");
    let jacobians = |place: &Place| fs::read(place.path("a/jacobians.npy")).unwrap();
    assert!(jacobians(&place) == jacobians(&asked));
    assert_eq!(json(&place, &["a", "--metrics", "dto"])["scores"]["dto"], written_scores(&asked)["scores"]["dto"]);
    let later = trained(ONE_METRIC);
    later.output(&["resume", "a", "--set", "metrics=[{name='mig'}, {name='dto'}]"]);
    assert!(jacobians(&later) == jacobians(&asked));
}

#[test]
fn a_report_of_a_whole_run_keeps_what_was_saved_and_makes_what_is_gone() {
    let place = trained("");
    let before = exact_files(&place.path("a"));
    place.output(&["report", "a"]);
    assert!(exact_files(&place.path("a")) == before);
    fs::remove_file(place.path("a/jacobians.npy")).unwrap();
    place.output(&["report", "a"]);
    assert!(exact_files(&place.path("a")) == before);
}

#[test]
fn saved_jacobians_that_are_damaged_or_of_other_codes_are_refused() {
    let place = trained("");
    let jacobians = fs::read(place.path("a/jacobians.npy")).unwrap();
    fs::write(place.path("a/jacobians.npy"), &jacobians[..jacobians.len() / 2]).unwrap();
    assert!(place.refusal(&["evaluate", "a"], 2).contains("a/jacobians.npy: an array of shape [64, 4096, 2]"));
    fs::copy(place.path("a/codes.npy"), place.path("a/jacobians.npy")).unwrap();
    assert!(place.refusal(&["evaluate", "a"], 2).contains("a/jacobians.npy: wanted tables with three axes"));
    // Other metrics do not read them.
    assert!(json(&place, &["a", "--metrics", "mig"])["scores"]["mig"].is_number());
}
