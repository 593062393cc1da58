//! `xy_object_shaded`: the images of `xy_object`, number for number, with hue and intensity as factors of their own.
//!
//! Michlo 2022 (T1), section 7.2: distances between images agree better with these factors.

use serde::{Deserialize, Serialize};
use toml::Table;

use super::xy_object::{HUES, INTENSITIES, N_PLACES, SIDES, XyObject};
use super::{Dataset, Entry};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::settings;

/// It has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    settings::read::<Settings>(table)?;
    let factors = [
        ("x", N_PLACES),
        ("y", N_PLACES),
        ("scale", SIDES.len()),
        ("intensity", INTENSITIES.len()),
        ("color", HUES.len()),
    ];
    Ok(Box::new(XyObject { factors: FactorSpace::grid(factors) }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "xy_object_shaded",
    about: "The images of xy_object with intensity and hue as separate factors",
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
    fn intensity_is_the_outer_part_of_the_colour() {
        let dataset = build(&Table::new()).unwrap();
        let mut pixels = vec![0.0; dataset.image_shape().n_pixels()];
        // The first place, the biggest side, intensity 2 (191), color 5 (magenta).
        let index = (4 * 4 + 2) * 6 + 5;
        dataset.read_image(index, &mut pixels).unwrap();
        assert_eq!(pixels[..3], [191.0 / 255.0, 0.0, 191.0 / 255.0]);
        let mut factors = [0.0; 5];
        dataset.read_factors(index, &mut factors);
        assert_eq!(factors, [0.0, 0.0, 4.0, 2.0, 5.0]);
    }
}
