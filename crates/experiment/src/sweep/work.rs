//! The work on one run of a sweep: claim it, carry it to its end, and leave what others need to know.

use std::cell::Cell;
use std::time::{Duration, Instant};

use unbraid_data::Result;

use super::claim::{Holder, Observed, Taking};
use super::folder::SweepFolder;
use super::state::is_finished;
use crate::run_once::run_once;
use crate::train::Ending;
use crate::watch::Watch;

/// What came of a run.
#[derive(Debug, PartialEq)]
pub enum Worked {
    /// It is finished.
    Finished,
    /// It was finished when its turn came.
    FinishedBefore,
    /// The user stopped it, or cancelled the sweep; it can go on.
    Stopped,
    /// Another process works on it.
    Held(Holder),
}

/// What is done about a run that another process works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhereHeld {
    /// It is left to that process.
    Leave,
    /// It is waited for: until it is finished, or until that process is gone.
    Wait,
}

/// How often a run that another process works on is looked at.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);
/// How often it is looked whether the sweep was cancelled.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Carries a run of the sweep to its end. An error is kept with the sweep, but for that of a full disk, after which the same run can go on.
/// `on_lost` is called where another process took the run over: nothing may be written from then on.
pub fn work(
    folder: &SweepFolder,
    run: &str,
    where_held: WhereHeld,
    watch: &mut dyn Watch,
    on_lost: fn(),
) -> Result<Worked> {
    let worked = try_to_work(folder, run, where_held, watch, on_lost);
    if let Err(error) = &worked
        && !error.is_about_a_full_disk()
    {
        folder.write_failure(run, &error.to_string())?;
    }
    worked
}

fn try_to_work(
    folder: &SweepFolder,
    run: &str,
    where_held: WhereHeld,
    watch: &mut dyn Watch,
    on_lost: fn(),
) -> Result<Worked> {
    let config = folder.read_planned(run)?.config()?;
    let (path, claims) = (folder.run_path(run), folder.claims());
    let mut watch = SweepWatch::new(folder, watch);
    let mut observed = Observed::default();
    let claim = loop {
        if is_finished(&path) {
            return Ok(Worked::FinishedBefore);
        }
        match claims.take(run, &mut observed, on_lost)? {
            Taking::Held(claim) => break claim,
            Taking::By(holder) if where_held == WhereHeld::Leave => return Ok(Worked::Held(holder)),
            Taking::By(_) if watch.should_stop() => return Ok(Worked::Stopped),
            Taking::By(_) => std::thread::sleep(BETWEEN_TRIES),
        }
    };
    // Another may have finished it between the look and the claim.
    if is_finished(&path) {
        claim.finish();
        return Ok(Worked::FinishedBefore);
    }
    match run_once(&config, &path, &mut watch) {
        Ok(Ending::Finished) => {
            claim.finish();
            Ok(Worked::Finished)
        }
        Ok(Ending::FinishedBefore(_)) => {
            claim.finish();
            Ok(Worked::FinishedBefore)
        }
        Ok(Ending::Stopped(_)) => claim.release().map(|()| Worked::Stopped),
        Err(error) => {
            // The first error is the one to report; a claim that stays is that of a process that is gone.
            let _ = claim.release();
            Err(error)
        }
    }
}

/// Looks on, hands everything on to another, and stops where the sweep was cancelled.
struct SweepWatch<'a> {
    folder: &'a SweepFolder,
    inner: &'a mut dyn Watch,
    looked: Cell<Instant>,
    cancelled: Cell<bool>,
}

impl<'a> SweepWatch<'a> {
    fn new(folder: &'a SweepFolder, inner: &'a mut dyn Watch) -> Self {
        let cancelled = Cell::new(folder.is_cancelled());
        Self { folder, inner, looked: Cell::new(Instant::now()), cancelled }
    }
}

impl Watch for SweepWatch<'_> {
    fn stage(&mut self, name: &str, total: u64) {
        self.inner.stage(name, total);
    }

    fn progress(&mut self, done: u64) {
        self.inner.progress(done);
    }

    fn next_item(&mut self, name: &str) {
        self.inner.next_item(name);
    }

    fn step(&mut self, done: u64, loss: f32, images: u64) {
        self.inner.step(done, loss, images);
    }

    fn note(&mut self, text: &str) {
        self.inner.note(text);
    }

    fn should_stop(&self) -> bool {
        if self.looked.get().elapsed() >= BETWEEN_LOOKS {
            self.looked.set(Instant::now());
            self.cancelled.set(self.folder.is_cancelled());
        }
        self.cancelled.get() || self.inner.should_stop()
    }
}
