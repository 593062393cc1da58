//! The folder of a learned kernel: plain files.

use std::path::{Path, PathBuf};

use unbraid_data::Result;

use super::config::KernelConfig;
use crate::begun_folder::{begin_folder, check_same, something_else};

/// The files of a learned kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFolder {
    path: PathBuf,
}

impl KernelFolder {
    /// Makes the folder, or opens the one that was begun with the same config; refuses one that was begun with another.
    pub fn begin(path: &Path, config: &KernelConfig) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        let remains = [folder.checkpoint_path(), folder.kernel_path(), folder.losses_path()];
        begin_folder(path, &config.to_toml(), &remains, || {
            let begun = KernelConfig::load(&folder.config_path());
            let begun = begun.map_err(|error| something_else(error, path, "kernel"))?;
            check_same(path, config.difference(&begun))
        })?;
        Ok(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `config.toml`: the whole config.
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// `losses.csv`: correlation, regulariser and their sum, which is minimised, at each step.
    pub fn losses_path(&self) -> PathBuf {
        self.path.join("losses.csv")
    }

    /// `checkpoint.safetensors`: weights, optimiser and step.
    pub fn checkpoint_path(&self) -> PathBuf {
        self.path.join("checkpoint.safetensors")
    }

    /// `kernel.npy`: 32-bit floats, `[side, side]`; there where all steps were taken.
    pub fn kernel_path(&self) -> PathBuf {
        self.path.join("kernel.npy")
    }

    /// `kernel.png`: the kernel as a picture.
    pub fn picture_path(&self) -> PathBuf {
        self.path.join("kernel.png")
    }
}
