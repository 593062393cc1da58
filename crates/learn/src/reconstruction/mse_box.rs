//! Squared error, and with a weight that of the images blurred by a box (T1 equation 3.8).
//!
//! The mean over a square window makes images overlap that have no pixel in common, so that squares which are farther apart differ more.

use unbraid_data::settings;

use super::Entry;
use super::blurred::{self, Blur, Settings};
use crate::ops::{Filter, FilterShape, FilteredError};

fn error(shape: FilterShape, settings: &Settings) -> FilteredError {
    // The filter gives sums, of which the blur is the mean.
    let weight = settings.weight / n_taps(settings).powi(2);
    FilteredError { filter: Filter::window_sums(shape, settings.radius), weight: weight as f32 }
}

fn kernel(settings: &Settings) -> Vec<f32> {
    let n_taps = n_taps(settings);
    vec![(settings.weight.sqrt() / n_taps) as f32; n_taps as usize]
}

fn n_taps(settings: &Settings) -> f64 {
    (2 * settings.radius + 1).pow(2) as f64
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mse_box",
    about: "squared error of each pixel, and of the images blurred by a box",
    paper: "Michlo, thesis section 3.4",
    settings: blurred::SETTINGS,
    example: "",
    wants_unit_pixels: false,
    build: |table| blurred::build(table, Blur { error, kernel }),
    complete: settings::complete::<Settings>,
};
