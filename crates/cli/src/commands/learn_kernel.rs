//! `unbraid learn-kernel`: a kernel with which a loss sees distances that follow the factors.

use std::path::{Path, PathBuf};

use toml::{Table, Value};
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};
use unbraid_distances::examine::Settings;
use unbraid_distances::losses::Loss;
use unbraid_distances::read_kernel;
use unbraid_experiment::Ending;
use unbraid_experiment::doctor::look;
use unbraid_experiment::kernel_learning::{KernelConfig, KernelFolder, learn};

use super::data::Chosen;
use super::doctor::findings_table;
use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;
use crate::watching::Watcher;

const USE: &str = "\
The same command goes on with a kernel that was stopped or killed. A config has [dataset] and [kernel] with radius, steps, batch_size, \
pairs, learning_rate, adversarial, factor_distance (scaled or unscaled), strength, symmetry, decay, seed and checkpoint_every; see \
configs/kernels.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = USE)]
pub struct Arguments {
    /// The name of the dataset; or your own images: an .npz file, or a folder of pictures
    #[arg(required_unless_present = "config", conflicts_with = "config")]
    dataset: Option<String>,

    /// A config, a TOML file, in place of the dataset and its settings
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,

    /// A setting of the dataset: spacing=4
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "config")]
    set: Vec<String>,

    /// How far the kernel reaches to each side, in pixels [default: 31]
    #[arg(long, value_name = "N")]
    radius: Option<i64>,

    /// How often the kernel is changed [default: 3000]
    #[arg(long, value_name = "N")]
    steps: Option<i64>,

    /// Images of a step [default: 512]
    #[arg(long, value_name = "N")]
    batch: Option<i64>,

    /// Pairs of a step [default: 4096]
    #[arg(long, value_name = "N")]
    pairs: Option<i64>,

    /// The step size of Adam [default: 0.001]
    #[arg(long, value_name = "X")]
    learning_rate: Option<f64>,

    /// Learn distances that go against the factors
    #[arg(long)]
    adversarial: bool,

    /// Decides all that is random [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<i64>,

    /// Where the kernel goes: kernel.npy, kernel.png, losses.csv, config.toml and a checkpoint [default: kernels/DATASET]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let config = arguments.config()?;
    let dataset = config.open()?;
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("kernels").join(&config.dataset.name));
    let folder = KernelFolder::begin(&out, &config)?;
    let mut watcher = Watcher::new()?;
    let ending = learn(&config, dataset.as_ref(), &folder, &mut watcher)?;
    watcher.finish();
    if let Ending::Stopped(step) = ending {
        print(format!(
            "stopped and saved after step {step}; to go on, give the same command again, or\n  {}",
            going_on(&out)
        ))?;
        return Ok(Outcome::Stopped);
    }
    let losses = [Loss::parse("mse")?, Loss::of_kernel("kernel", read_kernel(&folder.kernel_path())?)];
    let mut progress = Progress::new();
    let findings = look(dataset.as_ref(), &losses, Settings::suited_to(&losses), &mut progress)?;
    progress.clear();
    print(findings_table(&findings))?;
    print(format!("picture: {}", folder.picture_path().display()))?;
    print(format!("kernel: {}", folder.kernel_path().display()))?;
    Ok(Outcome::Done)
}

impl Arguments {
    fn config(&self) -> Result<KernelConfig> {
        let mut table = match (&self.config, &self.dataset) {
            (Some(path), _) => KernelConfig::load(path)?.to_table(),
            (None, name) => {
                let chosen = Chosen { name: name.clone().unwrap_or_default(), set: self.set.clone() };
                let mut dataset = chosen.settings()?;
                if dataset.contains_key("name") {
                    return Err(Error::new("--set name: the dataset is named before").help("leave it out"));
                }
                dataset.insert("name".to_string(), Value::String(chosen.listed_name().to_string()));
                Table::from_iter([("dataset".to_string(), Value::Table(dataset))])
            }
        };
        let given = [
            ("radius", self.radius.map(Value::Integer)),
            ("steps", self.steps.map(Value::Integer)),
            ("batch_size", self.batch.map(Value::Integer)),
            ("pairs", self.pairs.map(Value::Integer)),
            ("learning_rate", self.learning_rate.map(Value::Float)),
            ("adversarial", self.adversarial.then_some(Value::Boolean(true))),
            ("seed", self.seed.map(Value::Integer)),
        ];
        let kernel = table.entry("kernel").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(kernel) = kernel {
            kernel.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))));
        }
        KernelConfig::from_table(table)
    }
}

/// A command that goes on whatever the folder was begun with.
fn going_on(out: &Path) -> String {
    format!("unbraid learn-kernel --config {} --out {}", quoted(&out.join("config.toml")), quoted(out))
}
