//! Distance correlation: whether codes are far apart where the factors are.
//!
//! Michlo 2022, "Disentanglement using VAEs resembles distance learning and requires overlapping data", equations 4.1 to
//! 4.3, as disent computes them (`factored_components`). Over pairs of images the L1 distance of their codes is
//! correlated with the L1 distance of their factors' whole-number values:
//!
//! `factor`: pairs within a traversal of one factor, each image with itself among them, pooled over the traversals of the
//! factor (4.2); then the geometric mean over the factors (4.3). `distance_correlation` is this with Spearman's
//! coefficient, the headline of the thesis.
//!
//! `global32`: pairs within 1,024 groups of 32 images, drawn with replacement. One pair in 32 is an image with itself,
//! which raises the correlation a lot. `global`: pairs of images drawn independently, which is equation 4.1.
//!
//! Each comes as `pearson`, `spearman` and `rank_same` (the share of triples for which codes and factors agree on which
//! of two images is closer to a third, or that neither is), and once more under `distance_correlation.l2` with L2
//! distances of codes.
//!
//! Departures: all traversals and all pairs in them are counted instead of a random draw, unless there are too many
//! (`most_triples`); distances are rounded before they are ranked, so that rounding errors break no ties (disent's are
//! broken: on codes that lie on straight lines its Spearman is 0.99); a factor with a single value takes no part;
//! where a factor's correlation is negative the geometric mean is undefined (NaN in disent) and the arithmetic one
//! is given. The correlation with distances of images (4.10) needs the images, which labelled codes do not have.

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Factor, LabelledCodes, Rng, Seed, settings};

use crate::Better::High;
use crate::Change::*;
use crate::distance_agreement::{ROUND_SHARE, Rounding, pearson, rank_same, spearman};
use crate::distance_pools::{Pool, draw_triple};
use crate::scaled_table::ScaledTable;
use crate::statistics::geometric_mean::geometric_mean;
use crate::traversal_ratios::values_of_factors;
use crate::{Entry, Metric, ScoreKind, ScoreOf, Scores, Subject};

/// More triples than this would not fit into memory.
const MOST: usize = 100_000_000;

/// Settings of the distance correlation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct DistanceCorrelation {
    /// How many groups are drawn; 1,024 in disent (`repeats`).
    pub groups: usize,
    /// How many rows a group has; 32 in disent (`global_subset_size`).
    pub group_size: usize,
    /// How many triples are drawn from a group; 64 in disent (`num_samples`).
    pub triples_per_group: usize,
    /// How many triples of independent rows are drawn: as many as disent draws from its groups.
    pub independent_triples: usize,
    /// A factor whose traversals have more triples than this is drawn from, not enumerated.
    pub most_triples: f64,
    /// How many triples are drawn from such a factor's traversals; disent draws 65,536.
    pub drawn_triples: usize,
    /// Before distances of codes are ranked they are rounded to multiples of this share of the largest one in the pool; 0
    /// for none, as in disent.
    pub round_share: f64,
    /// Where it is not 0, they are rounded to multiples of this distance instead.
    pub round_to: f64,
}

impl Default for DistanceCorrelation {
    fn default() -> Self {
        Self {
            groups: 1024,
            group_size: 32,
            triples_per_group: 64,
            independent_triples: 65_536,
            most_triples: 1e8,
            drawn_triples: 262_144,
            round_share: ROUND_SHARE,
            round_to: 0.0,
        }
    }
}

/// The statistics of a pool.
const STATISTICS: [&str; 3] = ["pearson", "spearman", "rank_same"];
/// The norms of the distances of codes, and what their scores' names begin with.
const NORMS: [&str; 2] = ["distance_correlation", "distance_correlation.l2"];

/// For each norm each statistic, or why it is not defined.
type Agreement = [[Result<f64, String>; 3]; 2];

impl Metric for DistanceCorrelation {
    /// `distance_correlation`, which is `distance_correlation.factor.spearman`, in [0, 1]; `.factor.STATISTIC`,
    /// `.factor.STATISTIC.arithmetic`, `.factor.STATISTIC.FACTOR`, `.global32.STATISTIC` and `.global.STATISTIC`;
    /// correlations in [-1, 1], `rank_same` in [0, 1]; and all again with L2 distances.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let seed = Seed(rng.random());
        let (codes, factors) = (ScaledTable::new(data.codes()), ScaledTable::new(data.factors()));
        let of_factor = |factor| match self.pool_of_factor(subject, factor, &codes, &factors, seed) {
            Ok(pool) => self.agreement(data, &pool, &codes),
            Err(reason) => std::array::from_fn(|_| std::array::from_fn(|_| Err(reason.clone()))),
        };
        let per_factor: Vec<Agreement> = (0..data.n_factors()).map(of_factor).collect();
        let of_triples =
            |triples: &[[usize; 3]]| self.agreement(data, &Pool::of_triples(&codes, &factors, triples), &codes);
        let global = [
            (format!("global{}", self.group_size), of_triples(&self.triples_of_groups(subject, seed))),
            ("global".to_string(), of_triples(&self.independent_triples(subject, seed))),
        ];

        let headline = over_factors(data, &each_factors(&per_factor, 0, 1)).0;
        let mut scores = Scores::new().with_outcome("distance_correlation", headline);
        for (norm, prefix) in NORMS.into_iter().enumerate() {
            for (statistic, name) in STATISTICS.into_iter().enumerate() {
                let values = each_factors(&per_factor, norm, statistic);
                scores = with_factors(scores, &format!("{prefix}.factor.{name}"), data, &values);
            }
            for (part, agreement) in &global {
                for (name, value) in STATISTICS.into_iter().zip(&agreement[norm]) {
                    // The size of a group is in the name, and one kind of score whatever the size.
                    let (name, kind) = (format!("{prefix}.{part}.{name}"), format!("{prefix}.global.{name}"));
                    scores = scores.with_score(&name, &kind, ScoreOf::Whole, value.clone());
                }
            }
        }
        scores
    }
}

/// One statistic of every factor.
fn each_factors(per_factor: &[Agreement], norm: usize, statistic: usize) -> Vec<Result<f64, String>> {
    per_factor.iter().map(|agreement| agreement[norm][statistic].clone()).collect()
}

/// The geometric and the arithmetic mean over the factors.
fn over_factors(
    data: &LabelledCodes,
    per_factor: &[Result<f64, String>],
) -> (Result<f64, String>, Result<f64, String>) {
    let values = values_of_factors(data, per_factor);
    let negative = per_factor.iter().zip(data.space().names()).find(|(value, _)| matches!(value, Ok(..0.0)));
    let geometric = match (&values, negative) {
        (Ok(_), Some((Ok(value), name))) => {
            Err(format!("the geometric mean needs numbers that are not negative, but factor \"{name}\" has {value:.6}"))
        }
        _ => values.clone().map(|values| geometric_mean(&values)),
    };
    (geometric, values.map(|values| values.iter().sum::<f64>() / values.len() as f64))
}

/// Adds `NAME`, the geometric mean; `NAME.arithmetic`; and `NAME.FACTOR`.
fn with_factors(scores: Scores, name: &str, data: &LabelledCodes, per_factor: &[Result<f64, String>]) -> Scores {
    let (geometric, arithmetic) = over_factors(data, per_factor);
    let mut scores = scores.with_outcome(name, geometric).with_outcome(&format!("{name}.arithmetic"), arithmetic);
    for (factor, value) in data.space().names().zip(per_factor) {
        scores = scores.with_factor(name, factor, value.clone());
    }
    scores
}

impl DistanceCorrelation {
    fn check(self) -> unbraid_data::Result<Self> {
        let counts = [
            ("groups", self.groups),
            ("group_size", self.group_size),
            ("triples_per_group", self.triples_per_group),
            ("independent_triples", self.independent_triples),
            ("drawn_triples", self.drawn_triples),
        ];
        if let Some((name, count)) = counts.into_iter().find(|(_, count)| !(1..=MOST).contains(count)) {
            return Err(Error::new(format!("setting \"{name}\" is {count}")).help(format!("wanted 1 to {MOST}")));
        }
        if self.groups.saturating_mul(self.triples_per_group) > MOST {
            let product = format!("{} groups of {} triples", self.groups, self.triples_per_group);
            return Err(Error::new(format!("{product} are too many")).help(format!("wanted {MOST} in all, at most")));
        }
        let sizes = [("most_triples", self.most_triples), ("round_to", self.round_to)];
        if let Some((name, size)) = sizes.into_iter().find(|(_, size)| !(*size >= 0.0 && size.is_finite())) {
            return Err(Error::new(format!("setting \"{name}\" is {size}")).help("wanted 0 or more"));
        }
        if !(0.0..=0.5).contains(&self.round_share) {
            return Err(Error::new(format!("setting \"round_share\" is {}", self.round_share))
                .help("it is a share of the largest distance, from 0 to 0.5"));
        }
        Ok(self)
    }

    /// All pairs of all traversals of a factor, or triples drawn from them where there are too many.
    fn pool_of_factor(
        &self,
        subject: &Subject,
        factor: usize,
        codes: &ScaledTable,
        factors: &ScaledTable,
        seed: Seed,
    ) -> Result<Pool, String> {
        let Factor { name, size } = &subject.data().space().factors()[factor];
        if *size == Some(1) {
            return Err(format!("factor \"{name}\" has a single value"));
        }
        let traversals = subject.traversals(factor)?;
        let n_triples = traversals.nrows() as f64 * (traversals.ncols() as f64).powi(3);
        if n_triples <= self.most_triples {
            return Ok(Pool::of_traversals(codes, traversals));
        }
        let rng = &mut seed.stream_at("triples of a factor", factor as u64);
        let draw = |_| {
            let rows = traversals.row(rng.random_range(0..traversals.nrows() as u64) as usize);
            draw_triple(rows.len(), rng).map(|position| rows[position])
        };
        let triples: Vec<[usize; 3]> = (0..self.drawn_triples).map(draw).collect();
        Ok(Pool::of_triples(codes, factors, &triples))
    }

    /// Triples of rows from within groups of rows, groups and triples drawn with replacement.
    fn triples_of_groups(&self, subject: &Subject, seed: Seed) -> Vec<[usize; 3]> {
        let rows = subject.rows_by_factors();
        let of_group = |group: usize| {
            let mut rng = seed.stream_at("groups", group as u64);
            let members: Vec<usize> =
                (0..self.group_size).map(|_| rows[rng.random_range(0..rows.len() as u64) as usize]).collect();
            let triple = move |_| draw_triple(members.len(), &mut rng).map(|position| members[position]);
            (0..self.triples_per_group).map(triple).collect::<Vec<_>>()
        };
        (0..self.groups).into_par_iter().flat_map_iter(of_group).collect()
    }

    /// Triples of rows drawn with replacement.
    fn independent_triples(&self, subject: &Subject, seed: Seed) -> Vec<[usize; 3]> {
        let rows = subject.rows_by_factors();
        let mut rng = seed.stream("independent triples");
        (0..self.independent_triples).map(|_| draw_triple(rows.len(), &mut rng).map(|place| rows[place])).collect()
    }

    /// The statistics of a pool, for each norm.
    fn agreement(&self, data: &LabelledCodes, pool: &Pool, codes: &ScaledTable) -> Agreement {
        let to_share = if self.round_share > 0.0 { Rounding::ShareOfLargest(self.round_share) } else { Rounding::None };
        let of_latents = if self.round_to > 0.0 { Rounding::Absolute(self.round_to) } else { to_share };
        let is_whole = data.space().factors().iter().all(|factor| factor.size.is_some());
        let of_ground = if is_whole { Rounding::Absolute(1.0) } else { to_share };
        let ground = of_ground.classes(&pool.ground, pool.ground_unit);
        let of_norm = |distances: &Vec<f64>| {
            let latent = of_latents.classes(distances, codes.unit);
            [pearson(pool, distances), spearman(pool, &ground, &latent), Ok(rank_same(pool, &ground, &latent))]
        };
        [of_norm(&pool.latent[0]), of_norm(&pool.latent[1])]
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "distance_correlation",
    about: "whether codes are far apart where the factors are",
    paper: "Michlo 2022",
    settings: &[
        Setting {
            name: "groups",
            values: Values::Whole(1, (MOST / 64) as u64),
            meaning: "groups that are drawn; times triples_per_group 100,000,000 at most",
        },
        Setting { name: "group_size", values: Values::Whole(1, MOST as u64), meaning: "rows of a group" },
        Setting {
            name: "triples_per_group",
            values: Values::Whole(1, (MOST / 1024) as u64),
            meaning: "triples drawn from a group; times groups 100,000,000 at most",
        },
        Setting {
            name: "independent_triples",
            values: Values::Whole(1, MOST as u64),
            meaning: "triples of independent rows that are drawn",
        },
        Setting {
            name: "most_triples",
            values: Values::Number(0.0, f64::MAX),
            meaning: "a factor whose traversals have more triples is drawn from, not enumerated",
        },
        Setting {
            name: "drawn_triples",
            values: Values::Whole(1, MOST as u64),
            meaning: "triples drawn from such a factor's traversals",
        },
        Setting {
            name: "round_share",
            values: Values::Number(0.0, 0.5),
            meaning: "distances of codes are rounded to multiples of this share of the largest; 0: not",
        },
        Setting {
            name: "round_to",
            values: Values::Number(0.0, f64::MAX),
            meaning: "where not 0, they are rounded to multiples of this distance instead",
        },
    ],
    scores: &[
        ScoreKind { name: "distance_correlation", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.factor.pearson", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.factor.pearson.arithmetic", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.global.pearson", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.factor.spearman", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.factor.spearman.arithmetic", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.global.spearman", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.factor.rank_same", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.factor.rank_same.arithmetic", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.global.rank_same", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.l2.factor.pearson", least: -1.0, greatest: 1.0, better: High },
        ScoreKind {
            name: "distance_correlation.l2.factor.pearson.arithmetic",
            least: -1.0,
            greatest: 1.0,
            better: High,
        },
        ScoreKind { name: "distance_correlation.l2.global.pearson", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.l2.factor.spearman", least: -1.0, greatest: 1.0, better: High },
        ScoreKind {
            name: "distance_correlation.l2.factor.spearman.arithmetic",
            least: -1.0,
            greatest: 1.0,
            better: High,
        },
        ScoreKind { name: "distance_correlation.l2.global.spearman", least: -1.0, greatest: 1.0, better: High },
        ScoreKind { name: "distance_correlation.l2.factor.rank_same", least: 0.0, greatest: 1.0, better: High },
        ScoreKind {
            name: "distance_correlation.l2.factor.rank_same.arithmetic",
            least: 0.0,
            greatest: 1.0,
            better: High,
        },
        ScoreKind { name: "distance_correlation.l2.global.rank_same", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<DistanceCorrelation>(table)?.check()?)),
    complete: settings::complete::<DistanceCorrelation>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    fn score(settings: &DistanceCorrelation, codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 3)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        settings.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/distance_correlation"))
    }

    /// shape moves 10 at each scale; scale moves through 0, 1, 5 at each shape.
    fn codes() -> Array2<f64> {
        array![[0.0], [1.0], [5.0], [10.0], [11.0], [15.0]]
    }

    #[test]
    fn factors_worked_by_hand() {
        // shape has two distances on either side, so 1. scale: see `distance_agreement`.
        let scores = score(&DistanceCorrelation::default(), codes());
        let (linear, rank) = (110.0 / (44.0_f64 * 356.0).sqrt(), 52.5 / (52.5_f64 * 56.5).sqrt());
        for (name, expected) in [
            ("distance_correlation", rank.sqrt()),
            ("distance_correlation.factor.spearman", rank.sqrt()),
            ("distance_correlation.factor.spearman.arithmetic", (1.0 + rank) / 2.0),
            ("distance_correlation.factor.spearman.scale", rank),
            ("distance_correlation.factor.pearson.scale", linear),
            ("distance_correlation.factor.pearson.shape", 1.0),
            ("distance_correlation.factor.rank_same.scale", 25.0 / 27.0),
            ("distance_correlation.l2.factor.pearson.scale", linear),
        ] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn a_draw_from_many_traversals_comes_close() {
        let scores = score(&DistanceCorrelation { most_triples: 0.0, ..DistanceCorrelation::default() }, codes());
        let expected = 110.0 / (44.0_f64 * 356.0).sqrt();
        assert!((scores.value("distance_correlation.factor.pearson.scale").unwrap() - expected).abs() < 0.005);
        assert!((scores.value("distance_correlation.factor.rank_same.scale").unwrap() - 25.0 / 27.0).abs() < 0.005);
    }

    #[test]
    fn groups_have_more_pairs_of_a_row_with_itself() {
        // Factors as codes: L1 distances agree exactly, L2 ones only where one factor differs or none.
        let factors = array![[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]];
        let scores = score(&DistanceCorrelation::default(), factors);
        for part in ["global32", "global"] {
            for statistic in ["pearson", "spearman", "rank_same"] {
                let value = scores.value(&format!("distance_correlation.{part}.{statistic}")).unwrap();
                assert!((value - 1.0).abs() < 1e-12, "{part}.{statistic}");
            }
        }
        // Twelve independent rows of six: pairs are 0, 1, 2, 3 apart in 6, 14, 12, 4 of 36 cases; L2 0, 1, then
        // sqrt(2) in 8 and 2 in 4 of the 12, and sqrt(5).
        let cases =
            [(6.0, 0.0, 0.0), (14.0, 1.0, 1.0), (8.0, 2.0, 2_f64.sqrt()), (4.0, 2.0, 2.0), (4.0, 3.0, 5_f64.sqrt())];
        let mean = |part: fn(f64, f64) -> f64| cases.iter().map(|&(n, a, b)| n * part(a, b)).sum::<f64>() / 36.0;
        let (a, b) = (mean(|a, _| a), mean(|_, b| b));
        let covariance = mean(|a, b| a * b) - a * b;
        let expected = covariance / ((mean(|a, _| a * a) - a * a) * (mean(|_, b| b * b) - b * b)).sqrt();
        let value = scores.value("distance_correlation.l2.global.pearson").unwrap();
        assert!((value - expected).abs() < 0.005, "{value} {expected}");
    }

    #[test]
    fn a_negative_correlation_has_no_geometric_mean() {
        // Along scale the codes come back: the ends are closer to each other than to the middle.
        let codes = array![[0.0], [9.0], [0.1], [10.0], [19.0], [10.1]];
        let scores = score(&DistanceCorrelation::default(), codes);
        let value = scores.value("distance_correlation.factor.pearson.scale").unwrap();
        assert!(value > 0.0, "pairs of a value with itself keep it above 0: {value}");
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(array![[0.0], [1.0]], array![[0.0], [1.0]], space, Extras::default()).unwrap();
        let (geometric, arithmetic) = over_factors(&data, &[Ok(-0.5)]);
        assert!(geometric.unwrap_err().ends_with("factor \"shape\" has -0.500000"));
        assert_eq!(arithmetic, Ok(-0.5));
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        assert!(DistanceCorrelation { groups: 0, ..DistanceCorrelation::default() }.check().is_err());
        assert!(DistanceCorrelation { round_share: 1.0, ..DistanceCorrelation::default() }.check().is_err());
        assert!(DistanceCorrelation { round_to: f64::NAN, ..DistanceCorrelation::default() }.check().is_err());
    }
}
