//! How far work has come, on standard error: a bar on a terminal, elsewhere a line every ten seconds.

use std::ffi::OsStr;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::tell;

/// Time between lines where there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Time between two looks of a bar, which shows that the work goes on.
const BETWEEN_TICKS: Duration = Duration::from_millis(200);

/// Shows one stage of the work after another.
pub struct Progress {
    stage: Arc<Mutex<Stage>>,
    shown: Shown,
    draws_bars: bool,
    between_lines: Duration,
    tell: fn(String),
}

/// How the stage that goes on is shown.
enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines(Lines),
}

/// A thread that tells the state of a stage again and again, however long one piece of the work takes.
struct Lines {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Shows nothing yet.
    pub fn new() -> Self {
        let draws_bars = draws_bars(stderr().is_terminal(), std::env::var_os("TERM").as_deref());
        Self {
            stage: Arc::new(Mutex::new(Stage::new("", 0))),
            shown: Shown::Nothing,
            draws_bars,
            between_lines: BETWEEN_LINES,
            tell,
        }
    }

    /// A stage begins, with so much to do (0 where it is not counted); the one before it ends.
    pub fn stage(&mut self, name: &str, total: u64) {
        self.finish();
        *self.now() = Stage::new(name, total);
        self.shown = match self.draws_bars.then(|| bar(name, total)).filter(|bar| !bar.is_hidden()) {
            Some(bar) => Shown::Bar(bar),
            None => {
                let (end, ended) = channel();
                let (stage, between, tell) = (self.stage.clone(), self.between_lines, self.tell);
                Shown::Lines(Lines {
                    end,
                    thread: std::thread::spawn(move || tell_lines(&stage, &ended, between, tell)),
                })
            }
        };
    }

    /// So much of the stage is done.
    pub fn progress(&mut self, done: u64) {
        self.change(|stage| stage.advance(done));
    }

    /// The next piece of the stage begins, which has a name.
    pub fn next_item(&mut self, name: &str) {
        self.change(|stage| {
            stage.advance(stage.done + 1);
            stage.item = name.to_string();
        });
    }

    /// A training step was taken: how many are done, the loss, and how many images the step learned from.
    pub fn step(&mut self, done: u64, loss: f32, images: u64) {
        self.change(|stage| {
            stage.advance(done);
            stage.images += images;
            stage.loss = Some(loss);
        });
    }

    /// Whether a bar shows the stage that goes on.
    pub fn has_bar(&self) -> bool {
        matches!(self.shown, Shown::Bar(_))
    }

    /// The name of the stage that goes on and how long it has, where one does.
    pub fn going_on(&self) -> Option<(String, Duration)> {
        let stage = self.now();
        (!stage.name.is_empty()).then(|| (stage.name.clone(), stage.began.elapsed()))
    }

    /// Ends the stage that goes on; its bar stays.
    pub fn finish(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish();
        }
        self.end();
    }

    /// Ends the stage that goes on, and leaves nothing of its bar.
    pub fn clear(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
        self.end();
    }

    fn end(&mut self) {
        if let Shown::Lines(Lines { end, thread }) = std::mem::replace(&mut self.shown, Shown::Nothing) {
            drop(end);
            // The thread ends as soon as it sees that nobody can tell it to.
            let _ = thread.join();
        }
        *self.now() = Stage::new("", 0);
    }

    fn change(&mut self, change: impl FnOnce(&mut Stage)) {
        let mut stage = self.now();
        change(&mut stage);
        if let Shown::Bar(bar) = &self.shown {
            bar.set_position(stage.done);
            bar.set_message(stage.message());
        }
    }

    fn now(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Progress {
    /// An error may have ended the work: the error is told, and the bar would stand in its way.
    fn drop(&mut self) {
        self.clear();
    }
}

/// Whether bars can be drawn: on a terminal that can move its cursor.
pub fn draws_bars(is_terminal: bool, terminal: Option<&OsStr>) -> bool {
    is_terminal && terminal != Some(OsStr::new("dumb"))
}

fn bar(name: &str, total: u64) -> ProgressBar {
    let (bar, template) = match total {
        0 => (ProgressBar::new_spinner(), "{spinner} {prefix:10} {msg}"),
        _ => (ProgressBar::new(total), "{spinner} {prefix:10} {bar:32} {pos}/{len}  {msg}"),
    };
    bar.set_style(ProgressStyle::with_template(template).expect("the template is right"));
    bar.set_prefix(name.to_string());
    bar.enable_steady_tick(BETWEEN_TICKS);
    bar
}

fn tell_lines(stage: &Mutex<Stage>, ended: &Receiver<()>, between: Duration, tell: fn(String)) {
    while ended.recv_timeout(between) == Err(RecvTimeoutError::Timeout) {
        let line = stage.lock().unwrap_or_else(PoisonError::into_inner).line();
        tell(line);
    }
}

/// The stage that goes on.
struct Stage {
    name: String,
    total: u64,
    began: Instant,
    /// Progress at which the stage began: more than 0 where a run is resumed.
    first: Option<u64>,
    done: u64,
    /// What is worked on, where it has a name.
    item: String,
    images: u64,
    loss: Option<f32>,
}

impl Stage {
    fn new(name: &str, total: u64) -> Self {
        let (name, item) = (name.to_string(), String::new());
        Self { name, total, began: Instant::now(), first: None, done: 0, item, images: 0, loss: None }
    }

    fn advance(&mut self, done: u64) {
        // The first step of a stage begins where it was left, not at what it has done.
        self.first.get_or_insert(done);
        self.done = done;
    }

    /// `training 200/1000, loss 12.300, 830 images/s, 12 s left`; `measuring 3/33, dci, 12 s so far`.
    fn line(&self) -> String {
        let so_far = format!("{} so far", duration_text(self.began.elapsed().as_secs()));
        match (self.total, self.item.is_empty()) {
            (0, _) => format!("{}, {so_far}", self.name),
            (total, true) => format!("{} {}/{total}, {}", self.name, self.done, self.message()),
            (total, false) => format!("{} {}/{total}, {}, {so_far}", self.name, self.done, self.item),
        }
    }

    /// What stands beside the numbers.
    fn message(&self) -> String {
        match self.loss {
            _ if !self.item.is_empty() => self.item.clone(),
            Some(loss) => {
                let rate = self.images as f64 / self.began.elapsed().as_secs_f64();
                format!("loss {loss:.3}, {rate:.0} images/s, {}", self.time_left())
            }
            None => self.time_left(),
        }
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
        format!("{} left", duration_text(left))
    }
}

/// `12 s`, `3 min 05 s`, `2 h 07 min`.
pub fn duration_text(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

    fn lines_of(work: impl FnOnce(&mut Progress)) -> Vec<String> {
        let mut progress = Progress::new();
        progress.draws_bars = false;
        progress.between_lines = Duration::from_millis(20);
        progress.tell = |line| LINES.lock().unwrap().push(line);
        work(&mut progress);
        std::thread::sleep(Duration::from_millis(200));
        drop(progress);
        let lines = std::mem::take(&mut *LINES.lock().unwrap());
        std::thread::sleep(Duration::from_millis(60));
        assert!(LINES.lock().unwrap().is_empty(), "an ended stage goes on telling");
        lines
    }

    #[test]
    fn lines_come_while_one_piece_of_the_work_goes_on() {
        let lines = lines_of(|progress| {
            progress.stage("measuring", 33);
            ["mig", "cbd", "dci"].iter().for_each(|name| progress.next_item(name));
        });
        assert!(lines.len() >= 2, "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("measuring 3/33, dci, ")), "{lines:?}");

        let lines = lines_of(|progress| {
            progress.stage("training", 1000);
            progress.progress(0);
            progress.step(200, 12.3, 64);
        });
        let is_whole =
            |line: &String| line.starts_with("training 200/1000, loss 12.300, ") && line.ends_with(" s left");
        assert!(lines.iter().any(is_whole), "{lines:?}");

        let lines = lines_of(|progress| progress.stage("drawing", 0));
        assert!(lines.iter().any(|line| line.starts_with("drawing, ")), "{lines:?}");
    }

    #[test]
    fn bars_need_a_terminal_that_can_move_its_cursor() {
        assert!(draws_bars(true, Some(OsStr::new("xterm"))));
        assert!(!draws_bars(true, Some(OsStr::new("dumb"))));
        assert!(!draws_bars(false, Some(OsStr::new("xterm"))));
    }

    #[test]
    fn durations_are_short() {
        assert_eq!([12, 185, 7625].map(duration_text), ["12 s", "3 min 05 s", "2 h 07 min"]);
    }
}
