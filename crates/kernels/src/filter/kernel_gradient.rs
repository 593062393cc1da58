//! The gradient of a loss with respect to the kernel: what kernels are learned by.
//!
//! With `out = kernel * image`, the gradient at tap `(i, j)` is the sum over `y, x` of `gradient[y, x] * image[y - i, x - j]`: a
//! correlation, in spectra the product of the gradient's with the conjugate of the image's. So spectra of a batch are kept from when it is
//! filtered, are summed over images, and go back once.

use rayon::prelude::*;
use rustfft::num_complex::Complex32;

use super::fourier::pairs;
use super::planes::Planes;
use super::{FilterShape, radius_of, side_of};
use crate::scratch::with_complex_scratch;
use crate::shape::check_len;

/// Images that a thread takes at a time; even, so that odd planes find a partner in the next image.
const GROUP: usize = 8;

/// A batch of images that is filtered by a kernel that changes.
#[derive(Clone, Debug)]
pub struct KernelGradient {
    shape: FilterShape,
    planes: Planes,
    side: usize,
    n_images: usize,
    /// The spectrum of each two planes of the last batch.
    spectra: Vec<Complex32>,
}

impl KernelGradient {
    /// For images of one shape and a kernel of `2 * radius + 1` rows.
    pub fn new(shape: FilterShape, radius: usize) -> Self {
        let planes = Planes::new(shape.height, shape.width, radius);
        Self { shape, planes, side: 2 * radius + 1, n_images: 0, spectra: Vec::new() }
    }

    /// Fills `out` with the filtered images, `[images, height, width, channels]` both, and keeps the spectra of the images.
    pub fn filter(&mut self, kernel: &[f32], images: &[f32], out: &mut [f32]) {
        let (shape, planes) = (self.shape, &self.planes);
        assert_eq!(radius_of(side_of(kernel)), self.side / 2, "a kernel of another radius");
        self.n_images = images.len() / shape.n_values();
        check_len("images", images.len(), self.n_images * shape.n_values());
        check_len("out", out.len(), images.len());
        let n_pairs = pairs(shape, self.n_images).count();
        self.spectra.resize(n_pairs * planes.spectrum_len(), Complex32::default());
        let of_kernel = planes.spectrum_of_kernel(kernel);
        let (values, spectra) = self.group_lens();
        let groups =
            images.par_chunks(values).zip(out.par_chunks_mut(values)).zip(self.spectra.par_chunks_mut(spectra));
        groups.for_each(|((images, out), spectra)| {
            let pairs = pairs(shape, images.len() / shape.n_values());
            with_complex_scratch(planes.spectrum_len(), |product| {
                for (pair, spectrum) in pairs.zip(spectra.chunks_exact_mut(planes.spectrum_len())) {
                    planes.transform(images, pair, spectrum);
                    for ((product, &value), &factor) in product.iter_mut().zip(&*spectrum).zip(&of_kernel) {
                        *product = value * factor;
                    }
                    planes.inverse(product, out, pair);
                }
            });
        });
    }

    /// The gradient of a loss at the kernel, `[side, side]`, from its gradients at the images that were filtered last.
    pub fn at_kernel(&self, gradients: &[f32]) -> Vec<f32> {
        let (shape, planes) = (self.shape, &self.planes);
        check_len("gradients", gradients.len(), self.n_images * shape.n_values());
        let (values, spectra) = self.group_lens();
        let groups = gradients.par_chunks(values).zip(self.spectra.par_chunks(spectra));
        let sums: Vec<Vec<Complex32>> = groups
            .map(|(gradients, spectra)| {
                let mut sum = vec![Complex32::default(); planes.spectrum_len()];
                let pairs = pairs(shape, gradients.len() / shape.n_values());
                with_complex_scratch(planes.spectrum_len(), |of_gradient| {
                    for (pair, spectrum) in pairs.zip(spectra.chunks_exact(planes.spectrum_len())) {
                        planes.transform(gradients, pair, of_gradient);
                        for ((sum, &image), &gradient) in sum.iter_mut().zip(spectrum).zip(&*of_gradient) {
                            // Of two planes in one spectrum, the products of each with itself stay in the real part when the sum
                            // goes back, and those of one with the other in the imaginary part, which is left.
                            *sum += image.conj() * gradient;
                        }
                    }
                });
                sum
            })
            .collect();
        // One after another, whichever thread was done first.
        let mut total = vec![Complex32::default(); planes.spectrum_len()];
        for sum in &sums {
            total.iter_mut().zip(sum).for_each(|(total, value)| *total += value);
        }
        planes.kernel_of_spectrum(total, self.side)
    }

    /// How many numbers the images of a group have, and their spectra.
    fn group_lens(&self) -> (usize, usize) {
        let n_pairs = (GROUP * self.shape.channels).div_ceil(2);
        (GROUP * self.shape.n_values(), n_pairs * self.planes.spectrum_len())
    }
}
