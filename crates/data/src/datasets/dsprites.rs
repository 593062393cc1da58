//! `dsprites`: a white square, ellipse or heart of six sizes, 40 orientations and 32 x 32 positions, rendered here.
//!
//! Matthey, Higgins, Hassabis and Lerchner, "dSprites: Disentanglement testing Sprites dataset", 2017. The published
//! images were drawn by a graphics card, and this file follows what a card does: outlines are polygons that are
//! scaled, turned and moved in 32-bit floats, taken to clip space and on to the window (where y points up), snapped to
//! 1/256 of a pixel, and filled by pixel centres with the top-left rule in whole numbers. Of 46,080 published images
//! four differ, each by one pixel (`tests/real_dsprites.rs`).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::settings;

/// Height and width of the images; a row of pixels fits the bits of a `u64`.
const SIZE: usize = 64;
const N_SCALES: usize = 6;
const N_ORIENTATIONS: usize = 40;
/// Positions along an axis.
const N_POSITIONS: usize = 32;
/// Steps of the grid that corners snap to, in one pixel.
const SUBPIXELS: i32 = 256;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {}

struct Dsprites {
    factors: FactorSpace,
    /// Turned and scaled outlines about the origin, by shape, scale and orientation.
    outlines: Vec<Vec<[f32; 2]>>,
}

impl Dsprites {
    fn new() -> Self {
        let shapes = [square(), ellipse(), heart()];
        let factors = FactorSpace::grid([
            ("shape", shapes.len()),
            ("scale", N_SCALES),
            ("orientation", N_ORIENTATIONS),
            ("pos_x", N_POSITIONS),
            ("pos_y", N_POSITIONS),
        ]);
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
}

impl Dataset for Dsprites {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: SIZE, width: SIZE, channels: 1 }
    }

    fn n_images(&self) -> usize {
        self.outlines.len() * N_POSITIONS * N_POSITIONS
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let (outline, position) = (index / (N_POSITIONS * N_POSITIONS), index % (N_POSITIONS * N_POSITIONS));
        let (x, y) = (centre(position / N_POSITIONS), centre(position % N_POSITIONS));
        // An image's y points down and a window's up, so that y is taken from above and the rows come out reversed.
        let corners = self.outlines[outline].iter().map(|corner| {
            let clip = [(corner[0] + x) * 0.03125 - 1.0, -((corner[1] + y) * 0.03125 - 1.0)];
            clip.map(|value| snap(value * 32.0 + 32.0))
        });
        for (row, bits) in pixels.chunks_exact_mut(SIZE).rev().zip(fill(corners)) {
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
    settings::read::<Settings>(table)?;
    Ok(Box::new(Dsprites::new()))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "dsprites",
    about: "White square, ellipse or heart: shape, scale, orientation, position; 737,280 images",
    paper: "Matthey et al. 2017",
    settings: &[],
    example: "",
    build,
    complete: settings::complete::<Settings>,
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
    fn the_smallest_upright_square_has_the_side_it_should() {
        // Scale 0.5: half a side is 4.8 pixels, so from 11.2 to 20.8 about 16: centres 11.5 to 20.5, ten of them.
        let mut pixels = vec![0.5; SIZE * SIZE];
        Dsprites::new().read_image(0, &mut pixels).unwrap();
        let white: Vec<usize> = (0..SIZE * SIZE).filter(|&place| pixels[place] == 1.0).collect();
        assert_eq!((white.len(), white[0], white[99]), (100, 11 * 64 + 11, 20 * 64 + 20));
    }
}
