//! What the linearity, axis and orientation ratios share: how the codes of each traversal spread, as means over the
//! traversals of a factor, and the means of those over the factors.
//!
//! All complete traversals are enumerated, so nothing is drawn at random. Traversals along which no latent moves have
//! no direction and take no part; factors with a single value have no traversals and take no part.

use ndarray::ArrayRef1;
use rayon::prelude::*;
use unbraid_data::{Factor, LabelledCodes};

use crate::statistics::geometric_mean::geometric_mean;
use crate::statistics::largest_eigenvalue::largest_eigenvalue;
use crate::{Scores, Subject};

/// How the codes along the traversals of a factor spread, each ratio in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraversalRatios {
    /// Mean over traversals of the axis ratio.
    pub axis: f64,
    /// The axis ratio of each latent's mean variance over traversals.
    pub axis_of_mean_variances: f64,
    /// Mean over traversals of the linearity ratio.
    pub linearity: f64,
    /// Mean over traversals of axis ratio over linearity ratio; a traversal that spreads alike in all directions, for
    /// which both are 0, counts 0.
    pub orientation: f64,
}

/// The ratios of every factor's traversals, or why there are none.
pub fn ratios_of_traversals(subject: &Subject) -> Vec<Result<TraversalRatios, String>> {
    (0..subject.data().n_factors()).map(|factor| ratios_of_factor(subject, factor)).collect()
}

fn ratios_of_factor(subject: &Subject, factor: usize) -> Result<TraversalRatios, String> {
    let data = subject.data();
    let Factor { name, size } = &data.space().factors()[factor];
    if *size == Some(1) {
        return Err(format!("factor \"{name}\" has a single value"));
    }
    if data.n_latents() == 1 {
        return Err("with a single latent all traversals lie on its axis".to_string());
    }
    let traversals = subject.traversals(factor)?;
    let codes = data.codes().as_standard_layout();
    let codes = codes.as_slice().expect("the standard layout has no gaps");
    // Collected in order and summed by one thread, so that the bits do not depend on how many threads there are.
    let spreads: Vec<Option<Spread>> = (0..traversals.nrows())
        .into_par_iter()
        .with_min_len(64)
        .map_init(Vec::new, |deviations, traversal| {
            let unit = write_deviations(codes, data.n_latents(), &traversals.row(traversal), deviations);
            (unit > 0.0).then(|| spread(deviations, data.n_latents(), unit))
        })
        .collect();
    let moving: Vec<Spread> = spreads.into_iter().flatten().collect();
    if moving.is_empty() {
        return Err(format!("no latent moves along any traversal of factor \"{name}\""));
    }
    Ok(means(&moving))
}

/// How the codes of one traversal spread.
struct Spread {
    /// The unit of the variances' roots.
    unit: f64,
    /// Each latent's variance, times the number of values. `[latents]`
    variances: Vec<f64>,
    axis: f64,
    linearity: f64,
}

fn means(moving: &[Spread]) -> TraversalRatios {
    let mean = |part: fn(&Spread) -> f64| moving.iter().map(part).sum::<f64>() / moving.len() as f64;
    let largest_unit = moving.iter().fold(0.0_f64, |largest, spread| largest.max(spread.unit));
    let mut variances = vec![0.0; moving[0].variances.len()]; // [latents], summed over traversals
    for spread in moving {
        let squared_unit = (spread.unit / largest_unit).powi(2);
        variances.iter_mut().zip(&spread.variances).for_each(|(sum, variance)| *sum += variance * squared_unit);
    }
    TraversalRatios {
        axis: mean(|spread| spread.axis),
        axis_of_mean_variances: largest_share(&variances),
        linearity: mean(|spread| spread.linearity),
        orientation: mean(|spread| quotient(spread.axis, spread.linearity).unwrap_or(0.0)),
    }
}

/// The spread of a traversal that moves, given as deviations `X [values, latents]`.
fn spread(deviations: &[f64], n_latents: usize, unit: f64) -> Spread {
    let mut variances = vec![0.0; n_latents];
    for of_value in deviations.chunks_exact(n_latents) {
        for (variance, deviation) in variances.iter_mut().zip(of_value) {
            *variance += deviation * deviation;
        }
    }
    let (mut gram, size) = gram(deviations, n_latents);
    let linearity = normalised(largest_eigenvalue(&mut gram, size) / variances.iter().sum::<f64>(), n_latents);
    Spread { unit, axis: largest_share(&variances), linearity, variances }
}

/// The smaller of `X'X [latents, latents]` and `XX' [values, values]`, row by row, and its size: the two have the same
/// eigenvalues but for zeros.
fn gram(deviations: &[f64], n_latents: usize) -> (Vec<f64>, usize) {
    let n_values = deviations.len() / n_latents;
    let size = n_latents.min(n_values);
    let mut gram = vec![0.0; size * size];
    if n_values < n_latents {
        for (row, a) in gram.chunks_exact_mut(size).zip(deviations.chunks_exact(n_latents)) {
            for (product, b) in row.iter_mut().zip(deviations.chunks_exact(n_latents)) {
                *product = a.iter().zip(b).map(|(a, b)| a * b).sum();
            }
        }
    } else {
        for of_value in deviations.chunks_exact(n_latents) {
            for (row, a) in gram.chunks_exact_mut(size).zip(of_value) {
                row.iter_mut().zip(of_value).for_each(|(product, b)| *product += a * b);
            }
        }
    }
    (gram, size)
}

/// Writes the codes of `rows` as deviations from their mean, `[values, latents]`, in units of the largest distance of a
/// value from the first one, and gives that unit; 0 where no latent moves. As in `statistics::deviations`, a
/// latent that does not move comes out as exactly 0 and huge values do not overflow; here all latents share the unit.
fn write_deviations(codes: &[f64], n_latents: usize, rows: &ArrayRef1<usize>, deviations: &mut Vec<f64>) -> f64 {
    let of_row = |row: usize| &codes[row * n_latents..(row + 1) * n_latents];
    let first = of_row(rows[0]);
    deviations.clear();
    for &row in rows {
        deviations.extend(of_row(row).iter().zip(first).map(|(value, first)| value / 2.0 - first / 2.0));
    }
    let unit = deviations.iter().fold(0.0_f64, |unit, deviation| unit.max(deviation.abs()));
    if unit > 0.0 {
        let mut means = vec![0.0; n_latents];
        for of_value in deviations.chunks_exact_mut(n_latents) {
            for (mean, deviation) in means.iter_mut().zip(of_value) {
                *deviation /= unit;
                *mean += *deviation;
            }
        }
        means.iter_mut().for_each(|mean| *mean /= rows.len() as f64);
        for of_value in deviations.chunks_exact_mut(n_latents) {
            of_value.iter_mut().zip(&means).for_each(|(deviation, mean)| *deviation -= mean);
        }
    }
    unit
}

/// The normalised share of the largest variance, Michlo 2022, equation 4.4.
fn largest_share(variances: &[f64]) -> f64 {
    let largest = variances.iter().fold(0.0_f64, |largest, &variance| largest.max(variance));
    normalised(largest / variances.iter().sum::<f64>(), variances.len())
}

/// From a share of the variance in [1/D, 1], as the largest of D shares is, to a ratio in [0, 1]; Michlo
/// 2022, equation 4.5.
fn normalised(share: f64, n_latents: usize) -> f64 {
    let smallest = 1.0 / n_latents as f64;
    ((share - smallest) / (1.0 - smallest)).clamp(0.0, 1.0)
}

/// `axis / linearity`. The axis ratio is never the larger, but for rounding.
pub fn quotient(axis: f64, linearity: f64) -> Result<f64, String> {
    if linearity > 0.0 { Ok((axis / linearity).min(1.0)) } else { Err("the linearity ratio is 0".to_string()) }
}

/// One ratio of each factor, or why there is none.
pub fn each_factors(subject: &Subject, ratio: fn(&TraversalRatios) -> f64) -> Vec<Result<f64, String>> {
    subject.traversal_ratios().iter().map(|ratios| ratios.as_ref().map(ratio).map_err(Clone::clone)).collect()
}

/// The values of the factors that take part, or why the first that lacks one does.
pub fn values_of_factors(data: &LabelledCodes, per_factor: &[Result<f64, String>]) -> Result<Vec<f64>, String> {
    let factors = data.space().factors().iter().zip(per_factor);
    let values: Vec<f64> = factors
        .filter(|(factor, _)| factor.size != Some(1))
        .map(|(_, value)| value.clone())
        .collect::<Result<_, _>>()?;
    if values.is_empty() { Err("every factor has a single value".to_string()) } else { Ok(values) }
}

/// `NAME`, the geometric mean over the factors, and `NAME.arithmetic`, the arithmetic one.
pub fn ratio_means(name: &str, data: &LabelledCodes, per_factor: &[Result<f64, String>]) -> Scores {
    let ratios = values_of_factors(data, per_factor);
    let arithmetic = ratios.as_ref().map(|ratios| ratios.iter().sum::<f64>() / ratios.len() as f64);
    Scores::new()
        .with_outcome(name, ratios.as_ref().map(|ratios| geometric_mean(ratios)))
        .with_outcome(&format!("{name}.arithmetic"), arithmetic)
}

/// Adds `NAME.FACTOR`.
pub fn with_ratios(mut scores: Scores, name: &str, data: &LabelledCodes, per_factor: &[Result<f64, String>]) -> Scores {
    for (factor, ratio) in data.space().names().zip(per_factor) {
        scores = scores.with_factor(name, factor, ratio.as_ref().copied());
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linearity_ratio(deviations: &[f64], n_latents: usize) -> f64 {
        spread(deviations, n_latents, 1.0).linearity
    }

    #[test]
    fn a_line_in_any_direction_scores_one() {
        let diagonal = [-1.0, -1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 1.0, -2.0];
        assert!((linearity_ratio(&diagonal, 3) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_cross_with_unequal_arms() {
        // Eigenvalues 2 * 9 and 2 * 1: share 0.9, normalised (0.9 - 0.5) / 0.5 = 0.8. Turning it by a rotation with
        // cosine 0.6 changes nothing.
        let cross = [3.0, 0.0, -3.0, 0.0, 0.0, 1.0, 0.0, -1.0];
        let turned = [1.8, 2.4, -1.8, -2.4, -0.8, 0.6, 0.8, -0.6];
        assert!((linearity_ratio(&cross, 2) - 0.8).abs() < 1e-12);
        assert!((linearity_ratio(&turned, 2) - 0.8).abs() < 1e-12);
    }

    #[test]
    fn fewer_values_than_latents_give_the_same_as_zeros_added() {
        // Three values of five latents; the same with three rows of zeros has more values than latents.
        let few = [1.0, 2.0, 0.0, -1.0, 3.0, -2.0, 0.5, 1.0, 0.0, -1.0, 1.0, -2.5, -1.0, 1.0, -2.0];
        let many: Vec<f64> = few.iter().copied().chain([0.0; 15]).collect();
        assert!((linearity_ratio(&few, 5) - linearity_ratio(&many, 5)).abs() < 1e-12);
    }
}
