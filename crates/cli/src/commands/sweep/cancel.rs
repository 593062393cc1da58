//! `unbraid sweep cancel`: lets every process that works on a sweep save and stop.

use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::slurm::cancel_tasks;

use crate::Outcome;
use crate::output::print;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the sweep, OUT/sweeps/NAME
    folder: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let folder = SweepFolder::open(&arguments.folder)?;
    folder.cancel()?;
    let n_arrays = cancel_tasks(&folder)?;
    if n_arrays > 0 {
        print(format!("cancelled {n_arrays} of its arrays of Slurm"))?;
    }
    print("runs that go on save themselves within seconds; `unbraid sweep FILE.toml` goes on with the sweep")?;
    Ok(Outcome::Done)
}
