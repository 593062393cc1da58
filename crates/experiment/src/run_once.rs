//! A run that is wanted in a folder: begun where there is none, gone on with where it was stopped or killed, left as it is where it is finished.
//! What trains many runs in turn calls this for each, and can be started again at any time.

use std::path::Path;

use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;

use crate::config::Config;
use crate::prepare::prepare;
use crate::run::{read_config, resume, start};
use crate::train::Ending;
use crate::watch::Watch;

/// Carries the run of a config to its end in this folder. A folder that holds a run of another config is refused.
pub fn run_once(config: &Config, path: &Path, watch: &mut dyn Watch) -> Result<Ending> {
    if !path.join("config.toml").exists() {
        return start(config, prepare(config)?, path, watch);
    }
    let begun = read_config(&RunFolder::open(path)?)?;
    if begun != *config {
        return Err(Error::new(format!("{} holds a run of another config", quoted(path)))
            .help("choose another folder, or move it away"));
    }
    resume(path, &[], watch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Nobody;

    #[test]
    fn a_run_is_made_once_and_another_config_is_refused() {
        let text = "[dataset]\nname = 'xy_squares'\nsquares = 1\n[framework]\nname = 'vae'\n[model]\nname = 'linear'\n\
                    [training]\nsteps = 2\nbatch_size = 4\n[[metrics]]\nname = 'mig'";
        let config = |changes: &[&str]| {
            Config::parse(text, &changes.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        assert_eq!(run_once(&config(&[]), &path, &mut Nobody).unwrap(), Ending::Finished);
        assert_eq!(run_once(&config(&[]), &path, &mut Nobody).unwrap(), Ending::FinishedBefore(2));
        let refused = run_once(&config(&["seed=2"]), &path, &mut Nobody).unwrap_err().to_string();
        assert!(refused.contains("holds a run of another config"), "{refused}");
    }
}
