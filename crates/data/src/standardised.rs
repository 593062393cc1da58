//! A dataset whose pixels are standardised: the setting `standardise` that every dataset takes.
//!
//! Michlo 2022 (T1), A.3.3 and table A.2: of each channel the mean is taken away, and what is left is divided by the mean
//! over images of each image's own standard deviation ([`crate::stats`]). The constants are those of all images of the
//! dataset, after `fix`. A channel that does not vary within an image (points in space are images of one pixel) is divided
//! by the deviation of all its pixels together, and one that never varies is not divided at all, so it is 0 everywhere.

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::stats::{ChannelStats, channel_stats};

/// The constants of more images than this would take minutes to compute, each time that the dataset is opened.
const MOST_IMAGES: usize = 20_000_000;
/// A deviation below this share of a channel's values is what rounding leaves where nothing varies.
const ROUNDING: f64 = 1e-6;

/// A dataset with standardised pixels, around the one with the original pixels.
pub struct Standardised {
    original: Box<dyn Dataset>,
    /// Mean and divisor of each channel.
    channels: Vec<(f32, f32)>,
}

impl Standardised {
    /// Computes the constants over all images.
    pub fn new(original: Box<dyn Dataset>) -> Result<Self> {
        let n_images = original.n_images();
        if n_images > MOST_IMAGES {
            return Err(Error::new(format!(
                "setting \"standardise\" is true, but {n_images} images are too many for it"
            ))
            .help(format!("wanted {MOST_IMAGES} images or fewer: hold a factor at a value (`fix`)")));
        }
        let stats = channel_stats(original.as_ref(), None)?;
        let channels = stats.iter().map(|stats| (stats.mean as f32, divisor(stats) as f32)).collect();
        Ok(Self { original, channels })
    }

    /// Another dataset, standardised by the same constants; its images have as many channels.
    pub fn like(&self, original: Box<dyn Dataset>) -> Self {
        Self { original, channels: self.channels.clone() }
    }

    /// The dataset with the original pixels.
    pub fn original(&self) -> &dyn Dataset {
        self.original.as_ref()
    }

    /// What a channel is divided by.
    pub fn divisor_of(&self, channel: usize) -> f32 {
        self.channels[channel].1
    }

    /// Turns standardised pixels, `[..., height, width, channels]`, into original ones.
    pub fn undo(&self, pixels: &mut [f32]) {
        for place in pixels.chunks_exact_mut(self.channels.len()) {
            for (pixel, (mean, divisor)) in place.iter_mut().zip(&self.channels) {
                *pixel = *pixel * divisor + mean;
            }
        }
    }
}

/// What a channel is divided by.
fn divisor(stats: &ChannelStats) -> f64 {
    let least = ROUNDING * (stats.mean.abs() + stats.std);
    let varies = |std: &f64| *std > least;
    [stats.mean_image_std, stats.std].into_iter().find(varies).unwrap_or(1.0)
}

impl Dataset for Standardised {
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
        for place in pixels.chunks_exact_mut(self.channels.len()) {
            for (pixel, (mean, divisor)) in place.iter_mut().zip(&self.channels) {
                *pixel = (*pixel - mean) / divisor;
            }
        }
        Ok(())
    }

    fn holds_bytes(&self) -> bool {
        false
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

    fn as_standardised(&self) -> Option<&Standardised> {
        Some(self)
    }
}

/// The dataset as it is looked at: with its original pixels, where it is standardised.
pub fn as_shown(dataset: &dyn Dataset) -> &dyn Dataset {
    dataset.as_standardised().map_or(dataset, Standardised::original)
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::datasets::build;

    /// Two pictures of two pixels and three channels: one that varies within images, one only between them, one never.
    struct Flat {
        factors: FactorSpace,
    }

    impl Dataset for Flat {
        fn factors(&self) -> &FactorSpace {
            &self.factors
        }

        fn image_shape(&self) -> ImageShape {
            ImageShape { height: 1, width: 2, channels: 3 }
        }

        fn n_images(&self) -> usize {
            2
        }

        fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
            let between = if index == 0 { 0.25 } else { 0.75 };
            pixels.copy_from_slice(&[0.0, between, 0.2, 1.0, between, 0.2]);
            Ok(())
        }
    }

    fn image(dataset: &dyn Dataset, index: usize) -> Vec<f32> {
        let mut pixels = vec![f32::NAN; dataset.image_shape().n_pixels()];
        dataset.read_image(index, &mut pixels).unwrap();
        pixels
    }

    #[test]
    fn each_channel_is_divided_by_what_varies_in_it() {
        // Channel 0: mean 1/2, each image's deviation over n-1 is sqrt(1/2). Channel 1: mean 1/2, the deviation of all four
        // pixels over n is 1/4. Channel 2 never varies, and becomes 0.
        let flat = Standardised::new(Box::new(Flat { factors: FactorSpace::grid([("a", 2)]) })).unwrap();
        let half = 0.5_f32.sqrt();
        let found = image(&flat, 1);
        for (found, expected) in found.iter().zip([-half, 1.0, 0.0, half, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{found} but {expected} was expected");
        }
        assert!(!flat.holds_bytes() && as_shown(&flat).holds_bytes());
    }

    #[test]
    fn pictures_have_mean_0_and_mean_deviation_1_and_come_back() {
        for (name, settings) in
            [("xy_object", "fix = { x = 3 }"), ("dsprites", "rendered = true\nfix = { scale = 1, orientation = 9 }")]
        {
            let mut settings: Table = settings.parse().unwrap();
            let original = build(name, &settings).unwrap();
            settings.insert("standardise".to_string(), true.into());
            let dataset = build(name, &settings).unwrap();
            for stats in channel_stats(&*dataset, None).unwrap() {
                assert!(stats.mean.abs() < 1e-6 && (stats.mean_image_std - 1.0).abs() < 1e-6, "{name}: {stats:?}");
            }
            let standardised = dataset.as_standardised().unwrap();
            for index in [0, 1, dataset.n_images() - 1] {
                let mut pixels = image(&*dataset, index);
                standardised.undo(&mut pixels);
                let wanted = image(&*original, index);
                assert!(pixels.iter().zip(&wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{name}");
                assert_eq!(image(as_shown(&*dataset), index), wanted);
            }
        }
    }

    #[test]
    fn points_are_divided_by_the_deviation_of_all_of_them() {
        let dataset = build("synth_linear", &"standardise = true".parse().unwrap()).unwrap();
        for stats in channel_stats(&*dataset, None).unwrap() {
            assert!(stats.mean.abs() < 1e-6 && (stats.std - 1.0).abs() < 1e-6, "{stats:?}");
        }
        let mut factors = [0.0; 2];
        dataset.read_factors(5, &mut factors);
        let mut wanted = [0.0; 2];
        build("synth_linear", &Table::new()).unwrap().read_factors(5, &mut wanted);
        assert_eq!(factors, wanted);
    }

    #[test]
    fn too_many_images_are_refused() {
        let settings = "square_size = 1\nstandardise = true".parse().unwrap();
        let message = build("xy_squares", &settings).err().unwrap().to_string();
        assert!(message.contains("68719476736 images are too many"), "{message}");
    }
}
