//! FactorVAE score: how often the latent that varies least tells which factor was held fixed.
//!
//! Kim and Mnih 2018, "Disentangling by factorising", section 3, with the numbers of Locatello et al. 2019. For each vote
//! one factor is fixed at the value of a random row, 64 rows with that value are drawn, and the latent with the
//! smallest `Var_batch / Var_data` gets the vote. A latent stands for the factor for which it got most of 10,000
//! training votes; the score is how many of 5,000 others are for the factor that their latent stands for.
//!
//! Rows are drawn from the whole table with replacement, which on a full grid is to draw the other factors uniformly.
//! On any other sample the other factors have the frequencies that they have among the rows with the fixed value.
//!
//! Departures: a latent that does not vary at all has no vote, with pruning or without (in the reference 0/0 wins the
//! vote); where no latent has a vote the score is undefined (in the reference it is 0); `factor_vae.active_latents`
//! counts those that have one (in the reference it is the number of all latents); continuous factors cannot be fixed and
//! are not drawn.

use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result, Rng, Seed, settings};

use crate::Better::*;
use crate::Change::*;
use crate::rows_by_value::RowsByValue;
use crate::statistics::first_largest::first_largest;
use crate::voters::{TIE, Voters};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// More rows or votes than this would take longer than anyone waits.
const MOST: usize = 100_000_000;

/// Settings of the FactorVAE score.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct FactorVae {
    /// How many rows are drawn for each vote; 64 in Locatello et al. 2019 (disentanglement_lib).
    pub batch_size: usize,
    /// How many votes decide which factor a latent stands for; 10,000 there.
    pub train_votes: usize,
    /// How many votes are counted for the score; 5,000 there.
    pub eval_votes: usize,
    /// From how many rows, drawn without replacement, a latent's variance is estimated; 10,000 there.
    pub variance_rows: usize,
    /// Latents with a smaller standard deviation have no vote; 0.05 there, 0 (all have one) in disent.
    pub prune_below: f64,
}

impl Default for FactorVae {
    fn default() -> Self {
        Self { batch_size: 64, train_votes: 10_000, eval_votes: 5_000, variance_rows: 10_000, prune_below: 0.05 }
    }
}

impl FactorVae {
    fn check(self) -> Result<Self> {
        let least = [
            ("batch_size", self.batch_size, 2),
            ("train_votes", self.train_votes, 1),
            ("eval_votes", self.eval_votes, 1),
            ("variance_rows", self.variance_rows, 2),
        ];
        for (name, value, least) in least {
            if !(least..=MOST).contains(&value) {
                let wanted = format!("wanted {least} to {MOST}");
                return Err(Error::new(format!("setting \"{name}\" is {value}")).help(wanted));
            }
        }
        if !(self.prune_below >= 0.0 && self.prune_below.is_finite()) {
            return Err(Error::new(format!("setting \"prune_below\" is {}", self.prune_below))
                .help("it is a standard deviation, 0 or more"));
        }
        Ok(self)
    }
}

impl Metric for FactorVae {
    /// `factor_vae` and `factor_vae.train` in [0, 1], `factor_vae.active_latents`, and the matrix of training votes.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let seed = Seed(rng.random());
        let voters = Voters::new(subject, self.variance_rows, self.prune_below, &mut seed.stream("variances"));
        let n_active = voters.as_ref().map_or(0, |voters| voters.latents.len()) as f64;
        let ballot = Ballot::new(subject);
        let voters = match voters {
            Ok(_) if ballot.factors.is_empty() => Err("needs a discrete factor to hold fixed".to_string()),
            voters => voters,
        };
        let voters = match voters {
            Ok(voters) => voters,
            Err(reason) => {
                let scores = Scores::new().without_all(["factor_vae", "factor_vae.train"], &reason);
                return scores.with("factor_vae.active_latents", n_active);
            }
        };
        let count = |stream: &str, n_votes: usize| {
            let vote = |number| vote(&voters, &ballot, self.batch_size, &mut seed.stream_at(stream, number as u64));
            let votes: Vec<(usize, usize)> = (0..n_votes).into_par_iter().map(vote).collect();
            let mut counts = Array2::zeros((data.n_latents(), data.n_factors()));
            votes.into_iter().for_each(|(latent, factor)| counts[[latent, factor]] += 1.0);
            counts
        };
        let train = count("training votes", self.train_votes); // [latents, factors]
        let stands_for: Vec<usize> = train.outer_iter().map(|of_latent| first_largest(&of_latent)).collect();
        Scores::new()
            .with("factor_vae", accuracy(&count("evaluation votes", self.eval_votes), &stands_for))
            .with("factor_vae.train", accuracy(&train, &stands_for))
            .with("factor_vae.active_latents", n_active)
            .with_matrix(Matrix::of_latents_and_factors("factor_vae.votes", data, train))
    }
}

/// Draws a batch with one factor fixed; gives the latent that varies least in it, and the factor.
fn vote(voters: &Voters, ballot: &Ballot, batch_size: usize, rng: &mut Rng) -> (usize, usize) {
    let (factor, alike) = ballot.draw(rng);
    let draw = |_| ballot.rows[alike[rng.random_range(0..alike.len() as u32) as usize] as usize];
    let batch: Vec<usize> = (0..batch_size).map(draw).collect();
    let squares = voters.squares(&batch);
    let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
    let winner = squares.iter().position(|&square| square <= least * (1.0 + TIE)).unwrap_or(0);
    (voters.latents[winner], factor)
}

/// What is voted on: the factors that can be fixed, and the rows that have each value of them.
struct Ballot<'a> {
    factors: Vec<RowsByValue>,
    /// The rows of the table in the order in which `factors` numbers them.
    rows: &'a [usize],
}

impl<'a> Ballot<'a> {
    fn new(subject: &'a Subject) -> Self {
        Self { factors: RowsByValue::of_discrete_factors(subject), rows: subject.rows_by_factors() }
    }

    /// A factor, and the rows that have the same value of it as a random row.
    fn draw(&self, rng: &mut Rng) -> (usize, &[u32]) {
        let drawn = &self.factors[rng.random_range(0..self.factors.len() as u32) as usize];
        (drawn.factor, drawn.alike(rng.random_range(0..self.rows.len() as u32) as usize))
    }
}

/// The share of `votes [latents, factors]` that are for the factor that their latent stands for.
fn accuracy(votes: &Array2<f64>, stands_for: &[usize]) -> f64 {
    votes.outer_iter().zip(stands_for).map(|(of_latent, &factor)| of_latent[factor]).sum::<f64>() / votes.sum()
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "factor_vae",
    about: "how often the latent that varies least tells which factor was fixed",
    paper: "Kim and Mnih 2018",
    settings: &[
        Setting { name: "batch_size", values: Values::Whole(2, MOST as u64), meaning: "rows drawn for each vote" },
        Setting {
            name: "train_votes",
            values: Values::Whole(1, MOST as u64),
            meaning: "votes that decide which factor a latent stands for",
        },
        Setting {
            name: "eval_votes",
            values: Values::Whole(1, MOST as u64),
            meaning: "votes that are counted for the score",
        },
        Setting {
            name: "variance_rows",
            values: Values::Whole(2, MOST as u64),
            meaning: "rows from which a latent's variance is estimated",
        },
        Setting {
            name: "prune_below",
            values: Values::Number(0.0, f64::MAX),
            meaning: "latents with a smaller standard deviation have no vote; 0: all have one",
        },
    ],
    scores: &[
        ScoreKind { name: "factor_vae", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "factor_vae.train", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "factor_vae.active_latents", least: 0.0, greatest: f64::INFINITY, better: Neither },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<FactorVae>(table)?.check()?)),
    complete: settings::complete::<FactorVae>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, LabelledCodes};

    use super::*;

    fn score(settings: &FactorVae, codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        settings.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/factor_vae"))
    }

    #[test]
    fn votes_are_counted_under_the_latents_own_number() {
        // z0 never moves and has no vote; z1 is minus the second factor and z2 the first.
        let scores =
            score(&FactorVae::default(), array![[7.0, 0.0, 0.0], [7.0, -1.0, 0.0], [7.0, 0.0, 1.0], [7.0, -1.0, 1.0]]);
        for (name, expected) in [("factor_vae", 1.0), ("factor_vae.train", 1.0), ("factor_vae.active_latents", 2.0)] {
            assert_eq!(scores.value(name), Some(expected), "{name}");
        }
        let votes = &scores.matrices[0].values;
        assert_eq!(votes.sum(), 10_000.0);
        assert_eq!(votes[[1, 1]] + votes[[2, 0]], 10_000.0);
        // Each of two factors is drawn half the time: 5,000 with a standard deviation of 50.
        assert!((votes[[1, 1]] - 5_000.0).abs() < 250.0);
    }

    #[test]
    fn small_latents_vote_only_without_pruning_and_constant_ones_never() {
        // The standard deviation of 0, 0, 0.08, 0.08 is 0.08 / sqrt(3) = 0.046.
        let codes = array![[0.0, 5.0], [0.0, 5.0], [0.08, 5.0], [0.08, 5.0]];
        let scores = score(&FactorVae::default(), codes.clone());
        let reason = "no latent has a standard deviation of 0.05 or more (setting \"prune_below\")".to_string();
        assert_eq!(scores.reason("factor_vae"), Some(reason.as_str()));
        assert_eq!(scores.value("factor_vae.active_latents"), Some(0.0));
        // With one voter all votes are its own, right for one factor in two.
        let scores = score(&FactorVae { prune_below: 0.0, ..FactorVae::default() }, codes);
        assert_eq!(scores.value("factor_vae.active_latents"), Some(1.0));
        assert!((scores.value("factor_vae").unwrap() - 0.5).abs() < 0.04);
    }

    #[test]
    fn continuous_factors_are_not_drawn() {
        let size_of = |size| Factor { name: format!("{size:?}"), size };
        let codes = array![[0.0], [1.0], [3.0]];
        let space = FactorSpace::sample(vec![size_of(None), size_of(Some(2))]);
        let factors = array![[0.5, 0.0], [1.5, 0.0], [2.5, 1.0]];
        let data = LabelledCodes::new(codes.clone(), factors, space, Extras::default()).unwrap();
        let mut rng = Seed(1).stream("metric/factor_vae");
        let scores = FactorVae::default().score(&Subject::new(&data, Seed(1)), &mut rng);
        assert_eq!(scores.value("factor_vae"), Some(1.0));
        assert_eq!(scores.matrices[0].values, array![[0.0, 10_000.0]]);

        let space = FactorSpace::sample(vec![size_of(None)]);
        let data = LabelledCodes::new(codes.clone(), codes, space, Extras::default()).unwrap();
        let scores = FactorVae::default().score(&Subject::new(&data, Seed(1)), &mut rng);
        assert_eq!(scores.undefined[0].reason, "needs a discrete factor to hold fixed");
    }

    #[test]
    fn votes_on_rows_in_any_order_stay_as_they_are() {
        // Votes as they were drawn and counted from the start, so that scores of earlier versions can be had again.
        let factors = Array2::from_shape_fn((120, 3), |(row, factor)| [row / 30, row / 6 % 5, row % 6][factor] as f64);
        let mut rng = Seed(3).stream("codes");
        let codes = Array2::from_shape_fn((120, 4), |(row, latent)| {
            rng.random_range(-3.0..3.0) + if latent < 3 { factors[[row * 7 % 120, latent]] } else { 0.0 }
        });
        let factors = factors.select(Axis(0), &(0..120).map(|row| row * 7 % 120).collect::<Vec<usize>>());
        let space = FactorSpace::grid([("a", 4), ("b", 5), ("c", 6)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        let settings = FactorVae { variance_rows: 60, ..FactorVae::default() };
        let scores = settings.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/factor_vae"));
        assert_eq!((scores.value("factor_vae"), scores.value("factor_vae.train")), (Some(0.7524), Some(0.7454)));
        let votes = array![[900.0, 6.0, 262.0], [1368.0, 3127.0, 169.0], [507.0, 167.0, 2838.0], [589.0, 40.0, 27.0]];
        assert_eq!(scores.matrices[0].values, votes);
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        assert!(FactorVae { batch_size: 1, ..FactorVae::default() }.check().is_err());
        assert!(FactorVae { prune_below: f64::NAN, ..FactorVae::default() }.check().is_err());
    }
}
