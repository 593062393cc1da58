//! `unbraid distances`: what it tells of a run is what follows from the run's own codes, and from images whose distances are known.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use std::fs;

use ndarray::Array2;
use serde_json::Value;
use support::tables::json;
use support::{Place, SMALL};
use unbraid_data::npy::read_table;

/// A run in `a` of this config with these changes.
fn trained(config: &str, changes: &[&str]) -> Place {
    let place = Place::new();
    place.write("small.toml", config);
    let mut arguments = vec!["train", "small.toml", "--out", "a", "--set", "metrics=[]"];
    changes.iter().for_each(|change| arguments.extend(["--set", change]));
    place.output(&arguments);
    place
}

fn distances(place: &Place, arguments: &[&str]) -> Value {
    let all = [&["distances", "a", "--json"], arguments].concat();
    serde_json::from_str(&place.output(&all)).unwrap()
}

fn matrix(found: &Value, factor: &str, level: &str) -> Vec<Vec<f64>> {
    serde_json::from_value(found["matrices"][factor][level].clone()).unwrap()
}

/// The mean over the eight traversals of `x`, the first of two factors of eight values, of a distance between rows of a table.
fn mean_over_traversals(distance: impl Fn(usize, usize) -> f64) -> Array2<f64> {
    Array2::from_shape_fn((8, 8), |(i, j)| (0..8).map(|y| distance(8 * i + y, 8 * j + y)).sum::<f64>() / 8.0)
}

fn assert_near(found: &[Vec<f64>], wanted: &Array2<f64>, tolerance: f64) {
    for ((i, j), wanted) in wanted.indexed_iter() {
        assert!((found[i][j] - wanted).abs() <= tolerance, "[{i}, {j}]: {} for {wanted}", found[i][j]);
    }
}

/// Pearson's coefficient by its definition.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_a, of_b) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(usize) -> f64| (0..a.len()).map(of).sum::<f64>();
    let product = sum(&|i| (a[i] - of_a) * (b[i] - of_b));
    product / (sum(&|i| (a[i] - of_a).powi(2)) * sum(&|i| (b[i] - of_b).powi(2))).sqrt()
}

#[test]
fn every_level_follows_from_the_run_itself() {
    let place = trained(SMALL, &[]);
    let found = distances(&place, &[]);
    let factor = found["factors"].as_object().unwrap().keys().next().unwrap().clone();
    assert_eq!(found["factors"][&factor]["values"], 8);
    assert_eq!((&found["factors"][&factor]["traversals"], &found["loss"]), (&Value::from(8), &Value::from("mse")));

    let ground = Array2::from_shape_fn((8, 8), |(i, j)| i.abs_diff(j) as f64);
    assert_near(&matrix(&found, &factor, "ground_truth"), &ground, 0.0);
    // Squares of 8 x 8 pixels that never overlap: two images differ in 128 of 4,096 pixels, wholly.
    let constant = ground.mapv(|steps| if steps > 0.0 { 128.0 / 4096.0 } else { 0.0 });
    assert_near(&matrix(&found, &factor, "images"), &constant, 0.0);

    let codes = read_table(&place.path("a/codes.npy")).unwrap();
    let log_variances = read_table(&place.path("a/log_variances.npy")).unwrap();
    let l2 = mean_over_traversals(|a, b| (&codes.row(a) - &codes.row(b)).mapv(|v| v * v).sum().sqrt());
    assert_near(&matrix(&found, &factor, "latent_means"), &l2, 1e-5);
    let kl = mean_over_traversals(|p, q| {
        let of_latent = |z: usize| {
            let (s, t) = (log_variances[[p, z]].exp(), log_variances[[q, z]].exp());
            0.5 * ((t / s).ln() + (s + (codes[[p, z]] - codes[[q, z]]).powi(2)) / t - 1.0)
        };
        (0..2).map(of_latent).sum()
    });
    assert_near(&matrix(&found, &factor, "posteriors"), &kl, 1e-4 * kl.iter().copied().fold(1.0, f64::max));
    let reconstructions = matrix(&found, &factor, "reconstructions");
    assert!(reconstructions[0][7] > 0.0 && reconstructions[0][7] == reconstructions[7][0]);
    assert_eq!(reconstructions[3][3], 0.0);

    let (ground, constant) = (ground.into_raw_vec_and_offset().0, constant.into_raw_vec_and_offset().0);
    let value = found["factors"][&factor]["ground_image"]["pearson"].as_f64().unwrap();
    assert!((value - pearson(&ground, &constant)).abs() < 1e-12, "{value}");
}

#[test]
fn ground_truth_and_codes_agree_as_the_distance_correlation_says() {
    let place = trained(SMALL, &[]);
    let (found, scores) = (distances(&place, &[]), json(&place, &["a", "--metrics", "distance_correlation"]));
    for statistic in ["pearson", "spearman"] {
        let name = format!("distance_correlation.factor.{statistic}");
        let near = |found: &Value, name: &str| {
            let (found, wanted) = (found.as_f64().unwrap(), scores["scores"][name].as_f64().unwrap());
            assert!((found - wanted).abs() < 1e-4, "{name}: {found} for {wanted}");
        };
        near(&found["ground_latent"][statistic], &name);
        for (factor, of_factor) in found["factors"].as_object().unwrap() {
            near(&of_factor["ground_latent"][statistic], &format!("{name}.{factor}"));
        }
    }
}

#[test]
fn the_figure_is_drawn_where_it_is_wanted_and_the_same_seed_draws_the_same() {
    let place = trained(SMALL, &[]);
    let text = place.output(&["distances", "a", "--traversals", "3"]);
    assert!(text.contains("3 of 8") && text.contains("geometric mean"), "{text}");
    assert!(text.trim_end().ends_with("a/figures/distances.png"), "{text}");
    let is_png = |path: &str| fs::read(place.path(path)).unwrap().starts_with(b"\x89PNG");
    assert!(is_png("a/figures/distances.png") && is_png("a/figures/distances-narrow.png"));
    let one = distances(&place, &["--traversals", "3", "--out", "elsewhere"]);
    assert!(is_png("elsewhere/distances.png"));
    let same = place.output(&["distances", "a", "--json", "--traversals", "3", "--threads", "1"]);
    assert_eq!(serde_json::from_str::<Value>(&same).unwrap(), one);
    assert!(distances(&place, &["--traversals", "3", "--seed", "2"])["matrices"] != one["matrices"]);
}

#[test]
fn what_a_model_lacks_is_told() {
    let place = trained(SMALL, &["framework={name='ae', reconstruction='bce'}"]);
    let found = distances(&place, &[]);
    assert_eq!(found["left_out"]["posteriors"], "an image has a code, and no distribution over codes");
    assert_eq!(found["loss"], "bce");
    assert!(found["notes"][0].as_str().unwrap().starts_with("bce is made a distance"), "{found}");
    let factor = found["factors"].as_object().unwrap().keys().next().unwrap();
    assert!(found["matrices"][factor].get("posteriors").is_none());
    // Pixels of 0 and 1 have logits of -100 and 100: half of 200 for each of the 128 pixels that differ.
    assert!((matrix(&found, factor, "images")[0][1] - 100.0 * 128.0 / 4096.0).abs() < 1e-9);
    assert!(place.output(&["distances", "a"]).contains("posteriors left out: an image has a code"));
}

#[test]
fn images_that_form_no_grid_are_refused() {
    let place = trained(SMALL, &["dataset.subset={count=30, seed=1}"]);
    let message = place.refusal(&["distances", "a"], 2);
    assert!(message.contains("do not form a grid of images"), "{message}");
    assert!(place.refusal(&["distances", "nowhere"], 2).contains("nowhere"));
    let place = trained(SMALL, &[]);
    let message = place.refusal(&["distances", "a", "--traversals", "0"], 2);
    assert!(message.contains("wanted 1 or more"), "{message}");
    place.write("file", "");
    place.refusal(&["distances", "a", "--out", "file"], 2);
}
