//! `xy_object`: one coloured square of five sizes; all colours and shades are mixed into one factor.
//!
//! Michlo 2022 (T1), section 7.2: the same images as `xy_object_shaded`, with the worse choice of factors.
//! The palette is six hues at four brightnesses, the dimmest six first.

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::settings;

/// Height and width of the images.
const SIZE: usize = 64;
/// Places along an axis, 2 pixels apart.
pub(super) const N_PLACES: usize = 25;
/// Sides of the square in pixels, by scale.
pub(super) const SIDES: [usize; 5] = [7, 9, 11, 13, 15];
/// Red, yellow, green, cyan, blue, magenta: which channels are lit.
pub(super) const HUES: [[u8; 3]; 6] = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]];
/// The byte of a lit channel, by intensity: quarters of 255, rounded down.
pub(super) const INTENSITIES: [u8; 4] = [63, 127, 191, 255];

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {}

/// The images, with one set of factors or another.
pub(super) struct XyObject {
    pub(super) factors: FactorSpace,
}

impl Dataset for XyObject {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        IMAGE_SHAPE
    }

    fn n_images(&self) -> usize {
        N_IMAGES
    }

    /// Neither hues nor their mixture with shades lie on a line.
    fn unordered_factors(&self) -> Vec<usize> {
        vec![self.factors.n_factors() - 1]
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        draw(index, pixels);
        Ok(())
    }
}

const IMAGE_SHAPE: ImageShape = ImageShape { height: SIZE, width: SIZE, channels: 3 };
const N_COLORS: usize = HUES.len() * INTENSITIES.len();
const N_IMAGES: usize = N_PLACES * N_PLACES * SIDES.len() * N_COLORS;

/// Draws image `index` into `pixels`, `[height, width, channels]`.
fn draw(index: usize, pixels: &mut [f32]) {
    let (place, color) = (index / N_COLORS, index % N_COLORS);
    let (place, scale) = (place / SIDES.len(), place % SIDES.len());
    let (x, y) = (place / N_PLACES, place % N_PLACES);
    let byte = INTENSITIES[color / HUES.len()];
    let color = HUES[color % HUES.len()].map(|lit| f32::from(lit * byte) / 255.0);

    // A small square stands in the middle of the place that the biggest would take.
    let side = SIDES[scale];
    let inset = (SIDES[SIDES.len() - 1] - side) / 2;
    let (top, left) = (2 * y + inset, 2 * x + inset);
    pixels.fill(0.0);
    for row in top..top + side {
        for column in left..left + side {
            pixels[(row * SIZE + column) * 3..][..3].copy_from_slice(&color);
        }
    }
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    settings::read::<Settings>(table)?;
    let factors = [("x", N_PLACES), ("y", N_PLACES), ("scale", SIDES.len()), ("color", N_COLORS)];
    Ok(Box::new(XyObject { factors: FactorSpace::grid(factors) }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "xy_object",
    about: "One square: position, scale, and a colour that mixes hue and shade",
    paper: "Michlo, thesis section 7.2",
    settings: &[],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_square_has_its_place_side_and_colour() {
        // x 3, y 10, scale 1, color 7: side 9, inset (15-9)/2 = 3, so columns 9..18 and rows 23..32;
        // colour 7 is hue 1 (yellow) of intensity 1 (127).
        let index = ((3 * 25 + 10) * 5 + 1) * 24 + 7;
        let mut pixels = vec![0.5; IMAGE_SHAPE.n_pixels()];
        draw(index, &mut pixels);
        for row in 0..SIZE {
            for column in 0..SIZE {
                let inside = (23..32).contains(&row) && (9..18).contains(&column);
                let byte = if inside { 127.0 } else { 0.0 };
                let start = (row * SIZE + column) * 3;
                assert_eq!(pixels[start..start + 3], [byte / 255.0, byte / 255.0, 0.0], "at {row}, {column}");
            }
        }
    }

    #[test]
    fn it_has_no_settings() {
        let message = build(&"size = 1".parse().unwrap()).err().unwrap().to_string();
        assert!(message.contains("no setting \"size\""), "{message}");
    }
}
