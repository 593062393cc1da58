//! `xy_squares`: squares that move over a grid, one in each colour channel. With no spacing to spare, two images that
//! differ in a position share no white pixel, so pixel losses see all differences as equal.
//!
//! Michlo 2022 (T1): sections 3.3.1 (the dataset), 3.3.4 (spacing 8 down to 1 with `grid` 8) and 6.1
//! (squares of 8, 4, 2 and 1 pixels). The means and standard deviations of A.2 follow exactly.

use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Dataset, Entry, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::settings::{self, Setting, Values};

/// Height and width of the images.
const SIZE: usize = 64;
const FACTOR_NAMES: [&str; 6] = ["x_R", "y_R", "x_G", "y_G", "x_B", "y_B"];

/// How big the squares are and where they may stand; the defaults are the thesis's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// Side of a square in pixels.
    square_size: usize,
    /// Pixels from one place to the next; `square_size` where left out.
    spacing: Option<usize>,
    /// At most this many places along an axis; as many as fit where left out.
    grid: Option<usize>,
    /// How many squares, 1 to 3.
    squares: usize,
    /// Whether each square has a channel of its own; if not, one channel shows all of them on top of each other.
    rgb: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { square_size: 8, spacing: None, grid: None, squares: 3, rgb: true }
    }
}

/// The dataset, with every place worked out.
struct XySquares {
    factors: FactorSpace,
    square_size: usize,
    spacing: usize,
    /// Places along an axis.
    n_places: usize,
    /// Where the first place begins, which centres the grid.
    offset: usize,
    squares: usize,
    channels: usize,
}

impl XySquares {
    fn new(settings: &Settings) -> Result<Self> {
        let &Settings { square_size, squares, rgb, .. } = settings;
        check("square_size", square_size, 1, SIZE)?;
        check("squares", squares, 1, FACTOR_NAMES.len() / 2)?;
        let spacing = settings.spacing.unwrap_or(square_size);
        check("spacing", spacing, 1, SIZE)?;
        let n_fitting = (SIZE - square_size) / spacing + 1;
        let grid = settings.grid.unwrap_or(n_fitting);
        check("grid", grid, 1, SIZE)?;

        let n_places = grid.min(n_fitting);
        let offset = (SIZE - (square_size + (n_places - 1) * spacing)) / 2;
        let factors = FactorSpace::grid(FACTOR_NAMES[..2 * squares].iter().map(|&name| (name, n_places)));
        Ok(Self { factors, square_size, spacing, n_places, offset, squares, channels: if rgb { 3 } else { 1 } })
    }
}

impl Dataset for XySquares {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: SIZE, width: SIZE, channels: self.channels }
    }

    fn n_images(&self) -> usize {
        // At most 64 places on each of 6 axes: 2^36.
        self.n_places.pow(2 * self.squares as u32)
    }

    fn read_image(&self, mut index: usize, pixels: &mut [f32]) -> Result<()> {
        pixels.fill(0.0);
        for square in (0..self.squares).rev() {
            let top = self.offset + self.spacing * (index % self.n_places);
            index /= self.n_places;
            let left = self.offset + self.spacing * (index % self.n_places);
            index /= self.n_places;
            let channel = if self.channels == 1 { 0 } else { square };
            for row in top..top + self.square_size {
                for column in left..left + self.square_size {
                    pixels[(row * SIZE + column) * self.channels + channel] = 1.0;
                }
            }
        }
        Ok(())
    }
}

fn check(name: &str, value: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::new(format!("setting \"{name}\" is {value}")).help(format!("it takes {least} to {most}")))
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    Ok(Box::new(XySquares::new(&settings::read(table)?)?))
}

/// Writes out also what follows from the other settings.
fn complete(table: &Table) -> Result<Table> {
    let settings: Settings = settings::read(table)?;
    let dataset = XySquares::new(&settings)?;
    let settings = Settings { spacing: Some(dataset.spacing), grid: Some(dataset.n_places), ..settings };
    Ok(settings::as_table(&settings))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "xy_squares",
    about: "Three squares that move over a grid, one per colour channel: hard for pixel losses",
    paper: "Michlo, thesis section 3.3.1",
    settings: &[
        Setting { name: "square_size", values: Values::Whole(1, SIZE as u64), meaning: "side of a square in pixels" },
        Setting {
            name: "spacing",
            values: Values::Whole(1, SIZE as u64),
            meaning: "pixels from one place to the next; square_size where left out",
        },
        Setting {
            name: "grid",
            values: Values::Whole(1, SIZE as u64),
            meaning: "places along an axis at most; as many as fit where left out",
        },
        Setting {
            name: "squares",
            values: Values::Whole(1, (FACTOR_NAMES.len() / 2) as u64),
            meaning: "how many squares",
        },
        Setting {
            name: "rgb",
            values: Values::Flag,
            meaning: "whether each square has a colour channel of its own; if not, one channel shows all",
        },
    ],
    example: "",
    published: None,
    build,
    complete,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(settings: &str) -> XySquares {
        XySquares::new(&settings::read(&settings.parse().unwrap()).unwrap()).unwrap()
    }

    fn message(settings: &str) -> String {
        build(&settings.parse().unwrap()).err().unwrap().to_string()
    }

    /// Rows and columns of the white pixels of a channel: first row, last row, first column, last column.
    fn extent(dataset: &XySquares, index: usize, channel: usize) -> [usize; 4] {
        let shape = dataset.image_shape();
        let mut pixels = vec![0.5; shape.n_pixels()];
        dataset.read_image(index, &mut pixels).unwrap();
        let white: Vec<usize> =
            (0..SIZE * SIZE).filter(|place| pixels[place * shape.channels + channel] == 1.0).collect();
        let columns = || white.iter().map(|place| place % SIZE);
        [white[0] / SIZE, white[white.len() - 1] / SIZE, columns().min().unwrap(), columns().max().unwrap()]
    }

    #[test]
    fn squares_stand_where_their_factors_say() {
        let dataset = dataset("");
        assert_eq!(dataset.n_images(), 262_144);
        // x_R 1, y_R 2, x_G 3, y_G 4, x_B 5, y_B 6: red's rows begin at 8*2 and its columns at 8*1.
        let index = 0o123456;
        assert_eq!(extent(&dataset, index, 0), [16, 23, 8, 15]);
        assert_eq!(extent(&dataset, index, 1), [32, 39, 24, 31]);
        assert_eq!(extent(&dataset, index, 2), [48, 55, 40, 47]);
    }

    #[test]
    fn a_smaller_grid_is_centred() {
        // 8 places, 3 apart: 8 + 7*3 = 29 pixels, and (64 - 29) / 2 = 17.
        let dataset = dataset("grid = 8\nspacing = 3");
        assert_eq!(extent(&dataset, 0, 2), [17, 24, 17, 24]);
        assert_eq!(extent(&dataset, dataset.n_images() - 1, 2), [38, 45, 38, 45]);
    }

    #[test]
    fn sizes_of_the_thesis_give_its_numbers_of_places() {
        for (settings, places) in [("square_size = 4", 16), ("square_size = 1", 64), ("spacing = 14", 5)] {
            assert_eq!(dataset(settings).n_places, places);
        }
    }

    #[test]
    fn without_rgb_one_channel_shows_all_squares() {
        let dataset = dataset("rgb = false\nsquares = 2");
        assert_eq!((dataset.image_shape().channels, dataset.n_images()), (1, 4096));
        assert_eq!(extent(&dataset, 0o0077, 0), [0, 63, 0, 63]);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        assert_eq!(message("square_size = 0"), "setting \"square_size\" is 0\n       it takes 1 to 64");
        assert!(message("square_size = 65").starts_with("setting \"square_size\" is 65"));
        assert!(message("spacing = 0").starts_with("setting \"spacing\" is 0"));
        assert!(message("grid = 0").starts_with("setting \"grid\" is 0"));
        assert!(message("squares = 4").contains("it takes 1 to 3"));
        assert!(message("squares = -1").starts_with("setting \"squares\""));
    }

    #[test]
    fn the_completed_settings_say_what_follows_from_others() {
        let completed = complete(&"square_size = 4".parse().unwrap()).unwrap();
        let expected = "square_size = 4\nspacing = 4\ngrid = 16\nsquares = 3\nrgb = true";
        assert_eq!(completed, expected.parse().unwrap());
        assert_eq!(complete(&completed).unwrap(), completed);
    }
}
