//! `dsprites_color`: the sprites of `dsprites` in random colours on black. The colour is no factor.
//!
//! Locatello et al. 2019 (T2): each channel is uniform in [0.5, 1]. There a colour is drawn anew whenever an image is
//! asked for; here it follows from `seed` and the number of the image, so that the images are a fixed set. A channel is
//! one of the bytes 128 to 255, all alike.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::dsprites::{Dsprites, SIZE, places};
use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::seed::Seed;
use crate::settings::{self, Setting, Values};

/// The seed of the colours.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// Which colours are drawn.
    seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 1 }
    }
}

struct DspritesColor {
    sprites: Dsprites,
    seed: Seed,
}

impl DspritesColor {
    /// The colour of the sprite of image `index`.
    fn colour(&self, index: usize) -> [u8; 3] {
        let bytes: [u8; 3] = self.seed.stream_at("colours of dsprites_color", index as u64).random();
        bytes.map(|byte| 128 | byte)
    }
}

impl Dataset for DspritesColor {
    fn factors(&self) -> &FactorSpace {
        self.sprites.factors()
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: SIZE, width: SIZE, channels: 3 }
    }

    fn unordered_factors(&self) -> Vec<usize> {
        self.sprites.unordered_factors()
    }

    fn n_images(&self) -> usize {
        self.sprites.n_images()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let colour = self.colour(index).map(|byte| f32::from(byte) / 255.0);
        pixels.fill(0.0);
        for place in places(self.sprites.mask(index)) {
            pixels[3 * place..3 * place + 3].copy_from_slice(&colour);
        }
        Ok(())
    }
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { seed } = settings::read(table)?;
    Ok(Box::new(DspritesColor { sprites: Dsprites::new(), seed: Seed(seed) }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "dsprites_color",
    about: "The sprites of dsprites, each image's in a random bright colour on black",
    paper: "Locatello et al. 2019",
    settings: &[Setting {
        name: "seed",
        values: Values::Whole(0, u64::MAX),
        meaning: "which colour the sprite of each image has",
    }],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(seed: u64) -> DspritesColor {
        DspritesColor { sprites: Dsprites::new(), seed: Seed(seed) }
    }

    #[test]
    fn sprites_have_the_colour_of_their_image_and_the_rest_is_black() {
        let dataset = dataset(1);
        let [mut grey, mut pixels] = [SIZE * SIZE, SIZE * SIZE * 3].map(|n_pixels| vec![f32::NAN; n_pixels]);
        for index in [0, 500_000, 737_279] {
            dataset.sprites.read_image(index, &mut grey).unwrap();
            dataset.read_image(index, &mut pixels).unwrap();
            let colour = dataset.colour(index).map(|byte| f32::from(byte) / 255.0);
            for (pixel, &is_sprite) in pixels.chunks_exact(3).zip(&grey) {
                assert_eq!(pixel, colour.map(|value| value * is_sprite));
            }
        }
    }

    #[test]
    fn all_bytes_from_128_are_as_likely() {
        let dataset = dataset(1);
        let n_images = 12_800;
        for channel in 0..3 {
            let mut counts = [0_u32; 256];
            (0..n_images).for_each(|index| counts[usize::from(dataset.colour(index)[channel])] += 1);
            assert!(counts[..128].iter().all(|&count| count == 0));
            // 100 of each are expected. The chi-square of 127 degrees of freedom is above 181 once in 1000 times.
            let chi_square: f64 = counts[128..].iter().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
            assert!(chi_square < 181.0, "{chi_square}");
        }
    }

    #[test]
    fn another_seed_has_other_colours() {
        let same = (0..100).filter(|&index| dataset(1).colour(index) == dataset(2).colour(index)).count();
        assert_eq!(same, 0);
        assert_eq!(dataset(2).colour(77), dataset(2).colour(77));
        let read = |settings: &str| {
            let mut pixels = vec![0.0; SIZE * SIZE * 3];
            build(&settings.parse().unwrap()).unwrap().read_image(9, &mut pixels).unwrap();
            pixels
        };
        assert!(read("") == read("seed = 1") && read("") != read("seed = 0"));
    }
}
