//! Every config in `configs/` is one that a run can be started with, or a kernel learned.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::fs;
use std::path::{Path, PathBuf};

use unbraid_experiment::kernel_learning::KernelConfig;
use unbraid_experiment::prepare::prepare;
use unbraid_experiment::sweep::file::SweepFile;
use unbraid_experiment::sweep::plan::Plan;
use unbraid_experiment::watch::Nobody;
use unbraid_experiment::{Config, run};

/// The configs of a folder and of those in it.
fn configs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let configs = entries.flat_map(|path| if path.is_dir() { configs_in(&path) } else { vec![path] });
    configs.collect()
}

#[test]
fn every_config_of_the_repository_can_be_started() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    // What the config of the features' run leaves, after one step.
    let place = tempfile::tempdir().unwrap();
    let features = place.path().join("features");
    let short = ["training.steps=1", "training.batch_size=2", "rows=4", "metrics=[]"].map(String::from);
    let config = Config::load(&folder.join("frameworks/dfc_vae_features.toml"), &short).unwrap();
    run::start(&config, prepare(&config).unwrap(), &features, &mut Nobody).unwrap();

    let configs = configs_in(&folder);
    let of_runs = |path: &&PathBuf| !["kernels", "sweeps"].iter().any(|other| path.starts_with(folder.join(other)));
    for path in configs.iter().filter(of_runs) {
        let config = Config::load(path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Config::parse(&config.to_toml(), &[]).unwrap(), config, "{}", path.display());
        let needs_features = config.framework.settings.contains_key("features");
        let mut changes: Vec<String> = Vec::new();
        changes.extend(needs_features.then(|| format!("framework.features={}", features.display())));
        // The files of these are the user's; drawn images of the same shape and nearly as many stand in for them.
        let is_of_files = ["mnist", "fashion_mnist"].contains(&config.dataset.name.as_str());
        changes.extend(is_of_files.then(|| {
            "dataset={ name = 'dsprites', rendered = true, size = 28, subset = { count = 70000, seed = 1 } }"
                .to_string()
        }));
        let config = Config::load(path, &changes).unwrap();
        prepare(&config).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    assert!(configs.len() >= 25);
}

#[test]
fn every_sweep_of_the_repository_expands_to_configs() {
    let sweeps = configs_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/sweeps"));
    for path in &sweeps {
        let file = SweepFile::load(path).unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::of(&file, &[]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(plan.n_same, 0, "{}", path.display());
        // The number of runs is told in words at the top.
        let text = fs::read_to_string(path).unwrap();
        let told = text.lines().take_while(|line| line.starts_with('#')).collect::<String>().replace(',', "");
        assert!(told.contains(&format!("{} runs", plan.runs.len())), "{}: {} runs", path.display(), plan.runs.len());
    }
    assert!(sweeps.len() >= 25);
}

#[test]
fn every_config_of_a_kernel_can_be_started() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/kernels");
    for path in configs_in(&folder) {
        let config = KernelConfig::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(KernelConfig::parse(&config.to_toml()).unwrap(), config, "{}", path.display());
        config.open().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
