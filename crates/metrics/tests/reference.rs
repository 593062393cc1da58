//! Every metric against values made by other implementations: `reference/golden`, or the folder that `UNBRAID_GOLDEN`
//! names, which has more inputs. The tests walk the file of values, so that a new metric is held to them by itself.

#[path = "../../data/tests/outside/mod.rs"]
mod outside;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toml::Table;
use unbraid_data::{LabelledCodes, Seed};
use unbraid_formats::npz;
use unbraid_metrics::{METRICS, Scores, Subject, build, metric_of, score_all};

/// The folder of golden values.
fn folder() -> PathBuf {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference/golden");
    outside::folder("UNBRAID_GOLDEN").unwrap_or(committed)
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
    METRICS.iter().any(|entry| metric_of(score) == entry.name)
}

/// Checks one quantity that has a `score`; says what is wrong.
fn check(scores: &Scores, score: &str, quantity: &Value) -> Result<(), String> {
    let is_undefined = scores.reason(score).is_some();
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
    let mut n_checked = [0; VARIANTS.len()];
    for (input, quantities) in inputs() {
        let data = read(&input);
        let subject = Subject::new(&data, Seed(1));
        for ((quantity, field, metric, settings), n_checked) in VARIANTS.iter().zip(&mut n_checked) {
            let Some(expected) = quantities[quantity][field].as_f64() else { continue };
            let built = build(metric, &settings.parse().expect("settings are TOML")).expect("settings are accepted");
            let scores = score_all(&[(metric.to_string(), built)], &subject, Seed(1));
            let value = scores.value(metric).unwrap_or_else(|| panic!("{input}: {metric} is not reported"));
            let tolerance = quantities[quantity]["tolerance"].as_f64().unwrap_or(1e-6);
            println!("{input}: {quantity} {value:.9}, off by {:.1e}", (value - expected).abs());
            assert!((value - expected).abs() <= tolerance, "{input}: {quantity} is {value}, wanted {expected}");
            *n_checked += 1;
        }
    }
    for ((quantity, ..), n_checked) in VARIANTS.iter().zip(n_checked) {
        assert!(n_checked > 0, "no input has a value of {quantity}");
    }
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
const OVER_ALL_TRAVERSALS: [(&str, &str, &str); 17] = [
    ("disent.linearity.linear_ratio.var", "exact_all_traversals_float64", "linearity_ratio"),
    ("disent.linearity.linear_ratio.var", "exact_arithmetic_mean", "linearity_ratio.arithmetic"),
    ("disent.linearity.axis_ratio.var", "exact_all_traversals_float64", "axis_ratio"),
    ("disent.linearity.axis_ratio.var", "exact_arithmetic_mean", "axis_ratio.arithmetic"),
    ("disent.linearity.axis_alignment.var", "exact_all_traversals_float64", "orientation_ratio.per_traversal"),
    ("disent.linearity.axis_ratio_ave.var", "exact_all_traversals_float64", "axis_ratio.averaged"),
    ("disent.flatness.ave_flatness", "exact_all_traversals_float64", "flatness"),
    ("disent.flatness.ave_flatness_l1", "exact_all_traversals_float64", "flatness.l1"),
    ("disent.flatness.ave_flatness_l2", "exact_all_traversals_float64", "flatness.l2"),
    ("disent.flatness.ave_width_l1", "exact_all_traversals_float64", "flatness.width_l1"),
    ("disent.flatness.ave_width_l2", "exact_all_traversals_float64", "flatness.width_l2"),
    ("disent.flatness.ave_length_l1", "exact_all_traversals_float64", "flatness.length_l1"),
    ("disent.flatness.ave_length_l2", "exact_all_traversals_float64", "flatness.length_l2"),
    (
        "disent.distances.lcorr_ground_latent.l1.factor",
        "exact_all_traversals_float64",
        "distance_correlation.factor.pearson",
    ),
    (
        "disent.distances.lcorr_ground_latent.l1.factor",
        "exact_arithmetic_mean",
        "distance_correlation.factor.pearson.arithmetic",
    ),
    (
        "disent.distances.lcorr_ground_latent.l2.factor",
        "exact_all_traversals_float64",
        "distance_correlation.l2.factor.pearson",
    ),
    (
        "disent.distances.lcorr_ground_latent.l2.factor",
        "exact_arithmetic_mean",
        "distance_correlation.l2.factor.pearson.arithmetic",
    ),
];

/// The metrics besides the ratios that have such a score.
const OVER_TRAVERSALS: [&str; 2] = ["flatness", "distance_correlation"];

#[test]
fn scores_over_all_traversals_agree_to_the_ninth_decimal() {
    let mut n_checked = 0;
    for (input, quantities) in inputs() {
        let is_over_traversals = |name: &str| name.ends_with("_ratio") || OVER_TRAVERSALS.contains(&name);
        let scores = scores(&read(&input), is_over_traversals);
        for (quantity, field, score) in OVER_ALL_TRAVERSALS {
            let Some(expected) = quantities[quantity][field].as_f64() else { continue };
            let value = scores.value(score).unwrap_or_else(|| panic!("{input}: {score} is not reported"));
            println!("{input}: {score} {value:.12}, off by {:.1e}", (value - expected).abs());
            assert!((value - expected).abs() < 1e-9, "{input}: {score} is {value}, wanted {expected}");
            n_checked += 1;
        }
    }
    assert!(n_checked >= 51, "three inputs at least have seventeen such quantities, but {n_checked} were checked");
}

#[test]
fn rank_correlations_of_distances_rounded_alike_agree() {
    let mut n_checked = 0;
    let settings: Table = "round_to = 1e-5".parse().expect("the settings are TOML");
    for (input, quantities) in inputs() {
        let quantities = ["l1", "l2"].map(|norm| {
            let name = format!("exact.distances.rcorr_ground_latent.{norm}.factor.dist_rounded_1e-5");
            (norm, quantities[name].clone())
        });
        if quantities[0].1.is_null() {
            continue;
        }
        let metric = build("distance_correlation", &settings).expect("the settings are accepted");
        let data = read(&input);
        let scores = score_all(&[("distances".to_string(), metric)], &Subject::new(&data, Seed(1)), Seed(1));
        for (norm, quantity) in quantities {
            let prefix = if norm == "l1" { "" } else { ".l2" };
            check(&scores, &format!("distance_correlation{prefix}.factor.spearman"), &quantity)
                .unwrap_or_else(|failure| panic!("{input}: {failure}"));
            n_checked += 1;
        }
    }
    assert!(n_checked >= 6, "three inputs at least have two such quantities, but {n_checked} were checked");
}
