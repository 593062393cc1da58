//! What decides how a kernel is learned: a dataset and `[kernel]`, one TOML file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use unbraid_data::error::did_you_mean;
use unbraid_data::settings::check_range;
use unbraid_data::{Dataset, Error, Result, datasets, settings};
use unbraid_distances::kernel_file::MOST_SIDE;
use unbraid_learn::schedule::Schedule;
use unbraid_report::whole_file::read_text;

use crate::config::{Named, in_place, parse_toml, section};

const KEYS: &[&str] = &["dataset", "kernel"];
/// The radius of the largest kernel that is read again.
const MOST_RADIUS: usize = MOST_SIDE / 2;
/// More pixels than this in a batch would take gigabytes: images, filtered images, spectra and gradients.
const MOST_BATCH_PIXELS: usize = 1 << 26;
/// Distances of pairs are kept for each piece of the images.
const MOST_PAIRS: usize = 1 << 20;

/// All that decides a learned kernel, with every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelConfig {
    /// Whose factors the distances should follow.
    pub dataset: Named,
    /// The kernel, and how it is learned.
    pub kernel: KernelSettings,
}

/// The kernel, and how it is learned. The defaults are those of T1's experiments (section 6.1 and its code), with fewer steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelSettings {
    /// How far the kernel reaches to each side.
    pub radius: usize,
    /// How often it is changed.
    pub steps: u64,
    /// Images of a step; all images where there are fewer.
    pub batch_size: usize,
    /// Pairs of these images that are compared, drawn with replacement.
    pub pairs: usize,
    /// Adam's step size.
    pub learning_rate: Schedule,
    /// Whether distances should go against the factors rather than with them.
    pub adversarial: bool,
    /// How factors are compared.
    pub factor_distance: FactorDistance,
    /// Regularisation strength of the soft ranks.
    pub strength: f64,
    /// Weight of how far the kernel is from its mirror images.
    pub symmetry: f64,
    /// Weight of the mean squared tap.
    pub decay: f64,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
}

/// How factors of two images are compared: the sum of the differences of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorDistance {
    /// Each divided by the greatest that it can be, `size - 1` (T1 6.1); continuous factors as they are.
    Scaled,
    /// As they are (the code of T1).
    Unscaled,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            radius: 31,
            steps: 3000,
            batch_size: 512,
            pairs: 4096,
            learning_rate: Schedule::Constant(1e-3),
            adversarial: false,
            factor_distance: FactorDistance::Scaled,
            strength: 0.01,
            symmetry: 1.0,
            decay: 1e-3,
            seed: 1,
            checkpoint_every: 100,
        }
    }
}

impl KernelConfig {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path)?).map_err(|error| error.at(path.display()))
    }

    /// Reads the text of a config.
    ///
    /// ```
    /// use unbraid_experiment::kernel_learning::KernelConfig;
    ///
    /// let config = KernelConfig::parse("[dataset]\nname = 'xy_squares'\n[kernel]\nradius = 15")?;
    /// assert_eq!((config.kernel.radius, config.kernel.pairs), (15, 4096));
    /// # Ok::<(), unbraid_data::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        Self::from_table(parse_toml(text)?)
    }

    /// Reads the table of a config.
    pub fn from_table(mut table: Table) -> Result<Self> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let message = format!("the config of a kernel has no \"{key}\"{}", did_you_mean(key, KEYS.iter().copied()));
            return Err(Error::new(message).help("it has [dataset] and [kernel]"));
        }
        let dataset = Named::take(&mut table, "dataset", None)?.complete("[dataset]", datasets::complete)?;
        let kernel = section(&mut table, "kernel")?.unwrap_or_default();
        let kernel = settings::read::<KernelSettings>(&kernel).and_then(KernelSettings::check);
        Ok(Self { dataset, kernel: kernel.map_err(|error| error.of("[kernel]"))? })
    }

    /// The whole config as TOML; reading it back gives the same config.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_table()).expect("a table of numbers, strings and tables is TOML")
    }

    /// Opens the dataset, and refuses one that no kernel can be learned from.
    pub fn open(&self) -> Result<Box<dyn Dataset>> {
        let dataset = datasets::build(&self.dataset.name, &self.dataset.settings);
        let dataset = dataset.map_err(|error| in_place(error, "[dataset]"))?;
        self.check_dataset(dataset.as_ref())?;
        Ok(dataset)
    }

    /// The first setting that is not that of another config, with both values.
    pub fn difference(&self, other: &Self) -> Option<(String, String, String)> {
        let (own, other) = (self.to_table(), other.to_table());
        KEYS.iter().find_map(|section| {
            let [own, other] = [&own, &other].map(|table| table[*section].as_table().cloned().unwrap_or_default());
            let key = own.keys().chain(other.keys()).find(|key| own.get(*key) != other.get(*key))?.clone();
            let shown = |table: &Table| table.get(&key).map_or("left out".to_string(), Value::to_string);
            Some((format!("{section}.{key}"), shown(&own), shown(&other)))
        })
    }

    /// The whole config as a table.
    pub fn to_table(&self) -> Table {
        Table::from_iter([
            ("dataset".to_string(), Value::Table(self.dataset.to_table())),
            ("kernel".to_string(), Value::Table(settings::as_table(&self.kernel))),
        ])
    }

    fn check_dataset(&self, dataset: &dyn Dataset) -> Result<()> {
        let (name, shape, radius) = (&self.dataset.name, dataset.image_shape(), self.kernel.radius);
        let varies = |size: Option<usize>| size.is_none_or(|size| size > 1);
        if !dataset.factors().factors().iter().any(|factor| varies(factor.size)) {
            return Err(Error::new(format!(
                "dataset \"{name}\" has no factors that vary, and a kernel is learned from them"
            ))
            .help("use a dataset with factors; `unbraid data list` prints them"));
        }
        if dataset.n_images() < 2 {
            return Err(Error::new(format!(
                "dataset \"{name}\" has {} image, and there is no pair to compare",
                dataset.n_images()
            ))
            .help("wanted 2 images or more"));
        }
        let reach = shape.height.max(shape.width).saturating_sub(1);
        if radius > reach {
            let message =
                format!("a kernel of radius {radius} reaches beyond images of {} x {}", shape.height, shape.width);
            let wanted = if reach == 0 {
                "wanted images of more than one pixel".to_string()
            } else {
                format!("wanted a \"radius\" of {reach} or less")
            };
            return Err(Error::new(message).help(wanted));
        }
        let batch = self.kernel.batch_size.min(dataset.n_images());
        if batch.saturating_mul(shape.n_pixels()) > MOST_BATCH_PIXELS {
            return Err(Error::new(format!("a batch of {batch} images of {} pixels is too large", shape.n_pixels()))
                .help(format!("wanted a \"batch_size\" of {} or fewer", MOST_BATCH_PIXELS / shape.n_pixels())));
        }
        Ok(())
    }
}

impl KernelSettings {
    fn check(self) -> Result<Self> {
        check_range("radius", self.radius, 1, MOST_RADIUS)?;
        check_range("steps", self.steps, 1, u64::MAX >> 1)?;
        check_range("batch_size", self.batch_size, 2, MOST_BATCH_PIXELS)?;
        check_range("pairs", self.pairs, 2, MOST_PAIRS)?;
        self.learning_rate.check("learning_rate", 0.0, 1e6)?;
        check_range("strength", self.strength, 1e-9, 1e9)?;
        check_range("symmetry", self.symmetry, 0.0, 1e9)?;
        check_range("decay", self.decay, 0.0, 1e9)?;
        check_range("checkpoint_every", self.checkpoint_every, 1, u64::MAX >> 1)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kernel: &str) -> String {
        let text = format!("[dataset]\nname = 'xy_squares'\nsquares = 1\n[kernel]\n{kernel}");
        let opened = KernelConfig::parse(&text).and_then(|config| config.open());
        opened.err().expect("it is refused").to_string().lines().next().unwrap().to_string()
    }

    #[test]
    fn the_whole_config_reads_back_as_itself() {
        let config =
            KernelConfig::parse("[dataset]\nname = 'dsprites'\n[kernel]\nradius = 7\nadversarial = true").unwrap();
        assert_eq!(KernelConfig::parse(&config.to_toml()).unwrap(), config);
        assert_eq!(config.difference(&config), None);
        let other = KernelConfig { kernel: KernelSettings { radius: 9, ..config.kernel.clone() }, ..config.clone() };
        assert_eq!(config.difference(&other), Some(("kernel.radius".into(), "7".into(), "9".into())));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(message("radus = 3"), "[kernel] has no setting \"radus\"; did you mean \"radius\"?");
        assert_eq!(message("radius = 0"), "[kernel] setting \"radius\" is 0");
        assert_eq!(message("radius = 128"), "[kernel] setting \"radius\" is 128");
        assert_eq!(message("radius = 64"), "a kernel of radius 64 reaches beyond images of 64 x 64");
        assert_eq!(message("batch_size = 1"), "[kernel] setting \"batch_size\" is 1");
        assert_eq!(
            message("factor_distance = 'scale'"),
            "[kernel] setting \"factor_distance\": found \"scale\", wanted one of scaled, unscaled; did you mean \"scaled\"?"
        );
        let other = KernelConfig::parse("[datasets]\nname = 'xy_squares'").unwrap_err().to_string();
        assert!(other.starts_with("the config of a kernel has no \"datasets\"; did you mean \"dataset\"?"), "{other}");
    }
}
