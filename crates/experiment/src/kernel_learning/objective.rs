//! What a step minimises (T1 eq. 6.1 to 6.3): how little the distances of a learned loss rank like those of the factors, and how far the
//! kernel is from symmetric.
//!
//! The distance of two images is `mse(a, b) + mse(kernel * a, kernel * b)`, each a mean over pixels. Weights may have any sign, and the
//! kernel is their absolute value.

use ndarray::Array2;
use rand::RngExt;
use rand::seq::index;
use unbraid_data::datasets::{read_factors, read_images};
use unbraid_data::{Dataset, Result, Seed};
use unbraid_distances::pair_squares::{gradient_at_images, mean_squares};
use unbraid_distances::rank_correlation::soft_spearman;
use unbraid_kernels::{FilterShape, KernelGradient};

use super::config::{FactorDistance, KernelSettings};

/// The loss of a dataset at a kernel.
pub struct Objective<'a> {
    dataset: &'a dyn Dataset,
    settings: &'a KernelSettings,
    shape: FilterShape,
    scales: Vec<f64>,
    filter: KernelGradient,
    filtered: Vec<f32>,
}

/// The parts of the loss of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepLoss {
    /// The soft rank correlation of distances with those of the factors.
    pub correlation: f64,
    /// How far the kernel is from symmetric, and its size.
    pub regulariser: f64,
    /// What is minimised.
    pub total: f64,
}

/// Images that are compared in pairs.
struct PairBatch {
    /// `[images, height, width, channels]`.
    images: Vec<f32>,
    /// Positions of two images.
    pairs: Vec<[usize; 2]>,
    /// How far apart the factors of each pair are.
    wanted: Vec<f64>,
}

impl<'a> Objective<'a> {
    /// For the images of a dataset.
    pub fn new(dataset: &'a dyn Dataset, settings: &'a KernelSettings) -> Self {
        let shape = dataset.image_shape();
        let shape = FilterShape { height: shape.height, width: shape.width, channels: shape.channels };
        let filter = KernelGradient::new(shape, settings.radius);
        let scales = factor_scales(dataset, settings.factor_distance);
        Self { dataset, settings, shape, scales, filter, filtered: Vec::new() }
    }

    /// The loss of the batch of a step at these weights, `[side, side]`, and its gradient at them.
    pub fn loss(&mut self, step: u64, weights: &[f32]) -> Result<(StepLoss, Vec<f32>)> {
        let batch = self.draw(step)?;
        Ok(self.loss_of(&batch, weights))
    }

    fn loss_of(&mut self, batch: &PairBatch, weights: &[f32]) -> (StepLoss, Vec<f32>) {
        let PairBatch { images, pairs, wanted } = batch;
        let kernel: Vec<f32> = weights.iter().map(|weight| weight.abs()).collect();

        self.filtered.resize(images.len(), 0.0);
        self.filter.filter(&kernel, images, &mut self.filtered);
        let n_values = self.shape.n_values();
        let mut distances = mean_squares(images, n_values, pairs);
        let of_filtered = mean_squares(&self.filtered, n_values, pairs);
        distances.iter_mut().zip(of_filtered).for_each(|(distance, filtered)| *distance += filtered);

        let correlation = soft_spearman(&distances, wanted, self.settings.strength);
        let sign = if self.settings.adversarial { 1.0 } else { -1.0 };
        let at_distances: Vec<f64> = correlation.gradient.iter().map(|slope| sign * slope).collect();
        let at_filtered = gradient_at_images(&self.filtered, n_values, pairs, &at_distances);
        let at_kernel = self.filter.at_kernel(&at_filtered);

        let (regulariser, mut gradient) = self.regulariser(&kernel);
        gradient.iter_mut().zip(at_kernel).for_each(|(sum, slope)| *sum += f64::from(slope));
        let gradient = gradient.iter().zip(weights).map(|(slope, weight)| *slope as f32 * sign_of(*weight)).collect();
        let total = sign * correlation.value + regulariser;
        (StepLoss { correlation: correlation.value, regulariser, total }, gradient)
    }

    /// The images of a step, and the pairs of them that are compared.
    fn draw(&self, step: u64) -> Result<PairBatch> {
        let mut rng = Seed(self.settings.seed).stream_at("kernel batches", step);
        let n_images = self.dataset.n_images();
        let batch = self.settings.batch_size.min(n_images);
        let numbers = index::sample(&mut rng, n_images, batch).into_vec();
        let mut position = || rng.random_range(0..batch as u64) as usize;
        let pairs: Vec<[usize; 2]> = (0..self.settings.pairs).map(|_| [position(), position()]).collect();
        let factors = read_factors(self.dataset, &numbers);
        let wanted = pairs.iter().map(|&[a, b]| factor_distance(&factors, a, b, &self.scales)).collect();
        Ok(PairBatch { images: read_images(self.dataset, &numbers)?, pairs, wanted })
    }

    /// How far the kernel is from its mirror images and from those of its transpose, mean absolute differences; its mean square; and the
    /// gradient of their weighted sum at the kernel.
    fn regulariser(&self, kernel: &[f32]) -> (f64, Vec<f64>) {
        let side = 2 * self.settings.radius + 1;
        let n_taps = kernel.len() as f64;
        let (mut sum, mut gradient) = (0.0, vec![0.0; kernel.len()]);
        let symmetry = self.settings.symmetry / n_taps;
        for row in 0..side {
            for column in 0..side {
                let (tap, turned) = (row * side + column, column * side + row);
                let (upside_down, mirrored) = ((side - 1 - row) * side + column, row * side + side - 1 - column);
                for (a, b) in [(upside_down, tap), (mirrored, tap), (upside_down, turned), (mirrored, turned)] {
                    let difference = kernel[a] - kernel[b];
                    sum += symmetry * f64::from(difference.abs());
                    gradient[a] += symmetry * f64::from(sign_of(difference));
                    gradient[b] -= symmetry * f64::from(sign_of(difference));
                }
            }
        }
        let decay = self.settings.decay / n_taps;
        for (slope, &tap) in gradient.iter_mut().zip(kernel) {
            sum += decay * f64::from(tap).powi(2);
            *slope += 2.0 * decay * f64::from(tap);
        }
        (sum, gradient)
    }
}

/// -1, 0 or 1, as the slope of an absolute value is taken.
fn sign_of(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// What the difference of each factor is multiplied with.
fn factor_scales(dataset: &dyn Dataset, distance: FactorDistance) -> Vec<f64> {
    let scale = |size: Option<usize>| match (distance, size) {
        (FactorDistance::Scaled, Some(size)) if size > 1 => 1.0 / (size - 1) as f64,
        _ => 1.0,
    };
    dataset.factors().factors().iter().map(|factor| scale(factor.size)).collect()
}

/// The distance of the factors in two rows.
fn factor_distance(factors: &Array2<f64>, a: usize, b: usize, scales: &[f64]) -> f64 {
    let differences = factors.row(a).into_iter().zip(factors.row(b)).zip(scales);
    differences.map(|((a, b), scale)| (a - b).abs() * scale).sum()
}

#[cfg(test)]
mod tests {
    use unbraid_data::datasets;

    use super::*;

    fn settings(text: &str) -> KernelSettings {
        unbraid_data::settings::read(&text.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_symmetric_kernel_is_not_charged_by_hand() {
        let dataset = datasets::build("xy_squares", &"squares = 1\nsize = 16".parse().unwrap()).unwrap();
        let symmetric = settings("radius = 1\nsymmetry = 2.0\ndecay = 0.0");
        let objective = Objective::new(dataset.as_ref(), &symmetric);
        let (charge, gradient) = objective.regulariser(&[1.0, 2.0, 1.0, 2.0, 5.0, 2.0, 1.0, 2.0, 1.0]);
        assert_eq!((charge, gradient), (0.0, vec![0.0; 9]));
        // One corner alone: each mirror image differs in two places by 1, each of the transpose too: 2 * 4 * 2 / 9.
        let (charge, _) = objective.regulariser(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!((charge - 16.0 / 9.0).abs() < 1e-12, "{charge}");
    }

    /// `reference/distances/distances.py` computes the same from the papers.
    #[test]
    fn losses_and_gradients_are_those_computed_elsewhere() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/distances/values.json");
        let values: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(folder).unwrap()).unwrap();
        let numbers = |value: &serde_json::Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let pixel = |image: usize, index: usize| ((index * 37 + image * 53 + 11) % 101) as f32 / 101.0;
        let factors = ndarray::array![[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 2.0], [3.0, 1.0]];
        let pairs = vec![[0, 1], [2, 1], [1, 1], [3, 0], [0, 5], [4, 2], [5, 3], [4, 5], [2, 0], [3, 3]];
        let wanted: Vec<f64> = pairs.iter().map(|&[a, b]| factor_distance(&factors, a, b, &[1.0 / 3.0, 0.5])).collect();
        let images = (0..6).flat_map(|image| (0..64).map(move |index| pixel(image, index))).collect();
        let batch = PairBatch { images, pairs, wanted };
        // Only its shape counts: 8 x 8 pixels of one channel.
        let dataset = datasets::build("xy_squares", &"squares = 1\nrgb = false\nsize = 8".parse().unwrap()).unwrap();
        let cases =
            std::iter::once(&values["objective"]).chain(values["objective_other_strengths"].as_array().unwrap());
        let mut n_checked = 0;
        for case in cases {
            let weights: Vec<f32> = numbers(&case["weights"]).into_iter().map(|weight| weight as f32).collect();
            for (way, adversarial) in [("synergistic", false), ("adversarial", true)] {
                let settings = settings(&format!(
                    "radius = 2\nstrength = {}\nadversarial = {adversarial}\nsymmetry = 1.0\ndecay = 1e-3",
                    case["strength"]
                ));
                let (loss, gradient) = Objective::new(dataset.as_ref(), &settings).loss_of(&batch, &weights);
                let close = |found: f64, wanted: &serde_json::Value| (found - wanted.as_f64().unwrap()).abs() < 1e-5;
                assert!(close(loss.correlation, &case["correlation"]), "{loss:?} {case}");
                assert!(close(loss.regulariser, &case["regulariser"]), "{loss:?} {case}");
                assert!(close(loss.total, &case[way]["total"]), "{loss:?} {case}");
                let wanted = numbers(&case[way]["gradient"]);
                let largest = wanted.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
                for (found, wanted) in gradient.iter().zip(&wanted) {
                    assert!((f64::from(*found) - wanted).abs() < 1e-4 * largest, "{found} is not {wanted}: {case}");
                    n_checked += 1;
                }
            }
        }
        assert_eq!(n_checked, 4 * 2 * 25);
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let dataset = datasets::build("xy_squares", &"squares = 2\nsize = 16".parse().unwrap()).unwrap();
        for text in ["", "adversarial = true\nfactor_distance = 'unscaled'"] {
            let settings =
                settings(&format!("radius = 3\nbatch_size = 12\npairs = 30\nstrength = 0.5\ndecay = 0.1\n{text}"));
            let mut objective = Objective::new(dataset.as_ref(), &settings);
            let mut weights: Vec<f32> = (0..49).map(|tap| ((tap * 37) % 49) as f32 / 49.0 - 0.4).collect();
            let (loss, gradient) = objective.loss(5, &weights).unwrap();
            assert!(
                (loss.total - (loss.regulariser + if text.is_empty() { -1.0 } else { 1.0 } * loss.correlation)).abs()
                    < 1e-12
            );
            for tap in 0..49 {
                let middle = weights[tap];
                let [above, below] = [1.0, -1.0].map(|step| {
                    weights[tap] = middle + step * 2e-3;
                    objective.loss(5, &weights).unwrap().0.total
                });
                weights[tap] = middle;
                let wanted = (above - below) / 4e-3;
                assert!((f64::from(gradient[tap]) - wanted).abs() < 4e-3, "{tap}: {} is not {wanted}", gradient[tap]);
            }
        }
    }
}
