//! Any kernel, as a product of spectra: the cost hardly depends on the size of the kernel.

use rustfft::num_complex::Complex32;

use super::planes::{Pair, Planes};
use super::{FilterShape, radius_of, side_of};
use crate::scratch::with_complex_scratch;

/// The spectrum of a kernel for images of one shape.
#[derive(Clone, Debug)]
pub(super) struct Fourier {
    shape: FilterShape,
    planes: Planes,
    spectrum: Vec<Complex32>,
}

impl Fourier {
    pub(super) fn new(shape: FilterShape, kernel: &[f32]) -> Self {
        let planes = Planes::new(shape.height, shape.width, radius_of(side_of(kernel)));
        let spectrum = planes.spectrum_of_kernel(kernel);
        Self { shape, planes, spectrum }
    }

    pub(super) fn apply(&self, image: &[f32], out: &mut [f32]) {
        self.multiply(image, out, |value, factor| *value *= factor);
    }

    pub(super) fn apply_transposed(&self, image: &[f32], out: &mut [f32]) {
        self.multiply(image, out, |value, factor| *value *= factor.conj());
    }

    fn multiply(&self, image: &[f32], out: &mut [f32], multiply: impl Fn(&mut Complex32, Complex32)) {
        with_complex_scratch(self.planes.spectrum_len(), |spectrum| {
            for pair in pairs(self.shape, 1) {
                self.planes.transform(image, pair, spectrum);
                spectrum.iter_mut().zip(&self.spectrum).for_each(|(value, &factor)| multiply(value, factor));
                self.planes.inverse(spectrum, out, pair);
            }
        });
    }
}

/// The planes of so many images that lie one after another, two by two; the last one may be alone.
pub(super) fn pairs(shape: FilterShape, n_images: usize) -> impl Iterator<Item = Pair> {
    let n_planes = n_images * shape.channels;
    let start = move |plane: usize| plane / shape.channels * shape.n_values() + plane % shape.channels;
    (0..n_planes).step_by(2).map(move |plane| Pair {
        first: start(plane),
        second: (plane + 1 < n_planes).then(|| start(plane + 1)),
        step: shape.channels,
    })
}
