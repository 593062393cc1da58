//! Mean squared differences of pairs of images, and their gradient at the images.
//!
//! A batch is larger than the cache, and each of its images is in many pairs: so pairs are compared piece by piece of the images, and the
//! pieces of all images together fit in the cache.

use rayon::prelude::*;

/// Numbers of an image that are compared at a time: of 512 images, half a megabyte.
const PIECE: usize = 256;
/// Numbers that are summed in 32 bits before they are added in 64.
const RUN: usize = 64;

/// The mean over pixels of the squared difference of each pair, `[pairs]`. `images` are `[images, n_values]`; pairs are positions in them.
pub fn mean_squares(images: &[f32], n_values: usize, pairs: &[[usize; 2]]) -> Vec<f64> {
    let sums: Vec<Vec<f64>> = pieces(n_values)
        .map(|(start, len)| {
            let piece = |image: usize| &images[image * n_values + start..][..len];
            pairs.iter().map(|&[a, b]| squared_difference(piece(a), piece(b))).collect()
        })
        .collect();
    let mut totals = vec![0.0; pairs.len()];
    // Piece after piece, whichever thread was done first.
    for sums in &sums {
        totals.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    totals.iter_mut().for_each(|total| *total /= n_values as f64);
    totals
}

/// The gradient at the images, `[images, n_values]`, of a function of the mean squares whose gradient at them is `at_squares`, `[pairs]`.
pub fn gradient_at_images(images: &[f32], n_values: usize, pairs: &[[usize; 2]], at_squares: &[f64]) -> Vec<f32> {
    let weights: Vec<f32> = at_squares.iter().map(|slope| (2.0 * slope / n_values as f64) as f32).collect();
    let n_images = images.len() / n_values;
    let gradients: Vec<(usize, Vec<f32>)> = pieces(n_values)
        .map(|(start, len)| {
            let mut gradient = vec![0.0; n_images * len]; // [images, len]
            let piece = |image: usize| &images[image * n_values + start..][..len];
            for (&[a, b], &weight) in pairs.iter().zip(&weights).filter(|([a, b], weight)| a != b && **weight != 0.0) {
                let (low, high) = (a.min(b), a.max(b));
                let (before, after) = gradient.split_at_mut(high * len);
                let (of_low, of_high) = (&mut before[low * len..][..len], &mut after[..len]);
                let values = piece(low).iter().zip(piece(high));
                for ((low, high), (&of_a, &of_b)) in of_low.iter_mut().zip(of_high).zip(values) {
                    let slope = weight * (of_a - of_b);
                    *low += slope;
                    *high -= slope;
                }
            }
            (len, gradient)
        })
        .collect();
    let mut whole = vec![0.0; images.len()];
    whole.par_chunks_mut(n_values).enumerate().for_each(|(image, whole)| {
        for (to, (len, gradient)) in whole.chunks_mut(PIECE).zip(&gradients) {
            to.copy_from_slice(&gradient[image * len..][..*len]);
        }
    });
    whole
}

/// Where each piece of an image starts, and how long it is.
fn pieces(n_values: usize) -> impl IndexedParallelIterator<Item = (usize, usize)> {
    let n_pieces = n_values.div_ceil(PIECE);
    (0..n_pieces).into_par_iter().map(move |piece| (piece * PIECE, PIECE.min(n_values - piece * PIECE)))
}

fn squared_difference(a: &[f32], b: &[f32]) -> f64 {
    let run = |(a, b): (&[f32], &[f32])| {
        // Eight sums side by side, so that one addition need not wait for another.
        let mut sums = [0.0_f32; 8];
        for (a, b) in a.chunks(8).zip(b.chunks(8)) {
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum += (a - b) * (a - b);
            }
        }
        f64::from(sums.iter().sum::<f32>())
    };
    a.chunks(RUN).zip(b.chunks(RUN)).map(run).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(n_images: usize, n_values: usize) -> Vec<f32> {
        (0..n_images * n_values).map(|i| ((i * 7919) % 101) as f32 / 101.0).collect()
    }

    const PAIRS: [[usize; 2]; 5] = [[0, 1], [2, 1], [1, 1], [3, 0], [0, 1]];

    #[test]
    fn two_images_by_hand() {
        // Differences 1, 0, -2: (1 + 0 + 4) / 3.
        let images = [1.0, 2.0, 3.0, 0.0, 2.0, 5.0];
        assert_eq!(mean_squares(&images, 3, &[[0, 1], [1, 1]]), [5.0 / 3.0, 0.0]);
        // Twice the difference by 3, times the slope of 3.
        let gradient = gradient_at_images(&images, 3, &[[0, 1]], &[3.0]);
        assert_eq!(gradient, [2.0, 0.0, -4.0, -2.0, 0.0, 4.0]);
    }

    #[test]
    fn they_are_their_definition_and_its_differences() {
        for n_values in [1, 7, 256, 700] {
            let mut images = images(4, n_values);
            let by_definition = |images: &[f32]| -> Vec<f64> {
                let of = |[a, b]: [usize; 2]| {
                    let squares = (0..n_values).map(|i| {
                        let difference = images[a * n_values + i] - images[b * n_values + i];
                        f64::from(difference).powi(2)
                    });
                    squares.sum::<f64>() / n_values as f64
                };
                PAIRS.map(of).to_vec()
            };
            let (found, wanted) = (mean_squares(&images, n_values, &PAIRS), by_definition(&images));
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {wanted:?}");
            let slopes = [0.5, -2.0, 9.0, 1.0, 0.25];
            let weighed =
                |images: &[f32]| -> f64 { by_definition(images).iter().zip(slopes).map(|(a, b)| a * b).sum() };
            let gradient = gradient_at_images(&images, n_values, &PAIRS, &slopes);
            for value in (0..images.len()).step_by(97) {
                let middle = images[value];
                let [above, below] = [1.0, -1.0].map(|step| {
                    images[value] = middle + step / 32.0;
                    weighed(&images)
                });
                images[value] = middle;
                let wanted = 16.0 * (above - below);
                assert!((f64::from(gradient[value]) - wanted).abs() < 1e-5, "{value}: {} {wanted}", gradient[value]);
            }
        }
    }
}
