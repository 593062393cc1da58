//! The training stage: the loop, the loss log and the checkpoints.

use std::path::Path;

use unbraid_data::loader::{LoadedBatch, Loader, Loading};
use unbraid_data::{Error, Result, Seed};
use unbraid_learn::{Batch, Learner, Member, StepLosses, checkpoint};
use unbraid_report::whole_file::read_whole;
use unbraid_report::{LossLog, RunFolder};

use crate::config::Config;
use crate::posterior_watch::PosteriorWatch;
use crate::prepare::Prepared;
use crate::selection::{Look, Selector};
use crate::watch::Watch;

/// Threads that fill batches while the network learns.
pub const LOADING_THREADS: usize = 1;

/// How a run, or its training, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All was done.
    Finished,
    /// All had been done before, up to this step, and nothing was left to do.
    FinishedBefore(u64),
    /// The user asked to stop after this step, which was saved.
    Stopped(u64),
}

/// Where a training goes on from.
pub struct Start {
    /// The steps that the checkpoint was taken after; 0 where there is none.
    pub saved: u64,
    log: LossLog,
}

/// Gets ready to train from the last checkpoint (or from the start). Whatever speaks against it is found here, before any
/// result is removed.
pub fn begin(folder: &RunFolder, config: &Config, learner: &mut Learner) -> Result<Start> {
    let saved = load_checkpoint(folder, config, learner)?;
    let steps = config.training.steps;
    if saved > steps {
        let message = format!("the checkpoint was taken after step {saved}, past the {steps} of its config");
        return Err(Error::new(message).help(format!("wanted \"training.steps\" of {saved} or more")));
    }
    let parts = learner.parts();
    let columns: Vec<&str> = std::iter::once("loss").chain(parts.iter().map(String::as_str)).collect();
    let log = LossLog::resume(&folder.losses_path(), &columns, saved as usize)?;
    Ok(Start { saved, log })
}

/// Trains to the last step, leaving `losses.csv`, `posteriors.csv` and `model.safetensors`; where validation images are scored, `selection.csv` and
/// `best.safetensors` as well.
pub fn train(
    folder: &RunFolder,
    config: &Config,
    prepared: &mut Prepared,
    start: Start,
    watch: &mut dyn Watch,
) -> Result<Ending> {
    let (training, origin) = (&config.training, config.origin());
    let Start { mut saved, mut log } = start;
    let mut selector = Selector::begin(folder, config, prepared, saved)?;
    let mut posteriors = PosteriorWatch::begin(folder, config, prepared.dataset.as_ref(), saved)?;
    let mut logs = config.log.keeper();
    let mut loader = Loader::start(loading(config, prepared), saved, LOADING_THREADS)?;
    let n_images = prepared.split.train().len();
    let (learner, dataset) = (&mut prepared.learner, prepared.dataset.as_ref());

    watch.stage("training", training.steps);
    watch.progress(saved);
    while learner.steps_taken() < training.steps {
        let loaded = loader.next_batch().map_err(|error| keep_log(error, &mut log, folder, saved))?;
        let batch = on_device(loaded, n_images, learner);
        let rate = training.learning_rate.at(batch.step);
        let losses = learner.step(&batch, rate).map_err(|error| keep_log(error, &mut log, folder, saved))?;
        push(&mut log, &losses)?;
        let images = (batch.members.len() * training.batch_size) as u64;
        watch.step(losses.step, losses.total, images);

        let stop = watch.should_stop();
        let due = selector.as_mut().filter(|selector| selector.is_due(losses.step));
        if stop || due.is_some() || losses.step % training.checkpoint_every == 0 || losses.step == training.steps {
            log.flush()?;
            let written = checkpoint::write(learner, &origin);
            let bytes = written.map_err(|error| keep_log(error, &mut log, folder, saved))?;
            let looked = due.map_or(Ok(Look::NotBetter), |selector| selector.look(folder, dataset, learner, watch));
            let look = looked.map_err(|error| keep_log(error, &mut log, folder, saved))?;
            let logged = posteriors.look(folder, dataset, learner);
            logged.map_err(|error| keep_log(error, &mut log, folder, saved))?;
            // What was made with the checkpoint before would not belong to this one; until then it is kept.
            folder.remove_results()?;
            folder.write_model(&bytes)?;
            // After the last one, of which the best can be made again where a kill comes between.
            if look == Look::Best {
                folder.write_best_model(&bytes)?;
            }
            saved = losses.step;
            logs.after_checkpoint(folder, saved)?;
        }
        if stop {
            return Ok(Ending::Stopped(saved));
        }
    }
    Ok(Ending::Finished)
}

/// What the batches of a run are filled with.
pub(crate) fn loading(config: &Config, prepared: &Prepared) -> Loading {
    Loading {
        dataset: prepared.dataset.clone(),
        sampler: prepared.sampler.clone(),
        split: prepared.split.clone(),
        seed: Seed(config.seed),
        batch_size: config.training.batch_size,
        n_batches: prepared.learner.framework.n_batches(),
    }
}

/// Puts the run's checkpoint, where it has one, into the learner; gives the steps that it was taken after.
fn load_checkpoint(folder: &RunFolder, config: &Config, learner: &mut Learner) -> Result<u64> {
    let path = folder.model_path();
    if path.exists() { read_checkpoint(folder, &path, config, learner) } else { Ok(0) }
}

/// Puts a checkpoint of the run into the learner; gives the steps that it was taken after.
pub(crate) fn read_checkpoint(folder: &RunFolder, path: &Path, config: &Config, learner: &mut Learner) -> Result<u64> {
    let origin = checkpoint::read(&read_whole(path)?, learner).map_err(|error| error.at(path.display()))?;
    config.check_origin(&origin).map_err(|error| error.at(folder.config_path().display()))?;
    Ok(learner.steps_taken())
}

fn push(log: &mut LossLog, losses: &StepLosses) -> Result<()> {
    let mut values = vec![f64::from(losses.total)];
    values.extend(losses.parts.iter().map(|part| f64::from(part.value)));
    log.push(losses.step as usize, &values)
}

/// A batch as the learner takes it.
pub(crate) fn on_device(batch: LoadedBatch, n_images: usize, learner: &Learner) -> Batch {
    let pixels = learner.model.image_shape.n_pixels();
    let members = batch.members.into_iter().map(|member| Member {
        images: learner.model.parameters.tensor(member.pixels, [member.numbers.len(), pixels]),
        numbers: member.numbers,
        factors: member.factors,
    });
    Batch { step: batch.step, n_images, members: members.collect(), shared: batch.shared }
}

/// The run ends in an error: keeps what was logged, and says which checkpoint is left.
fn keep_log(error: Error, log: &mut LossLog, folder: &RunFolder, saved: u64) -> Error {
    let error = match log.flush() {
        Ok(()) => error,
        Err(unwritten) => return unwritten,
    };
    match saved {
        0 => error.more_help("no checkpoint was written before"),
        step => {
            let model = folder.model_path();
            error.more_help(format!("the checkpoint after step {step} is kept in {}", model.display()))
        }
    }
}
