//! Images that a run has not learned from, encoded by its model.

use std::ops::ControlFlow;
use std::path::Path;

use toml::{Table, Value};
use unbraid_data::standardised::Standardised;
use unbraid_data::{Dataset, Error, ImageShape, LabelledCodes, Result, datasets};
use unbraid_learn::{TrainedModel, frameworks};
use unbraid_report::RunFolder;

use crate::config::Config;
use crate::dataset_record::{check_dataset, dataset_record, open};
use crate::measure::encode_some;
use crate::prepare::build_learner;
use crate::run::read_config;
use crate::trained_run::read_final_model;

/// The model of a run without the dataset that it learned from, which may be on another machine.
pub struct ModelOfRun {
    folder: RunFolder,
    config: Config,
    model: TrainedModel,
    image_shape: ImageShape,
}

impl ModelOfRun {
    /// Opens the run in a folder: the best checkpoint where its config asks for it, else the last.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        let config = read_config(&folder)?;
        if !folder.model_path().exists() {
            return Err(Error::new(format!("there is no {}", folder.model_path().display()))
                .help("put it back, or train again: without it nothing can be encoded"));
        }
        let record = dataset_record(&folder, &config)?;
        let framework = frameworks::build(&config.framework.name, &config.framework.settings)?;
        let learner = build_learner(&config, framework, record.image_shape, record.factors.len())?;
        let (model, _) = read_final_model(&folder, &config, learner)?;
        Ok(Self { folder, config, model, image_shape: record.image_shape })
    }

    /// The shape of the images that it takes.
    pub fn image_shape(&self) -> ImageShape {
        self.image_shape
    }

    /// Opens images by the name and settings of a dataset, as this model takes them: cropped, resized where they have another size,
    /// and standardised as those that it learned from. Where those were standardised, they are opened for their constants.
    pub fn open_images(&self, name: &str, settings: &Table) -> Result<Box<dyn Dataset>> {
        if settings.contains_key("standardise") {
            return Err(Error::new(
                "setting \"standardise\" is the run's own: images are standardised as those that it learned from",
            )
            .help("leave it out"));
        }
        let mut settings = settings.clone();
        // Pictures of a folder are cut or stretched as those that the model has seen.
        if let (true, Some(crop)) = (name == "folder", self.config.dataset.settings.get("crop")) {
            settings.entry("crop").or_insert_with(|| crop.clone());
        }
        let wanted = self.image_shape;
        let side = |shape: ImageShape| {
            let fits = (shape.height, shape.width) == (wanted.height, wanted.width);
            if fits || wanted.height != wanted.width { None } else { Some(wanted.height) }
        };
        let images = datasets::build_fitting(name, &settings, &side)?;
        let found = images.image_shape();
        if found != wanted {
            let shown = |shape: ImageShape| format!("{} x {} x {}", shape.height, shape.width, shape.channels);
            return Err(Error::new(format!(
                "the model takes images of {}, but these are {}",
                shown(wanted),
                shown(found)
            ))
            .help("of a folder, --set channels=1 makes pictures grey; other images have to be saved in that shape"));
        }
        let standardises = self.config.dataset.settings.get("standardise").and_then(Value::as_bool).unwrap_or(false);
        if !standardises {
            return Ok(images);
        }
        let learned_from = open(&self.config)?;
        check_dataset(&self.folder, &self.config, learned_from.as_ref())?;
        let standardised = learned_from.as_standardised().map(|constants| constants.like(images));
        standardised
            .map(|images: Standardised| Box::new(images) as Box<dyn Dataset>)
            .ok_or_else(|| Error::failure("the dataset that the model learned from is no longer standardised"))
    }

    /// The numbers of all images in the order in which they lie in their file.
    pub fn in_file_order(images: &dyn Dataset) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..images.n_images()).collect();
        rows.sort_by_key(|&row| images.file_row(row).unwrap_or(row));
        rows
    }

    /// Encodes the images with these numbers, beside their factors. `progress` hears how many are done and says whether to go on; nothing
    /// comes of it where it breaks off.
    pub fn encode(
        &self,
        images: &dyn Dataset,
        rows: &[usize],
        progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<LabelledCodes>> {
        encode_some(&self.model, images, rows, progress)
    }
}
