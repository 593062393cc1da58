//! Every config in `configs/` is one that a run can be started with.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::fs;
use std::path::{Path, PathBuf};

use unbraid_experiment::Config;
use unbraid_experiment::prepare::prepare;

/// The configs of a folder and of those in it.
fn configs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let configs = entries.flat_map(|path| if path.is_dir() { configs_in(&path) } else { vec![path] });
    configs.collect()
}

#[test]
fn every_config_of_the_repository_can_be_started() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let configs = configs_in(&folder);
    for path in &configs {
        let config = Config::load(path, &[]).unwrap_or_else(|error| panic!("{error}"));
        prepare(&config).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(Config::parse(&config.to_toml(), &[]).unwrap(), config, "{}", path.display());
    }
    assert!(configs.len() >= 5);
}
