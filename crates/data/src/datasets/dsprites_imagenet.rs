//! `dsprites_imagenet`: the sprites of `dsprites` before photographs, or cut out of them. The photograph is no factor.
//!
//! Michlo 2022 (T1), section 7.3: an image of Tiny ImageNet is attached to each image by a fixed seed, and `visibility`
//! takes it towards black in the background, or towards white in the foreground, so that at 0 the images are those of
//! `dsprites` in three channels. The background is the default of disent, the thesis's code. A folder of pictures is
//! given as `path`; textures made here stand in where there is none. The thesis draws the pictures by numpy's generator
//! with seed 42, here they follow from `seed` and the number of the image.

use std::borrow::Cow;
use std::path::Path;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::dsprites::{Dsprites, SIZE, places};
use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::files::picture_folder::PictureFolder;
use crate::procedural::textures::{N_TEXTURES, texture};
use crate::seed::Seed;
use crate::settings::{self, Setting, Values, check_range};

/// Which pictures there are, and where and how well they are seen.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// Where the pictures are seen.
    mode: Mode,
    /// How well, in percent.
    visibility: u64,
    /// A folder of pictures; textures made here where left out.
    path: Option<String>,
    /// Which picture belongs to which image.
    seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { mode: Mode::Background, visibility: 100, path: None, seed: 1 }
    }
}

/// Where the pictures are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Around the sprite, which is white.
    Background,
    /// In the sprite, and all else is black.
    Foreground,
}

struct DspritesImagenet {
    sprites: Dsprites,
    mode: Mode,
    /// The pixel that each byte of a picture becomes.
    shown: [f32; 256],
    pictures: Pictures,
    seed: Seed,
}

enum Pictures {
    /// Textures made here.
    Made,
    /// Those of a folder.
    Read(PictureFolder),
}

impl Pictures {
    fn n_pictures(&self) -> usize {
        match self {
            Pictures::Made => N_TEXTURES,
            Pictures::Read(folder) => folder.n_pictures(),
        }
    }

    /// Picture `number`, `[64, 64, 3]`.
    fn picture(&self, number: usize) -> Result<Cow<'_, [u8]>> {
        match self {
            Pictures::Made => Ok(Cow::Borrowed(texture(number))),
            Pictures::Read(folder) => folder.picture(number),
        }
    }
}

impl DspritesImagenet {
    fn new(settings: &Settings) -> Result<Self> {
        check_range("visibility", settings.visibility, 0, 100)?;
        let pictures = match &settings.path {
            Some(path) => Pictures::Read(PictureFolder::open(Path::new(path))?),
            None => Pictures::Made,
        };
        let shown = shown(settings.mode, settings.visibility).map(|byte| f32::from(byte) / 255.0);
        Ok(Self { sprites: Dsprites::new(), mode: settings.mode, shown, pictures, seed: Seed(settings.seed) })
    }

    /// The number of the picture that belongs to image `index`.
    fn picture_of(&self, index: usize) -> usize {
        let mut rng = self.seed.stream_at("pictures of dsprites_imagenet", index as u64);
        rng.random_range(0..self.pictures.n_pictures())
    }
}

impl Dataset for DspritesImagenet {
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
        let picture = self.pictures.picture(self.picture_of(index))?;
        let places = places(self.sprites.mask(index)).map(|place| 3 * place..3 * place + 3);
        let show = |pixels: &mut [f32], bytes: &[u8]| {
            for (pixel, &byte) in pixels.iter_mut().zip(bytes) {
                *pixel = self.shown[usize::from(byte)];
            }
        };
        match self.mode {
            Mode::Background => {
                show(pixels, &picture);
                places.for_each(|place| pixels[place].fill(1.0));
            }
            Mode::Foreground => {
                pixels.fill(0.0);
                places.for_each(|place| show(&mut pixels[place.clone()], &picture[place]));
            }
        }
        Ok(())
    }
}

/// What each byte of a picture becomes, rounded down.
fn shown(mode: Mode, visibility: u64) -> [u8; 256] {
    let rate = visibility as f64 / 100.0;
    let added = match mode {
        Mode::Background => 0.0,
        Mode::Foreground => (1.0 - rate) * 255.0,
    };
    std::array::from_fn(|byte| (rate * byte as f64 + added) as u8)
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    Ok(Box::new(DspritesImagenet::new(&settings::read(table)?)?))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "dsprites_imagenet",
    about: "The sprites of dsprites before pictures, or cut out of them, as visible as wanted",
    paper: "Michlo, thesis section 7.3",
    settings: &[
        Setting {
            name: "mode",
            values: Values::OneOf(&["background", "foreground"]),
            meaning: "whether pictures are seen around white sprites, or in sprites on black",
        },
        Setting {
            name: "visibility",
            values: Values::Whole(0, 100),
            meaning: "how well pictures are seen, in percent; at 0 the images are those of dsprites",
        },
        Setting {
            name: "path",
            values: Values::Words("the path of a folder"),
            meaning: "a folder of pictures, published with Tiny ImageNet; textures made here where left out",
        },
        Setting { name: "seed", values: Values::Whole(0, u64::MAX), meaning: "which picture belongs to which image" },
    ],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::channel_stats;

    fn dataset(settings: &str) -> DspritesImagenet {
        DspritesImagenet::new(&settings::read(&settings.parse().unwrap()).unwrap()).unwrap()
    }

    fn image(dataset: &dyn Dataset, index: usize) -> Vec<f32> {
        let mut pixels = vec![f32::NAN; dataset.image_shape().n_pixels()];
        dataset.read_image(index, &mut pixels).unwrap();
        pixels
    }

    #[test]
    fn bytes_become_what_the_rule_says() {
        // 0.5 * 101 = 50.5, and 127.5 more is 178; 0.25 * 101 = 25.25, and 191.25 more is 216.5.
        assert_eq!(shown(Mode::Background, 50)[101], 50);
        assert_eq!(shown(Mode::Foreground, 50)[101], 178);
        assert_eq!(shown(Mode::Background, 25)[101], 25);
        assert_eq!(shown(Mode::Foreground, 25)[101], 216);
        for mode in [Mode::Background, Mode::Foreground] {
            assert!(shown(mode, 100).iter().enumerate().all(|(byte, &pixel)| byte == usize::from(pixel)));
        }
    }

    #[test]
    fn pictures_are_seen_around_the_sprite_or_in_it() {
        let [background, foreground] = ["visibility = 50", "mode = 'foreground'\nvisibility = 50"].map(dataset);
        for index in [77, 600_000] {
            let [around, inside] = [image(&background, index), image(&foreground, index)];
            let picture = texture(background.picture_of(index));
            let mask = background.sprites.mask(index);
            for place in 0..SIZE * SIZE * 3 {
                let is_sprite = mask[place / 192] >> (place / 3 % 64) & 1 == 1;
                let byte = f64::from(picture[place]);
                let [towards_black, towards_white] = [(byte / 2.0).floor(), (byte / 2.0 + 127.5).floor()];
                let wanted = if is_sprite { [255.0, towards_white] } else { [towards_black, 0.0] };
                assert_eq!(
                    [around[place], inside[place]].map(|pixel| (pixel * 255.0).round()),
                    wanted.map(|v| v as f32)
                );
            }
        }
    }

    #[test]
    fn at_visibility_0_the_images_are_those_of_dsprites() {
        let sprites = Dsprites::new();
        for mode in ["background", "foreground"] {
            let dataset = dataset(&format!("visibility = 0\nmode = '{mode}'"));
            for index in (0..dataset.n_images()).step_by(7919) {
                let grey = image(&sprites, index);
                assert!(image(&dataset, index).chunks_exact(3).zip(&grey).all(|(pixel, &value)| pixel == [value; 3]));
            }
        }
    }

    /// Published with disent.
    #[test]
    fn at_visibility_0_the_mean_is_the_published_one() {
        let dataset = dataset("visibility = 0");
        for stats in channel_stats(&dataset, None).unwrap() {
            // A few published images differ from those rendered here, each by one pixel.
            assert!((stats.mean - 0.042494423521889584).abs() < 1e-7, "{stats:?}");
        }
    }

    #[test]
    fn all_pictures_are_as_likely() {
        let dataset = dataset("");
        let mut counts = vec![0_u32; dataset.pictures.n_pictures()];
        (0..51_200).for_each(|index| counts[dataset.picture_of(index)] += 1);
        // 100 of each are expected. The chi-square of 511 degrees of freedom is above 613 once in 1000 times.
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 100.0).powi(2) / 100.0).sum();
        assert!(counts.len() == 512 && chi_square < 613.0, "{chi_square}");
    }

    #[test]
    fn pictures_follow_from_seed_and_number() {
        let of = |settings: &str| -> Vec<usize> {
            let dataset = dataset(settings);
            (0..50).map(|index| dataset.picture_of(index)).collect()
        };
        assert_eq!(of(""), of("seed = 1\nmode = 'foreground'\nvisibility = 3"));
        assert_ne!(of(""), of("seed = 2"));
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let message = |settings: &str| build(&settings.parse().unwrap()).err().unwrap().to_string();
        assert_eq!(message("visibility = 101"), "setting \"visibility\" is 101\n       wanted 0 to 100");
        assert!(message("mode = 'fg'").contains("wanted one of background, foreground"));
        assert!(message("path = 'no such folder'").contains("no such folder"));
    }
}
