//! `unbraid export`: runs for other programs.

use std::path::PathBuf;

use unbraid_data::words::counted;
use unbraid_data::{Error, Result};
use unbraid_experiment::study::gather;
use unbraid_study::StudyTable;
use unbraid_study::table_files::{csv_text, write_csv, write_parquet};

use crate::Outcome;
use crate::output::{print, tell};

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Runs, folders of runs, or sweeps (OUT/sweeps/NAME)
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// What is written: csv and parquet have one row a run, all settings and scores as columns
    #[arg(long)]
    format: Format,

    /// The file; csv is printed where left out
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

/// What is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Csv,
    Parquet,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let gathered = gather(&arguments.runs)?;
    gathered.notes.iter().for_each(|note| tell(format!("note: {note}")));
    let table = StudyTable::new(&gathered.runs)?;
    match (arguments.format, &arguments.out) {
        (Format::Csv, None) => return print(csv_text(&table)?.trim_end()).map(|()| Outcome::Done),
        (Format::Csv, Some(path)) => write_csv(&table, path)?,
        (Format::Parquet, Some(path)) => write_parquet(&table, path)?,
        (Format::Parquet, None) => {
            return Err(Error::new("Parquet is no text to be printed").help("wanted --out FILE.parquet"));
        }
    }
    tell(format!("wrote {}", counted(table.n_runs(), "run")));
    Ok(Outcome::Done)
}
