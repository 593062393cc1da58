//! `shapes3d_made`: a coloured solid in a coloured room under a light-blue sky, seen from 15 sides, rendered here.
//!
//! The factors are those of 3D Shapes (Burgess and Kim 2018), number for number: hues of floor, wall and object, the
//! solid's scale (0.75 to 1.25) and shape (cube, cylinder, sphere, capsule), and the turn of the camera (-30 to 30 degrees).
//! The published images were drawn by MuJoCo, and these look like them without being the same: of 50 published ones, pixels
//! differ by three bytes in the mean, at edges and by the faint pattern of floor and walls, which is left out but for its
//! stains. There are only 480 geometries, and the image of each is linear in the three colours until it is cut at white:
//! the weights of a geometry are worked out when it is first read (a few milliseconds) and kept for all who open the
//! dataset, 40 kilobytes each and 20 megabytes at most.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::ray_cast::{self, SIZE, SKY, Solid, UNIT, Weights};
use crate::settings;

const N_HUES: usize = 10;
const N_SCALES: usize = 8;
const N_SHAPES: usize = 4;
const N_ORIENTATIONS: usize = 15;
const N_GEOMETRIES: usize = N_SCALES * N_SHAPES * N_ORIENTATIONS;

/// The weights of every geometry that was read so far.
static GEOMETRIES: [OnceLock<Weights>; N_GEOMETRIES] = [const { OnceLock::new() }; N_GEOMETRIES];

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {}

struct Shapes3dMade {
    factors: FactorSpace,
}

impl Dataset for Shapes3dMade {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: SIZE, width: SIZE, channels: 3 }
    }

    /// Hues go round in a circle, and shapes have no order.
    fn unordered_factors(&self) -> Vec<usize> {
        vec![0, 1, 2, 4]
    }

    fn n_images(&self) -> usize {
        N_HUES * N_HUES * N_HUES * N_GEOMETRIES
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let (hues, geometry) = (index / N_GEOMETRIES, index % N_GEOMETRIES);
        let colors = [hues / (N_HUES * N_HUES), hues / N_HUES % N_HUES, hues % N_HUES].map(hue_color);
        mix(weights_of(geometry), colors, pixels);
        Ok(())
    }
}

fn weights_of(geometry: usize) -> &'static Weights {
    GEOMETRIES[geometry].get_or_init(|| {
        let (solid, orientation) = (geometry / N_ORIENTATIONS, geometry % N_ORIENTATIONS);
        let degrees = -30.0 + 60.0 * orientation as f64 / (N_ORIENTATIONS - 1) as f64;
        ray_cast::weights(&sized_solid(solid / N_SHAPES, solid % N_SHAPES), degrees.to_radians())
    })
}

fn sized_solid(scale: usize, shape: usize) -> Solid {
    let scale = 0.75 + 0.5 * scale as f64 / (N_SCALES - 1) as f64;
    match shape {
        0 => Solid::Cube { side: 0.69 * scale },
        1 => Solid::Cylinder { radius: 0.37 * scale, height: 0.74 * scale },
        2 => Solid::Sphere { radius: 0.42 * scale },
        _ => Solid::Capsule { radius: 0.3244 * scale, height: 0.6488 * scale },
    }
}

/// The fully saturated colour of a hue, as bytes. Going round the circle a channel is full for a third of the way, falls for
/// a sixth, is dark for a third and rises for a sixth.
fn hue_color(hue: usize) -> [f32; 3] {
    // The green channel is full a third of a turn later than the red one, and the blue two thirds.
    [0.0, 1.0 / 3.0, 2.0 / 3.0].map(|full| {
        let turn = (hue as f64 / N_HUES as f64 - full).rem_euclid(1.0);
        let from_full = turn.min(1.0 - turn);
        (255.0 * (2.0 - 6.0 * from_full).clamp(0.0, 1.0)).round() as f32
    })
}

/// Writes the image of these weights with these colours of floor, wall and object, `[height, width, channels]`.
fn mix(weights: &Weights, colors: [[f32; 3]; 3], pixels: &mut [f32]) {
    let in_units = |color: [f32; 3]| color.map(|byte| byte / f32::from(UNIT));
    let colors = [colors[0], colors[1], colors[2], SKY.map(f32::from), [255.0; 3]].map(in_units); // [planes, channels]
    let Weights { floor, wall, object, sky, highlight } = weights;
    // Channels are mixed apart, where a processor takes many pixels at once, and put side by side afterwards.
    let mut mixed = [[0.0; SIZE]; 3];
    for (row, pixels) in pixels.chunks_exact_mut(SIZE * 3).enumerate() {
        let planes = [floor, wall, object, sky, highlight].map(|plane| row_of(plane, row));
        for (channel, mixed) in mixed.iter_mut().enumerate() {
            mix_row(planes, colors.map(|color| color[channel]), mixed);
        }
        for (column, pixel) in pixels.chunks_exact_mut(3).enumerate() {
            for (value, channel) in pixel.iter_mut().zip(&mixed) {
                *value = channel[column];
            }
        }
    }
}

fn row_of(plane: &[u16], row: usize) -> &[u16; SIZE] {
    plane[row * SIZE..].first_chunk().expect("a plane has as many rows as an image")
}

/// One channel of a row of pixels: the sum of the weighted colours, cut at white and rounded to a byte, over 255.
fn mix_row(planes: [&[u16; SIZE]; 5], colors: [f32; 5], mixed: &mut [f32; SIZE]) {
    // Floats of this size have no fraction, so the sum is rounded; `round` is slow on older processors.
    const NO_FRACTION: f32 = 1.5 * (1 << 23) as f32;
    for (column, value) in mixed.iter_mut().enumerate() {
        let mut sum = 0.0;
        for (plane, color) in planes.iter().zip(colors) {
            sum += f32::from(plane[column]) * color;
        }
        *value = (sum.min(255.0) + NO_FRACTION - NO_FRACTION) / 255.0;
    }
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    settings::read::<Settings>(table)?;
    let factors = FactorSpace::grid([
        ("floor_hue", N_HUES),
        ("wall_hue", N_HUES),
        ("object_hue", N_HUES),
        ("scale", N_SCALES),
        ("shape", N_SHAPES),
        ("orientation", N_ORIENTATIONS),
    ]);
    Ok(Box::new(Shapes3dMade { factors }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "shapes3d_made",
    about: "A solid in a room: hues of floor, wall and object, scale, shape, orientation; 480,000 images",
    paper: "after Burgess and Kim 2018",
    settings: &[],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::factor_space::index_of;
    use crate::ray_cast::{CAMERA_DISTANCE, CAMERA_HEIGHT, FOCAL_LENGTH};

    const SIZES: [usize; 6] = [N_HUES, N_HUES, N_HUES, N_SCALES, N_SHAPES, N_ORIENTATIONS];

    fn image(values: [usize; 6]) -> Vec<f32> {
        let mut pixels = vec![f32::NAN; SIZE * SIZE * 3];
        let dataset = build(&Table::new()).unwrap();
        assert_eq!(dataset.factors().grid_sizes().unwrap(), SIZES);
        dataset.read_image(index_of(&values, &SIZES), &mut pixels).unwrap();
        pixels
    }

    fn pixel(image: &[f32], row: usize, column: usize) -> [u8; 3] {
        [0, 1, 2].map(|channel| (image[(row * SIZE + column) * 3 + channel] * 255.0).round() as u8)
    }

    fn geometry(scale: usize, shape: usize, orientation: usize) -> &'static Weights {
        weights_of(index_of(&[scale, shape, orientation], &SIZES[3..]))
    }

    #[test]
    fn hues_are_a_tenth_of_the_circle_apart() {
        let expected: [(usize, [u8; 3]); 5] =
            [(0, [255, 0, 0]), (1, [255, 153, 0]), (2, [204, 255, 0]), (5, [0, 255, 255]), (9, [255, 0, 153])];
        for (hue, bytes) in expected {
            assert_eq!(hue_color(hue), bytes.map(f32::from), "hue {hue}");
        }
    }

    #[test]
    fn every_part_shows_its_own_hue() {
        // A red floor, a cyan wall and an object of hue 0.3: channels that a hue lacks stay dark.
        for shape in 0..N_SHAPES {
            let image = image([0, 5, 3, 2, shape, 7]);
            assert!((0..SIZE).all(|column| pixel(&image, 0, column) == SKY));
            assert_eq!(pixel(&image, 63, 2), [255, 0, 0], "the floor is lit beyond white, which is cut");
            assert_eq!(pixel(&image, 25, 2), [0, 255, 255]);
            let [red, green, blue] = pixel(&image, 48, 32);
            assert!((45..=51).contains(&red) && (225..=255).contains(&green) && blue == 0, "shape {shape}");
        }
    }

    #[test]
    fn the_sphere_covers_the_area_of_its_projection() {
        // A sphere at angle phi from the view that fills the half angle rho is an ellipse on a flat image, of half axes
        // f sin rho / sqrt(q) and f sin rho cos rho / q with q = cos^2 phi - sin^2 rho.
        for (scale, factor) in [(0, 0.75), (7, 1.25)] {
            let radius = 0.42 * factor;
            let distance = (CAMERA_DISTANCE.powi(2) + (CAMERA_HEIGHT - radius).powi(2)).sqrt();
            let sin = radius / distance;
            let q = (CAMERA_DISTANCE / distance).powi(2) - sin * sin;
            let focal_pixels = FOCAL_LENGTH * SIZE as f64 / 2.0;
            let area = PI * focal_pixels.powi(2) * sin * sin * (1.0 - sin * sin).sqrt() / q.powf(1.5);
            let weights = geometry(scale, 2, 3);
            let touched = (0..SIZE * SIZE).filter(|&place| weights.object[place] > 0);
            let (edge, inside): (Vec<usize>, Vec<usize>) =
                touched.partition(|&place| weights.floor[place] + weights.wall[place] + weights.sky[place] > 0);
            // The outline halves the pixels on the edge, in the mean.
            let covered = inside.len() as f64 + edge.len() as f64 / 2.0;
            assert!((covered / area - 1.0).abs() < 0.02, "{covered} pixels, but {area} were expected");
        }
    }

    #[test]
    fn a_hue_changes_only_pixels_that_show_it() {
        let weights = geometry(4, 3, 10);
        let before = image([1, 2, 3, 4, 3, 10]);
        for (changed, plane) in [([6, 2, 3, 4, 3, 10], &weights.floor), ([1, 7, 3, 4, 3, 10], &weights.wall)] {
            let after = image(changed);
            for place in 0..SIZE * SIZE {
                let same = before[place * 3..][..3] == after[place * 3..][..3];
                assert!(same || plane[place] > 0, "pixel {place}");
                assert!(!same || plane[place] < UNIT / 50, "pixel {place}");
            }
        }
    }

    #[test]
    fn no_pixel_is_black_or_far_beyond_white() {
        for (scale, shape, orientation) in [(0, 0, 0), (3, 1, 5), (7, 2, 7), (7, 3, 14)] {
            let Weights { floor, wall, object, sky, highlight } = geometry(scale, shape, orientation);
            for place in 0..SIZE * SIZE {
                let sum: f32 =
                    [floor, wall, object, sky].map(|plane| f32::from(plane[place]) / f32::from(UNIT)).iter().sum();
                assert!((0.2..1.5).contains(&sum), "{sum} in pixel {place}");
                assert!(sky[place] <= UNIT && f32::from(highlight[place]) < 0.12 * f32::from(UNIT));
            }
        }
    }

    #[test]
    fn turning_the_other_way_mirrors_the_outlines() {
        // The light stands to one side and is not mirrored; sky and outlines of the object are.
        for shape in 0..N_SHAPES {
            let [left, right] = [2, 12].map(|orientation| geometry(6, shape, orientation));
            for place in 0..SIZE * SIZE {
                let mirrored = place / SIZE * SIZE + SIZE - 1 - place % SIZE;
                assert_eq!(left.sky[place], right.sky[mirrored]);
                assert_eq!(left.object[place] > 0, right.object[mirrored] > 0);
            }
        }
    }

    #[test]
    fn the_shadow_lies_to_the_right() {
        // Level with the sphere's foot, which hides neither side of the floor near it.
        let floor = &geometry(4, 2, 7).floor;
        let row = 53 * SIZE;
        assert!(f32::from(floor[row + 40]) < 0.4 * f32::from(floor[row + 16]));
        assert!(floor[row + 40] < floor[row + 60]);
    }
}
