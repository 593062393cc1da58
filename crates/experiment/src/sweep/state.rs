//! What the runs of a sweep came to, read off their folders.

use std::path::Path;

use rayon::prelude::*;
use unbraid_data::Result;
use unbraid_metrics::{Better, score_kind};
use unbraid_report::RunFolder;
use unbraid_report::key_scores::{KEY_SCORES, KeyScore};
use unbraid_report::status::{State, Status};

use super::folder::SweepFolder;
use super::holder::Holder;
use super::plan::{Plan, PlannedRun};
use crate::config::Config;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// All is there.
    Finished,
    /// A process works on it; what it is doing, where that is written yet.
    Running(Holder, Option<Status>),
    /// It was begun, and nobody works on it: it was stopped, or its process was killed.
    Stopped(Option<Status>),
    /// It ended in an error, which is kept.
    Failed(String),
    /// It was not begun.
    Waiting,
}

impl RunState {
    /// One word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Running(..) => "running",
            Self::Stopped(_) => "stopped",
            Self::Failed(_) => "failed",
            Self::Waiting => "waiting",
        }
    }

    /// Steps taken and steps to take, where the run was begun and is not finished.
    pub fn steps(&self) -> Option<(u64, u64)> {
        match self {
            Self::Running(_, Some(status)) | Self::Stopped(Some(status)) => Some((status.step, status.steps)),
            _ => None,
        }
    }
}

/// Whether a run is finished: its page is written last.
pub fn is_finished(path: &Path) -> bool {
    path.join("report.html").exists()
}

/// What each run of the plan came to.
pub fn states(folder: &SweepFolder, plan: &Plan) -> Result<Vec<RunState>> {
    plan.runs.par_iter().map(|run| state(folder, &run.name)).collect()
}

/// What a run came to.
pub fn state(folder: &SweepFolder, run: &str) -> Result<RunState> {
    let path = folder.run_path(run);
    if is_finished(&path) {
        return Ok(RunState::Finished);
    }
    let status = || -> Option<Status> { RunFolder::open(&path).ok()?.read_status().ok().flatten() };
    if let Some(holder) = folder.claims().holder(run)? {
        return Ok(RunState::Running(holder, status().filter(|status| status.state == State::Running)));
    }
    if let Some(error) = folder.failure(run) {
        return Ok(RunState::Failed(error));
    }
    Ok(if path.join("config.toml").exists() { RunState::Stopped(status()) } else { RunState::Waiting })
}

/// A score by which runs of a sweep are compared while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestBy {
    /// Its name.
    pub score: String,
    /// Whether less of it is better.
    is_lower_better: bool,
}

impl BestBy {
    /// The score that a sweep names, or the first key score that its runs measure; nothing where they measure none.
    pub fn of(named: Option<&str>, config: &Config) -> Option<Self> {
        let is_measured = |key: &&KeyScore| config.metrics.iter().any(|metric| metric.name == key.name);
        let score = match named {
            Some(named) => named.to_string(),
            None => KEY_SCORES.iter().find(is_measured)?.name.to_string(),
        };
        let is_lower_better = score_kind(&score).is_some_and(|kind| kind.better == Better::Low);
        Some(Self { score, is_lower_better })
    }

    /// The score of a finished run, where it has it.
    pub fn value(&self, folder: &SweepFolder, run: &str) -> Option<f64> {
        RunFolder::open(&folder.run_path(run)).ok()?.read_scores().ok()?.value(&self.score)
    }

    /// Whether one value is better than another.
    pub fn is_better(&self, one: f64, other: f64) -> bool {
        if self.is_lower_better { one < other } else { one > other }
    }

    /// The best of some finished runs, and its value; the first of several that are alike.
    pub fn best<'a>(&self, folder: &SweepFolder, runs: &[&'a PlannedRun]) -> Option<(&'a PlannedRun, f64)> {
        let values: Vec<(&PlannedRun, f64)> =
            runs.par_iter().filter_map(|run| Some((*run, self.value(folder, &run.name)?))).collect();
        values.into_iter().reduce(|best, other| if self.is_better(other.1, best.1) { other } else { best })
    }
}
