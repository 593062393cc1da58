//! `unbraid evaluate`: the scores of a run's codes or of anyone's, or of several side by side.

pub(super) mod choice;

use std::path::PathBuf;

use unbraid_data::words::on_one_line;
use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_experiment::Named;
use unbraid_experiment::measure::measure_subject;
use unbraid_metrics::{Scores, Subject};
use unbraid_report::evaluation::{Content, Evaluated, evaluation_json, short_names, write_evaluation};
use unbraid_report::headlines::headlines;
use unbraid_report::scores_file::scores_csv;
use unbraid_report::tables::{comparison_table, scores_table};

use super::inputs::{Input, Reading, read_inputs};
use super::table_width;
use crate::Outcome;
use crate::output::{print, tell};
use crate::progress::Progress;
use choice::chosen_metrics;

const FORMATS: &str = "\
What an input can be:
  FOLDER          a run, as `unbraid train` leaves it
  FILE.npz        arrays `codes` [rows, latents] and `factors` [rows, factors]; maybe `factor_names`, `factor_sizes`,
                  `train_rows`, `test_rows`, `log_variances`, `reconstruction_losses`, `jacobians`, `text_factors`
                  (positions of factors whose numbers stand for words)
  FILE.npy        codes [rows, latents], with `--factors FACTORS.npy`
  FILE.csv, .tsv  a first line of names, then a line for each row
  FILE.parquet    flat columns, uncompressed or compressed by Snappy, zstd, gzip, LZ4 or Brotli

Inputs of all kinds can stand side by side; `--factors` is for those that need it and may be given twice, as a file for .npy
and as names for CSV and Parquet.

In CSV and Parquet, columns called z0, latent_0, code_0 and so on are latents, and all others are factors, unless
`--factors NAMES` says which ones are; where no column is called like a latent, all that are no factors are latents. A
column called split that holds train or test in each row says where predictors are fitted and tested.

A factor that holds nothing but whole numbers from 0 is discrete, and so is one of text (in arrays, too), whose distinct
values are numbered in sorted order; any other is continuous. `--continuous` and `--discrete` overrule that. Where every combination
of discrete factors is there exactly once, the rows are taken as a full grid.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_long_help = FORMATS, after_help = "`unbraid evaluate --help` tells how each kind of file is read")]
pub struct Arguments {
    /// Runs, or files of codes and factors (.npz, .npy, .csv, .parquet); several are set side by side
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    /// Metrics by name, separated by commas, or "all"; those of the run's config where left out
    #[arg(long, value_name = "NAMES")]
    metrics: Option<String>,

    /// Change a setting of a metric: mig.bins=10
    #[arg(long, value_name = "METRIC.SETTING=VALUE")]
    set: Vec<String>,

    /// Seed of metrics that draw at random; the run's where left out, else 1
    #[arg(long)]
    seed: Option<u64>,

    /// Show the scores of single factors and latents, too
    #[arg(long)]
    parts: bool,

    /// Print JSON: all scores by name, and the reasons why others are undefined
    #[arg(long)]
    json: bool,

    /// Print the matrices behind the scores with the JSON
    #[arg(long, requires = "json")]
    matrices: bool,

    /// Print CSV: input,score,value,why_undefined; notes go to standard error
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Also write scores.json, scores.csv, matrices.json, and a picture of each matrix into a folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut inputs = read_inputs(&arguments.inputs, &arguments.reading)?;
    let metrics = inputs
        .iter()
        .map(|input| chosen_metrics(arguments.metrics.as_deref(), &arguments.set, &input.metrics))
        .collect::<Result<Vec<_>>>()?;
    for (input, metrics) in inputs.iter_mut().zip(&metrics) {
        input.add_what_the_decoder_tells(metrics)?;
    }
    let scores = measure_all(&inputs, &metrics, arguments.seed)?;
    let evaluated: Vec<(&str, &Scores)> = inputs.iter().map(|input| input.name.as_str()).zip(&scores).collect();
    if let Some(folder) = &arguments.out {
        let n_heatmaps = write_evaluation(folder, &evaluated)?.len();
        let files = "scores.json, scores.csv, matrices.json";
        tell(format!("{}: {files} and {n_heatmaps} pictures of matrices in heatmaps/", folder.display()));
    }
    if arguments.json {
        let content = if arguments.matrices { Content::Everything } else { Content::Scores };
        print(format!("{:#}", evaluation_json(&evaluated, content)))?;
    } else if arguments.csv {
        print(scores_csv(&evaluated).trim_end())?;
        for (input, scores) in &evaluated {
            scores.notes.iter().for_each(|(of, note)| tell(format!("note: {input}: {of}: {note}")));
        }
    } else {
        print(table(&inputs, &evaluated, arguments.parts).trim_end())?;
    }
    Ok(Outcome::Done)
}

/// The scores of each input, those of the same images beside one another.
fn measure_all(inputs: &[Input], metrics: &[Vec<Named>], seed: Option<u64>) -> Result<Vec<Scores>> {
    let mut progress = Progress::new();
    progress.stage("measuring", metrics.iter().map(|metrics| metrics.len() as u64).sum());
    let mut all = Vec::new();
    for (position, (input, metrics)) in inputs.iter().zip(metrics).enumerate() {
        let others = others_beside(inputs, position);
        let seed = Seed(seed.unwrap_or(input.seed));
        let mut starting = |name: &str| {
            let of_input = if inputs.len() > 1 { format!(" of {}", on_one_line(&input.name)) } else { String::new() };
            progress.next_item(&format!("{name}{of_input}"));
        };
        let scores = measure_subject(metrics, &Subject::among(&input.data, &others, seed), seed, &mut starting)?;
        let n_others = inputs.len() - 1;
        let note = format!("compared with {} of {n_others} inputs: the others show other images", others.len());
        let is_noted = others.len() < n_others && metrics.iter().any(|metric| metric.name == "udr");
        all.push(if is_noted { scores.with_note("udr", &note) } else { scores });
    }
    progress.clear();
    Ok(all)
}

/// The other inputs that are of the same images, as far as their factors tell. Where there are others and none is, all of them:
/// metrics that need several models then say what is wrong with them.
fn others_beside(inputs: &[Input], position: usize) -> Vec<&LabelledCodes> {
    let others = inputs.iter().enumerate().filter(|(other, _)| *other != position).map(|(_, other)| &other.data);
    let (same, different): (Vec<_>, Vec<_>) =
        others.partition(|other| other.factors() == inputs[position].data.factors());
    if same.is_empty() { different } else { same }
}

fn table(inputs: &[Input], evaluated: &Evaluated, with_parts: bool) -> String {
    let of_input = |(_, scores): &(&str, &Scores)| match with_parts {
        true => ((*scores).clone(), 0),
        false => headlines(scores),
    };
    let shown: Vec<(Scores, usize)> = evaluated.iter().map(of_input).collect();
    let names = short_names(&inputs.iter().map(|input| input.name.as_str()).collect::<Vec<_>>());
    let named: Vec<(&str, &Scores)> = names.into_iter().zip(shown.iter().map(|(scores, _)| scores)).collect();
    let text = match named.as_slice() {
        [(_, scores)] => scores_table(scores, table_width()),
        several => comparison_table(several, table_width()),
    };
    match shown.iter().map(|(_, n_hidden)| *n_hidden).max() {
        None | Some(0) => text,
        Some(n_hidden) => format!("{text}\n`--parts` shows {n_hidden} more, of single factors and latents"),
    }
}
