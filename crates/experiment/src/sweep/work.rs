//! The work on one run of a sweep: claim it, carry it to its end, and leave what others need to know.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use unbraid_data::{Error, Result};

use super::claim::{Claim, Observed, Taking};
use super::folder::SweepFolder;
use super::holder::Holder;
use super::state::is_finished;
use crate::run::is_held;
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
    /// Another process works on it; which one, where it claimed the run.
    Held(Option<Holder>),
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

/// Carries a run of the sweep to its end. An error of the run is kept with the sweep, but for that of a full disk, after which the same run can go on.
/// `on_lost` is called where another process took the run over: nothing may be written from then on.
pub fn work(
    folder: &SweepFolder,
    run: &str,
    where_held: WhereHeld,
    watch: &mut dyn Watch,
    on_lost: fn(),
) -> Result<Worked> {
    let config = folder.read_planned(run)?.config()?;
    let mut watch = SweepWatch::new(folder, watch);
    let claim = match claimed(folder, run, where_held, &watch, on_lost)? {
        Ok(claim) => claim,
        Err(worked) => return Ok(worked),
    };
    // Another process may have come to its error since this one began.
    if let Some(error) = folder.failure(run) {
        claim.release()?;
        return Err(Error::failure(error));
    }
    let path = folder.run_path(run);
    let ending = catch_unwind(AssertUnwindSafe(|| run_once(&config, &path, &mut watch)));
    match ending.unwrap_or_else(|panic| Err(bug(panic.as_ref()))) {
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
            let is_kept = error.is_about_a_full_disk() || folder.write_failure(run, &error.to_string()).is_ok();
            // The first error is the one to report; a claim that stays is that of a process that is gone.
            let _ = claim.release();
            Err(if is_kept { error } else { error.more_help("nor could this error be kept") })
        }
    }
}

/// The error of a run that came upon a bug: it is kept, and other runs go on.
fn bug(panic: &(dyn Any + Send)) -> Error {
    let told = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Error::failure(format!("a bug of unbraid: {}", told.unwrap_or("it said nothing")))
}

/// The claim on a run that is to be worked on; else what came of it.
fn claimed(
    folder: &SweepFolder,
    run: &str,
    where_held: WhereHeld,
    watch: &SweepWatch<'_>,
    on_lost: fn(),
) -> Result<std::result::Result<Claim, Worked>> {
    let (path, claims) = (folder.run_path(run), folder.claims());
    let mut observed = Observed::default();
    let claim = loop {
        if is_finished(&path) {
            return Ok(Err(Worked::FinishedBefore));
        }
        if watch.should_stop() {
            return Ok(Err(Worked::Stopped));
        }
        match claims.take(run, &mut observed, on_lost)? {
            Taking::Held(claim) => break claim,
            Taking::By(holder) if where_held == WhereHeld::Leave => return Ok(Err(Worked::Held(Some(holder)))),
            Taking::By(_) => std::thread::sleep(BETWEEN_TRIES),
        }
    };
    // Who goes on with a run by hand claims nothing, and a process that was killed may take a moment to let go of it.
    while is_held(&path) {
        if where_held == WhereHeld::Leave {
            return claim.release().map(|()| Err(Worked::Held(None)));
        }
        if watch.should_stop() {
            return claim.release().map(|()| Err(Worked::Stopped));
        }
        std::thread::sleep(BETWEEN_TRIES);
    }
    // Another may have finished it between the look and the claim.
    if is_finished(&path) {
        claim.finish();
        return Ok(Err(Worked::FinishedBefore));
    }
    Ok(Ok(claim))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::sweep::plan::Plan;
    use crate::watch::Nobody;

    /// Comes upon a bug as soon as something happens.
    struct Unlucky;

    impl Watch for Unlucky {
        fn stage(&mut self, name: &str, _total: u64) {
            panic!("out of luck while {name}");
        }

        fn progress(&mut self, _done: u64) {}

        fn next_item(&mut self, _name: &str) {}

        fn step(&mut self, _done: u64, _loss: f32, _images: u64) {}

        fn note(&mut self, _text: &str) {}

        fn should_stop(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_bug_is_kept_as_the_error_of_its_run_until_it_is_forgotten() {
        let text = "[dataset]\nname = 'xy_squares'\nsquares = 1\n[framework]\nname = 'vae'\n[model]\nname = 'linear'\n\
                    [training]\nsteps = 2\nbatch_size = 4\n[[metrics]]\nname = 'mig'";
        let plan = Plan::of_configs(&[Config::parse(text, &[]).unwrap()]);
        let out = tempfile::tempdir().unwrap();
        let folder = SweepFolder::begin(out.path(), "grid", &plan, None).unwrap();
        let run = plan.runs[0].name.as_str();
        let worked = |watch: &mut dyn Watch| work(&folder, run, WhereHeld::Leave, watch, || {});
        let error = worked(&mut Unlucky).unwrap_err().to_string();
        assert!(error.starts_with("a bug of unbraid: out of luck while "), "{error}");
        assert_eq!(
            (folder.failure(run).as_deref(), folder.claims().holder(run).unwrap()),
            (Some(error.as_str()), None)
        );
        // Whoever waited for it need not come to the same.
        assert_eq!(worked(&mut Nobody).unwrap_err().to_string(), error);
        folder.forget_failures().unwrap();
        assert_eq!(worked(&mut Nobody).unwrap(), Worked::Finished);
    }
}
