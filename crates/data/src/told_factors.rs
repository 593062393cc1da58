//! Which factors of a dataset are told, and as what: the settings `factors` and `continuous` that every dataset takes.
//!
//! A factor that is not told still varies, but no metric asks for it. A factor that is made continuous keeps its values, as numbers
//! that lie on a line: only where the order of its values means something.

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::{Factor, FactorSpace};

/// A dataset of which some factors are told.
pub struct ToldFactors {
    original: Box<dyn Dataset>,
    factors: FactorSpace,
    /// The position of each told factor among those of the original.
    positions: Vec<usize>,
}

impl ToldFactors {
    /// The factors called `names` (all where there are none), of which those called `continuous` are continuous.
    pub fn new(original: Box<dyn Dataset>, names: Option<&[String]>, continuous: &[String]) -> Result<Self> {
        let space = original.factors();
        let positions: Vec<usize> = match names {
            None => (0..space.n_factors()).collect(),
            Some(names) => names.iter().map(|name| space.position(name)).collect::<Result<_>>()?,
        };
        if positions.is_empty() && names.is_some() {
            return Err(Error::new("setting \"factors\" names none").help("wanted a list like [\"shape\", \"scale\"]"));
        }
        if let Some(repeated) = (1..positions.len()).find(|&at| positions[..at].contains(&positions[at])) {
            let name = &space.factors()[positions[repeated]].name;
            return Err(Error::new(format!("setting \"factors\" names \"{name}\" twice")).help("name each factor once"));
        }
        let mut told: Vec<Factor> = positions.iter().map(|&position| space.factors()[position].clone()).collect();
        let unordered = original.unordered_factors();
        for name in continuous {
            let Some(at) = told.iter().position(|factor| &factor.name == name) else {
                space.position(name)?;
                return Err(Error::new(format!(
                    "factor \"{name}\" is to be continuous, but \"factors\" leaves it out"
                ))
                .help("name it in both, or in neither"));
            };
            if unordered.contains(&positions[at]) {
                return Err(Error::new(format!("factor \"{name}\" cannot be continuous: its values have no order"))
                    .help("leave it out of \"continuous\""));
            }
            told[at].size = None;
        }
        let is_same = told == space.factors();
        let factors = if is_same { space.clone() } else { FactorSpace::sample(told) };
        Ok(Self { original, factors, positions })
    }
}

impl Dataset for ToldFactors {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        self.original.image_shape()
    }

    fn n_images(&self) -> usize {
        self.original.n_images()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.original.read_image(index, pixels)
    }

    fn holds_bytes(&self) -> bool {
        self.original.holds_bytes()
    }

    fn has_unit_pixels(&self) -> bool {
        self.original.has_unit_pixels()
    }

    fn file_row(&self, index: usize) -> Option<usize> {
        self.original.file_row(index)
    }

    fn image_name(&self, index: usize) -> Option<String> {
        self.original.image_name(index)
    }

    fn unordered_factors(&self) -> Vec<usize> {
        let unordered = self.original.unordered_factors();
        (0..self.positions.len()).filter(|&told| unordered.contains(&self.positions[told])).collect()
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        let mut all = vec![0.0; self.original.factors().n_factors()];
        self.original.read_factors(index, &mut all);
        values.iter_mut().zip(&self.positions).for_each(|(value, &position)| *value = all[position]);
    }
}

#[cfg(test)]
mod tests {
    use crate::datasets::build;

    fn message(settings: &str) -> String {
        build("dsprites", &format!("rendered = true\n{settings}").parse().unwrap()).err().unwrap().to_string()
    }

    #[test]
    fn told_factors_keep_their_values() {
        let dataset = build(
            "dsprites",
            &"rendered = true\nfactors = ['pos_y', 'scale']\ncontinuous = ['pos_y']".parse().unwrap(),
        )
        .unwrap();
        let told: Vec<_> =
            dataset.factors().factors().iter().map(|factor| (factor.name.as_str(), factor.size)).collect();
        assert_eq!(told, [("pos_y", None), ("scale", Some(6))]);
        let mut values = [0.0; 2];
        dataset.read_factors(2 * 40_960 + 7, &mut values);
        assert_eq!((values, dataset.n_images()), ([7.0, 2.0], 737_280));
        assert!(dataset.factors().grid_sizes().is_err());
    }

    #[test]
    fn what_has_no_order_is_not_continuous() {
        assert!(message("continuous = ['shape']").starts_with("factor \"shape\" cannot be continuous"));
        assert!(message("factors = ['scale']\ncontinuous = ['pos_x']").contains("leaves it out"));
        assert!(message("factors = ['scal']").starts_with("no factor is called \"scal\"; did you mean \"scale\"?"));
        assert!(message("factors = []").starts_with("setting \"factors\" names none"));
        assert!(message("factors = ['scale', 'scale']").contains("twice"));
        assert!(message("fix = { pos_x = 1 }\ncontinuous = ['shape']").contains("cannot be continuous"));
    }
}
