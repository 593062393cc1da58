//! `unbraid suggest-beta`: a line search for the weight of the KL divergence.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use unbraid_data::Result;
use unbraid_data::whole_file::write_whole;
use unbraid_experiment::Config;
use unbraid_experiment::beta_search::{SWITCHED_OFF, Search, Suggestion, Tried, draw_search, search};
use unbraid_report::tables::numbers_table;

use crate::Outcome;
use crate::output::{print, tell};
use crate::watching::Watcher;

const USE: &str = "\
By the tip of Zietlow 2022, section 3.3.6: beta is raised until the mean posterior variance of one latent comes to about 1 (0.95), in steps of sqrt(10); \
the two values around the place are then halved twice. The active latents of the table are those whose codes deviate by more than 0.5, which is another rule. Each value is a short training in a folder of its own, so that the same command goes on where it was stopped.";

/// A training is at least so long unless told, or as long as that of the config where that is less.
const LEAST_STEPS: u64 = 1000;

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = USE)]
pub struct Arguments {
    /// The config, a TOML file; its beta is replaced
    config: PathBuf,

    /// Change a setting of the config: model.latents=6
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// The first value of beta [default: 0.001, for losses that are summed]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    from: Option<f64>,

    /// The value at which the search gives up [default: 1000, for losses that are summed]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    to: Option<f64>,

    /// Steps of each training [default: a tenth of the config's, and 1000 at least]
    #[arg(long, value_name = "N")]
    steps: Option<u64>,

    /// Print JSON: what was tried, and the suggestion
    #[arg(long)]
    json: bool,

    /// Where the runs and the picture go; runs/NAME-OF-CONFIG-beta where left out
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let config = arguments.shortened_config()?;
    let steps = config.training.steps;
    let wanted = Search::new(config, arguments.from, arguments.to)?;
    let name = arguments.config.file_stem().unwrap_or("config".as_ref()).to_string_lossy().to_string();
    let out = arguments.out.clone().unwrap_or_else(|| Path::new("runs").join(format!("{name}-beta")));
    let mut watcher = Watcher::new()?;
    let found = search(&wanted, &out, &mut watcher)?;
    watcher.finish();
    let Some((tried, suggestion)) = found else {
        tell("stopped and saved; the same command goes on from there");
        return Ok(Outcome::Stopped);
    };
    let picture = out.join("beta.png");
    let title = format!("{name}: {} on {}", wanted.config.framework.name, wanted.config.dataset.name);
    write_whole(&picture, &draw_search(&title, &tried, suggestion).to_png()?)?;
    if arguments.json {
        print(format!("{:#}", as_json(&tried, suggestion, steps, &picture)))?;
    } else {
        print(table(&tried).trim_end())?;
        print(format!("\n{}", sentence(&tried, suggestion, steps)))?;
        print(format!("picture: {}", picture.display()))?;
    }
    Ok(Outcome::Done)
}

impl Arguments {
    /// The config with as many steps as each training has.
    fn shortened_config(&self) -> Result<Config> {
        let whole = Config::load(&self.config, &self.set)?;
        let steps = self.steps.unwrap_or((whole.training.steps / 10).max(LEAST_STEPS).min(whole.training.steps));
        let changes = [self.set.clone(), vec![format!("training.steps={steps}")]].concat();
        Config::load(&self.config, &changes)
    }
}

/// The scores beside the variances, where they were measured.
const SCORES: &[(&str, &str)] = &[("reconstruction", "reconstruction"), ("dto", "DtO"), ("ds", "DS"), ("mig", "MIG")];

fn table(tried: &[Tried]) -> String {
    let measured: Vec<&(&str, &str)> =
        SCORES.iter().filter(|(score, _)| tried.iter().any(|one| one.scores.value(score).is_some())).collect();
    let mut header = vec!["beta", "active latents", "smallest variance", "largest variance"];
    header.extend(measured.iter().map(|(_, title)| *title));
    let row =
        |one: &Tried| {
            let (smallest, largest) = one.variance_range();
            let mut cells = vec![one.beta.to_string(), format!("{} of {}", one.n_active, one.variances.len())];
            cells.extend([smallest, largest].map(|variance| format!("{variance:.4}")));
            cells.extend(measured.iter().map(|(score, _)| {
                one.scores.value(score).map_or("undefined".to_string(), |value| format!("{value:.4}"))
            }));
            cells
        };
    numbers_table(&header, &tried.iter().map(row).collect::<Vec<_>>(), None)
}

/// What follows, and what speaks against it.
fn sentence(tried: &[Tried], suggestion: Suggestion, steps: u64) -> String {
    // Two rules, and a latent may be in by the one and passive by the other.
    let none_active = match tried.iter().all(|one| one.n_active == 0) {
        true => {
            " Careful: at no beta tried do the codes of any latent deviate by more than 0.5, so that none is active: trainings may be too short (--steps), or all images alike."
        }
        false => "",
    };
    let told = match suggestion {
        Suggestion::Between(below, above) => {
            let beta = suggestion.beta().unwrap_or(above);
            format!(
                "suggestion: beta about {beta}. At {below} all latents have a mean variance below {SWITCHED_OFF}; at {above} one has a mean variance of \
                 {SWITCHED_OFF} or more and is out. The best beta is likely in this order of magnitude: below where every latent is needed, \
                 above where there are more latents than factors. Found by one seed in {steps} steps each, and longer trainings move it."
            )
        }
        Suggestion::OutFromTheStart(beta) => format!(
            "no suggestion: at {beta}, the least beta tried, a latent is out already (mean variance {SWITCHED_OFF} or more). Either beta has to \
             be smaller (--from), or the model has more latents than the images need, or {steps} steps are too few to use them all (--steps)."
        ),
        Suggestion::NoneOut(beta) => format!(
            "no suggestion: at {beta}, the largest beta tried, all latents have a mean variance below {SWITCHED_OFF} after {steps} steps. Try larger ones (--to)."
        ),
    };
    format!("{told}{none_active}")
}

fn as_json(tried: &[Tried], suggestion: Suggestion, steps: u64, picture: &Path) -> Json {
    let (below, above) = match suggestion {
        Suggestion::Between(below, above) => (Some(below), Some(above)),
        Suggestion::OutFromTheStart(beta) => (None, Some(beta)),
        Suggestion::NoneOut(beta) => (Some(beta), None),
    };
    let row = |one: &Tried| {
        let scores: serde_json::Map<String, Json> =
            SCORES.iter().map(|(score, _)| (score.to_string(), json!(one.scores.value(score)))).collect();
        json!({
            "beta": one.beta,
            "run": one.folder.display().to_string(),
            "active_latents": one.n_active,
            "mean_variances": one.variances,
            "scores": scores,
        })
    };
    json!({
        "suggestion": suggestion.beta(),
        "all_latents_used_at": below,
        "one_latent_out_at": above,
        "out_from_mean_variance": SWITCHED_OFF,
        "steps": steps,
        "tried": tried.iter().map(row).collect::<Vec<_>>(),
        "explanation": sentence(tried, suggestion, steps),
        "picture": picture.display().to_string(),
    })
}
