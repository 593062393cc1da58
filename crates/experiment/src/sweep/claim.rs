//! A claim on a run: of all processes on all machines that share a disk, one works on it.
//!
//! Locks of the system are not kept by every network file system. What all of them keep is that of several processes that make the same name by a
//! link, one succeeds. Claims on a run are numbered files, each made by a link; the one with the highest number holds, until it
//! is released or whoever made it is gone. Who takes over makes the next number, so that of several who try one succeeds, and numbers
//! never come twice while a run is unfinished.
//!
//! Whether a process on this machine is gone the system tells. One on another machine counts up a number in a file every five seconds: where it does not change for a minute
//! by the clock of the one who waits, it is gone. No clock of another machine is read. A process that was only held up, a machine that slept,
//! sees the higher claim within a second of going on, and has to end without saving.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use unbraid_data::Result;
use unbraid_data::file_errors::{cannot_read, cannot_write};
use unbraid_data::whole_file::create_folder;

use super::holder::Holder;

/// How often it is looked whether the claim still holds.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// How many looks there are from one sign of life to the next.
const LOOKS_PER_BEAT: u64 = 5;
/// How often a claim without content is looked at.
const BETWEEN_READS: Duration = Duration::from_millis(50);
/// A process on another machine that gives no sign of life for so long is gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// The claims on runs of one folder.
#[derive(Debug, Clone)]
pub struct Claims {
    folder: PathBuf,
    patience: Duration,
}

/// What came of trying to claim a run.
pub enum Taking {
    /// It is ours.
    Held(Claim),
    /// Another process works on it.
    By(Holder),
}

/// A run that is ours.
pub struct Claim {
    folder: PathBuf,
    number: u64,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What is remembered of a process on another machine, to see whether it gives signs of life.
#[derive(Debug, Default)]
pub struct Observed {
    last: Option<(u64, String, Instant)>,
}

impl Claims {
    /// Claims are kept in this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, patience: PATIENCE }
    }

    /// Who holds a run; nobody where it was never claimed, was released, or where the process is known to be gone.
    pub fn holder(&self, run: &str) -> Result<Option<Holder>> {
        let folder = self.folder.join(run);
        let Some(number) = highest(&folder)? else { return Ok(None) };
        if is_released(&folder, number) {
            return Ok(None);
        }
        let Some(holder) = read_holder(&folder, number) else { return Ok(None) };
        Ok((holder.is_gone() != Some(true)).then_some(holder))
    }

    /// Whether the last process that worked on a run was killed at it, as far as can be told from here.
    pub fn is_left(&self, run: &str) -> Result<bool> {
        let folder = self.folder.join(run);
        let Some(number) = highest(&folder)? else { return Ok(false) };
        Ok(!is_released(&folder, number) && self.holder(run)?.is_none())
    }

    /// Claims a run, unless another process holds it. `observed` is what the same caller has seen of that process in earlier tries.
    /// `on_lost` is called from another thread where another process took the run over later on.
    pub fn take(&self, run: &str, observed: &mut Observed, on_lost: fn()) -> Result<Taking> {
        let folder = self.folder.join(run);
        loop {
            create_folder(&folder)?;
            let number = highest(&folder)?.unwrap_or(0);
            if number > 0 && !is_released(&folder, number) {
                match read_holder(&folder, number) {
                    Some(holder) if !self.is_gone(&holder, &folder, number, observed) => return Ok(Taking::By(holder)),
                    // On a disk without links there is a moment in which a claim is made and has no content yet.
                    None if !observed.stands_still(number, String::new(), self.patience) => {
                        std::thread::sleep(BETWEEN_READS);
                        continue;
                    }
                    _ => {}
                }
            }
            if make(&folder, number + 1)? {
                return Ok(Taking::Held(Claim::begin(folder, number + 1, on_lost)));
            }
        }
    }

    fn is_gone(&self, holder: &Holder, folder: &Path, number: u64, observed: &mut Observed) -> bool {
        holder.is_gone().unwrap_or_else(|| {
            let beat = fs::read_to_string(beat_path(folder, number)).unwrap_or_default();
            observed.stands_still(number, beat, self.patience)
        })
    }
}

impl Observed {
    /// Whether what is seen of a claim has been the same for longer than patience lasts.
    fn stands_still(&mut self, number: u64, beat: String, patience: Duration) -> bool {
        match &self.last {
            Some((last_number, last_beat, since)) if (*last_number, last_beat) == (number, &beat) => {
                since.elapsed() >= patience
            }
            _ => {
                self.last = Some((number, beat, Instant::now()));
                false
            }
        }
    }
}

impl Claim {
    fn begin(folder: PathBuf, number: u64, on_lost: fn()) -> Self {
        let (end, ended) = channel();
        let in_thread = folder.clone();
        let thread = std::thread::spawn(move || {
            let mut n_looks = 0;
            while ended.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                if is_lost(&in_thread, number) {
                    on_lost();
                    break;
                }
                if n_looks % LOOKS_PER_BEAT == 0 {
                    // Opened and closed each time, which is when network file systems send what was written. A beat that cannot be
                    // written now is written the next time.
                    let _ = fs::write(beat_path(&in_thread, number), n_looks.to_string());
                }
                n_looks += 1;
            }
        });
        Self { folder, number, end: Some(end), thread: Some(thread) }
    }

    /// Leaves an unfinished run to others.
    pub fn release(mut self) -> Result<()> {
        self.stop();
        let path = released_path(&self.folder, self.number);
        fs::write(&path, "").map_err(|error| cannot_write(&path, &error))
    }

    /// Ends all claims on a run that is finished.
    pub fn finish(mut self) {
        self.stop();
        // What stays behind would be taken over by whoever looks next, who sees that the run is finished.
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn stop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It ends as soon as nobody can tell it to.
            let _ = thread.join();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether another process took the run over: it made the next claim, or finished the run and removed all of them.
fn is_lost(folder: &Path, number: u64) -> bool {
    claim_path(folder, number + 1).exists() || matches!(claim_path(folder, number).try_exists(), Ok(false))
}

fn claim_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(number.to_string())
}

fn beat_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.beat"))
}

fn released_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.released"))
}

fn is_released(folder: &Path, number: u64) -> bool {
    released_path(folder, number).exists()
}

fn read_holder(folder: &Path, number: u64) -> Option<Holder> {
    serde_json::from_slice(&fs::read(claim_path(folder, number)).ok()?).ok()
}

/// The highest claim on a run, of those that are numbered.
fn highest(folder: &Path) -> Result<Option<u64>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entries => entries.map_err(|error| cannot_read(folder, &error))?,
    };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(numbers.max())
}

/// Makes the claim with this number; not where another process was first.
fn make(folder: &Path, number: u64) -> Result<bool> {
    let (path, holder) = (claim_path(folder, number), Holder::this_process());
    let content = serde_json::to_vec(&holder).expect("a holder is text and numbers");
    let temporary = folder.join(temporary_name(number, &holder));
    let written = File::create_new(&temporary).and_then(|mut file| file.write_all(&content));
    let made = written.and_then(|()| match fs::hard_link(&temporary, &path) {
        Ok(()) => Ok(true),
        // An answer of the file server may get lost: the link is there, and is ours.
        Err(_) if n_links(&temporary) > 1 => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error),
        // A disk that knows no links.
        Err(_) => match File::create_new(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            created => created.and_then(|mut file| file.write_all(&content)).map(|()| true),
        },
    });
    let _ = fs::remove_file(&temporary);
    match made {
        // The run was finished by another just now, and its claims removed: to be looked at again.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        made => made.map_err(|error| cannot_write(&path, &error)),
    }
}

/// A name that no other process on any machine has, nor this one for another claim.
fn temporary_name(number: u64, holder: &Holder) -> String {
    static N_MADE: AtomicU64 = AtomicU64::new(0);
    format!(".{number}-{}-{}", holder.name(), N_MADE.fetch_add(1, Ordering::Relaxed))
}

#[cfg(unix)]
fn n_links(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map_or(0, |found| found.nlink())
}

#[cfg(not(unix))]
fn n_links(_path: &Path) -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn claims(folder: &Path) -> Claims {
        Claims { folder: folder.to_path_buf(), patience: Duration::from_millis(300) }
    }

    fn take(claims: &Claims) -> Taking {
        claims.take("run", &mut Observed::default(), || {}).unwrap()
    }

    fn held(taking: Taking) -> Claim {
        match taking {
            Taking::Held(claim) => claim,
            Taking::By(holder) => panic!("held by {holder:?}"),
        }
    }

    /// A claim as another process made it.
    fn write_claim(folder: &Path, number: u64, holder: &Holder) {
        fs::create_dir_all(folder.join("run")).unwrap();
        fs::write(claim_path(&folder.join("run"), number), serde_json::to_vec(holder).unwrap()).unwrap();
    }

    #[test]
    fn a_run_is_held_until_it_is_released_or_finished() {
        let folder = tempfile::tempdir().unwrap();
        let claims = claims(folder.path());
        assert_eq!(claims.holder("run").unwrap(), None);
        let claim = held(take(&claims));
        assert!(matches!(take(&claims), Taking::By(holder) if holder == Holder::this_process()));
        assert_eq!(claims.holder("run").unwrap(), Some(Holder::this_process()));
        claim.release().unwrap();
        assert_eq!(claims.holder("run").unwrap(), None);
        let again = held(take(&claims));
        assert_eq!(again.number, 2);
        again.finish();
        assert!(!folder.path().join("run").exists());
    }

    #[test]
    fn who_was_held_up_is_told_that_another_took_the_run_over_or_finished_it() {
        static N_LOST: AtomicUsize = AtomicUsize::new(0);
        let folder = tempfile::tempdir().unwrap();
        let on_lost = || {
            N_LOST.fetch_add(1, Ordering::SeqCst);
        };
        let begun = |run: &str| held(claims(folder.path()).take(run, &mut Observed::default(), on_lost).unwrap());
        let (taken, finished, kept) = (begun("taken"), begun("finished"), begun("kept"));
        fs::write(claim_path(&taken.folder, 2), "").unwrap();
        fs::remove_dir_all(&finished.folder).unwrap();
        let began = Instant::now();
        while N_LOST.load(Ordering::SeqCst) < 2 && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(N_LOST.load(Ordering::SeqCst), 2);
        drop(kept);
        assert_eq!(N_LOST.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn of_many_that_claim_a_run_one_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let claims = claims(folder.path());
        let n_held = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    if let Taking::Held(claim) = take(&claims) {
                        n_held.fetch_add(1, Ordering::SeqCst);
                        std::mem::forget(claim);
                    }
                });
            }
        });
        assert_eq!(n_held.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_process_of_this_machine_that_is_gone_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let holder = Holder::of_process(child.id());
        write_claim(folder.path(), 1, &holder);
        let claims = claims(folder.path());
        assert!(matches!(take(&claims), Taking::By(_)));
        assert!(!claims.is_left("run").unwrap() && !claims.is_left("other").unwrap());
        child.kill().unwrap();
        // Nobody has waited for it yet.
        while holder.is_gone() == Some(false) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(claims.is_left("run").unwrap());
        let next = held(take(&claims));
        assert_eq!(next.number, 2);
        next.release().unwrap();
        assert!(!claims.is_left("run").unwrap());
        child.wait().unwrap();
    }

    #[test]
    fn a_process_elsewhere_is_gone_when_it_gives_no_sign_of_life() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = Holder::of_another_machine();
        write_claim(folder.path(), 3, &elsewhere);
        let claims = claims(folder.path());
        let mut observed = Observed::default();
        let mut take = || claims.take("run", &mut observed, || {}).unwrap();
        let started = Instant::now();
        for beat in 0..8 {
            fs::write(beat_path(&folder.path().join("run"), 3), beat.to_string()).unwrap();
            assert!(matches!(take(), Taking::By(_)));
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(started.elapsed() > claims.patience);
        let last_beat = Instant::now();
        let claim = loop {
            match take() {
                Taking::Held(claim) => break claim,
                Taking::By(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert!(last_beat.elapsed() > claims.patience / 2 && claim.number == 4);
    }

    #[test]
    fn who_lost_a_run_is_told() {
        static N_LOST: AtomicUsize = AtomicUsize::new(0);
        let folder = tempfile::tempdir().unwrap();
        let claims = claims(folder.path());
        let taking = claims.take("run", &mut Observed::default(), || {
            N_LOST.fetch_add(1, Ordering::SeqCst);
        });
        let claim = held(taking.unwrap());
        std::thread::sleep(BETWEEN_LOOKS * 2);
        assert_eq!(N_LOST.load(Ordering::SeqCst), 0);
        assert!(beat_path(&claim.folder, 1).exists());
        write_claim(folder.path(), 2, &Holder::this_process());
        std::thread::sleep(BETWEEN_LOOKS * 2);
        assert_eq!(N_LOST.load(Ordering::SeqCst), 1);
    }
}
