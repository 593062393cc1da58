//! `status.json`: what a run is doing, for sweeps and pages that look on.

use serde::{Deserialize, Serialize};

/// What a run is doing, or how it ended. A process that was killed leaves the state `running`: whoever reads it has to look
/// whether the process is still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whether it goes on.
    pub state: State,
    /// The stage: `training`, `encoding`, `measuring` or `drawing`.
    pub stage: String,
    /// Steps taken.
    pub step: u64,
    /// Steps that there will be.
    pub steps: u64,
    /// The machine.
    pub host: String,
    /// The number of the process there.
    pub process: u32,
    /// When this process began with the run, in seconds since 1970.
    pub started_secs: u64,
    /// When this was written, in seconds since 1970.
    pub updated_secs: u64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A process works on it.
    Running,
    /// The user stopped it; it can be resumed.
    Stopped,
    /// It ended in an error; it can be resumed where the cause is gone.
    Failed,
    /// All was done.
    Finished,
}
