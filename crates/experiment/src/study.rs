//! Finished runs gathered for a study: from folders of runs, folders of sweeps, or one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use unbraid_data::folders::paths_in;
use unbraid_data::words::{counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;
use unbraid_study::Run;

use crate::config::Config;
use crate::evaluation::{Choice, Reading, Which, evaluate, read_inputs};
use crate::run::read_config;
use crate::sweep::folder::SweepFolder;
use crate::watch::Watch;

/// UDR compares each run with every other of its group, and tells little more from more of them.
const MOST_COMPARED: usize = 10;

/// Runs, and what has to be known of how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// Finished runs, in the order of the folders that were given and of their names.
    pub runs: Vec<Run>,
    /// Their folders, in the same order.
    pub folders: Vec<RunFolder>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// The finished runs in these folders, each of which is a run, a sweep (`OUT/sweeps/NAME`), or a folder of runs.
pub fn gather(paths: &[PathBuf]) -> Result<Gathered> {
    let mut found: Vec<(PathBuf, Config)> = Vec::new();
    let mut known = BTreeSet::new();
    let (mut n_unfinished, mut n_copies) = (0, 0);
    for path in paths {
        for run in runs_at(path)? {
            if !run.join("scores.json").is_file() {
                n_unfinished += 1;
                continue;
            }
            let config = read_config(&RunFolder::open(&run)?)?;
            if known.insert(config.to_toml()) {
                found.push((run, config));
            } else {
                n_copies += 1;
            }
        }
    }
    let mut notes = Vec::new();
    if n_unfinished > 0 {
        notes.push(format!("{} without scores yet left out", counted(n_unfinished, "run")));
    }
    if n_copies > 0 {
        notes.push(format!("{} of the same config and seed as another left out", counted(n_copies, "run")));
    }
    if found.is_empty() {
        return Err(no_runs(paths, n_unfinished));
    }
    let names = names(&found);
    let folders = found.iter().map(|(path, _)| RunFolder::open(path)).collect::<Result<Vec<_>>>()?;
    let run = |((name, (_, config)), folder): ((String, &(PathBuf, Config)), &RunFolder)| {
        Ok(Run { name, config: config.to_table(), scores: folder.read_scores()? })
    };
    let runs = names.into_iter().zip(&found).zip(&folders).map(run).collect::<Result<Vec<Run>>>()?;
    Ok(Gathered { runs, folders, notes })
}

/// Scores each run beside the others that differ from it by the seed alone, by how alike their latents are (UDR); nothing where the user asks to
/// stop. Runs that stand alone, or whose codes are of other images, keep the reason why they have no such score.
pub fn add_udr(gathered: &mut Gathered, watch: &mut dyn Watch) -> Result<Option<()>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, run) in gathered.runs.iter().enumerate() {
        let mut config = run.config.clone();
        config.remove("seed");
        groups.entry(config.to_string()).or_default().push(position);
    }
    for group in groups.values().flat_map(|group| group.chunks(MOST_COMPARED)).filter(|group| group.len() > 1) {
        if watch.should_stop() {
            return Ok(None);
        }
        let paths: Vec<PathBuf> = group.iter().map(|&run| gathered.folders[run].path().to_path_buf()).collect();
        let inputs = read_inputs(&paths, &Reading::default())?;
        let choice = Choice { metrics: Which::named(["udr"]), ..Choice::default() };
        for (&run, evaluation) in group.iter().zip(evaluate(&inputs, &choice, watch)?) {
            let scores = &mut gathered.runs[run].scores;
            scores.values.retain(|score| unbraid_metrics::metric_of(&score.name) != "udr");
            scores.undefined.retain(|score| unbraid_metrics::metric_of(&score.name) != "udr");
            scores.extend(evaluation.scores);
        }
    }
    Ok(Some(()))
}

/// The folders of runs at a path.
fn runs_at(path: &Path) -> Result<Vec<PathBuf>> {
    if path.join("config.toml").is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    if path.join("plan.jsonl").is_file() {
        let sweep = SweepFolder::open(path)?;
        return Ok(sweep.read_plan()?.runs.iter().map(|run| sweep.run_path(&run.name)).collect());
    }
    if !path.is_dir() {
        return Err(Error::new(format!("there is no folder {}", path.display()))
            .help("give a run, a sweep, or a folder of runs"));
    }
    // Other work has a config too, but only runs have a log of losses.
    let is_run = |path: &PathBuf| path.join("config.toml").is_file() && path.join("losses.csv").is_file();
    Ok(paths_in(path)?.into_iter().filter(is_run).collect())
}

fn no_runs(paths: &[PathBuf], n_unfinished: usize) -> Error {
    let shown: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    let found = if n_unfinished > 0 {
        format!("only {} without scores", counted(n_unfinished, "run"))
    } else {
        "no run".to_string()
    };
    Error::new(format!("there is {found} in {}", shown.join(", ")))
        .help("give folders of runs, OUT of `unbraid sweep`, or OUT/sweeps/NAME")
}

/// The last parts of paths, or all of them where two end alike.
fn names(found: &[(PathBuf, Config)]) -> Vec<String> {
    let last = |path: &Path| {
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().to_string())
    };
    let mut short: Vec<String> = found.iter().map(|(path, _)| last(path)).collect();
    let in_order = short.clone();
    short.sort();
    short.dedup();
    if short.len() == found.len() {
        in_order
    } else {
        found.iter().map(|(path, _)| path.display().to_string()).collect()
    }
}
