//! `unbraid bench losses`: pairs of images that each loss compares in a second, and what a training step with it costs beside one with `mse`.
//!
//! Steps with all losses are taken in turn, round after round, so that other work on the machine slows all of them; the cost is the median over
//! rounds. `bench/losses.py` compares pairs in PyTorch in the same run.

use std::path::PathBuf;
use std::time::Instant;

use rand::RngExt;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::kernel_file::{Kernel, write_kernel};
use unbraid_data::{ImageShape, Result, Seed, datasets};
use unbraid_distances::groups::{Groups, Limits};
use unbraid_distances::losses::Loss;
use unbraid_distances::pool::Pool;

use super::contender::{Contender, learner, take_turns};
use crate::Outcome;
use crate::output::print;

const SEED: Seed = Seed(1);
/// Images of a training step.
const BATCH_SIZE: usize = 64;
/// Rows of the kernel that stands for a learned one.
const SIDE: usize = 63;
/// Whose images are compared.
const DATASET: &str = "dsprites";
/// The factor along which they are.
const FACTOR: &str = "pos_x";

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON: seconds of so many pairs by loss, along a factor and at random, and the cost of a training step
    #[arg(long)]
    json: bool,
    /// How many pairs are compared
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 26))]
    pairs: u64,
    /// How many training steps with each loss are timed; 0 for none
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    rounds: u32,
    /// Channels of the images that are trained on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=16))]
    channels: u64,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let kernel = KernelFile::write()?;
    let compared = compare(arguments, &kernel)?;
    let costs = if arguments.rounds > 0 { costs(arguments, &kernel)? } else { Vec::new() };
    if arguments.json {
        let map = |rows: &[(String, f64)]| {
            Value::Object(rows.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
        };
        let mut all: Map<String, Value> =
            compared.iter().map(|(what, rows)| (format!("{}_secs", what.replace(' ', "_")), map(rows))).collect();
        all.insert("pairs".to_string(), json!(arguments.pairs));
        all.insert("step_cost".to_string(), map(&costs));
        print(format!("{:#}", Value::Object(all)))?;
        return Ok(Outcome::Done);
    }
    for (what, rows) in &compared {
        print(format!("{} pairs of {DATASET}, {what}", arguments.pairs))?;
        for (name, secs) in rows {
            print(format!("  {name:18}{secs:>8.2} s{:>8.2} times mse", secs / rows[0].1))?;
        }
    }
    if !costs.is_empty() {
        print(format!("training steps on {BATCH_SIZE} images of {} channels, in those with mse", arguments.channels))?;
        costs.iter().try_for_each(|(name, cost)| print(format!("  {name:18}{cost:>8.2}")))?;
    }
    Ok(Outcome::Done)
}

/// A number for each loss.
type OfLosses = Vec<(String, f64)>;

/// Seconds that so many pairs take under each loss, along a factor and at random.
fn compare(arguments: &Arguments, kernel: &KernelFile) -> Result<Vec<(&'static str, OfLosses)>> {
    let dataset = datasets::build(DATASET, &Table::new())?;
    let limits = Limits { n_pairs: arguments.pairs as usize, most_pairs: 0 };
    let factor = dataset.factors().position(FACTOR)?;
    let along = Groups::along(&*dataset, factor, limits, SEED).map_err(unbraid_data::Error::failure)?;
    let groups = [("along a factor", along), ("at random", Groups::at_random(&*dataset, limits, SEED))];
    let mut all = Vec::new();
    for (what, groups) in groups {
        let mut rows = Vec::new();
        for name in ["mse", "mse_box31", "mse_gaussian31", &kernel.0.display().to_string()] {
            let loss = Loss::parse(name)?;
            let name = if loss.name.ends_with(".npy") { "kernel 63 x 63".to_string() } else { loss.name.clone() };
            let began = Instant::now();
            let pool = Pool::compare(&*dataset, &groups, &[loss], |_| ())?;
            let per_pair = began.elapsed().as_secs_f64() / pool.ground.len() as f64;
            rows.push((name, per_pair * arguments.pairs as f64));
        }
        all.push((what, rows));
    }
    Ok(all)
}

/// What a step with each loss costs, that with `mse` being 1.
fn costs(arguments: &Arguments, kernel: &KernelFile) -> Result<OfLosses> {
    let learned = format!("{{ name = 'mse_kernel', path = '{}' }}", kernel.0.display());
    let losses =
        [("mse", "'mse'"), ("mse_box", "'mse_box'"), ("mse_gaussian", "'mse_gaussian'"), ("mse_kernel", &learned)];
    let shape = ImageShape { height: 64, width: 64, channels: arguments.channels as usize };
    let mut contenders = Vec::new();
    for (name, value) in losses {
        let settings: Table = format!("reconstruction = {value}").parse().expect("settings of ours are TOML");
        contenders.push(Contender::new(name, learner("beta_vae", &settings, shape)?, BATCH_SIZE));
    }
    take_turns(&mut contenders, arguments.rounds)?;
    let cost = |contender: &Contender| (contender.name.clone(), contender.cost_beside(&contenders[0]));
    Ok(contenders.iter().map(cost).collect())
}

/// A kernel of no shape in particular; gone when it is no longer needed.
struct KernelFile(PathBuf);

impl KernelFile {
    fn write() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("unbraid-bench-kernel-{}.npy", std::process::id()));
        let mut rng = SEED.stream("kernel");
        let taps = (0..SIDE * SIDE).map(|_| rng.random_range(0.0..0.01)).collect();
        write_kernel(&path, &Kernel::new(taps)?)?;
        Ok(Self(path))
    }
}

impl Drop for KernelFile {
    fn drop(&mut self) {
        // What cannot be removed is cleared away with other temporary files.
        let _ = std::fs::remove_file(&self.0);
    }
}
