//! Every config in `configs/` is one that a run can be started with.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use std::path::Path;

use unbraid_experiment::Config;
use unbraid_experiment::prepare::prepare;

#[test]
fn every_config_of_the_repository_can_be_started() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
    let mut n_checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let config = Config::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        prepare(&config).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(Config::parse(&config.to_toml(), &[]).unwrap(), config, "{}", path.display());
        n_checked += 1;
    }
    assert!(n_checked >= 3);
}
