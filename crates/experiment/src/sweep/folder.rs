//! The folder of a sweep, `OUT/sweeps/NAME`: its plan, and the errors of runs that failed. The runs themselves lie in `OUT`, where other sweeps find them
//! too.

use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use unbraid_data::folders::{paths_in, remove_file};
use unbraid_data::whole_file::{create_folder, read_text, write_whole};
use unbraid_data::words::quoted;
use unbraid_data::{Error, Result};

use super::claim::Claims;
use super::plan::{Plan, PlannedRun};

/// The folder of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepFolder {
    path: PathBuf,
    out: PathBuf,
}

impl SweepFolder {
    /// Makes the folder of a sweep whose runs lie in `out`, or takes up the one that is there, with this plan.
    /// `best` is the score that is shown as the best so far, where the sweep names one.
    pub fn begin(out: &Path, name: &str, plan: &Plan, best: Option<&str>) -> Result<Self> {
        let path = out.join("sweeps").join(name);
        if path.exists() && !path.is_dir() {
            return Err(Error::new(format!("{} is a file, not a folder", path.display()))
                .help("choose another path with `--out`"));
        }
        create_folder(&path.join("failed"))?;
        create_folder(&path.join(PLANS))?;
        let folder = Self { path, out: out.to_path_buf() };
        let text = plan_text(plan);
        // Processes and tasks of a scheduler may still have runs of an earlier plan to do: none is lost.
        let digest: String = Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let kept = folder.path.join(PLANS).join(format!("{digest}.jsonl"));
        if !kept.exists() {
            write_whole(&kept, text.as_bytes())?;
        }
        if read_text(&folder.plan_path()).ok().as_deref() != Some(&text) {
            write_whole(&folder.plan_path(), text.as_bytes())?;
        }
        let best_path = folder.path.join(BEST);
        match best {
            Some(best) => write_whole(&best_path, best.as_bytes())?,
            None => remove_file(&best_path)?,
        }
        Ok(folder)
    }

    /// The folder of a sweep that was begun.
    pub fn open(path: &Path) -> Result<Self> {
        let whole = path.canonicalize().map_err(|_| {
            Error::new(format!("there is no folder {}", path.display()))
                .help("give the folder of a sweep, OUT/sweeps/NAME")
        })?;
        let out = whole.parent().filter(|parent| parent.ends_with("sweeps")).and_then(Path::parent);
        match out {
            Some(out) if whole.join(PLAN).is_file() => Ok(Self { out: out.to_path_buf(), path: whole }),
            _ => Err(Error::new(format!("{} holds no sweep", quoted(path)))
                .help("give the folder of a sweep, OUT/sweeps/NAME; `unbraid sweep FILE.toml` makes it")),
        }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sweep's name.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_string())
    }

    /// Where the runs lie, of this sweep and of others.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The folder of a run.
    pub fn run_path(&self, run: &str) -> PathBuf {
        self.out.join(run)
    }

    /// The runs of the sweep.
    pub fn read_plan(&self) -> Result<Plan> {
        let path = self.plan_path();
        let runs = read_text(&path)?
            .lines()
            .enumerate()
            .map(|(position, line)| planned(line, position + 1))
            .collect::<Result<_>>();
        Ok(Plan { runs: runs.map_err(|error| error.at(path.display()))?, n_same: 0 })
    }

    /// The score that is shown as the best so far, where the sweep names one.
    pub fn best(&self) -> Option<String> {
        read_text(&self.path.join(BEST)).ok()
    }

    /// One run of the sweep, or of the sweep as it was planned before: a name stands for one config, whatever else is planned.
    pub fn read_planned(&self, run: &str) -> Result<PlannedRun> {
        // The name stands first in its line.
        let start = line_start(run);
        let of_before = || paths_in(&self.path.join(PLANS)).unwrap_or_default();
        for path in std::iter::once(self.plan_path()).chain(of_before()) {
            let text = read_text(&path)?;
            if let Some((position, line)) = text.lines().enumerate().find(|(_, line)| line.starts_with(&start)) {
                return planned(line, position + 1).map_err(|error| error.at(path.display()));
            }
        }
        Err(Error::new(format!("the sweep has no run called \"{run}\""))
            .help(format!("`unbraid sweep status {}` prints their names", quoted(&self.path))))
    }

    /// Claims on runs, shared by all sweeps of `OUT`.
    pub fn claims(&self) -> Claims {
        Claims::new(self.out.join("sweeps").join(".claims"))
    }

    /// Keeps the error of a run that failed.
    pub fn write_failure(&self, run: &str, error: &str) -> Result<()> {
        write_whole(&self.failure_path(run), format!("{error}\n").as_bytes())
    }

    /// Why a run failed, where it did.
    pub fn failure(&self, run: &str) -> Option<String> {
        read_text(&self.failure_path(run)).ok().map(|text| text.trim_end().to_string())
    }

    /// The runs that failed, in the order of their names.
    pub fn failed(&self) -> Result<Vec<String>> {
        let name = |path: PathBuf| Some(path.file_name()?.to_str()?.strip_suffix(".txt")?.to_string());
        Ok(paths_in(&self.path.join("failed"))?.into_iter().filter_map(name).collect())
    }

    /// Forgets that runs failed, so that they are tried again.
    pub fn forget_failures(&self) -> Result<()> {
        self.failed()?.iter().try_for_each(|run| remove_file(&self.failure_path(run)))
    }

    /// Asks every process that works on the sweep, wherever it is, to save and stop.
    pub fn cancel(&self) -> Result<()> {
        write_whole(&self.cancelled_path(), b"")
    }

    /// Takes that back.
    pub fn uncancel(&self) -> Result<()> {
        remove_file(&self.cancelled_path())
    }

    /// Whether the sweep was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled_path().exists()
    }

    fn plan_path(&self) -> PathBuf {
        self.path.join(PLAN)
    }

    fn failure_path(&self, run: &str) -> PathBuf {
        self.path.join("failed").join(format!("{run}.txt"))
    }

    fn cancelled_path(&self) -> PathBuf {
        self.path.join("cancelled")
    }
}

/// The name of a score.
const BEST: &str = "best.txt";
/// One line of JSON for each run.
const PLAN: &str = "plan.jsonl";
/// The folder of this plan and of all before it.
const PLANS: &str = "plans";

fn plan_text(plan: &Plan) -> String {
    let line = |run: &PlannedRun| serde_json::to_string(run).expect("a planned run is text") + "\n";
    plan.runs.iter().map(line).collect()
}

fn line_start(run: &str) -> String {
    format!("{{\"name\":{},", serde_json::Value::from(run))
}

fn planned(line: &str, number: usize) -> Result<PlannedRun> {
    serde_json::from_str(line).map_err(|error| {
        Error::new(format!("line {number} is no run of a sweep: {error}")).help("start the sweep again from its file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let run = |name: &str| PlannedRun {
            name: name.to_string(),
            changes: vec![("seed".into(), "1".into())],
            config: "seed = 1\n".into(),
        };
        Plan { runs: ["a-1", "a-12"].map(run).to_vec(), n_same: 0 }
    }

    #[test]
    fn a_plan_is_read_back_whole_and_run_by_run() {
        let out = tempfile::tempdir().unwrap();
        let begun = SweepFolder::begin(out.path(), "grid", &plan(), Some("mig")).unwrap();
        let folder = SweepFolder::open(begun.path()).unwrap();
        assert_eq!((folder.read_plan().unwrap(), folder.best().as_deref()), (plan(), Some("mig")));
        assert_eq!(folder.read_planned("a-12").unwrap().name, "a-12");
        assert!(folder.read_planned("a").unwrap_err().to_string().contains("no run called \"a\""));
        // Another plan of the same sweep leaves those who work by this one what they need.
        let other = Plan { runs: plan().runs[..1].to_vec(), n_same: 0 };
        SweepFolder::begin(out.path(), "grid", &other, None).unwrap();
        assert_eq!((folder.read_plan().unwrap(), folder.read_planned("a-12").unwrap().name), (other, "a-12".into()));
        assert_eq!(folder.run_path("a-1"), out.path().canonicalize().unwrap().join("a-1"));
    }

    #[test]
    fn failures_are_kept_until_they_are_forgotten() {
        let out = tempfile::tempdir().unwrap();
        let folder = SweepFolder::begin(out.path(), "grid", &plan(), Some("mig")).unwrap();
        folder.write_failure("a-1", "the loss is not finite").unwrap();
        assert_eq!(folder.failure("a-1").as_deref(), Some("the loss is not finite"));
        assert_eq!(folder.failed().unwrap(), ["a-1"]);
        folder.forget_failures().unwrap();
        assert_eq!((folder.failure("a-1"), folder.failed().unwrap().len()), (None, 0));
    }

    #[test]
    fn other_folders_are_no_sweeps() {
        let out = tempfile::tempdir().unwrap();
        let message = |path: &Path| SweepFolder::open(path).unwrap_err().to_string();
        assert!(message(out.path()).contains("holds no sweep"));
        assert!(message(&out.path().join("none")).starts_with("there is no folder"));
    }
}
