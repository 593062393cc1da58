//! How far apart images along a factor are at every level of a trained model: by the ground truth, as images, as codes, as posteriors and as
//! reconstructions (T1 figures 3.5 and 3.11); and how these distances agree over pairs (T1 equations 4.2, 4.3 and 4.10).
//!
//! Matrices are means over traversals. Correlations are over all ordered pairs within the same traversals, each image with itself among
//! them, as T1 pools them. Distances of images are those that the run's own reconstruction loss sees, as a mean over pixels
//! ([`TrainedModel::distances_between`]); of a standardised dataset they are between standardised images, as the network sees them.
//!
//! [`TrainedModel::distances_between`]: unbraid_learn::TrainedModel::distances_between

mod agreement;
mod sums;
mod traversal;

use std::ops::ControlFlow;

use ndarray::Array2;
use rand::seq::index;
use unbraid_data::factor_space::{index_of, values_of};
use unbraid_data::split::Fractions;
use unbraid_data::{Error, Result, Seed};
use unbraid_report::figures::{MatrixCell, MatrixRow};

use self::agreement::over_factors;
use self::sums::Sums;
use self::traversal::traversal;
use crate::trained_run::TrainedRun;
use crate::watch::Watch;

pub use self::agreement::{Agreement, Comparison};

/// Distances between all values of a factor with more values than this would not fit into memory.
const MOST_VALUES: usize = 2048;

/// Where distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `|i - j|` of the factor's values.
    GroundTruth,
    /// By the reconstruction loss, between images.
    Images,
    /// L2 distances of codes.
    LatentMeans,
    /// `KL(q_i || q_j)` of posteriors, in nats.
    Posteriors,
    /// By the reconstruction loss, between what the decoder makes of the codes.
    Reconstructions,
}

impl Level {
    /// From the first to the last.
    pub const ALL: [Self; 5] =
        [Self::GroundTruth, Self::Images, Self::LatentMeans, Self::Posteriors, Self::Reconstructions];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::GroundTruth => "ground_truth",
            Self::Images => "images",
            Self::LatentMeans => "latent_means",
            Self::Posteriors => "posteriors",
            Self::Reconstructions => "reconstructions",
        }
    }

    /// What its distances are counted in, where images are compared by `loss`.
    fn unit(self, loss: &str) -> &str {
        match self {
            Self::GroundTruth => "apart",
            Self::Images | Self::Reconstructions => loss,
            Self::LatentMeans => "L2",
            Self::Posteriors => "nats",
        }
    }
}

/// Distances along one factor.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorDistances {
    /// The factor.
    pub name: String,
    /// How many values it has.
    pub n_values: usize,
    /// How many traversals were taken.
    pub n_traversals: usize,
    /// How many there are.
    pub n_all_traversals: usize,
    /// The mean distances at each of [`Level::ALL`], `[values, values]`; none at a level that is left out.
    pub matrices: [Option<Array2<f64>>; 5],
    /// Each of [`Comparison::ALL`].
    pub agreements: [Agreement; 3],
}

/// Distances at every level of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDistances {
    /// The loss that images are compared by.
    pub loss: &'static str,
    /// Of each factor that has several values.
    pub factors: Vec<FactorDistances>,
    /// Each of [`Comparison::ALL`], as the geometric mean over factors (T1 equation 4.3).
    pub agreements: [Agreement; 3],
    /// Levels and factors that are left out, and why.
    pub left_out: LeftOut,
    /// What one has to know to read the numbers.
    pub notes: Vec<String>,
}

/// Which traversals are taken.
#[derive(Debug, Clone, Copy)]
pub struct DistanceSettings {
    /// How many of each factor; all of them where there are fewer.
    pub traversals: usize,
    /// What they are drawn by.
    pub seed: Seed,
}

impl Default for DistanceSettings {
    fn default() -> Self {
        Self { traversals: 64, seed: Seed(1) }
    }
}

/// Measures the distances; an error where the run's images do not form a grid of factors.
pub fn run_distances(run: &TrainedRun, settings: &DistanceSettings, watch: &mut dyn Watch) -> Result<RunDistances> {
    let sizes = run.dataset.factors().grid_sizes()?;
    if settings.traversals == 0 {
        return Err(Error::new("distances of 0 traversals were asked for").help("wanted 1 or more"));
    }
    let (taken, mut left_out) = factors_taken(run, &sizes)?;
    let plans: Vec<(usize, Vec<usize>)> =
        taken.iter().map(|&factor| (factor, first_images(factor, &sizes, settings))).collect();
    watch.stage("distances", plans.iter().map(|(_, firsts)| firsts.len() as u64).sum());
    let mut n_done = 0;
    let mut factors = Vec::new();
    for (factor, firsts) in plans {
        let mut sums = Sums::new(sizes[factor]);
        let stride: usize = sizes[factor + 1..].iter().product();
        for first in &firsts {
            let images: Vec<usize> = (0..sizes[factor]).map(|value| first + value * stride).collect();
            sums.add(&traversal(run, &images)?);
            n_done += 1;
            watch.progress(n_done);
        }
        let name = run.dataset.factors().factors()[factor].name.clone();
        factors.push(sums.finish(name, run.dataset.n_images() / sizes[factor]));
    }
    left_out.extend(levels_left_out(run, &factors)?);
    let agreements = Comparison::ALL.map(|comparison| over_factors(&factors, comparison));
    Ok(RunDistances { loss: run.model.image_loss(), factors, agreements, left_out, notes: notes(run) })
}

impl RunDistances {
    /// A row for each factor and a column for each level, ready to be drawn.
    pub fn rows(&self) -> Vec<MatrixRow> {
        let cell = |level: Level, values: &Option<Array2<f64>>| MatrixCell {
            name: level.name().replace('_', " "),
            unit: level.unit(self.loss).to_string(),
            values: values.clone().unwrap_or_default(),
        };
        let row = |factor: &FactorDistances| MatrixRow {
            name: factor.name.clone(),
            cells: Level::ALL.into_iter().zip(&factor.matrices).map(|(level, values)| cell(level, values)).collect(),
        };
        self.factors.iter().map(row).collect()
    }
}

/// Factors and levels, and why each is left out.
type LeftOut = Vec<(String, String)>;

/// The positions of the factors that distances are taken along, and why others are left out; an error where there are none.
fn factors_taken(run: &TrainedRun, sizes: &[usize]) -> Result<(Vec<usize>, LeftOut)> {
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for (factor, name) in run.dataset.factors().names().enumerate() {
        match sizes[factor] {
            1 => left_out.push((format!("factor {name}"), "it has a single value".to_string())),
            2..=MOST_VALUES => taken.push(factor),
            size => left_out.push((format!("factor {name}"), format!("it has {size} values, more than {MOST_VALUES}"))),
        }
    }
    if taken.is_empty() {
        let reasons: Vec<String> = left_out.iter().map(|(what, why)| format!("{what}: {why}")).collect();
        return Err(Error::new("there is no factor to take distances along").help(reasons.join("; ")));
    }
    Ok((taken, left_out))
}

/// The images at which the traversals of a factor begin, in rising order.
fn first_images(factor: usize, sizes: &[usize], settings: &DistanceSettings) -> Vec<usize> {
    let mut others = sizes.to_vec();
    others[factor] = 1;
    let n_all: usize = others.iter().product();
    let mut numbers: Vec<usize> = match n_all <= settings.traversals {
        true => (0..n_all).collect(),
        false => {
            let mut rng = settings.seed.stream_at("traversals for distances", factor as u64);
            index::sample(&mut rng, n_all, settings.traversals).into_vec()
        }
    };
    numbers.sort_unstable();
    numbers.into_iter().map(|number| index_of(&values_of(number, &others), sizes)).collect()
}

/// The levels that some factor is without, and why.
fn levels_left_out(run: &TrainedRun, factors: &[FactorDistances]) -> Result<LeftOut> {
    let is_missing = |level: Level| factors.iter().any(|factor| factor.matrices[level as usize].is_none());
    let missing = Level::ALL.into_iter().filter(|level| is_missing(*level));
    let why = |level: Level| match level {
        Level::Reconstructions if !run.model.has_decoder() => Ok("the model has no decoder"),
        Level::Posteriors => {
            let kept = run.model.encode(run.dataset.as_ref(), &[0], |_| ControlFlow::Continue(()))?;
            let kept = kept.expect("nobody asks to stop");
            Ok(match (kept.log_variances, kept.kl_divergences) {
                (None, None) => "an image has a code, and no distribution over codes",
                (_, Some(_)) => "the posterior is not a Gaussian of independent latents",
                (Some(_), None) => "some are too large for a number",
            })
        }
        _ => Ok("some are too large for a number"),
    };
    missing.map(|level| Ok((level.name().to_string(), why(level)?.to_string()))).collect()
}

fn notes(run: &TrainedRun) -> Vec<String> {
    let mut notes = Vec::new();
    if !run.model.has_decoder() {
        notes.push("the model has no reconstruction loss: images are compared by mse".to_string());
    }
    if run.model.image_loss() == "bce" {
        notes.push(
            "bce is made a distance: the mean of both KL divergences between the pixels' distributions".to_string(),
        );
    }
    if run.dataset.as_standardised().is_some() {
        notes.push("images are compared as the network sees them, standardised".to_string());
    }
    if run.config.split != Fractions::default() {
        notes.push("traversals go through all images, whichever part of the split they are in".to_string());
    }
    for factor in run.dataset.unordered_factors() {
        if let Some(factor) = run.dataset.factors().factors().get(factor).filter(|factor| factor.size > Some(1)) {
            let name = &factor.name;
            notes.push(format!(
                "the values of factor \"{name}\" have no order: its ground truth is that of their numbers"
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traversals_begin_at_the_first_value_and_are_drawn_once_each() {
        let all = DistanceSettings { traversals: 8, seed: Seed(1) };
        // Sizes 2, 3, 4: image 12 a + 4 b + c. With b = 0: 0 to 3 and 12 to 15.
        assert_eq!(first_images(1, &[2, 3, 4], &all), [0, 1, 2, 3, 12, 13, 14, 15]);
        assert_eq!(first_images(2, &[2, 3, 4], &all), [0, 4, 8, 12, 16, 20]);
        let some = DistanceSettings { traversals: 5, seed: Seed(1) };
        let drawn = first_images(1, &[2, 3, 4], &some);
        assert!(drawn.len() == 5 && drawn.windows(2).all(|pair| pair[0] < pair[1]), "{drawn:?}");
        assert!(drawn.iter().all(|first| first / 4 % 3 == 0));
        assert_eq!(drawn, first_images(1, &[2, 3, 4], &some));
    }
}
