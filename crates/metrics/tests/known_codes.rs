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
/// A factor of n values that two equal latents tell has joint entropy ln n and no gap: `jemmig` is the mean of
/// 1 - ln n / (ln n + ln 10). Two equal latents of variance v have covariance v [[1, 1], [1, 1]], so that D S has the
/// eigenvalues 2 v^2 and 0: 4 v - 2 sqrt(2) v, summed over the variances 1.25, 2 and 8.25 times 200/199, is the Wasserstein
/// correlation, and 2 - sqrt(2) of the trace. Of their 15 pairs three tell ln 4, ln 5 and ln 10, the others nothing.
const SCORES: &[(&str, [Known; 5])] = &[
    ("mig", [Is(1.0), Undefined, Below(0.1), Is(0.0), Below(0.5)]),
    ("mig.a", [Is(1.0), Undefined, Below(0.1), Is(0.0), Below(0.1)]),
    ("mig_sup", [Is(1.0), Undefined, Below(0.1), Is(1.0), Below(0.5)]),
    ("mig_sup.z0", [Is(1.0), Undefined, Below(0.1), Is(1.0), Below(0.2)]),
    ("jemmig", [Is(1.0), Undefined, Below(0.3), Is(0.570_929_420_217), Below(0.8)]),
    ("dcimig", [Is(1.0), Undefined, Below(0.1), Is(1.0), Below(0.6)]),
    ("modularity", [Is(1.0), Undefined, Below(0.9), Is(1.0), Below(0.9)]),
    ("modularity.active", [Is(1.0), Undefined, Below(0.9), Is(1.0), Below(0.9)]),
    ("infomec", [Near(1.0, 0.05), Undefined, Below(0.7), Below(0.9), Below(0.9)]),
    ("infomec.modularity", [Near(1.0, 0.05), Undefined, Below(1.1), Near(1.0, 0.05), Below(0.9)]),
    ("infomec.compactness", [Near(1.0, 0.05), Undefined, Below(1.1), Near(0.4, 0.05), Below(0.9)]),
    ("irs", [Is(1.0), Undefined, Below(0.3), Is(1.0), Below(0.7)]),
    ("cbd", [Is(1.0), Undefined, Below(0.15), Is(0.5), Is(1.0 / 3.0)]),
    ("cbd.compactness", [Is(1.0), Undefined, Below(0.15), Is(1.0), Is(1.0 / 3.0)]),
    ("cbd.modularity", [Is(1.0), Undefined, Below(0.15), Is(0.0), Is(1.0 / 3.0)]),
    ("linearity_ratio", [Is(1.0), Undefined, Below(0.6), Is(1.0), Is(1.0)]),
    ("axis_ratio", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.396_850_262_992)]),
    ("axis_ratio.arithmetic", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.5)]),
    ("orientation_ratio", [Is(1.0), Undefined, Below(0.75), Is(0.4), Is(0.396_850_262_992)]),
    ("orientation_ratio.per_traversal", [Is(1.0), Undefined, Below(0.75), Is(0.4), Is(0.396_850_262_992)]),
    ("unsupervised", [Is(0.0), Undefined, Below(0.05), Undefined, Is(0.0)]),
    ("unsupervised.gaussian_total_correlation", [Is(0.0), Undefined, Below(0.05), Undefined, Is(0.0)]),
    ("unsupervised.wasserstein_correlation", [Is(0.0), Undefined, Below(0.05), Is(13.540_792_025_547), Is(0.0)]),
    ("unsupervised.wasserstein_correlation_norm", [Is(0.0), Undefined, Below(0.05), Is(0.585_786_437_627), Is(0.0)]),
    ("unsupervised.mutual_information", [Is(0.0), Is(0.0), Below(1.0), Is(0.353_221_157_770), Below(1.0)]),
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
    scores_of_all(&labelled(codes, grid(&SIZES), &SIZES, extras))
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
    let scores = scores_of_all(&labelled(grid(&SIZES), grid(&SIZES), &SIZES, Extras::default()));
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
    let scores = scores_of_all(&labelled(factors.clone(), factors, &SIZES, Extras::default()));
    let reason = "needs rows with each of the 10 values of factor \"c\" once while the other factors stay equal";
    for name in ["linearity_ratio", "axis_ratio", "orientation_ratio"] {
        assert!(scores.undefined.contains(&(name.to_string(), reason.to_string())), "{name}: {:?}", scores.undefined);
        assert!(scores.value(&format!("{name}.a")).is_some(), "{name}");
    }
}
