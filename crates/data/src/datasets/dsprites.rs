//! `dsprites`: a white square, ellipse or heart of six sizes, 40 orientations and 32 x 32 positions, rendered here; where the
//! user has the published file, it is read instead.
//!
//! Matthey, Higgins, Hassabis and Lerchner, "dSprites: Disentanglement testing Sprites dataset", 2017. The published
//! images were drawn by a graphics card, and this file follows what a card does: outlines are polygons that are
//! scaled, turned and moved in 32-bit floats, taken to clip space and on to the window (where y points up), snapped to
//! 1/256 of a pixel, and filled by pixel centres with the top-left rule in whole numbers. Of 46,080 published images
//! four differ, each by one pixel (`tests/real_dsprites.rs`).

use std::f64::consts::TAU;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::files::dsprites::{PUBLISHED, open};
use crate::settings::{self, Setting, Values};

const NAMES: [&str; 5] = ["shape", "scale", "orientation", "pos_x", "pos_y"];
/// Height and width of the images; a row of pixels fits the bits of a `u64`.
pub(super) const SIZE: usize = 64;
const N_SCALES: usize = 6;
const N_ORIENTATIONS: usize = 40;
/// Positions along an axis.
const N_POSITIONS: usize = 32;
/// Steps of the grid that corners snap to, in one pixel.
const SUBPIXELS: i32 = 256;

/// Where the images come from: the published file where the user has it, else they are rendered.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    path: Option<PathBuf>,
    rendered: bool,
}

impl Settings {
    /// The same with the file that is there, or without any.
    fn resolved(table: &Table) -> Result<Self> {
        let Self { path, rendered } = settings::read(table)?;
        if path.is_some() && rendered {
            return Err(Error::new("setting \"path\" names a file, but \"rendered\" is true").help("leave one out"));
        }
        // A config holds text, and may be read from another folder.
        let found = || Some(std::path::absolute(PUBLISHED.find()?).ok()?).filter(|path| path.to_str().is_some());
        let path = if rendered { None } else { path.or_else(found) };
        Ok(Self { rendered: path.is_none(), path })
    }
}

/// The sprites; datasets that paint them otherwise ask for a [`mask`](Self::mask).
pub(super) struct Dsprites {
    factors: FactorSpace,
    /// Turned and scaled outlines about the origin, by shape, scale and orientation.
    outlines: Vec<Vec<[f32; 2]>>,
}

impl Dsprites {
    pub(super) fn new() -> Self {
        let shapes = [square(), ellipse(), heart()];
        let sizes = [shapes.len(), N_SCALES, N_ORIENTATIONS, N_POSITIONS, N_POSITIONS];
        let factors = FactorSpace::grid(NAMES.into_iter().zip(sizes));
        let mut outlines = Vec::new();
        for shape in &shapes {
            for scale in 0..N_SCALES {
                for orientation in 0..N_ORIENTATIONS {
                    outlines.push(turned(shape, scale, orientation));
                }
            }
        }
        Self { factors, outlines }
    }

    /// The pixels of the sprite of image `index`: a word for each row from the top, its lowest bit the first column.
    pub(super) fn mask(&self, index: usize) -> [u64; SIZE] {
        let (outline, position) = (index / (N_POSITIONS * N_POSITIONS), index % (N_POSITIONS * N_POSITIONS));
        let (x, y) = (centre(position / N_POSITIONS), centre(position % N_POSITIONS));
        // An image's y points down and a window's up, so that y is taken from above and the rows come out reversed.
        let corners = self.outlines[outline].iter().map(|corner| {
            let clip = [(corner[0] + x) * 0.03125 - 1.0, -((corner[1] + y) * 0.03125 - 1.0)];
            clip.map(|value| snap(value * 32.0 + 32.0))
        });
        let mut rows = fill(corners);
        rows.reverse();
        rows
    }
}

impl Dataset for Dsprites {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: SIZE, width: SIZE, channels: 1 }
    }

    /// Shapes have no order.
    fn unordered_factors(&self) -> Vec<usize> {
        vec![0]
    }

    fn n_images(&self) -> usize {
        self.outlines.len() * N_POSITIONS * N_POSITIONS
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        for (row, bits) in pixels.chunks_exact_mut(SIZE).zip(self.mask(index)) {
            row.fill(0.0);
            if bits != 0 {
                for (column, pixel) in row.iter_mut().enumerate() {
                    *pixel = (bits >> column & 1) as f32;
                }
            }
        }
        Ok(())
    }
}

/// The places of the pixels of a [`mask`](Dsprites::mask), row * 64 + column, in order.
pub(super) fn places(mask: [u64; SIZE]) -> impl Iterator<Item = usize> {
    let successors = |bits: u64| std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
    mask.into_iter().enumerate().flat_map(move |(row, bits)| {
        let left = successors(bits).take_while(|&bits| bits != 0);
        left.map(move |bits| row * SIZE + bits.trailing_zeros() as usize)
    })
}

/// Where a sprite's origin lies, in pixels: 16 to 48.
fn centre(position: usize) -> f32 {
    (16.0 + 32.0 * position as f64 / (N_POSITIONS - 1) as f64) as f32
}

/// A coordinate of the window (0 to 64) in steps of 1/256 of a pixel, to the nearest and ties to even.
fn snap(coordinate: f32) -> i32 {
    // Floats of this size have no fraction, so the sum is rounded; `round_ties_even` is slow on older processors.
    const NO_FRACTION: f32 = 1.5 * (1 << 23) as f32;
    (coordinate * SUBPIXELS as f32 + NO_FRACTION - NO_FRACTION) as i32
}

/// The outline at its scale, turned. It is scaled and its turn is worked out in 64 bits; the turning is done in 32.
fn turned(shape: &[[f64; 2]], scale: usize, orientation: usize) -> Vec<[f32; 2]> {
    let size = 9.6 * (0.5 + 0.1 * scale as f64);
    let (sin, cos) = (-TAU * orientation as f64 / (N_ORIENTATIONS - 1) as f64).sin_cos();
    let (sin, cos) = (sin as f32, cos as f32);
    let scaled = shape.iter().map(|corner| corner.map(|value| (value * size) as f32));
    scaled.map(|[x, y]| [cos * x - sin * y, sin * x + cos * y]).collect()
}

fn square() -> Vec<[f64; 2]> {
    vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
}

fn ellipse() -> Vec<[f64; 2]> {
    polygon(100, |t| [1.33 * t.cos(), t.sin() / 1.33])
}

fn heart() -> Vec<[f64; 2]> {
    polygon(150, |t| {
        let height = 13.0 * t.cos() - 5.0 * (2.0 * t).cos() - 2.0 * (3.0 * t).cos() - (4.0 * t).cos();
        [t.sin().powi(3), -(height / 14.5 + 0.15)]
    })
}

/// `n_corners` points of the closed curve `point`, which takes an angle.
fn polygon(n_corners: usize, point: impl Fn(f64) -> [f64; 2]) -> Vec<[f64; 2]> {
    (0..n_corners).map(|corner| point(TAU * corner as f64 / n_corners as f64)).collect()
}

/// The pixels whose centres lie inside the outline, one word of bits for each row. A centre on an edge is inside where
/// the edge is a top or a left one.
fn fill(mut corners: impl Iterator<Item = [i32; 2]>) -> [u64; SIZE] {
    let mut rows = [0; SIZE];
    let Some(first) = corners.next() else { return rows };
    let mut from = first;
    for to in corners {
        flip_right_of(&mut rows, from, to);
        from = to;
    }
    flip_right_of(&mut rows, from, first);
    rows
}

/// Flips every pixel whose centre lies right of this edge or on it, in the rows whose centres the edge passes. A pixel
/// that was flipped an odd number of times is inside.
fn flip_right_of(rows: &mut [u64; SIZE], from: [i32; 2], to: [i32; 2]) {
    let (top, bottom) = if from[1] <= to[1] { (from, to) } else { (to, from) };
    let [width, height] = [bottom[0] - top[0], bottom[1] - top[1]];
    for row in first_centre(top[1])..first_centre(bottom[1]) {
        let below_top = row * SUBPIXELS + SUBPIXELS / 2 - top[1];
        // The edge passes the row at top[0] + below_top * width / height; both sides are multiplied by height.
        let crossing = (top[0] - SUBPIXELS / 2) * height + below_top * width;
        let column = -(-crossing).div_euclid(SUBPIXELS * height); // rounded up
        rows[row as usize] ^= u64::MAX.checked_shl(column as u32).unwrap_or(0);
    }
}

/// The first row whose centre is at `coordinate` or past it.
fn first_centre(coordinate: i32) -> i32 {
    (coordinate + SUBPIXELS / 2 - 1).div_euclid(SUBPIXELS)
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    match Settings::resolved(table)?.path {
        Some(path) => open(&PUBLISHED.locate("dsprites", Some(&path))?, &NAMES),
        None => Ok(Box::new(Dsprites::new())),
    }
}

/// Says which file was found, or that there was none, where nothing is said: what a run writes down is what it did.
fn complete(table: &Table) -> Result<Table> {
    if ["path", "rendered"].iter().any(|key| table.contains_key(*key)) {
        return settings::complete::<Settings>(table);
    }
    Settings::resolved(table).map(|settings| settings::as_table(&settings))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "dsprites",
    about: "White square, ellipse or heart: shape, scale, orientation, position; 737,280 images",
    paper: "Matthey et al. 2017",
    settings: &[
        Setting {
            name: "path",
            values: Values::Words("a path"),
            meaning: "the published .npz or .hdf5; looked for in the data root where left out, and else rendered",
        },
        Setting {
            name: "rendered",
            values: Values::Flag,
            meaning: "whether images are rendered even where the published file is there",
        },
    ],
    example: "rendered = true",
    published: None,
    build,
    complete,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners in pixels to filled pixels, as (row, column).
    fn filled(corners: &[[f32; 2]]) -> Vec<(usize, usize)> {
        let snapped = corners.iter().map(|corner| corner.map(|value| (value * SUBPIXELS as f32) as i32));
        let rows = fill(snapped);
        (0..SIZE * SIZE).map(|place| (place / SIZE, place % SIZE)).filter(|(r, c)| rows[*r] >> c & 1 == 1).collect()
    }

    #[test]
    fn centres_on_top_and_left_edges_are_inside_and_the_others_outside() {
        // The centres of pixels (0,0), (0,1), (1,0) and (1,1) lie on this square's corners.
        assert_eq!(filled(&[[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [0.5, 1.5]]), [(0, 0)]);
        // The same square drawn the other way round.
        assert_eq!(filled(&[[0.5, 0.5], [0.5, 1.5], [1.5, 1.5], [1.5, 0.5]]), [(0, 0)]);
    }

    #[test]
    fn a_triangle_holds_the_centres_below_its_diagonal() {
        // From (0,0) to (3,3) to (0,3): centres on the diagonal are on a right edge, so outside.
        assert_eq!(filled(&[[0.0, 0.0], [3.0, 3.0], [0.0, 3.0]]), [(1, 0), (2, 0), (2, 1)]);
    }

    #[test]
    fn snapping_goes_to_the_nearest_256th_and_ties_to_even() {
        assert_eq!(snap(16.0), 4096);
        assert_eq!(snap(16.0 + 0.5 / 256.0), 4096);
        assert_eq!(snap(16.0 + 1.5 / 256.0), 4098);
    }

    #[test]
    fn a_mask_and_its_places_are_the_white_pixels() {
        let sprites = Dsprites::new();
        for index in [0, 400_000, 737_279] {
            let mut pixels = vec![0.5; SIZE * SIZE];
            sprites.read_image(index, &mut pixels).unwrap();
            let white: Vec<usize> = (0..SIZE * SIZE).filter(|&place| pixels[place] == 1.0).collect();
            assert_eq!(places(sprites.mask(index)).collect::<Vec<_>>(), white);
        }
        let mut corners = [0; SIZE];
        (corners[0], corners[63]) = (1 | 1 << 63, 1 << 63);
        assert_eq!(places(corners).collect::<Vec<_>>(), [0, 63, 4095]);
    }

    #[test]
    fn the_smallest_upright_square_has_the_side_it_should() {
        // Scale 0.5: half a side is 4.8 pixels, so from 11.2 to 20.8 about 16: centres 11.5 to 20.5, ten of them.
        let mut pixels = vec![0.5; SIZE * SIZE];
        Dsprites::new().read_image(0, &mut pixels).unwrap();
        let white: Vec<usize> = (0..SIZE * SIZE).filter(|&place| pixels[place] == 1.0).collect();
        assert_eq!((white.len(), white[0], white[99]), (100, 11 * 64 + 11, 20 * 64 + 20));
    }
}
