//! Which runs are trained again, and with which configs: that of the given runs, with another framework, and the altered images in place of theirs.
//! Runs that earlier calls trained are found again by their names.

use std::path::{Path, PathBuf, absolute};

use toml::{Table, Value};
use unbraid_data::folders::paths_in;
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;

use super::frameworks::{FRAMEWORKS, Retrained, SCORES};
use crate::config::{Config, Named};
use crate::perturb::PerturbFolder;
use crate::run::read_config;
use crate::run_once::is_same;

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

/// What a framework is trained on, and by how much its main setting is multiplied: every version of the images, and the altered ones at each scale.
pub fn versions(framework: &Retrained, scales: &[f64]) -> Vec<(Data, f64)> {
    // At a scale of 1 the runs of the table are those of the line search.
    let scales = scales.iter().filter(|scale| framework.main.is_some() && **scale != 1.0);
    let searched = scales.map(|scale| (Data::Perturbed, *scale));
    Data::ALL.map(|data| (data, 1.0)).into_iter().chain(searched).collect()
}

/// What all runs have in common.
pub struct Plan<'a> {
    /// The config whose framework, images and seed are replaced.
    pub base: &'a Config,
    /// Where the altered images are, and where runs go.
    pub folder: &'a PerturbFolder,
    /// Runs that are there. Those with a config that is wanted are taken as they are.
    pub given: &'a [(PathBuf, Config)],
}

impl Plan<'_> {
    /// All runs of the table: each framework on each data with each seed, and of the line search: each framework that has a main setting, at each
    /// scale on the altered images.
    pub fn wanted(&self, frameworks: &[&'static Retrained], n_seeds: u64, scales: &[f64]) -> Result<Vec<Planned>> {
        let mut wanted = Vec::new();
        for framework in frameworks {
            for (data, scale) in versions(framework, scales) {
                for seed in 1..=n_seeds {
                    wanted.push(self.run(framework, data, seed, scale)?);
                }
            }
        }
        in_order(&mut wanted);
        Ok(wanted)
    }

    /// These runs, and those that earlier calls have carried to their end.
    pub fn with_earlier(&self, mut runs: Vec<Planned>) -> Result<Vec<Planned>> {
        for path in paths_in(&self.folder.retrain_path())? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some((framework, data, seed, scale)) = parse_name(&name) else { continue };
            // A given run that was taken for one on original images has no folder there.
            for (data, scale) in [(data, scale), (Data::Original, 1.0)] {
                // A framework that does not go with the runs was never trained.
                let Ok(run) = self.run(framework, data, seed, scale) else { continue };
                if !runs.iter().any(|known| known.path == run.path) && self.has_ended(&run) {
                    runs.push(run);
                }
            }
        }
        in_order(&mut runs);
        Ok(runs)
    }

    fn run(&self, framework: &'static Retrained, data: Data, seed: u64, scale: f64) -> Result<Planned> {
        let config = config_of(self.base, self.folder, framework, data, seed, scale)?;
        let is_same = |(_, given): &&(PathBuf, Config)| trains_alike(given, &config);
        let path = match self.given.iter().find(is_same) {
            Some((path, _)) => path.clone(),
            None => self.folder.retrain_path().join(name_of(framework, data, seed, scale)),
        };
        Ok(Planned { framework, data, seed, scale, config, path })
    }

    /// Whether a run is there, as it is wanted, to its page, which is written last.
    fn has_ended(&self, run: &Planned) -> bool {
        let is_of_config = || RunFolder::open(&run.path).and_then(|folder| read_config(&folder));
        self.given.iter().any(|(path, _)| *path == run.path)
            || run.path.join("report.html").exists() && is_of_config().is_ok_and(|config| is_same(&config, &run.config))
    }
}

/// Sorts runs as tables have them: those of the line search last, by framework, data, scale and seed.
fn in_order(runs: &mut [Planned]) {
    let framework = |run: &Planned| FRAMEWORKS.iter().position(|row| row.name == run.framework.name);
    runs.sort_by(|a, b| {
        let key = |run: &Planned| (run.scale != 1.0, framework(run), run.data as usize);
        key(a).cmp(&key(b)).then(a.scale.total_cmp(&b.scale)).then(a.seed.cmp(&b.seed))
    });
}

fn name_of(framework: &Retrained, data: Data, seed: u64, scale: f64) -> String {
    match scale == 1.0 {
        true => format!("{}-{}-s{seed}", framework.name, data.name()),
        false => format!("{}-x{scale}-{}-s{seed}", framework.name, data.name()),
    }
}

/// What a name was made of.
fn parse_name(name: &str) -> Option<(&'static Retrained, Data, u64, f64)> {
    let (rest, seed) = name.rsplit_once("-s")?;
    let (rest, data) = rest.rsplit_once('-')?;
    let (framework, scale) = rest.split_once("-x").unwrap_or((rest, "1"));
    let framework = FRAMEWORKS.iter().find(|row| row.name == framework)?;
    let data = Data::ALL.into_iter().find(|known| known.name() == data)?;
    let found = (framework, data, seed.parse().ok()?, scale.parse().ok()?);
    (name_of(found.0, found.1, found.2, found.3) == name).then_some(found)
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

/// The images of a file, whichever folder a command is called from later.
fn npz(path: &Path) -> Value {
    let path = absolute(path).unwrap_or_else(|_| path.to_path_buf());
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
    is_same(&trained(given), &trained(wanted))
}

/// The scales of a line search: numbers above 0, none of them twice.
pub fn check_scales(scales: &[f64]) -> Result<()> {
    let wrong = |scale: &&f64| !(**scale > 0.0 && **scale <= 1000.0);
    if let Some(scale) = scales.iter().find(wrong) {
        return Err(Error::new(format!("--line-search: {scale:?} is no scale of a setting"))
            .help("wanted numbers above 0, up to 1000"));
    }
    match (1..scales.len()).find(|&position| scales[..position].contains(&scales[position])) {
        None => Ok(()),
        Some(twice) => {
            Err(Error::new(format!("--line-search: {} is named twice", scales[twice])).help("leave one out"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_they_were_made_of() {
        for framework in FRAMEWORKS {
            for (data, seed, scale) in [(Data::Original, 1, 1.0), (Data::Noise, 12, 1.0), (Data::Perturbed, 3, 0.75)] {
                let name = name_of(framework, data, seed, scale);
                assert_eq!(parse_name(&name), Some((framework, data, seed, scale)), "{name}");
            }
        }
        for name in
            ["", "ae", "ae-noise", "ae-noise-s", "ae-noise-s01", "ae-x1-noise-s1", "ae-xnan-noise-s1", "vae-noise-s1"]
        {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
