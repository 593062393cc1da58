//! `unbraid resume`: goes on with a run from its last checkpoint, or beyond its end.

use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_data::words::quoted;
use unbraid_experiment::{Ending, run};

use super::tell_ending;
use crate::Outcome;
use crate::output::tell;
use crate::watching::Watcher;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,

    /// Go on with another setting: training.steps=60_000, training.checkpoint_every, rows, rows_seed, log.tensorboard or metrics
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut watcher = Watcher::new()?;
    let ending = run::resume(&arguments.run, &arguments.set, &mut watcher)?;
    watcher.finish();
    if let Ending::FinishedBefore(step) = ending {
        let run = quoted(&arguments.run);
        tell(format!(
            "{run} was finished before, after step {step}: nothing was left to do\n\
             to train longer:                         unbraid resume {run} --set training.steps={}\n\
             to make scores, figures and page again:  unbraid report {run}",
            step.saturating_mul(2)
        ));
    }
    tell_ending(ending, &arguments.run)
}
