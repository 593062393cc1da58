//! Shows how a run goes on: a progress bar on a terminal, plain lines elsewhere; and hears Ctrl-C.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use unbraid_data::{Error, Result};
use unbraid_experiment::Watch;

use crate::output::tell;

/// Time between plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

static STOP: AtomicBool = AtomicBool::new(false);

/// Whoever runs the command.
pub struct Watcher {
    bar: Option<ProgressBar>,
    stage: Stage,
    last_line: Instant,
}

/// The stage that is going on.
struct Stage {
    name: String,
    total: u64,
    began: Instant,
    /// Progress at which the stage began: more than 0 where a run is resumed.
    first: Option<u64>,
    done: u64,
    images: u64,
}

impl Watcher {
    /// Listens to Ctrl-C from now on: the first one lets the run save itself, a second one ends it at once.
    pub fn new() -> Result<Self> {
        let heard = || {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            tell("\nstopping; Ctrl-C again stops at once, without saving");
        };
        ctrlc::set_handler(heard).map_err(|error| Error::failure(format!("Ctrl-C cannot be listened to: {error}")))?;
        Ok(Self { bar: None, stage: Stage::new("", 0), last_line: Instant::now() })
    }

    /// Ends the last stage.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        } else if self.stage.total > 0 {
            let how = if self.should_stop() { "stopped" } else { "finished" };
            tell(format!("{} {how} after {:.0} s", self.stage.name, self.stage.began.elapsed().as_secs_f64()));
        }
        self.stage = Stage::new("", 0);
    }

    fn show(&mut self, text: impl FnOnce(&Stage) -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(self.stage.done);
            bar.set_message(text(&self.stage));
        } else if self.last_line.elapsed() >= BETWEEN_LINES {
            self.last_line = Instant::now();
            let Stage { name, done, total, .. } = &self.stage;
            tell(format!("{name} {done}/{total}, {}", text(&self.stage)));
        }
    }
}

impl Watch for Watcher {
    fn stage(&mut self, name: &str, total: u64) {
        self.finish();
        self.stage = Stage::new(name, total);
        self.last_line = Instant::now();
        if stderr().is_terminal() && total > 0 {
            let bar = ProgressBar::new(total);
            let style = ProgressStyle::with_template("{prefix:10} {bar:32} {pos}/{len}  {msg}");
            bar.set_style(style.expect("the template is right"));
            bar.set_prefix(name.to_string());
            self.bar = Some(bar);
        } else {
            tell(name);
        }
    }

    fn progress(&mut self, done: u64) {
        self.stage.advance(done);
        self.show(|stage| stage.time_left());
    }

    fn step(&mut self, done: u64, loss: f32, images: u64) {
        self.stage.images += images;
        self.stage.advance(done);
        self.show(|stage| {
            let rate = stage.images as f64 / stage.began.elapsed().as_secs_f64();
            format!("loss {loss:.3}, {rate:.0} images/s, {}", stage.time_left())
        });
    }

    fn note(&mut self, text: &str) {
        self.finish();
        tell(text);
    }

    fn should_stop(&self) -> bool {
        STOP.load(Ordering::SeqCst)
    }
}

impl Stage {
    fn new(name: &str, total: u64) -> Self {
        Self { name: name.to_string(), total, began: Instant::now(), first: None, done: 0, images: 0 }
    }

    fn advance(&mut self, done: u64) {
        // The first step of a stage begins where it was left, not at what it has done.
        self.first.get_or_insert(done);
        self.done = done;
    }

    fn time_left(&self) -> String {
        let since = self.done.saturating_sub(self.first.unwrap_or(0));
        if self.done >= self.total {
            return format!("{:.0} s in all", self.began.elapsed().as_secs_f64());
        }
        if since == 0 {
            return "starting".to_string();
        }
        let per_unit = self.began.elapsed().as_secs_f64() / since as f64;
        let left = (per_unit * self.total.saturating_sub(self.done) as f64).round() as u64;
        match (left / 3600, left / 60 % 60, left % 60) {
            (0, 0, seconds) => format!("{seconds} s left"),
            (0, minutes, seconds) => format!("{minutes} min {seconds:02} s left"),
            (hours, minutes, _) => format!("{hours} h {minutes:02} min left"),
        }
    }
}
