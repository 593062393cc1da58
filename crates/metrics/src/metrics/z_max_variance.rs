//! Z-max variance: how often the latent that varies most tells which factor was varied alone.
//!
//! Kim et al. 2019, "Relevance factor VAE: learning and identifying disentangled factors", the metric that turns
//! `factor_vae` around (`metric2` in the authors' code). For each vote all factors but one are fixed, up to 100
//! rows with these values are drawn, and the latent with the largest `Var_batch / Var_data` gets the vote. A latent stands
//! for the factor for which it got most of 800 votes, as many for each factor, and the score is the share of these votes
//! that are for the factor that their latent stands for.
//!
//! `z_max_variance.held_out` is the share of 800 other votes, and `z_max_variance.scaled` that share on a scale from guessing
//! (0) to 1, as Carbonneau et al. 2022 ("Measuring disentanglement") report it; they draw 200 rows, with repeats where there
//! are fewer, and prune latents with a deviation below 0.05.
//!
//! Departures: the values that are fixed are drawn among those with which the factor takes at least two values in the
//! table (on a full grid these are all); a factor that never varies alone takes no part; a batch in which no latent varies
//! has no winner and counts as wrong (in the authors' code the first latent wins); variances that differ by less than a
//! billionth are equal, and the first such latent has the vote; a continuous factor is cut into bins as by Carbonneau et
//! al., which vary a little while they are fixed.

use std::num::NonZeroUsize;

use ndarray::Array2;
use rand::{RngExt, seq};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Result, Rng, Seed, settings};

use crate::Better::High;
use crate::Change::*;
use crate::rows_by_others::RowsByOthers;
use crate::statistics::classes::classes_of_factors;
use crate::statistics::first_largest::first_largest;
use crate::statistics::information::{MOST_BINS, check_bins, published};
use crate::voters::{TIE, Voters};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// More rows or votes than this would take longer than anyone waits.
const MOST: usize = 100_000_000;
const LARGEST_DEVIATION: f64 = 1e100;

/// Settings of the Z-max variance; the defaults are those of the code of Kim et al. 2019.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ZMaxVariance {
    /// How many rows are drawn for each vote, without replacement and at most those there are; 100.
    pub batch_size: usize,
    /// How many votes decide which factor a latent stands for, and as many others are held out; 800.
    pub votes: usize,
    /// From how many rows, drawn without replacement, a latent's variance is estimated; 5,000.
    pub variance_rows: usize,
    /// Latents with a smaller standard deviation have no vote; 0 (all that move have one), 0.05 in Carbonneau et al. 2022.
    pub prune_below: f64,
    /// How many bins a continuous factor is cut into; 10 in Carbonneau et al. 2022.
    pub bins: NonZeroUsize,
}

impl Default for ZMaxVariance {
    fn default() -> Self {
        Self { batch_size: 100, votes: 800, variance_rows: 5_000, prune_below: 0.0, bins: published(10) }
    }
}

impl ZMaxVariance {
    fn check(self) -> Result<Self> {
        let least =
            [("batch_size", self.batch_size, 2), ("votes", self.votes, 1), ("variance_rows", self.variance_rows, 2)];
        for (name, value, least) in least {
            if !(least..=MOST).contains(&value) {
                let wanted = format!("wanted {least} to {MOST}");
                return Err(Error::new(format!("setting \"{name}\" is {value}")).help(wanted));
            }
        }
        if !(0.0..=LARGEST_DEVIATION).contains(&self.prune_below) {
            return Err(Error::new(format!("setting \"prune_below\" is {}", self.prune_below))
                .help("it is a standard deviation, 0 to 1e100"));
        }
        check_bins(self.bins)?;
        Ok(self)
    }
}

const PARTS: [&str; 3] = ["z_max_variance", "z_max_variance.held_out", "z_max_variance.scaled"];

impl Metric for ZMaxVariance {
    /// `z_max_variance` and `z_max_variance.held_out` in [0, 1], `z_max_variance.scaled` up to 1, and the matrix of votes.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let seed = Seed(rng.random());
        let voters = Voters::new(subject, self.variance_rows, self.prune_below, &mut seed.stream("variances"));
        let ballot = self.ballot(subject);
        let voters = match voters {
            Ok(_) if ballot.is_empty() => {
                Err("needs rows in which one factor takes several values while all others stay equal".to_string())
            }
            voters => voters,
        };
        let voters = match voters {
            Ok(voters) => voters,
            Err(reason) => return Scores::new().without_all(PARTS, &reason),
        };
        let count = |stream: &str| self.count(subject.data(), &voters, &ballot, seed, stream);
        let votes = count("votes"); // [latents, factors]
        let stands_for: Vec<usize> = votes.outer_iter().map(|of_latent| first_largest(&of_latent)).collect();
        let right = |votes: &Array2<f64>| -> f64 {
            let of_latents = votes.outer_iter().zip(&stands_for);
            of_latents.map(|(of_latent, &factor)| of_latent[factor]).sum::<f64>() / self.votes as f64
        };
        let held_out = right(&count("held-out votes"));
        let guessing = 1.0 / ballot.len() as f64;
        let scaled = match ballot.len() {
            1 => Err("needs at least two factors to tell apart, and one varies alone"),
            _ => Ok((held_out - guessing) / (1.0 - guessing)),
        };
        Scores::new()
            .with(PARTS[0], right(&votes))
            .with(PARTS[1], held_out)
            .with_outcome(PARTS[2], scaled)
            .with_matrix(Matrix::of_latents_and_factors("z_max_variance.votes", subject.data(), votes))
    }
}

impl ZMaxVariance {
    /// For each factor that ever varies alone, where it does.
    fn ballot(&self, subject: &Subject) -> Vec<RowsByOthers> {
        let data = subject.data();
        let factors = classes_of_factors(data.factors(), data.space().factors(), self.bins.get());
        let of_factor = |factor| RowsByOthers::new(&factors, factor, subject.rows_by_factors());
        (0..factors.len()).map(of_factor).filter(|groups| groups.n_groups() > 0).collect()
    }

    /// How often each latent gets the vote while each factor varies; as many votes are for each factor. `[latents, factors]`
    fn count(
        &self,
        data: &LabelledCodes,
        voters: &Voters,
        ballot: &[RowsByOthers],
        seed: Seed,
        stream: &str,
    ) -> Array2<f64> {
        let vote = |number: usize| {
            let groups = &ballot[number % ballot.len()];
            (vote(voters, groups, self.batch_size, &mut seed.stream_at(stream, number as u64)), groups.factor)
        };
        let votes: Vec<(Option<usize>, usize)> = (0..self.votes).into_par_iter().map(vote).collect();
        let mut counts = Array2::zeros((data.n_latents(), data.n_factors()));
        for (latent, factor) in votes.into_iter().filter_map(|(latent, factor)| Some((latent?, factor))) {
            counts[[latent, factor]] += 1.0;
        }
        counts
    }
}

/// Draws a batch in which one factor varies; gives the latent that varies most in it, if any does.
fn vote(voters: &Voters, groups: &RowsByOthers, batch_size: usize, rng: &mut Rng) -> Option<usize> {
    let group = groups.group(rng.random_range(0..groups.n_groups() as u64) as usize);
    let batch: Vec<usize> = if batch_size < group.len() {
        seq::index::sample(rng, group.len(), batch_size).iter().map(|place| group[place] as usize).collect()
    } else {
        group.iter().map(|&row| row as usize).collect()
    };
    let squares = voters.squares(&batch);
    let largest = squares.iter().copied().fold(0.0, f64::max);
    let is_largest = |square: &f64| largest > 0.0 && *square >= largest * (1.0 - TIE);
    squares.iter().position(is_largest).map(|voter| voters.latents[voter])
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "z_max_variance",
    about: "how often the latent that varies most tells which factor was varied alone",
    paper: "Kim et al. 2019",
    settings: &[
        Setting {
            name: "batch_size",
            values: Values::Whole(2, MOST as u64),
            meaning: "how many rows are drawn for each vote, at most",
        },
        Setting {
            name: "votes",
            values: Values::Whole(1, MOST as u64),
            meaning: "how many votes decide which factor a latent stands for; as many others are held out",
        },
        Setting {
            name: "variance_rows",
            values: Values::Whole(2, MOST as u64),
            meaning: "from how many rows a latent's variance is estimated",
        },
        Setting {
            name: "prune_below",
            values: Values::Number(0.0, LARGEST_DEVIATION),
            meaning: "latents with a smaller standard deviation have no vote",
        },
        Setting {
            name: "bins",
            values: Values::Whole(1, MOST_BINS as u64),
            meaning: "how many bins a continuous factor is cut into",
        },
    ],
    scores: &[
        ScoreKind { name: "z_max_variance", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "z_max_variance.held_out", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "z_max_variance.scaled", least: -1.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[
        LatentOrder,
        LatentSigns,
        CommonScale,
        LatentScales,
        Shift,
        RowOrder,
        ValueOrder,
        LogVariances,
        Losses,
    ],
    build: |table| Ok(Box::new(settings::read::<ZMaxVariance>(table)?.check()?)),
    complete: settings::complete::<ZMaxVariance>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace};

    use super::*;

    fn score(settings: &ZMaxVariance, data: &LabelledCodes) -> Scores {
        settings.score(&Subject::new(data, Seed(1)), &mut Seed(1).stream("metric/z_max_variance"))
    }

    fn four_rows(codes: Array2<f64>) -> LabelledCodes {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        LabelledCodes::new(codes, factors, space, Extras::default()).unwrap()
    }

    #[test]
    fn votes_are_counted_under_the_latents_own_number() {
        // z0 never moves and has no vote; z1 is minus the second factor, far from 0, and z2 the first one, small.
        let codes = array![[7.0, 1e8, 0.0], [7.0, 1e8 - 1.0, 0.0], [7.0, 1e8, 1e-9], [7.0, 1e8 - 1.0, 1e-9]];
        let scores = score(&ZMaxVariance::default(), &four_rows(codes));
        for name in PARTS {
            assert_eq!(scores.value(name), Some(1.0), "{name}");
        }
        assert_eq!(scores.matrices[0].values, array![[0.0, 0.0], [0.0, 400.0], [400.0, 0.0]]);
    }

    #[test]
    fn the_share_of_votes_agrees_with_all_groups_counted_in_numpy() {
        // On a grid of 4 x 5 x 6, all groups are smaller than a batch, so that each has a vote of its own. Counted over all of
        // them, 0.641667 of the votes are right; 0.4625 on the scale from guessing to 1, where the code of Carbonneau
        // et al. gives 0.466 +- 0.011 in ten runs.
        let sizes = [4, 5, 6];
        let noise = |row: usize, latent: usize| {
            2.0 * ((row + 1) as f64 * (latent + 1) as f64 * 0.618_033_988_749_894_9).fract() - 1.0
        };
        let factors = Array2::from_shape_fn((120, 3), |(row, factor)| [row / 30, row / 6 % 5, row % 6][factor] as f64);
        let codes = Array2::from_shape_fn((120, 4), |(row, latent)| match latent {
            0 => factors[[row, 0]] + 1.5 * noise(row, 0),
            1 => factors[[row, 1]] + 2.5 * noise(row, 1),
            2 => 0.7 * factors[[row, 2]] + 0.7 * factors[[row, 1]] + noise(row, 2),
            _ => noise(row, 3),
        });
        let space = FactorSpace::grid(["a", "b", "c"].into_iter().zip(sizes));
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        let scores = score(&ZMaxVariance { votes: 300_000, ..ZMaxVariance::default() }, &data);
        for (name, expected) in PARTS.into_iter().zip([0.641_667, 0.641_667, 0.4625]) {
            // The standard error is 0.0009, and 0.0013 on the scale.
            assert!((scores.value(name).unwrap() - expected).abs() < 0.005, "{name}: {scores:?}");
        }
        let votes = &scores.matrices[0].values / 100_000.0;
        let expected =
            array![[0.633_333, 0.0, 0.0], [0.0, 0.291_667, 0.0], [0.0, 0.208_333, 0.25], [0.366_667, 0.5, 0.75]];
        assert!((&votes - &expected).iter().all(|difference| difference.abs() < 0.01), "{votes}");
    }

    #[test]
    fn a_batch_in_which_no_latent_varies_counts_as_wrong() {
        // The only latent is the first factor, and the second one moves nothing: half of the votes have no winner.
        let scores = score(&ZMaxVariance::default(), &four_rows(array![[0.0], [0.0], [1.0], [1.0]]));
        assert_eq!((scores.value(PARTS[0]), scores.value(PARTS[2])), (Some(0.5), Some(0.0)));
    }

    #[test]
    fn what_leaves_no_vote_is_named() {
        let scores = score(&ZMaxVariance::default(), &four_rows(Array2::ones((4, 2))));
        assert_eq!(scores.undefined[0].reason, "every latent is constant");
        let pruned = ZMaxVariance { prune_below: 5.0, ..ZMaxVariance::default() };
        let scores = score(&pruned, &four_rows(array![[0.0], [0.0], [1.0], [1.0]]));
        assert!(scores.undefined[0].reason.starts_with("no latent has a standard deviation of 5 or more"));
        // Both factors change from each row to the next.
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let factors = array![[0.0, 0.0], [1.0, 1.0]];
        let data = LabelledCodes::new(array![[0.0], [1.0]], factors, space, Extras::default()).unwrap();
        assert!(
            score(&ZMaxVariance::default(), &data).undefined[0].reason.starts_with("needs rows in which one factor")
        );
    }

    #[test]
    fn continuous_factors_are_cut_into_bins() {
        // Two bins of the angle, at 0.1 and 0.9 with a little more or less; the latents are the angle and the shape.
        let factors = array![[0.1, 0.0], [0.9, 0.0], [0.12, 1.0], [0.88, 1.0]];
        let factor = |name: &str, size| Factor { name: name.to_string(), size };
        let space = FactorSpace::sample(vec![factor("angle", None), factor("shape", Some(2))]);
        let data = LabelledCodes::new(factors.clone(), factors, space, Extras::default()).unwrap();
        let settings = ZMaxVariance { bins: published(2), ..ZMaxVariance::default() };
        assert_eq!(score(&settings, &data).value("z_max_variance"), Some(1.0));
    }

    #[test]
    fn batches_are_drawn_from_groups_that_are_larger() {
        // A thousand values of one factor; every batch of 100 varies z0, and nothing else moves.
        let codes = Array2::from_shape_fn((1000, 1), |(row, _)| row as f64);
        let data =
            LabelledCodes::new(codes.clone(), codes, FactorSpace::grid([("row", 1000)]), Extras::default()).unwrap();
        let scores = score(&ZMaxVariance::default(), &data);
        assert_eq!(scores.value("z_max_variance"), Some(1.0));
        assert!(scores.undefined[0].reason.starts_with("needs at least two factors"));
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        assert!(ZMaxVariance { batch_size: 1, ..ZMaxVariance::default() }.check().is_err());
        assert!(ZMaxVariance { votes: 0, ..ZMaxVariance::default() }.check().is_err());
        assert!(ZMaxVariance { prune_below: f64::NAN, ..ZMaxVariance::default() }.check().is_err());
    }
}
