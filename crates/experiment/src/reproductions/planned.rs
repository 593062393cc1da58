//! The runs of a published grid at each scale: a sweep file of `configs/sweeps` as it is, or with changes that make it smaller.
//!
//! Changes are TOML that is put over the file, section by section ([`put_over`]): a list of values takes the place of the published one, and what is
//! not named stays. Small scale changes the file, and the smoke scale changes that once more. Runs that differ by their seeds alone are one
//! [`Group`], and its finished runs are [`Runs`].

use std::path::Path;

use toml::{Table, Value};
use unbraid_data::{Error, Result};
use unbraid_study::StudyTable;

use super::spread::Spread;
use super::trained::{Group, Restarts, is_at_hand, train};
use super::{Request, Row, Scale};
use crate::config::{Config, parse_toml};
use crate::run::read_config;
use crate::sweep::file::SweepFile;
use crate::sweep::plan::Plan;
use crate::watch::Watch;

/// A published grid of runs, and what makes it smaller.
pub struct Grids {
    /// A sweep file: the whole grid, as published.
    pub paper: &'static str,
    /// What small scale puts over the file, one after the other.
    pub small: &'static [&'static str],
    /// What the smoke scale puts over that.
    pub smoke: &'static [&'static str],
}

impl Grids {
    /// The runs at a scale, those that differ by their seeds alone together, in the order of the grid.
    pub fn groups(&self, scale: Scale) -> Result<Vec<Group>> {
        let changes = scale.pick([self.small, self.smoke].concat(), self.small.to_vec(), Vec::new());
        self.changed(&changes)
    }

    fn changed(&self, changes: &[&str]) -> Result<Vec<Group>> {
        let mut table = parse_toml(self.paper)?;
        for change in changes {
            put_over(&mut table, parse_toml(change)?);
        }
        let text = toml::to_string(&table).expect("a table that was read is TOML");
        let plan = Plan::of(&SweepFile::parse(&text, Path::new(""))?, &[])?;
        let mut groups: Vec<Group> = Vec::new();
        for run in &plan.runs {
            let config = run.config()?;
            let seed = config.seed;
            let of_any_seed = Config { seed: 1, ..config };
            match groups.iter_mut().find(|group| group.config == of_any_seed) {
                Some(group) => group.n_seeds = group.n_seeds.max(seed),
                None => groups.push(Group { name: run.changes_text(), config: of_any_seed, n_seeds: seed }),
            }
        }
        Ok(groups)
    }
}

/// Puts changes over a table. Sections are changed key by key; anything else takes the place of what is there, and an empty list takes it away.
fn put_over(table: &mut Table, changes: Table) {
    for (key, change) in changes {
        match (table.get_mut(&key), change) {
            (Some(Value::Table(within)), Value::Table(change)) => put_over(within, change),
            (_, Value::Array(change)) if change.is_empty() => _ = table.remove(&key),
            (_, change) => _ = table.insert(key, change),
        }
    }
}

/// The finished runs of one config, from several seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The config, whatever its seed.
    pub config: Config,
    /// Its runs.
    pub restarts: Restarts,
}

impl Runs {
    /// The name of the dataset.
    pub fn dataset(&self) -> &str {
        &self.config.dataset.name
    }

    /// The name of the framework.
    pub fn framework(&self) -> &str {
        &self.config.framework.name
    }

    /// A setting, `framework.beta`; 0 where it is no number.
    pub fn number(&self, path: &str) -> f64 {
        let value = setting(&self.config, path);
        value.and_then(|value| value.as_float().or(value.as_integer().map(|whole| whole as f64))).unwrap_or(0.0)
    }

    /// A setting that is a word, or what is called so in one that is a table; nothing where it is neither.
    pub fn word(&self, path: &str) -> String {
        let value = setting(&self.config, path);
        let name = value.as_ref().and_then(|value| value.as_str().or_else(|| value.get("name")?.as_str()));
        name.unwrap_or_default().to_string()
    }

    /// Mean and deviation of a score.
    pub fn spread(&self, score: &str) -> Result<Spread> {
        self.restarts.spread(score)
    }
}

fn setting(config: &Config, path: &str) -> Option<Value> {
    let mut value = Value::Table(config.to_table());
    for key in path.split('.') {
        value = value.get(key)?.clone();
    }
    Some(value)
}

/// Trains the groups whose datasets are at hand, and notes which are not; nothing where the user asks to stop.
pub fn train_at_hand(
    groups: Vec<Group>,
    request: &Request,
    watch: &mut dyn Watch,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<Runs>>> {
    let mut looked_at: Vec<(Config, bool)> = Vec::new();
    let mut at_hand = Vec::new();
    for group in groups {
        let dataset = opened(&group.config);
        let is_there = match looked_at.iter().find(|(config, _)| config.dataset == dataset.dataset) {
            Some((_, is_there)) => *is_there,
            None => {
                let is_there = is_at_hand(&dataset, notes);
                looked_at.push((dataset, is_there));
                is_there
            }
        };
        if is_there {
            at_hand.push(group);
        }
    }
    if at_hand.is_empty() {
        return Err(Error::new(notes.join("\n")));
    }
    let Some(trained) = train(&at_hand, request, watch)? else { return Ok(None) };
    let runs = at_hand.into_iter().zip(trained);
    Ok(Some(runs.map(|(group, restarts)| Runs { config: group.config, restarts }).collect()))
}

/// The config of a dataset that is opened to see whether it is there: standardised ones would read all of their images.
fn opened(config: &Config) -> Config {
    let mut config = config.clone();
    config.dataset.settings.remove("standardise");
    config
}

/// The runs as the table of a study, with the scores that are wanted by name.
pub fn study_table(runs: &[Runs], is_wanted: impl Fn(&str) -> bool) -> Result<StudyTable> {
    let mut all = Vec::new();
    for folder in runs.iter().flat_map(|runs| &runs.restarts.folders) {
        let mut scores = folder.read_scores()?;
        scores.values.retain(|score| is_wanted(&score.name));
        scores.undefined.retain(|score| is_wanted(&score.name));
        all.push(unbraid_study::Run { name: folder.name(), config: read_config(folder)?.to_table(), scores });
    }
    StudyTable::new(&all)
}

/// Each dataset once, in the order of the runs.
pub fn datasets(runs: &[Runs]) -> Vec<String> {
    let mut datasets: Vec<String> = Vec::new();
    for dataset in runs.iter().map(Runs::dataset) {
        if datasets.iter().all(|other| other != dataset) {
            datasets.push(dataset.to_string());
        }
    }
    datasets
}

/// A row for each score of each group, of which no number was published.
pub fn means(runs: &[Runs], scores: &[(&str, &str)], name: impl Fn(&Runs) -> String) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for one in runs {
        for (score, shown) in scores {
            rows.push(Row::mean(format!("{}, {shown}", name(one)), one.spread(score)?, None));
        }
    }
    Ok(rows)
}

/// The mean of a score over all runs of these groups.
pub fn mean<'a>(runs: impl IntoIterator<Item = &'a Runs>, score: &str) -> Result<f64> {
    let scores = runs.into_iter().map(|runs| runs.restarts.scores(score)).collect::<Result<Vec<_>>>()?;
    Ok(Spread::of(&scores.concat()).mean)
}

/// The largest mean of a score among these groups; not a number where no group has it.
pub fn largest<'a>(runs: impl IntoIterator<Item = &'a Runs>, score: &str) -> Result<f64> {
    let means = runs.into_iter().map(|runs| Ok(runs.spread(score)?.mean)).collect::<Result<Vec<f64>>>()?;
    Ok(means.into_iter().fold(f64::NAN, f64::max))
}

/// The claim that one number is above another; two that are not defined are not.
pub fn above(what: impl Into<String>, [upper, lower]: [f64; 2]) -> Row {
    Row::claim(what, format!("{} against {}", shown(upper), shown(lower)), upper > lower)
}

/// A number of a claim.
pub fn shown(value: f64) -> String {
    match value {
        value if !value.is_finite() => "undefined".to_string(),
        value if value.abs() >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.3}"),
    }
}

/// The slope of the straight line that is nearest to points in squares; not a number where all lie at one x.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (sum_x, sum_y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if variance > 0.0 { covariance / variance } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRIDS: Grids = Grids {
        paper: "
            [base]
            rows = 10
            [base.dataset]
            name = 'xy_squares'
            [base.framework]
            name = 'beta_vae'
            [grid]
            seed = [1, 2, 3]
            framework.beta = [1.0, 2.0, 4.0]
        ",
        small: &["base.rows = []\nbase.training.steps = 7", "grid.framework.beta = [8.0]"],
        smoke: &["grid.seed = [1]"],
    };

    #[test]
    fn runs_that_differ_by_their_seeds_are_one_group_and_smaller_scales_change_what_they_name() {
        let told = |scale: Scale| -> Vec<_> {
            let groups = GRIDS.groups(scale).unwrap();
            let tell = |group: &Group| {
                let beta = group.config.framework.settings["beta"].as_float().unwrap();
                (beta, group.n_seeds, group.config.training.steps, group.config.rows)
            };
            groups.iter().map(tell).collect()
        };
        let steps = GRIDS.groups(Scale::Paper).unwrap()[0].config.training.steps;
        let published = [1.0, 2.0, 4.0].map(|beta| (beta, 3, steps, Some(10)));
        assert_eq!(told(Scale::Paper), published);
        assert_eq!(told(Scale::Small), [(8.0, 3, 7, None)]);
        assert_eq!(told(Scale::Smoke), [(8.0, 1, 7, None)]);
    }

    #[test]
    fn slopes_by_hand() {
        // Means are 2 and 3; (-1 * -2 + 0 * 1 + 1 * 1) / 2.
        assert_eq!(slope(&[(1.0, 1.0), (2.0, 4.0), (3.0, 4.0)]), 1.5);
        assert!(slope(&[(1.0, 1.0), (1.0, 2.0)]).is_nan());
    }

    #[test]
    fn settings_are_found_by_their_paths_and_what_is_undefined_is_above_nothing() {
        let text = "
            [dataset]
            name = 'xy_squares'
            [framework]
            name = 'beta_vae'
            reconstruction = { name = 'mse_box', radius = 3 }
        ";
        let config = Config::parse(text, &[]).unwrap();
        let runs = Runs { config, restarts: Restarts { name: String::new(), folders: Vec::new() } };
        assert_eq!((runs.number("dataset.spacing"), runs.number("dataset.none")), (8.0, 0.0));
        assert_eq!(
            (runs.word("framework.reconstruction"), runs.word("dataset.name")),
            ("mse_box".into(), "xy_squares".into())
        );
        assert_eq!(above("a", [f64::NAN, 0.1]).agrees(), Some(false));
        assert_eq!(above("a", [0.2, 0.1]), Row::claim("a", "0.200 against 0.100", true));
    }
}
