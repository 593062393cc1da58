//! Images resized by antialiased bilinear interpolation, to the byte as `Image.resize(size, Image.BILINEAR)` of Pillow up to
//! version 12 does. Later ones take rows first where an image shrinks much more along its height, and differ there by 1.
//!
//! Datasets of the literature were resized by Pillow, so that scores can only be compared where every byte is the same; no
//! crate promises that. Each output pixel is a weighted mean of input pixels under a triangle, which is as wide as the step
//! from one output pixel to the next where an image shrinks. Columns come first, then rows, each rounded to bytes, with
//! weights in fixed point.

use super::picture::Picture;

/// Bits behind the point of a weight: 32 less 8 for the byte and 2 for the sum.
const PRECISION: u32 = 22;

/// How an axis of one length becomes one of another.
#[derive(Debug, Clone)]
struct Axis {
    /// For each output place the first input place, and the weights from there on.
    places: Vec<(usize, Vec<i32>)>,
}

impl Axis {
    fn new(from: usize, to: usize) -> Self {
        let scale = from as f64 / to as f64;
        let stretch = scale.max(1.0);
        let steepness = 1.0 / stretch;
        let place = |position: usize| {
            let centre = (position as f64 + 0.5) * scale;
            let first = ((centre - stretch + 0.5) as isize).max(0) as usize;
            let end = ((centre + stretch + 0.5) as usize).min(from);
            let triangle = |input: usize| {
                let away = ((input as f64 - centre + 0.5) * steepness).abs();
                (1.0 - away).max(0.0)
            };
            let weights: Vec<f64> = (first..end).map(triangle).collect();
            let sum: f64 = weights.iter().sum();
            let fixed = |weight: f64| (0.5 + weight / sum * f64::from(1 << PRECISION)) as i32;
            (first, weights.into_iter().map(fixed).collect())
        };
        Self { places: (0..to).map(place).collect() }
    }
}

/// Resizes images of one shape to another.
#[derive(Debug, Clone)]
pub struct Resizer {
    from: (usize, usize),
    to: (usize, usize),
    channels: usize,
    rows: Axis,
    columns: Axis,
}

impl Resizer {
    /// From `(height, width)` to `(height, width)`, none of which is 0.
    pub fn new(from: (usize, usize), to: (usize, usize), channels: usize) -> Self {
        Self { from, to, channels, rows: Axis::new(from.0, to.0), columns: Axis::new(from.1, to.1) }
    }

    /// Writes the image `[height, width, channels]` of bytes in its new size into `resized`.
    pub fn resize(&self, image: &[u8], resized: &mut [u8]) {
        let (row_bytes, new_row_bytes) = (self.from.1 * self.channels, self.to.1 * self.channels);
        let mut narrowed = vec![0; self.from.0 * new_row_bytes]; // [old height, new width, channels]
        if self.from.1 == self.to.1 {
            narrowed.copy_from_slice(image);
        } else {
            for (row, new_row) in image.chunks_exact(row_bytes).zip(narrowed.chunks_exact_mut(new_row_bytes)) {
                weigh_columns(row, new_row, &self.columns, self.channels);
            }
        }
        if self.from.0 == self.to.0 {
            resized.copy_from_slice(&narrowed);
            return;
        }
        let mut sums = vec![0_i32; new_row_bytes];
        for ((first, weights), new_row) in self.rows.places.iter().zip(resized.chunks_exact_mut(new_row_bytes)) {
            sums.fill(1 << (PRECISION - 1));
            for (row, weight) in narrowed.chunks_exact(new_row_bytes).skip(*first).zip(weights) {
                sums.iter_mut().zip(row).for_each(|(sum, &byte)| *sum += i32::from(byte) * weight);
            }
            new_row.iter_mut().zip(&sums).for_each(|(byte, &sum)| *byte = rounded(sum));
        }
    }
}

fn weigh_columns(row: &[u8], new_row: &mut [u8], columns: &Axis, channels: usize) {
    for ((first, weights), pixel) in columns.places.iter().zip(new_row.chunks_exact_mut(channels)) {
        for (channel, byte) in pixel.iter_mut().enumerate() {
            let inputs = row[first * channels + channel..].iter().step_by(channels);
            let sum: i32 = inputs.zip(weights).map(|(&input, weight)| i32::from(input) * weight).sum();
            *byte = rounded(sum + (1 << (PRECISION - 1)));
        }
    }
}

fn rounded(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// The picture in another size.
pub fn resized(picture: &Picture, height: usize, width: usize) -> Picture {
    if (picture.height, picture.width) == (height, width) {
        return picture.clone();
    }
    let mut bytes = vec![0; height * width * picture.channels];
    Resizer::new((picture.height, picture.width), (height, width), picture.channels).resize(&picture.bytes, &mut bytes);
    Picture { height, width, channels: picture.channels, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bytes: &[u8], width: usize) -> Vec<u8> {
        let picture = Picture { height: 1, width: bytes.len(), channels: 1, bytes: bytes.to_vec() };
        resized(&picture, 1, width).bytes
    }

    #[test]
    fn half_as_many_pixels_are_means_under_a_triangle() {
        // The triangle of two pixels to each side: 1/8, 3/8, 3/8, 1/8 in the middle, and 3/7, 3/7, 1/7 at an end.
        assert_eq!(row(&[0, 0, 70, 70, 70, 140, 140, 140], 4), [10, 61, 105, 140]);
        assert_eq!(row(&[9; 10], 3), [9; 3]);
    }

    #[test]
    fn twice_as_many_pixels_lie_between_their_neighbours() {
        // Centres at 1/4, 3/4, 5/4 and 7/4 of a pixel: 3/4 of the nearer and 1/4 of the other.
        assert_eq!(row(&[0, 100], 4), [0, 25, 75, 100]);
    }

    #[test]
    fn the_same_size_is_the_same_picture() {
        let picture = Picture { height: 2, width: 1, channels: 3, bytes: (0..6).collect() };
        assert_eq!(resized(&picture, 2, 1), picture);
    }
}
