//! The `[log]` section of a config: what a run writes for other programs to show. It decides nothing of the run itself.

use serde::{Deserialize, Serialize};
use unbraid_data::Result;
use unbraid_report::RunFolder;
use unbraid_report::tensorboard::write_events;

/// What is written for other programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Log {
    /// Whether there is an event file of TensorBoard.
    pub tensorboard: bool,
}

impl Log {
    /// Brings what is asked for up to date with the folder.
    pub fn refresh(&self, folder: &RunFolder) -> Result<()> {
        if self.tensorboard {
            write_events(folder)?;
        }
        Ok(())
    }

    /// Keeps it up to date while a run trains.
    pub fn keeper(&self) -> LogKeeper<'_> {
        LogKeeper { log: self, refreshed_step: 0 }
    }
}

/// What keeps logs up to date while a run trains.
pub struct LogKeeper<'a> {
    log: &'a Log,
    refreshed_step: u64,
}

impl LogKeeper<'_> {
    /// To be called after each checkpoint. Each time the losses of all steps are looked through, so that in a long run a hundredth of the
    /// steps has to be new: otherwise the time that it takes would grow with the square of the steps.
    pub fn after_checkpoint(&mut self, folder: &RunFolder, step: u64) -> Result<()> {
        if step < self.refreshed_step + self.refreshed_step / 100 {
            return Ok(());
        }
        self.refreshed_step = step;
        self.log.refresh(folder)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::prepare::prepare;
    use crate::run::{read_config, resume, start};
    use crate::run_once::is_same;
    use crate::watch::Watch;
    use crate::{Config, Ending};

    const SMALL: &str = "[dataset]\nname = 'xy_squares'\nsquares = 1\n[framework]\nname = 'vae'\n[model]\nname = 'linear'\n\
                         [training]\nsteps = 12\nbatch_size = 4\ncheckpoint_every = 3\n[[metrics]]\nname = 'mig'";
    const EVENTS: &str = "events.out.tfevents.0001.unbraid";

    /// Asks a run to stop after a step; looks for the event file before each.
    struct StopAfter {
        stop_step: u64,
        step: u64,
        events: std::path::PathBuf,
        found_at: Option<u64>,
    }

    impl Watch for StopAfter {
        fn stage(&mut self, _name: &str, _total: u64) {}

        fn progress(&mut self, _done: u64) {}

        fn next_item(&mut self, _name: &str) {}

        fn step(&mut self, done: u64, _loss: f32, _images: u64) {
            self.step = done;
            if self.found_at.is_none() && self.events.exists() {
                self.found_at = Some(done);
            }
        }

        fn note(&mut self, _text: &str) {}

        fn should_stop(&self) -> bool {
            self.step == self.stop_step
        }
    }

    fn config(changes: &[&str]) -> Config {
        Config::parse(SMALL, &changes.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    /// Trains in a folder up to a step; gives the step at which the event file was first there.
    fn train(config: &Config, path: &Path, stop_step: u64) -> Option<u64> {
        let mut watch = StopAfter { stop_step, step: 0, events: path.join(EVENTS), found_at: None };
        start(config, prepare(config).unwrap(), path, &mut watch).unwrap();
        watch.found_at
    }

    #[test]
    fn a_run_that_was_stopped_and_resumed_leaves_the_same_event_file() {
        let parent = tempfile::tempdir().unwrap();
        let [whole, stopped] = ["whole/run", "stopped/run"].map(|name| parent.path().join(name));
        let config = config(&["log.tensorboard=true"]);
        // It is there after the first checkpoint.
        assert_eq!(train(&config, &whole, u64::MAX), Some(4));
        train(&config, &stopped, 7);
        let before = std::fs::read(stopped.join(EVENTS)).unwrap();
        assert_eq!(resume(&stopped, &[], &mut crate::watch::Nobody).unwrap(), Ending::Finished);
        let [expected, found] = [&whole, &stopped].map(|path| std::fs::read(path.join(EVENTS)).unwrap());
        assert!(found == expected && found.starts_with(&before) && before.len() < found.len());
    }

    #[test]
    fn what_is_logged_decides_nothing_and_may_change() {
        let parent = tempfile::tempdir().unwrap();
        let [with, without] = ["with/run", "without/run"].map(|name| parent.path().join(name));
        let logged = config(&["log.tensorboard=true"]);
        assert!(logged.to_toml().contains("[log]\ntensorboard = true\n"));
        assert_eq!(config(&["log.tensorboard=false"]).to_toml(), config(&[]).to_toml());
        assert_eq!(logged.origin(), config(&[]).origin());
        assert!(is_same(&logged, &config(&[])));
        assert_eq!(train(&config(&[]), &without, u64::MAX), None);
        train(&logged, &with, u64::MAX);
        let files = ["losses.csv", "model.safetensors", "codes.npy", "scores.json"];
        let read = |path: &Path| files.map(|name| std::fs::read(path.join(name)).unwrap());
        assert!(read(&with) == read(&without));
        let change = ["log.tensorboard=true".to_string()];
        assert_eq!(resume(&without, &change, &mut crate::watch::Nobody).unwrap(), Ending::Finished);
        assert!(read(&with) == read(&without) && without.join(EVENTS).exists());
        assert!(read_config(&RunFolder::open(&without).unwrap()).unwrap() == logged);
    }

    #[test]
    fn mistakes_are_named() {
        let message = |change: &str| Config::parse(SMALL, &[change.to_string()]).unwrap_err().to_string();
        assert!(message("log.tensorbord=true").starts_with("[log] has no setting \"tensorbord\""));
        assert!(message("log.tensorboard=2").contains("wanted true or false"), "{}", message("log.tensorboard=2"));
    }
}
