//! Keeps `status.json` true while a run goes on.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use unbraid_data::Result;
use unbraid_report::RunFolder;
use unbraid_report::status::{State, Status};

use crate::train::Ending;
use crate::watch::Watch;

/// How often the status is written while a stage goes on.
const EVERY: Duration = Duration::from_secs(5);

/// Looks on, hands everything on to another, and keeps the status.
pub struct StatusWatch<'a> {
    folder: &'a RunFolder,
    inner: &'a mut dyn Watch,
    status: Status,
    written: Instant,
}

impl<'a> StatusWatch<'a> {
    /// From here on the run is said to be running, with `step` of `steps` taken.
    pub fn begin(folder: &'a RunFolder, inner: &'a mut dyn Watch, step: u64, steps: u64) -> Result<Self> {
        let status = Status {
            state: State::Running,
            stage: String::new(),
            step,
            steps,
            host: gethostname::gethostname().to_string_lossy().to_string(),
            process: std::process::id(),
            started_secs: now_secs(),
            updated_secs: now_secs(),
            error: None,
        };
        folder.write_status(&status)?;
        Ok(Self { folder, inner, status, written: Instant::now() })
    }

    /// Says how the run ended.
    pub fn end(mut self, ending: &Result<Ending>) -> Result<()> {
        self.status.state = match ending {
            Ok(Ending::Finished | Ending::FinishedBefore(_)) => State::Finished,
            Ok(Ending::Stopped(_)) => State::Stopped,
            Err(_) => State::Failed,
        };
        self.status.error = ending.as_ref().err().map(ToString::to_string);
        self.status.updated_secs = now_secs();
        self.folder.write_status(&self.status)
    }

    /// A status that cannot be written now is written the next time; what the run itself cannot write ends it.
    fn write(&mut self) {
        self.status.updated_secs = now_secs();
        self.written = Instant::now();
        let _ = self.folder.write_status(&self.status);
    }

    fn write_now_and_then(&mut self) {
        if self.written.elapsed() >= EVERY {
            self.write();
        }
    }
}

impl Watch for StatusWatch<'_> {
    fn stage(&mut self, name: &str, total: u64) {
        self.status.stage = name.to_string();
        self.write();
        self.inner.stage(name, total);
    }

    fn progress(&mut self, done: u64) {
        self.write_now_and_then();
        self.inner.progress(done);
    }

    fn next_item(&mut self, name: &str) {
        self.write_now_and_then();
        self.inner.next_item(name);
    }

    fn step(&mut self, done: u64, loss: f32, images: u64) {
        self.status.step = done;
        self.write_now_and_then();
        self.inner.step(done, loss, images);
    }

    fn note(&mut self, text: &str) {
        self.inner.note(text);
    }

    fn should_stop(&self) -> bool {
        self.inner.should_stop()
    }
}

fn now_secs() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
