//! Folders of work that can be stopped and gone on with: each begins with its `config.toml`.

use std::path::{Path, PathBuf};

use unbraid_data::whole_file::{create_folder, write_new};
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};

/// Makes the folder and writes the config, or checks by `check_begun` that the one which is there was begun alike. Refuses a folder without config that
/// holds one of `remains`.
pub fn begin_folder(
    path: &Path,
    config: &str,
    remains: &[PathBuf],
    check_begun: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if path.exists() && !path.is_dir() {
        return Err(
            Error::new(format!("{} is a file, not a folder", path.display())).help("choose another path with `--out`")
        );
    }
    let config_path = path.join("config.toml");
    if config_path.exists() {
        return check_begun();
    }
    if let Some(found) = remains.iter().find(|path| path.exists()) {
        return Err(Error::new(format!("{} has no config.toml, but {}", path.display(), found.display()))
            .help("choose another folder with `--out`, or move it away"));
    }
    create_folder(path)?;
    write_new(&config_path, config.as_bytes())
}

/// Refuses to go on with other settings than a folder was begun with: the first that differs, now and then.
pub fn check_same(path: &Path, difference: Option<(String, String, String)>) -> Result<()> {
    match difference {
        None => Ok(()),
        Some((key, now, then)) => Err(Error::new(format!(
            "{} was begun with another config: \"{key}\" is {now} now, and was {then}",
            quoted(path)
        ))
        .help("give what it was begun with to go on with it, or choose another folder with `--out`")),
    }
}

/// What to do about a config that is not one of a `kind`.
pub fn something_else(error: Error, path: &Path, kind: &str) -> Error {
    error.help(format!("{} holds something else than a {kind}; choose another folder with `--out`", quoted(path)))
}
