//! Linearity ratio: how well the codes along a factor's traversal lie on one straight line, whatever its direction.
//!
//! Michlo 2022, "Disentanglement using VAEs resembles distance learning and requires overlapping data", equations 4.7
//! to 4.9. With `lambda` the eigenvalues of the covariance of a traversal's codes, the share of the first principal
//! component,
//!
//! `share = max_k lambda_k / sum_j lambda_j`,
//!
//! is brought from [1/D, 1] to [0, 1], averaged over the traversals of each factor, and then over the factors by the
//! geometric mean.
//!
//! Departures: all complete traversals in the table are used instead of a random draw; those along which no latent
//! moves take no part, since 0/0 has no value.

use faer::{Mat, Side};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Change::*;
use crate::traversal_ratios::{mean_per_factor, normalised, ratio_scores};
use crate::{Entry, Metric, Scores, Subject};

/// The linearity ratio, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LinearityRatio {}

impl Metric for LinearityRatio {
    /// `linearity_ratio`, `linearity_ratio.arithmetic` and `linearity_ratio.FACTOR`, all in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let per_factor = mean_per_factor(data, |deviations| [linearity_ratio(deviations)]);
        let per_factor: Vec<Result<f64, String>> =
            per_factor.into_iter().map(|ratio| ratio.map(|[linearity]| linearity)).collect();
        ratio_scores("linearity_ratio", data, &per_factor)
    }
}

/// The normalised ratio of one traversal that moves, given as deviations `X [values, latents]`.
pub fn linearity_ratio(deviations: &Array2<f64>) -> f64 {
    // X'X and XX' have the same eigenvalues but for zeros, so the smaller of the two is enough.
    let gram = if deviations.nrows() < deviations.ncols() {
        deviations.dot(&deviations.t()) // [values, values]
    } else {
        deviations.t().dot(deviations) // [latents, latents]
    };
    let matrix = Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| gram[[i, j]]);
    let eigenvalues = matrix.self_adjoint_eigenvalues(Side::Lower).expect("a small matrix of finite numbers converges");
    let largest = eigenvalues.last().copied().expect("a traversal has at least one value");
    normalised(largest / gram.diag().sum(), deviations.ncols())
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "linearity_ratio",
    about: "share of a factor's traversal that lies on a straight line",
    paper: "Michlo 2022",
    ranges: &[("linearity_ratio", 0.0, 1.0)],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, Rotation, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<LinearityRatio>(table)?)),
    complete: settings::complete::<LinearityRatio>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_line_in_any_direction_scores_one() {
        let diagonal = array![[-1.0, -1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 1.0, -2.0]];
        assert!((linearity_ratio(&diagonal) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_cross_with_unequal_arms() {
        // Eigenvalues 2 * 9 and 2 * 1: share 0.9, normalised (0.9 - 0.5) / 0.5 = 0.8. Rotating it changes nothing.
        let cross = array![[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
        let rotation = array![[0.6, 0.8], [-0.8, 0.6]];
        assert!((linearity_ratio(&cross) - 0.8).abs() < 1e-12);
        assert!((linearity_ratio(&cross.dot(&rotation)) - 0.8).abs() < 1e-12);
    }

    #[test]
    fn fewer_values_than_latents_give_the_same_as_zeros_added() {
        // Three values of five latents; the same with three rows of zeros has more values than latents.
        let few = array![[1.0, 2.0, 0.0, -1.0, 3.0], [-2.0, 0.5, 1.0, 0.0, -1.0], [1.0, -2.5, -1.0, 1.0, -2.0]];
        let mut many = Array2::zeros((6, 5));
        many.slice_mut(ndarray::s![..3, ..]).assign(&few);
        assert!((linearity_ratio(&few) - linearity_ratio(&many)).abs() < 1e-12);
    }
}
