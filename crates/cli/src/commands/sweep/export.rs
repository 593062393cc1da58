//! `unbraid sweep --export commands`: one command for each run, for other schedulers.

use std::path::Path;

use unbraid_data::words::shell_word;
use unbraid_data::{Error, Result};
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::Plan;
use unbraid_experiment::sweep::state::is_finished;

use super::worker;
use crate::Outcome;
use crate::output::print;

/// Prints the commands of all runs that are not finished. A command may be given twice, or to two machines: the run is made once.
pub fn run(folder: &SweepFolder, plan: &Plan, data_root: Option<&Path>) -> Result<Outcome> {
    // Whoever runs the command may be in another folder.
    let folder = SweepFolder::open(folder.path())?;
    let data_root = data_root.and_then(|path| path.canonicalize().ok());
    let mut worker = worker(&folder, 1, data_root.as_deref())?;
    let here = std::env::current_dir();
    worker.arg("--cwd").arg(here.map_err(|error| Error::failure(format!("this folder has no path: {error}")))?);
    let words = std::iter::once(worker.get_program()).chain(worker.get_args());
    let start: Vec<String> = words.map(|word| shell_word(&word.to_string_lossy())).collect();
    for run in plan.runs.iter().filter(|run| !is_finished(&folder.run_path(&run.name))) {
        print(format!("{} {}", start.join(" "), shell_word(&run.name)))?;
    }
    Ok(Outcome::Done)
}
