//! Runs as a table: a row for each, its settings and scores as columns.

use std::collections::BTreeMap;

use toml::Table;
use unbraid_data::{Error, Result};
use unbraid_metrics::{METRICS, ScoreKind, ScoreOf, Scores, metric_of, score_kind};

use crate::categories::{self, Categories};
use crate::columns::{SettingColumn, setting_columns};

/// Why a cell is empty where nothing was recorded.
const NOT_SCORED: &str = "was not scored";

/// One run: what it was told to do, and how it came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What it is called in tables, for instance its folder; no two alike.
    pub name: String,
    /// The whole config, with `seed`, `dataset.name` and `framework.name`.
    pub config: Table,
    /// Its scores, and why others are undefined.
    pub scores: Scores,
}

/// One score in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreColumn {
    /// Its name, for instance `mig.shape`.
    pub name: String,
    /// What the metrics tell of it, where they do.
    pub kind: Option<&'static ScoreKind>,
    /// What it is of.
    pub of: ScoreOf,
    /// A finite number for each run; none where it is undefined. `[runs]`
    pub values: Vec<Option<f64>>,
    /// Why it is undefined, where it is. `[runs]`
    pub reasons: Vec<Option<String>>,
}

impl ScoreColumn {
    /// In how many runs it is defined.
    pub fn n_defined(&self) -> usize {
        self.values.iter().flatten().count()
    }
}

/// The table. Rows stand in the order in which the runs were given.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyTable {
    names: Vec<String>,
    seeds: Vec<i64>,
    setting_columns: Vec<SettingColumn>,
    score_columns: Vec<ScoreColumn>,
    datasets: Categories,
    objectives: Categories,
    settings: Categories,
}

impl StudyTable {
    /// The table of at least one run. Two runs of the same setting, dataset and seed are the same run twice, which would count double, and
    /// are refused.
    ///
    /// ```
    /// use unbraid_metrics::Scores;
    /// use unbraid_study::{Run, StudyTable};
    ///
    /// let run = |seed: i64, mig: f64| Run {
    ///     name: format!("runs/{seed}"),
    ///     config: format!("seed = {seed}\ndataset.name = 'dsprites'\nframework.name = 'vae'").parse().unwrap(),
    ///     scores: Scores::new().with("mig", mig),
    /// };
    /// let table = StudyTable::new(&[run(1, 0.25), run(2, 0.5)])?;
    /// assert_eq!(table.score("mig").unwrap().values, [Some(0.25), Some(0.5)]);
    /// # Ok::<(), unbraid_data::Error>(())
    /// ```
    pub fn new(runs: &[Run]) -> Result<Self> {
        if runs.is_empty() {
            return Err(Error::new("there is no run, wanted at least one"));
        }
        let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
        check_names(&names)?;
        let seeds = runs.iter().map(seed_of).collect::<Result<Vec<i64>>>()?;
        for run in runs {
            named(run, "dataset")?;
            named(run, "framework")?;
        }
        let columns = setting_columns(runs.iter().map(|run| &run.config));
        let datasets = categories::datasets(&columns, runs.len());
        let table = Self {
            objectives: categories::objectives(&columns, runs.len()),
            settings: categories::settings(&columns, &datasets),
            score_columns: score_columns(runs)?,
            setting_columns: columns,
            datasets,
            names,
            seeds,
        };
        table.check_copies()?;
        Ok(table)
    }

    /// How many runs there are.
    pub fn n_runs(&self) -> usize {
        self.names.len()
    }

    /// What the runs are called. `[runs]`
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The seed of each run. `[runs]`
    pub fn seeds(&self) -> &[i64] {
        &self.seeds
    }

    /// Every setting, in the order of their keys.
    pub fn setting_columns(&self) -> &[SettingColumn] {
        &self.setting_columns
    }

    /// Every score, in the order of the list of metrics.
    pub fn score_columns(&self) -> &[ScoreColumn] {
        &self.score_columns
    }

    /// The score called `name`.
    pub fn score(&self, name: &str) -> Option<&ScoreColumn> {
        self.score_columns.iter().find(|column| column.name == name)
    }

    /// What the runs learned from.
    pub fn datasets(&self) -> &Categories {
        &self.datasets
    }

    /// What the runs minimised.
    pub fn objectives(&self) -> &Categories {
        &self.objectives
    }

    /// All that decides a model, apart from dataset and seed.
    pub fn settings(&self) -> &Categories {
        &self.settings
    }

    /// The settings that differ between runs and decide the model, by their columns.
    pub fn varying(&self) -> Vec<&SettingColumn> {
        categories::setting_columns_that_vary(&self.setting_columns).collect()
    }

    /// The columns that say how runs were measured and are not the same in all of them. Where a metric was not asked for in some runs,
    /// that alone is no difference.
    pub fn measured_differently(&self) -> Vec<&str> {
        let differs = |column: &&SettingColumn| {
            let mut places = column.places();
            places.retain(|place| *place > 0 || !column.name.starts_with("metrics."));
            categories::is_measuring(&column.name) && places.windows(2).any(|pair| pair[0] != pair[1])
        };
        self.setting_columns.iter().filter(differs).map(|column| column.name.as_str()).collect()
    }

    fn check_copies(&self) -> Result<()> {
        let mut seen: BTreeMap<(Vec<usize>, i64), &str> = BTreeMap::new();
        for (run, name) in self.names.iter().enumerate() {
            let key = (vec![self.datasets.of_runs[run], self.settings.of_runs[run]], self.seeds[run]);
            if let Some(other) = seen.insert(key, name) {
                return Err(Error::new(format!(
                    "{other} and {name} have the same seed and the same config, so that one run would count twice"
                ))
                .help("leave one of them out"));
            }
        }
        Ok(())
    }
}

fn check_names(names: &[String]) -> Result<()> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::new(format!("two runs are called \"{}\"", pair[0])).help("name each run once")),
        None => Ok(()),
    }
}

fn seed_of(run: &Run) -> Result<i64> {
    let seed = run.config.get("seed").and_then(toml::Value::as_integer);
    seed.ok_or_else(|| Error::new("the config has no whole number called \"seed\"").at(&run.name))
}

fn named(run: &Run, section: &str) -> Result<()> {
    let name = run.config.get(section).and_then(|section| section.get("name")).and_then(toml::Value::as_str);
    match name {
        Some(_) => Ok(()),
        None => Err(Error::new(format!("the config has no [{section}] with a name")).at(&run.name)),
    }
}

/// A column for each score that any run has or lacks with a reason.
fn score_columns(runs: &[Run]) -> Result<Vec<ScoreColumn>> {
    let mut columns: BTreeMap<String, ScoreColumn> = BTreeMap::new();
    let empty = |name: &str, kind: &str, of: &ScoreOf| ScoreColumn {
        name: name.to_string(),
        kind: score_kind(kind),
        of: of.clone(),
        values: vec![None; runs.len()],
        reasons: vec![Some(NOT_SCORED.to_string()); runs.len()],
    };
    for (row, run) in runs.iter().enumerate() {
        for score in &run.scores.values {
            if !score.value.is_finite() {
                return Err(
                    Error::new(format!("{} is {}, wanted a finite number", score.name, score.value)).at(&run.name)
                );
            }
            let column =
                columns.entry(score.name.clone()).or_insert_with(|| empty(&score.name, &score.kind, &score.of));
            column.values[row] = Some(score.value);
            column.reasons[row] = None;
        }
        for score in &run.scores.undefined {
            let column =
                columns.entry(score.name.clone()).or_insert_with(|| empty(&score.name, &score.kind, &score.of));
            column.reasons[row] = Some(score.reason.clone());
        }
    }
    let mut columns: Vec<ScoreColumn> = columns.into_values().collect();
    columns.sort_by_cached_key(|column| place_of(&column.name, column.kind));
    Ok(columns)
}

/// Scores stand in the order of the list of metrics, then of the metric's own list, then by name; those of no known metric last.
fn place_of(name: &str, kind: Option<&ScoreKind>) -> (usize, usize, String) {
    let metric = METRICS.iter().position(|entry| entry.name == metric_of(name));
    let place = metric
        .and_then(|metric| METRICS[metric].scores.iter().position(|row| Some(row.name) == kind.map(|kind| kind.name)));
    (metric.unwrap_or(usize::MAX), place.unwrap_or(usize::MAX), name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, config: &str, scores: Scores) -> Run {
        Run { name: name.to_string(), config: config.parse().unwrap(), scores }
    }

    const CONFIG: &str = "seed = 1\ndataset.name = 'a'\nframework.name = 'vae'\n";

    #[test]
    fn an_undefined_score_is_an_empty_cell_with_its_reason() {
        let scores = Scores::new().with("kl", 2.0).without("mig", "one factor");
        let other = Scores::new().with("mig", 0.5).with("own", 1.0);
        let runs = [run("a", CONFIG, scores), run("b", &CONFIG.replace('1', "2"), other)];
        let table = StudyTable::new(&runs).unwrap();
        let names: Vec<&str> = table.score_columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["mig", "kl", "own"]);
        let mig = table.score("mig").unwrap();
        assert_eq!((mig.values.as_slice(), mig.n_defined()), ([None, Some(0.5)].as_slice(), 1));
        assert_eq!(mig.reasons, [Some("one factor".to_string()), None]);
        assert_eq!(table.score("kl").unwrap().reasons[1].as_deref(), Some("was not scored"));
    }

    #[test]
    fn what_makes_no_table_is_refused_in_one_sentence() {
        let message = |runs: &[Run]| StudyTable::new(runs).unwrap_err().to_string();
        let good = || run("a", CONFIG, Scores::new());
        assert!(message(&[]).contains("there is no run"));
        assert!(message(&[good(), good()]).contains("two runs are called \"a\""));
        let copy = Run { name: "b".to_string(), ..good() };
        assert!(message(&[good(), copy]).contains("a and b have the same seed and the same config"));
        assert!(message(&[run("a", "dataset.name = 'a'", Scores::new())]).contains("no whole number called \"seed\""));
        assert!(message(&[run("a", "seed = 1\ndataset.name = 'a'", Scores::new())]).contains("no [framework]"));
        let mut broken = good();
        broken.scores = Scores::new().with("mig", 0.5);
        broken.scores.values[0].value = f64::NAN;
        assert!(message(&[broken]).contains("a: mig is NaN, wanted a finite number"));
    }

    #[test]
    fn how_a_run_was_measured_makes_no_other_model_but_is_told() {
        let bins = |bins: usize| format!("{CONFIG}rows = 100\n[[metrics]]\nname = 'mig'\nbins = {bins}\n");
        let without = format!("rows = 100\n{}", CONFIG.replace('1', "3"));
        let runs = [
            run("a", &bins(20), Scores::new()),
            run("b", &bins(10).replace("seed = 1", "seed = 2"), Scores::new()),
            run("c", &without, Scores::new()),
        ];
        let table = StudyTable::new(&runs).unwrap();
        assert_eq!(table.settings().labels, ["vae"]);
        assert_eq!(table.measured_differently(), ["metrics.mig.bins"]);
        assert!(table.varying().is_empty());
    }
}
