//! Whoever runs the command looks on while a run goes on, and may stop it by Ctrl-C.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use unbraid_data::{Error, Result};
use unbraid_experiment::Watch;

use crate::output::tell;
use crate::progress::Progress;

/// When it was first asked to stop.
static ASKED: OnceLock<Instant> = OnceLock::new();
/// What comes within so short a time is one request: Slurm and the script of its task each tell the worker to end.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// Listens to Ctrl-C and to the request of the system to end: the first one lets the work save itself, a second one ends it at once.
pub fn listen() -> Result<()> {
    let on_ctrl_c = || match ASKED.get() {
        None => {
            stop();
            tell("\nstopping; Ctrl-C again stops at once, without saving");
        }
        Some(first) if first.elapsed() < ONE_REQUEST => {}
        Some(_) => std::process::exit(130),
    };
    ctrlc::set_handler(on_ctrl_c).map_err(|error| Error::failure(format!("Ctrl-C cannot be listened to: {error}")))
}

/// Whether it was asked to stop.
pub fn is_stopping() -> bool {
    ASKED.get().is_some()
}

/// Asks to stop, as Ctrl-C does.
pub fn stop() {
    ASKED.get_or_init(Instant::now);
}

/// Whoever runs the command.
pub struct Watcher {
    progress: Progress,
}

impl Watcher {
    /// Listens to Ctrl-C from now on: the first one lets the run save itself, a second one ends it at once.
    pub fn new() -> Result<Self> {
        listen()?;
        Ok(Self { progress: Progress::new() })
    }

    /// Ends the last stage.
    pub fn finish(&mut self) {
        let going_on = self.progress.going_on().filter(|_| !self.progress.has_bar());
        self.progress.finish();
        if let Some((name, time)) = going_on {
            let how = if self.should_stop() { "stopped" } else { "finished" };
            tell(format!("{name} {how} after {:.0} s", time.as_secs_f64()));
        }
    }
}

impl Watch for Watcher {
    fn stage(&mut self, name: &str, total: u64) {
        self.finish();
        self.progress.stage(name, total);
        if !self.progress.has_bar() {
            tell(name);
        }
    }

    fn progress(&mut self, done: u64) {
        self.progress.progress(done);
    }

    fn next_item(&mut self, name: &str) {
        self.progress.next_item(name);
    }

    fn step(&mut self, done: u64, loss: f32, images: u64) {
        self.progress.step(done, loss, images);
    }

    fn note(&mut self, text: &str) {
        self.finish();
        tell(text);
    }

    fn should_stop(&self) -> bool {
        is_stopping()
    }
}

/// Where nothing can be saved half done there is nothing to listen to: Ctrl-C ends the command at once.
impl Watch for Progress {
    fn stage(&mut self, name: &str, total: u64) {
        self.stage(name, total);
    }

    fn progress(&mut self, done: u64) {
        self.progress(done);
    }

    fn next_item(&mut self, name: &str) {
        self.next_item(name);
    }

    fn step(&mut self, done: u64, loss: f32, images: u64) {
        self.step(done, loss, images);
    }

    fn note(&mut self, text: &str) {
        tell(text);
    }

    fn should_stop(&self) -> bool {
        false
    }
}
