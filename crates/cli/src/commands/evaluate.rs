//! `unbraid evaluate`: the scores of a run's codes or of anyone's, or of several side by side.

use std::path::PathBuf;

use unbraid_data::Result;
use unbraid_experiment::evaluation::{Choice, Which, evaluate};
use unbraid_metrics::Scores;
use unbraid_report::evaluation::{Content, Evaluated, evaluation_json, short_names, write_evaluation};
use unbraid_report::headlines::headlines;
use unbraid_report::scores_file::scores_csv;
use unbraid_report::tables::{comparison_table, scores_table};

use super::inputs::{ReadingArguments, read_inputs};
use super::table_width;
use crate::Outcome;
use crate::output::{print, tell};
use crate::progress::Progress;

const FORMATS: &str = "\
What an input can be:
  FOLDER          a run, as `unbraid train` leaves it
  FILE.npz        arrays `codes` [rows, latents] and `factors` [rows, factors]; maybe `factor_names`, `factor_sizes`,
                  `train_rows`, `test_rows`, `log_variances`, `reconstruction_losses`, `kl_divergences`, `jacobians`,
                  `text_factors` (positions of factors whose numbers stand for words)
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
    reading: ReadingArguments,

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
    let inputs = read_inputs(&arguments.inputs, &arguments.reading.to_reading()?)?;
    let mut progress = Progress::new();
    let evaluations = evaluate(&inputs, &arguments.choice(), &mut progress)?;
    progress.clear();
    let evaluated: Vec<(&str, &Scores)> = evaluations.iter().map(|of| (of.name.as_str(), &of.scores)).collect();
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
        print(table(&evaluated, arguments.parts).trim_end())?;
    }
    Ok(Outcome::Done)
}

impl Arguments {
    fn choice(&self) -> Choice {
        let metrics = match self.metrics.as_deref() {
            None => Which::OfInput,
            Some("all") => Which::All,
            Some(names) => Which::named(names.split(',')),
        };
        Choice { metrics, changes: self.set.clone(), seed: self.seed }
    }
}

fn table(evaluated: &Evaluated, with_parts: bool) -> String {
    let of_input = |(_, scores): &(&str, &Scores)| match with_parts {
        true => ((*scores).clone(), 0),
        false => headlines(scores),
    };
    let shown: Vec<(Scores, usize)> = evaluated.iter().map(of_input).collect();
    let names = short_names(&evaluated.iter().map(|(name, _)| *name).collect::<Vec<_>>());
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
