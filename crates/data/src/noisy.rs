//! A dataset with uniform noise on every pixel: the setting `noise` that every dataset takes.
//!
//! Zietlow 2022 (T4), section 4.3.3: each pixel is moved by a number from [-noise, noise]. What leaves [0, 1] is folded back,
//! as section 4.3.1 does for structured changes: x - 2 ReLU(x - 1) + 2 ReLU(-x). The noise of an image follows from the seed
//! and the image's number in the whole dataset, so that a noisy dataset is a fixed set of images.

use rand::Rng as _;

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::seed::Seed;

/// A dataset with noise on its pixels.
pub struct Noisy {
    original: Box<dyn Dataset>,
    size: f32,
    seed: Seed,
}

impl Noisy {
    /// Noise of up to `size` in each direction.
    pub fn new(original: Box<dyn Dataset>, size: f64, seed: u64) -> Result<Self> {
        if !(0.0..=1.0).contains(&size) {
            return Err(Error::new(format!("setting \"noise\" is {size}")).help("wanted 0 to 1"));
        }
        if !original.has_unit_pixels() {
            return Err(Error::new(
                "setting \"noise\" is for pixels between 0 and 1, but the dataset's are points in space",
            )
            .help("leave it out"));
        }
        Ok(Self { original, size: size as f32, seed: Seed(seed) })
    }
}

/// Folds a pixel that left [0, 1] by less than 1 back into it.
fn folded(pixel: f32) -> f32 {
    (pixel - 2.0 * (pixel - 1.0).max(0.0) + 2.0 * (-pixel).max(0.0)).clamp(0.0, 1.0)
}

impl Dataset for Noisy {
    fn factors(&self) -> &FactorSpace {
        self.original.factors()
    }

    fn image_shape(&self) -> ImageShape {
        self.original.image_shape()
    }

    fn n_images(&self) -> usize {
        self.original.n_images()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.original.read_image(index, pixels)?;
        let mut drawn = vec![0; 2 * pixels.len()];
        self.seed.stream_at("pixel noise", index as u64).fill_bytes(&mut drawn);
        for (pixel, &pair) in pixels.iter_mut().zip(drawn.as_chunks::<2>().0) {
            // The middles of 65,536 equal parts of [-1, 1].
            let unit = (f32::from(u16::from_le_bytes(pair)) + 0.5) / 32_768.0 - 1.0;
            *pixel = folded(*pixel + self.size * unit);
        }
        Ok(())
    }

    fn holds_bytes(&self) -> bool {
        false
    }

    fn has_unit_pixels(&self) -> bool {
        true
    }

    fn file_row(&self, index: usize) -> Option<usize> {
        self.original.file_row(index)
    }

    fn image_name(&self, index: usize) -> Option<String> {
        self.original.image_name(index)
    }

    fn unordered_factors(&self) -> Vec<usize> {
        self.original.unordered_factors()
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        self.original.read_factors(index, values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::build;

    fn image(settings: &str, index: usize) -> Vec<f32> {
        let dataset = build("xy_object", &settings.parse().unwrap()).unwrap();
        let mut pixels = vec![f32::NAN; dataset.image_shape().n_pixels()];
        dataset.read_image(index, &mut pixels).unwrap();
        pixels
    }

    #[test]
    fn what_leaves_the_unit_range_is_folded_back() {
        for (pixel, wanted) in [(-0.25, 0.25), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.25, 0.75)] {
            assert_eq!(folded(pixel), wanted);
        }
    }

    #[test]
    fn noise_is_uniform_within_its_size() {
        let (clean, noisy) = (image("", 70_000), image("noise = 0.1", 70_000));
        let moved: Vec<f64> = clean.iter().zip(&noisy).map(|(clean, noisy)| f64::from(noisy - clean)).collect();
        assert!(moved.iter().all(|by| by.abs() <= 0.1 + 1e-7));
        // Folded at 0, where nearly all pixels are, it is uniform in [0, 0.1]: its mean is 0.05, the mean square 0.01 / 3.
        let black: Vec<f64> = moved.iter().zip(&clean).filter(|(_, clean)| **clean == 0.0).map(|(by, _)| *by).collect();
        let mean = |of: &dyn Fn(f64) -> f64| black.iter().map(|by| of(*by)).sum::<f64>() / black.len() as f64;
        assert!((mean(&|by| by) - 0.05).abs() < 0.002 && (mean(&|by| by * by) - 0.01 / 3.0).abs() < 2e-4);
        assert!(noisy.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
    }

    #[test]
    fn noise_follows_from_the_seed_and_the_number_in_the_whole() {
        assert_eq!(image("noise = 0.2", 7), image("noise = 0.2", 7));
        assert_ne!(image("noise = 0.2", 7), image("noise = 0.2\nnoise_seed = 2", 7));
        // Image 7 is x 0, y 0, scale 0, colour 7.
        assert_eq!(image("noise = 0.2", 7), image("noise = 0.2\nfix = { x = 0, y = 0, scale = 0 }", 7));
        assert_eq!(image("noise = 0.2", 24 + 7), image("noise = 0.2\nfix = { scale = 1, x = 0, y = 0 }", 7));
    }

    #[test]
    fn what_has_no_unit_pixels_is_refused() {
        let message = |name: &str, settings: &str| build(name, &settings.parse().unwrap()).err().unwrap().to_string();
        assert!(message("synth_linear", "noise = 0.1").contains("points in space"));
        assert!(message("xy_object", "noise = 1.5").starts_with("setting \"noise\" is 1.5"));
    }
}
