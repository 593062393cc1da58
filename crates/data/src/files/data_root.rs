//! Where files of published datasets are looked for, and what is said where one is not there. Nothing is downloaded.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Result};

/// A published file (or folder) that a dataset is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// What it is called, below the data root: any of these names.
    pub names: &'static [&'static str],
    /// Where it is published.
    pub place: &'static str,
    /// How large it is, in words.
    pub size: &'static str,
    /// Its MD5, where it is known.
    pub md5: Option<&'static str>,
}

/// The folder of `--data-root`, where it was given.
static GIVEN: OnceLock<PathBuf> = OnceLock::new();

/// Looks for datasets in `folder` first. The first call decides.
pub fn set_data_root(folder: PathBuf) {
    // A second call changes nothing.
    let _ = GIVEN.set(folder);
}

/// The folders that are looked through, in order: that of `--data-root`, that of `UNBRAID_DATA`, `~/.local/share/unbraid`.
pub fn data_roots() -> Vec<PathBuf> {
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_user = named("HOME").map(|home| home.join(".local/share/unbraid"));
    [GIVEN.get().cloned(), named("UNBRAID_DATA"), of_user].into_iter().flatten().collect()
}

impl Published {
    /// Where the file lies: at the path that the user gave, or below a data root.
    pub fn locate(&self, dataset: &str, path: Option<&Path>) -> Result<PathBuf> {
        match path {
            Some(path) if path.exists() => Ok(path.to_path_buf()),
            Some(path) => {
                Err(Error::new(format!("setting \"path\": there is no {}", path.display())).help(self.advice(dataset)))
            }
            None => self.find().ok_or_else(|| {
                let roots: Vec<String> = data_roots().iter().map(|root| root.display().to_string()).collect();
                let looked = if roots.is_empty() {
                    "there is no folder to look in".to_string()
                } else {
                    format!("looked in {}", roots.join(", "))
                };
                Error::new(format!(
                    "dataset \"{dataset}\" is read from {}, which is not there ({looked})",
                    self.names[0]
                ))
                .about_a_name()
                .help(self.advice(dataset))
            }),
        }
    }

    /// Where the file lies below a data root, if it is there.
    pub fn find(&self) -> Option<PathBuf> {
        let roots = data_roots();
        let places = roots.iter().flat_map(|root| self.names.iter().map(move |name| root.join(name)));
        places.into_iter().find(|path| path.exists())
    }

    /// What to do for the file to be found.
    fn advice(&self, dataset: &str) -> String {
        format!(
            "get {} ({}) from {}, and put it into ~/.local/share/unbraid, or into the folder that --data-root or the variable \
             UNBRAID_DATA names; or say where it is: path = \"...\" of dataset \"{dataset}\"",
            self.names[0], self.size, self.place
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Published =
        Published { names: &["no_such_file.h5"], place: "https://example.org", size: "255 MB", md5: None };

    #[test]
    fn a_missing_file_is_told_with_where_it_comes_from_and_goes_to() {
        let message = FILE.locate("shapes3d", None).unwrap_err().to_string();
        for wanted in
            ["no_such_file.h5", "255 MB", "https://example.org", "--data-root", "UNBRAID_DATA", ".local/share"]
        {
            assert!(message.contains(wanted), "{message}");
        }
        let message = FILE.locate("shapes3d", Some(Path::new("/no/such"))).unwrap_err().to_string();
        assert!(message.starts_with("setting \"path\": there is no /no/such"), "{message}");
    }
}
