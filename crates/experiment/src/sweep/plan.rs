//! The runs of a sweep: what its grids expand to, each run once.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use unbraid_data::{Error, Result};
use unbraid_learn::{frameworks, optimisers};

use super::draws::misspelt;
use super::file::SweepFile;
use super::grid::{Assignment, assign};
use super::run_name::run_name;
use crate::config::{Config, apply_override, in_place, parse_toml};

/// More runs than this are more likely a mistake than a plan.
const MOST_RUNS: u64 = 100_000;

/// The runs of a sweep, in the order in which they are begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Each once.
    pub runs: Vec<PlannedRun>,
    /// How many combinations came to a config that was there already.
    pub n_same: usize,
}

/// One run of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// The name of its folder.
    pub name: String,
    /// In what it differs from others of the sweep: settings and their values.
    pub changes: Vec<(String, String)>,
    /// The config, as TOML without defaults.
    pub config: String,
}

impl Plan {
    /// Expands a sweep file, and puts changes (`training.steps=100`) into every config.
    pub fn of(file: &SweepFile, changes: &[String]) -> Result<Self> {
        let n_combinations = file.grids.iter().fold(0_u64, |sum, grid| {
            sum.saturating_add(grid.n_combinations().saturating_mul(file.shared.n_combinations()))
        });
        if n_combinations > MOST_RUNS {
            return Err(Error::new(format!("the grids have {n_combinations} combinations"))
                .help(format!("wanted {MOST_RUNS} or fewer")));
        }
        let mut runs: Vec<(PlannedRun, Vec<Assignment>)> = Vec::new();
        let mut names = BTreeSet::new();
        for shared in file.shared.combinations() {
            for combination in file.grids.iter().flat_map(|grid| grid.combinations()) {
                let assignments: Vec<Assignment> = shared.iter().cloned().chain(combination).collect();
                let planned = planned(&file.base, &assignments, changes)?;
                if names.insert(planned.0.name.clone()) {
                    runs.push(planned);
                }
            }
        }
        let n_same = n_combinations as usize - runs.len();
        Ok(Self { runs: with_changes(runs), n_same })
    }

    /// These configs, each once.
    pub fn of_configs(configs: &[Config]) -> Self {
        let mut runs: Vec<(PlannedRun, Vec<Assignment>)> = Vec::new();
        let mut names = BTreeSet::new();
        for config in configs {
            let run = PlannedRun { name: run_name(config), changes: Vec::new(), config: config.to_toml() };
            if names.insert(run.name.clone()) {
                runs.push((run, settings(config)));
            }
        }
        let n_same = configs.len() - runs.len();
        Self { runs: with_changes(runs), n_same }
    }
}

impl PlannedRun {
    /// The whole config. It must still have the name that it had when it was planned.
    pub fn config(&self) -> Result<Config> {
        let config = Config::parse(&self.config, &[])?;
        if run_name(&config) == self.name {
            return Ok(config);
        }
        Err(Error::new(format!(
            "run \"{}\" was planned by another version of unbraid, for which its config means something else",
            self.name
        ))
        .help("start the sweep again from its file"))
    }

    /// `framework.beta = 4.0, seed = 2`; `-` where the sweep has one run.
    pub fn changes_text(&self) -> String {
        if self.changes.is_empty() {
            return "-".to_string();
        }
        self.changes.iter().map(|(path, value)| format!("{path} = {value}")).collect::<Vec<_>>().join(", ")
    }
}

/// The run of a combination, and what became of its settings once the changes were made.
fn planned(base: &Table, assignments: &[Assignment], changes: &[String]) -> Result<(PlannedRun, Vec<Assignment>)> {
    let mut table = base.clone();
    assign(&mut table, assignments)?;
    for change in changes {
        apply_override(&mut table, change)?;
    }
    let text = toml::to_string(&table).expect("a table that was read is TOML");
    let config = parse_toml(&text).and_then(Config::from_table).and_then(checked);
    let config = config.map_err(|error| in_run(error, assignments))?;
    let is_changed = |path: &str| {
        let changed = changes.iter().filter_map(|change| Some(change.split_once('=')?.0.trim()));
        changed.into_iter().any(|changed| path == changed || path.starts_with(&format!("{changed}.")))
    };
    let became = |(path, _): &Assignment| {
        // What is changed in all runs tells none of them apart.
        if is_changed(path) { None } else { Some((path.clone(), at(&table, path)?.clone())) }
    };
    let run = PlannedRun { name: run_name(&config), changes: Vec::new(), config: text };
    Ok((run, assignments.iter().filter_map(became).collect()))
}

/// The value of a setting, `framework.beta`.
fn at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((section, within)) => at(table.get(section)?.as_table()?, within),
    }
}

/// The config, where all that can be told wrong without its dataset is right.
fn checked(config: Config) -> Result<Config> {
    let framework = frameworks::build(&config.framework.name, &config.framework.settings);
    framework.map_err(|error| in_place(error, "[framework]"))?;
    let optimiser = optimisers::build(&config.optimiser.name, &config.optimiser.settings);
    optimiser.map_err(|error| in_place(error, "[optimiser]"))?;
    Ok(config)
}

fn in_run(error: Error, assignments: &[Assignment]) -> Error {
    match assignments {
        [] => error,
        _ => {
            let shown: Vec<String> = assignments.iter().map(|(path, value)| format!("{path} = {value}")).collect();
            let told = error.to_string();
            let is_of_list = told.contains("wanted a list") || told.contains("is no list");
            let hint =
                "in a grid a list is gone through, and a setting that is a list itself is a list of lists: [[8, 8]]";
            let error = if is_of_list { error.more_help(hint) } else { error };
            // What stands right in a section is a setting of it.
            let within = assignments.iter().filter(|(path, _)| path.matches('.').count() > 1);
            let meant = within.into_iter().find_map(|(path, _)| misspelt(path));
            let error = meant.into_iter().fold(error, |error, meant| error.more_help(meant));
            error.at(format!("the run with {}", shown.join(", ")))
        }
    }
}

/// All settings of a config but its metrics.
fn settings(config: &Config) -> Vec<Assignment> {
    fn flatten(within: &str, table: Table, all: &mut Vec<Assignment>) {
        for (key, value) in table {
            let path = if within.is_empty() { key } else { format!("{within}.{key}") };
            match value {
                Value::Table(table) => flatten(&path, table, all),
                value => all.push((path, value)),
            }
        }
    }
    let mut table = config.to_table();
    table.remove("metrics");
    let mut all = Vec::new();
    flatten("", table, &mut all);
    all
}

/// Tells of each run what not all of them share.
fn with_changes(runs: Vec<(PlannedRun, Vec<Assignment>)>) -> Vec<PlannedRun> {
    let mut values: BTreeMap<String, Vec<Option<Value>>> = BTreeMap::new();
    for (position, (_, assignments)) in runs.iter().enumerate() {
        for (path, value) in assignments {
            values.entry(path.clone()).or_insert_with(|| vec![None; runs.len()])[position] = Some(value.clone());
        }
    }
    let varying: Vec<_> =
        values.into_iter().filter(|(_, values)| values.windows(2).any(|pair| pair[0] != pair[1])).collect();
    let tell = |(position, (run, _)): (usize, (PlannedRun, _))| {
        let changes =
            varying.iter().filter_map(|(path, values)| Some((path.clone(), values[position].as_ref()?.to_string())));
        PlannedRun { changes: changes.collect(), ..run }
    };
    runs.into_iter().enumerate().map(tell).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const SWEEP: &str = "
        [base]
        [base.dataset]
        name = 'xy_squares'
        [base.framework]
        name = 'beta_vae'
        [shared]
        seed = [1, 2]
        [[grid]]
        framework.beta = [1.0, 4.0]
        [[grid]]
        framework.name = 'factor_vae'
        framework.gamma = [10.0]
        [[grid]]
        framework.name = 'beta_vae'
        framework.beta = 4.0
    ";

    fn plan(text: &str, changes: &[&str]) -> Result<Plan> {
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        Plan::of(&SweepFile::parse(text, Path::new("")).unwrap(), &changes)
    }

    #[test]
    fn grids_expand_to_configs_and_the_same_one_is_there_once() {
        let plan = plan(SWEEP, &["training.steps=5"]).unwrap();
        let shown: Vec<String> = plan.runs.iter().map(PlannedRun::changes_text).collect();
        assert_eq!(
            shown,
            [
                "framework.beta = 1.0, seed = 1",
                "framework.beta = 4.0, seed = 1",
                "framework.gamma = 10.0, framework.name = \"factor_vae\", seed = 1",
                "framework.beta = 1.0, seed = 2",
                "framework.beta = 4.0, seed = 2",
                "framework.gamma = 10.0, framework.name = \"factor_vae\", seed = 2",
            ]
        );
        assert_eq!(plan.n_same, 2);
        let config = plan.runs[2].config().unwrap();
        assert_eq!((config.framework.name.as_str(), config.training.steps, config.seed), ("factor_vae", 5, 1));
    }

    #[test]
    fn runs_are_told_by_the_settings_that_they_have_after_changes() {
        let text = "base = { dataset.name = 'xy_squares', framework.name = 'beta_vae' }\n\
                    [[grid]]\nframework.beta = [1.0]\nseed = [1, 2]\n[[grid]]\nframework.beta = [2.0]\nrows = [10]";
        let shown = |changes: &[&str]| -> Vec<String> {
            plan(text, changes).unwrap().runs.iter().map(PlannedRun::changes_text).collect()
        };
        assert_eq!(shown(&[])[2], "framework.beta = 2.0, rows = 10");
        assert_eq!(shown(&["framework.beta=3.0"]), ["seed = 1", "seed = 2", "rows = 10"]);
        assert_eq!(shown(&["rows=20"])[2], "framework.beta = 2.0");
    }

    #[test]
    fn configs_are_told_apart_by_all_in_which_they_differ() {
        let of = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
            Config::parse("[dataset]\nname = 'xy_squares'\n[framework]\nname = 'beta_vae'", &changes).unwrap()
        };
        let configs = [of(&[]), of(&["seed=2"]), of(&["framework.beta=1.0"]), of(&["seed=2"])];
        let plan = Plan::of_configs(&configs);
        let shown: Vec<String> = plan.runs.iter().map(PlannedRun::changes_text).collect();
        let expected =
            ["framework.beta = 4.0, seed = 1", "framework.beta = 4.0, seed = 2", "framework.beta = 1.0, seed = 1"];
        assert_eq!((shown, plan.n_same), (expected.map(String::from).to_vec(), 1));
        assert_eq!(plan.runs[2].config().unwrap(), configs[2]);
    }

    #[test]
    fn a_config_that_is_wrong_is_named_by_its_settings_and_too_many_are_refused() {
        let message = |text: &str| plan(text, &[]).unwrap_err().to_string();
        let wrong = SWEEP.replace("[10.0]", "[10.0, -1.0]");
        let found = message(&wrong);
        assert!(
            found.starts_with("the run with seed = 1, framework.gamma = -1.0, framework.name = \"factor_vae\": "),
            "{found}"
        );
        let found = message(&SWEEP.replace("framework.beta = 4.0", "model.name = 'mlp'\nmodel.encoder = [8, 8]"));
        assert!(found.contains("a setting that is a list itself is a list of lists: [[8, 8]]"), "{found}");
        let many = format!("{SWEEP}rows_seed = [{}]\nrows = [{}]", "1, ".repeat(400), "2, ".repeat(400));
        assert!(message(&many).contains("wanted 100000 or fewer"));
    }
}
