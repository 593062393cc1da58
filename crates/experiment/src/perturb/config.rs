//! What decides a perturbation: `[perturb]`, and the runs whose models it is made with, one TOML file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use unbraid_data::error::did_you_mean;
use unbraid_data::settings::check_range;
use unbraid_data::{Error, Result, settings};
use unbraid_report::whole_file::read_text;

use super::bytes::most_change;
use crate::config::{MOST_LEARNING_RATE, parse_toml, section};

const KEYS: &[&str] = &["chosen_by", "images", "perturb", "runs"];
/// A larger change is none that images barely show.
const MOST_EPSILON: f64 = 0.5;
/// As many as T4 4.3.1 tries.
const MOST_PAIRS: usize = 4;
const MOST_SAMPLES: usize = 100;
const MOST_BATCHES: usize = 100;

/// All that decides a perturbation, with every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbConfig {
    /// How images are changed, and how that is learned.
    pub perturb: PerturbSettings,
    /// The metric that chose among the runs, and its settings: `mig`, or `udr` where the images have no factors.
    pub chosen_by: String,
    /// The fingerprint of the images.
    pub images: String,
    /// The runs, in the order in which they were given.
    pub runs: Vec<GivenRun>,
}

/// How images are changed, and how that is learned. The defaults are those of T4 4.3.1; it does not tell the number of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerturbSettings {
    /// How much a pixel changes at most.
    pub epsilon: f64,
    /// How often the manipulation network is changed.
    pub steps: u64,
    /// Images of a batch; all images where there are fewer.
    pub batch_size: usize,
    /// Latents that are drawn for each image.
    pub samples: usize,
    /// Batches that the decoders learn from for each one of the manipulation network.
    pub decoder_batches: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// How many of the most and of the least disentangled models take part.
    pub pairs: usize,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
}

/// A run that was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GivenRun {
    /// Its folder.
    pub path: PathBuf,
    /// Its score by what chose among the runs.
    pub score: f64,
    /// What it is taken for.
    pub side: Side,
    /// The CRC-32 of its model, eight hexadecimal digits.
    pub model: String,
}

/// What a run is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// One of the least disentangled.
    Entangled,
    /// One of the most disentangled.
    Disentangled,
    /// It takes no part.
    Between,
}

impl Default for PerturbSettings {
    fn default() -> Self {
        Self {
            epsilon: 0.1,
            steps: 3000,
            batch_size: 64,
            samples: 5,
            decoder_batches: 3,
            learning_rate: 1e-4,
            pairs: 1,
            seed: 1,
            checkpoint_every: 100,
        }
    }
}

impl PerturbSettings {
    /// Reads the table `[perturb]`.
    pub fn read(table: &Table) -> Result<Self> {
        settings::read::<Self>(table).and_then(Self::check).map_err(|error| error.of("[perturb]"))
    }

    fn check(self) -> Result<Self> {
        if most_change(self.epsilon) == 0 || !(0.0..=MOST_EPSILON).contains(&self.epsilon) {
            return Err(Error::new(format!("setting \"epsilon\" is {}", self.epsilon)).help(format!(
                "wanted 1/255 = {} to {MOST_EPSILON}, of pixels from 0 to 1: a byte of a pixel changes by 1 at least",
                1.0 / 255.0
            )));
        }
        check_range("steps", self.steps, 1, u64::MAX >> 1)?;
        check_range("batch_size", self.batch_size, 1, 1 << 20)?;
        check_range("samples", self.samples, 1, MOST_SAMPLES)?;
        check_range("decoder_batches", self.decoder_batches, 1, MOST_BATCHES)?;
        check_range("learning_rate", self.learning_rate, 0.0, MOST_LEARNING_RATE)?;
        check_range("pairs", self.pairs, 1, MOST_PAIRS)?;
        check_range("checkpoint_every", self.checkpoint_every, 1, u64::MAX >> 1)?;
        Ok(self)
    }
}

impl PerturbConfig {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path)?).map_err(|error| error.at(path.display()))
    }

    /// Reads the text of a config.
    pub fn parse(text: &str) -> Result<Self> {
        let mut table = parse_toml(text)?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let close = did_you_mean(key, KEYS.iter().copied());
            return Err(Error::new(format!("the config of a perturbation has no \"{key}\"{close}"))
                .help(format!("it has {}", KEYS.join(", "))));
        }
        let perturb = PerturbSettings::read(&section(&mut table, "perturb")?.unwrap_or_default())?;
        let mut text_of = |key: &str| match table.remove(key) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(Error::new(format!("\"{key}\" is missing")).help("wanted text")),
        };
        let (chosen_by, images) = (text_of("chosen_by")?, text_of("images")?);
        let runs = table.remove("runs").map_or(Ok(Vec::new()), Value::try_into);
        let runs = runs.map_err(|error| Error::new(format!("[[runs]]: {}", error.message())))?;
        Ok(Self { perturb, chosen_by, images, runs })
    }

    /// The whole config as TOML; reading it back gives the same config.
    pub fn to_toml(&self) -> String {
        let runs = self.runs.iter().map(|run| Value::try_from(run).expect("a run is text and numbers")).collect();
        let table = Table::from_iter([
            ("chosen_by".to_string(), Value::String(self.chosen_by.clone())),
            ("images".to_string(), Value::String(self.images.clone())),
            ("perturb".to_string(), Value::Table(settings::as_table(&self.perturb))),
            ("runs".to_string(), Value::Array(runs)),
        ]);
        toml::to_string(&table).expect("a table of numbers, strings and tables is TOML")
    }

    /// What a checkpoint is made with: the config without the places of the runs, which may move.
    pub fn origin(&self) -> String {
        let runs = self.runs.iter().map(|run| GivenRun { path: PathBuf::new(), ..run.clone() }).collect();
        Self { runs, ..self.clone() }.to_toml()
    }

    /// The runs of a side, the farthest out first.
    pub fn of_side(&self, side: Side) -> Vec<&GivenRun> {
        let mut runs: Vec<&GivenRun> = self.runs.iter().filter(|run| run.side == side).collect();
        match side {
            Side::Disentangled => runs.sort_by(|a, b| b.score.total_cmp(&a.score)),
            Side::Entangled | Side::Between => runs.sort_by(|a, b| a.score.total_cmp(&b.score)),
        }
        runs
    }

    /// In what this config differs from the one that a folder was begun with: what, the value now, and then.
    pub fn difference(&self, begun: &Self) -> Option<(String, String, String)> {
        let [now, then] = [self, begun].map(|config| settings::as_table(&config.perturb));
        if let Some(key) = now.keys().find(|key| now.get(*key) != then.get(*key)) {
            let shown = |table: &Table| table.get(key).map_or("left out".to_string(), Value::to_string);
            return Some((format!("perturb.{key}"), shown(&now), shown(&then)));
        }
        let joined = |config: &Self, text: &dyn Fn(&GivenRun) -> String| {
            config.runs.iter().map(text).collect::<Vec<_>>().join(", ")
        };
        let models = |config: &Self| joined(config, &|run| run.model.clone());
        let scores = |config: &Self| joined(config, &|run| run.score.to_string());
        let rest = [
            ("images", self.images.clone(), begun.images.clone()),
            ("the models of the runs, in their order", models(self), models(begun)),
            ("chosen_by", self.chosen_by.clone(), begun.chosen_by.clone()),
            ("the scores of the runs", scores(self), scores(begun)),
        ];
        let differs = rest.into_iter().find(|(_, now, then)| now != then);
        differs.map(|(what, now, then)| (what.to_string(), now, then))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<PerturbSettings> {
        PerturbSettings::read(&text.parse().unwrap())
    }

    #[test]
    fn a_config_reads_back_the_same() {
        let run = |path: &str, score, side| GivenRun { path: path.into(), score, side, model: "0a1b2c3d".into() };
        let config = PerturbConfig {
            perturb: PerturbSettings { epsilon: 0.175, pairs: 2, ..PerturbSettings::default() },
            chosen_by: "mig".into(),
            images: "12345678".into(),
            runs: vec![
                run("a", 0.25, Side::Disentangled),
                run("b c", 0.0, Side::Entangled),
                run("d", 0.1, Side::Between),
            ],
        };
        let read = PerturbConfig::parse(&config.to_toml()).unwrap();
        assert_eq!(read, config);
        assert_eq!(read.of_side(Side::Entangled)[0].path, Path::new("b c"));
        let mut moved = config.clone();
        moved.runs[0].path = "elsewhere".into();
        assert_eq!((moved.difference(&config), moved.origin()), (None, config.origin()));
        let longer =
            PerturbConfig { perturb: PerturbSettings { steps: 9, ..config.perturb.clone() }, ..config.clone() };
        assert_eq!(longer.difference(&config), Some(("perturb.steps".into(), "9".into(), "3000".into())));
        moved.runs[0].model = "ffffffff".into();
        assert_eq!(moved.difference(&config).unwrap().0, "the models of the runs, in their order");
    }

    #[test]
    fn changes_that_bytes_cannot_show_or_that_are_not_small_are_refused() {
        for epsilon in ["0.0", "-0.1", "0.51", "nan", "inf", "0.0039"] {
            let message = config(&format!("epsilon = {epsilon}")).unwrap_err().to_string();
            assert!(message.starts_with("[perturb] setting \"epsilon\" is"), "{message}");
        }
        for epsilon in [1.0 / 255.0, 0.1, 0.5] {
            assert_eq!(config(&format!("epsilon = {epsilon:?}")).unwrap().epsilon, epsilon);
        }
        assert!(config("pairs = 5").unwrap_err().to_string().starts_with("[perturb] setting \"pairs\" is 5"));
        assert!(config("epsilom = 1").unwrap_err().to_string().contains("did you mean \"epsilon\"?"));
    }
}
