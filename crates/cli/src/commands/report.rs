//! `unbraid report`: the scores, figures and page of a run, made again from its codes and its checkpoint.

use std::path::{Path, PathBuf};

use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_experiment::TrainedRun;
use unbraid_experiment::measure::{measure, read_codes, with_saved_or_new_jacobians};
use unbraid_experiment::page::write_page;
use unbraid_experiment::pictures::draw_all;

use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let (run, data) = open_encoded(&arguments.run)?;
    let TrainedRun { folder, config, .. } = &run;
    let data = with_saved_or_new_jacobians(&run, data)?;
    let mut progress = Progress::new();
    progress.stage("measuring", config.metrics.len() as u64);
    let scores = measure(&config.metrics, &data, Seed(config.seed), &mut |name| progress.next_item(name))?;
    folder.write_scores(&scores)?;
    progress.stage("drawing", 0);
    draw_all(&run, &data)?;
    write_page(folder, config)?;
    progress.clear();
    print(folder.page_path().display())?;
    Ok(Outcome::Done)
}

/// Opens a run that has got as far as its codes.
pub fn open_encoded(path: &Path) -> Result<(TrainedRun, LabelledCodes)> {
    let run = TrainedRun::open(path)?;
    let data = read_codes(&run.folder, &run.config)?;
    Ok((run, data))
}
