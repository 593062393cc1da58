//! Moving between images and the patches that a convolution's windows see (im2col and col2im).
//!
//! With channels last, each of a patch's `kernel` lines is one contiguous run of the image.

use std::ops::Range;

use crate::shape::ConvShape;

/// Copies out what the windows of one output line see: `image` is `[height, width, in_channels]`, `patches` is
/// `[out_width, kernel, kernel, in_channels]`. Taps in the padding are zero.
pub(crate) fn gather_line(shape: &ConvShape, image: &[f32], out_y: usize, patches: &mut [f32]) {
    let y = Taps::of_window(out_y, shape.height, shape);
    if y.range.len() < shape.kernel {
        patches.fill(0.0);
    } else {
        let clipped = clipped_windows(shape, &whole_windows(shape));
        clipped.for_each(|out_x| patches[out_x * shape.patch_len()..][..shape.patch_len()].fill(0.0));
    }
    for_each_run(shape, &y, |in_patches, in_image| patches[in_patches].copy_from_slice(&image[in_image]));
}

/// The adjoint of [`gather_line`]: adds the patches of one output line to where they came from.
pub(crate) fn scatter_line(shape: &ConvShape, patches: &[f32], out_y: usize, image: &mut [f32]) {
    let y = Taps::of_window(out_y, shape.height, shape);
    for_each_run(shape, &y, |in_patches, in_image| {
        image[in_image].iter_mut().zip(&patches[in_patches]).for_each(|(value, patch)| *value += patch);
    });
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
}

/// The windows of a line that reach over neither side of the image.
fn whole_windows(shape: &ConvShape) -> Range<usize> {
    let start = shape.padding.div_ceil(shape.stride).min(shape.out_width());
    let end = (shape.width + shape.padding + shape.stride).saturating_sub(shape.kernel) / shape.stride;
    start..end.clamp(start, shape.out_width())
}

/// The others.
fn clipped_windows(shape: &ConvShape, whole: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
    (0..whole.start).chain(whole.end..shape.out_width())
}

/// Calls `job` with where each contiguous run of a line's windows lies in the patches and in the image.
#[inline(always)]
fn for_each_run(shape: &ConvShape, y: &Taps, mut job: impl FnMut(Range<usize>, Range<usize>)) {
    let whole = whole_windows(shape);
    for out_x in clipped_windows(shape, &whole) {
        let x = Taps::of_window(out_x, shape.width, shape);
        let run_len = x.range.len() * shape.in_channels;
        if run_len > 0 {
            for_each_run_of_window(shape, y, out_x, &x, run_len, &mut job);
        }
    }
    // A 4x4 kernel's runs over 1 or 3 channels are so short that a call to memcpy would cost more than the copy.
    // Spelling their lengths out lets the compiler do without.
    match shape.kernel * shape.in_channels {
        4 => for_each_whole_run(shape, y, whole, 4, job),
        12 => for_each_whole_run(shape, y, whole, 12, job),
        run_len => for_each_whole_run(shape, y, whole, run_len, job),
    }
}

#[inline(always)]
fn for_each_whole_run(
    shape: &ConvShape,
    y: &Taps,
    windows: Range<usize>,
    run_len: usize,
    mut job: impl FnMut(Range<usize>, Range<usize>),
) {
    for out_x in windows {
        let x = Taps { range: 0..shape.kernel, position: out_x * shape.stride - shape.padding };
        for_each_run_of_window(shape, y, out_x, &x, run_len, &mut job);
    }
}

#[inline(always)]
fn for_each_run_of_window(
    shape: &ConvShape,
    y: &Taps,
    out_x: usize,
    x: &Taps,
    run_len: usize,
    job: &mut impl FnMut(Range<usize>, Range<usize>),
) {
    let patch_line_len = shape.kernel * shape.in_channels;
    let image_line_len = shape.width * shape.in_channels;
    let mut in_patches = out_x * shape.patch_len() + y.range.start * patch_line_len + x.range.start * shape.in_channels;
    let mut in_image = y.position * image_line_len + x.position * shape.in_channels;
    for _ in y.range.clone() {
        job(in_patches..in_patches + run_len, in_image..in_image + run_len);
        in_patches += patch_line_len;
        in_image += image_line_len;
    }
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
