//! `unbraid perturb`: small changes of a dataset with which VAEs entangle it.

use std::path::PathBuf;

use serde_json::{Value as Json, json};
use toml::{Table, Value};
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result, settings};
use unbraid_experiment::Ending;
use unbraid_experiment::perturb::retrain::{
    PUBLISHED, RetrainSettings, RunResult, SCALES, check, check_factors, line_search_table, retrain, score_tables,
    to_json, words,
};
use unbraid_experiment::perturb::{PerturbFolder, PerturbSettings, Summary, begin, perturb, runs_table};
use unbraid_report::page::PageTable;
use unbraid_report::tables::numbers_table;

use super::table_width;
use crate::Outcome;
use crate::output::print;
use crate::watching::Watcher;

const USE: &str = "\
Give several finished runs of one config with different seeds. The same command goes on with what was stopped or killed, and so does \
`unbraid perturb --out FOLDER`. --retrain can be asked for later, and again with other frameworks: `unbraid perturb --out FOLDER --retrain --frameworks ae,beta_vae`. \
Its tables are of all runs in FOLDER/retrain that have ended.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = USE)]
pub struct Arguments {
    /// Folders of finished runs on the same images; left out, those that FOLDER was begun with
    runs: Vec<PathBuf>,

    /// How much a pixel changes at most, of its range from 0 to 1: 1/255 to 0.5 [default: 0.1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// How often the network that changes images is trained [default: 3000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<i64>,

    /// How many of the most and of the least disentangled runs take part, 1 to 4 [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pairs: Option<i64>,

    /// Images of a batch, up to 1048576 [default: 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    batch: Option<i64>,

    /// Latents that are drawn for each image, up to 100 [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    samples: Option<i64>,

    /// Batches that the decoders learn from for each one of the network that changes images, up to 100 [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    decoder_batches: Option<i64>,

    /// The step size of Adam [default: 0.0001]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    learning_rate: Option<f64>,

    /// Decides all that is random [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<i64>,

    /// Steps between checkpoints [default: 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    checkpoint_every: Option<i64>,

    /// Train frameworks again on original, altered and noisy images, and compare their scores
    #[arg(long)]
    retrain: bool,

    /// Which frameworks: ae, beta_vae, factor_vae, beta_tc_vae, slow_vae, pcl, weak_gan, ada_gvae [default: all but the last]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', requires = "retrain")]
    frameworks: Vec<String>,

    /// With how many seeds, from 1 on [default: 3]
    #[arg(long, value_name = "N", requires = "retrain")]
    seeds: Option<u64>,

    /// Train on altered images with main settings multiplied as well, by numbers up to 1000 [default factors: 0.75,1,1.25,1.5,2]
    #[arg(long, value_name = "X,X", allow_negative_numbers = true, value_delimiter = ',', num_args = 0..=1, requires = "retrain")]
    line_search: Option<Vec<f64>>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Where the datasets go: perturbed.npz and noise.npz, with losses, pictures and a page
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let (runs, settings) = arguments.asked()?;
    let wanted = arguments.retraining();
    wanted.iter().try_for_each(check)?;
    let mut watcher = Watcher::new()?;
    let begun = begin(&runs, settings, &arguments.out, &mut watcher);
    let (config, folder, models) = begun.map_err(|error| arguments.with_place_of_runs(error, &runs))?;
    watcher.finish();
    if wanted.is_some() {
        check_factors(&config)?;
    }
    if !arguments.json {
        print(as_text(&runs_table(&config.chosen_by, &config.runs)))?;
    }
    let ending = perturb(&config, &folder, &models, &mut watcher)?;
    watcher.finish();
    if let Ending::Stopped(step) = ending {
        print(format!("stopped and saved after step {step}; to go on:\n  {}", arguments.going_on()))?;
        return Ok(Outcome::Stopped);
    }
    // The images of many runs would lie in memory twice.
    drop(models);
    let mut results = Vec::new();
    if let Some(wanted) = wanted {
        let found = retrain(&config, &folder, &wanted, &mut watcher)?;
        watcher.finish();
        let Some(found) = found else {
            print(format!("stopped and saved; to go on:\n  {}", arguments.going_on()))?;
            return Ok(Outcome::Stopped);
        };
        results = found;
    }
    let summary = Summary::read(&folder)?;
    match arguments.json {
        true => print(format!("{:#}", as_json(&summary, &results)))?,
        false => tell(&folder, &summary, &results)?,
    }
    Ok(Outcome::Done)
}

impl Arguments {
    /// The runs, and the settings: those that were given, over those that the folder was begun with.
    fn asked(&self) -> Result<(Vec<PathBuf>, PerturbSettings)> {
        let (runs, mut table) = match self.runs.is_empty() {
            true => {
                let (_, begun) = PerturbFolder::open(&self.out)?;
                (begun.runs.iter().map(|run| run.path.clone()).collect(), settings::as_table(&begun.perturb))
            }
            false => (self.runs.clone(), Table::new()),
        };
        let given = [
            ("epsilon", self.epsilon.map(Value::Float)),
            ("steps", self.steps.map(Value::Integer)),
            ("pairs", self.pairs.map(Value::Integer)),
            ("batch_size", self.batch.map(Value::Integer)),
            ("samples", self.samples.map(Value::Integer)),
            ("decoder_batches", self.decoder_batches.map(Value::Integer)),
            ("learning_rate", self.learning_rate.map(Value::Float)),
            ("seed", self.seed.map(Value::Integer)),
            ("checkpoint_every", self.checkpoint_every.map(Value::Integer)),
        ];
        table.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))));
        Ok((runs, PerturbSettings::read(&table)?))
    }

    /// Says where paths of runs come from that were not given, and are no longer there.
    fn with_place_of_runs(&self, error: Error, runs: &[PathBuf]) -> Error {
        if !self.runs.is_empty() || runs.iter().all(|run| run.exists()) {
            return error;
        }
        let config = quoted(&self.out.join("config.toml"));
        error.more_help(format!("the runs stand in {config}; where they moved, name them all, in the same order"))
    }

    /// What is to be trained again.
    fn retraining(&self) -> Option<RetrainSettings> {
        let scales = match &self.line_search {
            None => Vec::new(),
            Some(scales) if scales.is_empty() => SCALES.to_vec(),
            Some(scales) => scales.clone(),
        };
        let (frameworks, seeds) = (self.frameworks.clone(), self.seeds.unwrap_or(3));
        self.retrain.then_some(RetrainSettings { frameworks, seeds, scales })
    }

    /// The command that goes on.
    fn going_on(&self) -> String {
        let mut command = format!("unbraid perturb --out {}", quoted(&self.out));
        if self.retrain {
            command.push_str(" --retrain");
        }
        if !self.frameworks.is_empty() {
            command.push_str(&format!(" --frameworks {}", self.frameworks.join(",")));
        }
        if let Some(seeds) = self.seeds {
            command.push_str(&format!(" --seeds {seeds}"));
        }
        if let Some(scales) = &self.line_search {
            let scales: Vec<String> = scales.iter().map(ToString::to_string).collect();
            command.push_str(format!(" --line-search {}", scales.join(",")).trim_end());
        }
        command
    }
}

fn as_text(table: &PageTable) -> String {
    let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
    numbers_table(&header, &table.rows, table_width()).trim_end().to_string()
}

fn tell(folder: &PerturbFolder, summary: &Summary, results: &[RunResult]) -> Result<()> {
    for table in score_tables(results, summary).into_iter().chain(line_search_table(results)) {
        print(format!("\n{}\n{}", table.name, as_text(&table)))?;
    }
    for (framework, words) in words(results) {
        print(format!("{framework}: {words}"))?;
    }
    print(summary.in_words())?;
    print(format!("altered images: {}", folder.perturbed_path().display()))?;
    print(format!("images with noise of the same size: {}", folder.noise_path().display()))?;
    if !results.is_empty() {
        print(format!("scores of each run: {}", folder.retrain_table_path().display()))?;
    }
    print(format!("page: {}", folder.page_path().display()))
}

fn as_json(summary: &Summary, results: &[RunResult]) -> Json {
    let retrained = (!results.is_empty()).then(|| to_json(results, summary.dataset == PUBLISHED));
    json!({ "perturbation": summary, "retrain": retrained })
}
