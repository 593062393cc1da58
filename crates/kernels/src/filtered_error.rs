//! Squared error, and with a weight that of the filtered images: `sum (o - t)^2 + weight * sum (K o - K t)^2` for each image.
//!
//! Michlo 2022 (T1), equations 3.8 and 6.3. A filter is linear, so the difference is filtered, once forward and once back.

use rayon::prelude::*;

use crate::filter::Filter;
use crate::pixel_loss::sum_of;
use crate::scratch::with_scratch;
use crate::shape::check_len;

/// A filter, and the weight of the filtered squared error.
#[derive(Clone, Debug)]
pub struct FilteredError {
    /// What images are filtered by.
    pub filter: Filter,
    /// The weight of what is filtered.
    pub weight: f32,
}

impl FilteredError {
    /// Fills `sums`, one for each image, from outputs and images, `[sums.len(), values]` both; and `filtered`, of the same shape as these,
    /// with the filtered differences, which the backward pass takes.
    pub fn sums(&self, outputs: &[f32], images: &[f32], filtered: &mut [f32], sums: &mut [f32]) {
        let n_values = self.check(outputs, images, filtered, sums);
        let rows = outputs.par_chunks(n_values).zip(images.par_chunks(n_values));
        let targets = sums.par_iter_mut().zip(filtered.par_chunks_mut(n_values));
        targets.zip(rows).for_each(|((sum, filtered), (outputs, images))| {
            with_scratch(n_values, |difference| {
                fill_difference(outputs, images, difference);
                self.filter.apply(difference, filtered);
                let squares = |values: &[f32]| sum_of(values, values, |a, b| a * b);
                *sum = squares(difference) + self.weight * squares(filtered);
            });
        });
    }

    /// Fills the gradient of [`FilteredError::sums`] with respect to the outputs, from that of the sums; with respect to the images it is
    /// the same with the other sign.
    pub fn backward(
        &self,
        outputs: &[f32],
        images: &[f32],
        filtered: &[f32],
        grad_sums: &[f32],
        grad_outputs: &mut [f32],
    ) {
        let n_values = self.check(outputs, images, filtered, grad_sums);
        check_len("grad_outputs", grad_outputs.len(), outputs.len());
        let rows = outputs.par_chunks(n_values).zip(images.par_chunks(n_values)).zip(filtered.par_chunks(n_values));
        let targets = grad_outputs.par_chunks_mut(n_values).zip(grad_sums);
        targets.zip(rows).for_each(|((grad, grad_sum), ((outputs, images), filtered))| {
            self.filter.apply_transposed(filtered, grad);
            let (of_pixels, of_filtered) = (2.0 * grad_sum, 2.0 * grad_sum * self.weight);
            for ((grad, output), pixel) in grad.iter_mut().zip(outputs).zip(images) {
                *grad = of_pixels * (output - pixel) + of_filtered * *grad;
            }
        });
    }

    fn check(&self, outputs: &[f32], images: &[f32], filtered: &[f32], sums: &[f32]) -> usize {
        let n_values = self.filter.shape().n_values();
        check_len("outputs", outputs.len(), sums.len() * n_values);
        check_len("images", images.len(), outputs.len());
        check_len("filtered", filtered.len(), outputs.len());
        n_values
    }
}

fn fill_difference(outputs: &[f32], images: &[f32], difference: &mut [f32]) {
    for ((difference, output), pixel) in difference.iter_mut().zip(outputs).zip(images) {
        *difference = output - pixel;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterShape;

    const SHAPE: FilterShape = FilterShape { height: 1, width: 3, channels: 1 };

    #[test]
    fn sums_by_hand() {
        // Differences 1, 0, -2. Windows of three: 1, -1, -2. 1 + 4, and 0.5 times 1 + 1 + 4.
        let error = FilteredError { filter: Filter::window_sums(SHAPE, 1), weight: 0.5 };
        let (mut filtered, mut sums) = ([9.0; 3], [9.0]);
        error.sums(&[2.0, 1.0, 0.0], &[1.0, 1.0, 2.0], &mut filtered, &mut sums);
        assert_eq!((filtered, sums), ([1.0, -1.0, -2.0], [8.0]));
        // 2 (d + 0.5 K'(K d)): windows of 1, -1, -2 are 0, -2, -3, so 2, -2, -7.
        let mut grad = [9.0; 3];
        error.backward(&[2.0, 1.0, 0.0], &[1.0, 1.0, 2.0], &filtered, &[1.0], &mut grad);
        assert_eq!(grad, [2.0, -2.0, -7.0]);
    }

    #[test]
    fn gradients_are_finite_differences_of_any_filter() {
        let shape = FilterShape { height: 4, width: 5, channels: 2 };
        let kernel: Vec<f32> = (0..9).map(|tap| ((tap * 5 + 3) % 7) as f32 * 0.2 - 0.5).collect();
        let filters = [
            Filter::window_sums(shape, 2),
            Filter::separable(shape, &[0.2, 0.5, -0.1, 0.7, 0.3]),
            Filter::kernel(shape, &kernel),
        ];
        let values = |seed: usize| -> Vec<f32> { (0..80).map(|i| ((i * 31 + seed) % 17) as f32 * 0.1 - 0.8).collect() };
        let (outputs, images, grad_sums) = (values(1), values(5), [1.0, -0.5]);
        for filter in filters {
            let error = FilteredError { filter, weight: 0.7 };
            let total = |outputs: &[f32]| {
                let (mut filtered, mut sums) = (vec![0.0; 80], [0.0; 2]);
                error.sums(outputs, &images, &mut filtered, &mut sums);
                (f64::from(sums[0]) * f64::from(grad_sums[0]) + f64::from(sums[1]) * f64::from(grad_sums[1]), filtered)
            };
            let mut grad = vec![0.0; 80];
            error.backward(&outputs, &images, &total(&outputs).1, &grad_sums, &mut grad);
            for index in 0..80 {
                let moved = |by: f32| {
                    let mut moved = outputs.clone();
                    moved[index] += by;
                    total(&moved).0
                };
                // The loss is a square: a central difference is exact but for rounding.
                let wanted = (moved(0.25) - moved(-0.25)) / 0.5;
                assert!((f64::from(grad[index]) - wanted).abs() < 2e-3 * wanted.abs().max(1.0), "{index} {wanted}");
            }
        }
    }
}
