//! Frameworks trained again on original, altered and noisy images (T4 sections 4.3.2 to 4.3.5).
//!
//! Each run is one of `unbraid train` in a folder of its own. What was stopped or killed goes on, and nothing is trained twice: given runs that have
//! the same config are taken as they are. Runs of earlier calls stay in tables and pictures.

mod figures;
mod frameworks;
mod plan;
mod results;
mod tables;

use std::path::PathBuf;

use unbraid_data::whole_file::write_whole;
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;

use super::page::write_page;
use super::summary::Summary;
use super::{PerturbConfig, PerturbFolder, Side};
use crate::config::Config;
use crate::prepare::prepare;
use crate::run::{hold_file, read_config};
use crate::run_once::run_once;
use crate::train::Ending;
use crate::watch::Watch;
pub use figures::{factors_picture, line_search_picture, scores_picture};
pub use frameworks::{FRAMEWORKS, Published, Retrained, SCORE_TITLES, SCORES};
pub use plan::Data;
use plan::{Plan, Planned, check_scales, versions};
pub use results::{RunResult, drop_in_words, frameworks_of, spread_of, spread_of_factor, to_json};
pub use tables::{PUBLISHED, at_scale, line_search_table, scales_of, score_tables, words};

/// The scales of T4's line search, 0.75 to 2.
pub const SCALES: [f64; 5] = [0.75, 1.0, 1.25, 1.5, 2.0];

const MOST_SEEDS: u64 = 1000;

/// What is trained again.
#[derive(Debug, Clone, PartialEq)]
pub struct RetrainSettings {
    /// Names of frameworks; those of table 4.2 where there are none.
    pub frameworks: Vec<String>,
    /// With how many seeds.
    pub seeds: u64,
    /// By what main settings are multiplied on altered images; none for no line search.
    pub scales: Vec<f64>,
}

impl RetrainSettings {
    /// How many runs are wanted, those that are there too.
    pub fn n_runs(&self) -> Result<usize> {
        let frameworks = frameworks::chosen(&self.frameworks)?;
        let n_versions: usize = frameworks.iter().map(|framework| versions(framework, &self.scales).len()).sum();
        Ok(n_versions * self.seeds as usize)
    }
}

/// Trains all that is missing and tells what came of it and of earlier calls, in `retrain.csv`, pictures and the page; nothing where the user asks to
/// stop.
pub fn retrain(
    config: &PerturbConfig,
    folder: &PerturbFolder,
    settings: &RetrainSettings,
    watch: &mut dyn Watch,
) -> Result<Option<Vec<RunResult>>> {
    let _held = hold_file(&folder.config_path(), folder.path())?;
    check(settings)?;
    let given = given_runs(config)?;
    let best = &config.of_side(Side::Disentangled)[0].path;
    let base = given.iter().find(|(path, _)| path == best).map(|(_, config)| config);
    let base = base.ok_or_else(|| Error::failure("the most disentangled run is not among those given"))?;
    let plan = Plan { base, folder, given: &given };
    let wanted = plan.wanted(&frameworks::chosen(&settings.frameworks)?, settings.seeds, &settings.scales)?;
    check_runs(&wanted)?;
    let n_runs = wanted.len();
    for (position, run) in wanted.iter().enumerate() {
        if given.iter().any(|(path, _)| *path == run.path) {
            continue;
        }
        if !run.path.join("report.html").exists() {
            watch.note(&format!("run {} of {n_runs}: {}", position + 1, run.path.display()));
        }
        if let Ending::Stopped(_) = run_once(&run.config, &run.path, watch)? {
            return Ok(None);
        }
    }
    let all = plan.with_earlier(wanted)?;
    let results = all.iter().map(RunResult::read).collect::<Result<Vec<_>>>()?;
    write_whole(&folder.retrain_table_path(), results::to_csv(&results).as_bytes())?;
    let summary = Summary::read(folder)?;
    figures::draw(folder, &summary, &results)?;
    write_page(folder, &summary, &results)?;
    Ok(Some(results))
}

/// Checks all that can be wrong before anything is trained.
pub fn check(settings: &RetrainSettings) -> Result<()> {
    frameworks::chosen(&settings.frameworks)?;
    check_scales(&settings.scales)?;
    if (1..=MOST_SEEDS).contains(&settings.seeds) {
        return Ok(());
    }
    Err(Error::new(format!("--seeds is {}", settings.seeds)).help(format!("wanted 1 to {MOST_SEEDS}")))
}

/// Refuses images by whose factors no run could be scored.
pub fn check_factors(config: &PerturbConfig) -> Result<()> {
    match config.chosen_by.as_str() {
        "mig" => Ok(()),
        _ => Err(Error::new("the images have no factors, by which runs could be scored")
            .help("--retrain needs a dataset with factors; perturbed.npz can be trained on as any dataset")),
    }
}

/// The given runs and their configs.
fn given_runs(config: &PerturbConfig) -> Result<Vec<(PathBuf, Config)>> {
    check_factors(config)?;
    config.runs.iter().map(|run| Ok((run.path.clone(), read_config(&RunFolder::open(&run.path)?)?))).collect()
}

/// Finds what does not fit together before days were spent on the others.
fn check_runs(wanted: &[Planned]) -> Result<()> {
    for run in wanted.iter().filter(|run| run.data == Data::Original && run.seed == 1) {
        prepare(&run.config).map_err(|error| {
            error.more_help(format!("or leave \"{}\" out: --frameworks NAME,NAME", run.framework.name))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_each_version_and_of_the_search() {
        let of = |frameworks: &[&str], scales: &[f64]| {
            let frameworks = frameworks.iter().map(ToString::to_string).collect();
            RetrainSettings { frameworks, seeds: 3, scales: scales.to_vec() }.n_runs().unwrap()
        };
        // Three versions of the images, and two scales beside 1 for what has a main setting, which `ae` has not.
        assert_eq!((of(&["beta_vae", "ae"], &[]), of(&["beta_vae", "ae"], &[0.75, 1.0, 2.0])), (18, 24));
    }
}
