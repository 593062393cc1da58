//! Every metric against values made by other implementations: `reference/golden`, or the folder that `UNBRAID_GOLDEN`
//! names, which has more inputs. The tests walk the file of values, so that a new metric is held to them by itself.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::Table;
use unbraid_data::{LabelledCodes, Seed, npz};
use unbraid_metrics::{METRICS, Scores, Subject, build, score_all};

/// The folder of golden values.
fn folder() -> PathBuf {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/golden");
    std::env::var_os("UNBRAID_GOLDEN").map_or(committed, PathBuf::from)
}

/// Each input's name and its quantities.
fn inputs() -> Map<String, Value> {
    let path = folder().join("values.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let values: Value = serde_json::from_str(&text).expect("values.json is JSON");
    let inputs = values["values"].as_object().expect("values.json has an object of inputs").clone();
    assert!(!inputs.is_empty(), "{} names no input", path.display());
    inputs
}

fn read(input: &str) -> LabelledCodes {
    npz::read_labelled_codes(&folder().join("inputs").join(format!("{input}.npz"))).expect("golden inputs are whole")
}

/// The scores of all the metrics that `is_wanted` picks.
fn scores(data: &LabelledCodes, is_wanted: impl Fn(&str) -> bool) -> Scores {
    let names = METRICS.iter().map(|entry| entry.name).filter(|name| is_wanted(name));
    let metrics: Vec<_> =
        names.map(|name| (name.to_string(), build(name, &Table::new()).expect("defaults are accepted"))).collect();
    score_all(&metrics, &Subject::new(data, Seed(1)), Seed(1))
}

/// Whether one of our metrics reports the score called `score`.
fn is_ours(score: &str) -> bool {
    METRICS.iter().any(|entry| score.split('.').next() == Some(entry.name))
}

/// Checks one quantity that has a `score`; says what is wrong.
fn check(scores: &Scores, score: &str, quantity: &Value) -> Result<(), String> {
    let is_undefined = scores.undefined.iter().any(|(name, _)| name == score);
    match (quantity["value"].as_f64(), scores.value(score)) {
        (None, Some(_)) => Ok(()),
        (None, None) if is_undefined => Ok(()),
        (_, None) => Err(format!("{score} is not reported")),
        (Some(expected), Some(value)) => {
            let tolerance = quantity["tolerance"].as_f64().expect("a value has a tolerance");
            println!("    {score} {value:.9}, reference {expected:.9}, off by {:.1e}", (value - expected).abs());
            if (value - expected).abs() <= tolerance {
                Ok(())
            } else {
                Err(format!("{score} is {value}, wanted {expected} within {tolerance}"))
            }
        }
    }
}

#[test]
fn every_score_agrees_with_its_reference() {
    if std::env::var_os("UNBRAID_GOLDEN").is_none() {
        println!("UNBRAID_GOLDEN is not set: inputs made from other people's data are skipped");
    }
    let mut n_checked = 0;
    let mut failures = Vec::new();
    for (input, quantities) in inputs() {
        println!("{input}");
        let scores = scores(&read(&input), |_| true);
        for quantity in quantities.as_object().expect("an input has quantities").values() {
            let Some(score) = quantity["score"].as_str().filter(|score| is_ours(score)) else { continue };
            n_checked += 1;
            failures.extend(check(&scores, score, quantity).err().map(|failure| format!("{input}: {failure}")));
        }
    }
    assert!(n_checked > 0, "no quantity was checked");
    assert!(failures.is_empty(), "{} of {n_checked} fail:\n{}", failures.len(), failures.join("\n"));
}

/// Quantities that are a setting away from the published one: the metric, its settings, and the field of the quantity.
const VARIANTS: [(&str, &str, &str, &str); 12] = [
    ("mig_sup_20bins_over_Hcode", "dead_latents_as_zero", "mig_sup", "normaliser = \"latent_entropy\""),
    ("ubisoft.mig_10bins", "value", "mig", "bins = 10\nnormaliser = \"latent_entropy\""),
    ("ubisoft.mig_sup_10bins", "value", "mig_sup", "bins = 10\nnormaliser = \"latent_entropy\""),
    ("ubisoft.mig_sup_20bins", "value", "mig_sup", "normaliser = \"latent_entropy\""),
    ("ubisoft.modularity_10bins", "value", "modularity", "bins = 10"),
    ("irs_q1.0_train10000", "value", "irs", "quantile = 1.0"),
    ("irs_q0.99_allrows", "value", "irs", "rows = \"all\""),
    ("irs_q1.0_allrows", "value", "irs", "rows = \"all\"\nquantile = 1.0"),
    ("ubisoft.irs_q1", "value", "irs", "quantile = 1.0"),
    ("ubisoft.jemmig_10bins", "value", "jemmig", "bins = 10"),
    ("ubisoft.dcimig_10bins", "value", "dcimig", "bins = 10"),
    ("mig", "value", "mig", "bins = 20"),
];

#[test]
fn variants_agree_with_their_references() {
    let mut n_checked = 0;
    for (input, quantities) in inputs() {
        let data = read(&input);
        let subject = Subject::new(&data, Seed(1));
        for (quantity, field, metric, settings) in VARIANTS {
            let Some(expected) = quantities[quantity][field].as_f64() else { continue };
            let built = build(metric, &settings.parse().expect("settings are TOML")).expect("settings are accepted");
            let scores = score_all(&[(metric.to_string(), built)], &subject, Seed(1));
            let value = scores.value(metric).unwrap_or_else(|| panic!("{input}: {metric} is not reported"));
            let tolerance = quantities[quantity]["tolerance"].as_f64().unwrap_or(1e-6);
            println!("{input}: {quantity} {value:.9}, off by {:.1e}", (value - expected).abs());
            assert!((value - expected).abs() <= tolerance, "{input}: {quantity} is {value}, wanted {expected}");
            n_checked += 1;
        }
    }
    assert!(n_checked >= 30, "three inputs at least have a dozen such quantities, but {n_checked} were checked");
}

#[test]
fn infomec_agrees_with_scikit_learn() {
    // The authors' procedure on the train rows with scikit-learn 1.9.1: `mutual_info_classif` with 10 neighbours, whose
    // noise against ties moves the fourth digit, and `LogisticRegression` without penalty, rows weighted equally.
    let scores = scores(&read("identity_noise"), |name| name == "infomec");
    for (score, expected, tolerance) in [
        ("infomec.modularity", 0.779_429, 5e-4),
        ("infomec.compactness", 0.992_868, 5e-4),
        ("infomec.explicitness", 0.897_020_411, 1e-6),
    ] {
        let value = scores.value(score).unwrap_or_else(|| panic!("{score} is not reported"));
        assert!((value - expected).abs() < tolerance, "{score} is {value}, wanted {expected}");
    }
}

/// Quantities that the reference also gives over all traversals, in which field, and the score that is the same.
const OVER_ALL_TRAVERSALS: [(&str, &str, &str); 5] = [
    ("disent.linearity.linear_ratio.var", "exact_all_traversals_float64", "linearity_ratio"),
    ("disent.linearity.linear_ratio.var", "exact_arithmetic_mean", "linearity_ratio.arithmetic"),
    ("disent.linearity.axis_ratio.var", "exact_all_traversals_float64", "axis_ratio"),
    ("disent.linearity.axis_ratio.var", "exact_arithmetic_mean", "axis_ratio.arithmetic"),
    ("disent.linearity.axis_alignment.var", "exact_all_traversals_float64", "orientation_ratio.per_traversal"),
];

#[test]
fn ratios_over_all_traversals_agree_to_the_ninth_decimal() {
    let mut n_checked = 0;
    for (input, quantities) in inputs() {
        let scores = scores(&read(&input), |name| name.ends_with("_ratio"));
        for (quantity, field, score) in OVER_ALL_TRAVERSALS {
            let Some(expected) = quantities[quantity][field].as_f64() else { continue };
            let value = scores.value(score).unwrap_or_else(|| panic!("{input}: {score} is not reported"));
            println!("{input}: {score} {value:.12}, off by {:.1e}", (value - expected).abs());
            assert!((value - expected).abs() < 1e-9, "{input}: {score} is {value}, wanted {expected}");
            n_checked += 1;
        }
    }
    assert!(n_checked >= 15, "three inputs at least have five such quantities, but {n_checked} were checked");
}
