//! Runs as a library makes them: two in one process, images that cannot be read, a model without decoder.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toml::Table;
use unbraid_data::{Dataset, Error, FactorSpace, ImageShape, Result, Rng, Seed};
use unbraid_experiment::prepare::{Prepared, prepare};
use unbraid_experiment::run::{resume, start};
use unbraid_experiment::watch::Nobody;
use unbraid_experiment::{Config, Ending, TrainedRun};
use unbraid_learn::losses::Losses;
use unbraid_learn::reconstruction::Reconstruction;
use unbraid_learn::state::State;
use unbraid_learn::{Batch, Device, Framework, Learner, Model, networks, ops, optimisers};
use unbraid_report::RunFolder;
use unbraid_report::status::State as RunState;

const SMALL: &str = "seed = 7\n[dataset]\nname = 'xy_squares'\nsquares = 1\n[framework]\nname = 'beta_vae'\n[model]\n\
                     name = 'mlp'\nlatents = 2\nencoder = [16]\ndecoder = [16]\n[training]\nsteps = 40\nbatch_size = 8\n\
                     checkpoint_every = 10\n";

fn config(changes: &[&str]) -> Config {
    Config::parse(SMALL, &changes.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
}

fn files(run: &Path) -> Vec<Vec<u8>> {
    let names = ["model.safetensors", "losses.csv", "codes.npy", "scores.json", "figures/traversals.png"];
    names.map(|name| std::fs::read(run.join(name)).unwrap()).to_vec()
}

#[test]
fn two_runs_in_one_process_do_not_touch_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let configs = [config(&[]), config(&["framework.name=factor_vae", "framework.width=16", "seed=3"])];
    let run = |name: String, config: &Config| {
        let path = folder.path().join(name);
        assert_eq!(start(config, prepare(config).unwrap(), &path, &mut Nobody).unwrap(), Ending::Finished);
        files(&path)
    };
    let alone: Vec<_> = configs.iter().enumerate().map(|(i, config)| run(format!("alone{i}"), config)).collect();
    std::thread::scope(|scope| {
        let run = &run;
        let together: Vec<_> = configs
            .iter()
            .enumerate()
            .map(|(i, config)| scope.spawn(move || run(format!("together{i}"), config)))
            .collect();
        for (thread, alone) in together.into_iter().zip(&alone) {
            assert!(thread.join().unwrap() == *alone);
        }
    });
}

/// Images of which one cannot be read after so many reads, as if a disk were gone.
struct Failing {
    inner: Arc<dyn Dataset>,
    reads_left: AtomicUsize,
}

impl Dataset for Failing {
    fn factors(&self) -> &FactorSpace {
        self.inner.factors()
    }

    fn image_shape(&self) -> ImageShape {
        self.inner.image_shape()
    }

    fn n_images(&self) -> usize {
        self.inner.n_images()
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let left = self.reads_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map_err(|_| Error::new("the disk is gone"))?;
        self.inner.read_image(index, pixels)
    }
}

#[test]
fn an_image_that_cannot_be_read_ends_the_run_in_one_error_and_keeps_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, broken) = (folder.path().join("alone"), folder.path().join("broken"));
    start(&config(&[]), prepare(&config(&[])).unwrap(), &alone, &mut Nobody).unwrap();
    let mut prepared = prepare(&config(&[])).unwrap();
    // All 64 images for the fingerprint and for the posteriors at two checkpoints, and batches of 8 for 25 steps; what is loaded ahead is fewer than
    // the steps between the second checkpoint and the failure.
    let reads_left = AtomicUsize::new(3 * 64 + 8 * 25);
    prepared.dataset = Arc::new(Failing { inner: prepared.dataset.clone(), reads_left });
    let message = start(&config(&[]), prepared, &broken, &mut Nobody).unwrap_err().to_string();
    assert!(message.contains("step 26: image ") && message.contains("the disk is gone"), "{message}");
    assert!(message.contains("the checkpoint after step 20 is kept in"), "{message}");
    let run = RunFolder::open(&broken).unwrap();
    let status = run.read_status().unwrap().unwrap();
    assert_eq!((status.state, status.step), (RunState::Failed, 25));
    assert!(status.error.unwrap().contains("the disk is gone"));
    // Once the disk is back, it goes on as if nothing had been.
    assert_eq!(resume(&broken, &[], &mut Nobody).unwrap(), Ending::Finished);
    assert!(files(&alone) == files(&broken));
}

/// Pulls codes of unit length apart: a contrastive objective, without decoder.
struct Contrastive;

impl Framework for Contrastive {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        None
    }

    fn parts(&self) -> &'static [&'static str] {
        &["closeness"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let codes = model.encode(batch.members[0].images.clone()).sample(noise);
        let closeness = (codes.clone().matmul(codes.transpose()) * 0.1).tanh();
        Losses::new().with("closeness", ops::mean(closeness), 1.0)
    }
}

#[test]
fn a_model_without_decoder_is_trained_scored_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("contrastive");
    // Settings of the whole dataset are asked for, so that all scores that can be are there.
    let config = config(&["training.steps=12"]);
    let Prepared { dataset, split, sampler, .. } = prepare(&config).unwrap();
    let shape = dataset.image_shape();
    let network = networks::build("mlp", &config.model.settings, shape).unwrap();
    let optimiser = optimisers::build("adam", &Table::new()).unwrap();
    let learner = Learner::new(network, Box::new(Contrastive), optimiser, shape, Seed(7), Device::cpu()).unwrap();
    assert!(learner.model.parameters.iter().all(|(name, _)| name.starts_with("encoder.")));
    assert!(!learner.trained().has_decoder());
    let prepared = Prepared { dataset, split, sampler, learner };
    assert_eq!(start(&config, prepared, &path, &mut Nobody).unwrap(), Ending::Finished);
    let run = RunFolder::open(&path).unwrap();
    let scores = run.read_scores().unwrap();
    assert!(scores.value("mig").is_some());
    for (name, reason) in [("reconstruction", "a model without a decoder has none"), ("dto", "no decoder")] {
        assert!(scores.reason(name).is_some_and(|found| found.contains(reason)), "{name}: {:?}", scores.reason(name));
    }
    assert!(run.figure_path("losses.png").exists() && run.figure_path("correlation.png").exists());
    assert!(!run.figure_path("traversals.png").exists() && !run.figure_path("reconstructions.png").exists());
    assert!(run.page_path().exists());
}

#[test]
fn posteriors_are_logged_at_each_checkpoint_and_the_same_when_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, longer) = (folder.path().join("whole"), folder.path().join("longer"));
    // The last step is no multiple of ten and leaves a row too, which a run that is trained longer drops, so that it has the same rows as one that was never stopped there.
    let run = |config: &Config, path: &Path| start(config, prepare(config).unwrap(), path, &mut Nobody).unwrap();
    run(&config(&["training.steps=45"]), &whole);
    run(&config(&["training.steps=25"]), &longer);
    let rows = |path: &Path| RunFolder::open(path).unwrap().read_posteriors().unwrap();
    let steps = |path: &Path| rows(path).iter().map(|row| row.step).collect::<Vec<_>>();
    assert_eq!(steps(&longer), [10, 20, 25]);
    resume(&longer, &["training.steps=45".to_string()], &mut Nobody).unwrap();
    assert_eq!(steps(&whole), [10, 20, 30, 40, 45]);
    assert_eq!(rows(&longer), rows(&whole));

    // Where training ends with a checkpoint, the last row is of the same posteriors as the final scores, of all 64 images.
    let last = folder.path().join("last");
    run(&config(&[]), &last);
    let (row, scores) = (rows(&last).pop().unwrap(), RunFolder::open(&last).unwrap().read_scores().unwrap());
    assert!((row.kl - scores.value("kl").unwrap()).abs() < 1e-6 * row.kl);
    assert!((row.variances[1] - scores.value("polarized.variance.z1").unwrap()).abs() < 1e-6);
    match (row.relative_error, scores.value("polarized")) {
        (Some(error), Some(score)) => assert!((error - score).abs() < 1e-6),
        (error, score) => assert_eq!(error, score),
    }
    // An auto-encoder has no posteriors to tell of.
    let plain = folder.path().join("plain");
    run(&config(&["framework={ name = 'ae' }"]), &plain);
    assert!(!RunFolder::open(&plain).unwrap().posteriors_path().exists());
}

#[test]
fn a_trained_run_is_opened_for_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    start(&config(&[]), prepare(&config(&[])).unwrap(), &path, &mut Nobody).unwrap();
    let run = TrainedRun::open(&path).unwrap();
    assert_eq!((run.step, run.model.latents(), run.model.has_decoder()), (40, 2, true));
    let message = TrainedRun::open(folder.path()).err().unwrap().to_string();
    assert!(message.contains("holds no run"), "{message}");
}
