//! Schedules of a config, from the file to the step: the learning rate, and weights of frameworks.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::path::Path;

use unbraid_data::Seed;
use unbraid_data::loader::{Loader, Loading};
use unbraid_experiment::Config;
use unbraid_experiment::prepare::prepare;
use unbraid_experiment::run::start;
use unbraid_experiment::watch::Nobody;
use unbraid_learn::{Batch, Member};

const SMALL: &str = "seed = 7\nrows = 40\nmetrics = []\n[dataset]\nname = 'synth_linear'\n[model]\nname = 'linear'\n[optimiser]\nname = 'sgd'\n\
                     [training]\nsteps = 7\nbatch_size = 8\n";

/// Each shape of a way from 0 to 0.8 over 4 steps that begins at step 1, and how far along it the first 7 steps are, of 1.
/// The cosine is at (1 - cos(pi/4)) / 2, a half, and (1 + cos(pi/4)) / 2 on the way.
const SHAPES: [(&str, [f64; 7]); 3] = [
    ("linear", [0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]),
    ("cosine", [0.0, 0.0, 0.146_446_609_4, 0.5, 0.853_553_390_6, 1.0, 1.0]),
    ("cyclic", [0.0, 0.0, 0.25, 0.5, 0.75, 0.0, 0.25]),
];

fn schedule(shape: &str, to: f64) -> String {
    format!("{{ from = 0.0, to = {to}, steps = 4, start = 1, shape = '{shape}' }}")
}

/// The columns of the loss log of a run with these changes of the config, by step.
fn losses(folder: &Path, changes: &[String], columns: &[&str]) -> Vec<Vec<f64>> {
    let config = Config::parse(SMALL, changes).unwrap();
    start(&config, prepare(&config).unwrap(), folder, &mut Nobody).unwrap();
    let text = std::fs::read_to_string(folder.join("losses.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let positions = columns.iter().map(|column| header.iter().position(|name| name == column).unwrap());
    let positions: Vec<usize> = positions.collect();
    lines
        .map(|line| {
            let values: Vec<f64> = line.split(',').map(|value| value.parse().unwrap()).collect();
            positions.iter().map(|&position| values[position]).collect()
        })
        .collect()
}

/// The losses when each step is taken with a rate of this list.
fn losses_at_rates(changes: &[String], rates: [f64; 7]) -> Vec<f64> {
    let config = Config::parse(SMALL, changes).unwrap();
    let mut prepared = prepare(&config).unwrap();
    let loading = Loading {
        dataset: prepared.dataset,
        sampler: prepared.sampler,
        split: prepared.split,
        seed: Seed(config.seed),
        batch_size: config.training.batch_size,
        n_batches: 1,
    };
    let mut loader = Loader::start(loading, 0, 1).unwrap();
    let learner = &mut prepared.learner;
    let mut step = |rate: f64| {
        let loaded = loader.next_batch().unwrap();
        let members = loaded.members.into_iter().map(|member| Member {
            images: learner.model.parameters.tensor(member.pixels, [member.numbers.len(), 3]),
            numbers: member.numbers,
            factors: member.factors,
        });
        let batch = Batch { step: loaded.step, n_images: 50_000, members: members.collect(), shared: vec![] };
        f64::from(learner.step(&batch, rate).unwrap().total)
    };
    rates.map(&mut step).to_vec()
}

#[test]
fn the_learning_rate_follows_every_shape() {
    let folder = tempfile::tempdir().unwrap();
    for (shape, ways) in SHAPES {
        let framework = "framework.name=vae".to_string();
        let changes = [framework.clone(), format!("training.learning_rate={}", schedule(shape, 0.08))];
        let found = losses(&folder.path().join(shape), &changes, &["loss"]).concat();
        let wanted = losses_at_rates(&[framework], ways.map(|way| 0.08 * way));
        assert_eq!(found.len(), 7);
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-5 * wanted.abs(), "{shape}: {found} is not {wanted}");
        }
        // Rates of 0 at first change nothing, and rates later do.
        let still = losses_at_rates(&["framework.name=vae".to_string()], [0.0; 7]);
        assert!((found[2] - still[2]).abs() < 1e-6 && (found[6] - still[6]).abs() > 1e-3, "{shape}: {found:?}");
    }
}

#[test]
fn a_weight_follows_every_shape() {
    let folder = tempfile::tempdir().unwrap();
    for (shape, ways) in SHAPES {
        let changes = ["framework.name=beta_vae".to_string(), format!("framework.beta={}", schedule(shape, 8.0))];
        let rows = losses(&folder.path().join(shape), &changes, &["loss", "reconstruction", "kl"]);
        assert_eq!(rows.len(), 7);
        for (row, way) in rows.iter().zip(ways) {
            let beta = (row[0] - row[1]) / row[2];
            assert!((beta - 8.0 * way).abs() < 1e-3, "{shape}: beta is {beta}, not {}", 8.0 * way);
        }
    }
}
