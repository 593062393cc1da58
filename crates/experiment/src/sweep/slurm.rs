//! A sweep on Slurm: an array of tasks, each of which works on its share of the runs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use unbraid_data::whole_file::{create_folder, read_text, write_whole};
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};

use super::folder::SweepFolder;

/// A run has so long to save itself before its time is up.
const SECS_TO_SAVE: u64 = 60;
/// After so many of these seconds its task is queued again, whatever it is doing.
const LAST_MOMENT: u64 = 40;

/// The section `[slurm]` of a sweep file. What is left out is left to the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlurmSettings {
    /// The partition.
    pub partition: String,
    /// The time limit of a task, as Slurm writes it: `04:00:00`. A run that takes longer goes on when its task is queued again.
    pub time: String,
    /// Processors of a task.
    pub cpus: u64,
    /// Memory of a task, as Slurm writes it: `4G`.
    pub memory: String,
    /// Most tasks of the array. Where there are more runs, a task works on several, one after another.
    pub array: u64,
    /// Most tasks that run at a time; 0 for as many as there is room for.
    pub at_a_time: u64,
    /// More lines for the script: `#SBATCH --account=...`, `module load ...`.
    pub extra: Vec<String>,
}

impl Default for SlurmSettings {
    fn default() -> Self {
        let unsaid = String::new;
        Self {
            partition: unsaid(),
            time: unsaid(),
            cpus: 1,
            memory: unsaid(),
            array: 1000,
            at_a_time: 0,
            extra: Vec::new(),
        }
    }
}

impl SlurmSettings {
    /// The settings, where they can be used.
    pub fn checked(self) -> Result<Self> {
        if let Some((name, _)) = [("cpus", self.cpus), ("array", self.array)].iter().find(|(_, value)| *value == 0) {
            return Err(Error::new(format!("setting \"{name}\" is 0")).help("wanted 1 or more"));
        }
        if let Some(secs) = secs_of(&self.time).filter(|secs| *secs < 2 * SECS_TO_SAVE) {
            return Err(Error::new(format!("setting \"time\" is {:?}, {secs} seconds", self.time))
                .help("wanted two minutes or more: a run is told to save itself a minute before its time is up"));
        }
        let words = [("partition", &self.partition), ("time", &self.time), ("memory", &self.memory)];
        match words.iter().find(|(_, value)| value.contains(char::is_whitespace)) {
            Some((name, value)) => {
                Err(Error::new(format!("setting \"{name}\" is {value:?}")).help("wanted one word, as sbatch takes it"))
            }
            None => Ok(self),
        }
    }
}

/// The seconds of a time as Slurm writes it: minutes, `minutes:seconds`, `hours:minutes:seconds`, and the same after `days-`. Nothing where it is
/// written otherwise, which is left to sbatch.
fn secs_of(time: &str) -> Option<u64> {
    let (days, clock) = match time.split_once('-') {
        Some((days, clock)) => (days.parse::<u64>().ok()?, clock),
        None => (0, time),
    };
    let parts = clock.split(':').map(|part| part.parse::<u64>().ok()).collect::<Option<Vec<u64>>>()?;
    let secs = match (parts.as_slice(), time.contains('-')) {
        ([minutes], false) => minutes * 60,
        ([minutes, seconds], false) => minutes * 60 + seconds,
        ([hours], true) => hours * 3600,
        ([hours, minutes], true) => hours * 3600 + minutes * 60,
        ([hours, minutes, seconds], _) => hours * 3600 + minutes * 60 + seconds,
        _ => return None,
    };
    Some(days * 86_400 + secs)
}

/// An array that was given to Slurm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// Its number.
    pub job: String,
    /// How many tasks it has.
    pub n_tasks: usize,
    /// Where tasks write what they say.
    pub logs: PathBuf,
}

/// Gives runs of a sweep to Slurm, as an array of tasks: each works on its share of them. The shares are those of a list that stays as it is,
/// for the plan of the sweep may change while tasks wait.
pub fn submit(
    folder: &SweepFolder,
    runs: &[&str],
    settings: &SlurmSettings,
    program: &Path,
    data_root: Option<&Path>,
) -> Result<Submitted> {
    let logs = folder.path().join("slurm");
    create_folder(&logs)?;
    let mut jobs = read_jobs(folder);
    let n_tasks = runs.len().min(settings.array as usize);
    let list = logs.join(format!("runs-{}.txt", jobs.len() + 1));
    write_whole(&list, runs.iter().map(|run| format!("{run}\n")).collect::<String>().as_bytes())?;
    let path = logs.join("array.sh");
    write_whole(&path, script(folder, &list, n_tasks, settings, program, data_root).as_bytes())?;
    let output =
        Command::new("sbatch").arg("--parsable").arg(&path).output().map_err(|error| no_slurm("sbatch", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(Error::failure(format!("sbatch refused the array: {said}"))
            .help(format!("the script is {}; [slurm] in the sweep file changes it", quoted(&path))));
    }
    // The name of a cluster may follow.
    let said = String::from_utf8_lossy(&output.stdout);
    let job = said.trim().split(';').next().unwrap_or_default().to_string();
    jobs.push(job.clone());
    write_whole(&jobs_path(folder), (jobs.join("\n") + "\n").as_bytes())?;
    Ok(Submitted { job, n_tasks, logs })
}

/// Takes all tasks of a sweep back from Slurm, running or not; gives how many arrays there were to cancel.
pub fn cancel_tasks(folder: &SweepFolder) -> Result<usize> {
    let mut n_cancelled = 0;
    for job in read_jobs(folder) {
        // One that has ended is not known any more, which is an error of scancel's.
        // The name keeps another job from being meant, where Slurm began to count anew.
        let mut scancel = Command::new("scancel");
        let output = scancel
            .arg(format!("--name={}", job_name(folder)))
            .arg(&job)
            .output()
            .map_err(|error| no_slurm("scancel", &error))?;
        n_cancelled += usize::from(output.status.success());
    }
    Ok(n_cancelled)
}

fn job_name(folder: &SweepFolder) -> String {
    format!("unbraid-{}", folder.name())
}

fn jobs_path(folder: &SweepFolder) -> PathBuf {
    folder.path().join("slurm").join("jobs.txt")
}

fn read_jobs(folder: &SweepFolder) -> Vec<String> {
    read_text(&jobs_path(folder)).unwrap_or_default().lines().map(str::to_string).collect()
}

fn no_slurm(program: &str, error: &io::Error) -> Error {
    Error::new(format!("{program} of Slurm cannot be started: {error}"))
        .help("work where Slurm is, or print the commands for another scheduler with --export commands")
}

/// Where tasks write what they say, as Slurm writes it: `%` begins the number of a task.
fn logs_of_tasks(folder: &SweepFolder) -> PathBuf {
    PathBuf::from(folder.path().join("slurm").display().to_string().replace('%', "%%")).join("%A_%a.txt")
}

/// The script of a task. Slurm tells it USR1 a minute before its time is up: the run saves itself and the task is queued again, also where the run
/// is busy with what cannot be saved half done. TERM comes when a task is cancelled, or when Slurm itself will queue it again: the run saves itself,
/// and that is all.
fn script(
    folder: &SweepFolder,
    list: &Path,
    n_tasks: usize,
    settings: &SlurmSettings,
    program: &Path,
    data_root: Option<&Path>,
) -> String {
    let at_a_time = if settings.at_a_time > 0 { format!("%{}", settings.at_a_time) } else { String::new() };
    let mut directives = vec![
        format!("--job-name={}", job_name(folder)),
        format!("--array=0-{}{at_a_time}", n_tasks - 1),
        format!("--output={}", quoted(&logs_of_tasks(folder))),
        "--open-mode=append".to_string(),
        "--requeue".to_string(),
        format!("--signal=B:USR1@{SECS_TO_SAVE}"),
        "--ntasks=1".to_string(),
        format!("--cpus-per-task={}", settings.cpus),
    ];
    let named = [("partition", &settings.partition), ("time", &settings.time), ("mem", &settings.memory)];
    directives
        .extend(named.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("--{name}={value}")));
    let directives: String = directives.iter().map(|directive| format!("#SBATCH {directive}\n")).collect();
    let extra: String = settings.extra.iter().map(|line| format!("{line}\n")).collect();
    let data_root = data_root.map(|path| format!(" --data-root {}", quoted(path))).unwrap_or_default();
    format!(
        "#!/bin/bash\n{directives}{extra}\n\
         echo \"task $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME, queued again ${{SLURM_RESTART_COUNT:-0}} times\"\n\
         {program} sweep run {folder} --list {list} --task \"$SLURM_ARRAY_TASK_ID\" --tasks {n_tasks} --threads {threads}{data_root} &\n\
         worker=$!\n\
         again=no\n\
         # The number of the array alone would queue all of its tasks again.\n\
         queue_again() {{ scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}\"; }}\n\
         trap 'again=yes; kill -TERM $worker; (sleep {LAST_MOMENT}; queue_again) &' USR1\n\
         trap 'kill -TERM $worker' TERM\n\
         # A signal ends the wait, not the worker.\n\
         wait $worker\n\
         code=$?\n\
         while kill -0 $worker 2> /dev/null; do\n    wait $worker\n    code=$?\ndone\n\
         if [ $again = yes ]; then\n    queue_again\nfi\n\
         exit $code\n",
        program = quoted(program),
        folder = quoted(folder.path()),
        list = quoted(list),
        threads = settings.cpus,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::plan::Plan;

    fn folder(out: &Path) -> SweepFolder {
        SweepFolder::begin(out, "grid", &Plan { runs: Vec::new(), n_same: 0 }, None).unwrap()
    }

    #[test]
    fn the_script_has_what_the_section_says_and_bash_can_read_it() {
        let out = tempfile::tempdir().unwrap();
        let settings = SlurmSettings {
            partition: "long".into(),
            time: "04:00:00".into(),
            cpus: 2,
            memory: "4G".into(),
            at_a_time: 4,
            extra: vec!["#SBATCH --account=me".into(), "module load gcc".into()],
            ..SlurmSettings::default()
        };
        let (program, data_root) = (Path::new("/opt/my tools/unbraid"), Path::new("/data"));
        let script = script(&folder(out.path()), Path::new("/my/runs-1.txt"), 20, &settings, program, Some(data_root));
        let lines = [
            "--array=0-19%4",
            "--partition=long",
            "--time=04:00:00",
            "--mem=4G",
            "--cpus-per-task=2",
            "--account=me",
            "--requeue",
        ];
        for line in lines {
            assert!(script.contains(&format!("#SBATCH {line}\n")), "{line}: {script}");
        }
        let worker = "'/opt/my tools/unbraid' sweep run ";
        let shares = "--list /my/runs-1.txt --task \"$SLURM_ARRAY_TASK_ID\" --tasks 20 --threads 2 --data-root /data &";
        assert!(script.contains(worker) && script.contains(shares), "{script}");
        // Directives after the first command are ignored by Slurm.
        assert!(script.rfind("#SBATCH") < script.find("module load gcc"));
        let checked = Command::new("bash").args(["-n", "-c", &script]).status().unwrap();
        assert!(checked.success());
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let message = |settings: SlurmSettings| settings.checked().unwrap_err().to_string();
        assert!(message(SlurmSettings { array: 0, ..SlurmSettings::default() }).starts_with("setting \"array\" is 0"));
        assert!(message(SlurmSettings { time: "4 h".into(), ..SlurmSettings::default() }).contains("wanted one word"));
        let short = message(SlurmSettings { time: "00:01:30".into(), ..SlurmSettings::default() });
        assert!(short.starts_with("setting \"time\" is \"00:01:30\", 90 seconds"), "{short}");
    }

    #[test]
    fn times_are_read_as_slurm_does() {
        let times = ["1", "1:30", "2:00:01", "1-2", "1-0:05", "1-00:00:09", "infinite", ""];
        let secs = [Some(60), Some(90), Some(7201), Some(93_600), Some(86_700), Some(86_409), None, None];
        assert_eq!(times.map(secs_of), secs);
    }

    #[test]
    fn logs_may_lie_in_any_folder() {
        let out = tempfile::tempdir().unwrap();
        let folder = folder(&out.path().join("my 10% runs"));
        let script = script(&folder, Path::new("/list"), 1, &SlurmSettings::default(), Path::new("unbraid"), None);
        let line = script.lines().find(|line| line.starts_with("#SBATCH --output=")).unwrap();
        assert!(line.contains("='/") && line.ends_with("/my 10%% runs/sweeps/grid/slurm/%A_%a.txt'"), "{line}");
    }
}
