//! Random tables, ill-natured ones among them: no metric panics, none gives NaN, and all scores stay in their range.

use ndarray::{Array2, Array3};
use proptest::prelude::*;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{Factor, FactorSpace, LabelledCodes};
use unbraid_metrics::{Score, ScoreKind, Undefined, score_kind};

use crate::tables::scores_of_all;

/// Ties, ordinary numbers, and the largest and smallest there are.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-2_i32..3).prop_map(f64::from),
        3 => -1.0..1.0,
        1 => prop_oneof![Just(1e300), Just(-1e300), Just(f64::MAX), Just(f64::MIN)],
        1 => prop_oneof![Just(5e-324), Just(-1e-310), Just(1e-300), Just(1.0 + f64::EPSILON)],
    ]
}

/// The number of latents: few, most of the time, so that there is time for many tables.
fn n_latents() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1_usize..9, 1 => 1_usize..51]
}

/// The sizes of 1 to 10 factors, `None` for continuous ones.
fn sizes() -> impl Strategy<Value = Vec<Option<usize>>> {
    let size = prop_oneof![6 => (1_usize..4).prop_map(Some), 1 => Just(None)];
    prop_oneof![3 => prop::collection::vec(size.clone(), 1..4), 1 => prop::collection::vec(size, 1..11)]
}

/// A few rows of 1 to 50 latents and 1 to 10 factors; some combinations repeat, and some traversals are whole.
fn table() -> impl Strategy<Value = LabelledCodes> {
    (1_usize..40, n_latents(), sizes()).prop_flat_map(|(n_rows, n_latents, sizes)| {
        let codes = prop::collection::vec(value(), n_rows * n_latents);
        let log_variances = prop::collection::vec(value(), n_rows * n_latents);
        let factors = prop::collection::vec((0_usize..12, value()), n_rows * sizes.len());
        let losses = prop::collection::vec(value(), n_rows);
        let jacobians = prop::collection::vec(value(), 6 * n_latents);
        let some_rows = || prop::option::of(prop::collection::vec(0..n_rows, 1..20));
        (codes, log_variances, factors, losses, jacobians, some_rows(), some_rows()).prop_map(
            move |(codes, log_variances, factors, losses, jacobians, train_rows, test_rows)| {
                let by_latent = |values| Array2::from_shape_vec((n_rows, n_latents), values).expect("sizes agree");
                let factors = Array2::from_shape_fn((n_rows, sizes.len()), |(row, factor)| {
                    let (whole, number) = factors[row * sizes.len() + factor];
                    sizes[factor].map_or(number, |size| (whole % size) as f64)
                });
                let named = sizes.iter().enumerate().map(|(factor, &size)| Factor { name: format!("f{factor}"), size });
                let extras = Extras {
                    train_rows,
                    test_rows,
                    log_variances: Some(by_latent(log_variances)),
                    reconstruction_losses: Some(losses),
                    jacobians: Some(Array3::from_shape_vec((2, 3, n_latents), jacobians).expect("sizes agree")),
                    ..Extras::default()
                };
                let space = FactorSpace::sample(named.collect());
                LabelledCodes::new(by_latent(codes), factors, space, extras).expect("the table is well made")
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scores_are_finite_and_in_range(data in table()) {
        let scores = scores_of_all(&data, &[&data]);
        // One name stands for all scores of sampled codes where there are none.
        for Undefined { kind, .. } in scores.undefined.iter().filter(|score| score.kind != "unsupervised.sampled") {
            prop_assert!(score_kind(kind).is_some(), "state {}'s range", kind);
        }
        for Score { name, kind, value, .. } in &scores.values {
            let ScoreKind { least, greatest, .. } = score_kind(kind).unwrap_or_else(|| panic!("state {kind}'s range"));
            prop_assert!(*value >= least - 1e-9 && *value <= greatest + 1e-9, "{} is {}", name, value);
        }
    }
}
