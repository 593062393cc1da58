//! A sweep on this machine: several processes at a time, one run each.
//!
//! A process of its own keeps a run that is killed, or that takes all memory, from taking others with it. What is known of runs is read off their
//! files alone: whatever is killed at whatever moment, the next start goes on from there.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use unbraid_data::words::counted;
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;
use unbraid_report::status::Status;

use super::folder::SweepFolder;
use super::plan::{Plan, PlannedRun};
use super::state::is_finished;
use super::work::WhereHeld;

/// The exit code of a worker that found the disk full: the run can go on once there is space.
pub const DISK_FULL: u8 = 74;
/// The exit code of a worker whose run another process works on.
pub const HELD: u8 = 75;
/// The exit code of a worker that was asked to stop.
const STOPPED: i32 = 130;
/// The exit code of a worker with a bug: the next one would come to the same.
const PANICKED: i32 = 101;

/// A run whose process is killed so often is taken to be the cause of it.
const MOST_KILLS: usize = 3;
/// How often the watcher is shown how things are.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// How often it is read what running runs are doing.
const BETWEEN_READS: Duration = Duration::from_secs(2);

/// A sweep that is worked on.
pub struct Pool<'a> {
    /// The sweep.
    pub folder: &'a SweepFolder,
    /// Its runs.
    pub plan: &'a Plan,
    /// How many runs are worked on at a time.
    pub jobs: usize,
    /// The command that works on one run, as `unbraid sweep run`, without what differs from run to run.
    pub command: &'a dyn Fn(&str, WhereHeld) -> Command,
}

/// Whoever looks on.
pub trait PoolWatch {
    /// How things are, several times a second.
    fn look(&mut self, snapshot: &Snapshot<'_>);

    /// A run ended: finished, or failed with this error.
    fn ended(&mut self, run: &PlannedRun, error: Option<&str>);

    /// Whether the user asked to stop; running runs then save themselves.
    fn should_stop(&self) -> bool;
}

/// How things are.
pub struct Snapshot<'a> {
    /// How many runs the sweep has.
    pub n_runs: usize,
    /// How many are finished, those of earlier starts too.
    pub n_finished: usize,
    /// How many failed, those of earlier starts too.
    pub n_failed: usize,
    /// Those that processes of this sweep work on, with what they are doing where that is known.
    pub running: Vec<(&'a PlannedRun, Option<&'a Status>)>,
    /// About how long the rest takes, where a run has ended yet.
    pub secs_left: Option<f64>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// How many runs are finished.
    pub n_finished: usize,
    /// Those that failed, with why.
    pub failed: Vec<(String, String)>,
    /// Whether it was stopped or cancelled before all had ended.
    pub is_stopped: bool,
}

/// A process that works on a run.
struct Worker {
    run: usize,
    began: Instant,
    /// A worker whose input ends, as it does when this process is gone, saves and stops.
    input: Option<ChildStdin>,
    status: Option<Status>,
}

impl<'a> Pool<'a> {
    /// Works on all runs that are neither finished nor failed.
    pub fn work(&self, watch: &mut dyn PoolWatch) -> Result<Summary> {
        let mut working = Working::begin(self)?;
        let result = working.until_done(watch);
        working.stop_all();
        result?;
        let failed = working.failed.iter().map(|(run, error)| (self.plan.runs[*run].name.clone(), error.clone()));
        let n_ended = working.n_finished + working.failed.len();
        Ok(Summary {
            n_finished: working.n_finished,
            failed: failed.collect(),
            is_stopped: n_ended < self.plan.runs.len(),
        })
    }
}

/// The number of a run, and how its worker ended.
type Ended = (usize, io::Result<Output>);

/// The state of a pool.
struct Working<'a> {
    pool: &'a Pool<'a>,
    waiting: VecDeque<usize>,
    /// Runs that another process works on: they are waited for when nothing else is left to do.
    held: VecDeque<usize>,
    workers: BTreeMap<usize, Worker>,
    n_finished: usize,
    failed: BTreeMap<usize, String>,
    n_kills: BTreeMap<usize, usize>,
    durations: Vec<Duration>,
    ended: (Sender<Ended>, Receiver<Ended>),
    looked: Instant,
    read: Instant,
}

impl<'a> Working<'a> {
    fn begin(pool: &'a Pool<'a>) -> Result<Self> {
        let mut working = Self {
            pool,
            waiting: VecDeque::new(),
            held: VecDeque::new(),
            workers: BTreeMap::new(),
            n_finished: 0,
            failed: BTreeMap::new(),
            n_kills: BTreeMap::new(),
            durations: Vec::new(),
            ended: channel(),
            looked: Instant::now(),
            read: Instant::now(),
        };
        let failed = pool.folder.failed()?;
        for (position, run) in pool.plan.runs.iter().enumerate() {
            if is_finished(&pool.folder.run_path(&run.name)) {
                working.n_finished += 1;
            } else if failed.binary_search(&run.name).is_ok() {
                working.failed.insert(position, pool.folder.failure(&run.name).unwrap_or_default());
            } else {
                working.waiting.push_back(position);
            }
        }
        Ok(working)
    }

    fn until_done(&mut self, watch: &mut dyn PoolWatch) -> Result<()> {
        loop {
            if watch.should_stop() || self.pool.folder.is_cancelled() {
                self.stop_all();
                return Ok(());
            }
            while self.workers.len() < self.pool.jobs && self.begin_next()? {}
            if self.workers.is_empty() {
                return Ok(());
            }
            self.look(watch);
            match self.ended.1.recv_timeout(BETWEEN_LOOKS) {
                Ok((run, output)) => self.end(run, output, watch)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Begins the next run, where one is left.
    fn begin_next(&mut self) -> Result<bool> {
        let (run, where_held) = match (self.waiting.pop_front(), self.held.is_empty()) {
            (Some(run), _) => (run, WhereHeld::Leave),
            (None, false) => (self.held.pop_front().unwrap_or_default(), WhereHeld::Wait),
            (None, true) => return Ok(false),
        };
        let mut command = (self.pool.command)(&self.pool.plan.runs[run].name, where_held);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(|error| {
                Error::failure(format!("a process for a run cannot be started: {error}"))
                    .help("wait until the machine has room, and start the sweep again")
            })?;
        let input = child.stdin.take();
        let ended = self.ended.0.clone();
        std::thread::spawn(move || wait_for(child, run, &ended));
        self.workers.insert(run, Worker { run, began: Instant::now(), input, status: None });
        Ok(true)
    }

    /// What a worker's end tells of its run.
    fn end(&mut self, run: usize, output: io::Result<Output>, watch: &mut dyn PoolWatch) -> Result<()> {
        let Some(worker) = self.workers.remove(&run) else { return Ok(()) };
        let planned = &self.pool.plan.runs[run];
        let output = output.map_err(|error| Error::failure(format!("a process of the sweep was lost: {error}")))?;
        match output.status.code() {
            Some(0) => {
                self.n_finished += 1;
                self.durations.push(worker.began.elapsed());
                watch.ended(planned, None);
            }
            Some(code) if code == i32::from(HELD) => self.held.push_back(run),
            Some(code) if code == i32::from(DISK_FULL) => return Err(disk_full(&output)),
            Some(1 | 2 | PANICKED) => self.fail(run, None, &output, watch)?,
            // Only this run was stopped, by whoever did: it goes on from there.
            code => {
                let n_kills = self.n_kills.entry(run).or_default();
                *n_kills += usize::from(code != Some(STOPPED));
                if *n_kills < MOST_KILLS {
                    self.waiting.push_front(run);
                } else {
                    let error = format!(
                        "its process was ended {} ({}): is there memory enough?{}",
                        counted(*n_kills, "time"),
                        output.status,
                        told(&output).map_or(String::new(), |told| format!(" It said: {told}"))
                    );
                    self.fail(run, Some(error), &output, watch)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps the error of a run, unless the worker has.
    fn fail(&mut self, run: usize, error: Option<String>, output: &Output, watch: &mut dyn PoolWatch) -> Result<()> {
        let planned = &self.pool.plan.runs[run];
        let kept = self.pool.folder.failure(&planned.name).filter(|_| error.is_none());
        let error = match kept {
            Some(kept) => kept,
            None => {
                let error = error.unwrap_or_else(|| last_words(output));
                self.pool.folder.write_failure(&planned.name, &error)?;
                error
            }
        };
        watch.ended(planned, Some(&error));
        self.failed.insert(run, error);
        Ok(())
    }

    /// Lets all workers save and stop, and waits for them.
    fn stop_all(&mut self) {
        self.workers.values_mut().for_each(|worker| drop(worker.input.take()));
        while !self.workers.is_empty() {
            let Ok((run, output)) = self.ended.1.recv() else { return };
            self.workers.remove(&run);
            self.n_finished += usize::from(output.is_ok_and(|output| output.status.success()));
        }
    }

    fn look(&mut self, watch: &mut dyn PoolWatch) {
        if self.looked.elapsed() < BETWEEN_LOOKS {
            return;
        }
        self.looked = Instant::now();
        if self.read.elapsed() >= BETWEEN_READS {
            self.read = Instant::now();
            for worker in self.workers.values_mut() {
                let path = self.pool.folder.run_path(&self.pool.plan.runs[worker.run].name);
                worker.status = RunFolder::open(&path).ok().and_then(|folder| folder.read_status().ok().flatten());
            }
        }
        let running = self.workers.values().map(|worker| (&self.pool.plan.runs[worker.run], worker.status.as_ref()));
        watch.look(&Snapshot {
            n_runs: self.pool.plan.runs.len(),
            n_finished: self.n_finished,
            n_failed: self.failed.len(),
            running: running.collect(),
            secs_left: self.secs_left(),
        });
    }

    /// By the mean time of runs that have ended: what is left of those that run, and all of those that wait.
    fn secs_left(&self) -> Option<f64> {
        let n_ended = self.durations.len();
        if n_ended == 0 {
            return None;
        }
        let mean = self.durations.iter().sum::<Duration>().as_secs_f64() / n_ended as f64;
        let running = self.workers.values().map(|worker| (mean - worker.began.elapsed().as_secs_f64()).max(0.0));
        let waiting = (self.waiting.len() + self.held.len()) as f64 * mean;
        Some((running.sum::<f64>() + waiting) / self.pool.jobs as f64)
    }
}

fn wait_for(child: Child, run: usize, ended: &Sender<Ended>) {
    // Where the pool is gone there is nobody to tell.
    let _ = ended.send((run, child.wait_with_output()));
}

fn disk_full(output: &Output) -> Error {
    let told = last_words(output);
    let error = Error::failure(told.lines().next().unwrap_or_default()).about_a_full_disk();
    error.help("free some space and start the sweep again: it goes on from the last checkpoints")
}

/// The error that a worker told before it ended, or that it ended without one.
fn last_words(output: &Output) -> String {
    told(output).unwrap_or_else(|| format!("its process ended without a word ({})", output.status))
}

/// The error that a worker told.
fn told(output: &Output) -> Option<String> {
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.trim();
    let error = told.rsplit_once("error: ").map_or(told, |(_, error)| error);
    (!error.is_empty()).then(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    struct Nobody;

    impl PoolWatch for Nobody {
        fn look(&mut self, _snapshot: &Snapshot<'_>) {}

        fn ended(&mut self, _run: &PlannedRun, _error: Option<&str>) {}

        fn should_stop(&self) -> bool {
            false
        }
    }

    /// A pool of one run whose workers are this script, in a folder of their own.
    fn pool(out: &Path, script: &str) -> Result<Summary> {
        let run = PlannedRun { name: "a".to_string(), changes: Vec::new(), config: String::new() };
        let plan = Plan { runs: vec![run], n_same: 0 };
        let folder = SweepFolder::begin(out, "grid", &plan, None)?;
        let command = |_: &str, where_held: WhereHeld| {
            let mut command = Command::new("sh");
            let held = if where_held == WhereHeld::Wait { "wait" } else { "leave" };
            command.args(["-c", script, "worker", held]).current_dir(out);
            command
        };
        Pool { folder: &folder, plan: &plan, jobs: 1, command: &command }.work(&mut Nobody)
    }

    fn error_of(script: &str) -> String {
        let out = tempfile::tempdir().unwrap();
        let summary = pool(out.path(), script).unwrap();
        assert_eq!((summary.n_finished, summary.failed.len(), summary.is_stopped), (0, 1, false));
        // The next start leaves it.
        assert_eq!(pool(out.path(), "exit 0").unwrap().failed, summary.failed);
        summary.failed[0].1.clone()
    }

    #[test]
    fn a_killed_worker_is_started_again_and_a_run_that_always_kills_it_failed() {
        let out = tempfile::tempdir().unwrap();
        let summary = pool(out.path(), "[ -e begun ] && exit 0; touch begun; kill -9 $$").unwrap();
        assert_eq!((summary.n_finished, summary.failed.len()), (1, 0));
        let error = error_of("echo took it all >&2; kill -9 $$");
        assert!(error.starts_with("its process was ended 3 times (signal: 9"), "{error}");
        assert!(error.ends_with("is there memory enough? It said: took it all"), "{error}");
    }

    #[test]
    fn a_bug_and_an_error_are_told_at_once() {
        assert_eq!(error_of("[ -e begun ] && exit 0; touch begun; echo at line 5 >&2; exit 101"), "at line 5");
        assert_eq!(error_of("echo 'a note\nerror: the loss is not finite' >&2; exit 1"), "the loss is not finite");
    }

    #[test]
    fn a_run_that_another_works_on_is_waited_for_at_the_end_and_a_full_disk_stops_the_sweep() {
        let out = tempfile::tempdir().unwrap();
        let summary = pool(out.path(), "[ $1 = wait ] || exit 75").unwrap();
        assert_eq!((summary.n_finished, summary.failed.len()), (1, 0));
        let out = tempfile::tempdir().unwrap();
        let error = pool(out.path(), "echo 'error: no space left' >&2; exit 74").unwrap_err();
        assert!(error.is_about_a_full_disk() && error.to_string().starts_with("no space left\n"), "{error}");
        // Nothing is remembered of it: the same command goes on.
        assert_eq!(pool(out.path(), "exit 0").unwrap().n_finished, 1);
    }
}
