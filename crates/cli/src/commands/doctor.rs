//! `unbraid doctor`: whether a dataset can be disentangled, and with which loss, before anything is trained.

use std::path::{Path, PathBuf};

use unbraid_data::error::Error;
use unbraid_data::words::{as_folder_name, listed};
use unbraid_data::{Dataset, Result, Seed};
use unbraid_distances::examine::{Findings, Settings};
use unbraid_distances::groups::Limits;
use unbraid_distances::losses::Loss;
use unbraid_distances::verdict::verdict;
use unbraid_experiment::doctor::{Examined, findings_json, findings_rows, look, write_page};
use unbraid_report::tables::numbers_table;

use super::data::Chosen;
use super::{page_folder, table_width, tell_page};
use crate::Outcome;
use crate::output::print;
use crate::progress::Progress;

const MORE: &str = "\
A VAE learns the distances that its reconstruction loss sees. This looks at them before training: how far apart images are along
each factor and at random, whether that follows the factors' values, and which loss would make it so.

`unbraid doctor mine.npz` looks at your own images, with an array `factors`; `unbraid doctor dsprites --set 'fix={ shape = 0 }'` at a
part of a dataset. docs/doctor.md tells how to read it.";

/// More pairs would take gigabytes of memory.
const MOST_PAIRS: u64 = 1 << 25;

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    #[command(flatten)]
    dataset: Chosen,

    /// Losses to look through, the first being the one to judge: mse, mae, mse_box31, mse_gaussian31 (or another radius), or a kernel,
    /// KERNEL.npy [default: mse and both blurs, which reach half an image: mse,mse_box31,mse_gaussian31 for 64 pixels]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    loss: Vec<String>,

    /// Pairs that are drawn, about, along each factor and at random, where not all are compared; up to four times as many along a factor
    /// with long traversals
    #[arg(long, value_name = "N", default_value_t = 1 << 18, value_parser = clap::value_parser!(u64).range(100..=MOST_PAIRS))]
    pairs: u64,

    /// Compare all pairs along each factor, up to 33,554,432, however long it takes
    #[arg(long)]
    all_pairs: bool,

    /// Decides which pairs are drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print JSON: factors.NAME and random, each with distance_mean, distance_std, pearson.LOSS and spearman.LOSS
    #[arg(long)]
    json: bool,

    /// Where the page and its pictures go; with --json none are written unless this is given
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let named: Vec<Loss> = arguments.loss.iter().map(|text| Loss::parse(text.trim())).collect::<Result<_>>()?;
    check_names(&named)?;
    let (dataset, settings) = arguments.dataset.open_with_settings()?;
    let losses = if named.is_empty() { usual_losses(&*dataset)? } else { named };
    let examined = {
        let mut progress = Progress::new();
        let findings = look(&*dataset, &losses, arguments.settings(&losses), &mut progress)?;
        progress.clear();
        let name = arguments.dataset.label();
        Examined {
            title: title(&name, &settings),
            dataset: name,
            settings,
            n_images: dataset.n_images(),
            verdict: verdict(&findings),
            findings,
        }
    };
    let json = arguments.json;
    let folder =
        page_folder(arguments.out.as_deref(), json, || Path::new("doctor").join(as_folder_name(&examined.title)));
    let written = folder.map(|folder| write_page(&examined, &*dataset, &folder)).transpose()?;
    match json {
        true => print(format!("{:#}", findings_json(&examined)))?,
        false => print_findings(&examined)?,
    }
    tell_page(written.as_deref(), json)?;
    Ok(Outcome::Done)
}

impl Arguments {
    fn settings(&self, losses: &[Loss]) -> Settings {
        let n_pairs = self.pairs as usize;
        let most_pairs = match self.all_pairs {
            true => MOST_PAIRS as usize,
            false => Settings::suited_to(losses).limits.most_pairs.max(n_pairs),
        };
        Settings { limits: Limits { n_pairs, most_pairs }, seed: Seed(self.seed) }
    }
}

/// Squared error and both blurs, as T1 has them for images of 64 pixels.
fn usual_losses(dataset: &dyn Dataset) -> Result<Vec<Loss>> {
    let shape = dataset.image_shape();
    let radius = (shape.height.min(shape.width).saturating_sub(1) / 2).clamp(1, 255);
    [String::from("mse"), format!("mse_box{radius}"), format!("mse_gaussian{radius}")]
        .iter()
        .map(|name| Loss::parse(name))
        .collect()
}

/// Refuses the same name twice: a table would have two columns that cannot be told apart.
fn check_names(losses: &[Loss]) -> Result<()> {
    let twice = (1..losses.len()).find(|&index| losses[..index].iter().any(|other| other.name == losses[index].name));
    match twice {
        Some(index) => Err(Error::new(format!("--loss names \"{}\" twice", losses[index].name))
            .help("name each once; of kernels the names of the files have to differ")),
        None => Ok(()),
    }
}

/// What a dataset is called, with its settings: `xy_squares (spacing 1)`.
pub fn title(name: &str, settings: &toml::Table) -> String {
    let shown: Vec<String> =
        settings.iter().filter(|(key, _)| *key != "path").map(|(key, value)| format!("{key} {value}")).collect();
    let name = short_name(name);
    if shown.is_empty() { name } else { format!("{name} ({})", shown.join(", ")) }
}

/// `folder/mine.npz` as `mine`.
fn short_name(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| "dataset".to_string(), |name| name.to_string_lossy().to_string())
}

/// Distances and correlations, factor by factor.
pub fn findings_table(findings: &Findings) -> String {
    let (header, rows) = findings_rows(findings);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    numbers_table(&header, &rows, table_width()).trim_end().to_string()
}

/// Of which not all pairs were compared.
fn drawn(findings: &Findings) -> Vec<&str> {
    let of_factors =
        findings.factors.iter().filter_map(|factor| Some((factor.name.as_str(), factor.pairs.as_ref().ok()?)));
    let all = of_factors.chain([("random", &findings.random)]);
    all.filter(|(_, pairs)| !pairs.are_all).map(|(name, _)| name).collect()
}

fn print_findings(examined: &Examined) -> Result<()> {
    print(&examined.verdict.summary)?;
    print(format!("\n{}", findings_table(&examined.findings)))?;
    for (heading, text) in &examined.verdict.parts {
        print(format!("\n{heading}: {text}"))?;
    }
    let drawn = drawn(&examined.findings);
    let how = match drawn.is_empty() {
        true => "all pairs were compared".to_string(),
        false => format!(
            "drawn from too many pairs to compare all: {} (± is half a 95 % interval, where it shows in the digits)",
            listed(&drawn)
        ),
    };
    print(format!("\n{how}"))?;
    Ok(())
}
