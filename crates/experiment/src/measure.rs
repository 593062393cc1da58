//! The stages after training: encoding the dataset and scoring the codes.

use std::ops::ControlFlow;

use toml::Value;
use unbraid_data::datasets::read_factors;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::words::quoted;
use unbraid_data::{Dataset, Error, FactorSpace, LabelledCodes, Result, Seed};
use unbraid_learn::{TrainedModel, frameworks};
use unbraid_metrics::{Metric, Scores, Subject, score_all_heard};
use unbraid_report::RunFolder;

use crate::config::{Config, Named};
use crate::dataset_record::{dataset_record, factors_of_record};
use crate::jacobians::{NO_DECODER, wants_jacobians, why_no_jacobians, with_jacobians};
use crate::prepare::rows_to_encode;
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

/// Encodes the rows that the config asks for, beside their factors and all that its metrics need of the decoder, so that
/// scoring them needs no model; nothing where the user asks to stop.
pub fn encode_dataset(run: &TrainedRun, watch: &mut dyn Watch) -> Result<Option<LabelledCodes>> {
    let rows = rows_to_encode(&run.config, run.dataset.n_images())?;
    watch.stage("encoding", rows.len() as u64);
    watch.progress(0);
    let data = encode_some(&run.model, run.dataset.as_ref(), &rows, |done| {
        watch.progress(done as u64);
        if watch.should_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    match data {
        Some(data) if wants_jacobians(&run.config.metrics) => {
            with_jacobians(data, &run.model, run.dataset.as_ref()).map(Some)
        }
        data => Ok(data),
    }
}

/// Encodes the images with these numbers, beside their factors.
pub fn encode_images(model: &TrainedModel, dataset: &dyn Dataset, rows: &[usize]) -> Result<LabelledCodes> {
    let encoded = encode_some(model, dataset, rows, |_| ControlFlow::Continue(()))?;
    Ok(encoded.expect("nobody asks to stop"))
}

/// The same; nothing where `progress`, which hears how many are done, breaks off.
pub(crate) fn encode_some(
    model: &TrainedModel,
    dataset: &dyn Dataset,
    rows: &[usize],
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<LabelledCodes>> {
    let Some(encoded) = model.encode(dataset, rows, progress)? else { return Ok(None) };
    let as_f64 = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
    let extras = Extras {
        log_variances: encoded.log_variances.map(|table| table.mapv(f64::from)),
        reconstruction_losses: encoded.reconstruction_losses.map(as_f64),
        kl_divergences: encoded.kl_divergences.map(as_f64),
        ..Extras::default()
    };
    let (factors, space) =
        (read_factors(dataset, rows), encoded_space(rows.len(), dataset.factors(), dataset.n_images()));
    LabelledCodes::new(encoded.codes.mapv(f64::from), factors, space, extras).map(Some)
}

/// The codes that a run left, which must be those that its config asks for. Its Jacobians are read by [`with_saved_jacobians`].
pub fn read_codes(folder: &RunFolder, config: &Config) -> Result<LabelledCodes> {
    let place = quoted(folder.path());
    let go_on = format!("`unbraid resume {place}` goes on with it");
    if !folder.codes_path().exists() {
        return Err(Error::new(format!("{place} has no codes yet: its training has not ended")).help(go_on));
    }
    let record = dataset_record(folder, config)?;
    let wanted_rows = rows_to_encode(config, record.n_images)?;
    let data = folder.read_codes(encoded_space(wanted_rows.len(), &record.factor_space()?, record.n_images))?;
    let wanted = wanted_rows.len();
    let framework = frameworks::build(&config.framework.name, &config.framework.settings)?;
    if framework.posterior().keeps_kl_divergences() && data.extras().kl_divergences.is_none() {
        return Err(Error::new(format!("{place} has codes without their KL divergences, kl_divergences.npy"))
            .help(format!("put it back, or `unbraid resume {place}` encodes them again")));
    }
    let latents = config.model.settings.get("latents").and_then(Value::as_integer);
    if data.n_rows() != wanted || latents.is_some_and(|latents| latents != data.n_latents() as i64) {
        let (rows, found) = (data.n_rows(), data.n_latents());
        return Err(Error::new(format!(
            "{place} has codes of {rows} images in {found} latents, which are not its config's"
        ))
        .help(format!("`unbraid resume {place}` encodes them again")));
    }
    if data.factors() != factors_of_record(&record, config, &wanted_rows)? {
        return Err(Error::new(format!("{place} has codes of other images than its config's"))
            .help(format!("`unbraid resume {place}` encodes them again")));
    }
    Ok(data)
}

/// The codes of a run whose model is open, with the posterior variances that it gives them.
pub fn read_codes_of(run: &TrainedRun) -> Result<LabelledCodes> {
    let data = read_codes(&run.folder, &run.config)?;
    if data.extras().log_variances.is_none() && run.model.has_diagonal_posterior() {
        let place = quoted(run.folder.path());
        return Err(Error::new(format!("{place} has codes without their posterior variances, log_variances.npy"))
            .help(format!(
                "put it back, or remove codes.npy too, and `unbraid resume {place}` encodes the images again"
            )));
    }
    Ok(data)
}

/// The codes of a run with the Jacobians that it saved, or with the reason why there are none.
pub fn with_saved_jacobians(folder: &RunFolder, data: LabelledCodes) -> Result<LabelledCodes> {
    match folder.read_jacobians()? {
        Some(jacobians) => data.with_jacobians(jacobians).map_err(|error| error.at(folder.jacobians_path().display())),
        // Whatever has a decoder has reconstruction losses.
        None if data.extras().reconstruction_losses.is_none() => Ok(data.without_jacobians(NO_DECODER.to_string())),
        None => Ok(data.without_jacobians(why_no_jacobians(folder.path()))),
    }
}

/// The same; where a run saved none they are made, and saved.
pub fn with_saved_or_new_jacobians(run: &TrainedRun, data: LabelledCodes) -> Result<LabelledCodes> {
    let data = with_saved_jacobians(&run.folder, data)?;
    if data.extras().jacobians.is_some() {
        return Ok(data);
    }
    let data = with_jacobians(data, &run.model, run.dataset.as_ref())?;
    data.extras().jacobians.as_ref().map_or(Ok(()), |jacobians| run.folder.write_jacobians(jacobians))?;
    Ok(data)
}

/// The factors of so many rows that were encoded: a grid only where all of them were.
fn encoded_space(n_rows: usize, space: &FactorSpace, n_images: usize) -> FactorSpace {
    match n_rows < n_images {
        true => FactorSpace::sample(space.factors().to_vec()),
        false => space.clone(),
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
