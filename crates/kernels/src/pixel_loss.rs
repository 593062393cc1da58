//! Reconstruction losses, summed over the pixels of each image, and their slopes.

use rayon::prelude::*;

use crate::shape::check_len;

/// How far one decoder output `o` is from its pixel `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelLoss {
    /// `(o - t)^2`.
    SquaredError,
    /// `|o - t|`; its slope where they are equal counts as 0.
    AbsoluteError,
    /// `log(1 + exp(o)) - o t`: cross-entropy of a probability with logit `o`.
    CrossEntropy,
}

impl PixelLoss {
    #[inline(always)]
    fn of(self, output: f32, pixel: f32) -> f32 {
        match self {
            Self::SquaredError => (output - pixel) * (output - pixel),
            Self::AbsoluteError => (output - pixel).abs(),
            // The first two terms are log(1 + exp(o)), written so that nothing overflows.
            Self::CrossEntropy => output.max(0.0) + (-output.abs()).exp().ln_1p() - output * pixel,
        }
    }

    /// The slope along the output.
    #[inline(always)]
    fn slope(self, output: f32, pixel: f32) -> f32 {
        match self {
            Self::SquaredError => 2.0 * (output - pixel),
            Self::AbsoluteError => sign(output - pixel),
            Self::CrossEntropy => 1.0 / (1.0 + (-output).exp()) - pixel,
        }
    }

    /// The slope along the pixel.
    #[inline(always)]
    fn pixel_slope(self, output: f32, pixel: f32) -> f32 {
        match self {
            Self::SquaredError => 2.0 * (pixel - output),
            Self::AbsoluteError => sign(pixel - output),
            Self::CrossEntropy => -output,
        }
    }

    /// Fills `sums`, one for each image, from outputs and images, `[sums.len(), pixels]` both.
    pub fn sums(self, outputs: &[f32], images: &[f32], sums: &mut [f32]) {
        let n_pixels = check_rows(outputs, images, sums.len());
        let rows = outputs.par_chunks(n_pixels).zip(images.par_chunks(n_pixels));
        sums.par_iter_mut().zip(rows).for_each(|(sum, (outputs, images))| {
            // Each loss has a loop of its own, without a choice inside.
            *sum = match self {
                Self::SquaredError => sum_of(outputs, images, |o, t| Self::SquaredError.of(o, t)),
                Self::AbsoluteError => sum_of(outputs, images, |o, t| Self::AbsoluteError.of(o, t)),
                Self::CrossEntropy => sum_of(outputs, images, |o, t| Self::CrossEntropy.of(o, t)),
            };
        });
    }

    /// How far apart the images of each pair of rows are, where outputs `[rows, n_pixels]` stand for the same images `[rows, n_pixels]`: the loss
    /// of the first one's outputs where the second is wanted, without what the outputs alone decide (`log(1 + exp(o))`), so that only pairs of the
    /// same first image can be compared. It is summed in `f64`: two images that differ from a third in as many pixels, between the same two
    /// values, are as far from it to the bit.
    pub fn sums_of_pairs(self, outputs: &[f32], images: &[f32], n_pixels: usize, pairs: &[[usize; 2]]) -> Vec<f64> {
        check_len("images", images.len(), outputs.len());
        let row = |row: usize| row * n_pixels..(row + 1) * n_pixels;
        let between = |&[first, second]: &[usize; 2]| {
            let (outputs, images) = (&outputs[row(first)], &images[row(second)]);
            match self {
                Self::SquaredError => exact_sum_of(outputs, images, |o, t| f64::from((o - t) * (o - t))),
                Self::AbsoluteError => exact_sum_of(outputs, images, |o, t| f64::from((o - t).abs())),
                Self::CrossEntropy => exact_sum_of(outputs, images, |o, t| -f64::from(o) * f64::from(t)),
            }
        };
        pairs.par_iter().map(between).collect()
    }

    /// Fills the gradients of [`PixelLoss::sums`] from that of the sums: with respect to the outputs and to the images,
    /// each if it is wanted.
    pub fn backward(
        self,
        outputs: &[f32],
        images: &[f32],
        grad_sums: &[f32],
        grad_outputs: Option<&mut [f32]>,
        grad_images: Option<&mut [f32]>,
    ) {
        if let Some(grad) = grad_outputs {
            check_len("grad_outputs", grad.len(), outputs.len());
            match self {
                Self::SquaredError => fill(outputs, images, grad_sums, grad, |o, t| Self::SquaredError.slope(o, t)),
                Self::AbsoluteError => fill(outputs, images, grad_sums, grad, |o, t| Self::AbsoluteError.slope(o, t)),
                Self::CrossEntropy => fill(outputs, images, grad_sums, grad, |o, t| Self::CrossEntropy.slope(o, t)),
            }
        }
        if let Some(grad_images) = grad_images {
            check_len("grad_images", grad_images.len(), outputs.len());
            fill(outputs, images, grad_sums, grad_images, |o, t| self.pixel_slope(o, t));
        }
    }
}

/// -1, 0 or 1. `f32::signum` would be 1 at 0; NaN stays NaN.
#[inline(always)]
fn sign(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Several sums at once: one chain of additions is slow, and loses digits when it is long.
pub(crate) fn sum_of(outputs: &[f32], images: &[f32], loss: impl Fn(f32, f32) -> f32) -> f32 {
    const N_CHAINS: usize = 32;
    let mut chains = [0.0; N_CHAINS];
    for (outputs, images) in outputs.chunks(N_CHAINS).zip(images.chunks(N_CHAINS)) {
        for ((chain, &output), &pixel) in chains.iter_mut().zip(outputs).zip(images) {
            *chain += loss(output, pixel);
        }
    }
    chains.iter().sum()
}

/// The same in `f64`.
fn exact_sum_of(outputs: &[f32], images: &[f32], loss: impl Fn(f32, f32) -> f64) -> f64 {
    const N_CHAINS: usize = 16;
    let mut chains = [0.0; N_CHAINS];
    for (outputs, images) in outputs.chunks(N_CHAINS).zip(images.chunks(N_CHAINS)) {
        for ((chain, &output), &pixel) in chains.iter_mut().zip(outputs).zip(images) {
            *chain += loss(output, pixel);
        }
    }
    chains.iter().sum()
}

/// `grad = grad_sum * slope`, for each image and pixel.
fn fill(outputs: &[f32], images: &[f32], grad_sums: &[f32], grad: &mut [f32], slope: impl Fn(f32, f32) -> f32 + Sync) {
    let n_pixels = check_rows(outputs, images, grad_sums.len());
    let rows = outputs.par_chunks(n_pixels).zip(images.par_chunks(n_pixels)).zip(grad_sums);
    grad.par_chunks_mut(n_pixels).zip(rows).for_each(|(grad, ((outputs, images), &grad_sum))| {
        for ((grad, &output), &pixel) in grad.iter_mut().zip(outputs).zip(images) {
            *grad = grad_sum * slope(output, pixel);
        }
    });
}

/// How many pixels an image has, of which there are `n_images`; panics unless that comes out even.
fn check_rows(outputs: &[f32], images: &[f32], n_images: usize) -> usize {
    let n_pixels = (outputs.len() / n_images.max(1)).max(1);
    check_len("outputs", outputs.len(), n_images * n_pixels);
    check_len("images", images.len(), n_images * n_pixels);
    n_pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand() {
        let mut sums = [9.0; 2];
        PixelLoss::SquaredError.sums(&[0.5, -1.0, 2.0, 0.0], &[0.0, 1.0, 1.0, 0.0], &mut sums);
        assert_eq!(sums, [4.25, 1.0]);
        PixelLoss::AbsoluteError.sums(&[0.5, -1.0, 2.0, 0.0], &[0.0, 1.0, 1.0, 0.0], &mut sums);
        assert_eq!(sums, [2.5, 1.0]);
        // Logit 0 is probability 1/2: ln 2 whatever the pixel. Logit ln 3 is 3/4: -ln(3/4) for a pixel of 1.
        PixelLoss::CrossEntropy.sums(&[0.0, 3.0_f32.ln(), -200.0, 200.0], &[0.3, 1.0, 1.0, 0.0], &mut sums);
        assert!((sums[0] - (2.0_f32.ln() + (4.0_f32 / 3.0).ln())).abs() < 1e-6, "{sums:?}");
        assert_eq!(sums[1], 400.0); // without overflow
    }

    #[test]
    fn sums_of_pairs_by_hand() {
        // Three rows of two pixels. Cross-entropy is -o t here, the rest being the first row's own.
        let (outputs, images) = ([0.5, -1.0, 2.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0, 0.5, 0.25]);
        let sums = |loss: PixelLoss| loss.sums_of_pairs(&outputs, &images, 2, &[[0, 1], [2, 0], [1, 1]]);
        assert_eq!(sums(PixelLoss::SquaredError), [0.25 + 1.0, 1.0, 1.0]);
        assert_eq!(sums(PixelLoss::AbsoluteError), [1.5, 1.0, 1.0]);
        assert_eq!(sums(PixelLoss::CrossEntropy), [-0.5, -1.0, -2.0]);
    }

    #[test]
    fn images_that_differ_in_as_many_pixels_are_as_far_apart_to_the_bit() {
        // 0.7 squared is no sum of few powers of 2: added up in f32, the order and the place would tell.
        let n_pixels = 12_288;
        let mut images = vec![0.0_f32; 3 * n_pixels];
        for pixel in 0..3000 {
            images[n_pixels + pixel] = 0.7;
            images[2 * n_pixels + 4 * pixel] = 0.7;
        }
        for loss in [PixelLoss::SquaredError, PixelLoss::AbsoluteError] {
            let distances = loss.sums_of_pairs(&images, &images, n_pixels, &[[0, 1], [0, 2]]);
            assert_eq!(distances[0].to_bits(), distances[1].to_bits(), "{loss:?}");
        }
    }

    #[test]
    fn slopes_are_finite_differences() {
        let (outputs, images) = ([0.3, -1.2, 2.5, 0.0], [0.5, 1.0, 0.0, 0.25]);
        for loss in [PixelLoss::SquaredError, PixelLoss::AbsoluteError, PixelLoss::CrossEntropy] {
            let (mut grad_outputs, mut grad_images) = ([9.0; 4], [9.0; 4]);
            loss.backward(&outputs, &images, &[1.0, -2.0], Some(&mut grad_outputs), Some(&mut grad_images));
            for index in 0..4 {
                let scale = [1.0, -2.0][index / 2];
                let (output, pixel, step) = (outputs[index], images[index], 1e-2_f32);
                let along_output = (loss.of(output + step, pixel) - loss.of(output - step, pixel)) / (2.0 * step);
                let along_pixel = (loss.of(output, pixel + step) - loss.of(output, pixel - step)) / (2.0 * step);
                assert!((grad_outputs[index] - scale * along_output).abs() < 1e-3, "{loss:?} {index}");
                assert!((grad_images[index] - scale * along_pixel).abs() < 1e-3, "{loss:?} {index}");
            }
        }
    }

    #[test]
    fn the_slope_of_an_absolute_error_is_a_sign_and_zero_at_its_kink() {
        let (mut grad_outputs, mut grad_images) = ([9.0; 4], [9.0; 4]);
        let (outputs, images) = ([0.5, 0.25, -1.0, f32::NAN], [0.25, 0.25, 0.0, 0.0]);
        PixelLoss::AbsoluteError.backward(&outputs, &images, &[3.0], Some(&mut grad_outputs), Some(&mut grad_images));
        assert_eq!((&grad_outputs[..3], &grad_images[..3]), (&[3.0, 0.0, -3.0][..], &[-3.0, 0.0, 3.0][..]));
        assert!(grad_outputs[3].is_nan() && grad_images[3].is_nan());
    }
}
