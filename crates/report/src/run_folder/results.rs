//! What is made once training has ended, and what a killed run left: which files that is, and how they go.

use std::fs;
use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_data::file_errors::cannot_write;
use unbraid_data::folders::{remove_file, remove_leftovers};

use super::RunFolder;

impl RunFolder {
    /// What there is of all that is made once training has ended: codes, scores, figures and the page.
    pub fn results(&self) -> Vec<PathBuf> {
        let results = [
            self.page_path(),
            self.scores_path(),
            self.matrices_path(),
            self.codes_path(),
            self.factors_path(),
            self.log_variances_path(),
            self.reconstruction_losses_path(),
            self.kl_divergences_path(),
            self.jacobians_path(),
            self.path.join("figures"),
            self.path.join("inspect"),
            self.path.join("pca"),
        ];
        results.into_iter().filter(|path| path.exists()).collect()
    }

    /// Removes the results, which belong to the step that they were made after: training goes on.
    pub fn remove_results(&self) -> Result<()> {
        for path in self.results() {
            match path.is_dir() {
                true => fs::remove_dir_all(&path).map_err(|error| cannot_write(&path, &error))?,
                false => remove_file(&path)?,
            }
        }
        Ok(())
    }

    /// Removes the page, the last of the results: without it a run is not finished.
    pub fn remove_page(&self) -> Result<()> {
        remove_file(&self.page_path())
    }

    /// Removes the unfinished files that a killed run left behind. Only for the one process that goes on with the run.
    pub fn remove_leftovers(&self) -> Result<()> {
        [self.path.clone(), self.path.join("figures")].iter().try_for_each(|folder| remove_leftovers(folder))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes};
    use unbraid_metrics::Scores;

    use super::*;

    #[test]
    fn all_results_are_removed_where_training_goes_on() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "").unwrap();
        let extras = Extras {
            log_variances: Some(array![[-1.0]]),
            reconstruction_losses: Some(vec![0.1]),
            jacobians: Some(array![[[0.5]]]),
            ..Extras::default()
        };
        let data = LabelledCodes::new(array![[0.5]], array![[2.0]], FactorSpace::grid([("shape", 3)]), extras).unwrap();
        folder.write_codes(&data).unwrap();
        folder.write_scores(&Scores::new()).unwrap();
        folder.write_figure("a.png", b"").unwrap();
        folder.write_page("").unwrap();
        assert_eq!(folder.results().len(), 9);
        folder.remove_results().unwrap();
        let left: Vec<_> = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["config.toml"]);
    }

    #[test]
    fn leftovers_of_a_killed_run_are_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "").unwrap();
        folder.write_figure("a.png", b"").unwrap();
        for name in [".model.safetensors.tmp-12", "figures/.a.png.tmp-7", ".notes.tmp-mine", "kept.tmp-3"] {
            fs::write(parent.path().join(name), b"").unwrap();
        }
        folder.remove_leftovers().unwrap();
        let left = |name: &str| parent.path().join(name).exists();
        assert!(!left(".model.safetensors.tmp-12") && !left("figures/.a.png.tmp-7"));
        assert!(left(".notes.tmp-mine") && left("kept.tmp-3") && left("figures/a.png"));
    }
}
