//! Refuses folders of runs that are not what a plan means by them: their config was changed, or they were trained on other images.

use std::collections::BTreeMap;

use rayon::prelude::*;
use unbraid_data::Result;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_report::RunFolder;

use super::folder::SweepFolder;
use super::plan::Plan;
use crate::config::Config;
use crate::dataset_record;
use crate::run::read_config;
use crate::run_once::{another_config, is_same};

/// Checks all runs that are there.
pub fn check_runs(folder: &SweepFolder, plan: &Plan) -> Result<()> {
    check_configs(folder, plan)?;
    check_images(folder, plan)
}

/// The config must be the planned one.
fn check_configs(folder: &SweepFolder, plan: &Plan) -> Result<()> {
    plan.runs.par_iter().try_for_each(|run| {
        let path = folder.run_path(&run.name);
        match RunFolder::open(&path) {
            Ok(found) if !is_same(&read_config(&found)?, &run.config()?) => Err(another_config(&path)),
            _ => Ok(()),
        }
    })
}

/// Images of one's own files must be those that the run was trained on: a run is named by the path, and what lies there may be replaced, or lie elsewhere
/// from another working folder. Files that are not there are left to the runs that need them.
fn check_images(folder: &SweepFolder, plan: &Plan) -> Result<()> {
    let mut now: BTreeMap<String, Option<DatasetRecord>> = BTreeMap::new();
    for run in &plan.runs {
        // Of a long plan few configs name a file: the others need not be read a second time.
        if !run.config.contains("path") {
            continue;
        }
        let Ok(found) = RunFolder::open(&folder.run_path(&run.name)) else { continue };
        let config = run.config()?;
        if !config.dataset.settings.contains_key("path") {
            continue;
        }
        let Ok(Some(before)) = found.read_dataset() else { continue };
        let key = format!("{} {} {}", config.dataset.name, config.dataset.settings, config.model.name);
        if let Some(now) = now.entry(key).or_insert_with(|| record(&config)) {
            before.check_same(now).map_err(|error| error.at(found.dataset_path().display()))?;
        }
    }
    Ok(())
}

fn record(config: &Config) -> Option<DatasetRecord> {
    let dataset = dataset_record::open(config).ok()?;
    DatasetRecord::of(&config.dataset.name, dataset.as_ref()).ok()
}
