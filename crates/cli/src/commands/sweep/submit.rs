//! `unbraid sweep --slurm`: the runs as an array of tasks.

use std::path::Path;

use unbraid_data::Result;
use unbraid_data::words::{counted, quoted};
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::Plan;
use unbraid_experiment::sweep::slurm::{SlurmSettings, submit};
use unbraid_experiment::sweep::state::is_finished;

use super::program;
use crate::Outcome;
use crate::output::print;

/// Submits the runs that are left.
pub fn run(folder: &SweepFolder, plan: &Plan, settings: &SlurmSettings, data_root: Option<&Path>) -> Result<Outcome> {
    let left = plan.runs.iter().map(|run| run.name.as_str()).filter(|run| !is_finished(&folder.run_path(run)));
    let left: Vec<&str> = left.collect();
    if left.is_empty() {
        print(format!("all of {} are finished", counted(plan.runs.len(), "run")))?;
        return Ok(Outcome::Done);
    }
    let folder = SweepFolder::open(folder.path())?;
    let data_root = data_root.and_then(|path| path.canonicalize().ok());
    let submitted = submit(&folder, &left, settings, &program()?, data_root.as_deref())?;
    let status = quoted(folder.path());
    print(format!(
        "job {}: an array of {} for {}",
        submitted.job,
        counted(submitted.n_tasks, "task"),
        counted(left.len(), "run")
    ))?;
    print(format!("what it says: {}", quoted(&submitted.logs)))?;
    print(format!("`unbraid sweep status {status}` tells how far it is, `unbraid sweep cancel {status}` stops it"))?;
    Ok(Outcome::Done)
}
