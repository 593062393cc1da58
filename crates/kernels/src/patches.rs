//! Moving between images and the patches that a convolution's windows see (im2col and col2im).
//!
//! With channels last, each of a patch's `kernel` lines is one contiguous run of the image.

use std::ops::Range;

use crate::shape::ConvShape;

/// Copies out what the windows of one output line see: `image` is `[height, width, in_channels]`, `patches` is
/// `[out_width, kernel, kernel, in_channels]`. Taps in the padding are zero.
pub(crate) fn gather_line(shape: &ConvShape, image: &[f32], out_y: usize, patches: &mut [f32]) {
    let y = Taps::of_window(out_y, shape.height, shape);
    for (out_x, patch) in patches.chunks_exact_mut(shape.patch_len()).enumerate() {
        let x = Taps::of_window(out_x, shape.width, shape);
        if y.len() * x.len() < shape.kernel * shape.kernel {
            patch.fill(0.0);
        }
        for_each_run(shape, &y, &x, |in_patch, in_image| copy_run(&image[in_image], &mut patch[in_patch]));
    }
}

/// The adjoint of [`gather_line`]: adds the patches of one output line to where they came from.
pub(crate) fn scatter_line(shape: &ConvShape, patches: &[f32], out_y: usize, image: &mut [f32]) {
    let y = Taps::of_window(out_y, shape.height, shape);
    for (out_x, patch) in patches.chunks_exact(shape.patch_len()).enumerate() {
        let x = Taps::of_window(out_x, shape.width, shape);
        for_each_run(shape, &y, &x, |in_patch, in_image| add_run(&patch[in_patch], &mut image[in_image]));
    }
}

/// The taps of one window along one axis that lie inside the image.
struct Taps {
    range: Range<usize>,
    /// Where in the image the first of them lies.
    position: usize,
}

impl Taps {
    fn of_window(window_index: usize, axis_len: usize, shape: &ConvShape) -> Self {
        let start = window_index * shape.stride; // counted from the edge of the padding
        let first = shape.padding.saturating_sub(start).min(shape.kernel);
        let end = (axis_len + shape.padding).saturating_sub(start).clamp(first, shape.kernel);
        Self { range: first..end, position: (start + first).saturating_sub(shape.padding) }
    }

    fn len(&self) -> usize {
        self.range.len()
    }
}

/// Calls `job` with where each contiguous run of a window lies in its patch and in the image.
#[inline(always)]
fn for_each_run(shape: &ConvShape, y: &Taps, x: &Taps, mut job: impl FnMut(Range<usize>, Range<usize>)) {
    let channels = shape.in_channels;
    let run_len = x.len() * channels;
    if run_len == 0 {
        return;
    }
    for (line, tap) in y.range.clone().enumerate() {
        let in_patch = (tap * shape.kernel + x.range.start) * channels;
        let in_image = ((y.position + line) * shape.width + x.position) * channels;
        job(in_patch..in_patch + run_len, in_image..in_image + run_len);
    }
}

// A run of a 4x4 kernel over 1 or 3 channels is so short that a call to memcpy would cost more than the copy, so
// these lengths are spelt out for the compiler.

#[inline(always)]
fn copy_run(from: &[f32], to: &mut [f32]) {
    match from.len() {
        4 => copy_fixed::<4>(from, to),
        12 => copy_fixed::<12>(from, to),
        _ => to.copy_from_slice(from),
    }
}

#[inline(always)]
fn copy_fixed<const LEN: usize>(from: &[f32], to: &mut [f32]) {
    to[..LEN].copy_from_slice(&from[..LEN]);
}

#[inline(always)]
fn add_run(from: &[f32], to: &mut [f32]) {
    match from.len() {
        4 => add_fixed::<4>(from, to),
        12 => add_fixed::<12>(from, to),
        _ => to.iter_mut().zip(from).for_each(|(to, from)| *to += from),
    }
}

#[inline(always)]
fn add_fixed<const LEN: usize>(from: &[f32], to: &mut [f32]) {
    to[..LEN].iter_mut().zip(&from[..LEN]).for_each(|(to, from)| *to += from);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: ConvShape =
        ConvShape { batch: 1, height: 2, width: 3, in_channels: 1, out_channels: 1, kernel: 2, stride: 2, padding: 1 };

    #[test]
    fn gathers_by_hand() {
        let image = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // [2, 3]
        let mut patches = [9.0; 8];
        gather_line(&SHAPE, &image, 0, &mut patches);
        assert_eq!(patches, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 3.0]);
        gather_line(&SHAPE, &image, 1, &mut patches);
        assert_eq!(patches, [0.0, 4.0, 0.0, 0.0, 5.0, 6.0, 0.0, 0.0]);
    }

    #[test]
    fn scatters_by_hand() {
        let mut image = [1.0; 6];
        scatter_line(&SHAPE, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0, &mut image);
        assert_eq!(image, [5.0, 8.0, 9.0, 1.0, 1.0, 1.0]);
    }
}
