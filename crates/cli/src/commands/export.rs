//! `unbraid export`: runs for other programs.

use std::path::PathBuf;

use unbraid_data::whole_file::create_folder;
use unbraid_data::words::{counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_experiment::study::gather;
use unbraid_report::{RunFolder, wandb};
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

    /// What is written: csv and parquet have one row a run, all settings and scores as columns; wandb is an offline run for each, which `wandb sync` uploads
    #[arg(long)]
    format: Format,

    /// The file; for wandb the folder of runs [default: csv is printed, wandb is the folder `wandb`]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,

    /// The project that runs belong to at Weights & Biases
    #[arg(long, value_name = "NAME", default_value = "unbraid")]
    project: String,
}

/// What is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Csv,
    Parquet,
    Wandb,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let gathered = gather(&arguments.runs)?;
    gathered.notes.iter().for_each(|note| tell(format!("note: {note}")));
    if let Format::Wandb = arguments.format {
        return export_offline(&gathered.folders, arguments);
    }
    let table = StudyTable::new(&gathered.runs)?;
    match (arguments.format, &arguments.out) {
        (Format::Csv, None) => return print(csv_text(&table)?.trim_end()).map(|()| Outcome::Done),
        (Format::Csv, Some(path)) => write_csv(&table, path)?,
        (Format::Parquet, Some(path)) => write_parquet(&table, path)?,
        (Format::Wandb, _) => {}
        (Format::Parquet, None) => {
            return Err(Error::new("Parquet is no text to be printed").help("wanted --out FILE.parquet"));
        }
    }
    tell(format!("wrote {}", counted(table.n_runs(), "run")));
    Ok(Outcome::Done)
}

/// Writes an offline run for each.
fn export_offline(folders: &[RunFolder], arguments: &Arguments) -> Result<Outcome> {
    let into = arguments.out.clone().unwrap_or_else(|| PathBuf::from("wandb"));
    create_folder(&into)?;
    let mut damaged = Vec::new();
    for folder in folders {
        match wandb::export(folder, &into, &arguments.project) {
            Ok(path) => print(quoted(&path))?,
            Err(error) if error.is_about_a_full_disk() || folders.len() == 1 => return Err(error),
            Err(error) => damaged.push(error),
        }
    }
    for error in &damaged {
        tell(format!("note: 1 run left out: {}", error.to_string().lines().next().unwrap_or_default()));
    }
    tell(format!("wrote {}; `wandb sync PATH` uploads one", counted(folders.len() - damaged.len(), "run")));
    Ok(if damaged.is_empty() { Outcome::Done } else { Outcome::SomeFailed })
}
