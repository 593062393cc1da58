//! `dsprites_scream`: the sprites of `dsprites` on a piece of a painting, tinted, that is inverted under the sprite.
//! Neither the place of the piece nor the tint is a factor.
//!
//! Locatello et al. 2019 (T2): the painting is Munch's "The Scream", shrunk to fit 350 x 274 pixels; the mean of a
//! random piece of it and of a random colour is the background, and one minus that the sprite. There piece and colour are
//! drawn anew whenever an image is asked for; here they follow from `seed` and the number of the image, so that the
//! images are a fixed set. A file of the picture is given as `path`; a painting made here stands in where there is none.
//! Means are rounded down to a byte, the picture is shrunk by Pillow's bilinear filter rather than its bicubic one, and
//! a piece may also touch the picture's right and lower margin.

use std::borrow::Cow;
use std::path::Path;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::dsprites::{Dsprites, SIZE, places};
use super::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::files::picture::{Picture, read_picture};
use crate::files::resize::resized;
use crate::procedural::painting::painting;
use crate::seed::Seed;
use crate::settings::{self, Setting, Values};

/// The size that the picture is shrunk to at most.
const MOST_HEIGHT: usize = 274;
const MOST_WIDTH: usize = 350;

/// The picture, and the seed of what is done with it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// A file with the picture; one made here where left out.
    path: Option<String>,
    /// Which pieces and tints are drawn.
    seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { path: None, seed: 1 }
    }
}

struct DspritesScream {
    sprites: Dsprites,
    picture: Cow<'static, Picture>,
    seed: Seed,
}

/// Which piece of the picture an image shows, and in which tint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    top: usize,
    left: usize,
    tint: [u8; 3],
}

impl DspritesScream {
    fn piece(&self, index: usize) -> Piece {
        let mut rng = self.seed.stream_at("pieces of dsprites_scream", index as u64);
        let top = rng.random_range(0..=self.picture.height - SIZE);
        let left = rng.random_range(0..=self.picture.width - SIZE);
        Piece { top, left, tint: rng.random() }
    }
}

impl Dataset for DspritesScream {
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
        let mut bytes = tinted(&self.picture, self.piece(index));
        for place in places(self.sprites.mask(index)) {
            bytes[3 * place..3 * place + 3].iter_mut().for_each(|byte| *byte = 255 - *byte);
        }
        for (pixel, byte) in pixels.iter_mut().zip(bytes) {
            *pixel = f32::from(byte) / 255.0;
        }
        Ok(())
    }
}

/// The mean of a piece of the picture and its tint, `[64, 64, 3]`.
fn tinted(picture: &Picture, Piece { top, left, tint }: Piece) -> [u8; SIZE * SIZE * 3] {
    let mut bytes = [0; SIZE * SIZE * 3];
    // The tint along a row, so that a row is one loop over bytes.
    let tints: [u8; SIZE * 3] = std::array::from_fn(|place| tint[place % 3]);
    for (row, mixed) in bytes.chunks_exact_mut(SIZE * 3).enumerate() {
        let start = ((top + row) * picture.width + left) * 3;
        for ((mixed, &byte), &tint) in mixed.iter_mut().zip(&picture.bytes[start..]).zip(&tints) {
            *mixed = byte.midpoint(tint);
        }
    }
    bytes
}

/// The picture in the file at `path`, shrunk.
fn read(path: &Path) -> Result<Picture> {
    let picture = read_picture(path, 3)?;
    let (height, width) = fitting_size(picture.height, picture.width);
    if height.min(width) < SIZE {
        let found = format!("{}: the picture has {} x {} pixels", path.display(), picture.width, picture.height);
        return Err(Error::new(format!("{found}, and {width} x {height} once it is shrunk"))
            .help("give one that is at least 64 pixels wide and high once it fits 350 x 274 pixels"));
    }
    if (height, width) == (picture.height, picture.width) {
        return Ok(picture);
    }
    Ok(resized(&picture, height, width))
}

/// Height and width of a picture once it is shrunk to fit; one that fits is left as it is.
fn fitting_size(height: usize, width: usize) -> (usize, usize) {
    let rate = (MOST_HEIGHT as f64 / height as f64).min(MOST_WIDTH as f64 / width as f64).min(1.0);
    let shrunk = |length: usize| (length as f64 * rate).round() as usize;
    (shrunk(height), shrunk(width))
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { path, seed } = settings::read(table)?;
    let picture = match path {
        Some(path) => Cow::Owned(read(Path::new(&path))?),
        None => Cow::Borrowed(painting()),
    };
    Ok(Box::new(DspritesScream { sprites: Dsprites::new(), picture, seed: Seed(seed) }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "dsprites_scream",
    about: "The sprites of dsprites as the negative of a random, tinted piece of a painting",
    paper: "Locatello et al. 2019",
    settings: &[
        Setting {
            name: "path",
            values: Values::Words("the path of a picture"),
            meaning: "the painting, published with Munch's \"The Scream\"; one made here where left out",
        },
        Setting {
            name: "seed",
            values: Values::Whole(0, u64::MAX),
            meaning: "which piece of the painting and which tint each image has",
        },
    ],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(seed: u64) -> DspritesScream {
        DspritesScream { sprites: Dsprites::new(), picture: Cow::Borrowed(painting()), seed: Seed(seed) }
    }

    #[test]
    fn the_piece_is_tinted_and_inverted_under_the_sprite() {
        let dataset = dataset(1);
        let mut pixels = vec![f32::NAN; SIZE * SIZE * 3];
        for index in [5, 300_000] {
            dataset.read_image(index, &mut pixels).unwrap();
            let (mask, Piece { top, left, tint }) = (dataset.sprites.mask(index), dataset.piece(index));
            for (place, pixel) in pixels.iter().enumerate() {
                let (row, column, channel) = (place / 192, place / 3 % 64, place % 3);
                let painted = painting().bytes[((top + row) * painting().width + left + column) * 3 + channel];
                let mean = ((f64::from(painted) + f64::from(tint[channel])) / 2.0).floor();
                let wanted = if mask[row] >> column & 1 == 1 { 255.0 - mean } else { mean };
                assert_eq!(*pixel, wanted as f32 / 255.0, "row {row}, column {column}");
            }
        }
    }

    #[test]
    fn pieces_come_from_everywhere_in_all_tints() {
        let dataset = dataset(1);
        let pieces: Vec<Piece> = (0..20_000).map(|index| dataset.piece(index)).collect();
        let most = |length: fn(&Piece) -> usize| pieces.iter().map(length).max().unwrap();
        assert_eq!((most(|piece| piece.top), most(|piece| piece.left)), (274 - 64, 350 - 64));
        assert!(pieces.iter().any(|piece| piece.top == 0) && pieces.iter().any(|piece| piece.left == 0));
        for channel in 0..3 {
            let tints = pieces.iter().map(|piece| f64::from(piece.tint[channel]));
            let mean = tints.sum::<f64>() / pieces.len() as f64;
            // The deviation of a uniform byte is 73.9, that of the mean of 20,000 of them 0.52.
            assert!((mean - 127.5).abs() < 2.0, "{mean}");
        }
    }

    #[test]
    fn pieces_follow_from_seed_and_number() {
        assert_eq!(dataset(3).piece(9), dataset(3).piece(9));
        assert_ne!(dataset(3).piece(9), dataset(3).piece(10));
        assert_ne!(dataset(3).piece(9), dataset(4).piece(9));
    }

    #[test]
    fn pictures_are_shrunk_until_they_fit() {
        assert_eq!(fitting_size(1000, 1000), (274, 274));
        assert_eq!(fitting_size(500, 1400), (125, 350));
        assert_eq!(fitting_size(100, 80), (100, 80));
    }

    #[test]
    fn a_picture_that_is_not_there_is_refused() {
        let message = build(&"path = 'no such picture.png'".parse().unwrap()).err().unwrap().to_string();
        assert!(message.contains("no such picture.png"), "{message}");
    }
}
