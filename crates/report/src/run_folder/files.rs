//! How each file of a run is read and written. All but `losses.csv` are replaced whole.

use std::path::Path;

use ndarray::{Array2, Array3, aview1};
use serde_json::Value;
use unbraid_data::fingerprint::DatasetRecord;
use unbraid_data::folders::remove_file;
use unbraid_data::labelled_codes::Extras;
use unbraid_data::npy::{read_list, read_table, read_tables};
use unbraid_data::whole_file::{create_folder, read_text, read_whole, write_whole};
use unbraid_data::words::quoted;
use unbraid_data::{Error, FactorSpace, LabelledCodes, Result, npy};
use unbraid_metrics::Scores;

use crate::loss_log::{LossTable, read_losses, read_some_losses};
use crate::posterior_log::{PosteriorRow, parse_posteriors, posteriors_csv};
use crate::scores_file::{matrices_json, parse_matrices, parse_scores, scores_json};
use crate::selection_log::{SelectionRow, parse_selection, selection_csv};
use crate::status::Status;

use super::RunFolder;

impl RunFolder {
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

    /// Reads the losses of the steps that are wanted, and of the last one.
    pub fn read_some_losses(&self, is_wanted: impl Fn(usize) -> bool) -> Result<LossTable> {
        read_some_losses(&self.losses_path(), is_wanted)
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
        self.read_scores_as_they_are()
            .map_err(|error| error.more_help(format!("`unbraid report {}` makes them again", quoted(&self.path))))
    }

    fn read_scores_as_they_are(&self) -> Result<Scores> {
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
    use std::fs;

    use ndarray::array;
    use unbraid_data::Factor;

    use super::*;

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
    fn scores_come_back_to_the_last_bit_and_damaged_ones_can_be_made_again() {
        let parent = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(parent.path(), "").unwrap();
        let score = |number: i32| (format!("score.{number}"), f64::from(number).sqrt().fract());
        let scores = (0..500).map(score).fold(Scores::new(), |scores, (name, value)| scores.with(&name, value));
        folder.write_scores(&scores).unwrap();
        assert_eq!(folder.read_scores().unwrap(), scores);
        fs::write(folder.scores_path(), "{").unwrap();
        let error = folder.read_scores().unwrap_err().to_string();
        assert!(error.contains("is no JSON") && error.contains("`unbraid report "), "{error}");
    }
}
