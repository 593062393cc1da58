//! Which of several runs are the most and the least disentangled (T4 4.2.3).
//!
//! All runs are scored alike, from the codes that they left: by the mutual information gap with its default settings, or, where the images have no
//! factors, by how alike a run's latents are to those of the other runs (UDR).

use std::path::{Path, PathBuf};

use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::words::{counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;
use unbraid_report::whole_file::read_whole;

use super::config::{GivenRun, PerturbConfig, PerturbSettings, Side};
use crate::dataset_record::open;
use crate::evaluation::{Choice, Evaluation, Input, Reading, Which, evaluate, read_inputs};
use crate::run::read_config;
use crate::selection::final_model;
use crate::watch::Watch;

/// Scores the runs, and chooses as many pairs among them as the settings say.
pub fn choose(paths: &[PathBuf], settings: PerturbSettings, watch: &mut dyn Watch) -> Result<PerturbConfig> {
    check_count(paths, &settings)?;
    let record = same_images(paths)?;
    let has_factors = record.factors.iter().any(|factor| factor.size != Some(1));
    let metric = if has_factors { "mig" } else { "udr" };
    if !has_factors && paths.len() == 2 {
        return Err(Error::new(
            "the images have no factors, and two runs alone are as like each other one way as the other",
        )
        .help("give three runs or more, of which the one least like the others counts as the most entangled"));
    }
    let scores = score(paths, metric, watch)?;
    let models = paths.iter().map(|path| model_fingerprint(path)).collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let rank = |run: usize| order.iter().position(|&other| other == run).expect("every run has a rank");
    let side = |run: usize| match rank(run) {
        rank if rank < settings.pairs => Side::Entangled,
        rank if rank >= paths.len() - settings.pairs => Side::Disentangled,
        _ => Side::Between,
    };
    let runs = paths.iter().zip(models).enumerate().map(|(run, (path, model))| GivenRun {
        path: path.clone(),
        score: scores[run],
        side: side(run),
        model,
    });
    let runs = runs.collect();
    Ok(PerturbConfig { perturb: settings, chosen_by: metric.to_string(), images: record.fingerprint, runs })
}

fn check_count(paths: &[PathBuf], settings: &PerturbSettings) -> Result<()> {
    let wanted = 2 * settings.pairs;
    if paths.len() >= wanted {
        return Ok(());
    }
    let found = counted(paths.len(), "run");
    Err(Error::new(format!("{found} cannot give {} of the most and the least disentangled models", settings.pairs))
        .help(format!("give {wanted} runs or more, trained on the same images with several seeds")))
}

/// The record of the images that all runs were trained on.
fn same_images(paths: &[PathBuf]) -> Result<DatasetRecord> {
    let records = paths.iter().map(|path| {
        let folder = RunFolder::open(path)?;
        match folder.read_dataset()? {
            Some(record) => Ok(record),
            None => {
                let config = read_config(&folder)?;
                DatasetRecord::of(&config.dataset.name, open(&config)?.as_ref())
            }
        }
    });
    let records = records.collect::<Result<Vec<_>>>()?;
    for (path, record) in paths.iter().zip(&records).skip(1) {
        records[0].check_same(record).map_err(|error| {
            let help = format!("it was trained on other images than {}; give runs of the same", quoted(&paths[0]));
            error.at(quoted(path)).help(help)
        })?;
    }
    Ok(records[0].clone())
}

/// The score of each run.
fn score(paths: &[PathBuf], metric: &str, watch: &mut dyn Watch) -> Result<Vec<f64>> {
    let inputs = read_inputs(paths, &Reading::default())?;
    // Whatever settings a run's config gives the metric: scores have to be comparable.
    let inputs: Vec<Input> = inputs.into_iter().map(|input| Input { metrics: Vec::new(), seed: 1, ..input }).collect();
    let choice = Choice { metrics: Which::named([metric]), ..Choice::default() };
    let evaluations = evaluate(&inputs, &choice, watch)?;
    let of = |(path, evaluation): (&PathBuf, &Evaluation)| {
        evaluation.scores.value(metric).ok_or_else(|| {
            let reason = evaluation.scores.reason(metric).unwrap_or("there is none");
            Error::new(format!("{} has no {metric}: {reason}", quoted(path))).help("leave it out")
        })
    };
    paths.iter().zip(&evaluations).map(of).collect()
}

/// The CRC-32 of the model that a run's scores are of.
fn model_fingerprint(path: &Path) -> Result<String> {
    let folder = RunFolder::open(path)?;
    let (model, _) = final_model(&folder, &read_config(&folder)?)?;
    if !model.exists() {
        return Err(Error::new(format!("there is no {}", model.display()))
            .help("put it back, or train again: the codes alone cannot be decoded"));
    }
    Ok(format!("{:08x}", crc32fast::hash(&read_whole(&model)?)))
}
