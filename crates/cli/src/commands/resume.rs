//! `unbraid resume`: goes on with a run from its last checkpoint.

use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_experiment::run;

use super::tell_ending;
use crate::Outcome;
use crate::watching::Watcher;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut watcher = Watcher::new()?;
    let ending = run::resume(&arguments.run, &mut watcher)?;
    watcher.finish();
    tell_ending(ending, &arguments.run)
}
