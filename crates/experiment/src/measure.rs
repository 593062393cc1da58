//! The stages after training: encoding the dataset and scoring the codes.

use std::ops::ControlFlow;

use ndarray::Array2;
use toml::Value;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::{Dataset, Error, FactorSpace, LabelledCodes, Result, Seed};
use unbraid_learn::encode::encode;
use unbraid_metrics::{Metric, Scores, Subject, score_all_heard};
use unbraid_report::RunFolder;
use unbraid_report::run_folder::quoted;

use crate::config::{Config, Named};
use crate::jacobians::{wants_jacobians, why_no_jacobians, with_jacobians};
use crate::prepare::{Prepared, rows_to_encode};
use crate::watch::Watch;

/// Encodes the rows that the config asks for, beside their factors and all that its metrics need of the decoder, so that
/// scoring them needs no model; nothing where the user asks to stop.
pub fn encode_dataset(
    config: &Config,
    prepared: &mut Prepared,
    watch: &mut dyn Watch,
) -> Result<Option<LabelledCodes>> {
    let dataset = prepared.dataset.as_ref();
    let rows = rows_to_encode(config, dataset.n_images());
    watch.stage("encoding", rows.len() as u64);
    watch.progress(0);
    let encoded = encode(&mut prepared.learner, dataset, &rows, |done| {
        watch.progress(done as u64);
        if watch.should_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let Some(encoded) = encoded else { return Ok(None) };
    let factors = factors_of(dataset, &rows);
    let extras = Extras {
        log_variances: encoded.log_variances.map(|table| table.mapv(f64::from)),
        reconstruction_losses: Some(encoded.reconstruction_losses.into_iter().map(f64::from).collect()),
        ..Extras::default()
    };
    let space = encoded_space(config, dataset);
    let data = LabelledCodes::new(encoded.codes.mapv(f64::from), factors, space, extras)?;
    match wants_jacobians(&config.metrics) {
        true => with_jacobians(data, &mut prepared.learner).map(Some),
        false => Ok(Some(data)),
    }
}

/// The factors of these images, `[rows, factors]`.
fn factors_of(dataset: &dyn Dataset, rows: &[usize]) -> Array2<f64> {
    let mut factors = Array2::zeros((rows.len(), dataset.factors().n_factors()));
    for (mut values, &row) in factors.outer_iter_mut().zip(rows) {
        dataset.read_factors(row, values.as_slice_mut().expect("a new matrix is row-major"));
    }
    factors
}

/// The codes that a run left, which must be those that its config asks for. Its Jacobians are read by [`with_saved_jacobians`].
pub fn read_codes(folder: &RunFolder, config: &Config, dataset: &dyn Dataset) -> Result<LabelledCodes> {
    let place = quoted(folder.path());
    let go_on = format!("`unbraid resume {place}` goes on with it");
    if !folder.codes_path().exists() {
        return Err(Error::new(format!("{place} has no codes yet: its training has not ended")).help(go_on));
    }
    let data = folder.read_codes(encoded_space(config, dataset))?;
    let wanted = config.rows.unwrap_or(dataset.n_images());
    let latents = config.model.settings.get("latents").and_then(Value::as_integer);
    if data.n_rows() != wanted || latents.is_some_and(|latents| latents != data.n_latents() as i64) {
        let (rows, found) = (data.n_rows(), data.n_latents());
        return Err(Error::new(format!(
            "{place} has codes of {rows} images in {found} latents, which are not its config's"
        ))
        .help(format!("`unbraid resume {place}` encodes them again")));
    }
    if data.factors() != factors_of(dataset, &rows_to_encode(config, dataset.n_images())) {
        return Err(Error::new(format!("{place} has codes of other images than its config's"))
            .help(format!("`unbraid resume {place}` encodes them again")));
    }
    Ok(data)
}

/// The codes of a run with the Jacobians that it saved, or with the reason why there are none.
pub fn with_saved_jacobians(folder: &RunFolder, data: LabelledCodes) -> Result<LabelledCodes> {
    match folder.read_jacobians()? {
        Some(jacobians) => data.with_jacobians(jacobians).map_err(|error| error.at(folder.jacobians_path().display())),
        None => Ok(data.without_jacobians(why_no_jacobians(folder.path()))),
    }
}

/// The same; where a run saved none they are made, and saved.
pub fn with_saved_or_new_jacobians(
    folder: &RunFolder,
    data: LabelledCodes,
    prepared: &mut Prepared,
) -> Result<LabelledCodes> {
    let data = with_saved_jacobians(folder, data)?;
    if data.extras().jacobians.is_some() {
        return Ok(data);
    }
    let data = with_jacobians(data, &mut prepared.learner)?;
    data.extras().jacobians.as_ref().map_or(Ok(()), |jacobians| folder.write_jacobians(jacobians))?;
    Ok(data)
}

/// The factors of the rows that were encoded: a grid only where all of them were.
fn encoded_space(config: &Config, dataset: &dyn Dataset) -> FactorSpace {
    match config.rows {
        Some(rows) if rows < dataset.n_images() => FactorSpace::sample(dataset.factors().factors().to_vec()),
        _ => dataset.factors().clone(),
    }
}

/// Scores codes with these metrics; `starting` is given each metric's name before it begins.
pub fn measure(metrics: &[Named], data: &LabelledCodes, seed: Seed, starting: &mut dyn FnMut(&str)) -> Result<Scores> {
    measure_subject(metrics, &Subject::new(data, seed), seed, starting)
}

/// Scores codes, maybe beside those of other models; `starting` is given each metric's name before it begins.
pub fn measure_subject(
    metrics: &[Named],
    subject: &Subject,
    seed: Seed,
    starting: &mut dyn FnMut(&str),
) -> Result<Scores> {
    let built: Vec<(String, Box<dyn Metric>)> = metrics
        .iter()
        .map(|metric| Ok((metric.name.clone(), unbraid_metrics::build(&metric.name, &metric.settings)?)))
        .collect::<Result<_>>()?;
    Ok(score_all_heard(&built, subject, seed, starting))
}
