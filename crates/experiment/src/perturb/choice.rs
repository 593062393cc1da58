//! Which of several runs are the most and the least disentangled (T4 4.2.3).
//!
//! All runs are scored alike, from the codes that they left: by the mutual information gap with its default settings, or, where the images have no
//! factors, by how alike a run's latents are to those of the other runs (UDR).

use std::path::{Path, PathBuf, absolute};

use toml::Value;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::words::{counted, listed, quoted};
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;
use unbraid_report::whole_file::read_whole;

use super::config::{GivenRun, PerturbConfig, PerturbSettings, Side};
use crate::config::Config;
use crate::dataset_record::open;
use crate::evaluation::{Choice, Evaluation, Input, Reading, Which, evaluate, read_inputs};
use crate::run::read_config;
use crate::selection::final_model;
use crate::watch::Watch;

/// Scores the runs, and chooses as many pairs among them as the settings say.
pub fn choose(paths: &[PathBuf], settings: PerturbSettings, watch: &mut dyn Watch) -> Result<PerturbConfig> {
    check_count(paths, &settings)?;
    let record = same_images(paths)?;
    let configs = paths.iter().map(|path| read_config(&RunFolder::open(path)?)).collect::<Result<Vec<_>>>()?;
    check_networks(paths, &configs)?;
    if let Some(note) = settings_note(&configs) {
        watch.note(&note);
    }
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
    check_models(paths, &models)?;
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let rank = |run: usize| order.iter().position(|&other| other == run).expect("every run has a rank");
    let side = |run: usize| match rank(run) {
        rank if rank < settings.pairs => Side::Entangled,
        rank if rank >= paths.len() - settings.pairs => Side::Disentangled,
        _ => Side::Between,
    };
    let (least, most) = (scores[order[0]], scores[order[order.len() - 1]]);
    if least == most {
        watch.note(&format!(
            "all runs have a {metric} of {least:.4}: which are called entangled follows from their order alone"
        ));
    }
    let runs = paths.iter().zip(models).enumerate().map(|(run, (path, model))| {
        Ok(GivenRun { path: whole_path(path)?, score: scores[run], side: side(run), model })
    });
    let runs = runs.collect::<Result<Vec<_>>>()?;
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

/// Refuses a model that comes twice, by another path or in a copy: it would be its own rival.
fn check_models(paths: &[PathBuf], models: &[String]) -> Result<()> {
    for (position, model) in models.iter().enumerate() {
        if let Some(first) = models[..position].iter().position(|other| other == model) {
            let [one, other] = [first, position].map(|run| quoted(&paths[run]));
            return Err(Error::new(format!("{other} holds the same model as {one}")).help("leave one out"));
        }
    }
    Ok(())
}

/// The path as a config holds it: from whichever folder a command is called later, it leads there.
fn whole_path(path: &Path) -> Result<PathBuf> {
    let whole = absolute(path).unwrap_or_else(|_| path.to_path_buf());
    match whole.to_str() {
        Some(_) => Ok(whole),
        None => Err(Error::new(format!("{} is no text, and a config could not name it", whole.display()))
            .help("give the folder a name in UTF-8")),
    }
}

/// Refuses networks of several kinds. The manipulation network draws like the decoders, and latents alone may be more or fewer.
fn check_networks(paths: &[PathBuf], configs: &[Config]) -> Result<()> {
    let network = |config: &Config| {
        let mut settings = config.model.settings.clone();
        settings.remove("latents");
        (config.model.name.clone(), settings)
    };
    match configs.iter().position(|config| network(config) != network(&configs[0])) {
        None => Ok(()),
        Some(other) => {
            let [one, other] = [0, other].map(|run| (quoted(&paths[run]), &configs[run].model.name));
            Err(Error::new(format!("{} has another network, {}, than {}, {}", other.0, other.1, one.0, one.1))
                .help("give runs whose [model] is the same, but for latents"))
        }
    }
}

/// In what the runs differ beside their seeds, in a sentence: whatever it is may have decided which are entangled.
fn settings_note(configs: &[Config]) -> Option<String> {
    let settings = |config: &Config| {
        let mut table = config.to_table();
        table.retain(|key, _| key != "seed" && key != "metrics" && key != "log");
        let mut settings = Vec::new();
        flatten("", Value::Table(table), &mut settings);
        settings.retain(|(key, _)| key != "training.checkpoint_every");
        settings
    };
    let all: Vec<Vec<(String, Value)>> = configs.iter().map(settings).collect();
    let mut keys: Vec<&str> = all.iter().flatten().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let of = |settings: &Vec<(String, Value)>, key: &str| {
        settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    };
    keys.retain(|key| all.iter().any(|settings| of(settings, key) != of(&all[0], key)));
    (!keys.is_empty()).then(|| format!("the runs differ in more than their seeds: {}", listed(&keys)))
}

/// All settings within a table, each by its whole name.
fn flatten(name: &str, value: Value, settings: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(table) => table.into_iter().for_each(|(key, value)| {
            flatten(&if name.is_empty() { key } else { format!("{name}.{key}") }, value, settings);
        }),
        value => settings.push((name.to_string(), value)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn config(changes: &[&str]) -> Config {
        let text = "[dataset]\nname = 'xy_squares'\n[framework]\nname = 'beta_vae'\n[model]\nname = 'mlp'\n[[metrics]]\nname = 'mig'";
        Config::parse(text, &changes.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn what_differs_beside_seeds_is_told() {
        let note = |changes: &[&str]| settings_note(&[config(&[]), config(changes), config(&[])]);
        assert_eq!(note(&["seed=2", "metrics=[]", "training.checkpoint_every=7"]), None);
        let found = note(&["framework.beta=8", "training.steps=9", "seed=3"]).unwrap();
        assert_eq!(found, "the runs differ in more than their seeds: framework.beta and training.steps");
    }

    #[test]
    fn a_model_that_comes_twice_is_refused() {
        let check = |models: [&str; 3]| {
            check_models(&["a".into(), "b".into(), "c".into()], &models.map(String::from))
                .map_err(|error| error.to_string())
        };
        assert!(check(["1", "2", "3"]).is_ok());
        assert!(check(["1", "2", "1"]).unwrap_err().starts_with("c holds the same model as a"));
    }

    #[test]
    fn networks_may_differ_in_latents_alone() {
        let check = |changes: &[&str]| check_networks(&["a".into(), "b".into()], &[config(&[]), config(changes)]);
        assert!(check(&["model.latents=3"]).is_ok());
        let message = check(&["model={ name = 'linear' }"]).unwrap_err().to_string();
        assert!(message.starts_with("b has another network, linear, than a, mlp"), "{message}");
        assert!(check(&["model.decoder=[7]"]).is_err());
    }
}
