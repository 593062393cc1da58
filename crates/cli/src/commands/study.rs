//! `unbraid study`: many runs together, as a page and a table.

use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_data::whole_file::{create_folder, write_whole};
use unbraid_data::words::quoted;
use unbraid_experiment::study::{add_udr, gather};
use unbraid_study::table_files::{write_csv, write_parquet};
use unbraid_study::verdict::{lead, verdicts};
use unbraid_study::{StudyTable, study_page};

use crate::Outcome;
use crate::output::{print, tell};
use crate::watching::Watcher;

const MORE: &str = "\
Each figure says how many runs it rests on, and where there are too few the page says what is missing. The questions are those of Locatello et al. 2019 and of Mogultay Ozcan 2024, chapters 5 to 7; \
docs/study.md tells how to read the answers.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Folders of runs (OUT of `unbraid sweep`), sweeps (OUT/sweeps/NAME), or runs
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,

    /// Where study.html, runs.csv and runs.parquet go
    #[arg(long, value_name = "FOLDER", default_value = "study")]
    out: PathBuf,
}

/// Warns where runs that stand beside each other were not measured alike.
pub fn tell_measured_differently(table: &StudyTable) {
    let differently = table.measured_differently();
    if !differently.is_empty() {
        tell(format!(
            "note: runs were not all measured alike, so that scores may not be comparable: {} differ",
            differently.join(", ")
        ));
    }
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut gathered = gather(&arguments.folders)?;
    gathered.notes.iter().for_each(|note| tell(format!("note: {note}")));
    let n_told = gathered.notes.len();
    let mut watcher = Watcher::new()?;
    if add_udr(&mut gathered, &mut watcher)?.is_none() {
        return Ok(Outcome::Stopped);
    }
    watcher.finish();
    gathered.notes[n_told..].iter().for_each(|note| tell(format!("note: {note}")));
    let table = StudyTable::new(&gathered.runs)?;
    create_folder(&arguments.out)?;
    let [page, csv, parquet] = ["study.html", "runs.csv", "runs.parquet"].map(|name| arguments.out.join(name));
    write_csv(&table, &csv)?;
    write_parquet(&table, &parquet)?;
    let folders: Vec<String> = arguments.folders.iter().map(|folder| quoted(folder)).collect();
    let commands = [
        ("the same runs as they are now".to_string(), format!("unbraid study {}", folders.join(" "))),
        ("some of them side by side".to_string(), "unbraid compare RUN RUN ...".to_string()),
    ];
    let title = match folders.as_slice() {
        [first, _, _, ..] => format!("{first} and {} more", folders.len() - 1),
        few => few.join(", "),
    };
    write_whole(&page, study_page(&table, &title, &gathered.notes, &commands)?.as_bytes())?;
    tell_measured_differently(&table);
    print(lead(&table))?;
    for (heading, text) in verdicts(&table) {
        print(format!("\n{heading}\n  {text}"))?;
    }
    print(format!("\npage: {}\ntable: {}, {}", quoted(&page), quoted(&csv), quoted(&parquet)))?;
    Ok(Outcome::Done)
}
