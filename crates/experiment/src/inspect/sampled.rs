//! The decoder at some of the codes: its Jacobians, their columns, directions and singular values.

use ndarray::{Array2, Array3, Axis};
use unbraid_data::labelled_codes::check_jacobians;
use unbraid_data::{Dataset, LabelledCodes, Result, Seed};
use unbraid_learn::TrainedModel;
use unbraid_metrics::metrics::dto::{LocalDecoder, distance_to_orthogonality, local_decoder};
use unbraid_metrics::statistics::random_rotation::random_rotation;

use super::latents::column_norms;
use crate::jacobians::{Way, jacobians_at, rows_with_jacobians};

/// Jacobians at some codes.
pub(super) struct Sampled {
    /// `[codes, pixels, latents]`.
    jacobians: Array3<f64>,
    /// Norms of the columns, `[codes, latents]`.
    norms: Array2<f64>,
    /// `|J_j|^2 s_j^2` in pixels as the loss sees them, `[codes, latents]`; none where there are no variances.
    noise_costs: Option<Array2<f64>>,
    /// Posterior variances, `[codes, latents]`, where there are any.
    variances: Option<Array2<f64>>,
}

impl Sampled {
    /// Jacobians at so many codes, spread evenly over the rows; none where there is no decoder.
    pub(super) fn new(
        model: &TrainedModel,
        dataset: &dyn Dataset,
        data: &LabelledCodes,
        n_codes: usize,
        way: Way,
    ) -> Result<Option<Self>> {
        let n_pixels = dataset.image_shape().n_pixels();
        let rows = rows_with_jacobians(data.n_rows(), n_pixels, data.n_latents(), n_codes);
        let codes = data.codes().select(Axis(0), &rows).mapv(|value| value as f32);
        let Some(jacobians) = jacobians_at(model, dataset, &codes, way) else { return Ok(None) };
        let jacobians = jacobians.mapv(f64::from);
        check_jacobians(data.n_latents(), &jacobians)?;
        let norms = norms_of(&jacobians);
        let log_variances = data.extras().log_variances.as_ref();
        let variances = log_variances.map(|table| table.select(Axis(0), &rows).mapv(f64::exp));
        let noise_costs = variances
            .as_ref()
            .map(|variances| norms_of(&in_units_of_the_loss(&jacobians, dataset)).mapv(|norm| norm * norm) * variances);
        Ok(Some(Self { jacobians, norms, noise_costs, variances }))
    }

    /// How many codes.
    pub(super) fn n_codes(&self) -> usize {
        self.norms.nrows()
    }

    /// The mean norm of a latent's column.
    pub(super) fn mean_norm(&self, latent: usize) -> f64 {
        self.norms.column(latent).sum() / self.n_codes() as f64
    }

    /// The mean Jacobian, `[pixels, latents]`.
    pub(super) fn mean(&self) -> Array2<f64> {
        self.jacobians.sum_axis(Axis(0)) / self.n_codes() as f64
    }

    /// The norm of a latent's mean column.
    pub(super) fn norm_of_mean(&self, latent: usize) -> f64 {
        let column = self.jacobians.index_axis(Axis(2), latent).sum_axis(Axis(0)) / self.n_codes() as f64;
        column.dot(&column).sqrt()
    }

    /// The mean of `|J_j|^2 s_j^2`.
    pub(super) fn noise_cost(&self, latent: usize) -> Option<f64> {
        let costs = self.noise_costs.as_ref()?;
        Some(costs.column(latent).sum() / self.n_codes() as f64).filter(|cost| cost.is_finite())
    }

    /// The mean posterior variance of a latent at these codes.
    pub(super) fn mean_variance(&self, latent: usize) -> Option<f64> {
        Some(self.variances.as_ref()?.column(latent).sum() / self.n_codes() as f64)
    }

    /// Directions and singular values over some of the latents.
    pub(super) fn directions(&self, latents: &[usize], seed: Seed) -> Directions {
        // In the order of the codes, whatever the number of threads.
        let decoders =
            self.jacobians.outer_iter().map(|jacobian| local_decoder(&jacobian.select(Axis(1), latents))).collect();
        Directions::of(decoders, latents.len(), seed)
    }
}

fn norms_of(jacobians: &Array3<f64>) -> Array2<f64> {
    let norms: Vec<f64> = jacobians.outer_iter().flat_map(|jacobian| column_norms(&jacobian)).collect();
    Array2::from_shape_vec((jacobians.dim().0, jacobians.dim().2), norms).expect("a norm for each code and latent")
}

/// Standardised pixels in place of shown ones.
fn in_units_of_the_loss(jacobians: &Array3<f64>, dataset: &dyn Dataset) -> Array3<f64> {
    let mut jacobians = jacobians.clone();
    if let Some(standardised) = dataset.as_standardised() {
        let n_channels = dataset.image_shape().channels;
        for (pixel, mut of_pixel) in jacobians.axis_iter_mut(Axis(1)).enumerate() {
            of_pixel /= f64::from(standardised.divisor_of(pixel % n_channels));
        }
    }
    jacobians
}

/// How the decoder stretches some latents, and how far its directions are from their axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    /// How many latents.
    pub n_latents: usize,
    /// Mean distance to orthogonality over the codes that have one (T4 equation 3.25).
    pub dto: Option<f64>,
    /// The distance at each code; none where two singular values are equal.
    pub distances: Vec<Option<f64>>,
    /// What rotations of as many latents, drawn uniformly, have.
    pub random: RandomRotations,
    /// Singular values at each code, the largest first, `[codes][latents]`.
    pub of_codes: Vec<Vec<f64>>,
    /// Mean and deviation over codes of each.
    pub singular_values: Vec<(f64, f64)>,
    /// Each singular value over the next: the median over codes; none where the next is 0.
    pub ratios: Vec<Option<f64>>,
}

/// Distances to orthogonality of rotations that were drawn uniformly.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomRotations {
    /// Mean distance.
    pub mean: f64,
    /// Standard deviation of single distances.
    pub deviation: f64,
    /// Some of them, at most [`RandomRotations::SHOWN`].
    pub some: Vec<f64>,
}

impl RandomRotations {
    /// How many single distances are kept.
    pub const SHOWN: usize = 100;

    /// Of so many latents. A single one is always on its axis.
    fn draw(n_latents: usize, seed: Seed) -> Self {
        // An assignment takes about n^3 steps; of many latents all rotations are about as far.
        let n_draws = if n_latents < 2 { 1 } else { (40_000_000 / n_latents.pow(3)).clamp(2, 20_000) };
        let mut rng = seed.stream_at("random rotations", n_latents as u64);
        let mut distances: Vec<f64> =
            (0..n_draws).map(|_| distance_to_orthogonality(&random_rotation(n_latents, &mut rng))).collect();
        let (mean, deviation) = mean_and_deviation(&distances);
        distances.truncate(Self::SHOWN);
        Self { mean, deviation, some: distances }
    }
}

impl Directions {
    fn of(decoders: Vec<LocalDecoder>, n_latents: usize, seed: Seed) -> Self {
        let distances: Vec<Option<f64>> = decoders.iter().map(|decoder| decoder.distance).collect();
        let known: Vec<f64> = distances.iter().flatten().copied().collect();
        let values_at = |place: usize| decoders.iter().map(|decoder| decoder.singular_values[place]).collect();
        let singular: Vec<Vec<f64>> = (0..n_latents).map(values_at).collect();
        let ratio = |place: usize| {
            let mut ratios: Vec<f64> = singular[place].iter().zip(&singular[place + 1]).map(|(a, b)| a / b).collect();
            ratios.sort_by(f64::total_cmp);
            Some(ratios[ratios.len() / 2]).filter(|ratio| ratio.is_finite())
        };
        Self {
            n_latents,
            dto: (!known.is_empty()).then(|| mean_and_deviation(&known).0),
            random: RandomRotations::draw(n_latents, seed),
            singular_values: singular.iter().map(|values| mean_and_deviation(values)).collect(),
            ratios: (0..n_latents.saturating_sub(1)).map(ratio).collect(),
            of_codes: decoders.into_iter().map(|decoder| decoder.singular_values).collect(),
            distances,
        }
    }

    /// The distance as a share of what a random rotation has; none for a single latent, which is always on its axis.
    pub fn share_of_random(&self) -> Option<f64> {
        (self.n_latents > 1).then_some(self.dto? / self.random.mean)
    }
}

/// Of at least one value.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn random_rotations_have_their_known_distances() {
        // 0.548 in closed form for two; numbers from elsewhere for five and six.
        for (n, wanted) in [(2, 0.548), (5, 1.63), (6, 1.91)] {
            let RandomRotations { mean, deviation, some } = RandomRotations::draw(n, Seed(0));
            assert!((mean - wanted).abs() < 0.01 && deviation > 0.0, "{n}: {mean} for {wanted}");
            assert_eq!(some.len(), RandomRotations::SHOWN);
        }
        assert_eq!(RandomRotations::draw(1, Seed(0)).mean, 0.0);
    }

    #[test]
    fn a_known_decoder_has_its_singular_values_and_distance() {
        // U diag(2, 1) V' with V turned by t: |V - 1| = sqrt(4 - 4 cos t). At the second code the same, twice as large.
        let (sin, cos) = 0.3_f64.sin_cos();
        let jacobian = array![[2.0 * cos, 2.0 * sin], [-sin, cos]];
        let decoders = [jacobian.clone(), 2.0 * jacobian].iter().map(local_decoder).collect();
        let found = Directions::of(decoders, 2, Seed(0));
        assert!((found.dto.unwrap() - (4.0 - 4.0 * cos).sqrt()).abs() < 1e-9);
        assert!((found.singular_values[0].0 - 3.0).abs() < 1e-9 && (found.singular_values[1].1 - 0.5).abs() < 1e-9);
        assert!((found.ratios[0].unwrap() - 2.0).abs() < 1e-9);
    }
}
