//! How often a setting that is known to be good beats a random one (T2, on transferring hyper-parameters; 80.7 % for the same metric and
//! dataset, 59.3 % for the same metric on another dataset, 54.9 % for another metric on another dataset).
//!
//! A seed, a metric and a dataset are drawn, and the setting that scores best among the runs of that seed is kept. A run of it is then set against a
//! run of another setting that is drawn at random, by the same or another metric, on the same or another dataset; on the same dataset,
//! runs of the seed that chose are left out of both. All draws are counted instead of some being made, and each source and target has the same
//! weight. Departures from T2: equal scores count half where T2 counts them as won, the setting is not set against itself, and runs of all seeds are
//! set against each other, where T2 leaves open whether both have the same one; on another dataset that may be the seed that chose.

use std::collections::BTreeMap;

use serde::Serialize;
use unbraid_data::words::counted;
use unbraid_metrics::Better;

use crate::chosen_scores::{better, directed, goodness, unsupervised};
use crate::table::{ScoreColumn, StudyTable};

/// Fewer settings than this leave no choice.
pub const LEAST_SETTINGS: usize = 2;

/// From where a good setting is taken to where it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Move {
    /// The same metric on the same dataset.
    SameSame,
    /// Another metric on the same dataset.
    OtherMetric,
    /// The same metric on another dataset.
    OtherDataset,
    /// Another metric on another dataset.
    OtherBoth,
}

/// Every move, from near to far: in steps of one for the metric, of two for the dataset.
pub const MOVES: [Move; 4] = [Move::SameSame, Move::OtherMetric, Move::OtherDataset, Move::OtherBoth];

impl Move {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Move::SameSame => "same metric, same dataset",
            Move::OtherMetric => "other metric, same dataset",
            Move::OtherDataset => "same metric, other dataset",
            Move::OtherBoth => "other metric, other dataset",
        }
    }

    /// The share that T2 found with more than 12,000 runs on seven datasets, where its text tells it.
    pub fn published(self) -> Option<f64> {
        match self {
            Move::SameSame => Some(0.807),
            Move::OtherMetric => None,
            Move::OtherDataset => Some(0.593),
            Move::OtherBoth => Some(0.549),
        }
    }
}

/// How often the good setting won.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Won {
    /// The share of comparisons that it won, equal scores counting half; 0.5 is no better than chance.
    pub share: f64,
    /// How many pairs of source and target it is the mean of.
    pub n_draws: usize,
}

/// How often good settings beat random ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomGood {
    /// Over all metrics of factors, for each of `MOVES`; none where it cannot be made.
    pub overall: [Option<Won>; 4],
    /// For each score that a setting can be chosen by, those that need no factors too.
    pub by_source: Vec<(String, [Option<Won>; 4])>,
    /// How many runs it rests on.
    pub n_runs: usize,
}

/// How often good settings beat random ones, or what is missing for that.
pub fn random_good(table: &StudyTable) -> Result<RandomGood, String> {
    let targets = directed(table);
    let without_factors = unsupervised(table).into_iter().filter(|score| better(score) != Better::Neither);
    let sources: Vec<Source> =
        targets.iter().copied().chain(without_factors).map(|score| Source::of(table, score)).collect();
    let mut sums = vec![[Sum::default(); 4]; sources.len()];
    let mut takes_part = vec![false; table.datasets().len()];
    for target in &targets {
        for dataset in 0..table.datasets().len() {
            let mut outcomes = Outcomes { runs: scored_runs(table, target, dataset), counted: BTreeMap::new() };
            for (source, sums) in sources.iter().zip(&mut sums) {
                source.add(&target.name, dataset, &mut outcomes, sums, &mut takes_part);
            }
        }
    }
    let n_supervised = targets.len();
    let overall = std::array::from_fn(|place| {
        sums[..n_supervised].iter().fold(Sum::default(), |sum, of_source| sum.plus(of_source[place])).won()
    });
    if overall.iter().all(Option::is_none) {
        return Err(missing(table, n_supervised));
    }
    let by_source = sources.iter().zip(&sums).map(|(source, sums)| (source.name.clone(), sums.map(Sum::won))).collect();
    let is_drawn_from = |run: &usize| {
        takes_part[table.datasets().of_runs[*run]] && targets.iter().any(|target| target.values[*run].is_some())
    };
    Ok(RandomGood { overall, by_source, n_runs: (0..table.n_runs()).filter(is_drawn_from).count() })
}

fn missing(table: &StudyTable, n_scores: usize) -> String {
    if n_scores == 0 {
        return "needs a metric of factors of which one way is better, and no run has one".to_string();
    }
    format!(
        "needs at least {LEAST_SETTINGS} settings that share a seed, and another seed or dataset to try the better one on; the study has {} in {}",
        counted(table.settings().len(), "setting"),
        counted(table.n_runs(), "run")
    )
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    shares: f64,
    n_draws: usize,
}

impl Sum {
    fn add(&mut self, share: f64) {
        self.shares += share;
        self.n_draws += 1;
    }

    fn plus(self, other: Sum) -> Sum {
        Sum { shares: self.shares + other.shares, n_draws: self.n_draws + other.n_draws }
    }

    fn won(self) -> Option<Won> {
        (self.n_draws > 0).then(|| Won { share: self.shares / self.n_draws as f64, n_draws: self.n_draws })
    }
}

/// A run that has a score: its seed, its setting, and the score turned so that higher is better.
#[derive(Debug, Clone, Copy)]
struct ScoredRun {
    seed: i64,
    setting: usize,
    goodness: f64,
}

fn scored_runs(table: &StudyTable, score: &ScoreColumn, dataset: usize) -> Vec<ScoredRun> {
    let runs = table.datasets().runs_of(dataset).into_iter().filter_map(|run| {
        let goodness = goodness(score, score.values[run]?);
        Some(ScoredRun { seed: table.seeds()[run], setting: table.settings().of_runs[run], goodness })
    });
    runs.collect()
}

/// What a score chooses.
struct Source {
    name: String,
    /// For each dataset and each seed with at least two settings, the settings that score best among the runs of the seed: more than one
    /// where they are equal.
    best: Vec<Vec<(i64, Vec<usize>)>>,
}

impl Source {
    fn of(table: &StudyTable, score: &ScoreColumn) -> Self {
        let datasets = 0..table.datasets().len();
        let best = datasets.map(|dataset| best_by_seed(scored_runs(table, score, dataset))).collect();
        Self { name: score.name.clone(), best }
    }

    /// Adds what the chosen settings win by the target on `dataset` that `outcomes` are of, and marks the datasets of such draws.
    fn add(&self, target: &str, dataset: usize, outcomes: &mut Outcomes, sums: &mut [Sum; 4], takes_part: &mut [bool]) {
        for (from, best) in self.best.iter().enumerate() {
            let is_same_dataset = from == dataset;
            for (seed, settings) in best {
                let left_out = is_same_dataset.then_some(*seed);
                let shares: Vec<f64> =
                    settings.iter().filter_map(|&setting| outcomes.share(setting, left_out)).collect();
                if !shares.is_empty() {
                    let place = usize::from(self.name != target) + 2 * usize::from(!is_same_dataset);
                    takes_part[from] = true;
                    takes_part[dataset] = true;
                    sums[place].add(shares.iter().sum::<f64>() / shares.len() as f64);
                }
            }
        }
    }
}

fn best_by_seed(mut runs: Vec<ScoredRun>) -> Vec<(i64, Vec<usize>)> {
    runs.sort_by_key(|run| (run.seed, run.setting));
    let of_seeds = runs.chunk_by(|a, b| a.seed == b.seed).filter(|runs| runs.len() >= LEAST_SETTINGS);
    let best = of_seeds.map(|runs| {
        let greatest = runs.iter().map(|run| run.goodness).fold(f64::NEG_INFINITY, f64::max);
        let equal = runs.iter().filter(|run| run.goodness == greatest);
        (runs[0].seed, equal.map(|run| run.setting).collect())
    });
    best.collect()
}

/// The runs of one target, from which follows what a setting wins.
struct Outcomes {
    runs: Vec<ScoredRun>,
    /// What was counted already, by the setting and the seed that is left out.
    counted: BTreeMap<(usize, Option<i64>), Option<f64>>,
}

impl Outcomes {
    /// The share of pairs, of a run of the setting and a run of another, that the first wins; none where there is no pair.
    fn share(&mut self, setting: usize, left_out: Option<i64>) -> Option<f64> {
        let runs = &self.runs;
        *self.counted.entry((setting, left_out)).or_insert_with(|| share_of(runs, setting, left_out))
    }
}

/// First another setting is drawn, then a run of it, so that settings weigh the same whatever their number of runs.
fn share_of(runs: &[ScoredRun], setting: usize, left_out: Option<i64>) -> Option<f64> {
    let there = runs.iter().filter(|run| left_out != Some(run.seed));
    let (own, mut others): (Vec<ScoredRun>, Vec<ScoredRun>) = there.partition(|run| run.setting == setting);
    others.sort_by(|a, b| a.setting.cmp(&b.setting).then(a.goodness.total_cmp(&b.goodness)));
    let shares: Vec<f64> = others.chunk_by(|a, b| a.setting == b.setting).map(|other| share_won(&own, other)).collect();
    if own.is_empty() || shares.is_empty() { None } else { Some(shares.iter().sum::<f64>() / shares.len() as f64) }
}

/// The share of pairs that `own` wins against `other`, whose values rise; equal ones count half.
fn share_won(own: &[ScoredRun], other: &[ScoredRun]) -> f64 {
    let twice_won = own.iter().map(|run| {
        let below = other.partition_point(|one| one.goodness < run.goodness);
        let up_to = other.partition_point(|one| one.goodness <= run.goodness);
        below + up_to
    });
    twice_won.sum::<usize>() as f64 / (2 * own.len() * other.len()) as f64
}

#[cfg(test)]
mod tests {
    use unbraid_metrics::Scores;

    use super::*;
    use crate::table::Run;

    fn run(dataset: &str, seed: i64, beta: f64, mig: Option<f64>) -> Run {
        let framework = format!("{{ name = 'beta_vae', beta = {beta:?} }}");
        Run {
            name: format!("{dataset} {seed} {beta}"),
            config: format!("seed = {seed}\ndataset.name = '{dataset}'\nframework = {framework}").parse().unwrap(),
            scores: Scores::new().with_outcome("mig", mig.ok_or("one factor")),
        }
    }

    fn table(runs: &[(i64, f64, f64)]) -> StudyTable {
        let run = |&(seed, beta, mig): &(i64, f64, f64)| run("a", seed, beta, Some(mig));
        StudyTable::new(&runs.iter().map(run).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn draws_worked_by_hand() {
        // Seed 1 chooses beta 4, which wins on seed 2 by 0.5 against 0.4; seed 2 chooses it too, and it wins on seed 1.
        let found = random_good(&table(&[(1, 1.0, 0.3), (1, 4.0, 0.6), (2, 1.0, 0.4), (2, 4.0, 0.5)])).unwrap();
        assert_eq!(found.overall[0], Some(Won { share: 1.0, n_draws: 2 }));
        assert_eq!((&found.overall[1..], found.n_runs), (&[None, None, None][..], 4));
        // Seed 1 chooses 4 and loses on seed 2; seed 2 chooses 1 and loses on seed 1.
        let found = random_good(&table(&[(1, 1.0, 0.3), (1, 4.0, 0.6), (2, 1.0, 0.4), (2, 4.0, 0.1)])).unwrap();
        assert_eq!(found.overall[0], Some(Won { share: 0.0, n_draws: 2 }));
        // Equal ones are both chosen, and count half.
        let found = random_good(&table(&[(1, 1.0, 0.5), (1, 4.0, 0.5), (2, 1.0, 0.5), (2, 4.0, 0.5)])).unwrap();
        assert_eq!(found.overall[0], Some(Won { share: 0.5, n_draws: 2 }));
    }

    #[test]
    fn runs_that_are_never_drawn_do_not_count() {
        // One without a score, and a dataset of one setting.
        let runs = [
            run("a", 1, 1.0, Some(0.3)),
            run("a", 1, 4.0, Some(0.6)),
            run("a", 2, 1.0, Some(0.4)),
            run("a", 2, 4.0, Some(0.5)),
            run("a", 3, 4.0, None),
            run("b", 1, 2.0, Some(0.5)),
            run("b", 2, 2.0, Some(0.5)),
        ];
        assert_eq!(random_good(&StudyTable::new(&runs).unwrap()).unwrap().n_runs, 4);
    }

    #[test]
    fn without_a_second_seed_there_is_nothing_to_try_it_on() {
        let why = random_good(&table(&[(1, 1.0, 0.3), (1, 4.0, 0.6)])).unwrap_err();
        assert!(why.starts_with("needs at least 2 settings that share a seed"), "{why}");
    }
}
