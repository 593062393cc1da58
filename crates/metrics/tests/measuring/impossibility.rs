//! Entangled codes have the marginals that they had, and every metric that looks along the latents' axes sees that they
//! are entangled.

use ndarray::Array2;
use unbraid_data::labelled_codes::Extras;
use unbraid_metrics::METRICS;
use unbraid_metrics::impossibility::entangle;
use unbraid_metrics::statistics::kolmogorov_smirnov::{critical_distance, kolmogorov_smirnov};

use crate::grids::{grid, labelled, noise};
use crate::tables::scores_of_all;

/// Metrics that are not expected to fall, and why.
const NOT_AXIS_ALIGNED: &[(&str, &str)] = &[
    ("linearity_ratio", "looks for a line in any direction"),
    ("unsupervised", "sees the latents' distribution only, which stays"),
    ("wsepin", "sees the latents' distribution only, which stays"),
    ("windin", "is `wsepin`"),
    ("reconstruction", "is told by the model, not by the codes"),
    ("kl", "sees each latent's distribution only, which stays"),
    ("elbo", "is the sum of the two before"),
    ("active_units", "sees each latent's variance only, which stays"),
    ("polarized", "sees each latent's distribution only, which stays"),
    ("dto", "needs the decoder, and sees nothing of the codes"),
    ("fairness", "is the better the lower: entangled codes are less fair"),
];

const SIZES: [usize; 4] = [5, 6, 7, 8];

/// Each factor in a latent of its own, with noise that hides none of its values.
fn disentangled() -> Array2<f64> {
    grid(&SIZES) + noise((1680, 4), "codes") * 0.3
}

#[test]
fn every_marginal_is_kept() {
    let codes = disentangled();
    let entangled = entangle(&codes).codes;
    for (before, after) in codes.columns().into_iter().zip(entangled.columns()) {
        let distance = kolmogorov_smirnov(&before, &after);
        assert_eq!(distance, 0.0);
        // The test can fail: half the values moved by one are seen at once.
        let moved = after.mapv(|value| if value > 2.0 { value + 1.0 } else { value });
        assert!(kolmogorov_smirnov(&before, &moved) > critical_distance(before.len(), moved.len(), 0.05));
    }
}

#[test]
fn every_metric_that_looks_along_the_axes_falls() {
    let scores = |codes: Array2<f64>| {
        let extras = Extras {
            log_variances: Some(Array2::zeros(codes.dim())),
            reconstruction_losses: Some(vec![3.0; codes.nrows()]),
            ..Extras::default()
        };
        let log_variances = extras.log_variances.clone();
        let other = labelled(disentangled(), grid(&SIZES), &SIZES, Extras { log_variances, ..Extras::default() });
        scores_of_all(&labelled(codes, grid(&SIZES), &SIZES, extras), &[&other])
    };
    let codes = disentangled();
    let (before, after) = (scores(codes.clone()), scores(entangle(&codes).codes));
    for entry in METRICS {
        let (before, after) = (before.value(entry.name), after.value(entry.name));
        println!("{}: {before:?}, entangled {after:?}", entry.name);
        if NOT_AXIS_ALIGNED.iter().any(|(name, _)| *name == entry.name) {
            continue;
        }
        let (Some(before), Some(after)) = (before, after) else {
            panic!("{} is not defined: say in NOT_AXIS_ALIGNED what else it needs", entry.name);
        };
        assert!(after < before - 0.02, "{} was {before} and is {after} of entangled codes", entry.name);
    }
}
