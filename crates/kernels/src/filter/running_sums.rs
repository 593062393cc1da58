//! Sums over square windows, whose cost does not depend on the size of the window: a window that moves by one takes one number in and
//! lets one go.

use super::FilterShape;
use crate::scratch::with_scratch;

/// Rows that are summed along side by side, so that one addition need not wait for another.
const ROWS: usize = 8;

/// Fills `out` with the sum over the window around each pixel, for each channel.
pub(super) fn window_sums(shape: FilterShape, radius: usize, image: &[f32], out: &mut [f32]) {
    with_scratch(image.len(), |sums| {
        down_columns(shape, radius, image, sums);
        let row_len = shape.width * shape.channels;
        for (rows, out) in sums.chunks(ROWS * row_len).zip(out.chunks_mut(ROWS * row_len)) {
            along_rows(shape, radius, rows, out);
        }
    });
}

/// Sums of up to `radius` rows above and below.
fn down_columns(shape: FilterShape, radius: usize, image: &[f32], out: &mut [f32]) {
    let row_len = shape.width * shape.channels;
    let row = |row: usize| &image[row * row_len..(row + 1) * row_len];
    let window = radius.min(shape.height);
    with_scratch(row_len, |sums| {
        sums.fill(0.0);
        (0..window).for_each(|first| add(sums, row(first)));
        for y in 0..shape.height {
            if y + window < shape.height {
                add(sums, row(y + window));
            }
            if y > window {
                subtract(sums, row(y - window - 1));
            }
            out[y * row_len..(y + 1) * row_len].copy_from_slice(sums);
        }
    });
}

fn add(sums: &mut [f32], row: &[f32]) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
}

fn subtract(sums: &mut [f32], row: &[f32]) {
    sums.iter_mut().zip(row).for_each(|(sum, value)| *sum -= value);
}

/// Sums of up to `radius` pixels to the left and to the right, in each of a few rows.
fn along_rows(shape: FilterShape, radius: usize, rows: &[f32], out: &mut [f32]) {
    match shape.channels {
        1 => along_rows_of::<1>(shape.width, radius, rows, out),
        3 => along_rows_of::<3>(shape.width, radius, rows, out),
        _ => along_any_rows(shape, radius, rows, out),
    }
}

/// The same where the number of channels is known, and with it how many sums go on side by side.
fn along_rows_of<const CHANNELS: usize>(width: usize, radius: usize, rows: &[f32], out: &mut [f32]) {
    let (rows, _) = rows.as_chunks::<CHANNELS>();
    let (out, _) = out.as_chunks_mut::<CHANNELS>();
    let window = radius.min(width);
    for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let mut sums = [0.0; CHANNELS];
        let add = |sums: &mut [f32; CHANNELS], pixel: &[f32; CHANNELS], sign: f32| {
            (0..CHANNELS).for_each(|channel| sums[channel] += sign * pixel[channel]);
        };
        row[..window].iter().for_each(|pixel| add(&mut sums, pixel, 1.0));
        for x in 0..width {
            if x + window < width {
                add(&mut sums, &row[x + window], 1.0);
            }
            if x > window {
                add(&mut sums, &row[x - window - 1], -1.0);
            }
            out[x] = sums;
        }
    }
}

/// The same for any number of channels.
fn along_any_rows(shape: FilterShape, radius: usize, rows: &[f32], out: &mut [f32]) {
    let FilterShape { width, channels, .. } = shape;
    let row_len = width * channels;
    let n_rows = rows.len() / row_len;
    let window = radius.min(width);
    with_scratch(n_rows * channels, |sums| {
        // [rows, channels]
        let change = |sums: &mut [f32], x: usize, sign: f32| {
            for (row, sums) in sums.chunks_exact_mut(channels).enumerate() {
                let pixel = &rows[row * row_len + x * channels..][..channels];
                sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += sign * value);
            }
        };
        sums.fill(0.0);
        (0..window).for_each(|x| change(sums, x, 1.0));
        for x in 0..width {
            if x + window < width {
                change(sums, x + window, 1.0);
            }
            if x > window {
                change(sums, x - window - 1, -1.0);
            }
            for (row, sums) in sums.chunks_exact(channels).enumerate() {
                out[row * row_len + x * channels..][..channels].copy_from_slice(sums);
            }
        }
    });
}
