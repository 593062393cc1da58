//! Some images of a dataset: the settings `subset` and `correlate` that every dataset takes.
//!
//! `subset` keeps a number of images drawn by a seed, or those that a file numbers. `correlate` keeps combinations of two factors
//! by a rule, as studies of correlated training data do: Träuble et al. 2021, "On disentangled representations learned from
//! correlated data", let two factors a and b, scaled to [0, 1], come together in proportion to exp(-(a - b)^2 / (2 sigma^2)). Here
//! each image is kept with that probability (`sigma`), or where |a - b| is at most `band`. The images that are left no longer
//! form a grid, but keep their factors.

use rand::RngExt;
use rand::seq::index;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::datasets::{Dataset, ImageShape};
use crate::error::{Error, Result};
use crate::factor_space::FactorSpace;
use crate::file_errors::check_is_file;
use crate::npy::read_indices;
use crate::seed::Seed;
use crate::settings;

/// The numbers of more images than this would take gigabytes.
const MOST_IMAGES: usize = 1 << 27;

/// Some images of a dataset.
pub struct Subset {
    whole: Box<dyn Dataset>,
    factors: FactorSpace,
    /// The numbers in the whole dataset, in rising order.
    numbers: Vec<usize>,
}

impl Subset {
    /// The images that `subset` names: a table of `count` and `seed`, or the path of a file of numbers.
    pub fn drawn(whole: Box<dyn Dataset>, subset: &Value) -> Result<Self> {
        let n_images = whole.n_images();
        let numbers = match subset {
            Value::String(path) => numbers_in_file(path, n_images)?,
            Value::Table(table) => {
                let drawn: Drawn = settings::read(table).map_err(|error| error.of("setting \"subset\""))?;
                drawn.numbers(n_images)?
            }
            other => {
                return Err(Error::new(format!("setting \"subset\" is {other}"))
                    .help("wanted { count = 1000, seed = 1 }, or the path of an .npy file of image numbers"));
            }
        };
        Ok(Self::new(whole, numbers))
    }

    /// The images that the rule `correlate` keeps.
    pub fn correlated(whole: Box<dyn Dataset>, correlate: &Table) -> Result<Self> {
        let of = |error: Error| error.of("setting \"correlate\"");
        let rule: Correlation = settings::read(correlate).map_err(of)?;
        let numbers = rule.numbers(whole.as_ref()).map_err(of)?;
        Ok(Self::new(whole, numbers))
    }

    fn new(whole: Box<dyn Dataset>, numbers: Vec<usize>) -> Self {
        let factors = match numbers.len() == whole.n_images() {
            true => whole.factors().clone(),
            false => FactorSpace::sample(whole.factors().factors().to_vec()),
        };
        Self { whole, factors, numbers }
    }
}

impl Dataset for Subset {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        self.whole.image_shape()
    }

    fn n_images(&self) -> usize {
        self.numbers.len()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.whole.read_image(self.numbers[index], pixels)
    }

    fn holds_bytes(&self) -> bool {
        self.whole.holds_bytes()
    }

    fn has_unit_pixels(&self) -> bool {
        self.whole.has_unit_pixels()
    }

    fn file_row(&self, index: usize) -> Option<usize> {
        self.whole.file_row(self.numbers[index])
    }

    fn image_name(&self, index: usize) -> Option<String> {
        self.whole.image_name(self.numbers[index])
    }

    fn unordered_factors(&self) -> Vec<usize> {
        self.whole.unordered_factors()
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        self.whole.read_factors(self.numbers[index], values);
    }
}

/// A number of images, drawn by a seed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Drawn {
    count: usize,
    seed: u64,
}

impl Default for Drawn {
    fn default() -> Self {
        Self { count: 0, seed: 1 }
    }
}

impl Drawn {
    fn numbers(&self, n_images: usize) -> Result<Vec<usize>> {
        if !(1..=n_images.min(MOST_IMAGES)).contains(&self.count) {
            return Err(Error::new(format!("setting \"subset\": {} images are asked for, of {n_images}", self.count))
                .help(format!("wanted a count of 1 to {}", n_images.min(MOST_IMAGES))));
        }
        let mut numbers = index::sample(&mut Seed(self.seed).stream("subset"), n_images, self.count).into_vec();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn numbers_in_file(path: &str, n_images: usize) -> Result<Vec<usize>> {
    check_is_file(path.as_ref())?;
    let mut numbers = read_indices(path.as_ref())?;
    numbers.sort_unstable();
    let at = |message: String| Error::new(message).at(path);
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(at(format!("image {} is named twice", pair[0])).help("name every image once"));
    }
    match numbers.last() {
        None => Err(at("no image is named".to_string()).help("wanted image numbers, from 0")),
        Some(&last) if last >= n_images => Err(at(format!("there is no image {last}: the dataset has {n_images}"))
            .help(format!("they are numbered 0 to {}", n_images - 1))),
        Some(_) => Ok(numbers),
    }
}

/// A rule between two factors.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Correlation {
    /// Which two.
    factors: Vec<String>,
    /// The spread of their difference: images are kept by chance.
    sigma: Option<f64>,
    /// The largest difference that is kept.
    band: Option<f64>,
    /// Decides which images are kept by chance; 1 where left out.
    seed: Option<u64>,
}

impl Correlation {
    fn numbers(&self, whole: &dyn Dataset) -> Result<Vec<usize>> {
        let [first, second] = self.positions(whole)?;
        let n_images = whole.n_images();
        if n_images > MOST_IMAGES {
            return Err(Error::new(format!("cannot go through {n_images} images"))
                .help(format!("wanted {MOST_IMAGES} images or fewer: hold a factor at a value (`fix`)")));
        }
        let keeps = self.rule()?;
        let mut rng = Seed(self.seed.unwrap_or(1)).stream("correlate");
        let mut values = vec![0.0; whole.factors().n_factors()];
        let mut numbers = Vec::new();
        for number in 0..n_images {
            whole.read_factors(number, &mut values);
            // Drawn for every image, so that a rule that keeps more keeps those of one that keeps fewer.
            let chance: f64 = rng.random();
            if keeps(values[first.0] / first.1 - values[second.0] / second.1, chance) {
                numbers.push(number);
            }
        }
        if numbers.is_empty() {
            return Err(Error::new("keeps no image").help("make sigma or band larger"));
        }
        Ok(numbers)
    }

    /// The positions of the two factors, and their largest values.
    fn positions(&self, whole: &dyn Dataset) -> Result<[(usize, f64); 2]> {
        let [first, second] = self.factors.as_slice() else {
            return Err(Error::new(format!("names {} factors", self.factors.len()))
                .help("wanted two, like factors = [\"scale\", \"pos_x\"]"));
        };
        if first == second {
            return Err(Error::new(format!("names \"{first}\" twice")).help("wanted two factors"));
        }
        let place = |name: &String| {
            let position = whole.factors().position(name)?;
            match whole.factors().factors()[position].size {
                Some(size) if size > 1 => Ok((position, (size - 1) as f64)),
                _ => Err(Error::new(format!("names \"{name}\", which does not take several values"))
                    .help("wanted discrete factors of two values or more")),
            }
        };
        Ok([place(first)?, place(second)?])
    }

    /// Whether a difference of the two, each in [0, 1], is kept, with this chance between 0 and 1.
    fn rule(&self) -> Result<Box<dyn Fn(f64, f64) -> bool>> {
        match (self.sigma, self.band) {
            (Some(sigma), None) if sigma > 0.0 && sigma.is_finite() => Ok(Box::new(move |difference, chance| {
                chance < (-difference * difference / (2.0 * sigma * sigma)).exp()
            })),
            // Fractions of sizes are rounded.
            (None, Some(_)) if self.seed.is_some() => {
                Err(Error::new("has a seed, but a band leaves nothing to chance").help("leave the seed out"))
            }
            (None, Some(band)) if (0.0..=1.0).contains(&band) => {
                Ok(Box::new(move |difference: f64, _| difference.abs() <= band + 1e-9))
            }
            _ => Err(Error::new("has no rule").help(
                "wanted sigma = 0.2 (each image is kept by chance; above 0) or band = 0.25 (0 to 1), and not both",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;
    use crate::datasets::build;

    fn built(settings: &str) -> Box<dyn Dataset> {
        build("dsprites", &format!("rendered = true\n{settings}").parse().unwrap()).unwrap()
    }

    fn message(settings: &str) -> String {
        build("dsprites", &format!("rendered = true\n{settings}").parse().unwrap()).err().unwrap().to_string()
    }

    fn factors(dataset: &dyn Dataset, index: usize) -> Vec<f64> {
        let mut values = vec![0.0; dataset.factors().n_factors()];
        dataset.read_factors(index, &mut values);
        values
    }

    const SMALL: &str = "fix = { shape = 0, orientation = 0 }\n"; // scale 6, pos_x 32, pos_y 32

    #[test]
    fn a_count_of_images_is_drawn_once_and_for_all() {
        let part = built(&format!("{SMALL}subset = {{ count = 100 }}"));
        assert_eq!((part.n_images(), part.factors().is_grid()), (100, false));
        assert_eq!(factors(&*part, 50), factors(&*built(&format!("{SMALL}subset = {{ count = 100 }}")), 50));
        let other = built(&format!("{SMALL}subset = {{ count = 100, seed = 2 }}"));
        assert!((0..100).any(|index| factors(&*part, index) != factors(&*other, index)));
        assert!(built(&format!("{SMALL}subset = {{ count = 6144 }}")).factors().is_grid());
        assert!(message(&format!("{SMALL}subset = {{ count = 6145 }}")).contains("6145 images are asked for, of 6144"));
        assert!(message("subset = 5").starts_with("setting \"subset\" is 5"));
        assert!(
            message("subset = { cont = 5 }").starts_with("setting \"subset\" has no setting \"cont\"; did you mean")
        );
    }

    #[test]
    fn a_file_numbers_the_images() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("rows.npy");
        let write = |numbers: &[i64]| crate::npy::write_file(&path, &ndarray::arr1(numbers)).unwrap();
        let settings = format!("{SMALL}subset = '{}'", path.display());
        write(&[1030, 3]);
        let part = built(&settings);
        // 1030 is scale 1, pos_x 0, pos_y 6.
        assert_eq!([factors(&*part, 0), factors(&*part, 1)], [[0.0, 0.0, 3.0], [1.0, 0.0, 6.0]]);
        write(&[3, 3]);
        assert!(message(&settings).contains("image 3 is named twice"));
        write(&[6144]);
        assert!(message(&settings).contains("there is no image 6144"));
    }

    #[test]
    fn a_band_keeps_what_the_rule_says() {
        let part = built(&format!("{SMALL}correlate = {{ factors = ['pos_x', 'pos_y'], band = 0.0 }}"));
        assert_eq!(part.n_images(), 6 * 32);
        assert!((0..part.n_images()).all(|index| factors(&*part, index)[1] == factors(&*part, index)[2]));
        // Scale k/5 and position j/31 within 0.1: k = 0 meets j = 0 to 3, and k = 1 (6.2) j = 4 to 9 (3.1 to 9.3).
        let part = built(&format!("{SMALL}correlate = {{ factors = ['scale', 'pos_x'], band = 0.1 }}"));
        let kept = |scale: f64| (0..part.n_images()).filter(|&index| factors(&*part, index)[0] == scale).count() / 32;
        assert_eq!([kept(0.0), kept(1.0)], [4, 6]);
    }

    #[test]
    fn a_spread_keeps_images_in_the_proportion_of_the_paper() {
        let part = built(&format!("{SMALL}correlate = {{ factors = ['pos_x', 'pos_y'], sigma = 0.2 }}"));
        let mut counts = [0.0; 32]; // by |pos_x - pos_y|
        for index in 0..part.n_images() {
            let values = factors(&*part, index);
            counts[(values[1] - values[2]).abs() as usize] += 1.0;
        }
        for (apart, count) in counts.iter().enumerate() {
            let n_pairs = 6.0 * if apart == 0 { 32.0 } else { 2.0 * (32 - apart) as f64 };
            let chance = (-(apart as f64 / 31.0).powi(2) / (2.0 * 0.04)).exp();
            let spread = (n_pairs * chance * (1.0 - chance)).sqrt();
            assert!((count - n_pairs * chance).abs() <= 5.0 * spread + 1e-9, "{apart}: {count}");
        }
    }

    #[test]
    fn a_rule_that_is_none_is_refused() {
        assert!(message("correlate = { factors = ['shape'] }").contains("names 1 factors"));
        assert!(message("correlate = { factors = ['shape', 'shap'], band = 0.1 }").contains("did you mean \"shape\"?"));
        assert!(message("correlate = { factors = ['shape', 'scale'] }").contains("has no rule"));
        assert!(
            message("correlate = { factors = ['shape', 'scale'], sigma = 0.1, band = 0.1 }").contains("has no rule")
        );
        assert!(message("correlate = { factors = ['shape', 'scale'], sigma = 0.0 }").contains("has no rule"));
        assert!(message("correlate = 3").starts_with("setting \"correlate\" is 3"));
    }
}
