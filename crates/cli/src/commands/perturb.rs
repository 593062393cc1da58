//! `unbraid perturb`: small changes of a dataset with which VAEs entangle it.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use unbraid_data::{Result, settings};
use unbraid_experiment::Ending;
use unbraid_experiment::perturb::{PerturbConfig, PerturbFolder, PerturbSettings, Side, begin, perturb};
use unbraid_report::run_folder::quoted;
use unbraid_report::tables::numbers_table;

use crate::Outcome;
use crate::output::print;
use crate::watching::Watcher;

const USE: &str = "\
Give several finished runs of one config with different seeds. The same command goes on with what was stopped or killed, and so does \
`unbraid perturb --out FOLDER`.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = USE)]
pub struct Arguments {
    /// Folders of finished runs on the same images; left out, those that FOLDER was begun with
    runs: Vec<PathBuf>,

    /// How much a pixel changes at most, of its range from 0 to 1 [default: 0.1]
    #[arg(long, value_name = "X")]
    epsilon: Option<f64>,

    /// How often the network that changes images is trained [default: 3000]
    #[arg(long, value_name = "N")]
    steps: Option<i64>,

    /// How many of the most and of the least disentangled runs take part, 1 to 4 [default: 1]
    #[arg(long, value_name = "N")]
    pairs: Option<i64>,

    /// Images of a batch [default: 64]
    #[arg(long, value_name = "N")]
    batch: Option<i64>,

    /// Latents that are drawn for each image [default: 5]
    #[arg(long, value_name = "N")]
    samples: Option<i64>,

    /// Batches that the decoders learn from for each one of the network that changes images [default: 3]
    #[arg(long, value_name = "N")]
    decoder_batches: Option<i64>,

    /// The step size of Adam [default: 0.0001]
    #[arg(long, value_name = "X")]
    learning_rate: Option<f64>,

    /// Decides all that is random [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<i64>,

    /// Steps between checkpoints [default: 100]
    #[arg(long, value_name = "N")]
    checkpoint_every: Option<i64>,

    /// Where the datasets go: perturbed.npz and noise.npz, with losses, pictures and a page
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let (runs, settings) = arguments.asked()?;
    let mut watcher = Watcher::new()?;
    let (config, folder, models) = begin(&runs, settings, &arguments.out, &mut watcher)?;
    watcher.finish();
    print(chosen_table(&config).trim_end())?;
    let ending = perturb(&config, &folder, &models, &mut watcher)?;
    watcher.finish();
    if let Ending::Stopped(step) = ending {
        print(format!("stopped and saved after step {step}; to go on:\n  {}", going_on(&arguments.out)))?;
        return Ok(Outcome::Stopped);
    }
    tell_files(&folder)?;
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
}

/// What each run is taken for.
fn chosen_table(config: &PerturbConfig) -> String {
    let mut runs: Vec<_> = config.runs.iter().collect();
    runs.sort_by(|a, b| b.score.total_cmp(&a.score));
    let rows: Vec<Vec<String>> = runs
        .into_iter()
        .map(|run| {
            let side = match run.side {
                Side::Entangled => "entangled",
                Side::Disentangled => "disentangled",
                Side::Between => "",
            };
            vec![run.path.display().to_string(), format!("{:.4}", run.score), side.to_string()]
        })
        .collect();
    numbers_table(&["run", &config.chosen_by, "taken as"], &rows, super::table_width())
}

fn tell_files(folder: &PerturbFolder) -> Result<()> {
    print(format!("altered images: {}", folder.perturbed_path().display()))?;
    print(format!("images with noise of the same size: {}", folder.noise_path().display()))?;
    let path = folder.perturbed_path();
    print(format!("to train on them: unbraid train CONFIG --set 'dataset={{ name = \"npz\", path = \"{}\" }}'", path.display()))
}

/// The command that goes on.
fn going_on(out: &Path) -> String {
    format!("unbraid perturb --out {}", quoted(out))
}
