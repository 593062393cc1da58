//! Feeds damaged inputs to readers, and looks for panics, for inputs that take too long, and for memory that no small file
//! needs. Input `n` of a target follows from the seed, the target's name and `n` alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use unbraid_data::Seed;

use crate::mutations::{Whole, damaged};

/// Inputs between two looks at the memory.
const BATCH: u64 = 2048;
/// An input that takes longer is told of.
const MOST_TIME: Duration = Duration::from_millis(500);
/// An input that takes longer will not end.
const ENDLESS: Duration = Duration::from_secs(20);

/// A reader, and what it is fed with.
pub struct Target {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Whole inputs.
    pub wholes: Vec<Whole>,
    /// Words that mean something in it.
    pub words: &'static [&'static str],
    /// The megabytes that all threads may take together; more is told of.
    pub most_megabytes: u64,
    /// Reads an input. It panics where a reader gives what it must not.
    pub check: fn(&[u8]) -> Outcome,
}

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was read.
    Read,
    /// It was refused with an error.
    Refused,
}

impl Outcome {
    /// Whether it was read; the error's text is that of one message, not of a page.
    pub fn of<T>(read: &unbraid_data::Result<T>) -> Self {
        let Err(error) = read else { return Self::Read };
        let message = error.to_string();
        let n_letters = message.chars().count();
        assert!((1..1500).contains(&n_letters), "an error of {n_letters} letters: {message}");
        Self::Refused
    }
}

/// What was asked for on the command line.
pub struct Options {
    /// Names of targets; all where there are none.
    pub targets: Vec<String>,
    /// Inputs for each target.
    pub n_inputs: u64,
    /// What the inputs follow from.
    pub seed: Seed,
}

impl Options {
    /// Reads `[TARGET...] [--inputs N] [--seed S]`.
    pub fn from_command_line() -> Result<Self, String> {
        let mut options = Self { targets: Vec::new(), n_inputs: 100_000, seed: Seed(0) };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || {
                let next = words.next().ok_or(format!("{word} needs a number"))?;
                next.replace('_', "").parse::<u64>().map_err(|_| format!("{word} {next}: wanted a whole number"))
            };
            match word.as_str() {
                "--inputs" => options.n_inputs = number()?,
                "--seed" => options.seed = Seed(number()?),
                name => options.targets.push(name.to_string()),
            }
        }
        Ok(options)
    }
}

thread_local! {
    /// What the last panic of this thread said.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Feeds the targets that were asked for; whether nothing was found.
pub fn run(mut targets: Vec<Target>, options: &Options) -> Result<bool, String> {
    if let Some(name) = options.targets.iter().find(|name| targets.iter().all(|target| target.name != **name)) {
        let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
        return Err(format!("no target is called \"{name}\"; there are {}", names.join(", ")));
    }
    targets.retain(|target| options.targets.is_empty() || options.targets.iter().any(|name| name == target.name));
    std::panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string())));
    let mut is_clean = true;
    for target in &mut targets {
        target.wholes.sort_by_key(|whole| whole.bytes.len());
        // Every thread has taken its first memory before any is counted.
        rayon::broadcast(|_| target.wholes.iter().for_each(|whole| read_whole(target, whole)));
        is_clean &= Campaign::new(target, options.seed).run(options.n_inputs);
    }
    Ok(is_clean)
}

fn read_whole(target: &Target, whole: &Whole) {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(&whole.bytes)));
    if !matches!(outcome, Ok(Outcome::Read)) {
        println!("{}: a whole input of {} bytes is not read {}", target.name, whole.bytes.len(), PANIC.take());
        std::process::exit(2);
    }
}

/// What was found of one target.
struct Campaign<'a> {
    target: &'a Target,
    seed: Seed,
    /// Each panic by its text: how often it came, and the first input.
    panics: Mutex<BTreeMap<String, (u64, u64)>>,
    slow: Mutex<Vec<(Duration, u64)>>,
    /// Inputs that are being read, and since when.
    under_way: Mutex<BTreeMap<u64, Instant>>,
}

impl<'a> Campaign<'a> {
    fn new(target: &'a Target, seed: Seed) -> Self {
        Self { target, seed, panics: Mutex::default(), slow: Mutex::default(), under_way: Mutex::default() }
    }

    fn run(&self, n_inputs: u64) -> bool {
        let start = Instant::now();
        let is_over = Mutex::new(false);
        let (n_read, most_memory) = std::thread::scope(|scope| {
            scope.spawn(|| self.watch(&is_over));
            let found = self.all_batches(n_inputs);
            *locked(&is_over) = true;
            found
        });
        let seconds = start.elapsed().as_secs_f64();
        let (panics, slow) = (locked(&self.panics), locked(&self.slow));
        let n_panics: u64 = panics.values().map(|(count, _)| count).sum();
        println!(
            "{:12} {n_inputs} inputs, {:.0} a second, {n_read} of them read; {n_panics} panics, {} slow, {} MB at most",
            self.target.name,
            n_inputs as f64 / seconds,
            slow.len(),
            most_memory >> 20
        );
        for (text, (count, first)) in panics.iter() {
            println!("  {count} times: {}\n    first: {}", text.replace('\n', " "), self.keep(*first));
        }
        if let Some((time, first)) = slow.iter().max() {
            println!("  slowest: {time:.1?}: {}", self.keep(*first));
        }
        panics.is_empty() && slow.is_empty() && most_memory >> 20 < self.target.most_megabytes
    }

    /// How many inputs were read, and the most memory that a batch took.
    fn all_batches(&self, n_inputs: u64) -> (u64, u64) {
        let (mut n_read, mut most_memory) = (0, 0);
        for first in (0..n_inputs).step_by(BATCH as usize) {
            let numbers = first..n_inputs.min(first + BATCH);
            let before = Memory::begin();
            n_read += numbers.clone().into_par_iter().filter(|number| self.feed(*number)).count() as u64;
            let growth = before.growth();
            if growth >> 20 >= self.target.most_megabytes && growth > most_memory {
                println!("  {} MB at inputs {numbers:?}", growth >> 20);
                self.name_the_largest(numbers);
            }
            most_memory = most_memory.max(growth);
        }
        (n_read, most_memory)
    }

    /// Feeds one input; whether it was read.
    fn feed(&self, number: u64) -> bool {
        let bytes = self.input(number);
        let start = Instant::now();
        locked(&self.under_way).insert(number, start);
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.target.check)(&bytes)));
        locked(&self.under_way).remove(&number);
        if start.elapsed() > MOST_TIME {
            locked(&self.slow).push((start.elapsed(), number));
        }
        match outcome {
            Ok(outcome) => outcome == Outcome::Read,
            Err(_) => {
                let mut panics = locked(&self.panics);
                let (count, first) = panics.entry(PANIC.take()).or_insert((0, number));
                (*count, *first) = (*count + 1, (*first).min(number));
                false
            }
        }
    }

    fn input(&self, number: u64) -> Vec<u8> {
        let mut rng = self.seed.stream_at(self.target.name, number);
        damaged(&self.target.wholes, self.target.words, &mut rng)
    }

    /// Feeds the inputs of a batch one by one, and tells which takes most memory.
    fn name_the_largest(&self, numbers: std::ops::Range<u64>) {
        let growths = numbers.map(|number| {
            let before = Memory::begin();
            self.feed(number);
            (before.growth(), number)
        });
        if let Some((growth, number)) = growths.max() {
            println!("  {} MB by {}", growth >> 20, self.keep(number));
        }
    }

    /// Writes an input to a file: its path.
    fn keep(&self, number: u64) -> String {
        let path = std::env::temp_dir().join(format!("fuzz-{}-{}-{number}", self.target.name, self.seed.0));
        match std::fs::write(&path, self.input(number)) {
            Ok(()) => path.display().to_string(),
            Err(error) => format!("input {number}, which could not be written: {error}"),
        }
    }

    /// Ends the process where an input does not end.
    fn watch(&self, is_over: &Mutex<bool>) {
        while !*locked(is_over) {
            std::thread::sleep(Duration::from_millis(100));
            let endless = locked(&self.under_way).iter().find(|(_, start)| start.elapsed() > ENDLESS).map(|(n, _)| *n);
            if let Some(number) = endless {
                println!("{}: does not end: {}", self.target.name, self.keep(number));
                std::process::exit(1);
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The memory of the process, of which Linux keeps the peak. Elsewhere none is seen to grow.
struct Memory {
    resident: u64,
    peak_of_addresses: u64,
}

impl Memory {
    fn begin() -> Self {
        // A 5 puts the peak back to what is resident now.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        Self { resident: status("VmRSS:"), peak_of_addresses: status("VmPeak:") }
    }

    /// Bytes that were resident beyond those at the beginning, or addresses taken beyond any taken before.
    fn growth(&self) -> u64 {
        let resident = status("VmHWM:").saturating_sub(self.resident);
        resident.max(status("VmPeak:").saturating_sub(self.peak_of_addresses))
    }
}

fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// A file of this thread, in memory where the system has a folder for that, with these bytes.
pub fn scratch_file(bytes: &[u8], ending: &str) -> PathBuf {
    thread_local! {
        static FOLDER: PathBuf = {
            let shared = PathBuf::from("/dev/shm");
            let folder = if shared.is_dir() { shared } else { std::env::temp_dir() };
            let thread = rayon::current_thread_index().unwrap_or(usize::MAX);
            folder.join(format!("unbraid-fuzz-{}-{thread}", std::process::id()))
        };
    }
    let path = FOLDER.with(|folder| folder.with_extension(ending));
    std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

/// Removes what [`scratch_file`] has written.
pub fn remove_scratch_files() {
    for folder in [PathBuf::from("/dev/shm"), std::env::temp_dir()] {
        let prefix = format!("unbraid-fuzz-{}-", std::process::id());
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
