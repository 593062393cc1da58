//! The folder of a run: plain files, each written by one stage and read by the next.

use std::fs;
use std::path::{Path, PathBuf};

use ndarray::{Array2, Array3, aview1};
use serde_json::Value;
use unbraid_data::file_errors::cannot_write;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::folders::{remove_file, remove_leftovers};
use unbraid_data::labelled_codes::Extras;
use unbraid_data::npy::{read_list, read_table, read_tables};
use unbraid_data::whole_file::{create_folder, read_text, read_whole, write_new, write_whole};
use unbraid_data::words::quoted;
use unbraid_data::{Error, FactorSpace, LabelledCodes, Result, npy};
use unbraid_metrics::Scores;

use crate::loss_log::{LossTable, read_losses};
use crate::posterior_log::{PosteriorRow, parse_posteriors, posteriors_csv};
use crate::scores_file::{matrices_json, parse_matrices, parse_scores, scores_json};
use crate::selection_log::{SelectionRow, parse_selection, selection_csv};
use crate::status::Status;

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

    /// `status.json`: see [`Status`].
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

    /// Reads the config.
    pub fn read_config(&self) -> Result<String> {
        read_text(&self.config_path())
    }

    /// Writes the config of a run that goes on with another one.
    pub fn write_config(&self, config: &str) -> Result<()> {
        write_whole(&self.config_path(), config.as_bytes())
    }

    /// Writes the model.
    pub fn write_model(&self, bytes: &[u8]) -> Result<()> {
        write_whole(&self.model_path(), bytes)
    }

    /// Reads the model.
    pub fn read_model(&self) -> Result<Vec<u8>> {
        read_whole(&self.model_path())
    }

    /// Writes the best model so far.
    pub fn write_best_model(&self, bytes: &[u8]) -> Result<()> {
        write_whole(&self.best_model_path(), bytes)
    }

    /// Writes the scores of validation images.
    pub fn write_selection(&self, rows: &[SelectionRow]) -> Result<()> {
        write_whole(&self.selection_path(), selection_csv(rows).as_bytes())
    }

    /// Reads the scores of validation images; none where none were taken.
    pub fn read_selection(&self) -> Result<Vec<SelectionRow>> {
        let path = self.selection_path();
        let rows =
            where_present(&path, |path| parse_selection(&read_text(path)?).map_err(|error| error.at(path.display())))?;
        Ok(rows.unwrap_or_default())
    }

    /// Writes what posteriors were like so far.
    pub fn write_posteriors(&self, rows: &[PosteriorRow]) -> Result<()> {
        write_whole(&self.posteriors_path(), posteriors_csv(rows).as_bytes())
    }

    /// Reads what posteriors were like while training; none where that was not kept.
    pub fn read_posteriors(&self) -> Result<Vec<PosteriorRow>> {
        let path = self.posteriors_path();
        let rows =
            where_present(&path, |path| parse_posteriors(&read_text(path)?).map_err(|error| error.at(path.display())))?;
        Ok(rows.unwrap_or_default())
    }

    /// Writes the record of the dataset.
    pub fn write_dataset(&self, record: &DatasetRecord) -> Result<()> {
        let json = serde_json::to_string_pretty(record).expect("a record is text and numbers");
        write_whole(&self.dataset_path(), format!("{json}\n").as_bytes())
    }

    /// Reads the record of the dataset; none for a run of an earlier version.
    pub fn read_dataset(&self) -> Result<Option<DatasetRecord>> {
        where_present(&self.dataset_path(), |path| {
            serde_json::from_str(&read_text(path)?)
                .map_err(|error| Error::new(format!("{} is no record of a dataset: {error}", path.display())))
        })
    }

    /// Writes what the run is doing.
    pub fn write_status(&self, status: &Status) -> Result<()> {
        let json = serde_json::to_string_pretty(status).expect("a status is text and numbers");
        write_whole(&self.status_path(), format!("{json}\n").as_bytes())
    }

    /// Reads what the run is doing; none for a run of an earlier version.
    pub fn read_status(&self) -> Result<Option<Status>> {
        where_present(&self.status_path(), |path| {
            serde_json::from_str(&read_text(path)?)
                .map_err(|error| Error::new(format!("{} is no status: {error}", path.display())))
        })
    }

    /// Reads the losses.
    pub fn read_losses(&self) -> Result<LossTable> {
        read_losses(&self.losses_path())
    }

    /// Writes codes, factors, and the log-variances, reconstruction losses and Jacobians where there are any.
    pub fn write_codes(&self, data: &LabelledCodes) -> Result<()> {
        npy::write_file(&self.codes_path(), &data.codes().mapv(|value| value as f32))?;
        if data.space().factors().iter().all(|factor| factor.size.is_some()) {
            npy::write_file(&self.factors_path(), &data.factors().mapv(|value| value as i64))?;
        } else {
            npy::write_file(&self.factors_path(), data.factors())?;
        }
        let extras = data.extras();
        match &extras.log_variances {
            Some(table) => npy::write_file(&self.log_variances_path(), &table.mapv(|value| value as f32))?,
            // What an earlier stage left would no longer belong to these codes.
            None => remove_file(&self.log_variances_path())?,
        }
        match &extras.reconstruction_losses {
            Some(losses) => npy::write_file(&self.reconstruction_losses_path(), &aview1(losses))?,
            None => remove_file(&self.reconstruction_losses_path())?,
        }
        match &extras.kl_divergences {
            Some(divergences) => npy::write_file(&self.kl_divergences_path(), &aview1(divergences))?,
            None => remove_file(&self.kl_divergences_path())?,
        }
        match &extras.jacobians {
            Some(jacobians) => self.write_jacobians(jacobians),
            None => remove_file(&self.jacobians_path()),
        }
    }

    /// Reads the decoder's Jacobians, `[codes, pixels, latents]`, where there are any.
    pub fn read_jacobians(&self) -> Result<Option<Array3<f64>>> {
        where_present(&self.jacobians_path(), read_tables)
    }

    /// Writes the decoder's Jacobians, `[codes, pixels, latents]`, for codes that are there.
    pub fn write_jacobians(&self, jacobians: &Array3<f64>) -> Result<()> {
        npy::write_file(&self.jacobians_path(), &jacobians.mapv(|value| value as f32))
    }

    /// Reads what `write_codes` wrote, for factors of this space; but no Jacobians, which are large and seldom needed.
    pub fn read_codes(&self, space: FactorSpace) -> Result<LabelledCodes> {
        let codes = read_table(&self.codes_path())?;
        let factors = read_table(&self.factors_path())?;
        let log_variances: Option<Array2<f64>> = where_present(&self.log_variances_path(), read_table)?;
        let reconstruction_losses = where_present(&self.reconstruction_losses_path(), read_list)?;
        let kl_divergences = where_present(&self.kl_divergences_path(), read_list)?;
        let extras = Extras { log_variances, reconstruction_losses, kl_divergences, ..Extras::default() };
        LabelledCodes::new(codes, factors, space, extras).map_err(|error| error.at(self.path.display()))
    }

    /// Writes `scores.json`, and `matrices.json` beside it.
    pub fn write_scores(&self, scores: &Scores) -> Result<()> {
        write_whole(&self.scores_path(), format!("{:#}\n", scores_json(scores)).as_bytes())?;
        write_whole(&self.matrices_path(), format!("{}\n", matrices_json(&scores.matrices)).as_bytes())
    }

    /// Reads the scores, and the matrices where there are any.
    pub fn read_scores(&self) -> Result<Scores> {
        let path = self.scores_path();
        let mut scores = parse_scores(&read_json(&path)?).map_err(|error| error.at(path.display()))?;
        let path = self.matrices_path();
        if let Some(value) = where_present(&path, read_json)? {
            scores.matrices = parse_matrices(&value).map_err(|error| error.at(path.display()))?;
        }
        Ok(scores)
    }

    /// Writes a PNG or GIF to `figures/NAME`.
    pub fn write_figure(&self, name: &str, bytes: &[u8]) -> Result<()> {
        create_folder(&self.path.join("figures"))?;
        write_whole(&self.figure_path(name), bytes)
    }

    /// Writes the page.
    pub fn write_page(&self, html: &str) -> Result<()> {
        write_whole(&self.page_path(), html.as_bytes())
    }

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

    /// A run may take days: that its folder cannot be written to is better known at once.
    fn check_writable(&self) -> Result<()> {
        let probe = self.path.join(format!(".probe.tmp-{}", std::process::id()));
        let tried = fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe));
        tried.map_err(|error| cannot_write(&self.path, &error))
    }
}

fn read_json(path: &Path) -> Result<Value> {
    serde_json::from_str(&read_text(path)?)
        .map_err(|error| Error::new(format!("{} is no JSON: {error}", path.display())))
}

fn where_present<T>(path: &Path, read: impl FnOnce(&Path) -> Result<T>) -> Result<Option<T>> {
    if path.exists() { read(path).map(Some) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::Factor;

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

    #[test]
    fn codes_come_back_with_what_belongs_to_them() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "").unwrap();
        let factors = |size| vec![Factor { name: "shape".to_string(), size }];
        let extras = Extras {
            log_variances: Some(array![[-1.0], [-2.5]]),
            reconstruction_losses: Some(vec![0.1, 7.0]),
            jacobians: Some(array![[[0.5], [-0.25], [3.0]]]),
            ..Extras::default()
        };
        let space = FactorSpace::sample(factors(Some(3)));
        let data = LabelledCodes::new(array![[0.5], [1.5]], array![[2.0], [0.0]], space.clone(), extras).unwrap();
        folder.write_codes(&data).unwrap();
        let read = folder.read_codes(space).unwrap();
        assert_eq!((read.codes(), read.factors()), (data.codes(), data.factors()));
        assert_eq!(read.extras().log_variances, data.extras().log_variances);
        assert_eq!(read.extras().reconstruction_losses, data.extras().reconstruction_losses);
        assert_eq!(folder.read_jacobians().unwrap(), data.extras().jacobians);

        let space = FactorSpace::sample(factors(None));
        let plain = LabelledCodes::new(array![[0.5]], array![[0.3]], space.clone(), Extras::default()).unwrap();
        folder.write_codes(&plain).unwrap();
        let read = folder.read_codes(space).unwrap();
        assert_eq!(read.factors(), plain.factors());
        assert_eq!((&read.extras().log_variances, &folder.read_jacobians().unwrap()), (&None, &None));
    }

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
    fn scores_are_written_in_order_and_come_back() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "").unwrap();
        let scores = Scores::new().with("mig", 0.5).with("cbd", 0.25).without("dci", "one factor only");
        folder.write_scores(&scores).unwrap();
        let text = fs::read_to_string(folder.scores_path()).unwrap();
        let expected = r#"{
  "scores": {
    "mig": 0.5,
    "cbd": 0.25
  },
  "undefined": {
    "dci": "one factor only"
  },
  "notes": []
}
"#;
        assert_eq!(text, expected);
        assert_eq!(folder.read_scores().unwrap(), scores);
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
