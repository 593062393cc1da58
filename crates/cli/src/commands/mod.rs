//! One file for each command: its arguments, and what it does with them.

use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};

use unbraid_data::Result;
use unbraid_data::words::quoted;
use unbraid_experiment::Ending;
use unbraid_report::RunFolder;
use unbraid_report::tables::key_scores_table;

use crate::Outcome;
use crate::output::{print, tell};

pub mod bench;
pub mod compare;
pub mod data;
pub mod demo;
pub mod distances;
pub mod doctor;
pub mod encode;
pub mod entangle;
pub mod evaluate;
pub mod export;
mod inputs;
pub mod inspect;
pub mod known_codes;
pub mod learn_kernel;
pub mod list;
pub mod pca;
pub mod perturb;
pub mod report;
pub mod reproduce;
pub mod resume;
pub mod study;
pub mod suggest_beta;
pub mod sweep;
pub mod train;
pub mod traverse;

/// Columns of the terminal for tables; tables elsewhere are as wide as they need.
fn table_width() -> Option<u16> {
    stdout().is_terminal().then_some(100)
}

/// Where the page of a command goes, if anywhere: with JSON only where it is told to.
fn page_folder(out: Option<&Path>, json: bool, usual: impl FnOnce() -> PathBuf) -> Option<PathBuf> {
    match out {
        Some(folder) => Some(folder.to_path_buf()),
        None => (!json).then(usual),
    }
}

/// Tells where the page is, the first of the files that were written.
fn tell_page(written: Option<&[PathBuf]>, json: bool) -> Result<()> {
    match written.and_then(<[PathBuf]>::first) {
        Some(page) if json => tell(format!("page: {}", page.display())),
        Some(page) => print(format!("\npage: {}", page.display()))?,
        None => {}
    }
    Ok(())
}

/// Prints how a run ended, where it finished with its key scores and where the rest is; and what the command came to.
fn tell_ending(ending: Ending, path: &Path) -> Result<Outcome> {
    match ending {
        Ending::Finished | Ending::FinishedBefore(_) => {
            let folder = RunFolder::open(path)?;
            print(key_scores_table(&[("", &folder.read_scores()?)], table_width()))?;
            let (run, scores) = (quoted(path), folder.scores_path());
            print(format!("what each latent does: {}", folder.page_path().display()))?;
            print(format!("all scores: `unbraid evaluate {run}`, or {}", scores.display()))?;
            Ok(Outcome::Done)
        }
        Ending::Stopped(step) => {
            print(format!("stopped and saved after step {step}; to go on:\n  unbraid resume {}", quoted(path)))?;
            Ok(Outcome::Stopped)
        }
    }
}
