//! How inputs are read, where they do not say it themselves.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use unbraid_data::{Error, FactorKinds, Result};
use unbraid_formats::MemoryLimit;
use unbraid_formats::columns::Roles;

/// What files of named columns are called.
const COLUMNS: [&str; 4] = ["csv", "tsv", "parquet", "pq"];

/// How inputs are read. By default as each says itself.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// The `.npy` file with the factors of all inputs that are `.npy`, which hold codes alone.
    pub factors_file: Option<PathBuf>,
    /// The columns of CSV and Parquet that are factors, in order; by their names where absent.
    pub factor_columns: Option<Vec<String>>,
    /// Factors that are continuous, whatever they hold.
    pub continuous: Vec<String>,
    /// Factors that are discrete: their distinct values are numbered in order.
    pub discrete: Vec<String>,
    /// The most memory that the tables of one file may take; larger ones are refused before they are read.
    pub memory_limit: MemoryLimit,
}

impl Reading {
    /// Whether it says which factors are continuous or discrete.
    pub fn overrules_kinds(&self) -> bool {
        !self.continuous.is_empty() || !self.discrete.is_empty()
    }

    pub(super) fn kinds(&self) -> FactorKinds {
        FactorKinds { continuous: self.continuous.clone(), discrete: self.discrete.clone() }
    }

    pub(super) fn roles(&self) -> Roles {
        Roles { factors: self.factor_columns.clone(), kinds: self.kinds() }
    }

    /// Factors that are given are of use to at least one of the inputs.
    pub(super) fn check_use(&self, paths: &[PathBuf]) -> Result<()> {
        let any = |extensions: &[&str]| paths.iter().any(|path| has_extension(path, extensions));
        let file_is_used = self.factors_file.is_none() || any(&["npy"]);
        let names_are_used = self.factor_columns.is_none() || any(&COLUMNS);
        let Some(path) = paths.first().filter(|_| !file_is_used || !names_are_used) else { return Ok(()) };
        if path.is_dir() {
            Err(Error::new("a run has the factors of its dataset").at(path.display()).help("leave out `--factors`"))
        } else if has_extension(path, &["npz"]) {
            Err(Error::new("a .npz file holds its factors").at(path.display()).help("leave out `--factors`"))
        } else if has_extension(path, &COLUMNS) {
            Err(Error::new("the factors are columns of the same file")
                .at(path.display())
                .help("name the columns: `--factors shape,scale`"))
        } else if has_extension(path, &["npy"]) {
            Err(without_factors(path))
        } else {
            Ok(())
        }
    }
}

pub(super) fn without_factors(path: &Path) -> Error {
    Error::new(format!("{} holds codes without factors", path.display()))
        .help("name the file of the factors: `--factors FACTORS.npy`")
}

/// Whether the path ends in one of these, in small letters or capitals.
pub fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}
