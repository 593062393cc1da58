//! Interventional robustness: while its factor stays, a latent should stay, however the others change.
//!
//! Suter et al. 2019, "Robustly disentangled causal mechanisms", with the estimator of Locatello et al. 2019. For
//! latent j and factor k, the rows are grouped by the factor's value; in each group the deviations of the latent from the
//! group's mean are taken, and of these a high quantile:
//!
//! `robustness_jk = 1 - mean over values of quantile_q |z_j - mean(z_j | v_k)| / max |z_j - mean(z_j)|`
//!
//! A latent scores its most robust factor, and `irs` is the mean over latents weighted by `max |z_j - mean(z_j)|`. The paper
//! takes the largest deviation (`quantile = 1`), the benchmark `quantile = 0.99`.
//!
//! The paper groups rows by the values themselves, and so do the Ubisoft library and, by default, we; disentanglement_lib cuts
//! every factor into 20 equal-width bins first, which puts neighbouring values of a factor with more of them together:
//! `discrete_factors = "bins"`. Factors of up to 20 values without gaps give the same either way.
//!
//! Departures: constant latents take no part, also where every latent is constant, which leaves the score undefined
//! (the benchmark says 0); a continuous factor is cut into equal-width bins; all arithmetic is in double precision.

use std::num::NonZeroUsize;

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{self, Setting, Values};
use unbraid_data::{Error, Rng};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::classes::{Classes, classes_of_columns, classes_of_factors, equal_width_bins};
use crate::statistics::deviations::{Deviations, deviations_of_columns};
use crate::statistics::information::{MOST_BINS, check_bins, published};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of interventional robustness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Irs {
    /// Which quantile of the deviations in a group counts; 0.99 in Locatello et al. 2019, 1 in Suter et al. 2019.
    pub quantile: f64,
    /// Which rows are measured.
    pub rows: Rows,
    /// How the values of a discrete factor are grouped.
    pub discrete_factors: Grouping,
    /// How many bins a factor is cut into that is continuous or to be binned; 20 in Locatello et al. 2019.
    pub bins: NonZeroUsize,
}

/// How the values of a discrete factor are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// Each value is a group, as in Suter et al. 2019.
    Values,
    /// Equal-width bins of the values, as in disentanglement_lib.
    Bins,
}

/// Which rows are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// The train rows, or all where none are named.
    Train,
    /// All rows.
    All,
}

impl Default for Irs {
    fn default() -> Self {
        Self { quantile: 0.99, rows: Rows::Train, discrete_factors: Grouping::Values, bins: published(20) }
    }
}

impl Metric for Irs {
    /// `irs` and `irs.z0`, `irs.z1`, ... in [-1, 1], and the matrix `irs.robustness`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let (codes, factors) = match self.rows {
            Rows::Train => (&subject.train().codes, &subject.train().factors),
            Rows::All => (data.codes(), data.factors()),
        };
        let latents = deviations_of_columns(codes);
        let groups = match self.discrete_factors {
            Grouping::Values => classes_of_factors(factors, data.space().factors(), self.bins.get()),
            Grouping::Bins => classes_of_columns(factors, |_, column| equal_width_bins(column, self.bins.get())),
        };
        let robustness = self.robustness(&latents, &groups); // [latents, factors]

        let best: Vec<f64> =
            robustness.outer_iter().map(|row| row.fold(-1.0, |most: f64, &one| most.max(one))).collect();
        let mut scores = Scores::new().with_outcome("irs", weighted_mean(&best, &latents, codes));
        for (latent, &best) in best.iter().enumerate() {
            let moves = latents[latent].scale > 0.0;
            scores = scores.with_latent("irs", latent, if moves { Ok(best) } else { Err("the latent is constant") });
        }
        scores.with_matrix(Matrix::of_latents_and_factors("irs.robustness", data, robustness))
    }
}

impl Irs {
    /// `[latents, factors]`; 0 for a latent that is constant.
    fn robustness(&self, latents: &[Deviations], factors: &[Classes]) -> Array2<f64> {
        let sizes: Vec<Vec<u32>> = factors.iter().map(Classes::counts).collect();
        let entries = (0..latents.len() * factors.len()).into_par_iter().map(|entry| {
            let (latent, factor) = (&latents[entry / factors.len()], entry % factors.len());
            match largest(latent) {
                0.0 => 0.0,
                largest => 1.0 - self.mean_deviation(latent, &factors[factor], &sizes[factor]) / largest,
            }
        });
        Array2::from_shape_vec((latents.len(), factors.len()), entries.collect()).expect("one entry for each pair")
    }

    /// The mean over groups, of which `sizes` tells how many rows each has, of the quantile of the latent's deviations in
    /// the group.
    fn mean_deviation(&self, latent: &Deviations, groups: &Classes, sizes: &[u32]) -> f64 {
        let rows = || latent.of_rows.iter().zip(&groups.of_rows);
        // Four sums in turn, so that an addition need not wait for the one before it.
        let mut sums = vec![[0.0; 4]; sizes.len()];
        rows().enumerate().for_each(|(place, (value, &group))| sums[group][place % 4] += value);
        let means: Vec<f64> =
            sums.iter().zip(sizes).map(|(sums, &size)| sums.iter().sum::<f64>() / f64::from(size.max(1))).collect();
        let mut highest: Vec<Highest> = sizes.iter().map(|&size| Highest::new(size as usize, self.quantile)).collect();
        for (value, &group) in rows() {
            let deviation = (value - means[group]).abs();
            if deviation > highest[group].least {
                highest[group].take(deviation);
            }
        }
        let quantiles =
            highest.into_iter().zip(sizes).filter(|(_, size)| **size > 0).map(|(of_group, _)| of_group.quantile());
        let quantiles: Vec<f64> = quantiles.collect();
        quantiles.iter().sum::<f64>() / quantiles.len() as f64
    }
}

/// The values of a group at and above a quantile, as `numpy.percentile` has it: the value at position `quantile (n - 1)` of the
/// n values in ascending order, between two of them by their distance. All others are passed by.
struct Highest {
    /// What a value has to exceed to be taken.
    least: f64,
    /// How many values there are at and above the quantile.
    wanted: usize,
    /// How far the quantile lies from the lowest of them to the next.
    between: f64,
    /// In ascending order as soon as there are as many as wanted, if these are few.
    kept: Vec<f64>,
}

/// More values than this are kept in any order until the end.
const FEW: usize = 64;

impl Highest {
    fn new(n_values: usize, quantile: f64) -> Self {
        let position = quantile * n_values.saturating_sub(1) as f64;
        let wanted = n_values - position as usize;
        Self { least: -1.0, wanted, between: position.fract(), kept: Vec::with_capacity(wanted.min(FEW)) }
    }

    /// Takes a value of at least 0.
    fn take(&mut self, value: f64) {
        if self.wanted > FEW || self.kept.len() < self.wanted {
            self.kept.push(value);
            if self.wanted > FEW || self.kept.len() < self.wanted {
                return;
            }
            self.kept.sort_unstable_by(f64::total_cmp);
        } else {
            // Those below the value move down by one, over the lowest.
            let mut place = 1;
            while place < self.wanted && self.kept[place] < value {
                self.kept[place - 1] = self.kept[place];
                place += 1;
            }
            self.kept[place - 1] = value;
        }
        self.least = self.kept[0];
    }

    /// The quantile, after all values were offered; at least one.
    fn quantile(mut self) -> f64 {
        let lowest = self.kept.len() - self.wanted;
        let (_, &mut lower, above) = self.kept.select_nth_unstable_by(lowest, f64::total_cmp);
        let upper = above.iter().copied().reduce(f64::min);
        upper.map_or(lower, |upper| lower + (upper - lower) * self.between)
    }
}

/// The largest deviation, in units of the latent's scale.
fn largest(latent: &Deviations) -> f64 {
    latent.of_rows.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// The mean of the latents' scores, weighted by their largest deviations.
fn weighted_mean(scores: &[f64], latents: &[Deviations], codes: &Array2<f64>) -> Result<f64, &'static str> {
    // A scale may pass the largest number; half of it, in units of the largest, is as good a weight.
    let half_scales: Vec<f64> = (latents.iter().zip(codes.columns()))
        .map(|(latent, column)| match latent.scale {
            f64::INFINITY => column.iter().fold(0.0, |far: f64, value| far.max((value / 2.0 - column[0] / 2.0).abs())),
            scale => scale / 2.0,
        })
        .collect();
    let unit = half_scales.iter().fold(0.0_f64, |unit, &scale| unit.max(scale));
    if unit == 0.0 {
        return Err("every latent is constant");
    }
    let weights: Vec<f64> =
        latents.iter().zip(&half_scales).map(|(latent, scale)| largest(latent) * (scale / unit)).collect();
    let weighted = scores.iter().zip(&weights).map(|(score, weight)| score * weight);
    Ok(weighted.sum::<f64>() / weights.iter().sum::<f64>())
}

fn check(irs: Irs) -> unbraid_data::Result<Box<dyn Metric>> {
    check_bins(irs.bins)?;
    if !(0.0..=1.0).contains(&irs.quantile) {
        return Err(Error::new(format!("setting \"quantile\" is {}", irs.quantile)).help("wanted 0 to 1"));
    }
    Ok(Box::new(irs))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "irs",
    about: "how still each latent stays while its factor does",
    paper: "Suter et al. 2019",
    settings: &[
        Setting {
            name: "quantile",
            values: Values::Number(0.0, 1.0),
            meaning: "which quantile of the deviations in a group counts; 1 in the paper",
        },
        Setting {
            name: "rows",
            values: Values::OneOf(&["train", "all"]),
            meaning: "which rows are measured: the train rows, where the input names any, or all",
        },
        Setting {
            name: "discrete_factors",
            values: Values::OneOf(&["values", "bins"]),
            meaning: "a group for each value of a discrete factor, or for each bin as in disentanglement_lib",
        },
        Setting {
            name: "bins",
            values: Values::Whole(1, MOST_BINS as u64),
            meaning: "how many bins a factor is cut into that is continuous or to be binned",
        },
    ],
    scores: &[ScoreKind { name: "irs", least: -1.0, greatest: 1.0, better: High }],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| check(settings::read(table)?),
    complete: settings::complete::<Irs>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(irs: &Irs, codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        irs.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/irs"))
    }

    #[test]
    fn robustness_worked_by_hand() {
        // z0 follows the first factor: 1 for it, 1 - 3/3 for the other; largest deviation 3. z1 is the sum of both: in a
        // group its values are 0 and 1, or 1 and 2, deviations 1/2 of at most 1, so 1/2. z2 never moves.
        let codes = array![[0.0, 0.0, 0.1], [0.0, 1.0, 0.1], [6.0, 1.0, 0.1], [6.0, 2.0, 0.1]];
        let scores = score(&Irs { quantile: 1.0, ..Irs::default() }, codes);
        for (name, expected) in [("irs.z0", 1.0), ("irs.z1", 0.5), ("irs", (3.0 * 1.0 + 1.0 * 0.5) / 4.0)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert_eq!((scores.undefined.len(), scores.reason("irs.z2")), (1, Some("the latent is constant")));
        assert!(scores.matrices[0].values[[0, 1]].abs() < 1e-12);
    }

    #[test]
    fn quantiles_lie_between_values() {
        let quantile = |values: &[f64], share: f64| {
            let mut highest = Highest::new(values.len(), share);
            values.iter().for_each(|&value| {
                if value > highest.least {
                    highest.take(value);
                }
            });
            highest.quantile()
        };
        // Position 0.5 * 3 = 1.5 is halfway from 2 to 3, and 0.99 * 3 = 2.97 is near 4.
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        assert!((quantile(&[4.0, 1.0, 3.0, 2.0], 0.99) - 3.97).abs() < 1e-12);
        assert_eq!(quantile(&[4.0, 1.0], 1.0), 4.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
        // 0 to 999 in another order: positions 989.01 and so on, with ten values above, with 65 and with most.
        let values: Vec<f64> = (0..1000).map(|place| f64::from(place * 387 % 1000)).collect();
        for (share, expected) in [(0.99, 989.01), (0.936, 935.064), (0.25, 249.75), (0.0, 0.0)] {
            assert!((quantile(&values, share) - expected).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn the_widest_numbers_are_weighed_too() {
        let codes = array![[f64::MIN, 1.0], [f64::MIN, 2.0], [f64::MAX, 3.0], [f64::MAX, 4.0]];
        assert!((score(&Irs::default(), codes).value("irs").unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        assert_eq!(score(&Irs::default(), Array2::ones((4, 2))).undefined[0].reason, "every latent is constant");
    }
}
