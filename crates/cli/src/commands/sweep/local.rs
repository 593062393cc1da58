//! A sweep on this machine.

use std::path::Path;
use std::process::Command;

use unbraid_data::Result;
use unbraid_data::words::{counted, quoted};
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::{Plan, PlannedRun};
use unbraid_experiment::sweep::pool::{Pool, Summary};
use unbraid_experiment::sweep::state::{BestBy, is_finished};
use unbraid_experiment::sweep::work::WhereHeld;
use unbraid_metrics::metric_of;

use super::live::Live;
use super::{check_jobs, worker};
use crate::Outcome;
use crate::output::{print, tell};
use crate::watching::listen;

/// Memory for a run, where nobody says how many there are at a time.
const MEMORY_OF_A_RUN: u64 = 2 << 30;
/// Errors that are printed at the end; all are kept.
const MOST_ERRORS: usize = 5;

/// Works on all runs that are left, and prints what came of it.
pub fn run(folder: &SweepFolder, plan: &Plan, jobs: Option<usize>, data_root: Option<&Path>) -> Result<Outcome> {
    listen()?;
    let (summary, best) = work(folder, plan, jobs, data_root)?;
    print_summary(folder, plan, &summary, best)
}

/// Works on all runs that are left; what came of it, and the best run in words.
pub fn work(
    folder: &SweepFolder,
    plan: &Plan,
    jobs: Option<usize>,
    data_root: Option<&Path>,
) -> Result<(Summary, Option<String>)> {
    let n_threads = rayon::current_num_threads();
    let failed = folder.failed()?;
    let is_left =
        |run: &&PlannedRun| failed.binary_search(&run.name).is_err() && !is_finished(&folder.run_path(&run.name));
    let n_left = plan.runs.iter().filter(is_left).count();
    check_jobs(jobs)?;
    let jobs = match jobs {
        Some(jobs) => jobs,
        None => n_threads.min((free_memory() / MEMORY_OF_A_RUN) as usize).clamp(1, n_left.max(1)),
    };
    let threads = (n_threads / jobs).max(1);
    if n_left > 0 {
        let (runs, each) = (counted(n_left, "run"), counted(threads, "thread"));
        tell(format!(
            "{runs} to do of {}, {jobs} at a time with {each} each, into {}",
            plan.runs.len(),
            quoted(folder.out())
        ));
    }
    let worker = worker(folder, threads, data_root)?;
    let command = |run: &str, where_held| {
        let mut command = Command::new(worker.get_program());
        command.args(worker.get_args()).args([run, "--worker"]);
        command.args((where_held == WhereHeld::Wait).then_some("--wait"));
        command
    };
    let first = plan.runs.first().map(|run| run.config()).transpose()?;
    let best_by = first.and_then(|config| BestBy::of(folder.best().as_deref(), &config));
    if let Some(by) = best_by.as_ref().filter(|by| !is_measured(plan, &by.score)) {
        tell(format!("note: no run measures {}, so that none is shown as the best", by.score));
    }
    let mut live = Live::new(folder, plan, best_by);
    let summary = Pool { folder, plan, jobs, command: &command }.work(&mut live);
    let best = live.finish();
    Ok((summary?, best))
}

/// Whether some run measures a score.
fn is_measured(plan: &Plan, score: &str) -> bool {
    let metric = metric_of(score);
    let measures =
        |run: &PlannedRun| run.config().is_ok_and(|config| config.metrics.iter().any(|one| one.name == metric));
    plan.runs.iter().any(measures)
}

fn print_summary(folder: &SweepFolder, plan: &Plan, summary: &Summary, best: Option<String>) -> Result<Outcome> {
    let (n_runs, n_failed) = (plan.runs.len(), summary.failed.len());
    print(format!(
        "{} of {} finished{}",
        summary.n_finished,
        counted(n_runs, "run"),
        if n_failed > 0 { format!(", {n_failed} failed") } else { String::new() }
    ))?;
    if let Some(best) = best {
        print(best)?;
    }
    for (run, error) in summary.failed.iter().take(MOST_ERRORS) {
        print(format!("failed: {}\n       {error}", quoted(&folder.run_path(run))))?;
    }
    if n_failed > MOST_ERRORS {
        print(format!("and {} more: `unbraid sweep status {}`", n_failed - MOST_ERRORS, quoted(folder.path())))?;
    }
    if summary.is_stopped {
        print("stopped; the same command goes on")?;
        return Ok(Outcome::Stopped);
    }
    if n_failed > 0 {
        print("`--retry-failed` tries them again")?;
        return Ok(Outcome::SomeFailed);
    }
    Ok(Outcome::Done)
}

/// Memory that is free on this machine, in bytes; plenty where the system does not say.
fn free_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map_or(u64::MAX, |kilobytes| kilobytes * 1024)
}
