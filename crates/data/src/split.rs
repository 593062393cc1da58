//! The parts of a dataset: the images that are learned from, and those that are kept for validation and for a test.
//!
//! Loader, samplers and encoder share one [`Split`]. It follows from the number of images, the fractions and a seed of its
//! own, so that runs with other seeds are validated and tested on the same images: all images are put in a random order,
//! train images come first, then those of validation, then those of the test. A part ends at the sum of the fractions up
//! to it, times the number of images, rounded to the nearest whole number and a half upwards; fractions that sum to 1
//! leave out no image. Where all images are learned from, no table of their numbers is held.

use rand::seq::index;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::seed::Seed;

/// The tables of more images than this would take gigabytes.
const MOST_IMAGES: usize = 1 << 27;
/// Decimal fractions that should sum to 1 may sum to a little more.
const TOLERANCE: f64 = 1e-9;

/// Which share of the images belongs to each part. The default is no split: all images are learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fractions {
    /// The share that is learned from.
    pub train: f64,
    /// The share that scores are taken of while training.
    pub validation: f64,
    /// The share that the final scores are taken of.
    pub test: f64,
    /// Which images belong to which part.
    pub seed: u64,
}

impl Default for Fractions {
    fn default() -> Self {
        Self { train: 1.0, validation: 0.0, test: 0.0, seed: 1 }
    }
}

impl Fractions {
    /// Each fraction is between 0 and 1, and they sum to at most 1.
    pub fn check(&self) -> Result<()> {
        for (name, fraction) in self.named() {
            if !(0.0..=1.0).contains(&fraction) {
                return Err(Error::new(format!("setting \"{name}\" is {fraction}")).help("it takes 0 to 1"));
            }
        }
        let sum: f64 = self.named().iter().map(|(_, fraction)| fraction).sum();
        if sum > 1.0 + TOLERANCE {
            return Err(Error::new(format!(
                "train, validation and test are {}, {} and {}, together {sum}",
                self.train, self.validation, self.test
            ))
            .help("wanted fractions of the images that sum to at most 1"));
        }
        Ok(())
    }

    fn named(&self) -> [(&'static str, f64); 3] {
        [("train", self.train), ("validation", self.validation), ("test", self.test)]
    }

    /// Whether all images are learned from.
    fn is_whole(&self) -> bool {
        self.train == 1.0
    }
}

/// Some images of a dataset, in rising order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Images {
    /// All, 0 up to this number.
    All(usize),
    /// Those with these numbers, in rising order.
    Some(Vec<usize>),
}

impl Images {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::All(n_images) => *n_images,
            Self::Some(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the image at `position`, which is below `len`.
    pub fn number(&self, position: usize) -> usize {
        match self {
            Self::All(_) => position,
            Self::Some(numbers) => numbers[position],
        }
    }

    /// Whether image `number` is one of them.
    pub fn contains(&self, number: usize) -> bool {
        match self {
            Self::All(n_images) => number < *n_images,
            Self::Some(numbers) => numbers.binary_search(&number).is_ok(),
        }
    }

    /// Their numbers, in rising order.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        (0..self.len()).map(|position| self.number(position))
    }
}

/// The parts of a dataset. They share no image, and at least one image is learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    train: Images,
    validation: Images,
    test: Images,
}

impl Split {
    /// All `n_images` images are learned from, and no other part has any.
    pub fn all(n_images: usize) -> Self {
        let none = || Images::Some(Vec::new());
        Self { train: Images::All(n_images), validation: none(), test: none() }
    }

    /// Splits `n_images` images by these fractions. A part that is asked for has at least one image.
    ///
    /// ```
    /// use unbraid_data::Split;
    /// use unbraid_data::split::Fractions;
    ///
    /// let fractions = Fractions { train: 0.8, validation: 0.1, test: 0.1, seed: 1 };
    /// let split = Split::new(1000, &fractions)?;
    /// assert_eq!((split.train().len(), split.test().len()), (800, 100));
    /// # Ok::<(), unbraid_data::Error>(())
    /// ```
    pub fn new(n_images: usize, fractions: &Fractions) -> Result<Self> {
        fractions.check()?;
        if fractions.is_whole() {
            return Ok(Self::all(n_images));
        }
        if n_images > MOST_IMAGES {
            return Err(Error::new(format!("a dataset of {n_images} images is too large to be split")).help(format!(
                "wanted {MOST_IMAGES} images or fewer: hold a factor at a value (`fix`), or do not split"
            )));
        }
        let mut order = index::sample(&mut Seed(fractions.seed).stream("split"), n_images, n_images).into_vec();
        let (mut sum, mut first) = (0.0, 0);
        let mut parts = Vec::new();
        for (name, fraction) in fractions.named() {
            sum += fraction;
            let end = ((sum * n_images as f64).round() as usize).min(n_images);
            if end == first && (fraction > 0.0 || name == "train") {
                return Err(Error::new(format!(
                    "setting \"{name}\" is {fraction}, which of {n_images} images is none"
                ))
                .help("wanted a fraction that is at least one image"));
            }
            order[first..end].sort_unstable();
            parts.push(Images::Some(order[first..end].to_vec()));
            first = end;
        }
        let [train, validation, test] = <[Images; 3]>::try_from(parts).expect("there are three fractions");
        Ok(Self { train, validation, test })
    }

    /// The images that are learned from.
    pub fn train(&self) -> &Images {
        &self.train
    }

    /// The images that scores are taken of while training.
    pub fn validation(&self) -> &Images {
        &self.validation
    }

    /// The images that the final scores are taken of.
    pub fn test(&self) -> &Images {
        &self.test
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fractions(train: f64, validation: f64, test: f64) -> Fractions {
        Fractions { train, validation, test, ..Fractions::default() }
    }

    fn message(n_images: usize, fractions: &Fractions) -> String {
        Split::new(n_images, fractions).unwrap_err().to_string()
    }

    fn sizes(n_images: usize, train: f64, validation: f64, test: f64) -> [usize; 3] {
        let split = Split::new(n_images, &fractions(train, validation, test)).unwrap();
        [split.train().len(), split.validation().len(), split.test().len()]
    }

    #[test]
    fn parts_share_no_image_and_cover_all() {
        let split = Split::new(1003, &fractions(0.8, 0.1, 0.1)).unwrap();
        let parts = [split.train(), split.validation(), split.test()];
        let mut numbers: Vec<usize> = parts.iter().flat_map(|part| part.numbers()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..1003).collect::<Vec<_>>());
        for part in parts {
            assert!(part.numbers().collect::<Vec<_>>().is_sorted());
            assert!((0..1003).all(|number| part.contains(number) == part.numbers().any(|other| other == number)));
        }
    }

    #[test]
    fn parts_end_at_the_rounded_sums_of_the_fractions() {
        // 802.4, 902.7, 1003.
        assert_eq!(sizes(1003, 0.8, 0.1, 0.1), [802, 101, 100]);
        // 2.5 is rounded up.
        assert_eq!(sizes(5, 0.5, 0.5, 0.0), [3, 2, 0]);
        assert_eq!(sizes(10, 0.7, 0.2, 0.1), [7, 2, 1]);
        assert_eq!(sizes(100, 0.5, 0.25, 0.0), [50, 25, 0]);
    }

    #[test]
    fn another_test_part_leaves_the_train_images_and_another_seed_does_not() {
        let split = |fractions: Fractions| Split::new(200, &fractions).unwrap();
        let whole = split(fractions(0.8, 0.1, 0.1));
        assert_eq!(whole.train(), split(fractions(0.8, 0.0, 0.15)).train());
        assert_eq!(whole, split(fractions(0.8, 0.1, 0.1)));
        assert_ne!(whole.train(), split(Fractions { seed: 2, ..fractions(0.8, 0.1, 0.1) }).train());
    }

    #[test]
    fn no_split_holds_no_table() {
        assert_eq!(Split::new(1 << 36, &Fractions::default()).unwrap(), Split::all(1 << 36));
        let all = Split::all(10);
        assert_eq!((all.train(), all.train().number(9), all.train().contains(10)), (&Images::All(10), 9, false));
        assert!(all.validation().is_empty() && all.test().is_empty());
    }

    #[test]
    fn fractions_that_cannot_be_met_are_refused() {
        assert_eq!(message(10, &fractions(1.1, 0.0, 0.0)), "setting \"train\" is 1.1\n       it takes 0 to 1");
        assert!(message(10, &fractions(f64::NAN, 0.0, 0.0)).starts_with("setting \"train\" is NaN"));
        assert!(message(10, &fractions(0.5, -0.1, 0.0)).starts_with("setting \"validation\" is -0.1"));
        assert_eq!(
            message(10, &fractions(0.75, 0.25, 0.25)),
            "train, validation and test are 0.75, 0.25 and 0.25, together 1.25\n       \
             wanted fractions of the images that sum to at most 1"
        );
        assert!(
            message(10, &fractions(0.0, 0.5, 0.5)).starts_with("setting \"train\" is 0, which of 10 images is none")
        );
        assert!(message(10, &fractions(0.9, 0.01, 0.0)).starts_with("setting \"validation\" is 0.01, which of 10"));
        assert!(message(1 << 36, &fractions(0.5, 0.5, 0.0)).contains("too large to be split"));
    }
}
