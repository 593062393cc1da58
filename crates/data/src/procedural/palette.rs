//! Colours that are found together in nature and towns.

use rand::RngExt;

use super::noise::{between, mix};
use crate::seed::Rng;

/// Red, green and blue, 0 to 1.
pub(super) type Colour = [f32; 3];

/// Four colours, from the darkest to the lightest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette([Colour; 4]);

/// As they would be written on a web page.
const FOUND: [[u32; 4]; 18] = [
    [0x1b2614, 0x3f5a26, 0x7d8f45, 0xd8d69a], // a wood
    [0x0d2a3a, 0x1f5c7a, 0x6aa7b8, 0xe6efe9], // the sea
    [0x4a2c17, 0x9a6233, 0xd2a466, 0xf4e3bd], // a desert
    [0x24142e, 0x7b2d43, 0xe07a3f, 0xf9d98a], // dusk
    [0x22221f, 0x5c5850, 0x9a9488, 0xdcd7cc], // stone
    [0x2c1208, 0x6e3216, 0xb06a35, 0xe8c08a], // fur
    [0x35405c, 0x7088ad, 0xb5c7dc, 0xf8fafb], // snow
    [0x050812, 0x1a2140, 0x4c4a6b, 0xd9b36a], // night
    [0x4d0f1e, 0xb3263f, 0xe77a8c, 0xfbe4dc], // roses
    [0x23360f, 0x6f8f1e, 0xd7c62b, 0xfdf3b0], // a meadow
    [0x3b2a22, 0x8a5c48, 0xcf9c82, 0xf3d6c2], // skin and clay
    [0x2b2f33, 0x6b5a50, 0xb04a32, 0xd9c9b4], // brick
    [0x102a22, 0x2f6f5a, 0x86b59a, 0xe9e3c8], // a lagoon
    [0x1e1b33, 0x54489a, 0xa893d0, 0xeee6f2], // lavender
    [0x301a10, 0x7c4a12, 0xd98a12, 0xfce08a], // autumn
    [0x0e0e10, 0x3a3a40, 0x8c8c90, 0xf4f4f2], // black and white
    [0x1a3d6b, 0x4f8fd0, 0xa9cdea, 0xfdfdf8], // a clear sky
    [0x3a1226, 0x8d3b2e, 0xd8643a, 0xf2b84b], // spice
];

impl Palette {
    /// One of those found, its colours a little off.
    pub(super) fn random(rng: &mut Rng) -> Self {
        let hexadecimal = FOUND[rng.random_range(0..FOUND.len())];
        Self(hexadecimal.map(|colour| from_hexadecimal(colour).map(|value| value + between(-0.05, 0.05, rng))))
    }

    /// These colours, as they would be written on a web page, from the darkest to the lightest.
    pub(super) fn new(hexadecimal: [u32; 4]) -> Self {
        Self(hexadecimal.map(from_hexadecimal))
    }

    /// The colour at `level`, from 0 for the darkest to 1 for the lightest.
    pub(super) fn at(&self, level: f32) -> Colour {
        let position = level.clamp(0.0, 1.0) * 3.0;
        let lower = (position as usize).min(2);
        blend(self.0[lower], self.0[lower + 1], position - lower as f32)
    }
}

/// From `from` (at 0) to `to` (at 1).
pub(super) fn blend(from: Colour, to: Colour, part: f32) -> Colour {
    std::array::from_fn(|channel| mix(from[channel], to[channel], part))
}

/// Lighter by a factor.
pub(super) fn lit(colour: Colour, factor: f32) -> Colour {
    colour.map(|value| value * factor)
}

/// As a pixel of a picture.
pub(super) fn bytes(colour: Colour) -> [u8; 3] {
    colour.map(|value| (value * 255.0).clamp(0.0, 255.0) as u8)
}

fn from_hexadecimal(colour: u32) -> Colour {
    [16, 8, 0].map(|shift| (colour >> shift & 0xff) as f32 / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_palette_goes_from_dark_to_light() {
        let palette = Palette::new([0x00_00_00, 0xff_00_00, 0xff_ff_00, 0xff_ff_ff]);
        assert_eq!(palette.at(-1.0), [0.0; 3]);
        assert_eq!(palette.at(0.5), [1.0, 0.5, 0.0]);
        assert_eq!(bytes(palette.at(2.0)), [255; 3]);
    }
}
