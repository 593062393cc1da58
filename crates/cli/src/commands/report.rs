//! `unbraid report`: the figures and the page of a run, drawn again from what it left.

use std::path::{Path, PathBuf};

use unbraid_data::{Error, LabelledCodes, Result};
use unbraid_experiment::Config;
use unbraid_experiment::measure::read_codes;
use unbraid_experiment::page::write_page;
use unbraid_experiment::pictures::draw_all;
use unbraid_experiment::prepare::{Prepared, prepare};
use unbraid_experiment::run::read_config;
use unbraid_experiment::train::load_checkpoint;
use unbraid_report::RunFolder;

use crate::Outcome;

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
    draw_all(&folder, &config, &mut prepared, &data)?;
    write_page(&folder, &config)?;
    println!("{}", folder.page_path().display());
    Ok(Outcome::Done)
}

/// Opens a run that has got as far as its codes.
pub fn open_trained(path: &Path) -> Result<Trained> {
    let folder = RunFolder::open(path)?;
    if !folder.codes_path().exists() {
        return Err(Error::new(format!("{} has no codes yet: its training has not ended", path.display()))
            .help(format!("`unbraid resume {}` goes on with it", path.display())));
    }
    let config = read_config(&folder)?;
    let mut prepared = prepare(&config)?;
    load_checkpoint(&folder, &mut prepared.learner)?;
    let data = read_codes(&folder, &config, prepared.dataset.as_ref())?;
    Ok(Trained { folder, config, prepared, data })
}
