//! The runs of T2's study at each scale, as one table.
//!
//! At paper scale these are the grids of `configs/sweeps/t2-*.toml`: six objectives at six strengths from fifty seeds on each of seven datasets. At small scale they are those of
//! `configs/sweeps/squares-study.toml`: five objectives at three strengths from five seeds on the squares of dSprites. One dataset of three factors, an MLP and 4,000 steps: numbers stand
//! beside those of dSprites, and claims on what is more and what is less are judged.

use unbraid_data::Result;
use unbraid_metrics::{metric_of, reads_factors};
use unbraid_study::StudyTable;

use super::planned::{Grids, Runs, study_table, train_at_hand};
use super::trained::Group;
use super::{Request, Scale};
use crate::watch::Watch;

/// The metrics of T2, in the order of its tables.
pub const METRICS: [&str; 6] = ["beta_vae", "dci", "factor_vae", "mig", "modularity", "sap"];

/// Every two metrics once.
pub fn pairs_of_metrics() -> impl Iterator<Item = [&'static str; 2]> {
    METRICS.iter().enumerate().flat_map(|(place, one)| METRICS[place + 1..].iter().map(|other| [*one, *other]))
}

const SQUARES: Grids =
    Grids { paper: include_str!("../../../../configs/sweeps/squares-study.toml"), small: &[], smoke: &[SMOKE] };

const SMOKE: &str = "
    base.rows = 300
    base.dataset.size = 8
    base.model.encoder = [16]
    base.model.decoder = [16]
    base.training.steps = 20
    base.training.checkpoint_every = 10
    shared.seed = [1, 2]
    [[grid]]
    framework.beta = [0.5, 8.0]
    [[grid]]
    framework.name = 'beta_tc_vae'
    framework.reconstruction = 'bce'
";

macro_rules! published {
    ($($name:literal),*) => {
        [$(Grids { paper: include_str!(concat!("../../../../configs/sweeps/t2-", $name, ".toml")), small: &[], smoke: &[] }),*]
    };
}

const PUBLISHED: [Grids; 7] =
    published!("cars3d", "color-dsprites", "noisy-dsprites", "scream-dsprites", "shapes3d", "smallnorb", "dsprites");

/// Trains the runs, and gives them as a table; nothing where the user asks to stop.
pub fn trained(request: &Request, watch: &mut dyn Watch, notes: &mut Vec<String>) -> Result<Option<StudyTable>> {
    let Some(runs) = trained_runs(request, watch, notes)? else { return Ok(None) };
    as_table(&runs).map(Some)
}

/// The runs as a table of what T2 looks at.
pub fn as_table(runs: &[Runs]) -> Result<StudyTable> {
    study_table(runs, is_of_study)
}

/// Trains the runs; nothing where the user asks to stop.
pub fn trained_runs(request: &Request, watch: &mut dyn Watch, notes: &mut Vec<String>) -> Result<Option<Vec<Runs>>> {
    train_at_hand(groups(request.scale)?, request, watch, notes)
}

/// The place of a strength among those of its objective, counted from 1: grids go through them in rising order.
pub fn place_of_strength(runs: &[Runs], one: &Runs) -> usize {
    let mut same = runs.iter().filter(|other| other.framework() == one.framework());
    same.position(|other| other == one).unwrap_or(0) + 1
}

fn groups(scale: Scale) -> Result<Vec<Group>> {
    match scale {
        Scale::Paper => {
            let groups = PUBLISHED.iter().map(|grids| grids.groups(scale)).collect::<Result<Vec<_>>>()?;
            Ok(groups.into_iter().flatten().collect())
        }
        Scale::Small | Scale::Smoke => SQUARES.groups(scale),
    }
}

/// Whether T2 looks at the score: its metrics, and those that need no factors.
fn is_of_study(name: &str) -> bool {
    METRICS.contains(&metric_of(name)) || !reads_factors(metric_of(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_as_many_runs_as_the_study() {
        let n_runs = |scale| groups(scale).unwrap().iter().map(|group| group.n_seeds).sum::<u64>();
        assert_eq!([Scale::Paper, Scale::Small, Scale::Smoke].map(n_runs), [12_600, 75, 6]);
    }
}
