//! Evaluation: codes in, scores out, for whoever calls it: the command, a page, another language.
//!
//! Inputs are runs, files of several formats ([`read_inputs`]) or labelled codes that are in memory already
//! ([`Input::in_memory`]). A [`Choice`] says which metrics score them, with which settings and seed. Inputs that show the
//! same images are set beside one another, for metrics that compare models.
//!
//! ```
//! use ndarray::array;
//! use unbraid_data::{FactorSpace, LabelledCodes, labelled_codes::Extras};
//! use unbraid_experiment::evaluation::{Choice, Input, Which, evaluate};
//! use unbraid_experiment::watch::Nobody;
//!
//! // The first latent is the shape and the second one the scale, so that one latent holds all there is to know of a factor.
//! let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
//! let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
//! let data = LabelledCodes::new(codes.clone(), codes, space, Extras::default())?;
//!
//! let choice = Choice { metrics: Which::named(["mig"]), ..Choice::default() };
//! let evaluations = evaluate(&[Input::in_memory("mine", data)], &choice, &mut Nobody)?;
//! assert_eq!(evaluations[0].name, "mine");
//! assert!((evaluations[0].scores.value("mig").unwrap() - 1.0).abs() < 1e-12);
//! # Ok::<(), unbraid_data::Error>(())
//! ```

mod choice;
mod files;
mod input;
mod input_names;
mod reading;
mod reading_notes;

use unbraid_data::words::on_one_line;
use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_metrics::{Scores, Subject};

use crate::config::Named;
use crate::measure::measure_subject;
use crate::watch::Watch;

pub use choice::{Choice, Which};
pub use files::read_inputs;
pub use input::Input;
pub use reading::{Reading, has_extension};

use input_names::distinct_names;

/// What came of one input.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The input's name; with a number where one before it is called the same.
    pub name: String,
    /// How the input was read, where that has to be known.
    pub notes: Vec<String>,
    /// Its scores, with the reasons of those that are undefined and the notes on how to read them.
    pub scores: Scores,
}

/// Scores each input, beside the others that show the same images. All that can be wrong with the choice is found before
/// the first metric begins. `watch` hears which metric is next; it is not asked whether to stop.
pub fn evaluate(inputs: &[Input], choice: &Choice, watch: &mut dyn Watch) -> Result<Vec<Evaluation>> {
    let metrics = inputs.iter().map(|input| choice.metrics_of(input)).collect::<Result<Vec<_>>>()?;
    watch.stage("measuring", metrics.iter().map(|metrics| metrics.len() as u64).sum());
    let names = distinct_names(inputs.iter().map(|input| input.name.as_str()));
    let mut evaluations = Vec::new();
    for (position, (name, metrics)) in names.into_iter().zip(&metrics).enumerate() {
        let input = &inputs[position];
        let of_input = if inputs.len() > 1 { format!(" of {}", on_one_line(&name)) } else { String::new() };
        let mut starting = |metric: &str| watch.next_item(&format!("{metric}{of_input}"));
        let seed = Seed(choice.seed.unwrap_or(input.seed));
        let scores = score_beside(inputs, position, metrics, seed, &mut starting)?;
        evaluations.push(Evaluation { name, notes: input.notes.clone(), scores });
    }
    Ok(evaluations)
}

/// The scores of one input beside the others.
fn score_beside(
    inputs: &[Input],
    position: usize,
    metrics: &[Named],
    seed: Seed,
    starting: &mut dyn FnMut(&str),
) -> Result<Scores> {
    let others = others_beside(inputs, position);
    let data = inputs[position].data_for(metrics)?;
    let scores = measure_subject(metrics, &Subject::among(&data, &others, seed), seed, starting)?;
    let n_others = inputs.len() - 1;
    let is_noted = others.len() < n_others && metrics.iter().any(|metric| metric.name == "udr");
    let note = format!("compared with {} of {n_others} inputs: the others show other images", others.len());
    Ok(if is_noted { scores.with_note("udr", &note) } else { scores })
}

/// The other inputs that are of the same images, as far as their factors tell. Where there are others and none is, all of them:
/// metrics that need several models then say what is wrong with them.
fn others_beside(inputs: &[Input], position: usize) -> Vec<&LabelledCodes> {
    let others = inputs.iter().enumerate().filter(|(other, _)| *other != position).map(|(_, other)| &other.data);
    let (same, different): (Vec<_>, Vec<_>) =
        others.partition(|other| other.factors() == inputs[position].data.factors());
    if same.is_empty() { different } else { same }
}
