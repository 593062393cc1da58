//! Changed pixels as bytes, none of which is farther from what it was than epsilon, to the bit.
//!
//! A pixel that was the byte `b` and is to become `v` in [0, 1] gets the byte next to `255 v`, but no farther from `b` than the greatest whole number
//! of bytes within epsilon. So the bound holds in whole numbers, whatever rounding does to floats.

use rand::RngExt;
use rayon::prelude::*;
use unbraid_data::Seed;

/// The greatest change of a byte that is within epsilon: the greatest whole `d` with `d / 255 <= epsilon`.
pub fn most_change(epsilon: f64) -> u8 {
    (0..=u8::MAX).take_while(|change| f64::from(*change) / 255.0 <= epsilon).last().unwrap_or(0)
}

/// The byte of a pixel that was `before` and is to become `value`.
fn byte(before: u8, value: f64, most: u8) -> u8 {
    // A value that is no number would leave the pixel as it was.
    let wanted = (value * 255.0).round().clamp(0.0, 255.0) as u8;
    wanted.clamp(before.saturating_sub(most), before.saturating_add(most))
}

/// Puts into `bytes` the altered pixels that belong to them.
pub fn put_altered(bytes: &mut [u8], altered: &[f32], epsilon: f64) {
    let most = most_change(epsilon);
    bytes.par_iter_mut().zip(altered).for_each(|(before, value)| *before = byte(*before, f64::from(*value), most));
}

/// Adds uniform noise from `-epsilon` to `epsilon` to each pixel of images `[images, pixels]`, and turns back at the edges as altered images
/// are (T4 4.3.3). Each image has the part of the stream `uniform noise` that belongs to its number.
pub fn put_noise(bytes: &mut [u8], n_pixels: usize, first_image: usize, epsilon: f64, seed: Seed) {
    let most = most_change(epsilon);
    bytes.par_chunks_mut(n_pixels).enumerate().for_each(|(image, bytes)| {
        let mut noise = seed.stream_at("uniform noise", (first_image + image) as u64);
        for before in bytes {
            let value = f64::from(*before) / 255.0 + epsilon * (2.0 * noise.random::<f64>() - 1.0);
            *before = byte(*before, folded(value), most);
        }
    });
}

/// `v - 2 relu(v - 1) + 2 relu(-v)` (T4 4.3.1).
fn folded(value: f64) -> f64 {
    value - 2.0 * (value - 1.0).max(0.0) + 2.0 * (-value).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of the bound, and some that lie between.
    const EPSILONS: [f64; 6] = [0.1, 0.175, 1.0 / 255.0, 0.3, 0.5, 25.0 / 255.0];

    #[test]
    fn whole_bytes_within_epsilon() {
        // 0.1 * 255 = 25.5, 0.175 * 255 = 44.625.
        assert_eq!([0.1, 0.175, 1.0 / 255.0, 25.0 / 255.0, 0.5].map(most_change), [25, 44, 1, 25, 127]);
        assert_eq!([0.0, -1.0, f64::NAN, 0.0039].map(most_change), [0; 4]);
    }

    #[test]
    fn every_byte_and_every_value_keeps_the_bound() {
        for epsilon in EPSILONS {
            let most = most_change(epsilon);
            for before in 0..=255_u8 {
                for step in -20..=275 {
                    let after = byte(before, f64::from(step) / 255.0 + 1e-9, most);
                    assert!(f64::from(after.abs_diff(before)) / 255.0 <= epsilon, "{epsilon} {before} {step} {after}");
                }
            }
            assert_eq!(byte(100, 100.4 / 255.0, most), 100);
            assert_eq!(byte(100, 101.4 / 255.0, most), 101);
            assert_eq!(byte(255, 0.0, most), 255 - most);
        }
    }

    #[test]
    fn noise_is_uniform_within_the_bound_and_the_same_every_time() {
        for epsilon in EPSILONS {
            let noise = || {
                let mut bytes: Vec<u8> = [0, 255, 128, 3].repeat(5000);
                put_noise(&mut bytes, 4000, 7, epsilon, Seed(1));
                bytes
            };
            let found = noise();
            assert_eq!(found, noise());
            let most = f64::from(most_change(epsilon));
            for (position, before) in [0_u8, 255, 128, 3].into_iter().enumerate() {
                let column: Vec<u8> = found.iter().skip(position).step_by(4).copied().collect();
                assert!(column.iter().all(|after| f64::from(after.abs_diff(before)) / 255.0 <= epsilon));
                let mean = column.iter().map(|after| f64::from(after.abs_diff(before))).sum::<f64>() / 5000.0;
                // The mean size of uniform noise is half of the bound; 5000 draws of spread most / sqrt(12) know it to 1 %.
                if before != 3 {
                    assert!((mean - epsilon * 255.0 / 2.0).abs() < 0.03 * most + 0.3, "{epsilon} {before}: {mean}");
                }
            }
            // An image's noise is its own, whatever comes before it in a group.
            let mut second = [0, 255, 128, 3].repeat(1000);
            put_noise(&mut second, 4000, 8, epsilon, Seed(1));
            assert_eq!(second, found[4000..8000]);
        }
    }

    #[test]
    fn altered_values_are_rounded_to_bytes_within_the_bound() {
        let mut bytes = [0, 255, 100, 100];
        put_altered(&mut bytes, &[0.1, 0.9, 1.0, 0.41], 0.1);
        // 25.5 and 229.5 lie half a byte beyond the bound, 255 far beyond; 0.41 * 255 = 104.55.
        assert_eq!(bytes, [25, 230, 125, 105]);
    }
}
