//! `unbraid sweep status`: how far a sweep is, wherever it is worked on.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use unbraid_data::Result;
use unbraid_data::words::counted;
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::{Plan, PlannedRun};
use unbraid_experiment::sweep::state::{BestBy, RunState, states};
use unbraid_report::status::Status;
use unbraid_report::tables::{numbers_table, score_text};

use super::super::table_width;
use crate::Outcome;
use crate::output::print;
use crate::progress::duration_text;

/// Runs that are listed where not all are asked for.
const MOST_LISTED: usize = 40;
/// So many seconds without a word are told.
const LONG_SILENCE: u64 = 600;
/// The states in the order in which they are counted.
const STATES: [&str; 5] = ["finished", "running", "stopped", "failed", "waiting"];

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the sweep, OUT/sweeps/NAME
    folder: PathBuf,

    /// List every run, also those that are finished or wait
    #[arg(long)]
    all: bool,

    /// Print JSON: every run with its state, and how many there are of each
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let folder = SweepFolder::open(&arguments.folder)?;
    let plan = folder.read_plan()?;
    let states = states(&folder, &plan)?;
    let best = best(&folder, &plan, &states);
    if arguments.json {
        print(format!("{:#}", as_json(&plan, &states, best)))?;
        return Ok(Outcome::Done);
    }
    let counts: Vec<String> = counted_states(&states).map(|(name, count)| format!("{count} {name}")).collect();
    print(format!("{}: {}", counted(plan.runs.len(), "run"), counts.join(", ")))?;
    if folder.is_cancelled() {
        print("cancelled; `unbraid sweep FILE.toml` goes on with it")?;
    }
    if let Some((by, run, value)) = best {
        print(format!("best {} {}: {}", by.score, score_text(value), run.changes_text()))?;
    }
    let is_listed = |state: &RunState| arguments.all || !matches!(state, RunState::Finished | RunState::Waiting);
    let listed: Vec<_> = plan.runs.iter().zip(&states).filter(|(_, state)| is_listed(state)).collect();
    let n_shown = if arguments.all { listed.len() } else { listed.len().min(MOST_LISTED) };
    if n_shown > 0 {
        let rows: Vec<Vec<String>> = listed[..n_shown].iter().map(|(run, state)| row(run, state)).collect();
        print(numbers_table(&["run", "state", "", "settings"], &rows, table_width()))?;
    }
    if n_shown < listed.len() {
        print(format!("and {} more: --all lists them", listed.len() - n_shown))?;
    }
    Ok(Outcome::Done)
}

fn counted_states(states: &[RunState]) -> impl Iterator<Item = (&'static str, usize)> {
    STATES.iter().map(|name| (*name, states.iter().filter(|state| state.name() == *name).count()))
}

fn best<'a>(folder: &SweepFolder, plan: &'a Plan, states: &[RunState]) -> Option<(BestBy, &'a PlannedRun, f64)> {
    let finished: Vec<&PlannedRun> =
        plan.runs.iter().zip(states).filter(|(_, state)| **state == RunState::Finished).map(|(run, _)| run).collect();
    // For another version of unbraid than planned it a config may mean something else, or nothing.
    let by = BestBy::of(folder.best().as_deref(), &finished.first()?.config().ok()?)?;
    by.best(folder, &finished).map(|(run, value)| (by, run, value))
}

/// What one looks at: how far it is and where, or why it failed.
fn row(run: &PlannedRun, state: &RunState) -> Vec<String> {
    let steps = state.steps().map(|(step, steps)| format!("step {step} of {steps}")).unwrap_or_default();
    let about = match state {
        RunState::Running(holder, status) => {
            let silence = status.as_ref().and_then(silence).map_or(String::new(), |text| format!(", {text}"));
            format!("{steps} on {} ({}){silence}", holder.host, holder.process)
        }
        RunState::Failed(error) => error.lines().next().unwrap_or_default().to_string(),
        _ => steps,
    };
    vec![run.name.clone(), state.name().to_string(), about.trim().to_string(), run.changes_text()]
}

/// `no word for 3 h 05 min` where a run has written nothing for long: whether a process on another machine is gone nobody can tell from here.
fn silence(status: &Status) -> Option<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let secs = now.checked_sub(status.updated_secs).filter(|secs| *secs >= LONG_SILENCE)?;
    Some(format!("no word for {}", duration_text(secs)))
}

/// A value as TOML writes it, in JSON.
fn json_of(value: &str) -> Json {
    let read = format!("value = {value}").parse::<toml::Table>().ok();
    read.and_then(|table| serde_json::to_value(&table["value"]).ok()).unwrap_or_else(|| Json::from(value))
}

fn as_json(plan: &Plan, states: &[RunState], best: Option<(BestBy, &PlannedRun, f64)>) -> Json {
    let run = |(run, state): (&PlannedRun, &RunState)| {
        let changes: serde_json::Map<String, Json> =
            run.changes.iter().map(|(path, value)| (path.clone(), json_of(value))).collect();
        let (host, process) = match state {
            RunState::Running(holder, _) => (Some(&holder.host), Some(holder.process)),
            _ => (None, None),
        };
        let error = match state {
            RunState::Failed(error) => Some(error),
            _ => None,
        };
        let (step, steps) = state.steps().unzip();
        json!({ "run": run.name, "state": state.name(), "settings": changes, "step": step, "steps": steps, "host": host, "process": process, "error": error })
    };
    let counts: serde_json::Map<String, Json> =
        counted_states(states).map(|(name, count)| (name.to_string(), Json::from(count))).collect();
    let best = best.map(|(by, run, value)| json!({ "score": by.score, "run": run.name, "value": value }));
    json!({ "counts": counts, "best": best, "runs": plan.runs.iter().zip(states).map(run).collect::<Vec<_>>() })
}
