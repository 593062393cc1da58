//! The stages after training: encoding the dataset and scoring the codes.

use ndarray::Array2;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{Dataset, FactorSpace, LabelledCodes, Result, Seed};
use unbraid_learn::encode::encode;
use unbraid_metrics::{Metric, Scores, score_all};
use unbraid_report::RunFolder;

use crate::config::{Config, Named};
use crate::prepare::{Prepared, rows_to_encode};
use crate::watch::Watch;

/// Encodes the rows that the config asks for, beside their factors.
pub fn encode_dataset(config: &Config, prepared: &mut Prepared, watch: &mut dyn Watch) -> Result<LabelledCodes> {
    let dataset = prepared.dataset.as_ref();
    let rows = rows_to_encode(config, dataset.n_images());
    watch.stage("encoding", rows.len() as u64);
    let encoded = encode(&mut prepared.learner, dataset, &rows, |done| watch.progress(done as u64));
    let mut factors = Array2::zeros((rows.len(), dataset.factors().n_factors()));
    for (mut values, &row) in factors.outer_iter_mut().zip(&rows) {
        dataset.read_factors(row, values.as_slice_mut().expect("a new matrix is row-major"));
    }
    let extras = Extras {
        log_variances: encoded.log_variances.map(|table| table.mapv(f64::from)),
        reconstruction_losses: Some(encoded.reconstruction_losses.into_iter().map(f64::from).collect()),
        ..Extras::default()
    };
    LabelledCodes::new(encoded.codes.mapv(f64::from), factors, encoded_space(config, dataset), extras)
}

/// The codes that a run left.
pub fn read_codes(folder: &RunFolder, config: &Config, dataset: &dyn Dataset) -> Result<LabelledCodes> {
    folder.read_codes(encoded_space(config, dataset))
}

/// The factors of the rows that were encoded: a grid only where all of them were.
fn encoded_space(config: &Config, dataset: &dyn Dataset) -> FactorSpace {
    match config.rows {
        Some(rows) if rows < dataset.n_images() => FactorSpace::sample(dataset.factors().factors().to_vec()),
        _ => dataset.factors().clone(),
    }
}

/// Scores codes with these metrics.
pub fn measure(metrics: &[Named], data: &LabelledCodes, seed: Seed) -> Result<Scores> {
    let built: Vec<(String, Box<dyn Metric>)> = metrics
        .iter()
        .map(|metric| Ok((metric.name.clone(), unbraid_metrics::build(&metric.name, &metric.settings)?)))
        .collect::<Result<_>>()?;
    Ok(score_all(&built, data, seed))
}
