//! The folder of a perturbation: plain files.

use std::path::{Path, PathBuf};

use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};

use super::config::PerturbConfig;
use crate::begun_folder::{begin_folder, check_same, something_else};

/// The paths of a perturbation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerturbFolder {
    path: PathBuf,
}

impl PerturbFolder {
    /// Makes the folder, or opens the one that was begun with the same config; refuses one that was begun with another.
    pub fn begin(path: &Path, config: &PerturbConfig) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        let remains = [folder.checkpoint_path(), folder.losses_path(), folder.perturbed_path(), folder.noise_path()];
        begin_folder(path, &config.to_toml(), &remains, || {
            check_same(path, config.difference(&folder.read_config()?))
        })?;
        Ok(folder)
    }

    /// The folder of a perturbation that was begun, and its config.
    pub fn open(path: &Path) -> Result<(Self, PerturbConfig)> {
        let folder = Self { path: path.to_path_buf() };
        if !folder.config_path().exists() {
            return Err(Error::new(format!("{} holds no perturbation that could go on", quoted(path)))
                .help("give the runs to begin with: unbraid perturb RUN RUN ... --out FOLDER"));
        }
        let config = folder.read_config()?;
        Ok((folder, config))
    }

    fn read_config(&self) -> Result<PerturbConfig> {
        PerturbConfig::load(&self.config_path()).map_err(|error| something_else(error, &self.path, "perturbation"))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `config.toml`: the whole config, and the runs.
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// `losses.csv`: at each step the losses of both sides and their difference, which is minimised.
    pub fn losses_path(&self) -> PathBuf {
        self.path.join("losses.csv")
    }

    /// `checkpoint.safetensors`: the manipulation network, all decoders, their optimisers and the step.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.path.join("checkpoint.safetensors")
    }

    /// `perturbed.npz`: the altered images and their factors; there where all steps were taken.
    pub fn perturbed_path(&self) -> PathBuf {
        self.path.join("perturbed.npz")
    }

    /// `noise.npz`: the same images with uniform noise in place of the learned change.
    pub fn noise_path(&self) -> PathBuf {
        self.path.join("noise.npz")
    }

    /// `NAME.png`: a picture.
    pub fn picture_path(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.png"))
    }

    /// `perturb.json`: what came of it in numbers.
    pub fn summary_path(&self) -> PathBuf {
        self.path.join("perturb.json")
    }

    /// `retrain`: the folders of runs that were trained again.
    pub fn retrain_path(&self) -> PathBuf {
        self.path.join("retrain")
    }

    /// `retrain.csv`: the scores of each run that was trained again.
    pub fn retrain_table_path(&self) -> PathBuf {
        self.path.join("retrain.csv")
    }

    /// `perturb.html`: the page.
    pub fn page_path(&self) -> PathBuf {
        self.path.join("perturb.html")
    }
}
