//! Codes of known quality, made from any factors: what a metric says of them shows what it sees and what it does not.

use ndarray::{Array2, Axis, concatenate};
use rand::RngExt;
use unbraid_data::Seed;

use crate::impossibility::entangle;

/// One way to make codes from factors.
pub struct KnownCodes {
    /// The name in tables.
    pub name: &'static str,
    /// What the codes are, in one line.
    pub about: &'static str,
    /// Codes `[rows, latents]` from factors `[rows, factors]`.
    pub make: fn(&Array2<f64>) -> Array2<f64>,
}

/// The codes, from perfect to empty.
pub const KNOWN_CODES: &[KnownCodes] = &[
    KnownCodes { name: "factors", about: "each factor as a latent, at mean 0 and variance 1", make: standardised },
    KnownCodes {
        name: "shuffled",
        about: "the same latents in another order, with other signs and scales",
        make: shuffled,
    },
    KnownCodes {
        name: "noisy",
        about: "the factors with noise of a fifth of their deviation, and two latents of noise",
        make: noisy,
    },
    KnownCodes { name: "twice", about: "every latent twice", make: twice },
    KnownCodes { name: "turned", about: "neighbouring factors turned into each other by 45 degrees", make: turned },
    KnownCodes {
        name: "entangled",
        about: "all factors, with a little noise, mixed by a bijection that keeps every latent's distribution",
        make: entangled,
    },
    KnownCodes { name: "noise", about: "noise that has nothing to do with the factors", make: noise },
    KnownCodes { name: "constant", about: "the same code for every row", make: constant },
];

/// Columns at mean 0 and variance 1; a constant column becomes 0.
fn standardised(factors: &Array2<f64>) -> Array2<f64> {
    let mut codes = factors.clone();
    for mut column in codes.columns_mut() {
        let (mean, deviation) = (column.mean().unwrap_or(0.0), column.std(0.0));
        column.mapv_inplace(|value| if deviation > 0.0 { (value - mean) / deviation } else { 0.0 });
    }
    codes
}

fn shuffled(factors: &Array2<f64>) -> Array2<f64> {
    let backwards: Vec<usize> = (0..factors.ncols()).rev().collect();
    let mut codes = standardised(factors).select(Axis(1), &backwards);
    for (latent, mut column) in codes.columns_mut().into_iter().enumerate() {
        let sign = if latent % 2 == 0 { -1.0 } else { 1.0 };
        column *= sign * (1.0 + latent as f64);
    }
    codes
}

fn noisy(factors: &Array2<f64>) -> Array2<f64> {
    let codes = standardised(factors);
    // Even noise in [-1, 1) has a deviation of 1/sqrt(3).
    let codes = &codes + &(even_noise(codes.dim(), "known codes") * (0.2 * 3_f64.sqrt()));
    let silent = even_noise((factors.nrows(), 2), "silent latents") * (0.2 * 3_f64.sqrt());
    concatenate(Axis(1), &[codes.view(), silent.view()]).expect("both have the same rows")
}

fn twice(factors: &Array2<f64>) -> Array2<f64> {
    let codes = standardised(factors);
    concatenate(Axis(1), &[codes.view(), codes.view()]).expect("both have the same rows")
}

/// Latents 2k and 2k + 1 become their sum and difference over sqrt(2); a last one without a partner stays.
fn turned(factors: &Array2<f64>) -> Array2<f64> {
    let codes = standardised(factors);
    let half = 0.5_f64.sqrt();
    Array2::from_shape_fn(codes.dim(), |(row, latent)| {
        let partner = latent ^ 1;
        match codes.get((row, partner)) {
            None => codes[[row, latent]],
            Some(other) if latent % 2 == 0 => half * (codes[[row, latent]] + other),
            Some(other) => half * (codes[[row, latent]] - other),
        }
    })
}

fn entangled(factors: &Array2<f64>) -> Array2<f64> {
    // Without noise equal values would be ties, which the bijection has to break by chance.
    let codes = standardised(factors);
    entangle(&(&codes + &(even_noise(codes.dim(), "ties") * 0.1))).codes
}

fn noise(factors: &Array2<f64>) -> Array2<f64> {
    even_noise(factors.dim(), "known codes of noise")
}

fn constant(factors: &Array2<f64>) -> Array2<f64> {
    Array2::zeros(factors.dim())
}

/// Even noise in [-1, 1), the same every time.
fn even_noise(shape: (usize, usize), stream: &str) -> Array2<f64> {
    let mut rng = Seed(1).stream(stream);
    Array2::from_shape_simple_fn(shape, || rng.random_range(-1.0..1.0))
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn made(name: &str) -> Array2<f64> {
        let known = KNOWN_CODES.iter().find(|known| known.name == name).unwrap();
        (known.make)(&array![[0.0, 0.0, 5.0], [0.0, 4.0, 5.0], [2.0, 0.0, 5.0], [2.0, 4.0, 5.0]])
    }

    #[test]
    fn factors_are_standardised_and_a_constant_one_is_zero() {
        assert_eq!(made("factors"), array![[-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]);
    }

    #[test]
    fn neighbours_are_turned_and_the_odd_one_out_stays() {
        // Sum and difference over sqrt(2): (-1, -1) becomes (-2, 0) / sqrt(2), and (-1, 1) becomes (0, 2) / sqrt(2).
        let turned = made("turned");
        let root = 2_f64.sqrt();
        for (found, expected) in turned.row(0).iter().zip([-root, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{turned}");
        }
        for (found, expected) in turned.row(1).iter().zip([0.0, root, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{turned}");
        }
    }

    #[test]
    fn shapes_are_as_told() {
        for (name, n_latents) in [("shuffled", 3), ("noisy", 5), ("twice", 6), ("noise", 3), ("constant", 3)] {
            assert_eq!(made(name).dim(), (4, n_latents), "{name}");
        }
    }
}
