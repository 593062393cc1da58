//! One file for each command: its arguments, and what it does with them.

use std::io::{IsTerminal, stdout};
use std::path::Path;

use unbraid_data::{Result, datasets};
use unbraid_experiment::Ending;
use unbraid_experiment::run::read_config;
use unbraid_report::RunFolder;
use unbraid_report::headlines::headlines;
use unbraid_report::run_folder::quoted;
use unbraid_report::tables::scores_table;

use crate::Outcome;
use crate::output::print;

pub mod bench;
pub mod data;
pub mod demo;
pub mod entangle;
pub mod evaluate;
mod inputs;
pub mod known_codes;
pub mod list;
pub mod report;
pub mod resume;
pub mod train;
pub mod traverse;

/// Columns of the terminal for tables; tables elsewhere are as wide as they need.
fn table_width() -> Option<u16> {
    stdout().is_terminal().then_some(100)
}

/// Prints how a run ended, with its scores where it finished; and what the command came to.
fn tell_ending(ending: Ending, path: &Path) -> Result<Outcome> {
    match ending {
        Ending::Finished => {
            let folder = RunFolder::open(path)?;
            let dataset = read_config(&folder)?.dataset;
            let dataset = datasets::open(&dataset.name, &dataset.settings)?;
            let (scores, _) = headlines(&folder.read_scores()?, dataset.factors().names());
            print(scores_table(&scores, table_width()).trim_end())?;
            print(format!("open {} to see what each latent does", path.join("report.html").display()))?;
            Ok(Outcome::Done)
        }
        Ending::Stopped(step) => {
            print(format!("stopped and saved after step {step}; to go on:\n  unbraid resume {}", quoted(path)))?;
            Ok(Outcome::Stopped)
        }
    }
}
