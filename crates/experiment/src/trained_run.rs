//! A run that was trained, opened for reading.

use std::path::Path;
use std::sync::Arc;

use ndarray::Array2;
use unbraid_data::{Dataset, Error, Result};
use unbraid_learn::{Learner, TrainedModel};
use unbraid_report::RunFolder;

use crate::config::Config;
use crate::dataset_record::check_dataset;
use crate::prepare::{Prepared, prepare};
use crate::run::read_config;
use crate::selection::final_model;
use crate::train::read_checkpoint;

/// A run with its dataset and the model that its scores and pictures are of. Several threads may use it at once.
pub struct TrainedRun {
    /// Its files.
    pub folder: RunFolder,
    /// What it was started with.
    pub config: Config,
    /// What it learned from.
    pub dataset: Arc<dyn Dataset>,
    /// What it learned: the best checkpoint where the config asks for it, else the last.
    pub model: TrainedModel,
    /// The step that the model was taken after.
    pub step: u64,
}

impl TrainedRun {
    /// Opens the run in a folder.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = read_config(&folder)?;
        if !folder.model_path().exists() {
            return Err(Error::new(format!("there is no {}", folder.model_path().display()))
                .help("put it back, or train again: the codes alone cannot be decoded"));
        }
        let prepared = prepare(&config)?;
        check_dataset(&folder, &config, prepared.dataset.as_ref())?;
        Self::of_checkpoint(&folder, &config, prepared)
    }

    /// Reads the checkpoint that the final scores and pictures are of.
    pub(crate) fn of_checkpoint(folder: &RunFolder, config: &Config, prepared: Prepared) -> Result<Self> {
        let Prepared { dataset, learner, .. } = prepared;
        let (model, step) = read_final_model(folder, config, learner)?;
        Ok(Self { folder: folder.clone(), config: config.clone(), dataset, model, step })
    }
}

/// The model that a run's final scores and pictures are of, and the step that it was taken after: the best checkpoint where the config
/// asks for it, else the last.
pub(crate) fn read_final_model(
    folder: &RunFolder,
    config: &Config,
    mut learner: Learner,
) -> Result<(TrainedModel, u64)> {
    let (path, wanted_step) = final_model(folder, config)?;
    let step = read_checkpoint(folder, &path, config, &mut learner)?;
    if let Some(wanted) = wanted_step.filter(|wanted| *wanted != step) {
        let message = format!("{} is of step {step}, but step {wanted} had the best score", path.display());
        return Err(Error::new(message).help("put the right file back, or train again"));
    }
    Ok((learner.trained(), step))
}

/// The pictures that codes `[rows, latents]` stand for, one after the other, in the original colours of a standardised dataset; none
/// where the model has no decoder.
pub(crate) fn decode_as_shown(model: &TrainedModel, dataset: &dyn Dataset, codes: &Array2<f32>) -> Option<Vec<f32>> {
    let mut pixels = model.decode(codes)?;
    if let Some(standardised) = dataset.as_standardised() {
        standardised.undo(&mut pixels);
    }
    Some(pixels)
}
