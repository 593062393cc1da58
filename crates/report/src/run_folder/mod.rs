//! The folder of a run: plain files, each written by one stage and read by the next.

mod files;
mod results;

use std::fs;
use std::path::{Path, PathBuf};

use unbraid_data::file_errors::cannot_write;
use unbraid_data::whole_file::{create_folder, write_new};
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};

/// The paths of a run and the way to read and write each. All files but `losses.csv` are replaced whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a new run and writes its config; refuses one that already holds a run, and a path that cannot
    /// be one. Of several processes that try at once, one succeeds.
    pub fn create(path: &Path, config: &str) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        match folder.claim(config) {
            // Whatever failed: another process was first, and may have cleared up what this one had begun.
            Err(_) if folder.config_path().exists() => {
                let place = quoted(path);
                Err(Error::new(format!("{place} already holds a run")).help(format!(
                    "`unbraid resume {place}` goes on with it; `--out` with another folder starts a new one"
                )))
            }
            claimed => claimed.map(|()| folder),
        }
    }

    fn claim(&self, config: &str) -> Result<()> {
        let (folder, path, place) = (self, self.path.as_path(), self.path.display());
        if path.exists() && !path.is_dir() {
            return Err(Error::new(format!("{place} is a file, not a folder")).help("choose another path with `--out`"));
        }
        let mut remains = folder.results();
        remains.extend([
            folder.model_path(),
            folder.losses_path(),
            folder.best_model_path(),
            folder.selection_path(),
            folder.posteriors_path(),
            folder.dataset_path(),
        ]);
        if let Some(found) = remains.iter().find(|path| path.exists()) {
            return Err(Error::new(format!("{place} has no config.toml, but {} of some run", found.display()))
                .help("choose another folder with `--out`, or move it away"));
        }
        create_folder(path)?;
        folder.check_writable()?;
        write_new(&folder.config_path(), config.as_bytes())
    }

    /// The folder of a run that is there; refuses one without `config.toml`.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = Self { path: path.to_path_buf() };
        let place = path.display();
        if !path.exists() {
            return Err(Error::new(format!("there is no folder {place}")).help("check the path"));
        }
        if !path.is_dir() {
            return Err(Error::new(format!("{place} is a file, not the folder of a run"))
                .help("give the folder that `unbraid train --out` wrote"));
        }
        if !folder.config_path().is_file() {
            return Err(Error::new(format!("{place} holds no run: it has no config.toml"))
                .help("give the folder that `unbraid train --out` wrote"));
        }
        // On a disk without links, a kill in the first moment of a run leaves it so.
        if fs::metadata(folder.config_path()).is_ok_and(|found| found.len() == 0) {
            return Err(Error::new(format!("{place} holds no run: its config.toml is empty"))
                .help("remove the file, and train again"));
        }
        Ok(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of its path.
    pub fn name(&self) -> String {
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        path.file_name().map_or_else(|| "run".to_string(), |name| name.to_string_lossy().to_string())
    }

    /// `config.toml`: the whole config, with every default filled in.
    pub fn config_path(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// `losses.csv`: see [`crate::LossLog`].
    pub fn losses_path(&self) -> PathBuf {
        self.path.join("losses.csv")
    }

    /// `model.safetensors`: weights, optimiser and random state.
    pub fn model_path(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    /// `best.safetensors`: the checkpoint whose validation images scored best, where they were scored.
    pub fn best_model_path(&self) -> PathBuf {
        self.path.join("best.safetensors")
    }

    /// `selection.csv`: the scores of validation images while training.
    pub fn selection_path(&self) -> PathBuf {
        self.path.join("selection.csv")
    }

    /// `posteriors.csv`: what posteriors were like while training.
    pub fn posteriors_path(&self) -> PathBuf {
        self.path.join("posteriors.csv")
    }

    /// `status.json`: see [`crate::status::Status`].
    pub fn status_path(&self) -> PathBuf {
        self.path.join("status.json")
    }

    /// `dataset.json`: the dataset's factors, and a fingerprint of its images.
    pub fn dataset_path(&self) -> PathBuf {
        self.path.join("dataset.json")
    }

    /// `codes.npy`: 32-bit floats, `[rows, latents]`.
    pub fn codes_path(&self) -> PathBuf {
        self.path.join("codes.npy")
    }

    /// `factors.npy`: 64-bit integers, or floats where a factor is continuous, `[rows, factors]`.
    pub fn factors_path(&self) -> PathBuf {
        self.path.join("factors.npy")
    }

    /// `log_variances.npy`: 32-bit floats, `[rows, latents]`.
    pub fn log_variances_path(&self) -> PathBuf {
        self.path.join("log_variances.npy")
    }

    /// `reconstruction_losses.npy`: 64-bit floats, `[rows]`.
    pub fn reconstruction_losses_path(&self) -> PathBuf {
        self.path.join("reconstruction_losses.npy")
    }

    /// `jacobians.npy`: 32-bit floats, `[codes, pixels, latents]`.
    pub fn jacobians_path(&self) -> PathBuf {
        self.path.join("jacobians.npy")
    }

    /// `kl_divergences.npy`: 64-bit floats, `[rows]`; only where they do not follow from codes and log-variances.
    pub fn kl_divergences_path(&self) -> PathBuf {
        self.path.join("kl_divergences.npy")
    }

    /// `scores.json`: numbers, and reasons where there is none.
    pub fn scores_path(&self) -> PathBuf {
        self.path.join("scores.json")
    }

    /// `matrices.json`: the matrices behind the scores.
    pub fn matrices_path(&self) -> PathBuf {
        self.path.join("matrices.json")
    }

    /// `figures/NAME`, for instance `figures/traversals.png`.
    pub fn figure_path(&self, name: &str) -> PathBuf {
        self.path.join("figures").join(name)
    }

    /// `report.html`: the page of the run, whole in itself.
    pub fn page_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// A run may take days: that its folder cannot be written to is better known at once.
    fn check_writable(&self) -> Result<()> {
        let probe = self.path.join(format!(".probe.tmp-{}", std::process::id()));
        let tried = fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe));
        tried.map_err(|error| cannot_write(&self.path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_a_run_is_refused_and_told_how_to_go_on() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("runs/a");
        RunFolder::create(&path, "seed = 1\n").unwrap();
        let expected = format!(
            "{0} already holds a run\n       `unbraid resume {0}` goes on with it; \
             `--out` with another folder starts a new one",
            path.display()
        );
        assert_eq!(RunFolder::create(&path, "").unwrap_err().to_string(), expected);
        assert_eq!(RunFolder::open(&path).unwrap().read_config().unwrap(), "seed = 1\n");
    }

    #[test]
    fn files_and_folders_without_a_run_are_told_apart() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, b"").unwrap();
        let message = |result: Result<RunFolder>| result.unwrap_err().to_string();
        assert!(message(RunFolder::create(&file, "")).contains("is a file, not a folder"));
        assert!(message(RunFolder::create(&file.join("run"), "")).contains("a part of the path is a file"));
        assert!(message(RunFolder::open(&file)).contains("is a file, not the folder of a run"));
        assert!(message(RunFolder::open(parent.path())).contains("holds no run: it has no config.toml"));
        assert!(message(RunFolder::open(&parent.path().join("b"))).starts_with("there is no folder"));
        fs::write(parent.path().join("config.toml"), b"").unwrap();
        assert!(message(RunFolder::open(parent.path())).contains("holds no run: its config.toml is empty"));
        fs::remove_file(parent.path().join("config.toml")).unwrap();
        // What a run would replace may be somebody's.
        fs::create_dir(parent.path().join("figures")).unwrap();
        assert!(message(RunFolder::create(parent.path(), "")).contains("has no config.toml, but "));
        fs::remove_dir(parent.path().join("figures")).unwrap();
        // An empty folder, or one with other files, may take a run.
        RunFolder::create(parent.path(), "").unwrap();
        let mut names: Vec<_> = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["config.toml", "file"]);
    }
}
