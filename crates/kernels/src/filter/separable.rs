//! Separable kernels, down the columns and then along the rows. Each pass is the product with a matrix that has the taps around its
//! diagonal: for large kernels nearly all of it is taps, and products run at the speed of the processor.

use super::{FilterShape, radius_of};
use crate::product::{Matrix, Store, Target, multiply};
use crate::scratch::with_scratch;

/// The matrices of both passes.
#[derive(Clone, Debug)]
pub(super) struct Separable {
    shape: FilterShape,
    down: Vec<f32>,
    along: Vec<f32>,
}

impl Separable {
    pub(super) fn new(shape: FilterShape, taps: &[f32]) -> Self {
        Self { shape, down: banded(shape.height, taps), along: banded(shape.width, taps) }
    }

    pub(super) fn apply(&self, image: &[f32], out: &mut [f32]) {
        let (down, along) = (self.matrix_down(), self.matrix_along().transposed());
        self.multiply_planes(down, along, image, out);
    }

    pub(super) fn apply_transposed(&self, image: &[f32], out: &mut [f32]) {
        let (down, along) = (self.matrix_down().transposed(), self.matrix_along());
        self.multiply_planes(down, along, image, out);
    }

    fn matrix_down(&self) -> Matrix<'_> {
        Matrix::of_rows(&self.down, self.shape.height)
    }

    fn matrix_along(&self) -> Matrix<'_> {
        Matrix::of_rows(&self.along, self.shape.width)
    }

    /// `down * plane * along` of the plane of each channel.
    fn multiply_planes(&self, down: Matrix, along: Matrix, image: &[f32], out: &mut [f32]) {
        let FilterShape { width, channels, .. } = self.shape;
        let plane_len = image.len() / channels;
        with_scratch(2 * plane_len, |scratch| {
            let (plane, half) = scratch.split_at_mut(plane_len);
            for channel in 0..channels {
                gather(image, channels, channel, plane);
                multiply(down, Matrix::of_rows(plane, width), Store::Overwrite, Target::of_rows(half, width));
                multiply(Matrix::of_rows(half, width), along, Store::Overwrite, Target::of_rows(plane, width));
                scatter(plane, channels, channel, out);
            }
        });
    }
}

/// `[side, side]`, whose row `o` has the taps with the middle one at column `o`: what a convolution along one side is a product with.
pub fn banded<T: Copy + Default>(side: usize, taps: &[T]) -> Vec<T> {
    let radius = radius_of(taps.len());
    let value = |position: usize| {
        let (to, from) = (position / side, position % side);
        (radius + to).checked_sub(from).and_then(|tap| taps.get(tap)).copied().unwrap_or_default()
    };
    (0..side * side).map(value).collect()
}

/// The numbers of one channel.
fn gather(image: &[f32], channels: usize, channel: usize, plane: &mut [f32]) {
    plane.iter_mut().zip(image.iter().skip(channel).step_by(channels)).for_each(|(to, from)| *to = *from);
}

fn scatter(plane: &[f32], channels: usize, channel: usize, image: &mut [f32]) {
    image.iter_mut().skip(channel).step_by(channels).zip(plane).for_each(|(to, from)| *to = *from);
}

/// `2 radius + 1` taps of a Gaussian whose standard deviation is a quarter of the radius, which sum to 1.
pub fn gaussian_taps(radius: usize) -> Vec<f64> {
    let deviation = radius as f64 / 4.0;
    let tap = |position: usize| (-0.5 * ((position as f64 - radius as f64) / deviation).powi(2)).exp();
    let sum: f64 = (0..=2 * radius).map(tap).sum();
    (0..=2 * radius).map(|position| tap(position) / sum).collect()
}
