//! `dsprites_noisy`: the white sprites of `dsprites` on noise in three channels. The noise is no factor.
//!
//! Locatello et al. 2019 (T2): each channel of each pixel outside the sprite is uniform in [0, 1]. There the noise is
//! drawn anew whenever an image is asked for; here it follows from `seed` and the number of the image, so that the
//! images are a fixed set. Noise is one of the bytes 0 to 255, all alike.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::dsprites::{Dsprites, SIZE, places};
use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::seed::Seed;
use crate::settings::{self, Setting, Values};

/// The seed of the noise.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// Which noise is drawn.
    seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 1 }
    }
}

struct DspritesNoisy {
    sprites: Dsprites,
    seed: Seed,
}

impl Dataset for DspritesNoisy {
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
        let mut noise = [0_u8; SIZE * SIZE * 3];
        self.seed.stream_at("noise of dsprites_noisy", index as u64).fill(&mut noise);
        for (pixel, byte) in pixels.iter_mut().zip(noise) {
            *pixel = f32::from(byte) / 255.0;
        }
        for place in places(self.sprites.mask(index)) {
            pixels[3 * place..3 * place + 3].fill(1.0);
        }
        Ok(())
    }
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { seed } = settings::read(table)?;
    Ok(Box::new(DspritesNoisy { sprites: Dsprites::new(), seed: Seed(seed) }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "dsprites_noisy",
    about: "The white sprites of dsprites on uniform noise in three channels",
    paper: "Locatello et al. 2019",
    settings: &[Setting {
        name: "seed",
        values: Values::Whole(0, u64::MAX),
        meaning: "which noise is behind the sprite of each image",
    }],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn images(seed: u64, numbers: &[usize]) -> Vec<Vec<f32>> {
        let dataset = build(&format!("seed = {seed}").parse().unwrap()).unwrap();
        let read = |&number: &usize| {
            let mut pixels = vec![f32::NAN; SIZE * SIZE * 3];
            dataset.read_image(number, &mut pixels).unwrap();
            pixels
        };
        numbers.iter().map(read).collect()
    }

    #[test]
    fn the_sprite_is_white_and_all_bytes_are_as_likely_around_it() {
        let numbers: Vec<usize> = (0..20).map(|row| row * 35_000).collect();
        let sprites = Dsprites::new();
        let mut counts = [0_u32; 256];
        for (&number, pixels) in numbers.iter().zip(images(1, &numbers)) {
            let mask = sprites.mask(number);
            for (place, pixel) in pixels.chunks_exact(3).enumerate() {
                match mask[place / SIZE] >> (place % SIZE) & 1 {
                    1 => assert_eq!(pixel, [1.0; 3]),
                    _ => pixel.iter().for_each(|value| counts[(value * 255.0).round() as usize] += 1),
                }
            }
        }
        let expected = f64::from(counts.iter().sum::<u32>()) / 256.0;
        // The chi-square of 255 degrees of freedom is above 331 once in 1000 times.
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi_square < 331.0, "{chi_square}");
    }

    #[test]
    fn noise_differs_by_seed_and_number_alone() {
        // The first and the last orientation show the same sprite.
        let numbers = [0, 39 * 1024];
        let (first, again, other) = (images(1, &numbers), images(1, &numbers), images(2, &numbers));
        assert!(first == again);
        assert!(first[0] != first[1] && first[0] != other[0] && first[1] != other[1]);
    }
}
