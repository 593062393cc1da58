//! `synth_linear`: points of a square, stretched along one axis and turned in space. Its two factors are continuous.
//!
//! Zietlow, thesis section 3.3.1: the unit square is stretched by 2 (`ratio`; 1.0, 1.2 and 1.5 in section 3.3.4),
//! put into three dimensions and turned by 45 degrees about the line through (1, -1, 1); 50,000 points. The thesis does
//! not say which axis is stretched: here the first.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::{Factor, FactorSpace};
use crate::seed::Seed;
use crate::settings::{self, Setting, Values};

pub(super) const N_POINTS: usize = 50_000;
/// Far above any use, and far below what a 32-bit float can hold; its inverse is the least.
const MOST_RATIO: f64 = 1e6;

/// How far the square is stretched, and the seed of the points.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// Length of the first axis over that of the second.
    ratio: f64,
    /// Which points are drawn.
    seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { ratio: 2.0, seed: 0 }
    }
}

struct SynthLinear {
    factors: FactorSpace,
    points: Vec<[f64; 2]>,
    ratio: f64,
}

impl Dataset for SynthLinear {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: 1, width: 1, channels: 3 }
    }

    fn n_images(&self) -> usize {
        N_POINTS
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let [first, second] = self.points[index];
        for (pixel, value) in pixels.iter_mut().zip(turn([self.ratio * first, second, 0.0])) {
            *pixel = value as f32;
        }
        Ok(())
    }

    fn holds_bytes(&self) -> bool {
        false
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        values.copy_from_slice(&self.points[index]);
    }
}

/// The seed of the points, as `unbraid list` tells it.
pub(super) const SEED: Setting =
    Setting { name: "seed", values: Values::Whole(0, u64::MAX), meaning: "which points are drawn" };

/// Two continuous factors.
pub(super) fn factors() -> FactorSpace {
    FactorSpace::sample(["first", "second"].map(|name| Factor { name: name.to_string(), size: None }).to_vec())
}

/// Points drawn evenly from the unit square.
pub(super) fn points(seed: u64) -> Vec<[f64; 2]> {
    let mut rng = Seed(seed).stream("points of the unit square");
    (0..N_POINTS).map(|_| [rng.random(), rng.random()]).collect()
}

/// Turns by 45 degrees about the line through (1, -1, 1), by Rodrigues' formula:
/// `v cos + (axis x v) sin + axis (axis . v) (1 - cos)`.
fn turn(vector: [f64; 3]) -> [f64; 3] {
    let length = 3.0_f64.sqrt();
    let axis = [1.0 / length, -1.0 / length, 1.0 / length];
    let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
    let along: f64 = axis.iter().zip(&vector).map(|(a, v)| a * v).sum();
    let across = [
        axis[1] * vector[2] - axis[2] * vector[1],
        axis[2] * vector[0] - axis[0] * vector[2],
        axis[0] * vector[1] - axis[1] * vector[0],
    ];
    std::array::from_fn(|i| vector[i] * cos + across[i] * sin + axis[i] * along * (1.0 - cos))
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { ratio, seed } = checked(table)?;
    Ok(Box::new(SynthLinear { factors: factors(), points: points(seed), ratio }))
}

fn complete(table: &Table) -> Result<Table> {
    Ok(settings::as_table(&checked(table)?))
}

fn checked(table: &Table) -> Result<Settings> {
    let settings: Settings = settings::read(table)?;
    if !(1.0 / MOST_RATIO..=MOST_RATIO).contains(&settings.ratio) {
        return Err(Error::new(format!("setting \"ratio\" is {}", settings.ratio))
            .help(format!("it takes {} to {MOST_RATIO}", 1.0 / MOST_RATIO)));
    }
    Ok(settings)
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "synth_linear",
    about: "50,000 points of a stretched square, turned in three dimensions; 2 continuous factors",
    paper: "Zietlow, thesis section 3.3.1",
    settings: &[
        Setting {
            name: "ratio",
            values: Values::Number(1.0 / MOST_RATIO, MOST_RATIO),
            meaning: "length of the first axis of the square over that of the second",
        },
        SEED,
    ],
    example: "",
    published: None,
    build,
    complete,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_leaves_the_axis_and_eight_turns_come_back() {
        let axis = turn([1.0, -1.0, 1.0]);
        assert!(axis.iter().zip([1.0, -1.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{axis:?}");
        let around = (0..8).fold([2.0, 0.5, 0.0], |vector, _| turn(vector));
        assert!(around.iter().zip([2.0, 0.5, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{around:?}");
    }

    #[test]
    fn one_turn_is_45_degrees() {
        // (1, 1, 0) is square to the axis, so the angle between it and its turned self is the angle of the turn.
        let turned = turn([1.0, 1.0, 0.0]);
        let cos = (turned[0] + turned[1]) / 2.0;
        assert!((cos - 0.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_image_is_as_long_as_the_stretched_point() {
        let dataset = build(&"ratio = 1.5".parse().unwrap()).unwrap();
        let (mut pixels, mut factors) = ([0.0; 3], [0.0; 2]);
        dataset.read_image(7, &mut pixels).unwrap();
        dataset.read_factors(7, &mut factors);
        let expected = (1.5 * factors[0]).powi(2) + factors[1].powi(2);
        let found: f64 = pixels.iter().map(|&pixel| f64::from(pixel).powi(2)).sum();
        assert!((expected - found).abs() < 1e-6);
        assert!(factors.iter().all(|value| (0.0..1.0).contains(value)));
    }

    #[test]
    fn a_ratio_out_of_range_is_refused() {
        for ratio in ["0", "-1.0", "nan", "inf", "1e300"] {
            let message = build(&format!("ratio = {ratio}").parse().unwrap()).err().unwrap().to_string();
            assert!(message.starts_with("setting \"ratio\" is "), "{message}");
        }
    }
}
