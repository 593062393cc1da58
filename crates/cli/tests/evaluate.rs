//! Anyone's codes: every format gives the same scores, and several inputs stand side by side.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use serde_json::Value;
use support::tables::{Table, every_format, json};
use support::{Place, SMALL};
use unbraid_data::npy::write_header;
use unbraid_experiment::evaluation::{Choice, Reading, evaluate, read_inputs};
use unbraid_experiment::watch::Nobody;
use unbraid_report::scores_file::scores_json;

#[test]
fn every_format_gives_the_same_scores() {
    let place = every_format();
    let named = json(&place, &["named.npz"]);
    assert!(named["scores"]["mig"].is_number() && named["scores"]["mig.shape"].is_number(), "{named}");
    for file in ["table.csv", "table.tsv", "table.parquet"] {
        assert_eq!(json(&place, &[file]), named, "{file}");
        assert_eq!(json(&place, &[file, "--factors", "shape,angle"]), named, "{file}");
    }
    assert_eq!(json(&place, &["other_names.csv", "--factors", "shape,angle"]), named);
    let plain = json(&place, &["plain.npz"]);
    assert_eq!(json(&place, &["codes.npy", "--factors", "factors.npy"]), plain);
    assert_eq!(plain["scores"]["mig"], named["scores"]["mig"]);
}

#[test]
fn the_library_gives_the_scores_of_the_command() {
    let place = every_format();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let names = ["named.npz", "table.csv", "run"];
    let inputs = read_inputs(&names.map(|name| place.path(name)), &Reading::default()).unwrap();
    let choice = Choice { changes: vec!["mig.bins=7".to_string()], seed: Some(3), ..Choice::default() };
    let evaluations = evaluate(&inputs, &choice, &mut Nobody).unwrap();
    let of_command = json(&place, &["named.npz", "table.csv", "run", "--set", "mig.bins=7", "--seed", "3"]);
    for (name, evaluation) in names.iter().zip(&evaluations) {
        // As text, since reading a number back may change its last bit.
        let scores: Value = serde_json::from_str(&scores_json(&evaluation.scores).to_string()).unwrap();
        assert!(scores["scores"]["mig"].is_number(), "{scores}");
        assert_eq!(scores, of_command["inputs"][name], "{name}");
    }
}

#[test]
fn text_is_numbered_and_kinds_can_be_overruled() {
    let place = every_format();
    let table = Table::new(0.3);
    // In sorted order: ant, bee, cat, dog.
    let mut text = table.csv("shape,z0,z1,angle,z2");
    for (number, name) in ["ant", "bee", "cat", "dog"].iter().enumerate() {
        text = text.replace(&format!("\n{number},"), &format!("\n{name},"));
    }
    place.write("text.csv", &text);
    let named = json(&place, &["named.npz"]);
    let text = json(&place, &["text.csv"]);
    assert_eq!((&text["scores"], &text["undefined"]), (&named["scores"], &named["undefined"]));
    assert!(text["notes"].to_string().contains("are text and numbered alphabetically"));
    let discrete = json(&place, &["table.csv", "--discrete", "angle"]);
    assert_ne!(discrete["scores"]["mig.angle"], named["scores"]["mig.angle"]);
    assert_eq!(json(&place, &["named.npz", "--discrete", "angle"]), discrete);
    let continuous = json(&place, &["table.csv", "--continuous", "shape"]);
    assert_eq!(json(&place, &["table.parquet", "--continuous", "shape"]), continuous);
    assert_eq!(json(&place, &["named.npz", "--continuous", "shape"]), continuous);
    // How the columns were understood is printed beside the scores.
    let errors = String::from_utf8(place.run(&["evaluate", "text.csv"]).stderr).unwrap();
    assert_eq!(errors, "text.csv: 3 latents from z0 to z2; factors shape (4 values), angle (continuous)\n");
}

#[test]
fn text_in_arrays_is_numbered_as_in_csv() {
    let place = Place::new();
    let table = Table::new(0.3);
    let words = ["ant", "bee", "cat", "dog"];
    let mut text = table.csv("shape,z0,z1,angle,z2");
    for (number, name) in words.iter().enumerate() {
        text = text.replace(&format!("\n{number},"), &format!("\n{name},"));
    }
    place.write("text.csv", &text);
    // numpy makes text of numbers that stand beside text.
    let mut factors = Vec::new();
    write_header(&mut factors, "<U32", &[60, 2]).unwrap();
    for [shape, angle] in &table.factors {
        for cell in [words[*shape as usize].to_string(), angle.to_string()] {
            let padded = cell.chars().chain(std::iter::repeat('\0')).take(32);
            factors.extend(padded.flat_map(|letter| u32::from(letter).to_le_bytes()));
        }
    }
    place.write("factors.npy", &factors);
    place.write("codes.npy", Table::npy(&table.codes));
    let of_arrays = json(&place, &["codes.npy", "--factors", "factors.npy", "--metrics", "mig,cbd"]);
    let of_csv = json(&place, &["text.csv", "--metrics", "mig,cbd"]);
    for score in ["mig", "cbd"] {
        assert_eq!(of_arrays["scores"][score], of_csv["scores"][score], "{score}");
    }
    let refused = ["evaluate", "codes.npy", "--factors", "factors.npy", "--continuous", "factor_0"];
    assert!(place.refusal(&refused, 2).contains("factor \"factor_0\" is called continuous, but holds text"));
}

#[test]
fn several_inputs_stand_side_by_side() {
    let place = every_format();
    place.write("other.npz", Table::new(0.9).npz(Some(["shape", "angle"])));
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let names = ["named.npz", "other.npz", "run"];
    let all = json(&place, &names);
    for name in names {
        assert!(all["inputs"][name]["scores"]["mig"].is_number(), "{all}");
    }
    assert_eq!(all["inputs"]["other.npz"]["scores"]["mig"], json(&place, &["other.npz"])["scores"]["mig"]);
    let table = place.output(&["evaluate", "named.npz", "other.npz", "run"]);
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["score", "named.npz", "other.npz", "run", "better"]);
    let row: Vec<&str> = table.lines().find(|line| line.starts_with(" kl ")).unwrap().split_whitespace().collect();
    assert_eq!(row[..3], ["kl", "–", "–"]);
    assert!(table.contains("not defined:\n") && table.contains(" of named.npz, other.npz: "), "{table}");
    assert!(place.refusal(&["evaluate", "run", "run"], 2).contains("run is named twice"));
}

#[test]
fn inputs_of_every_kind_stand_side_by_side() {
    let place = every_format();
    place.write("small.toml", SMALL);
    place.output(&["train", "small.toml", "--out", "run"]);
    let inputs = ["run", "named.npz", "codes.npy", "table.csv", "table.tsv", "table.parquet", "other_names.csv"];
    let factors = ["--factors", "factors.npy", "--factors", "shape,angle"];
    let kinds = ["--continuous", "shape", "--discrete", "angle,factor_1"];
    let chosen = ["--metrics", "mig,udr,cbd"];
    let arguments: Vec<&str> = inputs.iter().chain(&factors).chain(&chosen).copied().collect();
    let all = json(&place, &arguments);
    let alone = json(&place, &["named.npz", "--metrics", "mig,udr,cbd"]);
    for name in &inputs[1..] {
        let scores = &all["inputs"][name]["scores"];
        assert_eq!(scores["mig"], alone["scores"]["mig"], "{name}");
        // The six are codes of the same images, and are compared as such; the run's are not.
        assert!(scores["udr"].is_number(), "{name}: {scores}");
    }
    assert!(all["inputs"]["run"]["scores"]["mig"].is_number());
    assert!(all["inputs"]["run"]["undefined"]["udr"].is_string());
    // What is said of factors holds for the inputs that have them.
    let arguments: Vec<&str> = arguments.into_iter().chain(kinds).collect();
    let overruled = json(&place, &arguments);
    let mig = |all: &Value, name: &str| all["inputs"][name]["scores"]["mig"].clone();
    assert_eq!(mig(&overruled, "run"), mig(&all, "run"));
    assert_ne!(mig(&overruled, "codes.npy"), mig(&all, "codes.npy"));
    assert_ne!(mig(&overruled, "table.csv"), mig(&all, "table.csv"));
    assert_eq!(mig(&overruled, "table.csv"), mig(&overruled, "named.npz"));
    // A run's factors can be overruled, too.
    let plain = json(&place, &["run", "--metrics", "mig"]);
    let name = plain["scores"].as_object().unwrap().keys().find_map(|name| name.strip_prefix("mig.")).unwrap();
    let continuous = json(&place, &["run", "--metrics", "mig", "--continuous", name]);
    assert!(continuous["scores"]["mig"].is_number(), "{continuous}");
    assert!(place.refusal(&["evaluate", "run", "--discrete", "shapes"], 2).contains("no factor is called \"shapes\""));
}

#[test]
fn runs_with_several_seeds_encode_the_same_rows_and_are_ranked() {
    let place = Place::new();
    place.write("small.toml", format!("rows = 30\n{SMALL}"));
    for seed in ["1", "2", "3"] {
        let (run, change) = (format!("s{seed}"), format!("seed={seed}"));
        place.output(&["train", "small.toml", "--out", &run, "--set", &change]);
    }
    let all: Value =
        serde_json::from_str(&place.output(&["evaluate", "s1", "s2", "s3", "--metrics", "udr", "--json"])).unwrap();
    for run in ["s1", "s2", "s3"] {
        assert!(all["inputs"][run]["scores"]["udr"].is_number(), "{all}");
    }
    // Of other images there is no ranking, and that is the reason.
    place.output(&["resume", "s2", "--set", "rows_seed=2"]);
    let all: Value =
        serde_json::from_str(&place.output(&["evaluate", "s1", "s2", "--metrics", "udr", "--json"])).unwrap();
    for run in ["s1", "s2"] {
        let reason = all["inputs"][run]["undefined"]["udr"].as_str().unwrap();
        assert!(reason.contains("another input is of other images: the factors of its rows differ"), "{reason}");
    }
    let all: Value =
        serde_json::from_str(&place.output(&["evaluate", "s1", "s2", "s3", "--metrics", "udr", "--json"])).unwrap();
    assert!(all["inputs"]["s1"]["scores"]["udr"].is_number(), "{all}");
    assert!(
        all["inputs"]["s1"]["notes"].to_string().contains("compared with 1 of 2 inputs: the others show other images"),
        "{all}"
    );
}

#[test]
fn what_an_auto_encoder_lacks_is_told_for_what_it_is() {
    let place = Place::new();
    place.write("ae.toml", SMALL.replace("\"beta_vae\"\nbeta = 0.5", "\"ae\""));
    place.output(&["train", "ae.toml", "--out", "a"]);
    let all: Value = serde_json::from_str(&place.output(&["evaluate", "a", "--json"])).unwrap();
    for name in ["kl", "elbo", "polarized", "unsupervised.sampled", "rmig", "wsepin", "windin"] {
        let reason = all["undefined"][name].as_str().unwrap();
        assert!(reason.contains("a posterior that is a point, or has classes, has none"), "{name}: {reason}");
        assert!(!reason.contains("which a trained run"), "{name}: {reason}");
    }
}
