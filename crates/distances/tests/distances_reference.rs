//! Soft ranks and what is found of datasets, against values computed elsewhere (`reference/distances`).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use unbraid_data::{Seed, datasets};
use unbraid_distances::examine::{Findings, OfPairs, Settings, examine};
use unbraid_distances::groups::Limits;
use unbraid_distances::losses::Loss;
use unbraid_distances::soft_ranks::SoftRanks;

fn values() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/distances/values.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn soft_ranks_and_their_jacobians() {
    let (mut n_ranks, mut n_slopes) = (0, 0);
    for case in values()["soft_ranks"].as_array().unwrap() {
        let found = SoftRanks::of(&numbers(&case["values"]), case["strength"].as_f64().unwrap());
        let wanted = numbers(&case["ranks"]);
        for (rank, wanted) in found.ranks.iter().zip(&wanted) {
            assert!((rank - wanted).abs() < 1e-7, "{:?} is not {case}", found.ranks);
            n_ranks += 1;
        }
        // Where two blocks are about to meet, each side has slopes of its own.
        let is_kink =
            case["jacobian"].as_array().unwrap().iter().any(|row| row.as_array().unwrap().contains(&Value::Null));
        if is_kink {
            continue;
        }
        for (row, slopes) in case["jacobian"].as_array().unwrap().iter().enumerate() {
            let at_ranks: Vec<f64> = (0..wanted.len()).map(|rank| f64::from(u8::from(rank == row))).collect();
            for (found, wanted) in found.gradient(&at_ranks).iter().zip(numbers(slopes)) {
                assert!((found - wanted).abs() < 1e-4, "row {row}: {found} is not {wanted}, {case}");
                n_slopes += 1;
            }
        }
    }
    assert!(n_ranks > 250 && n_slopes > 1000, "{n_ranks} {n_slopes}");
}

/// Looks at all pairs along each factor, and few at random.
fn findings(name: &str, settings: &str, losses: &[&str]) -> Findings {
    let dataset = datasets::build(name, &settings.parse().unwrap()).unwrap();
    let losses: Vec<Loss> = losses.iter().map(|name| Loss::parse(name).unwrap()).collect();
    // Traversals of `xy_object` have 900,000 pairs at most, its images a thousand times as many.
    let limits = Limits { n_pairs: 5000, most_pairs: 1 << 20 };
    examine(&*dataset, &losses, Settings { limits, seed: Seed(1) }, |_, _, _| ()).unwrap()
}

fn along<'a>(findings: &'a Findings, factor: &str) -> &'a OfPairs {
    let found = findings.factors.iter().find(|found| found.name == factor);
    found.unwrap_or_else(|| panic!("no factor {factor}")).pairs.as_ref().unwrap()
}

fn assert_found(findings: &Findings, factor: &str, case: &Value) {
    let pairs = along(findings, factor);
    assert!(pairs.are_all);
    let loss = findings.losses.iter().position(|loss| case["distance"] == loss.name.as_str()).unwrap();
    let under = &pairs.under[loss];
    let [pearson, spearman] = [&under.correlations.pearson, &under.correlations.spearman];
    for (name, found, most) in [
        ("pearson", pearson.as_ref().unwrap().value, 1e-5),
        // Distances that differ by less than 32-bit numbers tell are ties here.
        ("spearman", spearman.as_ref().unwrap().value, 1e-4),
        ("mean", under.mean, 1e-5 * under.mean),
        ("standard_deviation", under.deviation, 1e-5 * under.mean),
    ] {
        let wanted = case[name].as_f64().unwrap();
        assert!((found - wanted).abs() <= most, "{name}: {found} is not {wanted}, {case}");
    }
}

#[test]
fn squares_of_every_spacing_under_every_loss() {
    let values = values();
    let cases = values["xy_squares"].as_array().unwrap();
    for spacing in 1..=8 {
        let settings = format!("squares = 1\nrgb = false\ngrid = 8\nspacing = {spacing}");
        let found = findings("xy_squares", &settings, &["mse", "mse_box31", "mse_gaussian31"]);
        let of_spacing: Vec<&Value> = cases.iter().filter(|case| case["spacing"] == spacing).collect();
        assert_eq!(of_spacing.len(), 6);
        for case in of_spacing {
            assert_found(&found, if case["factor"] == "x" { "x_R" } else { "y_R" }, case);
        }
    }
}

#[test]
fn objects_along_every_factor() {
    let values = values();
    let cases = values["xy_object"].as_array().unwrap();
    let of = |data: &str, distance: &str| -> Vec<&Value> {
        cases.iter().filter(|case| case["data"] == data && case["distance"] == distance).collect()
    };
    for (data, distance, n_cases) in
        [("xy_object", "mse", 4), ("xy_object_shaded", "mse", 2), ("xy_object", "mse_box31", 2)]
    {
        let found = findings(data, "", &[distance]);
        let cases = of(data, distance);
        assert_eq!(cases.len(), n_cases);
        for case in cases {
            assert_found(&found, case["factor"].as_str().unwrap(), case);
        }
    }
}
