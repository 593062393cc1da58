//! Squared error, and with a weight that of the images blurred by a Gaussian (T1 equation 3.8 and table 6.1).
//!
//! A kernel of radius r has the standard deviation r/4, as in disent, and is divided by its sum.

use unbraid_data::settings;

use super::Entry;
use super::blurred::{self, Blur, Settings};
use crate::ops::{Filter, FilterShape, FilteredError, gaussian_taps};

fn error(shape: FilterShape, settings: &Settings) -> FilteredError {
    let taps: Vec<f32> = gaussian_taps(settings.radius).into_iter().map(|tap| tap as f32).collect();
    let filter = Filter::separable(shape, &taps);
    FilteredError { filter, weight: settings.weight as f32 }
}

fn kernel(settings: &Settings) -> Vec<f32> {
    let (taps, root) = (gaussian_taps(settings.radius), settings.weight.sqrt());
    taps.iter().flat_map(|row| taps.iter().map(move |column| (row * column * root) as f32)).collect()
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mse_gaussian",
    about: "squared error of each pixel, and of the images blurred by a Gaussian",
    paper: "Michlo, thesis section 6.1",
    settings: blurred::SETTINGS,
    example: "",
    wants_unit_pixels: false,
    build: |table| blurred::build(table, Blur { error, kernel }),
    complete: settings::complete::<Settings>,
};
