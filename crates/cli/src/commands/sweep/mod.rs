//! `unbraid sweep`: many runs from one file.

mod cancel;
mod export;
mod live;
pub mod local;
mod run;
mod status;
mod submit;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use unbraid_data::words::{as_folder_name, counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_experiment::sweep::check::check_runs;
use unbraid_experiment::sweep::estimate::estimate;
use unbraid_experiment::sweep::file::SweepFile;
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::{Plan, PlannedRun};
use unbraid_experiment::sweep::state::is_finished;

use crate::Outcome;
use crate::output::{print, tell};
use crate::progress::duration_text;
use crate::watching::Watcher;

const USE: &str = "\
A sweep file is a base config and grids:

  base = \"config.toml\"              # or [base.dataset], [base.framework] and so on
  [grid]
  seed = [1, 2, 3]                  # a list is gone through
  framework.beta = [1.0, 4.0]

Each run lies in OUT, in a folder named by all that decides it, so that a config is trained once, also by several sweeps. The same command goes on with a sweep that was \
stopped or killed, and several machines that share a disk may work on one sweep. docs/sweeps.md tells more.";

/// Arguments of the command.
#[derive(clap::Args)]
#[command(after_help = USE, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// The sweep file
    #[arg(required = true)]
    file: Option<PathBuf>,

    /// Change a setting of every run: training.steps=100
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Runs at a time, which share the threads [default: as many as there are threads, 2 GB of free memory for each]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Where the runs go, those of several sweeps side by side
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    out: PathBuf,

    /// Print the runs, and about how long they would take by a few training steps of each kind; train nothing
    #[arg(long)]
    dry_run: bool,

    /// Try runs again that failed
    #[arg(long)]
    retry_failed: bool,

    /// Give the runs to Slurm, as the section slurm of the file says, and return
    #[arg(long, conflicts_with_all = ["dry_run", "jobs", "export"])]
    slurm: bool,

    /// Print one command for each run that is not finished, for GNU parallel, xargs or another scheduler; train nothing
    #[arg(long, value_name = "WHAT", conflicts_with = "dry_run")]
    export: Option<Export>,
}

/// What can be printed for other programs.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Export {
    /// One command a line.
    Commands,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Tell how far a sweep is, wherever it is worked on
    Status(status::Arguments),
    /// Let every process that works on a sweep save and stop, wherever it is; the sweep can go on later
    Cancel(cancel::Arguments),
    /// Work on single runs of a sweep, as workers and schedulers do
    Run(run::Arguments),
}

/// Carries out the command.
pub fn run(arguments: &Arguments, data_root: Option<&Path>) -> Result<Outcome> {
    match (&arguments.command, &arguments.file) {
        (Some(Command::Status(arguments)), _) => status::run(arguments),
        (Some(Command::Cancel(arguments)), _) => cancel::run(arguments),
        (Some(Command::Run(arguments)), _) => run::run(arguments),
        (None, Some(file)) => sweep(file, arguments, data_root),
        (None, None) => Err(Error::new("a sweep needs a file").help("wanted unbraid sweep FILE.toml")),
    }
}

fn sweep(path: &Path, arguments: &Arguments, data_root: Option<&Path>) -> Result<Outcome> {
    let file = SweepFile::load(path)?;
    let plan = Plan::of(&file, &arguments.set).map_err(|error| error.at(path.display()))?;
    if plan.n_same > 0 {
        tell(format!(
            "note: {} of the grids came to a config that is there already",
            counted(plan.n_same, "combination")
        ));
    }
    check_jobs(arguments.jobs)?;
    if arguments.out.is_file() {
        return Err(
            Error::new(format!("--out is {}, a file", quoted(&arguments.out))).help("wanted a folder for the runs")
        );
    }
    if arguments.dry_run {
        return dry_run(&plan, &arguments.out);
    }
    let name = Some(as_folder_name(&path.file_stem().unwrap_or_default().to_string_lossy()));
    let name = name.filter(|name| !name.is_empty()).unwrap_or("sweep".to_string());
    let before = SweepFolder::open(&arguments.out.join("sweeps").join(&name)).and_then(|folder| folder.read_plan());
    let folder = SweepFolder::begin(&arguments.out, &name, &plan, file.best.as_deref())?;
    tell_other_plan(&folder, before.ok().as_ref(), &plan);
    folder.uncancel()?;
    if arguments.retry_failed {
        folder.forget_failures()?;
    }
    check_runs(&folder, &plan)?;
    if arguments.slurm {
        return submit::run(&folder, &plan, &file.slurm, data_root);
    }
    if arguments.export == Some(Export::Commands) {
        return export::run(&folder, &plan, data_root);
    }
    local::run(&folder, &plan, arguments.jobs, data_root)
}

/// Refuses to work on no run at a time.
fn check_jobs(jobs: Option<usize>) -> Result<()> {
    match jobs {
        Some(0) => Err(Error::new("--jobs is 0").help("wanted 1 or more")),
        _ => Ok(()),
    }
}

/// Says where the sweep of this name had runs that it has no longer: it was changed, or is another one of the same name.
fn tell_other_plan(folder: &SweepFolder, before: Option<&Plan>, plan: &Plan) {
    let names: BTreeSet<&str> = plan.runs.iter().map(|run| run.name.as_str()).collect();
    let n_gone = before.map_or(0, |before| before.runs.iter().filter(|run| !names.contains(run.name.as_str())).count());
    if n_gone > 0 {
        let (gone, place) = (counted(n_gone, "other run"), quoted(folder.path()));
        tell(format!(
            "note: {place} was planned with {gone} before; these stay where they are, and its status is now that of {}",
            counted(plan.runs.len(), "run")
        ));
    }
}

/// Prints the runs, and what they would take.
fn dry_run(plan: &Plan, out: &Path) -> Result<Outcome> {
    let is_left = |run: &&PlannedRun| !is_finished(&out.join(&run.name));
    let left: Vec<&PlannedRun> = plan.runs.iter().filter(is_left).collect();
    for run in &plan.runs {
        let state = if is_left(&run) { "" } else { "  (finished)" };
        print(format!("{}  {}{state}", run.name, run.changes_text()))?;
    }
    let n_finished = plan.runs.len() - left.len();
    print(format!("\n{} in {}, {n_finished} of them finished", counted(plan.runs.len(), "run"), quoted(out)))?;
    if left.is_empty() {
        return Ok(Outcome::Done);
    }
    let mut watcher = Watcher::new()?;
    let Some(estimate) = estimate(left, &mut watcher)? else { return Ok(Outcome::Stopped) };
    watcher.finish();
    for line in &estimate.left_out {
        print(line)?;
    }
    if estimate.n_runs == 0 {
        return Ok(Outcome::Done);
    }
    print(format!(
        "training {} takes about {} on this machine ({:.1} hours), by a second of steps of each of {}; encoding and measuring come on top",
        counted(estimate.n_runs, "run"),
        duration_text(estimate.secs.round() as u64),
        estimate.secs / 3600.0,
        counted(estimate.n_kinds, "kind")
    ))?;
    Ok(Outcome::Done)
}

/// The program that is running, to be started again.
fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| Error::failure(format!("the path of this program is not known: {error}")))
}

/// The start of the command that works on runs of a sweep: with as many threads, and with the same place for files of datasets.
fn worker(folder: &SweepFolder, n_threads: usize, data_root: Option<&Path>) -> Result<Process> {
    let mut process = Process::new(program()?);
    process.args(["sweep", "run"]).arg(folder.path()).args(["--threads", &n_threads.to_string()]);
    if let Some(data_root) = data_root {
        process.arg("--data-root").arg(data_root);
    }
    Ok(process)
}
