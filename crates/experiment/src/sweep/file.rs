//! A sweep file: a base config, and grids of settings that are gone through.

use std::path::Path;

use toml::{Table, Value};
use unbraid_data::error::did_you_mean;
use unbraid_data::{Error, Result, settings};
use unbraid_report::whole_file::read_text;

use super::grid::Grid;
use super::slurm::SlurmSettings;
use crate::config::parse_toml;

/// What stands at the top of a sweep file.
const KEYS: &[&str] = &["base", "shared", "grid", "best", "slurm"];

/// A sweep file as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepFile {
    /// The config that grids change.
    pub base: Table,
    /// What every grid goes through as well.
    pub shared: Grid,
    /// Each with all of its combinations; at least one.
    pub grids: Vec<Grid>,
    /// The score that is shown as the best so far, where one is named.
    pub best: Option<String>,
    /// How runs are given to Slurm.
    pub slurm: SlurmSettings,
}

impl SweepFile {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&read_text(path)?, folder).map_err(|error| error.at(path.display()))
    }

    /// Reads the text of a sweep file; a base that is a file lies relative to `folder`.
    pub fn parse(text: &str, folder: &Path) -> Result<Self> {
        let mut table = parse_toml(text)?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let close = did_you_mean(key, KEYS.iter().copied());
            return Err(Error::new(format!("a sweep file has no \"{key}\"{close}"))
                .help(format!("it has {}; settings of runs stand in [base], [shared] or [[grid]]", KEYS.join(", "))));
        }
        let best = match table.remove("best") {
            None => None,
            Some(Value::String(best)) => {
                unbraid_metrics::find(unbraid_metrics::metric_of(&best)).map_err(|error| error.at("best"))?;
                Some(best)
            }
            Some(other) => {
                return Err(Error::new(format!("\"best\" is {other}"))
                    .help("wanted the name of a score, for instance best = \"mig\""));
            }
        };
        let shared = match table.remove("shared") {
            None => Grid::read(Table::new())?,
            Some(shared) => grid(shared, "[shared]")?,
        };
        let grids = grids(table.remove("grid"))?;
        if let Some([of_grid, of_shared]) = grids.iter().find_map(|grid| grid.first_common_paths(&shared)) {
            return Err(Error::new(format!("a grid sets \"{of_grid}\" and [shared] sets \"{of_shared}\""))
                .help("wanted each setting in one of them: in [shared] where all grids go through the same values"));
        }
        Ok(Self {
            base: base(table.remove("base"), folder)?,
            shared,
            grids,
            best,
            slurm: match table.remove("slurm") {
                None => SlurmSettings::default(),
                Some(Value::Table(slurm)) => settings::read(&slurm)
                    .and_then(|slurm: SlurmSettings| slurm.checked())
                    .map_err(|error| error.of("[slurm]"))?,
                Some(other) => return Err(Error::new(format!("\"slurm\" is {other}")).help("wanted a section [slurm]")),
            },
        })
    }
}

fn base(found: Option<Value>, folder: &Path) -> Result<Table> {
    match found {
        Some(Value::Table(base)) => Ok(base),
        Some(Value::String(file)) => {
            let path = folder.join(file);
            parse_toml(&read_text(&path)?).map_err(|error| error.at(path.display()))
        }
        Some(other) => Err(Error::new(format!("\"base\" is {other}"))
            .help("wanted a section [base] with [base.dataset] and so on, or the path of a config")),
        None => Err(Error::new("a sweep file needs a base, the config that grids change").help(
            "wanted base = \"config.toml\", or a section [base] with [base.dataset], [base.framework] and so on",
        )),
    }
}

fn grids(found: Option<Value>) -> Result<Vec<Grid>> {
    match found {
        None => Ok(vec![Grid::read(Table::new())?]),
        Some(Value::Array(several)) if several.is_empty() => {
            Err(Error::new("\"grid\" is an empty list").help("wanted [[grid]] sections, or none for the base alone"))
        }
        Some(Value::Array(several)) => {
            let numbered = several.into_iter().enumerate();
            numbered.map(|(position, one)| grid(one, &format!("[[grid]] number {}", position + 1))).collect()
        }
        Some(one) => Ok(vec![grid(one, "[grid]")?]),
    }
}

fn grid(found: Value, place: &str) -> Result<Grid> {
    match found {
        Value::Table(table) => Grid::read(table).map_err(|error| error.of(format!("{place}:"))),
        other => {
            Err(Error::new(format!("{place} is {other}")).help("wanted settings with the values that they go through"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        SweepFile::parse(text, Path::new("")).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        assert!(message("grids = 1").starts_with("a sweep file has no \"grids\"; did you mean \"grid\"?"));
        assert!(message("framework = 1").contains("settings of runs stand in [base]"));
        assert!(message("[grid]\nseed = [1]").starts_with("a sweep file needs a base"));
        assert!(message("base = 'none.toml'").contains("cannot read none.toml"));
        assert!(
            message("[base]\n[[grid]]\nseed = 1\n[[grid]]\nseed = []")
                .starts_with("[[grid]] number 2: \"seed\" is an empty list")
        );
        assert!(
            message("[base]\n[slurm]\ncpu = 1").starts_with("[slurm] has no setting \"cpu\"; did you mean \"cpus\"?")
        );
        assert!(message("[base]\nseed = 1\nseed = 2").starts_with("line 3 is no TOML"));
        assert!(
            message("[base]\n[shared]\nseed = [1, 2]\n[[grid]]\nrows = 5\n[[grid]]\nseed = 3")
                .starts_with("a grid sets \"seed\" and [shared] sets \"seed\"")
        );
        assert!(message("grid = []\n[base]").starts_with("\"grid\" is an empty list"));
        assert!(message("best = 3\n[base]").starts_with("\"best\" is 3"));
        assert!(message("best = 'migg'\n[base]").contains("no metric is called \"migg\"; did you mean \"mig\"?"));
    }

    #[test]
    fn a_base_may_be_a_file_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("base.toml"), "seed = 5").unwrap();
        let sweep = SweepFile::parse("base = 'base.toml'", folder.path()).unwrap();
        assert_eq!(sweep.base["seed"].as_integer(), Some(5));
        assert_eq!((sweep.grids.len(), sweep.grids[0].n_combinations()), (1, 1));
    }
}
