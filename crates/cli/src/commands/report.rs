//! `unbraid report`: the scores, figures and page of a run, made again from its codes and its checkpoint.

use std::path::{Path, PathBuf};

use unbraid_data::{Error, LabelledCodes, Result, Seed};
use unbraid_experiment::Config;
use unbraid_experiment::measure::{measure, read_codes, with_saved_or_new_jacobians};
use unbraid_experiment::page::write_page;
use unbraid_experiment::pictures::draw_all;
use unbraid_experiment::prepare::{Prepared, prepare};
use unbraid_experiment::run::read_config;
use unbraid_experiment::train::load_checkpoint;
use unbraid_report::RunFolder;

use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the run
    run: PathBuf,
}

/// A run that was trained and encoded.
pub struct Trained {
    /// Its files.
    pub folder: RunFolder,
    /// What it was started with.
    pub config: Config,
    /// Its dataset and model.
    pub prepared: Prepared,
    /// Its codes.
    pub data: LabelledCodes,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let Trained { folder, config, mut prepared, data } = open_trained(&arguments.run)?;
    let data = with_saved_or_new_jacobians(&folder, data, &mut prepared)?;
    let mut progress = Progress::new();
    progress.stage("measuring", config.metrics.len() as u64);
    let scores = measure(&config.metrics, &data, Seed(config.seed), &mut |name| progress.next_item(name))?;
    folder.write_scores(&scores)?;
    progress.stage("drawing", 0);
    draw_all(&folder, &config, &mut prepared, &data)?;
    write_page(&folder, &config)?;
    progress.clear();
    print(folder.page_path().display())?;
    Ok(Outcome::Done)
}

/// Opens a run that has got as far as its codes.
pub fn open_trained(path: &Path) -> Result<Trained> {
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let mut prepared = prepare(&config)?;
    let data = read_codes(&folder, &config, prepared.dataset.as_ref())?;
    if load_checkpoint(&folder, &config, &mut prepared.learner)? == 0 {
        return Err(Error::new(format!("there is no {}", folder.model_path().display()))
            .help("put it back, or train again: the codes alone cannot be decoded"));
    }
    Ok(Trained { folder, config, prepared, data })
}
