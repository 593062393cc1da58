//! What a run keeps of its dataset, in `dataset.json`: with it pages and scores need not open the dataset, and a run does not go on
//! with other images.

use std::cell::Cell;

use ndarray::Array2;
use unbraid_data::datasets::read_factors;
use unbraid_data::factor_space::values_of;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::notice::tell;
use unbraid_data::{Dataset, ImageShape, Result, datasets};
use unbraid_learn::networks;
use unbraid_report::RunFolder;

use crate::config::{Config, in_place};

/// Compares a run's dataset with the one that it began with, which must be the same. Runs of earlier versions kept no record.
pub fn check_dataset(folder: &RunFolder, config: &Config, dataset: &dyn Dataset) -> Result<()> {
    folder.read_dataset()?.map_or(Ok(()), |before| compare(folder, &before, config, dataset))
}

/// The same, for a run that goes on: where there is no record, one is kept from now on.
pub(crate) fn check_or_keep_dataset(folder: &RunFolder, config: &Config, dataset: &dyn Dataset) -> Result<()> {
    match folder.read_dataset()? {
        Some(before) => compare(folder, &before, config, dataset),
        None => folder.write_dataset(&DatasetRecord::of(&config.dataset.name, dataset)?),
    }
}

fn compare(folder: &RunFolder, before: &DatasetRecord, config: &Config, dataset: &dyn Dataset) -> Result<()> {
    let now = DatasetRecord::of(&config.dataset.name, dataset)?;
    before.check_same(&now).map_err(|error| error.at(folder.dataset_path().display()))
}

/// The record of a run's dataset; of a run that has none, made by an earlier version, the dataset is opened, and its images are not
/// looked at.
pub fn dataset_record(folder: &RunFolder, config: &Config) -> Result<DatasetRecord> {
    match folder.read_dataset()? {
        Some(record) => Ok(record),
        None => Ok(DatasetRecord::without_fingerprint(&config.dataset.name, open(config)?.as_ref())),
    }
}

/// The factors of these images, `[rows, factors]`. Those of a grid follow from the images' numbers; for others the dataset is opened.
pub(crate) fn factors_of_record(record: &DatasetRecord, config: &Config, rows: &[usize]) -> Result<Array2<f64>> {
    if record.factors.is_empty() {
        return Ok(Array2::zeros((rows.len(), 0)));
    }
    let Ok(sizes) = record.factor_space()?.grid_sizes() else {
        return Ok(read_factors(open(config)?.as_ref(), rows));
    };
    let values: Vec<f64> = rows.iter().flat_map(|&row| values_of(row, &sizes)).map(|value| value as f64).collect();
    Ok(Array2::from_shape_vec((rows.len(), sizes.len()), values).expect("a value for each factor"))
}

/// Opens the dataset of a config; where the network takes another size, images are resized, and that is told.
pub(crate) fn open(config: &Config) -> Result<Box<dyn Dataset>> {
    let network = networks::find(&config.model.name)?;
    let resized_from = Cell::new(None);
    let fit = |shape: ImageShape| {
        let side = network.fitting(shape);
        resized_from.set(side.map(|side| (shape, side)));
        side
    };
    let dataset = datasets::build_fitting(&config.dataset.name, &config.dataset.settings, &fit);
    let dataset = dataset.map_err(|error| in_place(error, "[dataset]"))?;
    if let Some((ImageShape { height, width, .. }, side)) = resized_from.get() {
        let name = network.name;
        tell(&format!("images of {height} x {width} are resized to {side} x {side}, which model \"{name}\" takes"));
    }
    Ok(dataset)
}
