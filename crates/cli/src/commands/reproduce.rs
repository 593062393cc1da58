//! `unbraid reproduce`: published tables and figures made again, ours beside the published numbers.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use unbraid_data::whole_file::create_folder;
use unbraid_data::words::{as_folder_name, counted};
use unbraid_data::{Error, Result};
use unbraid_experiment::reproductions::spread::{PublishedMean, Spread};
use unbraid_experiment::reproductions::{self, Entry, Outcome as Found, Request, Row, Run, Scale, Value};
use unbraid_experiment::sweep::check::check_runs;
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::Plan;
use unbraid_experiment::sweep::run_name::run_name;
use unbraid_experiment::{Config, Watch};
use unbraid_report::RunFolder;
use unbraid_report::tables::numbers_table;

use super::sweep::local;
use crate::Outcome;
use crate::output::{print, tell};
use crate::progress::Progress;
use crate::watching::Watcher;

const USE: &str = "\
`unbraid list reproductions` prints the names. Exits with 1 where a number is off by more than its row allows.

Some train models, at a scale: smoke (seconds, nothing is compared), small (minutes to half an hour on two cores; the default) or paper (as \
published: it says before how many runs that are and about how many hours). Runs are those of a sweep: reproductions share them in reproductions/runs, and the same \
command goes on where it was stopped or killed.";

/// Errors of runs that are printed; all are kept.
const MOST_ERRORS: usize = 5;

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = USE)]
pub struct Arguments {
    /// The table or figure, like t1-table-4.2
    name: String,

    /// How much is trained, for those that train: smoke, small or paper [default: small]
    #[arg(long, value_enum)]
    scale: Option<ScaleName>,

    /// Print JSON: rows with what, published, ours, difference, allowed and agrees
    #[arg(long)]
    json: bool,

    /// Where pictures go [default: reproductions/NAME, or reproductions/NAME-SCALE for those that train]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// Where trained runs go [default: reproductions/runs, or OUT/runs where --out is given]
    #[arg(long, value_name = "FOLDER")]
    runs: Option<PathBuf>,

    /// Runs at a time, which share the threads [default: as many as there are threads, 2 GB of free memory for each]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

/// A scale, as it is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ScaleName {
    Smoke,
    Small,
    Paper,
}

impl From<ScaleName> for Scale {
    fn from(name: ScaleName) -> Self {
        match name {
            ScaleName::Smoke => Self::Smoke,
            ScaleName::Small => Self::Small,
            ScaleName::Paper => Self::Paper,
        }
    }
}

/// Carries out the command.
pub fn run(arguments: &Arguments, data_root: Option<&Path>) -> Result<Outcome> {
    let entry = reproductions::find(&arguments.name)?;
    let (found, folder) = match entry.run {
        Run::Untrained(make) => (Some(make_untrained(make, arguments)?), folder_of_untrained(entry, arguments)),
        Run::Trained(make) => {
            let (found, folder) = make_trained(make, entry, arguments, data_root)?;
            (found, Some(folder))
        }
    };
    let Some(found) = found else { return Ok(Outcome::Stopped) };
    let figures = match folder {
        Some(folder) if !found.figures.is_empty() => {
            create_folder(&folder)?;
            found.save_figures(&folder)?
        }
        _ => Vec::new(),
    };
    if arguments.json {
        print(format!("{:#}", as_json(entry, &found, &figures)))?;
    } else {
        print_found(entry, &found, &figures)?;
    }
    Ok(if found.agrees() { Outcome::Done } else { Outcome::Differs })
}

fn make_untrained(make: fn(&mut dyn Watch) -> Result<Found>, arguments: &Arguments) -> Result<Found> {
    if arguments.scale.is_some() {
        return Err(
            Error::new(format!("{} trains nothing, and has no scale", arguments.name)).help("leave --scale out")
        );
    }
    let mut progress = Progress::new();
    let found = make(&mut progress)?;
    progress.clear();
    Ok(found)
}

/// Pictures are written beside a table, and with JSON where a folder is given.
fn folder_of_untrained(entry: &Entry, arguments: &Arguments) -> Option<PathBuf> {
    let named = || (!arguments.json).then(|| Path::new("reproductions").join(entry.name));
    arguments.out.clone().or_else(named)
}

/// What was found, nothing where the user stopped it, and the folder.
fn make_trained(
    make: fn(&Request<'_>, &mut dyn Watch) -> Result<Option<Found>>,
    entry: &Entry,
    arguments: &Arguments,
    data_root: Option<&Path>,
) -> Result<(Option<Found>, PathBuf)> {
    let scale: Scale = arguments.scale.unwrap_or(ScaleName::Small).into();
    let name = format!("{}-{}", entry.name, scale.name());
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("reproductions").join(&name));
    let beside = || arguments.out.as_ref().map_or(PathBuf::from("reproductions"), Clone::clone).join("runs");
    let runs = arguments.runs.clone().unwrap_or_else(beside);
    let train = |configs: &[Config]| train(configs, &runs, &name, arguments.jobs, data_root);
    let mut watcher = Watcher::new()?;
    let found = make(&Request { scale, runs: runs.clone(), train: &train }, &mut watcher)?;
    watcher.finish();
    if found.is_none() {
        tell("stopped and saved; the same command goes on from there");
    }
    Ok((found, folder))
}

/// Trains runs as a sweep does, and gives the folders of those that are finished; nothing where the user stopped it.
fn train(
    configs: &[Config],
    out: &Path,
    name: &str,
    jobs: Option<usize>,
    data_root: Option<&Path>,
) -> Result<Option<Vec<Option<RunFolder>>>> {
    let plan = Plan::of_configs(configs);
    let folder = SweepFolder::begin(out, &as_folder_name(name), &plan, None)?;
    folder.uncancel()?;
    // What failed may have been mended since.
    folder.forget_failures()?;
    check_runs(&folder, &plan)?;
    let (summary, _) = local::work(&folder, &plan, jobs, data_root)?;
    if summary.is_stopped {
        return Ok(None);
    }
    for (run, error) in summary.failed.iter().take(MOST_ERRORS) {
        tell(format!("failed: {run}\n       {error}"));
    }
    if !summary.failed.is_empty() {
        let (failed, all) = (summary.failed.len(), counted(plan.runs.len(), "run"));
        tell(format!(
            "{failed} of {all} failed and are left out; the number in brackets after a mean tells of how many it is"
        ));
    }
    let of_config = |config: &Config| {
        let name = run_name(config);
        let failed = summary.failed.iter().any(|(run, _)| *run == name);
        if failed { Ok(None) } else { RunFolder::open(&folder.run_path(&name)).map(Some) }
    };
    configs.iter().map(of_config).collect::<Result<_>>().map(Some)
}

fn print_found(entry: &Entry, found: &Found, figures: &[PathBuf]) -> Result<()> {
    print(format!("{}: {} ({})\n", entry.name, entry.about, entry.paper))?;
    let header = ["", "published", "ours", "difference", "allowed", "agrees"];
    let rows: Vec<Vec<String>> = found.rows.iter().map(cells).collect();
    print(numbers_table(&header, &rows, None).trim_end())?;
    for note in &found.notes {
        print(format!("\nnote: {note}"))?;
    }
    let (n_agreeing, n_published) = counts(found);
    match n_published {
        0 => print("\nnothing was compared with what was published")?,
        _ => print(format!("\n{n_agreeing} of {n_published} published numbers and claims agree"))?,
    }
    figures.iter().try_for_each(|path| print(path.display()))
}

fn counts(found: &Found) -> (usize, usize) {
    let outcomes: Vec<bool> = found.rows.iter().filter_map(Row::agrees).collect();
    (outcomes.iter().filter(|agrees| **agrees).count(), outcomes.len())
}

fn cells(row: &Row) -> Vec<String> {
    let agrees = match row.agrees() {
        Some(true) => "yes",
        Some(false) => "NO",
        None if !row.is_compared => "–",
        None => "",
    };
    let digits = |value: f64| match value {
        value if !value.is_finite() => "undefined".to_string(),
        // Values of beta are as small as that.
        value if value != 0.0 && value.abs() < 1e-3 => format!("{value:.2e}"),
        value => format!("{value:.4}"),
    };
    let [published, ours, difference, allowed] = match &row.value {
        Value::Number { ours, published: Some((published, allowed)) } => {
            let difference = if ours.is_finite() { format!("{:+.4}", ours - published) } else { String::new() };
            [published.to_string(), digits(*ours), difference, allowed.to_string()]
        }
        Value::Number { ours, published: None } => [String::new(), digits(*ours), String::new(), String::new()],
        Value::Mean { ours, published } => mean_cells(ours, published.as_ref(), row.is_compared),
        Value::Claim { ours, .. } => ["claim".to_string(), ours.clone(), String::new(), String::new()],
    };
    vec![row.what.clone(), published, ours, difference, allowed, agrees.to_string()]
}

/// Published, ours, difference, and allowed where they are compared.
fn mean_cells(ours: &Spread, published: Option<&PublishedMean>, is_compared: bool) -> [String; 4] {
    let own = match ours.n {
        0 => "undefined".to_string(),
        // The spread of a single run is not known.
        1 => format!("{:.3} (1)", ours.mean),
        n => format!("{:.3} ± {:.3} ({n})", ours.mean, ours.deviation),
    };
    let Some(published) = published else { return [String::new(), own, String::new(), String::new()] };
    let told = match published.deviation {
        Some(deviation) => format!("{:.2} ± {deviation:.2}", published.mean),
        None if published.rounding < 0.05 => format!("{:.2}", published.mean),
        None => format!("{:.1}", published.mean),
    };
    let shown = |is_shown: bool, text: String| if is_shown && ours.n > 0 { text } else { String::new() };
    let difference = shown(true, format!("{:+.3}", ours.mean - published.mean));
    [told, own, difference, shown(is_compared, format!("{:.3}", published.allowed(ours)))]
}

fn as_json(entry: &Entry, found: &Found, figures: &[PathBuf]) -> Json {
    let row = |row: &Row| match &row.value {
        Value::Number { ours, published } => json!({
            "what": row.what,
            "published": published.map(|(published, _)| published),
            "ours": ours,
            "difference": published.map(|(published, _)| ours - published),
            "allowed": published.map(|(_, allowed)| allowed),
            "agrees": row.agrees(),
        }),
        Value::Mean { ours, published } => json!({
            "what": row.what,
            "published": published.map(|published| published.mean),
            "published_deviation": published.and_then(|published| published.deviation),
            "ours": ours.mean,
            "deviation": (ours.n > 1).then_some(ours.deviation),
            "runs": ours.n,
            "difference": published.map(|published| ours.mean - published.mean),
            "allowed": published.map(|published| published.allowed(ours)),
            "agrees": row.agrees(),
        }),
        Value::Claim { ours, .. } => json!({ "what": row.what, "ours": ours, "agrees": row.agrees() }),
    };
    json!({
        "name": entry.name,
        "about": entry.about,
        "paper": entry.paper,
        "agrees": (counts(found).1 > 0).then(|| found.agrees()),
        "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        "notes": found.notes,
        "figures": figures.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    })
}
