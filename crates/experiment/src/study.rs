//! Finished runs gathered for a study: from folders of runs, folders of sweeps, or one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use unbraid_data::folders::paths_in;
use unbraid_data::words::{counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_metrics::Scores;
use unbraid_report::RunFolder;
use unbraid_report::status::State;
use unbraid_study::{Run, StudyTable};

use crate::config::Config;
use crate::evaluation::{Choice, Reading, Which, evaluate, read_inputs};
use crate::run::read_config;
use crate::sweep::folder::SweepFolder;
use crate::watch::{Nobody, Watch};

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
    let mut found: Vec<Found> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut left_out = LeftOut::default();
    for path in paths {
        let sweep = if path.join("plan.jsonl").is_file() { Some(SweepFolder::open(path)?) } else { None };
        for run in runs_at(path)? {
            let is_named = run == *path;
            if !run.join("scores.json").is_file() {
                left_out.add_without_scores(&run, sweep.as_ref());
                continue;
            }
            let one = match Found::read(&run) {
                Ok(one) => one,
                Err(error) if is_named => return Err(error),
                Err(error) => {
                    left_out.damaged.push(error.to_string().lines().next().unwrap_or_default().to_string());
                    continue;
                }
            };
            let place = *places.entry(model_of(&one.config)).or_insert(found.len());
            match found.get_mut(place) {
                None => found.push(one),
                Some(other) if other.config == one.config => left_out.n_copies += 1,
                Some(other) => {
                    left_out.n_measured_twice += 1;
                    if one.scores.values.len() > other.scores.values.len() {
                        *other = one;
                    }
                }
            }
        }
    }
    if found.is_empty() {
        return Err(no_runs(paths, &left_out));
    }
    let folders = found.iter().map(|one| RunFolder::open(&one.path)).collect::<Result<Vec<_>>>()?;
    let run = |(name, one): (String, Found)| Run { name, config: one.config.to_table(), scores: one.scores };
    let runs = names(&found).into_iter().zip(found).map(run).collect();
    Ok(Gathered { runs, folders, notes: left_out.notes() })
}

/// A run that has scores.
struct Found {
    path: PathBuf,
    config: Config,
    scores: Scores,
}

impl Found {
    fn read(path: &Path) -> Result<Self> {
        let folder = RunFolder::open(path)?;
        Ok(Self { path: path.to_path_buf(), config: read_config(&folder)?, scores: folder.read_scores()? })
    }
}

/// What decides the model of a run: not how it is measured, how often it is saved, or what is written for other programs.
fn model_of(config: &Config) -> String {
    let mut model = Config { rows: None, rows_seed: 0, log: Default::default(), metrics: Vec::new(), ..config.clone() };
    model.training.checkpoint_every = 1;
    model.to_toml()
}

/// Runs that take no part, and why.
#[derive(Default)]
struct LeftOut {
    /// Names of those that failed, with their errors.
    failed: Vec<String>,
    n_unfinished: usize,
    /// Errors of those that cannot be read.
    damaged: Vec<String>,
    n_copies: usize,
    n_measured_twice: usize,
}

/// Failed or damaged runs that a note names.
const MOST_NAMED: usize = 3;

impl LeftOut {
    /// A run that was killed has no error of its own, and one that failed early no folder: the sweep has them.
    fn add_without_scores(&mut self, run: &Path, sweep: Option<&SweepFolder>) {
        let name = run.file_name().unwrap_or_default().to_string_lossy();
        let status = RunFolder::open(run).ok().and_then(|folder| folder.read_status().ok().flatten());
        let status = status.filter(|status| status.state == State::Failed);
        let error = status.map(|status| status.error.unwrap_or_default());
        match error.or_else(|| sweep?.failure(&name)) {
            Some(error) => {
                self.failed.push(format!("{name}: {}", error.lines().next().unwrap_or_default()));
            }
            None => self.n_unfinished += 1,
        }
    }

    /// A sentence for each reason.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut add = |n_runs: usize, why: &str, named: &[String]| {
            if n_runs > 0 {
                let shown: Vec<&str> = named.iter().take(MOST_NAMED).map(String::as_str).collect();
                let more = if named.len() > MOST_NAMED { "; …" } else { "" };
                let told = if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join("; ")) };
                notes.push(format!("{} left out: {why}{told}", counted(n_runs, "run")));
            }
        };
        add(self.failed.len(), "failed, so that their settings look better than they are", &self.failed);
        add(self.n_unfinished, "without scores yet", &[]);
        add(self.damaged.len(), "cannot be read", &self.damaged);
        add(self.n_copies, "of the same config and seed as another", &[]);
        add(
            self.n_measured_twice,
            "of the same model and seed as another that was measured otherwise; the one with more scores stays",
            &[],
        );
        notes
    }
}

/// Scores each run beside the others that differ from it by the seed alone, by how alike their latents are (UDR); nothing where the user asks to
/// stop. Runs that stand alone, or whose codes are of other images, keep the reason why they have no such score; those whose codes are gone or cannot
/// be read are noted.
pub fn add_udr(gathered: &mut Gathered, watch: &mut dyn Watch) -> Result<Option<()>> {
    let table = StudyTable::new(&gathered.runs)?;
    let mut groups: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let mut without = Vec::new();
    for run in 0..table.n_runs() {
        if gathered.folders[run].codes_path().is_file() {
            groups.entry((table.datasets().of_runs[run], table.settings().of_runs[run])).or_default().push(run);
        } else {
            without.push((1, "their codes were removed".to_string()));
        }
    }
    let groups: Vec<&[usize]> =
        groups.values().flat_map(|group| in_groups(group)).filter(|group| group.len() > 1).collect();
    watch.stage("comparing runs of the same setting", groups.len() as u64);
    for (n_done, group) in groups.into_iter().enumerate() {
        if watch.should_stop() {
            return Ok(None);
        }
        watch.progress(n_done as u64);
        let mut inputs = Vec::new();
        let mut read = Vec::new();
        for &run in group {
            match read_inputs(&[gathered.folders[run].path().to_path_buf()], &Reading::default()) {
                Ok(input) => {
                    inputs.extend(input);
                    read.push(run);
                }
                Err(error) => without.push((1, error.to_string().lines().next().unwrap_or_default().to_string())),
            }
        }
        if read.len() < 2 {
            continue;
        }
        let choice = Choice { metrics: Which::named(["udr"]), ..Choice::default() };
        for (&run, evaluation) in read.iter().zip(evaluate(&inputs, &choice, &mut Nobody)?) {
            let scores = &mut gathered.runs[run].scores;
            scores.values.retain(|score| unbraid_metrics::metric_of(&score.name) != "udr");
            scores.undefined.retain(|score| unbraid_metrics::metric_of(&score.name) != "udr");
            scores.extend(evaluation.scores);
        }
    }
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (n_runs, why) in without {
        *reasons.entry(why).or_default() += n_runs;
    }
    let notes: Vec<String> =
        reasons.iter().map(|(why, n_runs)| format!("{} without udr: {why}", counted(*n_runs, "run"))).collect();
    gathered.notes.extend(notes);
    Ok(Some(()))
}

/// The runs in groups that are compared: none larger than [`MOST_COMPARED`], and all of about one size, so that no run is left alone.
fn in_groups(runs: &[usize]) -> impl Iterator<Item = &[usize]> {
    let (n_runs, n_groups) = (runs.len(), runs.len().div_ceil(MOST_COMPARED));
    (0..n_groups).map(move |group| &runs[group * n_runs / n_groups..(group + 1) * n_runs / n_groups])
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
    // Other work has a config too, but only runs have a log of losses, or scores beside it; one that lost its config is told.
    let is_run = |path: &PathBuf| {
        let has = |name: &str| path.join(name).is_file();
        has("losses.csv") || has("config.toml") && has("scores.json")
    };
    Ok(paths_in(path)?.into_iter().filter(is_run).collect())
}

fn no_runs(paths: &[PathBuf], left_out: &LeftOut) -> Error {
    let shown: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    let notes = left_out.notes();
    let found =
        if notes.is_empty() { "no run".to_string() } else { format!("no run with scores ({})", notes.join("; ")) };
    Error::new(format!("there is {found} in {}", shown.join(", ")))
        .help("give folders of runs, OUT of `unbraid sweep`, or OUT/sweeps/NAME")
}

/// The last parts of paths, or all of them where two end alike.
fn names(found: &[Found]) -> Vec<String> {
    let last = |path: &Path| {
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().to_string())
    };
    let mut short: Vec<String> = found.iter().map(|one| last(&one.path)).collect();
    let in_order = short.clone();
    short.sort();
    short.dedup();
    if short.len() == found.len() { in_order } else { found.iter().map(|one| one.path.display().to_string()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_run_is_left_to_be_compared_alone() {
        for n_runs in 2..200 {
            let runs: Vec<usize> = (0..n_runs).collect();
            let groups: Vec<&[usize]> = in_groups(&runs).collect();
            assert!(groups.iter().all(|group| (2..=MOST_COMPARED).contains(&group.len())), "{n_runs}");
            assert_eq!(groups.concat(), runs);
        }
    }
}
