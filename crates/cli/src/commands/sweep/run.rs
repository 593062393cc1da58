//! `unbraid sweep run`: single runs of a sweep, one after another, as workers and schedulers do.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, stdin};
use std::path::PathBuf;

use unbraid_data::whole_file::read_text;
use unbraid_data::words::{counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_experiment::Watch;
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::PlannedRun;
use unbraid_experiment::sweep::pool::{DISK_FULL, HELD};
use unbraid_experiment::sweep::state::is_finished;
use unbraid_experiment::sweep::work::{WhereHeld, Worked, work};

use crate::Outcome;
use crate::output::tell;
use crate::watching::{Watcher, is_stopping, listen, stop};

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the sweep, OUT/sweeps/NAME
    folder: PathBuf,

    /// The runs, by their names; all where left out
    runs: Vec<String>,

    /// The runs, by a file with one name a line
    #[arg(long, value_name = "FILE", conflicts_with = "runs")]
    list: Option<PathBuf>,

    /// Work on every N-th run, counted from this one (0 to N - 1)
    #[arg(long, value_name = "K", requires = "tasks", conflicts_with = "runs")]
    task: Option<usize>,

    /// N, how many tasks share the runs
    #[arg(long, value_name = "N", requires = "task")]
    tasks: Option<usize>,

    /// Work in this folder, where relative paths in configs begin
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,

    /// Say nothing, and stop when the input ends: as `unbraid sweep` starts it, for one run
    #[arg(long, hide = true)]
    worker: bool,

    /// With --worker: wait for a run that another process works on
    #[arg(long, hide = true)]
    wait: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let folder = SweepFolder::open(&arguments.folder)?;
    if let Some(cwd) = &arguments.cwd {
        std::env::set_current_dir(cwd)
            .map_err(|error| Error::new(format!("{} cannot be worked in: {error}", quoted(cwd))))?;
    }
    match (arguments.worker, arguments.runs.as_slice()) {
        (true, [run]) => work_quietly(&folder, run, if arguments.wait { WhereHeld::Wait } else { WhereHeld::Leave }),
        (true, _) => Err(Error::new("a worker works on one run").help("give the name of one")),
        (false, _) => work_on_all(&folder, &chosen(&folder, arguments)?),
    }
}

/// The runs of a share, or those that are named.
fn chosen(folder: &SweepFolder, arguments: &Arguments) -> Result<Vec<PlannedRun>> {
    if !arguments.runs.is_empty() {
        return arguments.runs.iter().map(|run| folder.read_planned(run)).collect();
    }
    let planned = folder.read_plan()?.runs;
    let names: Vec<String> = match &arguments.list {
        Some(list) => read_text(list)?.lines().map(str::to_string).collect(),
        None => planned.iter().map(|run| run.name.clone()).collect(),
    };
    let names: Vec<String> = match (arguments.task, arguments.tasks) {
        (Some(task), Some(tasks)) if task < tasks => names.into_iter().skip(task).step_by(tasks).collect(),
        (Some(task), Some(tasks)) => {
            return Err(Error::new(format!("--task is {task}, of {tasks}")).help("tasks are counted from 0"));
        }
        _ => names,
    };
    let planned: BTreeMap<&str, &PlannedRun> = planned.iter().map(|run| (run.name.as_str(), run)).collect();
    let find = |run: &String| match planned.get(run.as_str()) {
        Some(planned) => Ok((*planned).clone()),
        // One of a plan that was changed since.
        None => folder.read_planned(run),
    };
    names.iter().map(find).collect()
}

/// Works on one run for a sweep on this machine, which reads what came of it off the exit code.
fn work_quietly(folder: &SweepFolder, run: &str, where_held: WhereHeld) -> Result<Outcome> {
    listen()?;
    std::thread::spawn(|| {
        // Nothing is ever written to it: it ends with the sweep.
        while stdin().read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::Interrupted) {}
        stop();
    });
    match work(folder, run, where_held, &mut Quiet, end_at_once) {
        Ok(Worked::Finished | Worked::FinishedBefore) => Ok(Outcome::Done),
        Ok(Worked::Stopped) => Ok(Outcome::Stopped),
        Ok(Worked::Held(_)) => Ok(Outcome::Later(HELD)),
        Err(error) if error.is_about_a_full_disk() => {
            tell(format!("error: {error}"));
            Ok(Outcome::Later(DISK_FULL))
        }
        Err(error) => Err(error),
    }
}

/// Works on runs one after another; those at which a process was killed come after all others, and last those that another process works on, which
/// are waited for.
fn work_on_all(folder: &SweepFolder, runs: &[PlannedRun]) -> Result<Outcome> {
    let mut watcher = Watcher::new()?;
    let mut held = Vec::new();
    let mut n_failed = 0;
    let mut left = VecDeque::new();
    let mut after = Vec::new();
    for run in runs {
        let turn = (run, WhereHeld::Leave);
        if folder.claims().is_left(&run.name)? { after.push(turn) } else { left.push_back(turn) }
    }
    left.extend(after);
    while let Some((run, where_held)) = left.pop_front() {
        if folder.failure(&run.name).is_some() && !is_finished(&folder.run_path(&run.name)) {
            tell(format!("{} failed before; `unbraid sweep FILE --retry-failed` tries it again", run.name));
            n_failed += 1;
        } else {
            watcher.note(&format!("{} ({})", run.name, run.changes_text()));
            match work(folder, &run.name, where_held, &mut watcher, end_at_once) {
                Ok(Worked::Finished) => watcher.finish(),
                Ok(Worked::FinishedBefore) => watcher.note("finished before"),
                Ok(Worked::Stopped) => {
                    watcher.finish();
                    tell(if folder.is_cancelled() {
                        "the sweep was cancelled; `unbraid sweep FILE.toml` takes that back and goes on"
                    } else {
                        "stopped and saved; the same command goes on"
                    });
                    return Ok(Outcome::Stopped);
                }
                Ok(Worked::Held(holder)) => {
                    let who = holder.map_or("another process".to_string(), |holder| {
                        format!("process {} on {}", holder.process, holder.host)
                    });
                    watcher.note(&format!("{who} works on it: it comes last"));
                    held.push((run, WhereHeld::Wait));
                }
                Err(error) if error.is_about_a_full_disk() => return Err(error),
                Err(error) => {
                    watcher.finish();
                    tell(format!("failed: {error}"));
                    n_failed += 1;
                }
            }
        }
        if left.is_empty() {
            left.extend(held.drain(..));
        }
    }
    tell(format!("{} done, {n_failed} failed", counted(runs.len() - n_failed, "run")));
    Ok(if n_failed > 0 { Outcome::SomeFailed } else { Outcome::Done })
}

/// Another process took the run over, since this one was held up for too long: what it would save now is older than what is there.
fn end_at_once() {
    tell("another process took the run over");
    std::process::exit(i32::from(HELD));
}

/// Says nothing, and hears when it should stop.
struct Quiet;

impl Watch for Quiet {
    fn stage(&mut self, _name: &str, _total: u64) {}

    fn progress(&mut self, _done: u64) {}

    fn next_item(&mut self, _name: &str) {}

    fn step(&mut self, _done: u64, _loss: f32, _images: u64) {}

    fn note(&mut self, _text: &str) {}

    fn should_stop(&self) -> bool {
        is_stopping()
    }
}
