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
    if !is_same(&begun, config) {
        return Err(another_config(path));
    }
    resume(path, &[], watch)
}

/// The error for a folder that holds a run of another config.
pub(crate) fn another_config(path: &Path) -> Error {
    Error::new(format!("{} holds a run of another config", quoted(path))).help("choose another folder, or move it away")
}

/// Whether two configs are the same, by whatever path they name the same file of images and whatever they log for other programs. That its images are the same, `dataset.json` tells.
pub(crate) fn is_same(one: &Config, other: &Config) -> bool {
    let file = |config: &Config| Path::new(config.dataset.settings.get("path")?.as_str()?).canonicalize().ok();
    let mut other = other.clone();
    if file(one).is_some() && file(one) == file(&other) {
        other.dataset.settings.insert("path".to_string(), one.dataset.settings["path"].clone());
    }
    other.log = one.log.clone();
    *one == other
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Nobody;

    #[test]
    fn a_file_has_many_paths() {
        let folder = tempfile::tempdir().unwrap();
        let [here, there] = ["here.npz", "there.npz"].map(|name| folder.path().join(name));
        [&here, &there].iter().for_each(|path| std::fs::write(path, b"").unwrap());
        let config = |path: &Path| {
            let text = "[dataset]\nname = 'npz'\n[framework]\nname = 'vae'\n[model]\nname = 'linear'";
            Config::parse(text, &[format!("dataset.path='{}'", path.display())]).unwrap()
        };
        let spelled = folder.path().join(".").join("here.npz");
        assert!(is_same(&config(&here), &config(Path::new(&format!("{}//./here.npz", folder.path().display())))));
        assert!(is_same(&config(&spelled), &config(&here)) && !is_same(&config(&here), &config(&there)));
        assert!(!is_same(&config(Path::new("none")), &config(Path::new("./none"))));
    }

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
