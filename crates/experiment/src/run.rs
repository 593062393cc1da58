//! A run from its config to its report: the stages in order, each leaving its files in the folder.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use unbraid_data::words::quoted;
use unbraid_data::{Error, Result, Seed};
use unbraid_report::RunFolder;
use unbraid_report::status::{State, Status};
use unbraid_report::whole_file::read_text;

use crate::config::Config;
use crate::dataset_record::check_or_keep_dataset;
use crate::measure::{encode_dataset, measure, read_codes};
use crate::origin::check_changes;
use crate::page::write_page;
use crate::pictures::draw_all;
use crate::prepare::{Prepared, prepare};
use crate::status::StatusWatch;
use crate::train::{Ending, Start, begin, train};
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

/// Starts a run in a new folder and carries it to its end. All that can be wrong with the config was found when it was
/// prepared, before there is a folder.
///
/// ```
/// use unbraid_experiment::prepare::prepare;
/// use unbraid_experiment::watch::Nobody;
/// use unbraid_experiment::{Config, TrainedRun, run};
///
/// let text = "[dataset]\nname = 'xy_squares'\nsquares = 1\n[framework]\nname = 'vae'\n[model]\nname = 'linear'\n\
///             [training]\nsteps = 3\nbatch_size = 4\n[[metrics]]\nname = 'mig'";
/// let config = Config::parse(text, &[])?;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run");
/// run::start(&config, prepare(&config)?, &path, &mut Nobody)?;
///
/// let trained = TrainedRun::open(&path)?;
/// assert_eq!((trained.step, trained.model.latents()), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn start(config: &Config, mut prepared: Prepared, path: &Path, watch: &mut dyn Watch) -> Result<Ending> {
    let folder = RunFolder::create(path, &config.to_toml())?;
    let _held = hold(&folder)?;
    let mut watch = StatusWatch::begin(&folder, watch, 0, config.training.steps)?;
    let ending = check_or_keep_dataset(&folder, config, prepared.dataset.as_ref())
        .and_then(|()| begin(&folder, config, &mut prepared.learner))
        .and_then(|start| stages(&folder, config, prepared, start, &mut watch));
    end(&folder, watch, ending)
}

/// Goes on with a run from its last checkpoint to its end, with these changes of its config (`training.steps=800`). A run that
/// has ended is left as it is, unless the config changed.
pub fn resume(path: &Path, changes: &[String], watch: &mut dyn Watch) -> Result<Ending> {
    let folder = RunFolder::open(path)?;
    let _held = hold(&folder)?;
    let before = read_config(&folder)?;
    check_changes(changes)?;
    let config = Config::parse_of_run(&folder.read_config()?, changes)
        .map_err(|error| error.at(folder.config_path().display()))?;
    let mut prepared = prepare(&config)?;
    check_model(&folder, &before)?;
    check_or_keep_dataset(&folder, &config, prepared.dataset.as_ref())?;
    let start = begin(&folder, &config, &mut prepared.learner)?;
    if config == before && is_finished(&folder, &config, &start) {
        say_finished(&folder)?;
        return Ok(Ending::FinishedBefore(start.saved));
    }
    // Killed at any moment from here on, the run is not finished.
    folder.remove_page()?;
    let _held_too = if config == before { None } else { Some(change_config(&folder, &config)?) };
    let mut watch = StatusWatch::begin(&folder, watch, start.saved, config.training.steps)?;
    let ending = stages(&folder, &config, prepared, start, &mut watch);
    end(&folder, watch, ending)
}

/// The config of a run.
pub fn read_config(folder: &RunFolder) -> Result<Config> {
    Config::parse_of_run(&folder.read_config()?, &[]).map_err(|error| error.at(folder.config_path().display()))
}

/// Refuses a run that has lost its checkpoint: trained again from the start, it would lose its results as well. Where a run was
/// killed before its first checkpoint there is only the log, which is no longer than up to that.
fn check_model(folder: &RunFolder, config: &Config) -> Result<()> {
    if folder.model_path().exists() {
        return Ok(());
    }
    let first_checkpoint = config.training.checkpoint_every.min(config.training.steps) as usize;
    // Each step has a line, and the first line is the header.
    let n_lines = read_text(&folder.losses_path()).map_or(0, |text| text.matches('\n').count());
    let mut found = folder.results();
    if n_lines > first_checkpoint + 1 {
        found.push(folder.losses_path());
    }
    if found.is_empty() {
        return Ok(());
    }
    let place = quoted(folder.path());
    let names: Vec<_> = found.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy())).collect();
    let message = format!("{place} has no model.safetensors, and what was made with it is there: {}", names.join(", "));
    let help = format!(
        "put model.safetensors back; or leave the run as it is (`unbraid evaluate {place}` needs no model) and train again \
         elsewhere: unbraid train {} --out FOLDER",
        quoted(&folder.config_path())
    );
    Err(Error::new(message).help(help))
}

/// Whether all that a run leaves is there. The page is written last.
fn is_finished(folder: &RunFolder, config: &Config, start: &Start) -> bool {
    start.saved == config.training.steps
        && [folder.page_path(), folder.scores_path()].iter().all(|path| path.exists())
        && read_codes(folder, config).is_ok()
}

/// Writes a config that changed and holds the new file, which is another one than was held before.
fn change_config(folder: &RunFolder, config: &Config) -> Result<File> {
    folder.write_config(&config.to_toml())?;
    hold(folder)
}

/// Says in `status.json` how a run ended. The config was checked, so that whatever failed was a failure on the way.
fn end(folder: &RunFolder, watch: StatusWatch, ending: Result<Ending>) -> Result<Ending> {
    if !folder.config_path().exists() {
        return Err(Error::failure(format!("{} was removed while the run went on", quoted(folder.path())))
            .help("what it had learned is lost: train again"));
    }
    let ending = ending.map_err(Error::on_the_way);
    let written = watch.end(&ending);
    ending.and_then(|ending| written.map(|()| ending))
}

/// A run that was killed after all was done, before it could say so.
fn say_finished(folder: &RunFolder) -> Result<()> {
    match folder.read_status()? {
        Some(status) if status.state != State::Finished => {
            folder.write_status(&Status { state: State::Finished, error: None, ..status })
        }
        _ => Ok(()),
    }
}

/// The stages in order.
fn stages(
    folder: &RunFolder,
    config: &Config,
    mut prepared: Prepared,
    start: Start,
    watch: &mut dyn Watch,
) -> Result<Ending> {
    if let Ending::Stopped(step) = train(folder, config, &mut prepared, start, watch)? {
        return Ok(Ending::Stopped(step));
    }
    let stopped = Ok(Ending::Stopped(prepared.learner.steps_taken()));
    let run = TrainedRun::of_checkpoint(folder, config, prepared)?;
    let Some(data) = encode_dataset(&run, watch)? else { return stopped };
    folder.write_codes(&data)?;
    watch.stage("measuring", config.metrics.len() as u64);
    let scores = measure(&config.metrics, &data, Seed(config.seed), &mut |name| watch.next_item(name))?;
    folder.write_scores(&scores)?;
    if watch.should_stop() {
        return stopped;
    }
    watch.stage("drawing", 0);
    draw_all(&run, &data)?;
    if watch.should_stop() {
        return stopped;
    }
    config.log.refresh(folder)?;
    write_page(folder, config)?;
    Ok(Ending::Finished)
}

/// Keeps other processes from working on the run, and removes what one that was killed left half written; the system lets go of the run however
/// this process ends.
fn hold(folder: &RunFolder) -> Result<File> {
    let held = hold_file(&folder.config_path(), folder.path())?;
    folder.remove_leftovers()?;
    Ok(held)
}

/// Whether another process works on the run in this folder, or this one elsewhere.
pub(crate) fn is_held(path: &Path) -> bool {
    open_to_lock(&path.join("config.toml")).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Opens a file for its lock: for writing where that is allowed, without which NFS gives none.
fn open_to_lock(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path).or_else(|_| File::open(path))
}

/// The same by any file of a folder.
pub(crate) fn hold_file(path: &Path, folder: &Path) -> Result<File> {
    let file = open_to_lock(path).map_err(|error| Error::new(format!("{} cannot be read: {error}", path.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::new(format!("another process is working on {}", folder.display()))
            .help("wait for it to end, or stop it")),
        // A file system without locks: the run goes on unguarded, as it would have to.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}
