//! `unbraid compare`: runs side by side, mean and spread over seeds, paired tests where seeds match.

use std::path::PathBuf;

use unbraid_data::{Error, Result};
use unbraid_experiment::study::gather;
use unbraid_study::compare::{Shown, comparison_text};
use unbraid_study::{StudyTable, compare};

use super::study::tell_measured_differently;
use super::table_width;
use crate::Outcome;
use crate::output::{print, tell};

const MORE: &str = "\
Runs that differ by their seed alone are a group; the first group that is given is the one that others are tested against, by a paired t test and a Wilcoxon signed-rank test over the seeds that both have on the same dataset.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Runs, folders of runs, or sweeps (OUT/sweeps/NAME)
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// Show every score of the whole, and not only the one that each metric is known by
    #[arg(long)]
    all: bool,

    /// Print JSON: groups, and for each score mean, deviation, interval and tests
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let gathered = gather(&arguments.runs)?;
    gathered.notes.iter().for_each(|note| tell(format!("note: {note}")));
    let table = StudyTable::new(&gathered.runs)?;
    tell_measured_differently(&table);
    let comparison = compare(&table);
    if arguments.json {
        let json = serde_json::to_string_pretty(&comparison);
        print(json.map_err(|error| Error::failure(format!("the comparison cannot be written: {error}")))?)?;
    } else {
        let shown = if arguments.all { Shown::All } else { Shown::Headlines };
        print(comparison_text(&comparison, shown, table_width()))?;
    }
    Ok(Outcome::Done)
}
