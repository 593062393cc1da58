//! What losses look at in images of one shape, computed so that distances which are equal by definition come out equal, or nearly: bytes and their
//! window sums as whole numbers, blurs in 64 bits. Kernels are filtered by Fourier transforms in 32 bits, as in training.

use std::ops::Range;

use ndarray::iter::Lanes;
use ndarray::{Array2, ArrayView2, Ix1, s};
use unbraid_kernels::{Filter, FilterShape, banded};
use unbraid_metrics::distance_agreement::ROUND_SHARE;

/// Distances are rounded to this share of the largest before they are ranked. In 64 bits ties come out some 1e-15 apart.
const FINE_SHARE: f64 = 1.0 / (1_u64 << 38) as f64;
/// Whole numbers up to here are exact in 32 bits.
const MOST_EXACT: usize = 1 << 24;

/// What a loss looks at.
#[derive(Debug, Clone)]
pub enum View {
    /// Squared differences of pixels.
    Squares,
    /// Absolute differences of pixels.
    Absolutes,
    /// Squared differences of pixels, and with a weight those of filtered images.
    Filtered {
        /// The filter, for images of one shape.
        filter: Box<ImageFilter>,
        /// The weight of what is filtered.
        weight: f64,
    },
}

impl View {
    /// To which share of the largest distance they are rounded before they are ranked.
    pub fn round_share(&self) -> f64 {
        match self {
            Self::Filtered { filter, .. } if matches!(filter.way, Way::Transforms(_)) => ROUND_SHARE,
            _ => FINE_SHARE,
        }
    }
}

/// A filter for images of one shape, each channel by itself.
#[derive(Debug, Clone)]
pub struct ImageFilter {
    shape: FilterShape,
    way: Way,
}

/// How a plane, one channel of an image, is filtered.
#[derive(Debug, Clone)]
enum Way {
    Sums(Filter),
    Products { down: Array2<f64>, along: Array2<f64> },
    Transforms(Filter),
}

/// What the numbers of images are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Whole numbers from 0 to 255.
    Bytes,
    /// Any.
    Floats,
}

impl ImageFilter {
    /// The sum over a square window that reaches so far to each side.
    pub fn window_sums(shape: FilterShape, radius: usize, numbers: Numbers) -> Self {
        let side = |length: usize| length.min(2 * radius + 1);
        let most = 255 * side(shape.height) * side(shape.width);
        match numbers == Numbers::Bytes && most <= MOST_EXACT {
            true => Self { shape, way: Way::Sums(Filter::window_sums(plane_of(shape), radius)) },
            false => Self::separable(shape, &vec![1.0; 2 * radius + 1]),
        }
    }

    /// The kernel `taps[i] * taps[j]`, an odd number of taps that are the same from both ends.
    pub fn separable(shape: FilterShape, taps: &[f64]) -> Self {
        Self { shape, way: Way::Products { down: matrix(shape.height, taps), along: matrix(shape.width, taps) } }
    }

    /// Any square kernel of odd side.
    pub fn kernel(shape: FilterShape, taps: &[f32]) -> Self {
        Self { shape, way: Way::Transforms(Filter::kernel(plane_of(shape), taps)) }
    }

    /// What each of the images `[images, values]` differs by from the first one, filtered. Along a factor most of an image stays as it is, and
    /// what is all zeros stays zeros.
    pub fn differences(&self, images: &[f32]) -> Vec<f64> {
        let (n_values, channels) = (self.shape.n_values(), self.shape.channels);
        let mut all = vec![0.0; images.len()];
        let mut plane = Array2::zeros((self.shape.height, self.shape.width));
        for (image, out) in images.chunks_exact(n_values).zip(all.chunks_exact_mut(n_values)).skip(1) {
            for channel in 0..channels {
                let pixels = image.iter().zip(images).skip(channel).step_by(channels);
                plane.iter_mut().zip(pixels).for_each(|(to, (a, b))| *to = f64::from(*a) - f64::from(*b));
                if let Some(filtered) = self.plane(&plane) {
                    let places = out[channel..].iter_mut().step_by(channels);
                    places.zip(&filtered).for_each(|(to, from)| *to = *from);
                }
            }
        }
        all
    }

    /// The filtered plane; none where it is zeros.
    fn plane(&self, plane: &Array2<f64>) -> Option<Array2<f64>> {
        let rows = nonzero(plane.rows())?;
        match &self.way {
            Way::Sums(filter) | Way::Transforms(filter) => {
                let values: Vec<f32> = plane.iter().map(|&value| value as f32).collect();
                let mut filtered = vec![0.0; values.len()];
                filter.apply(&values, &mut filtered);
                let filtered = filtered.into_iter().map(f64::from).collect();
                Some(Array2::from_shape_vec(plane.dim(), filtered).expect("a plane is as large as before"))
            }
            Way::Products { down, along } => {
                let columns = nonzero(plane.columns())?;
                let inner = plane.slice(s![rows.clone(), columns.clone()]);
                Some(down.slice(s![.., rows]).dot(&inner).dot(&along.slice(s![columns, ..])))
            }
        }
    }
}

/// From the first line that is not all zeros to the last.
fn nonzero(lines: Lanes<'_, f64, Ix1>) -> Option<Range<usize>> {
    let mut places = lines.into_iter().enumerate().filter(|(_, line)| line.iter().any(|value| *value != 0.0));
    let (first, _) = places.next()?;
    Some(first..places.next_back().map_or(first, |(last, _)| last) + 1)
}

fn plane_of(shape: FilterShape) -> FilterShape {
    FilterShape { channels: 1, ..shape }
}

/// What a convolution along one side is a product with; its own transpose, since taps are the same from both ends.
fn matrix(side: usize, taps: &[f64]) -> Array2<f64> {
    Array2::from_shape_vec((side, side), banded(side, taps)).expect("a square")
}

/// Numbers of each row that are multiplied at a time, so that they stay in the cache.
const PIECE: usize = 512;

/// The sums of the squared differences of all pairs of rows `[rows, n_values]`, of positions `(i, j)`, `i < j`, in ascending order: as products of
/// the rows less the first one, which are exact where rows are whole numbers and sums below 2^53.
pub fn squared_differences(rows: &[f64], n_values: usize) -> Vec<f64> {
    let n_rows = rows.len() / n_values;
    let rows = ArrayView2::from_shape((n_rows, n_values), rows).expect("rows have as many values");
    let mut products = Array2::<f64>::zeros((n_rows, n_rows));
    for start in (0..n_values).step_by(PIECE) {
        let piece = rows.slice(s![.., start..(start + PIECE).min(n_values)]);
        let shifted = &piece - &piece.row(0);
        ndarray::linalg::general_mat_mul(1.0, &shifted, &shifted.t(), 1.0, &mut products);
    }
    let between = |i: usize, j: usize| products[(i, i)] + products[(j, j)] - 2.0 * products[(i, j)];
    (0..n_rows).flat_map(|i| (i + 1..n_rows).map(move |j| between(i, j).max(0.0))).collect()
}

#[cfg(test)]
mod tests {
    use unbraid_kernels::gaussian_taps;

    use super::*;

    /// Images that differ from the first one in a part of one channel, and everywhere.
    fn images(n: usize, shape: FilterShape) -> Vec<f32> {
        let first = (0..shape.n_values()).map(|i| ((i * 7919) % 256) as f32);
        let mut images: Vec<f32> = first.clone().chain(first).collect();
        images[shape.n_values() + 5 * shape.channels] += 3.0;
        images.extend((2..n).flat_map(|image| (0..shape.n_values()).map(move |i| ((i * 77 + image) % 256) as f32)));
        images
    }

    #[test]
    fn window_sums_are_the_same_as_products_to_the_bit() {
        let shape = FilterShape { height: 9, width: 12, channels: 3 };
        let images = images(3, shape);
        let [sums, products] = [Numbers::Bytes, Numbers::Floats]
            .map(|numbers| ImageFilter::window_sums(shape, 3, numbers).differences(&images));
        assert_eq!(sums, products);
        assert!(products.iter().any(|value| *value != 0.0));
    }

    #[test]
    fn kernels_are_the_same_as_products() {
        let shape = FilterShape { height: 9, width: 12, channels: 2 };
        let (images, taps) = (images(4, shape), gaussian_taps(4));
        let kernel: Vec<f32> = taps.iter().flat_map(|a| taps.iter().map(move |b| (a * b) as f32)).collect();
        let filters = [ImageFilter::kernel(shape, &kernel), ImageFilter::separable(shape, &taps)];
        let [a, b] = filters.map(|filter| filter.differences(&images));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
    }

    #[test]
    fn differences_by_hand() {
        // 1, 2; 4, 6; 1, 0: 9 + 16, 0 + 4, 9 + 36.
        assert_eq!(squared_differences(&[1.0, 2.0, 4.0, 6.0, 1.0, 0.0], 2), [25.0, 4.0, 45.0]);
        assert_eq!(squared_differences(&[3.0], 1), [0.0; 0]);
        // Longer than a piece, and exact.
        let rows: Vec<f64> = (0..3 * 1100).map(|i| f64::from((i * 37) % 101)).collect();
        let of = |i: usize, j: usize| (0..1100).map(|k| (rows[i * 1100 + k] - rows[j * 1100 + k]).powi(2)).sum::<f64>();
        assert_eq!(squared_differences(&rows, 1100), [of(0, 1), of(0, 2), of(1, 2)]);
    }
}
