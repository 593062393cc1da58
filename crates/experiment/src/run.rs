//! A run from its config to its report: the stages in order, each leaving its files in the folder.

use std::fs::{File, TryLockError};
use std::path::Path;

use unbraid_data::{Error, Result, Seed};
use unbraid_report::RunFolder;

use crate::config::Config;
use crate::jacobians::with_jacobians;
use crate::measure::{encode_dataset, measure};
use crate::page::write_page;
use crate::pictures::draw_all;
use crate::prepare::{Prepared, prepare};
use crate::train::{Ending, train};
use crate::watch::Watch;

/// Starts a run in a new folder and carries it to its end. All that can be wrong with the config was found when it was
/// prepared, before there is a folder.
pub fn start(config: &Config, prepared: Prepared, path: &Path, watch: &mut dyn Watch) -> Result<Ending> {
    let folder = RunFolder::create(path, &config.to_toml())?;
    carry_on(&folder, config, prepared, watch)
}

/// Goes on with a run from its last checkpoint to its end. A run that has ended gets its later stages done again.
pub fn resume(path: &Path, watch: &mut dyn Watch) -> Result<Ending> {
    let folder = RunFolder::open(path)?;
    let config = read_config(&folder)?;
    let prepared = prepare(&config)?;
    carry_on(&folder, &config, prepared, watch)
}

/// The config that a run was started with.
pub fn read_config(folder: &RunFolder) -> Result<Config> {
    Config::parse(&folder.read_config()?, &[]).map_err(|error| error.at(folder.config_path().display()))
}

fn carry_on(folder: &RunFolder, config: &Config, mut prepared: Prepared, watch: &mut dyn Watch) -> Result<Ending> {
    let _held = hold(folder)?;
    folder.remove_leftovers()?;
    if let Ending::Stopped(step) = train(folder, config, &mut prepared, watch)? {
        return Ok(Ending::Stopped(step));
    }
    let stopped = Ok(Ending::Stopped(prepared.learner.steps_taken()));
    let Some(data) = encode_dataset(config, &mut prepared, watch)? else { return stopped };
    folder.write_codes(&data)?;
    watch.stage("measuring", config.metrics.len() as u64);
    let data = with_jacobians(data, &config.metrics, &mut prepared.learner)?;
    let scores = measure(&config.metrics, &data, Seed(config.seed), &mut |name| watch.next_item(name))?;
    folder.write_scores(&scores)?;
    if watch.should_stop() {
        return stopped;
    }
    watch.stage("drawing", 0);
    draw_all(folder, config, &mut prepared, &data)?;
    if watch.should_stop() {
        return stopped;
    }
    write_page(folder, config)?;
    Ok(Ending::Finished)
}

/// Keeps other processes from working on the run; the system lets go of it however this process ends.
fn hold(folder: &RunFolder) -> Result<File> {
    let path = folder.config_path();
    let file = File::open(&path).map_err(|error| Error::new(format!("{} cannot be read: {error}", path.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::new(format!("another process is working on {}", folder.path().display()))
                .help("wait for it to end, or stop it"))
        }
        // A file system without locks: the run goes on unguarded, as it would have to.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}
