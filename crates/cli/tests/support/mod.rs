//! Runs the command in a folder of its own.

#![allow(dead_code, reason = "each test file uses its share of this module")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

pub mod tables;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A config that trains in a second: one grey square, a small network.
pub const SMALL: &str = r#"
seed = 7

[dataset]
name = "xy_squares"
squares = 1
rgb = false

[framework]
name = "beta_vae"
beta = 0.5

[model]
name = "mlp"
latents = 2
encoder = [16]
decoder = [16]

[training]
steps = 40
batch_size = 8
checkpoint_every = 10
"#;

/// A folder that goes away with the test.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// One with a small run called `features`, whose encoder gives features of grey pictures, where the config names it.
    pub fn with_features_for(config: &str) -> Self {
        let place = Self::new();
        if config.contains("features = 'features'") {
            place.write("features.toml", SMALL);
            place.output(&["train", "features.toml", "--out", "features", "--set", "metrics=[]"]);
        }
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unbraid"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Standard output of a command that must succeed.
    pub fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command that must be refused with this exit code says.
    pub fn refusal(&self, arguments: &[&str], exit_code: i32) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit_code), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
        errors
    }
}

/// Kills a command with `kill -9` as soon as its checkpoint is one that was not there before, and calls it again, until what it writes last is there.
/// Gives how often it was killed.
pub fn kill_until(place: &Place, command: &[&str], checkpoint: &str, end: &str) -> usize {
    let mut kills = 0;
    while !place.path(end).exists() {
        let mut child = place.command(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (start, before) = (Instant::now(), std::fs::read(place.path(checkpoint)).ok());
        while std::fs::read(place.path(checkpoint)).ok() == before
            && child.try_wait().unwrap().is_none()
            && start.elapsed() < Duration::from_secs(60)
        {
            sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        assert!(kills < 50);
    }
    kills
}

/// The files of a run that must be the same to the byte, whatever happened on the way.
pub fn exact_files(run: &Path) -> Vec<(String, Vec<u8>)> {
    let arrays = ["codes.npy", "factors.npy"];
    let others = ["model.safetensors", "scores.json", "matrices.json", "losses.csv", "config.toml", "dataset.json"];
    let of_posterior = ["log_variances.npy", "kl_divergences.npy", "posteriors.csv"];
    let of_decoder = ["reconstruction_losses.npy", "jacobians.npy"];
    let of_selection = ["selection.csv", "best.safetensors"];
    let optional = of_posterior.iter().chain(&of_decoder).chain(&of_selection).filter(|name| run.join(name).exists());
    arrays
        .iter()
        .chain(&others)
        .chain(optional)
        .copied()
        .map(|name| (name.to_string(), std::fs::read(run.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))))
        .collect()
}
