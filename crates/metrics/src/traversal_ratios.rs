//! What the linearity, axis and orientation ratios share: a measure of each traversal's codes, its mean over the
//! traversals of a factor, and the mean of those over the factors.
//!
//! All complete traversals are enumerated, so nothing is drawn at random. Traversals along which no latent moves have
//! no direction and take no part; factors with a single value have no traversals and take no part.

use ndarray::{Array2, ArrayRef1, Axis};
use rayon::prelude::*;
use unbraid_data::{Factor, LabelledCodes};

use crate::Scores;
use crate::statistics::geometric_mean::geometric_mean;
use crate::traversals::complete_traversals;

/// For each factor the mean of `measure` over its traversals, or why there is none. `measure` sees the codes of a
/// traversal as deviations from their mean, `[values, latents]`, in a unit of its own for each traversal.
pub fn mean_per_factor<const N: usize>(
    data: &LabelledCodes,
    measure: fn(&Array2<f64>) -> [f64; N],
) -> Vec<Result<[f64; N], String>> {
    (0..data.n_factors()).map(|factor| mean_over_traversals(data, factor, measure)).collect()
}

fn mean_over_traversals<const N: usize>(
    data: &LabelledCodes,
    factor: usize,
    measure: fn(&Array2<f64>) -> [f64; N],
) -> Result<[f64; N], String> {
    let Factor { name, size } = &data.space().factors()[factor];
    if *size == Some(1) {
        return Err(format!("factor \"{name}\" has a single value"));
    }
    if data.n_latents() == 1 {
        return Err("with a single latent all traversals lie on its axis".to_string());
    }
    let traversals = complete_traversals(data, factor)?;
    // Collected in order and summed by one thread, so that the bits do not depend on how many threads there are.
    let measured: Vec<Option<[f64; N]>> = (0..traversals.nrows())
        .into_par_iter()
        .map_init(
            || Array2::zeros((traversals.ncols(), data.n_latents())),
            |deviations, traversal| {
                let moves = write_deviations(data.codes(), &traversals.row(traversal), deviations);
                moves.then(|| measure(deviations))
            },
        )
        .collect();
    let moving: Vec<[f64; N]> = measured.into_iter().flatten().collect();
    if moving.is_empty() {
        return Err(format!("no latent moves along any traversal of factor \"{name}\""));
    }
    Ok(std::array::from_fn(|part| moving.iter().map(|parts| parts[part]).sum::<f64>() / moving.len() as f64))
}

/// Writes the codes of `rows` as deviations from their mean, `[values, latents]`, in units of the largest distance of a
/// value from the first one; false where no latent moves. As in `statistics::deviations`, a latent that does not move
/// comes out as exactly 0 and huge values do not overflow; here all latents share the unit.
fn write_deviations(codes: &Array2<f64>, rows: &ArrayRef1<usize>, deviations: &mut Array2<f64>) -> bool {
    let first = codes.row(rows[0]);
    let mut unit = 0.0_f64;
    for (mut of_row, &row) in deviations.outer_iter_mut().zip(rows) {
        for ((deviation, &value), &first) in of_row.iter_mut().zip(codes.row(row)).zip(first) {
            *deviation = value / 2.0 - first / 2.0;
            unit = unit.max(deviation.abs());
        }
    }
    if unit == 0.0 {
        return false;
    }
    *deviations /= unit;
    let mean = deviations.sum_axis(Axis(0)) / rows.len() as f64; // [latents]
    *deviations -= &mean.insert_axis(Axis(0)); // [1, latents] from each row
    true
}

/// From a share of the variance in [1/D, 1], as the largest of D shares is, to a ratio in [0, 1]; Michlo
/// 2022, equation 4.5.
pub fn normalised(share: f64, n_latents: usize) -> f64 {
    let smallest = 1.0 / n_latents as f64;
    ((share - smallest) / (1.0 - smallest)).clamp(0.0, 1.0)
}

/// The ratios of the factors that take part, or why the first that lacks one does.
pub fn ratios_of_factors(data: &LabelledCodes, per_factor: &[Result<f64, String>]) -> Result<Vec<f64>, String> {
    let factors = data.space().factors().iter().zip(per_factor);
    let ratios: Vec<f64> = factors
        .filter(|(factor, _)| factor.size != Some(1))
        .map(|(_, ratio)| ratio.clone())
        .collect::<Result<_, _>>()?;
    if ratios.is_empty() { Err("every factor has a single value".to_string()) } else { Ok(ratios) }
}

/// `NAME`, the geometric mean over the factors; `NAME.arithmetic`, the arithmetic one; and `NAME.FACTOR`.
pub fn ratio_scores(name: &str, data: &LabelledCodes, per_factor: &[Result<f64, String>]) -> Scores {
    let ratios = ratios_of_factors(data, per_factor);
    let arithmetic = ratios.as_ref().map(|ratios| ratios.iter().sum::<f64>() / ratios.len() as f64);
    let mut scores = Scores::new()
        .with_outcome(name, ratios.as_ref().map(|ratios| geometric_mean(ratios)))
        .with_outcome(&format!("{name}.arithmetic"), arithmetic);
    for (factor, ratio) in data.space().names().zip(per_factor) {
        scores = scores.with_outcome(&format!("{name}.{factor}"), ratio.as_ref().copied());
    }
    scores
}
