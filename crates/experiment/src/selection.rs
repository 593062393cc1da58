//! Selection: while a run trains, validation images are scored every so many steps, and the checkpoint with the best score is
//! kept beside the last.

use std::path::PathBuf;

use rand::seq::index;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::{Dataset, Error, Result, Seed, Split, settings};
use unbraid_learn::Learner;
use unbraid_metrics::{Better, METRICS, Subject, headline};
use unbraid_report::{RunFolder, SelectionRow};

use crate::config::{Config, Named};
use crate::jacobians::{wants_jacobians, with_jacobians};
use crate::measure::{encode_images, measure_subject};
use crate::prepare::Prepared;
use crate::watch::Watch;

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
            return Err(Error::new(message).help(format!(
                "wanted 1 to {}, or \"training.steps\" of {} or more",
                config.training.steps, self.every
            )));
        }
        Ok(())
    }
}

/// More validation images than this are not looked at: their scores would hardly change.
const MOST_IMAGES: usize = 10_000;

/// A selection that goes on while a run trains. What it looks at follows from the split and the metric alone, with the metric's
/// published settings, so that the scores of all steps can be compared.
pub struct Selector {
    metric: Named,
    every: u64,
    seed: Seed,
    images: Vec<usize>,
    scores: Vec<SelectionRow>,
}

/// What came of a look at the validation images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// No checkpoint so far had as good a score.
    Best,
    /// Another had, or the score is not defined.
    NotBetter,
}

impl Selector {
    /// Goes on with the selection of a run after step `saved`; none where the config asks for none.
    pub fn begin(folder: &RunFolder, config: &Config, prepared: &Prepared, saved: u64) -> Result<Option<Self>> {
        let Some(selection) = &config.selection else { return Ok(None) };
        let metric = Named { name: selection.metric.clone(), settings: Table::new() };
        let mut scores = folder.read_selection()?;
        scores.retain(|row| row.step <= saved);
        check_scores(folder, &scores, selection, saved)?;
        mend_best(folder, &scores, selection, saved)?;
        let mut images: Vec<usize> = prepared.split.validation().numbers().collect();
        if images.len() > MOST_IMAGES {
            let mut rng = Seed(config.split.seed).stream("validation");
            let chosen = index::sample(&mut rng, images.len(), MOST_IMAGES);
            images = chosen.into_iter().map(|position| images[position]).collect();
            images.sort_unstable();
        }
        Ok(Some(Self { metric, every: selection.every, seed: Seed(config.seed), images, scores }))
    }

    /// Whether validation images are scored after this step.
    pub fn is_due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Scores the validation images and logs the score.
    pub fn look(
        &mut self,
        folder: &RunFolder,
        dataset: &dyn Dataset,
        learner: &Learner,
        watch: &mut dyn Watch,
    ) -> Result<Look> {
        let (model, metrics) = (learner.trained(), std::slice::from_ref(&self.metric));
        let mut data = encode_images(&model, dataset, &self.images)?;
        if wants_jacobians(metrics) {
            data = with_jacobians(data, &model, dataset)?;
        }
        let scores = measure_subject(metrics, &Subject::new(&data, self.seed), self.seed, &mut |_| {})?;
        let (step, headline) = (learner.steps_taken(), headline(&self.metric.name)?);
        let value = scores.value(headline.name);
        if let Some(reason) = scores.reason(headline.name) {
            watch.note(&format!("after step {step}, {} of validation images is not defined: {reason}", headline.name));
        }
        let best = best(&self.scores, headline.better).and_then(|row| row.value);
        self.scores.push(SelectionRow { step, score: headline.name.to_string(), value });
        folder.write_selection(&self.scores)?;
        match value.is_some_and(|value| best.is_none_or(|best| is_better(headline.better, value, best))) {
            true => Ok(Look::Best),
            false => Ok(Look::NotBetter),
        }
    }
}

/// Refuses a log that lacks scores of steps that were taken.
fn check_scores(folder: &RunFolder, scores: &[SelectionRow], selection: &Selection, saved: u64) -> Result<()> {
    let (found, wanted) = (scores.len() as u64, saved / selection.every);
    if found == wanted {
        return Ok(());
    }
    let place = folder.selection_path();
    Err(Error::new(format!("{} has {found} scores, where {wanted} were taken up to step {saved}", place.display()))
        .help("a run goes on only with all of them: put the file back, or start a new run"))
}

/// A run that was killed right after a checkpoint that is the best: the best is made of it.
fn mend_best(folder: &RunFolder, scores: &[SelectionRow], selection: &Selection, saved: u64) -> Result<()> {
    match best(scores, headline(&selection.metric)?.better) {
        Some(row) if row.step == saved => folder.write_best_model(&folder.read_model()?),
        _ => Ok(()),
    }
}

/// The checkpoint that the final scores and pictures are of: its path, and the step that it must be of where it is the best.
pub fn final_model(folder: &RunFolder, config: &Config) -> Result<(PathBuf, Option<u64>)> {
    let best_row = match &config.selection {
        Some(selection) if selection.checkpoint == Which::Best => {
            best(&folder.read_selection()?, headline(&selection.metric)?.better).map(|row| row.step)
        }
        _ => None,
    };
    Ok(match best_row {
        Some(step) => (folder.best_model_path(), Some(step)),
        None => (folder.model_path(), None),
    })
}

/// The row with the best score, the first of several; none where no score is defined.
fn best(rows: &[SelectionRow], better: Better) -> Option<&SelectionRow> {
    let defined = rows.iter().filter_map(|row| Some((row, row.value?)));
    let better_of = |best: (_, f64), row: (_, f64)| if is_better(better, row.1, best.1) { row } else { best };
    defined.reduce(better_of).map(|(row, _)| row)
}

fn is_better(better: Better, value: f64, than: f64) -> bool {
    match better {
        Better::High => value > than,
        Better::Low => value < than,
        Better::Neither => false,
    }
}
