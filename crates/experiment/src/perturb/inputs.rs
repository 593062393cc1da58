//! What the manipulation network is given of an image: its factors, or where there are none the code that the most entangled model gives it.
//!
//! A factor whose values have an order is one number from -1 to 1; one whose values have none, like a shape, has a number for each value, which is 1 for
//! the image's own and 0 for the others. Factors that never vary are left out. T4's `w` are the factors; that a code stands in for them is ours.

use ndarray::Array2;
use unbraid_data::datasets::read_factors;
use unbraid_data::{Dataset, Error, Result};

/// Images whose factors are read at once to find the range of a continuous one.
const AT_ONCE: usize = 4096;

/// What each image is told by.
#[derive(Debug, Clone, PartialEq)]
pub enum Inputs {
    /// Its factors.
    Factors(Vec<Column>),
    /// Its code, of so many latents.
    Codes(usize),
}

/// One number of an image.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// A factor, by its position, whose least and greatest values become -1 and 1.
    Scaled {
        /// Its position.
        factor: usize,
        /// Its least value.
        low: f64,
        /// Its greatest value.
        high: f64,
    },
    /// Whether a factor, by its position, has this value.
    Is {
        /// Its position.
        factor: usize,
        /// The value.
        value: f64,
    },
}

impl Inputs {
    /// The factors of a dataset that vary, or codes of so many latents where none does.
    pub fn of(dataset: &dyn Dataset, latents: usize) -> Result<Self> {
        let unordered = dataset.unordered_factors();
        let mut columns = Vec::new();
        for (factor, row) in dataset.factors().factors().iter().enumerate() {
            match row.size {
                Some(0 | 1) => {}
                Some(size) if unordered.contains(&factor) => {
                    columns.extend((0..size).map(|value| Column::Is { factor, value: value as f64 }));
                }
                Some(size) => columns.push(Column::Scaled { factor, low: 0.0, high: (size - 1) as f64 }),
                None => {
                    let (low, high) = range(dataset, factor)?;
                    columns.extend((low < high).then_some(Column::Scaled { factor, low, high }));
                }
            }
        }
        Ok(if columns.is_empty() { Self::Codes(latents) } else { Self::Factors(columns) })
    }

    /// How many numbers an image has.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Factors(columns) => columns.len(),
            Self::Codes(latents) => *latents,
        }
    }

    /// The numbers of images with these factors, `[images, factors]`, and codes, `[images, latents]`: `[images, inputs]`.
    pub fn rows(&self, factors: &Array2<f64>, codes: &[f32]) -> Vec<f32> {
        match self {
            Self::Codes(_) => codes.to_vec(),
            Self::Factors(columns) => {
                let of_image = |values: ndarray::ArrayView1<'_, f64>| -> Vec<f32> {
                    let number = |column: &Column| match *column {
                        Column::Scaled { factor, low, high } => 2.0 * (values[factor] - low) / (high - low) - 1.0,
                        Column::Is { factor, value } => f64::from(u8::from(values[factor] == value)),
                    };
                    columns.iter().map(|column| number(column) as f32).collect()
                };
                factors.outer_iter().flat_map(of_image).collect()
            }
        }
    }
}

/// The least and the greatest value of a continuous factor.
fn range(dataset: &dyn Dataset, factor: usize) -> Result<(f64, f64)> {
    let numbers: Vec<usize> = (0..dataset.n_images()).collect();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for chunk in numbers.chunks(AT_ONCE) {
        for &value in read_factors(dataset, chunk).column(factor) {
            if !value.is_finite() {
                let name = &dataset.factors().factors()[factor].name;
                return Err(
                    Error::new(format!("factor \"{name}\" has the value {value}")).help("wanted finite numbers")
                );
            }
            (low, high) = (low.min(value), high.max(value));
        }
    }
    Ok((low, high))
}

#[cfg(test)]
mod tests {
    use ndarray::arr2;
    use unbraid_data::datasets;

    use super::*;

    #[test]
    fn ordered_factors_are_scaled_and_shapes_have_a_number_for_each_value() {
        let dataset =
            datasets::build("dsprites", &"rendered = true\nfix = { orientation = 0 }".parse().unwrap()).unwrap();
        // shape, scale, x and y: three values without order; 6, 32 and 32.
        let inputs = Inputs::of(dataset.as_ref(), 3).unwrap();
        assert_eq!(inputs.n_inputs(), 6);
        let factors = arr2(&[[2.0, 0.0, 31.0, 15.5], [0.0, 5.0, 0.0, 31.0]]);
        let rows = inputs.rows(&factors, &[]);
        assert_eq!(rows, [0.0, 0.0, 1.0, -1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 1.0]);
    }

    #[test]
    fn codes_stand_in_where_no_factor_varies() {
        let dataset = datasets::build("xy_squares", &"squares = 1\ngrid = 1".parse().unwrap()).unwrap();
        let inputs = Inputs::of(dataset.as_ref(), 2).unwrap();
        assert_eq!(inputs, Inputs::Codes(2));
        assert_eq!(inputs.rows(&Array2::zeros((1, 2)), &[0.5, -3.0]), [0.5, -3.0]);
    }
}
