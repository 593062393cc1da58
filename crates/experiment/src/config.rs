//! The config of a run: one TOML file, no inheritance, no interpolation, unknown keys are errors.

use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use unbraid_data::error::did_you_mean;
use unbraid_data::split::Fractions;
use unbraid_data::{Error, Result, Split, datasets, samplers, settings};
use unbraid_learn::schedule::Schedule;
use unbraid_learn::{frameworks, networks, optimisers};
use unbraid_report::whole_file::read_text;

use crate::log::Log;
use crate::selection::Selection;

/// What stands at the top of a config.
pub(crate) const KEYS: &[&str] = &[
    "seed",
    "rows",
    "rows_seed",
    "dataset",
    "split",
    "sampler",
    "framework",
    "model",
    "optimiser",
    "training",
    "selection",
    "log",
    "metrics",
];

/// A larger rate would overflow the weights at the first step.
pub(crate) const MOST_LEARNING_RATE: f64 = 1e6;

/// All that decides a run, with every default filled in; and what it writes for other programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where all randomness comes from, but the choice of rows.
    pub seed: u64,
    /// How many images are encoded for the metrics; all where absent.
    pub rows: Option<usize>,
    /// Where the choice of these images comes from, so that runs with several seeds encode the same ones.
    pub rows_seed: u64,
    /// What is learned from.
    pub dataset: Named,
    /// Which of its images are learned from, and which are kept for validation and for a test.
    pub split: Fractions,
    /// Which images are seen together.
    pub sampler: Named,
    /// What is minimised.
    pub framework: Named,
    /// The network.
    pub model: Named,
    /// How gradients change it.
    pub optimiser: Named,
    /// How long, how many at once, how fast.
    pub training: Training,
    /// How the best checkpoint is found, where it is looked for.
    pub selection: Option<Selection>,
    /// What is written for other programs to show.
    pub log: Log,
    /// What is measured at the end.
    pub metrics: Vec<Named>,
}

/// A row of one of the lists, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// The row's name.
    pub name: String,
    /// Every setting but the name.
    pub settings: Table,
}

/// How long, how many at once, how fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Training {
    /// How many batches are learned from.
    pub steps: u64,
    /// How many examples a batch has.
    pub batch_size: usize,
    /// The optimiser's step size.
    pub learning_rate: Schedule,
    /// Steps between checkpoints.
    pub checkpoint_every: u64,
}

impl Default for Training {
    /// Learning rate of T1 A.3.1, batch size of T2's study; long enough for small datasets.
    fn default() -> Self {
        Self { steps: 30_000, batch_size: 64, learning_rate: Schedule::Constant(1e-3), checkpoint_every: 500 }
    }
}

impl Config {
    /// Reads a file and puts `--set` overrides into it.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self> {
        Self::parse(&read_text(path)?, overrides).map_err(|error| error.at(path.display()))
    }

    /// Reads the text of a config and puts overrides (`framework.beta=8`) into it.
    ///
    /// ```
    /// use unbraid_experiment::Config;
    ///
    /// let text = "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'beta_vae'";
    /// let config = Config::parse(text, &["framework.beta=8".to_string()])?;
    /// assert_eq!(config.framework.settings["beta"].as_float(), Some(8.0));
    /// assert_eq!(config.model.name, "conv64");
    /// # Ok::<(), unbraid_data::Error>(())
    /// ```
    pub fn parse(text: &str, overrides: &[String]) -> Result<Self> {
        Self::from_changed(parse_toml(text)?, overrides)
    }

    /// Reads the `config.toml` of a run. Earlier versions wrote no `rows_seed` and chose rows by the seed of the run: such a
    /// run keeps to that, for its codes may be there already.
    pub fn parse_of_run(text: &str, overrides: &[String]) -> Result<Self> {
        let mut table = parse_toml(text)?;
        if let (false, Some(seed)) = (table.contains_key("rows_seed"), table.get("seed").cloned()) {
            table.insert("rows_seed".into(), seed);
        }
        render_dsprites(&mut table);
        Self::from_changed(table, overrides)
    }

    fn from_changed(mut table: Table, overrides: &[String]) -> Result<Self> {
        for change in overrides {
            apply_override(&mut table, change)?;
        }
        Self::from_table(table)
    }

    pub(crate) fn from_table(mut table: Table) -> Result<Self> {
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let close = did_you_mean(key, KEYS.iter().copied());
            return Err(
                Error::new(format!("a config has no \"{key}\"{close}")).help(format!("it has {}", KEYS.join(", ")))
            );
        }
        let dataset = Named::take(&mut table, "dataset", None)?.complete("[dataset]", datasets::complete)?;
        let framework = Named::take(&mut table, "framework", None)?;
        let row = frameworks::find(&framework.name)?;
        let training = section(&mut table, "training")?.unwrap_or_default();
        let training = settings::read::<Training>(&training).map_err(|error| error.of("[training]"))?;
        training.check()?;
        let lasting = (row.as_long_as_the_run)(&framework.settings);
        let framework = framework.lasting(lasting, training.steps);
        let framework = framework.complete("[framework]", frameworks::complete)?;
        let split = section(&mut table, "split")?.unwrap_or_default();
        let split = settings::read::<Fractions>(&split).and_then(|split| split.check().map(|()| split));
        let split = split.map_err(|error| error.of("[split]"))?;
        let sampler =
            Named::take(&mut table, "sampler", Some(row.samplers[0]))?.complete("[sampler]", samplers::complete)?;
        let model = Named::take(&mut table, "model", Some("conv64"))?.complete("[model]", networks::complete)?;
        let optimiser =
            Named::take(&mut table, "optimiser", Some("adam"))?.complete("[optimiser]", optimisers::complete)?;
        let selection = section(&mut table, "selection")?.map(|section| Selection::read(&section)).transpose()?;
        let log = section(&mut table, "log")?.unwrap_or_default();
        let log = settings::read::<Log>(&log).map_err(|error| error.of("[log]"))?;
        Ok(Self {
            seed: take_whole(&mut table, "seed")?.unwrap_or(1),
            rows: take_whole(&mut table, "rows")?.map(|rows| rows as usize),
            rows_seed: take_whole(&mut table, "rows_seed")?.unwrap_or(1),
            dataset,
            split,
            sampler,
            framework,
            model,
            optimiser,
            training,
            selection,
            log,
            metrics: take_metrics(&mut table)?,
        })
    }

    /// The whole config as TOML; reading it back gives the same config.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_table()).expect("a table of numbers, strings and tables is TOML")
    }

    /// The parts of a dataset of so many images.
    pub fn split_of(&self, n_images: usize) -> Result<Split> {
        Split::new(n_images, &self.split).map_err(|error| error.of("[split]"))
    }

    pub(crate) fn to_table(&self) -> Table {
        let mut table = Table::new();
        table.insert("seed".into(), whole(self.seed));
        table.insert("rows_seed".into(), whole(self.rows_seed));
        if let Some(rows) = self.rows {
            table.insert("rows".into(), whole(rows as u64));
        }
        let sections = [
            ("dataset", &self.dataset),
            ("sampler", &self.sampler),
            ("framework", &self.framework),
            ("model", &self.model),
            ("optimiser", &self.optimiser),
        ];
        for (key, named) in sections {
            table.insert(key.into(), Value::Table(named.to_table()));
        }
        if self.split != Fractions::default() {
            table.insert("split".into(), Value::Table(settings::as_table(&self.split)));
        }
        table.insert("training".into(), Value::Table(settings::as_table(&self.training)));
        if let Some(selection) = &self.selection {
            table.insert("selection".into(), Value::Table(settings::as_table(selection)));
        }
        if self.log != Log::default() {
            table.insert("log".into(), Value::Table(settings::as_table(&self.log)));
        }
        let metrics = self.metrics.iter().map(|named| Value::Table(named.to_table())).collect();
        table.insert("metrics".into(), Value::Array(metrics));
        table
    }
}

impl Training {
    fn check(&self) -> Result<()> {
        let at_least_one = [
            ("steps", self.steps),
            ("batch_size", self.batch_size as u64),
            ("checkpoint_every", self.checkpoint_every),
        ];
        if let Some((name, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
            return Err(Error::new(format!("[training] setting \"{name}\" is 0")).help("wanted 1 or more"));
        }
        self.learning_rate.check("learning_rate", 0.0, MOST_LEARNING_RATE).map_err(|error| error.of("[training]"))
    }
}

impl Named {
    /// Takes the section `key` out of the config; a section that may be left out has a default name.
    pub(crate) fn take(table: &mut Table, key: &str, default: Option<&str>) -> Result<Self> {
        match (section(table, key)?, default) {
            (Some(settings), default) => Self::from_table(settings, &format!("[{key}]"), default),
            (None, Some(name)) => Ok(Self { name: name.to_string(), settings: Table::new() }),
            (None, None) => Err(Error::new(format!("a config needs [{key}] with a name"))
                .help(format!("`unbraid list {key}s` prints the names"))),
        }
    }

    fn from_table(mut settings: Table, place: &str, default: Option<&str>) -> Result<Self> {
        let name = match (settings.remove("name"), default) {
            (Some(Value::String(name)), _) => name,
            (None, Some(name)) => name.to_string(),
            (Some(other), _) => {
                return Err(Error::new(format!("{place} setting \"name\" is {other}")).help("wanted a name in quotes"));
            }
            (None, None) => return Err(Error::new(format!("{place} has no name")).help("wanted name = \"...\"")),
        };
        Ok(Self { name, settings })
    }

    /// Where a setting that is as long as the run was left out, it is that long. It is written down with the config, so that a run that
    /// goes on for longer than it was meant to keeps it.
    fn lasting(mut self, setting: Option<&str>, steps: u64) -> Self {
        if let Some(setting) = setting {
            self.settings.entry(setting).or_insert_with(|| whole(steps));
        }
        self
    }

    /// Fills in the settings that were left out; `place` is where a mistake is said to be.
    pub(crate) fn complete(self, place: &str, complete: impl Fn(&str, &Table) -> Result<Table>) -> Result<Self> {
        let settings = complete(&self.name, &self.settings).map_err(|error| in_place(error, place))?;
        Ok(Self { name: self.name, settings })
    }

    fn complete_metric(self) -> Result<Self> {
        let place = format!("metric \"{}\"", self.name);
        self.complete(&place, unbraid_metrics::complete)
    }

    pub(crate) fn to_table(&self) -> Table {
        let mut table = Table::from_iter([("name".to_string(), Value::String(self.name.clone()))]);
        table.extend(self.settings.clone());
        table
    }
}

/// A message about a setting goes on from its place; one about a name stands by itself.
pub fn in_place(error: Error, place: &str) -> Error {
    if error.is_about_a_name() { error } else { error.of(place) }
}

/// Earlier versions did not read the published file of `dsprites`: where a config does not say, they rendered it.
pub(crate) fn render_dsprites(table: &mut Table) {
    let Some(Value::Table(dataset)) = table.get_mut("dataset") else { return };
    let says = |key: &str| dataset.contains_key(key);
    if dataset.get("name").and_then(Value::as_str) == Some("dsprites") && !says("rendered") && !says("path") {
        dataset.insert("rendered".into(), Value::Boolean(true));
    }
}

fn take_metrics(table: &mut Table) -> Result<Vec<Named>> {
    let named = match table.remove("metrics") {
        None => unbraid_metrics::METRICS
            .iter()
            .map(|row| Named { name: row.name.to_string(), settings: Table::new() })
            .collect(),
        Some(Value::Array(rows)) => rows.into_iter().map(metric_row).collect::<Result<Vec<_>>>()?,
        Some(_) => {
            return Err(Error::new("\"metrics\" is no list").help("wanted [[metrics]] sections, each with a name"));
        }
    };
    checked_metrics(named)
}

/// The metrics with every setting filled in; an error where one cannot be made, or where one is named twice.
pub fn checked_metrics(named: Vec<Named>) -> Result<Vec<Named>> {
    let metrics: Vec<Named> = named.into_iter().map(Named::complete_metric).collect::<Result<_>>()?;
    for (position, metric) in metrics.iter().enumerate() {
        if metrics[..position].iter().any(|other| other.name == metric.name) {
            return Err(Error::new(format!("metric \"{}\" is named twice", metric.name))
                .help("its scores would have the same names; leave one out"));
        }
        unbraid_metrics::build(&metric.name, &metric.settings)
            .map_err(|error| error.of(format!("metric \"{}\":", metric.name)))?;
    }
    Ok(metrics)
}

fn metric_row(row: Value) -> Result<Named> {
    match row {
        Value::Table(settings) => Named::from_table(settings, "[[metrics]]", None),
        other => Err(Error::new(format!("a metric is {other}")).help("wanted [[metrics]] sections, each with a name")),
    }
}

pub(crate) fn section(table: &mut Table, key: &str) -> Result<Option<Table>> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::Table(section)) => Ok(Some(section)),
        Some(other) => {
            Err(Error::new(format!("\"{key}\" is {other}")).help(format!("wanted a section [{key}] of settings")))
        }
    }
}

fn take_whole(table: &mut Table, key: &str) -> Result<Option<u64>> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::Integer(value)) if value >= 0 => Ok(Some(value as u64)),
        Some(other) => Err(Error::new(format!("\"{key}\" is {other}")).help("wanted a whole number of 0 or more")),
    }
}

fn whole(value: u64) -> Value {
    Value::Integer(i64::try_from(value).expect("a config's numbers are read from TOML, which has no larger ones"))
}

/// Puts `key.key=value` into the table. The value is TOML; what is not TOML is taken as a string.
pub fn apply_override(table: &mut Table, change: &str) -> Result<()> {
    let Some((path, text)) = change.split_once('=') else {
        return Err(
            Error::new(format!("--set \"{change}\" has no =")).help("wanted key=value, for instance framework.beta=8")
        );
    };
    let text = text.trim();
    if is_too_large(text) {
        return Err(Error::new(format!("--set {path}: {text} is too large")).help(LARGEST));
    }
    let value = format!("value = {text}").parse::<Table>().ok().and_then(|mut parsed| parsed.remove("value"));
    let value = value.unwrap_or_else(|| Value::String(text.to_string()));
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys.pop().unwrap_or_default();
    let mut place = table;
    for key in keys {
        let next = place.entry(key).or_insert_with(|| Value::Table(Table::new()));
        place = next.as_table_mut().ok_or_else(|| {
            Error::new(format!("--set {path}: \"{key}\" is no section")).help("wanted section.key=value")
        })?;
    }
    place.insert(last.to_string(), value);
    Ok(())
}

/// Reads TOML; the line of a mistake is named.
pub(crate) fn parse_toml(text: &str) -> Result<Table> {
    text.parse().map_err(|error: toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        let line = text.get(..span.start).unwrap_or(text).matches('\n').count() + 1;
        match text.get(span).filter(|found| is_too_large(found)) {
            Some(number) => Error::new(format!("line {line}: {number} is too large")).help(LARGEST),
            None => Error::new(format!("line {line} is no TOML: {}", error.message().replace('\n', ", "))),
        }
    })
}

const LARGEST: &str = "whole numbers in TOML end at 9223372036854775807, which is 2^63 - 1";

/// Whether the text is a whole number beyond those of TOML.
fn is_too_large(text: &str) -> bool {
    let number = text.trim().replace('_', "");
    let digits = number.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && number.parse::<i64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'beta_vae'\n";

    fn message(text: &str) -> String {
        Config::parse(text, &[]).unwrap_err().to_string()
    }

    #[test]
    fn the_whole_config_reads_back_as_itself() {
        let config = Config::parse(SMALL, &["framework.beta={ from = 0, to = 4, steps = 9 }".into()]).unwrap();
        assert_eq!(Config::parse(&config.to_toml(), &[]).unwrap(), config);
        assert_eq!(config.sampler.name, "single");
    }

    #[test]
    fn overrides_reach_into_sections() {
        let changes = ["seed=9", "training.steps=12", "framework.reconstruction=bce"].map(String::from);
        let config = Config::parse(SMALL, &changes).unwrap();
        assert_eq!((config.seed, config.training.steps), (9, 12));
        assert_eq!(config.framework.settings["reconstruction"].as_str(), Some("bce"));
    }

    #[test]
    fn a_schedule_is_as_long_as_the_run_that_it_began_in() {
        let text = |schedule: &str| {
            format!(
                "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'ada_tvae'\n{schedule}\n[training]\nsteps = 30"
            )
        };
        let steps = |config: &Config| config.framework.settings["schedule_steps"].as_integer();
        let begun = Config::parse(&text(""), &[]).unwrap();
        assert_eq!(steps(&begun), Some(30));
        let longer = Config::parse(&begun.to_toml(), &["training.steps=90".to_string()]).unwrap();
        assert_eq!((steps(&longer), longer.training.steps), (Some(30), 90));
        assert_eq!(steps(&Config::parse(&text("schedule_steps = 7"), &[]).unwrap()), Some(7));
        // It would be ignored there, and its default stays.
        let custom = Config::parse(&text("schedule = 'custom'"), &[]).unwrap();
        assert_eq!(steps(&custom), Some(86_400));
        assert_eq!(Config::parse(&custom.to_toml(), &[]).unwrap(), custom);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let training = |line: &str| message(&format!("{SMALL}[training]\n{line}"));
        let first_line = |text: String| text.lines().next().unwrap().to_string();
        assert_eq!(first_line(training("step = 1")), "[training] has no setting \"step\"; did you mean \"steps\"?");
        assert_eq!(
            training("steps = -5"),
            "[training] setting \"steps\": found integer -5, wanted a whole number of 0 or more"
        );
        assert_eq!(first_line(training("steps = 0")), "[training] setting \"steps\" is 0");
        assert_eq!(first_line(message("[datasets]")), "a config has no \"datasets\"; did you mean \"dataset\"?");
        assert_eq!(
            first_line(message("seed = 'a'\n[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'")),
            "\"seed\" is \"a\""
        );
        let wrong = SMALL.replace("beta_vae", "betavae");
        assert_eq!(first_line(message(&wrong)), "no framework is called \"betavae\"; did you mean \"beta_vae\"?");
        assert!(message("a = ").starts_with("line 1 is no TOML"));
    }

    #[test]
    fn numbers_that_toml_does_not_have_are_refused_and_the_largest_is_kept() {
        let config = Config::parse(SMALL, &["seed=9223372036854775807".into()]).unwrap();
        assert_eq!(config.seed, 9_223_372_036_854_775_807);
        assert_eq!(Config::parse(&config.to_toml(), &[]).unwrap(), config);
        let help = "\n       whole numbers in TOML end at 9223372036854775807, which is 2^63 - 1";
        for number in ["9223372036854775808", "18_446_744_073_709_551_616"] {
            let of_file = message(&format!("\nseed = {number}\n{SMALL}"));
            assert_eq!(of_file, format!("line 2: {number} is too large{help}"));
            let of_change = Config::parse(SMALL, &[format!("seed={number}")]).unwrap_err().to_string();
            assert_eq!(of_change, format!("--set seed: {number} is too large{help}"));
        }
    }

    #[test]
    fn a_run_of_an_earlier_version_keeps_its_rule_for_rows() {
        let old = format!("seed = 7\n{SMALL}");
        assert_eq!(Config::parse(&old, &[]).unwrap().rows_seed, 1);
        assert_eq!(Config::parse_of_run(&old, &[]).unwrap().rows_seed, 7);
        let written = Config::parse(&old, &[]).unwrap().to_toml();
        assert_eq!(Config::parse_of_run(&written, &[]).unwrap().rows_seed, 1);
        assert_eq!(Config::parse_of_run(&old, &["rows_seed=3".into()]).unwrap().rows_seed, 3);
    }
}
