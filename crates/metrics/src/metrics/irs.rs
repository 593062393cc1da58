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
//! Departures: constant latents take no part, also where every latent is constant, which leaves the score undefined
//! (the benchmark says 0); a continuous factor is cut into equal-width bins; all arithmetic is in double precision.

use std::num::NonZeroUsize;

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::{Error, Rng, settings};

use crate::Change::*;
use crate::scores::latent_name;
use crate::statistics::classes::{Classes, classes_of_factors};
use crate::statistics::deviations::{Deviations, deviations};
use crate::statistics::information::{check_bins, published};
use crate::{Entry, Matrix, Metric, Scores, Subject};

/// Settings of interventional robustness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Irs {
    /// Which quantile of the deviations in a group counts; 0.99 in Locatello et al. 2019, 1 in Suter et al. 2019.
    pub quantile: f64,
    /// Which rows are measured.
    pub rows: Rows,
    /// How many bins each continuous factor is cut into; 20 in Locatello et al. 2019.
    pub bins: NonZeroUsize,
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
        Self { quantile: 0.99, rows: Rows::Train, bins: published(20) }
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
        let columns = (0..codes.ncols()).into_par_iter();
        let latents: Vec<Deviations> = columns.map(|latent| deviations(&codes.column(latent).to_owned())).collect();
        let groups = classes_of_factors(factors, data.space().factors(), self.bins.get());
        let robustness = self.robustness(&latents, &groups); // [latents, factors]

        let best: Vec<f64> =
            robustness.outer_iter().map(|row| row.fold(-1.0, |most: f64, &one| most.max(one))).collect();
        let mut scores = Scores::new().with_outcome("irs", weighted_mean(&best, &latents, codes));
        for (latent, &best) in best.iter().enumerate() {
            let name = format!("irs.{}", latent_name(latent));
            let moves = latents[latent].scale > 0.0;
            scores = scores.with_outcome(&name, if moves { Ok(best) } else { Err("the latent is constant") });
        }
        scores.with_matrix(Matrix::of_latents_and_factors("irs.robustness", data, robustness))
    }
}

impl Irs {
    /// `[latents, factors]`; 0 for a latent that is constant.
    fn robustness(&self, latents: &[Deviations], factors: &[Classes]) -> Array2<f64> {
        let orders: Vec<Vec<u32>> = factors.par_iter().map(rows_by_class).collect();
        let sizes: Vec<Vec<u32>> = factors.iter().map(Classes::counts).collect();
        let entries = (0..latents.len() * factors.len()).into_par_iter().map(|entry| {
            let (latent, factor) = (&latents[entry / factors.len()], entry % factors.len());
            match largest(latent) {
                0.0 => 0.0,
                largest => 1.0 - self.mean_deviation(latent, &orders[factor], &sizes[factor]) / largest,
            }
        });
        Array2::from_shape_vec((latents.len(), factors.len()), entries.collect()).expect("one entry for each pair")
    }

    /// The mean over groups of the quantile of the latent's deviations in the group. `order` lists the rows of one group
    /// after those of the other, and `sizes` how many rows each has.
    fn mean_deviation(&self, latent: &Deviations, order: &[u32], sizes: &[u32]) -> f64 {
        let (mut sum, mut n_groups, mut rest) = (0.0, 0, order);
        let mut values = Vec::new();
        for &size in sizes.iter().filter(|size| **size > 0) {
            let (rows, after) = rest.split_at(size as usize);
            values.clear();
            values.extend(rows.iter().map(|&row| latent.of_rows[row as usize]));
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter_mut().for_each(|value| *value = (*value - mean).abs());
            sum += quantile(&mut values, self.quantile);
            n_groups += 1;
            rest = after;
        }
        sum / f64::from(n_groups)
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

/// Row numbers, those of the first class first, in each class in their order.
fn rows_by_class(classes: &Classes) -> Vec<u32> {
    let mut next: Vec<usize> = Vec::with_capacity(classes.n_classes);
    let mut before = 0;
    for count in classes.counts() {
        next.push(before);
        before += count as usize;
    }
    let mut order = vec![0; classes.of_rows.len()];
    for (row, &class) in classes.of_rows.iter().enumerate() {
        order[next[class]] = row as u32;
        next[class] += 1;
    }
    order
}

/// With fewer values than this at or above a quantile, these are kept while the others are passed by.
const FEW: usize = 64;

/// The value at position `quantile (n - 1)` of the n values in ascending order, between two of them by their distance, as
/// `numpy.percentile` has it. At least one value; their order may be changed.
fn quantile(values: &mut [f64], quantile: f64) -> f64 {
    let position = quantile * (values.len() - 1) as f64;
    let n_from_there = values.len() - position as usize;
    let (lower, upper) = if n_from_there <= FEW {
        let highest = highest(values, n_from_there);
        (highest[0], highest.get(1).copied())
    } else {
        let (_, &mut lower, above) = values.select_nth_unstable_by(position as usize, f64::total_cmp);
        (lower, above.iter().copied().reduce(f64::min))
    };
    upper.map_or(lower, |upper| lower + (upper - lower) * position.fract())
}

/// The highest so many of the values, in ascending order.
fn highest(values: &[f64], count: usize) -> Vec<f64> {
    let (first, others) = values.split_at(count);
    let mut highest = first.to_vec();
    highest.sort_unstable_by(f64::total_cmp);
    for &value in others {
        if value > highest[0] {
            let place = highest.partition_point(|&kept| kept < value);
            highest.copy_within(1..place, 0);
            highest[place - 1] = value;
        }
    }
    highest
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
    ranges: &[("irs", -1.0, 1.0)],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, Shift, RowOrder, LogVariances, Losses],
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
        assert_eq!(scores.undefined, [("irs.z2".to_string(), "the latent is constant".to_string())]);
        assert!(scores.matrices[0].values[[0, 1]].abs() < 1e-12);
    }

    #[test]
    fn quantiles_lie_between_values() {
        // Positions 0.5 * 3 = 1.5 and 0.99 * 3 = 2.97.
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        assert!((quantile(&mut [4.0, 1.0, 3.0, 2.0], 0.99) - 3.97).abs() < 1e-12);
        assert_eq!(quantile(&mut [4.0, 1.0], 1.0), 4.0);
        assert_eq!(quantile(&mut [7.0], 0.99), 7.0);
        // 0 to 999 in another order: the value at 989.01, whether ten values are above it, 65 or most.
        for (share, expected) in [(0.99, 989.01), (0.936, 935.064), (0.25, 249.75), (0.0, 0.0)] {
            let mut values: Vec<f64> = (0..1000).map(|place| f64::from(place * 387 % 1000)).collect();
            assert!((quantile(&mut values, share) - expected).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn the_widest_numbers_are_weighed_too() {
        let codes = array![[f64::MIN, 1.0], [f64::MIN, 2.0], [f64::MAX, 3.0], [f64::MAX, 4.0]];
        assert!((score(&Irs::default(), codes).value("irs").unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        assert_eq!(score(&Irs::default(), Array2::ones((4, 2))).undefined[0].1, "every latent is constant");
    }
}
