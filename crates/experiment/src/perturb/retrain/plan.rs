//! Which runs are trained again, and with which configs: that of the given runs, with another framework, and the altered images in place of theirs.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use unbraid_data::{Error, Result};

use super::frameworks::{Retrained, SCORES};
use crate::config::{Config, Named};
use crate::perturb::PerturbFolder;

/// What is trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The images as they were.
    Original,
    /// The altered images.
    Perturbed,
    /// The images with noise.
    Noise,
}

impl Data {
    /// All, in the order of T4's tables.
    pub const ALL: [Self; 3] = [Self::Original, Self::Perturbed, Self::Noise];

    /// Its name in folders, tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Perturbed => "perturbed",
            Self::Noise => "noise",
        }
    }
}

/// One run that is wanted.
#[derive(Debug, Clone)]
pub struct Planned {
    /// What is minimised.
    pub framework: &'static Retrained,
    /// What is trained on.
    pub data: Data,
    /// The seed.
    pub seed: u64,
    /// By how much the main setting is multiplied.
    pub scale: f64,
    /// The whole config.
    pub config: Config,
    /// Where it goes, or where it is already.
    pub path: PathBuf,
}

/// All runs of the table: each framework on each data with each seed, and of the line search: each framework that has a main setting, at each
/// scale on the altered images. `given` are runs that are there, of which those with the same config are taken as they are.
pub fn plan(
    base: &Config,
    folder: &PerturbFolder,
    frameworks: &[&'static Retrained],
    n_seeds: u64,
    scales: &[f64],
    given: &[(PathBuf, Config)],
) -> Result<Vec<Planned>> {
    let mut planned = Vec::new();
    let mut add = |framework: &'static Retrained, data: Data, scale: f64| -> Result<()> {
        for seed in 1..=n_seeds {
            let config = config_of(base, folder, framework, data, seed, scale)?;
            let is_same = |(_, given): &&(PathBuf, Config)| trains_alike(given, &config);
            let path = match given.iter().find(is_same) {
                Some((path, _)) => path.clone(),
                None => folder.path().join("retrain").join(name_of(framework, data, seed, scale)),
            };
            planned.push(Planned { framework, data, seed, scale, config, path });
        }
        Ok(())
    };
    for framework in frameworks {
        Data::ALL.into_iter().try_for_each(|data| add(framework, data, 1.0))?;
    }
    for framework in frameworks.iter().filter(|framework| framework.main.is_some()) {
        // At a scale of 1 the runs of the table are those of the line search.
        scales.iter().filter(|scale| **scale != 1.0).try_for_each(|scale| add(framework, Data::Perturbed, *scale))?;
    }
    Ok(planned)
}

fn name_of(framework: &Retrained, data: Data, seed: u64, scale: f64) -> String {
    match scale == 1.0 {
        true => format!("{}-{}-s{seed}", framework.name, data.name()),
        false => format!("{}-x{scale}-{}-s{seed}", framework.name, data.name()),
    }
}

/// The config of one run.
fn config_of(
    base: &Config,
    folder: &PerturbFolder,
    framework: &Retrained,
    data: Data,
    seed: u64,
    scale: f64,
) -> Result<Config> {
    let mut table = base.to_table();
    table.insert("seed".to_string(), Value::Integer(seed as i64));
    match data {
        Data::Original => {}
        Data::Perturbed => drop(table.insert("dataset".to_string(), npz(&folder.perturbed_path()))),
        Data::Noise => drop(table.insert("dataset".to_string(), npz(&folder.noise_path()))),
    }
    if base.framework.name != framework.name {
        table.remove("sampler");
        table.insert("framework".to_string(), Value::Table(framework_table(base, framework)));
    }
    if let (Some((setting, _)), Some(Value::Table(table))) = (framework.main, table.get_mut("framework")) {
        let value = table.get(setting).cloned().unwrap_or(Value::Float(0.0));
        table.insert(setting.to_string(), scaled(value, scale));
    }
    let metrics = SCORES.iter().map(|name| Value::Table(Table::from_iter([("name".to_string(), text(name))])));
    table.insert("metrics".to_string(), Value::Array(metrics.collect()));
    Config::from_table(table).map_err(|error| {
        let name = framework.name;
        error.more_help(format!(
            "framework \"{name}\" cannot be trained as the given runs were; leave it out of --frameworks"
        ))
    })
}

/// The framework with the setting of table 4.1 and the reconstruction loss of the runs. Losses are sums, for which the table's settings are.
fn framework_table(base: &Config, framework: &Retrained) -> Table {
    let mut table = Table::from_iter([("name".to_string(), text(framework.name))]);
    if let Some((setting, value)) = framework.main {
        table.insert(setting.to_string(), Value::Float(value));
    }
    let loss = base.framework.settings.get("reconstruction").filter(|_| framework.takes_loss);
    table.extend(loss.map(|loss| ("reconstruction".to_string(), loss.clone())));
    table
}

/// A number times the scale, or a schedule both of whose ends are.
fn scaled(value: Value, scale: f64) -> Value {
    match value {
        Value::Float(number) => Value::Float(number * scale),
        Value::Integer(number) => Value::Float(number as f64 * scale),
        Value::Table(schedule) => {
            let scaled = |(key, value): (String, Value)| match key.as_str() {
                "from" | "to" => (key, scaled(value, scale)),
                _ => (key, value),
            };
            Value::Table(schedule.into_iter().map(scaled).collect())
        }
        other => other,
    }
}

fn npz(path: &Path) -> Value {
    let path = text(&path.display().to_string());
    Value::Table(Table::from_iter([("name".to_string(), text("npz")), ("path".to_string(), path)]))
}

fn text(text: &str) -> Value {
    Value::String(text.to_string())
}

/// Whether two configs train the same model and encode the same images.
fn trains_alike(given: &Config, wanted: &Config) -> bool {
    let trained = |config: &Config| {
        let mut config = Config { metrics: Vec::<Named>::new(), ..config.clone() };
        config.training.checkpoint_every = 1;
        config
    };
    trained(given) == trained(wanted)
}

/// The scales of a line search: numbers above 0, none of them twice.
pub fn check_scales(scales: &[f64]) -> Result<()> {
    let wrong = |scale: &&f64| !(**scale > 0.0 && **scale <= 1000.0);
    if let Some(scale) = scales.iter().find(wrong) {
        return Err(
            Error::new(format!("--line-search: {scale} is no scale of a setting")).help("wanted numbers above 0")
        );
    }
    match (1..scales.len()).find(|&position| scales[..position].contains(&scales[position])) {
        None => Ok(()),
        Some(twice) => {
            Err(Error::new(format!("--line-search: {} is named twice", scales[twice])).help("leave one out"))
        }
    }
}
