//! The runs of a reproduction: each config is trained from several seeds.
//!
//! Runs are those of a sweep: named by what decides them, so that reproductions share those that they have in common; one that was begun goes on from its last
//! checkpoint, and a finished one is left as it is.

use unbraid_data::words::{counted, quoted};
use unbraid_data::{Error, Result};
use unbraid_report::RunFolder;

use super::spread::Spread;
use super::{Outcome, Request, Row, Scale};
use crate::config::Config;
use crate::dataset_record;
use crate::sweep::estimate::estimate;
use crate::sweep::plan::Plan;
use crate::sweep::state::is_finished;
use crate::watch::Watch;

/// Scores that T4's tables are made of, and little else, which saves the time of all other metrics.
pub const METRICS: &str = "metrics=[{name='ds'},{name='dto'},{name='polarized'},{name='kl'},{name='mig'}]";

/// Runs of one config that differ by their seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What tables and figures call it.
    pub name: String,
    /// The config, whatever its seed.
    pub config: Config,
    /// Seeds are counted from 1 to this.
    pub n_seeds: u64,
}

impl Group {
    /// The config of each run.
    fn configs(&self) -> impl Iterator<Item = Config> {
        (1..=self.n_seeds).map(|seed| Config { seed, ..self.config.clone() })
    }
}

/// The finished runs of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Restarts {
    /// The name of the group.
    pub name: String,
    /// Its runs, in the order of their seeds.
    pub folders: Vec<RunFolder>,
}

impl Restarts {
    /// The score of each run that has it.
    pub fn scores(&self, name: &str) -> Result<Vec<f64>> {
        let scores = self.folders.iter().map(|folder| Ok(folder.read_scores()?.value(name)));
        Ok(scores.collect::<Result<Vec<Option<f64>>>>()?.into_iter().flatten().collect())
    }

    /// Mean and deviation of a score over the runs.
    pub fn spread(&self, name: &str) -> Result<Spread> {
        Ok(Spread::of(&self.scores(name)?))
    }
}

/// Trains all runs of the groups; nothing where the user asks to stop. Runs that failed are left out, unless a group has no other.
pub fn train(groups: &[Group], request: &Request, watch: &mut dyn Watch) -> Result<Option<Vec<Restarts>>> {
    let configs: Vec<Config> = groups.iter().flat_map(Group::configs).collect();
    announce(&configs, request, watch)?;
    let Some(folders) = (request.train)(&configs)? else { return Ok(None) };
    let mut folders = folders.into_iter();
    let of_group = |group: &Group| {
        let finished: Vec<RunFolder> = folders.by_ref().take(group.n_seeds as usize).flatten().collect();
        if finished.is_empty() {
            return Err(Error::failure(format!(
                "all {} of {} failed",
                counted(group.n_seeds as usize, "run"),
                group.name
            ))
            .help("their errors stand above; what remains can not be compared"));
        }
        Ok(Restarts { name: group.name.clone(), folders: finished })
    };
    groups.iter().map(of_group).collect::<Result<_>>().map(Some)
}

/// Says how many runs there are to train and about how long they take, by the time of a few steps of each kind.
pub fn announce(configs: &[Config], request: &Request, watch: &mut dyn Watch) -> Result<()> {
    if request.scale == Scale::Smoke {
        return Ok(());
    }
    let plan = Plan::of_configs(configs);
    let left = plan.runs.iter().filter(|run| !is_finished(&request.runs.join(&run.name)));
    if let Some(estimate) = estimate(left, watch)?
        && estimate.n_runs > 0
    {
        watch.note(&format!(
            "{} to train, about {}, into {}",
            counted(estimate.n_runs, "run"),
            duration(estimate.secs),
            quoted(&request.runs)
        ));
    }
    Ok(())
}

fn duration(secs: f64) -> String {
    match secs {
        secs if secs < 90.0 => format!("{secs:.0} s"),
        secs if secs < 5400.0 => format!("{:.0} minutes", secs / 60.0),
        secs => format!("{:.1} hours", secs / 3600.0),
    }
}

/// Whether the dataset of a config can be opened; a note says why not.
pub fn is_at_hand(config: &Config, notes: &mut Vec<String>) -> bool {
    match dataset_record::open(config) {
        Ok(_) => true,
        Err(error) => {
            let reason = error.to_string();
            notes.push(format!("{} is left out: {}", config.dataset.name, reason.lines().next().unwrap_or_default()));
            false
        }
    }
}

/// Takes all verdicts away at the scale that trains too little for any, and says so.
pub fn of_scale(mut outcome: Outcome, scale: Scale) -> Outcome {
    if scale == Scale::Smoke {
        outcome.rows = outcome.rows.into_iter().map(Row::only_beside).collect();
        outcome.notes.push("a smoke run shows that it works; it trains too little for anything to be compared".into());
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_a_unit_that_suits_them() {
        assert_eq!([30.0, 600.0, 7200.0].map(duration), ["30 s", "10 minutes", "2.0 hours"]);
    }

    #[test]
    fn runs_of_a_group_differ_by_their_seeds_alone() {
        let config = Config::parse("[dataset]\nname = 'xy_squares'\n[framework]\nname = 'vae'", &[]).unwrap();
        let group = Group { name: "a".to_string(), config: config.clone(), n_seeds: 2 };
        let configs: Vec<Config> = group.configs().collect();
        assert_eq!(configs, [Config { seed: 1, ..config.clone() }, Config { seed: 2, ..config }]);
    }
}
