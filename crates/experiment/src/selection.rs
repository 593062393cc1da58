//! Selection: while a run trains, validation images are scored every so many steps, and the checkpoint with the best score is
//! kept beside the last.

use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::{Dataset, Error, Result, Seed, Split, settings};
use unbraid_learn::Learner;
use unbraid_metrics::{Better, METRICS, Subject, headline};
use unbraid_report::{RunFolder, SelectionRow};

use crate::config::{Config, Named};
use crate::measure::{encode_images, measure_subject};
use crate::prepare::{Prepared, some_rows};

/// How the best checkpoint is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// The metric whose headline score is looked at.
    pub metric: String,
    /// Steps between looks.
    pub every: u64,
    /// Which checkpoint the final scores and pictures are of.
    pub checkpoint: Which,
}

/// One of the two checkpoints of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// The one with the best score of validation images.
    #[default]
    Best,
    /// The one after the last step.
    Last,
}

impl Default for Selection {
    fn default() -> Self {
        Self { metric: "mig".to_string(), every: 1000, checkpoint: Which::Best }
    }
}

impl Selection {
    /// Reads the section of a config.
    pub(crate) fn read(section: &Table) -> Result<Self> {
        let selection: Self = settings::read(section).map_err(|error| error.of("[selection]"))?;
        if selection.every == 0 {
            return Err(Error::new("[selection] setting \"every\" is 0").help("wanted 1 or more"));
        }
        let metric = &selection.metric;
        if headline(metric)?.better == Better::Neither {
            let message =
                format!("[selection] setting \"metric\" is \"{metric}\", of which neither more nor less is better");
            let suited = METRICS.iter().filter(|entry| entry.scores[0].better != Better::Neither);
            let suited: Vec<&str> = suited.map(|entry| entry.name).collect();
            return Err(Error::new(message).help(format!("choose one of {}", suited.join(", "))));
        }
        Ok(selection)
    }

    /// Whether there are validation images, and steps enough to look at them.
    pub(crate) fn check(&self, config: &Config, split: &Split) -> Result<()> {
        if split.validation().is_empty() {
            return Err(Error::new("[selection] scores validation images, and there are none")
                .help("keep some: [split] with train = 0.8, validation = 0.1, test = 0.1; or leave [selection] out"));
        }
        if self.every > config.training.steps {
            let message = format!("[selection] setting \"every\" is {}, more than all steps", self.every);
            return Err(Error::new(message).help(format!("wanted 1 to {}", config.training.steps)));
        }
        Ok(())
    }
}

/// A selection that goes on while a run trains.
pub struct Selector<'a> {
    config: &'a Config,
    selection: &'a Selection,
    metric: Named,
    rows: Vec<usize>,
    scores: Vec<SelectionRow>,
}

impl<'a> Selector<'a> {
    /// Goes on with the selection of a run after step `saved`; none where the config asks for none.
    pub fn begin(folder: &RunFolder, config: &'a Config, prepared: &Prepared, saved: u64) -> Result<Option<Self>> {
        let Some(selection) = &config.selection else { return Ok(None) };
        let as_measured = config.metrics.iter().find(|metric| metric.name == selection.metric).cloned();
        let metric = as_measured.unwrap_or_else(|| Named { name: selection.metric.clone(), settings: Table::new() });
        let mut scores = folder.read_selection()?;
        scores.retain(|row| row.step <= saved);
        let rows = some_rows(config, prepared.split.validation());
        Ok(Some(Self { config, selection, metric, rows, scores }))
    }

    /// Whether validation images are scored after this step.
    pub fn is_due(&self, step: u64) -> bool {
        step % self.selection.every == 0
    }

    /// Scores the validation images, logs the score, and keeps the checkpoint where it is the best so far.
    pub fn look(&mut self, folder: &RunFolder, dataset: &dyn Dataset, learner: &Learner, bytes: &[u8]) -> Result<()> {
        let data = encode_images(&learner.trained(), dataset, &self.rows)?;
        let seed = Seed(self.config.seed);
        let metrics = std::slice::from_ref(&self.metric);
        let scores = measure_subject(metrics, &Subject::new(&data, seed), seed, &mut |_| {})?;
        let headline = headline(&self.metric.name)?;
        let value = scores.value(headline.name);
        let best = best(&self.scores, headline.better).and_then(|row| row.value);
        self.scores.push(SelectionRow { step: learner.steps_taken(), score: headline.name.to_string(), value });
        folder.write_selection(&self.scores)?;
        if value.is_some_and(|value| best.is_none_or(|best| is_better(headline.better, value, best))) {
            folder.write_best_model(bytes)?;
        }
        Ok(())
    }
}

/// The row with the best score, the first of several; none where no score is defined.
pub fn best(rows: &[SelectionRow], better: Better) -> Option<&SelectionRow> {
    rows.iter().filter(|row| row.value.is_some()).fold(None, |best: Option<&SelectionRow>, row| match best {
        Some(known) if !is_better(better, row.value.unwrap_or(f64::NAN), known.value.unwrap_or(f64::NAN)) => {
            Some(known)
        }
        _ => Some(row),
    })
}

fn is_better(better: Better, value: f64, than: f64) -> bool {
    match better {
        Better::High => value > than,
        Better::Low => value < than,
        Better::Neither => false,
    }
}
