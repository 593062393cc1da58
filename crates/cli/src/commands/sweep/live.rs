//! How a sweep goes on: a table that stays in its place on a terminal, lines elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use unbraid_data::words::{on_one_line, shortened};
use unbraid_experiment::sweep::folder::SweepFolder;
use unbraid_experiment::sweep::plan::{Plan, PlannedRun};
use unbraid_experiment::sweep::pool::{PoolWatch, Snapshot};
use unbraid_experiment::sweep::state::{BestBy, is_finished};
use unbraid_report::tables::score_text;

use crate::output::tell;
use crate::progress::{draws_bars, duration_text};
use crate::watching::is_stopping;

/// Between lines, where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Letters of the settings of the best run: reproductions have runs that differ in dozens.
const MOST_LETTERS: usize = 200;
/// Runs that are shown by name while they go on.
const MOST_SHOWN: usize = 16;

/// Whoever looks on.
pub struct Live<'a> {
    folder: &'a SweepFolder,
    best_by: Option<BestBy>,
    best: Option<(String, f64)>,
    table: Option<Table>,
    told: Instant,
}

/// Lines that stay in their place: one for the sweep, and one for each run that goes on.
struct Table {
    all: MultiProgress,
    sweep: ProgressBar,
    running: Vec<ProgressBar>,
}

impl<'a> Live<'a> {
    /// Shows nothing yet; runs that are finished already count for the best so far.
    pub fn new(folder: &'a SweepFolder, plan: &Plan, best_by: Option<BestBy>) -> Self {
        let finished: Vec<&PlannedRun> =
            plan.runs.iter().filter(|run| is_finished(&folder.run_path(&run.name))).collect();
        let best =
            best_by.as_ref().and_then(|by| by.best(folder, &finished)).map(|(run, value)| (run.changes_text(), value));
        let table = draws_bars(stderr().is_terminal(), std::env::var_os("TERM").as_deref())
            .then(|| Table::new(plan.runs.len()));
        Self { folder, best_by, best, table, told: Instant::now() }
    }

    /// Ends the table; the best run in words, where there is one.
    pub fn finish(self) -> Option<String> {
        if let Some(table) = &self.table {
            table.running.iter().for_each(ProgressBar::finish_and_clear);
            table.sweep.finish_and_clear();
        }
        self.best_text()
    }

    /// `best mig so far 0.4120: framework.beta = 4.0, seed = 1`
    fn best_text(&self) -> Option<String> {
        let (changes, value) = self.best.as_ref()?;
        let changes = shortened(changes, MOST_LETTERS);
        Some(format!("best {} {}: {changes}", self.best_by.as_ref()?.score, score_text(*value)))
    }

    fn line(&self, snapshot: &Snapshot) -> String {
        let mut line =
            format!("{} of {} finished, {} running", snapshot.n_finished, snapshot.n_runs, snapshot.running.len());
        if snapshot.n_failed > 0 {
            line += &format!(", {} failed", snapshot.n_failed);
        }
        if let Some(secs) = snapshot.secs_left {
            line += &format!(", about {} left", duration_text(secs.round() as u64));
        }
        if let Some(best) = self.best_text() {
            line += &format!("; {best}");
        }
        on_one_line(&line)
    }
}

impl PoolWatch for Live<'_> {
    fn look(&mut self, snapshot: &Snapshot<'_>) {
        let line = self.line(snapshot);
        match &mut self.table {
            Some(table) => table.show(snapshot, line),
            None if self.told.elapsed() >= BETWEEN_LINES => {
                self.told = Instant::now();
                tell(line);
            }
            None => {}
        }
    }

    fn ended(&mut self, run: &PlannedRun, error: Option<&str>) {
        match (error, &self.best_by) {
            (Some(error), _) => {
                let line = on_one_line(&format!(
                    "failed: {} ({}): {}",
                    run.name,
                    run.changes_text(),
                    error.lines().next().unwrap_or_default()
                ));
                match &self.table {
                    // Where a line cannot be printed, the work is worth more than the line.
                    Some(table) => drop(table.all.println(line)),
                    None => tell(line),
                }
            }
            (None, Some(by)) => {
                if let Some(value) = by.value(self.folder, &run.name)
                    && self.best.as_ref().is_none_or(|(_, best)| by.is_better(value, *best))
                {
                    self.best = Some((run.changes_text(), value));
                }
            }
            (None, None) => {}
        }
    }

    fn should_stop(&self) -> bool {
        is_stopping()
    }
}

impl Table {
    fn new(n_runs: usize) -> Self {
        let all = MultiProgress::new();
        let sweep = all.add(ProgressBar::new(n_runs as u64));
        let style =
            ProgressStyle::with_template("sweep      {bar:32} {pos}/{len}  {msg}").expect("the template is right");
        sweep.set_style(style);
        Self { all, sweep, running: Vec::new() }
    }

    fn show(&mut self, snapshot: &Snapshot, line: String) {
        self.sweep.set_position((snapshot.n_finished + snapshot.n_failed) as u64);
        self.sweep.set_message(line);
        let n_shown = snapshot.running.len().min(MOST_SHOWN);
        while self.running.len() < n_shown {
            let bar = self.all.add(ProgressBar::new(1));
            bar.set_style(
                ProgressStyle::with_template("{prefix:10} {bar:32} {pos}/{len}  {wide_msg}")
                    .expect("the template is right"),
            );
            self.running.push(bar);
        }
        for bar in self.running.drain(n_shown..) {
            bar.finish_and_clear();
        }
        for (bar, (run, status)) in self.running.iter().zip(&snapshot.running) {
            let (stage, step, steps) =
                status.map_or(("starting", 0, 1), |status| (status.stage.as_str(), status.step, status.steps));
            bar.set_prefix(stage.to_string());
            bar.set_length(steps);
            bar.set_position(step);
            bar.set_message(on_one_line(&run.changes_text()));
        }
    }
}
