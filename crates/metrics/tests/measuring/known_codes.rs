//! Every metric on codes for which the scores are known: the factors themselves, constants, noise, each latent twice, and two
//! factors turned by 45 degrees.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use ndarray::{Array1, Array2, Axis, array, concatenate};
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{FactorSpace, LabelledCodes};
use unbraid_metrics::{METRICS, Need, ScoreOf, Scores};

use crate::grids::{grid, labelled, noise};
use crate::tables::scores_of_all;
use Known::{Below, Is, Near, Undefined};

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
/// Matched one to one, turned latents correlate (1/sqrt(2) + 1/sqrt(2) + 1) / 3. Their 20 values tell the neighbours of a
/// row both factors, so that only the third factor has one latent that predicts it better than another; what is left to
/// the second best is chance, which 40 rows tell roughly.
/// The squared correlations of two latents turned by 45 degrees are 1/2 with both factors, which leaves the third factor's
/// gap of 1. Guesses have an area under the curve of 1/2, and tell one factor of three with accuracy 1/3. A lasso takes
/// 0.02 off each weight and leaves the second of two equal latents at 0. Beside the factors as another model's codes, which
/// do not correlate, it takes 0.1 off each correlation R: 0.9; for each latent twice 0.9^2 / 1.8 for three latents and 0.9 for
/// six, 0.75 together, as (3/2 + 6) / 9 of the ranks; turned by 45 degrees (r - 0.1) / 2 twice and 0.9 once, (r + 0.8) / 3.
///
/// At a posterior variance of 1, leaving it out of the divergence of an active latent is an error of 1/2: 3/2 of 19, of 1/2
/// and of 3/2, and 3 of 38. Codes of 0.5 are not active, and all their divergence is left out. The axes of two turned
/// latents are matched by entries of 1/sqrt(2) instead of 1, at a distance of sqrt(4 (1 - 1/sqrt(2))).
///
/// FactorVAE: a factor's own latent does not vary while it is fixed, and of two such the first gets the vote. Turned by
/// 45 degrees, either of two factors halves the variance of both latents alike, so that the first gets the vote
/// whichever is fixed: right for one factor of three always, for two half the time.
///
/// Flatness: a straight way along m latents alike is m long in L1 and sqrt(m) wide in L2, so 1/sqrt(2) for each
/// factor twice, and for two factors of three turned by 45 degrees (2/sqrt(2) + 1) / 3.
/// Of two equal latents each has half of a factor's importance, so that completeness lacks ln 2 of ln 6: 0.613147193.
/// Boosted trees fit constant codes by the most frequent class, whose shares of the rows are near 1/4, 1/5 and 1/10.
/// A forest that may split one latent of three, or two of six, splits in vain first: scikit-learn's come to 0.497 and
/// 0.701 on the factors and the factors twice.
///
/// While one factor is varied alone only its own latents move (`z_max_variance`), both alike where it is there twice or
/// turned by 45 degrees, and the first gets the vote: of two turned factors one is then right.
/// With a posterior of variance 1, neighbouring values of a factor overlap. `rmig` is what the authors' procedure gives in
/// numpy. Of `wsepin`, the integrals of one latent were taken in scipy: 0.3996, 0.5364 and 1.0566 nats for 4, 5 and 10 values;
/// two latents of variance 1 tell what one of variance 1/2 does; turned ones tell together what they did.
/// Explicitness says how soon forests are as good as they get, also where that is no good: scikit-learn's come to 0.94-0.97 on the
/// factors and 0.96-0.99 on noise, and predict 0.84-0.90 and 0.17-0.22 of the rows right. Size is the number of factors over that of
/// latents. Straight lines predict factors from themselves and from turned ones; a constant predicts nothing.
///
/// Consistency: a latent turned by 45 degrees keeps half its variance while either factor stays. Restrictiveness: the latents
/// beside a factor's own have variances 1.25, 2 and 8.25 once or twice, of which its second latent moves. In 21.75, 21 and 14.75
/// these are 1.25, 2 and 8.25. Turned, either factor moves half the variance 1 of one other latent of two.
///
/// Distance correlation: codes on straight lines at even steps are as far apart as the factor's values; the L1 distance
/// of factors is that of codes also where several factors differ, twice that where each is there twice.
const SCORES: &[(&str, [Known; 5])] = &[
    ("downstream", [Is(1.0), Below(0.3), Below(0.4), Is(1.0), Near(1.0, 0.1)]),
    ("downstream.boosted_trees.100", [Is(1.0), Below(0.3), Below(0.4), Is(1.0), Near(1.0, 0.1)]),
    ("fairness", [Is(0.0), Is(0.0), Below(0.3), Is(0.0), Below(0.4)]),
    ("fairness.worst_pair", [Is(0.0), Is(0.0), Below(0.4), Is(0.0), Below(0.6)]),
    ("beta_vae", [Near(1.0, 0.01), Near(1.0 / 3.0, 0.03), Below(0.6), Near(1.0, 0.01), Below(0.999)]),
    ("dci_lasso", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(0.53, 0.05)]),
    ("dci_lasso.completeness", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(0.53, 0.05)]),
    ("dci_lasso.informativeness_train", [Is(0.9996), Is(0.0), Below(0.1), Is(0.9996), Below(0.9996)]),
    ("sap", [Near(0.4, 0.1), Is(0.0), Below(0.1), Is(0.0), Below(0.3)]),
    ("sap.continuous", [Is(1.0), Is(0.0), Below(0.1), Is(0.0), Is(1.0 / 3.0)]),
    ("explicitness", [Near(0.96, 0.02), Is(0.5), Near(0.5, 0.15), Near(0.96, 0.02), Near(0.96, 0.02)]),
    ("explicitness.scaled", [Near(0.92, 0.04), Is(0.0), Near(0.0, 0.3), Near(0.92, 0.04), Near(0.92, 0.04)]),
    ("udr", [Is(0.9), Is(0.0), Below(0.1), Is(0.75), Is(0.502_368_927_062)]),
    ("udr.spearman", [Is(1.0), Is(0.0), Below(0.15), Is(5.0 / 6.0), Below(0.75)]),
    ("factor_vae", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(2.0 / 3.0, 0.04)]),
    ("factor_vae.train", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(2.0 / 3.0, 0.04)]),
    ("factor_vae.active_latents", [Is(3.0), Is(0.0), Is(3.0), Is(6.0), Is(3.0)]),
    ("z_max_variance", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(2.0 / 3.0, 0.01)]),
    ("z_max_variance.held_out", [Is(1.0), Undefined, Below(0.6), Is(1.0), Near(2.0 / 3.0, 0.01)]),
    ("z_max_variance.scaled", [Is(1.0), Undefined, Below(0.4), Is(1.0), Near(0.5, 0.015)]),
    ("rmig", [Is(0.298_072_601_854), Undefined, Below(0.1), Is(0.0), Is(0.049_512_357_086)]),
    ("rmig.nats", [Is(0.535_322_330_422), Undefined, Below(0.1), Is(0.0), Is(0.114_006_415_345)]),
    ("wsepin", [Near(0.784_819, 0.03), Undefined, Below(0.2), Near(0.258_197, 0.03), Near(0.341_596, 0.03)]),
    ("windin", [Near(0.784_819, 0.03), Undefined, Below(0.2), Near(0.258_197, 0.03), Near(0.341_596, 0.03)]),
    ("windin.shared", [Near(0.0, 0.001), Undefined, Below(0.1), Near(0.526_622, 0.03), Near(0.0036, 0.005)]),
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
    ("dci_es", [Near(0.96, 0.04), Undefined, Near(0.97, 0.04), Near(0.97, 0.04), Near(0.95, 0.04)]),
    ("dci_es.explicitness", [Near(0.96, 0.04), Undefined, Near(0.97, 0.04), Near(0.97, 0.04), Near(0.95, 0.04)]),
    ("dci_es.informativeness", [Near(0.87, 0.1), Undefined, Below(0.4), Near(0.99, 0.05), Near(0.8, 0.1)]),
    ("dci_es.size", [Is(1.0), Is(1.0), Is(1.0), Is(0.5), Is(1.0)]),
    ("block_r2", [Near(1.0, 0.01), Is(0.0), Below(0.2), Near(1.0, 0.01), Near(1.0, 0.01)]),
    ("block_r2.linear", [Is(1.0), Is(0.0), Below(0.2), Is(1.0), Is(1.0)]),
    ("consistency", [Is(1.0), Undefined, Below(0.15), Is(1.0), Is(2.0 / 3.0)]),
    ("restrictiveness", [Is(1.0), Undefined, Below(0.3), Is(0.762_656_202_165), Is(5.0 / 6.0)]),
    ("cbd", [Is(1.0), Undefined, Below(0.15), Is(0.5), Is(1.0 / 3.0)]),
    ("cbd.compactness", [Is(1.0), Undefined, Below(0.15), Is(1.0), Is(1.0 / 3.0)]),
    ("cbd.modularity", [Is(1.0), Undefined, Below(0.15), Is(0.0), Is(1.0 / 3.0)]),
    ("mcc", [Is(1.0), Undefined, Below(0.2), Is(1.0), Is(0.804_737_854_124)]),
    ("mcc.pearson", [Is(1.0), Undefined, Below(0.2), Is(1.0), Is(0.804_737_854_124)]),
    ("mcc.spearman", [Is(1.0), Undefined, Below(0.2), Is(1.0), Below(0.85)]),
    ("ds", [Near(1.0, 0.25), Undefined, Below(0.2), Is(0.0), Near(1.0 / 3.0, 0.15)]),
    ("ds.classification", [Near(1.0, 0.25), Undefined, Below(0.2), Is(0.0), Near(1.0 / 3.0, 0.15)]),
    ("ds.regression", [Near(1.0, 0.25), Undefined, Below(0.2), Is(0.0), Near(1.0 / 3.0, 0.15)]),
    ("dci", [Is(1.0), Undefined, Below(0.2), Is(1.0), Below(0.6)]),
    ("dci.disentanglement", [Is(1.0), Undefined, Below(0.2), Is(1.0), Below(0.6)]),
    ("dci.completeness", [Is(1.0), Undefined, Below(0.2), Is(0.613_147_193), Below(0.7)]),
    ("dci.informativeness_train", [Is(1.0), Near(0.2, 0.1), Near(1.0, 0.1), Is(1.0), Is(1.0)]),
    ("dci_forest", [Near(0.497, 0.05), Undefined, Below(0.05), Near(0.701, 0.05), Below(0.4)]),
    ("dci_forest.informativeness_train", [Is(1.0), Near(0.2, 0.1), Is(1.0), Is(1.0), Is(1.0)]),
    ("distance_correlation", [Is(1.0), Undefined, Below(0.7), Is(1.0), Is(1.0)]),
    ("distance_correlation.factor.pearson", [Is(1.0), Undefined, Below(0.7), Is(1.0), Is(1.0)]),
    ("distance_correlation.l2.factor.spearman", [Is(1.0), Undefined, Below(0.7), Is(1.0), Is(1.0)]),
    ("distance_correlation.factor.rank_same", [Is(1.0), Below(0.4), Below(0.9), Is(1.0), Is(1.0)]),
    ("distance_correlation.global32.spearman", [Is(1.0), Undefined, Below(0.4), Is(1.0), Below(0.9)]),
    ("distance_correlation.global.pearson", [Is(1.0), Undefined, Below(0.2), Is(1.0), Below(0.9)]),
    ("linearity_ratio", [Is(1.0), Undefined, Below(0.6), Is(1.0), Is(1.0)]),
    ("axis_ratio", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.396_850_262_992)]),
    ("axis_ratio.arithmetic", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.5)]),
    ("axis_ratio.averaged", [Is(1.0), Undefined, Below(0.4), Is(0.4), Is(0.396_850_262_992)]),
    ("orientation_ratio", [Is(1.0), Undefined, Below(0.75), Is(0.4), Is(0.396_850_262_992)]),
    ("orientation_ratio.per_traversal", [Is(1.0), Undefined, Below(0.75), Is(0.4), Is(0.396_850_262_992)]),
    ("unsupervised", [Is(0.0), Undefined, Below(0.05), Undefined, Is(0.0)]),
    ("unsupervised.gaussian_total_correlation", [Is(0.0), Undefined, Below(0.05), Undefined, Is(0.0)]),
    ("unsupervised.wasserstein_correlation", [Is(0.0), Undefined, Below(0.05), Is(13.540_792_025_547), Is(0.0)]),
    ("unsupervised.wasserstein_correlation_norm", [Is(0.0), Undefined, Below(0.05), Is(0.585_786_437_627), Is(0.0)]),
    ("unsupervised.mutual_information", [Is(0.0), Is(0.0), Below(1.0), Is(0.353_221_157_770), Below(1.0)]),
    ("flatness", [Is(1.0), Undefined, Below(0.6), Is(FRAC_1_SQRT_2), Is((SQRT_2 + 1.0) / 3.0)]),
    ("flatness.l1", [Is(1.0), Undefined, Below(0.8), Is(1.0), Is(1.0)]),
    ("flatness.l2", [Is(1.0), Undefined, Below(0.8), Is(1.0), Is(1.0)]),
    ("reconstruction", [Is(3.0), Is(3.0), Is(3.0), Is(3.0), Is(3.0)]),
    ("kl", [Is(19.0), Is(0.375), Near(0.5, 0.05), Is(38.0), Is(1.5)]),
    ("kl.z0", [Is(1.75), Is(0.125), Near(1.0 / 6.0, 0.05), Is(1.75), Is(0.5)]),
    ("elbo", [Is(-22.0), Is(-3.375), Near(-3.5, 0.05), Is(-41.0), Is(-4.5)]),
    ("active_units", [Is(3.0), Is(0.0), Is(3.0), Is(6.0), Is(3.0)]),
    ("polarized", [Is(3.0 / 38.0), Is(1.0), Near(3.0, 0.4), Is(3.0 / 38.0), Is(1.0)]),
    ("polarized.active", [Is(3.0), Is(0.0), Is(3.0), Is(6.0), Is(3.0)]),
    ("polarized.mixed", [Is(0.0), Is(3.0), Is(0.0), Is(0.0), Is(0.0)]),
    ("dto", [Is(0.0), Is(0.0), Is(0.0), Is(0.0), Is(1.082_392_200_292)]),
];

const SIZES: [usize; 3] = [4, 5, 10];

/// The scores of codes whose decoder moves a pixel of its own for each latent, some more than others.
fn scores(codes: Array2<f64>) -> Scores {
    let jacobian = Array2::from_diag(&Array1::from_iter((1..=codes.ncols()).map(|scale| scale as f64)));
    scores_with_jacobian(codes, jacobian)
}

fn scores_with_jacobian(codes: Array2<f64>, jacobian: Array2<f64>) -> Scores {
    let extras = Extras {
        log_variances: Some(Array2::zeros(codes.dim())),
        reconstruction_losses: Some(vec![3.0; codes.nrows()]),
        jacobians: Some(jacobian.insert_axis(Axis(0))),
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
            (Undefined, None) => scores.reason(name).is_some(),
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
    // Three pixels that show the three factors, as a decoder has to draw them from turned codes.
    let jacobian = Array2::from_diag(&array![1.0, 2.0, 3.0]).dot(&turn);
    check(&scores_with_jacobian(turned.dot(&turn), jacobian), 4);
}

#[test]
fn a_single_row_has_all_the_scores_that_others_have_or_says_why_not() {
    let whole = scores_of_all(&labelled(grid(&SIZES), grid(&SIZES), &SIZES, Extras::default()), &[]);
    let row = grid(&SIZES).select(Axis(0), &[7]);
    let of_row = scores_of_all(&labelled(row.clone(), row, &SIZES, Extras::default()), &[]);
    let defined = whole.values.iter().map(|score| (&score.name, &score.of));
    let all = defined.chain(whole.undefined.iter().map(|score| (&score.name, &score.of)));
    for (name, _) in all.filter(|(_, of)| **of == ScoreOf::Whole) {
        let is_told = of_row.value(name).is_some() || of_row.reason(name).is_some();
        assert!(is_told, "{name} is neither defined nor undefined for one row");
    }
}

/// The scores of the whole by name, those of a factor or latent by kind and number, in the order in which they come.
fn values_by_place(scores: &Scores, factors: [&str; 3]) -> Vec<(String, Option<f64>)> {
    let key = |name: &String, kind: &String, of: &ScoreOf| match of {
        ScoreOf::Whole => name.clone(),
        ScoreOf::Latent(latent) => format!("{kind} of latent {latent}"),
        ScoreOf::Factor(name) => {
            let number = factors.iter().position(|factor| factor == name).expect("it is the name of a factor");
            format!("{kind} of factor {number}")
        }
    };
    let values = scores.values.iter().map(|score| (key(&score.name, &score.kind, &score.of), Some(score.value)));
    let undefined = scores.undefined.iter().map(|score| (key(&score.name, &score.kind, &score.of), None));
    values.chain(undefined).collect()
}

#[test]
fn a_factor_may_be_called_anything() {
    let told_with = |names: [&str; 3]| {
        let space = FactorSpace::grid(names.into_iter().zip(SIZES));
        let extras = Extras { log_variances: Some(Array2::zeros((200, 3))), ..Extras::default() };
        let data = LabelledCodes::new(grid(&SIZES), grid(&SIZES), space, extras).expect("the table is well made");
        values_by_place(&scores_of_all(&data, &[]), names)
    };
    let plain = told_with(["a", "b", "c"]);
    for names in [
        ["continuous", "train", "averaged"],
        ["z0", "mean", "a.b"],
        ["latent.b", "b", " "],
        ["arithmetic", "classification", "nats"],
        [".", "mig", "2"],
    ] {
        assert_eq!(told_with(names), plain, "{names:?}");
    }
}

#[test]
fn what_an_input_lacks_is_named() {
    let scores = scores_of_all(&labelled(grid(&SIZES), grid(&SIZES), &SIZES, Extras::default()), &[]);
    for name in ["reconstruction", "kl", "kl.z0", "elbo", "polarized", "dto", "rmig", "wsepin", "windin"] {
        let reason = scores.reason(name).expect("it is undefined");
        let names_what_to_give = ["`reconstruction_losses`", "`log_variances`", "`jacobians`"];
        assert!(names_what_to_give.iter().any(|array| reason.contains(array)), "{name}: {reason}");
    }
}

#[test]
fn a_metric_declares_what_it_needs_and_says_so_where_it_is_missing() {
    let without = |missing: Option<Need>| {
        let has = |need: Need| missing != Some(need);
        let extras = Extras {
            log_variances: has(Need::LogVariances).then(|| Array2::zeros((200, 3))),
            reconstruction_losses: has(Need::ReconstructionLosses).then(|| vec![3.0; 200]),
            jacobians: has(Need::Jacobians).then(|| Array2::from_diag(&array![1.0, 2.0, 3.0]).insert_axis(Axis(0))),
            ..Extras::default()
        };
        let other = labelled(grid(&SIZES), grid(&SIZES), &SIZES, Extras::default());
        scores_of_all(&labelled(grid(&SIZES), grid(&SIZES), &SIZES, extras), &[&other])
    };
    let whole = without(None);
    for need in [Need::LogVariances, Need::ReconstructionLosses, Need::Jacobians] {
        let scores = without(Some(need));
        for entry in METRICS {
            let (wanted, reason) = match entry.needs.contains(&need) {
                true => (None, Some(need.reason())),
                false => (whole.value(entry.name), whole.reason(entry.name)),
            };
            let is_defined = scores.value(entry.name).is_some();
            assert_eq!((is_defined, scores.reason(entry.name)), (wanted.is_some(), reason), "{} {need:?}", entry.name);
        }
    }
}

#[test]
fn a_sample_without_whole_traversals_says_what_the_ratios_need() {
    // Every other row of the grid lacks half the values of the last factor.
    let rows: Vec<usize> = (0..200).step_by(2).collect();
    let factors = grid(&SIZES).select(Axis(0), &rows);
    let scores = scores_of_all(&labelled(factors.clone(), factors, &SIZES, Extras::default()), &[]);
    let reason = "needs rows with each of the 10 values of factor \"c\" once while the other factors stay equal; \
                  only 5 of the numbers 0 to 9 occur: number the values without gaps";
    for name in ["linearity_ratio", "axis_ratio", "orientation_ratio", "flatness", "distance_correlation"] {
        assert_eq!(scores.reason(name), Some(reason), "{name}");
        let of_factor =
            if name == "distance_correlation" { format!("{name}.factor.spearman.a") } else { format!("{name}.a") };
        assert!(scores.value(&of_factor).is_some(), "{name}");
    }
}
