//! Frameworks trained again on original, altered and noisy images (T4 sections 4.3.2 to 4.3.5).
//!
//! Each run is one of `unbraid train` in a folder of its own. What was stopped or killed goes on, and nothing is trained twice: given runs that have
//! the same config are taken as they are.

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
pub use frameworks::{FRAMEWORKS, Published, Retrained, SCORES};
pub use plan::Data;
use plan::{Planned, check_scales, plan};
pub use results::{RunResult, Spread, drop_in_words, to_json};
pub use tables::{PUBLISHED, line_search_table, score_tables, words};

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

/// Trains all that is missing and tells what came of it, in `retrain.csv`, pictures and the page; nothing where the user asks to stop.
pub fn retrain(
    config: &PerturbConfig,
    folder: &PerturbFolder,
    settings: &RetrainSettings,
    watch: &mut dyn Watch,
) -> Result<Option<Vec<RunResult>>> {
    let _held = hold_file(&folder.config_path(), folder.path())?;
    let planned = planned(config, folder, settings)?;
    let (n_runs, given) = (planned.len(), config.runs.iter().map(|run| run.path.clone()).collect::<Vec<PathBuf>>());
    for (position, run) in planned.iter().enumerate() {
        if given.contains(&run.path) {
            continue;
        }
        if !run.path.join("report.html").exists() {
            watch.note(&format!("run {} of {n_runs}: {}", position + 1, run.path.display()));
        }
        if let Ending::Stopped(_) = run_once(&run.config, &run.path, watch)? {
            return Ok(None);
        }
    }
    let results = planned.iter().map(RunResult::read).collect::<Result<Vec<_>>>()?;
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

/// All runs that are wanted, each of which can be trained.
fn planned(config: &PerturbConfig, folder: &PerturbFolder, settings: &RetrainSettings) -> Result<Vec<Planned>> {
    check(settings)?;
    if config.chosen_by != "mig" {
        return Err(Error::new("the images have no factors, by which runs could be scored")
            .help("--retrain needs a dataset with factors; perturbed.npz can be trained on as any dataset"));
    }
    let given = config.runs.iter().map(|run| Ok((run.path.clone(), read_config(&RunFolder::open(&run.path)?)?)));
    let given = given.collect::<Result<Vec<(PathBuf, Config)>>>()?;
    let best = &config.of_side(Side::Disentangled)[0].path;
    let base = given.iter().find(|(path, _)| path == best).map(|(_, config)| config.clone());
    let base = base.ok_or_else(|| Error::failure("the most disentangled run is not among those given"))?;
    let frameworks = frameworks::chosen(&settings.frameworks)?;
    let planned = plan(&base, folder, &frameworks, settings.seeds, &settings.scales, &given)?;
    // What does not fit together is found before days were spent on the others.
    for run in planned.iter().filter(|run| run.data == Data::Original && run.seed == 1) {
        prepare(&run.config).map_err(|error| {
            error.more_help(format!("or leave \"{}\" out: --frameworks NAME,NAME", run.framework.name))
        })?;
    }
    Ok(planned)
}
