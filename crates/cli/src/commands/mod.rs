//! One file for each command: its arguments, and what it does with them.

use std::io::{IsTerminal, stdout};
use std::path::Path;

use crate::Outcome;
use unbraid_experiment::Ending;

pub mod bench;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod list;
pub mod report;
pub mod resume;
pub mod train;
pub mod traverse;

/// Columns of the terminal for tables; tables elsewhere are as wide as they need.
fn table_width() -> Option<u16> {
    stdout().is_terminal().then_some(100)
}

/// What to print at the end of a run, and what the command came to.
fn tell_ending(ending: Ending, path: &Path) -> Outcome {
    match ending {
        Ending::Finished => {
            println!("finished: open {}", path.join("report.html").display());
            Outcome::Done
        }
        Ending::Stopped(step) => {
            println!("stopped and saved after step {step}; to go on:\n  unbraid resume {}", path.display());
            Outcome::Stopped
        }
    }
}
