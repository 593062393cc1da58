//! The factors of a dataset, and how combinations of their values are numbered.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, did_you_mean};

/// One true cause of variation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    /// What it is called, for instance `orientation`.
    pub name: String,
    /// How many values it takes, 0 up to `size - 1`; `None` for a continuous factor.
    pub size: Option<usize>,
}

/// The factors of a dataset. Where all are discrete and every combination has one image (a grid), images are numbered
/// row-major, the first factor most significant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorSpace {
    factors: Vec<Factor>,
    is_grid: bool,
}

impl FactorSpace {
    /// A grid: one image for each combination of values. Sizes are at least 1 and their product fits in `usize`.
    pub fn grid<'a>(factors: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let factors: Vec<Factor> =
            factors.into_iter().map(|(name, size)| Factor { name: name.to_string(), size: Some(size) }).collect();
        assert!(factors.iter().all(|factor| factor.size != Some(0)), "a factor takes at least one value");
        Self { factors, is_grid: true }
    }

    /// Factors of images that do not form a grid: continuous ones, or a labelled sample.
    pub fn sample(factors: Vec<Factor>) -> Self {
        Self { factors, is_grid: false }
    }

    /// The factors in order.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// Whether there is one image for each combination of values.
    pub fn is_grid(&self) -> bool {
        self.is_grid
    }

    /// How many factors there are.
    pub fn n_factors(&self) -> usize {
        self.factors.len()
    }

    /// The factors' names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.factors.iter().map(|factor| factor.name.as_str())
    }

    /// The number of values of each factor of a grid, in order; an error where they do not form one.
    pub fn grid_sizes(&self) -> Result<Vec<usize>> {
        if self.factors.is_empty() {
            return Err(Error::new("the images have no factors").help("this needs a dataset with factors"));
        }
        if !self.is_grid {
            let names: Vec<&str> = self.names().collect();
            return Err(Error::new(format!("the factors {} do not form a grid of images", names.join(", ")))
                .help("this needs a dataset with one image for each combination of factors"));
        }
        Ok(self.factors.iter().map(|factor| factor.size.expect("a grid's factors are discrete")).collect())
    }

    /// How many combinations a grid has; an error where the factors do not form one.
    pub fn n_combinations(&self) -> Result<usize> {
        Ok(self.grid_sizes()?.iter().product())
    }

    /// The numbering of a grid's images; an error where the factors do not form one.
    pub fn numbering(&self) -> Result<Numbering> {
        Ok(Numbering::new(self.grid_sizes()?))
    }

    /// The position of the factor called `name`.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.names().position(|factor| factor == name).ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            Error::new(format!("no factor is called \"{name}\"{}", did_you_mean(name, self.names())))
                .about_a_name()
                .help(format!("the factors are {}", names.join(", ")))
        })
    }
}

/// The numbering of a grid's images, made to read and change one factor of an image millions of times a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    sizes: Vec<usize>,
    /// By how much an image's number grows with the value of each factor.
    strides: Vec<usize>,
}

impl Numbering {
    fn new(sizes: Vec<usize>) -> Self {
        let mut strides = vec![1; sizes.len()];
        for factor in (1..sizes.len()).rev() {
            strides[factor - 1] = strides[factor] * sizes[factor];
        }
        Self { sizes, strides }
    }

    /// The number of values of each factor.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many images there are.
    pub fn n_images(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Positions of the factors with more than one value, in order.
    pub fn varying(&self) -> Vec<usize> {
        (0..self.sizes.len()).filter(|&factor| self.sizes[factor] > 1).collect()
    }

    /// The value of a factor of an image.
    pub fn value(&self, image: usize, factor: usize) -> usize {
        image / self.strides[factor] % self.sizes[factor]
    }

    /// The image that has `value` of a factor and is else like `image`.
    pub fn with_value(&self, image: usize, factor: usize, value: usize) -> usize {
        self.moved(image, factor, self.value(image, factor), value)
    }

    /// The same, where it is known that the factor of `image` has the value `from`; this saves two divisions.
    pub fn moved(&self, image: usize, factor: usize, from: usize, to: usize) -> usize {
        image - from * self.strides[factor] + to * self.strides[factor]
    }
}

/// The combination of values with number `index`, row-major, for factors of these sizes.
pub fn values_of(mut index: usize, sizes: &[usize]) -> Vec<usize> {
    let mut values = vec![0; sizes.len()];
    for (value, size) in values.iter_mut().zip(sizes).rev() {
        *value = index % size;
        index /= size;
    }
    values
}

/// The number of a combination of values, row-major, for factors of these sizes.
pub fn index_of(values: &[usize], sizes: &[usize]) -> usize {
    values.iter().zip(sizes).fold(0, |index, (value, size)| index * size + value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_is_row_major_with_the_first_factor_most_significant() {
        // 1*(4*5) + 2*5 + 3 = 33
        assert_eq!(index_of(&[1, 2, 3], &[3, 4, 5]), 33);
        assert_eq!(values_of(33, &[3, 4, 5]), [1, 2, 3]);
    }

    #[test]
    fn numbering_goes_there_and_back() {
        let sizes = [3, 1, 4, 2];
        for index in 0..24 {
            assert_eq!(index_of(&values_of(index, &sizes), &sizes), index);
        }
    }

    #[test]
    fn one_factor_is_read_and_changed() {
        let numbering = FactorSpace::grid([("a", 3), ("b", 1), ("c", 4), ("d", 2)]).numbering().unwrap();
        assert_eq!((numbering.n_images(), numbering.varying()), (24, vec![0, 2, 3]));
        for image in 0..24 {
            let values = values_of(image, numbering.sizes());
            for factor in 0..4 {
                assert_eq!(numbering.value(image, factor), values[factor]);
                for value in 0..numbering.sizes()[factor] {
                    let mut changed = values.clone();
                    changed[factor] = value;
                    assert_eq!(numbering.with_value(image, factor, value), index_of(&changed, numbering.sizes()));
                }
            }
        }
    }

    #[test]
    fn an_unknown_factor_gets_a_suggestion() {
        let space = FactorSpace::grid([("shape", 3), ("scale", 6)]);
        let message = space.position("shapes").unwrap_err().to_string();
        assert_eq!(
            message,
            "no factor is called \"shapes\"; did you mean \"shape\"?\n       the factors are shape, scale"
        );
    }
}
