//! Every metric on codes for which the scores are known: the factors themselves, constants, noise, each latent twice, and two
//! factors turned by 45 degrees.

mod grids;
mod tables;

use ndarray::{Array2, Axis, array, concatenate};
use unbraid_data::labelled_codes::Extras;
use unbraid_metrics::{METRICS, Scores};

use Known::{Below, Is, Near, Undefined};
use grids::{grid, noise};
use tables::{labelled, scores_of_all};

/// What a score must be.
#[derive(Clone, Copy)]
enum Known {
    Is(f64),
    Near(f64, f64),
    Below(f64),
    Undefined,
}

/// For each score: factors as codes, constant codes of 0.5, noise in [-1, 1), the factors twice, and the
/// factors at mean 0 and variance 1 with the first two turned by 45 degrees. Log-variances are 0 and reconstruction
/// losses 3.
///
/// Two equal latents out of six share the movement of a factor: (1/2 - 1/6) / (1 - 1/6) = 0.4. The divergence of a
/// latent is half its mean square: 3.5, 6 and 28.5 for 4, 5 and 10 values, 1/4 for 0.5, 1/3 for the noise, 1 at
/// variance 1. Turned by 45 degrees, a latent correlates r = 1/sqrt(2) with each of two factors, and a factor moves two
/// latents out of three alike: (1/2 - 1/3) / (1 - 1/3) = 1/4, with geometric mean (1/16)^(1/3) over the factors.
///
/// The squared correlations of two latents turned by 45 degrees are 1/2 with both factors, which leaves the third factor's
/// gap of 1. Guesses have an area under the curve of 1/2, and tell one factor of three with accuracy 1/3. A lasso takes
/// 0.02 off each weight and leaves the second of two equal latents at 0. Beside the factors as another model's codes, which
/// do not correlate, it takes 0.1 off each correlation R: 0.9; for each latent twice 0.9^2 / 1.8 one way and 0.9 the other,
/// 0.675 together; turned by 45 degrees (r - 0.1) / 2 twice and 0.9 once, (r + 0.8) / 3.
const SCORES: &[(&str, [Known; 5])] = &[
    ("beta_vae", [Near(1.0, 0.01), Near(1.0 / 3.0, 0.03), Below(0.6), Near(1.0, 0.01), Below(0.999)]),
    ("dci_lasso", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(0.53, 0.05)]),
    ("dci_lasso.completeness", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(0.53, 0.05)]),
    ("dci_lasso.informativeness.train", [Is(0.9996), Is(0.0), Below(0.1), Is(0.9996), Below(0.9996)]),
    ("sap", [Near(0.4, 0.1), Is(0.0), Below(0.1), Is(0.0), Below(0.3)]),
    ("sap.continuous", [Is(1.0), Is(0.0), Below(0.1), Is(0.0), Is(1.0 / 3.0)]),
    ("explicitness", [Near(0.96, 0.02), Is(0.5), Near(0.5, 0.15), Near(0.96, 0.02), Near(0.96, 0.02)]),
    ("explicitness.scaled", [Near(0.92, 0.04), Is(0.0), Near(0.0, 0.3), Near(0.92, 0.04), Near(0.92, 0.04)]),
    ("udr", [Is(0.9), Is(0.0), Below(0.1), Is(0.675), Is(0.502_368_927_062)]),
    ("udr.spearman", [Is(1.0), Is(0.0), Below(0.15), Is(0.75), Below(0.75)]),
    ("mig", [Is(1.0), Undefined, Below(0.1), Is(0.0), Below(0.5)]),
    ("mig.a", [Is(1.0), Undefined, Below(0.1), Is(0.0), Below(0.1)]),
    ("cbd", [Is(1.0), Undefined, Below(0.15), Is(0.5), Is(1.0 / 3.0)]),
    ("cbd.compactness", [Is(1.0), Undefined, Below(0.15), Is(1.0), Is(1.0 / 3.0)]),
    ("cbd.modularity", [Is(1.0), Undefined, Below(0.15), Is(0.0), Is(1.0 / 3.0)]),
    ("linearity_ratio", [Is(1.0), Undefined, Below(0.6), Is(1.0), Is(1.0)]),
    ("axis_ratio", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.396_850_262_992)]),
    ("axis_ratio.arithmetic", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.5)]),
    ("orientation_ratio", [Is(1.0), Undefined, Below(0.75), Is(0.4), Is(0.396_850_262_992)]),
    ("orientation_ratio.per_traversal", [Is(1.0), Undefined, Below(0.75), Is(0.4), Is(0.396_850_262_992)]),
    ("reconstruction", [Is(3.0), Is(3.0), Is(3.0), Is(3.0), Is(3.0)]),
    ("kl", [Is(19.0), Is(0.375), Near(0.5, 0.05), Is(38.0), Is(1.5)]),
    ("kl.z0", [Is(1.75), Is(0.125), Near(1.0 / 6.0, 0.05), Is(1.75), Is(0.5)]),
    ("elbo", [Is(-22.0), Is(-3.375), Near(-3.5, 0.05), Is(-41.0), Is(-4.5)]),
    ("active_units", [Is(3.0), Is(0.0), Is(3.0), Is(6.0), Is(3.0)]),
];

const SIZES: [usize; 3] = [4, 5, 10];

fn scores(codes: Array2<f64>) -> Scores {
    let extras = Extras {
        log_variances: Some(Array2::zeros(codes.dim())),
        reconstruction_losses: Some(vec![3.0; codes.nrows()]),
        ..Extras::default()
    };
    let log_variances = Some(Array2::zeros((codes.nrows(), SIZES.len())));
    let other = labelled(grid(&SIZES), grid(&SIZES), &SIZES, Extras { log_variances, ..Extras::default() });
    scores_of_all(&labelled(codes, grid(&SIZES), &SIZES, extras), &[&other])
}

fn check(scores: &Scores, position: usize) {
    for (name, known) in SCORES {
        let value = scores.value(name);
        let holds = match (known[position], value) {
            (Is(expected), Some(value)) => (value - expected).abs() < 1e-9,
            (Near(expected, tolerance), Some(value)) => (value - expected).abs() < tolerance,
            (Below(bound), Some(value)) => value < bound,
            (Undefined, None) => scores.undefined.iter().any(|(undefined, _)| undefined == name),
            _ => false,
        };
        assert!(holds, "{name} came out as {value:?} in column {position}");
    }
}

#[test]
fn every_metric_has_its_known_scores() {
    for entry in METRICS {
        assert!(SCORES.iter().any(|(name, _)| *name == entry.name), "add the known scores of {}", entry.name);
    }
}

#[test]
fn factors_as_codes() {
    check(&scores(grid(&SIZES)), 0);
}

#[test]
fn constant_codes() {
    check(&scores(Array2::from_elem((200, 3), 0.5)), 1);
}

#[test]
fn codes_of_noise() {
    check(&scores(noise((200, 3), "codes")), 2);
}

#[test]
fn duplicated_latents_leave_no_gap() {
    let factors = grid(&SIZES);
    let twice = concatenate(Axis(1), &[factors.view(), factors.view()]).expect("both have the same rows");
    check(&scores(twice), 3);
}

#[test]
fn two_factors_turned_by_45_degrees() {
    let mut turned = grid(&SIZES);
    for mut column in turned.columns_mut() {
        let (mean, deviation) = (column.mean().expect("there are rows"), column.std(0.0));
        column.mapv_inplace(|value| (value - mean) / deviation);
    }
    let half = 0.5_f64.sqrt();
    let turn = array![[half, half, 0.0], [-half, half, 0.0], [0.0, 0.0, 1.0]];
    check(&scores(turned.dot(&turn)), 4);
}

#[test]
fn what_an_input_lacks_is_named() {
    let scores = scores_of_all(&labelled(grid(&SIZES), grid(&SIZES), &SIZES, Extras::default()), &[]);
    for name in ["reconstruction", "kl", "kl.z0", "elbo"] {
        let reason = &scores.undefined.iter().find(|(undefined, _)| undefined == name).expect("it is undefined").1;
        assert!(reason.contains("a trained run or an `.npz` with"), "{name}: {reason}");
    }
}

#[test]
fn a_sample_without_whole_traversals_says_what_the_ratios_need() {
    // Every other row of the grid lacks half the values of the last factor.
    let rows: Vec<usize> = (0..200).step_by(2).collect();
    let factors = grid(&SIZES).select(Axis(0), &rows);
    let scores = scores_of_all(&labelled(factors.clone(), factors, &SIZES, Extras::default()), &[]);
    let reason = "needs rows with each of the 10 values of factor \"c\" once while the other factors stay equal";
    for name in ["linearity_ratio", "axis_ratio", "orientation_ratio"] {
        assert!(scores.undefined.contains(&(name.to_string(), reason.to_string())), "{name}: {:?}", scores.undefined);
        assert!(scores.value(&format!("{name}.a")).is_some(), "{name}");
    }
}
