//! Consistency and restrictiveness against their definition: mean squared distances over all pairs of rows, summed up in numpy.

use ndarray::Array2;
use toml::Table;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{FactorSpace, LabelledCodes, Seed};
use unbraid_metrics::{Subject, build, score_all};

/// All combinations of factors with 3 and 4 values.
fn factors() -> Array2<f64> {
    Array2::from_shape_fn((12, 2), |(row, factor)| [row / 4, row % 4][factor] as f64)
}

/// The first factor, a mixture of both, and a wave, each with a wave added.
fn codes() -> Array2<f64> {
    let factors = factors();
    Array2::from_shape_fn((12, 3), |(row, latent)| {
        let wave = ((row + 1) as f64 * (latent + 1) as f64 * 1.7 + 0.3 * latent as f64).sin();
        match latent {
            0 => factors[[row, 0]] + 0.5 * wave,
            1 => 0.5 * factors[[row, 0]] + factors[[row, 1]] + 0.5 * wave,
            _ => wave,
        }
    })
}

#[test]
fn variances_are_what_all_pairs_come_to() {
    let space = FactorSpace::grid([("a", 3), ("b", 4)]);
    let data = LabelledCodes::new(codes(), factors(), space, Extras::default()).expect("the table is well made");
    let metrics = ["consistency", "restrictiveness"]
        .map(|name| (name.to_string(), build(name, &Table::new()).expect("defaults are accepted")));
    let scores = score_all(&metrics, &Subject::new(&data, Seed(1)), Seed(1));
    for (name, expected) in [
        ("consistency.a", 0.832_394_886_588_347),
        ("consistency.b", 0.904_530_689_847_205),
        ("restrictiveness.a", 0.731_339_973_376_093),
        ("restrictiveness.b", 0.546_349_465_239_272),
    ] {
        let value = scores.value(name).unwrap_or_else(|| panic!("{name} is not defined"));
        assert!((value - expected).abs() < 1e-12, "{name} is {value}, wanted {expected}");
    }
}
