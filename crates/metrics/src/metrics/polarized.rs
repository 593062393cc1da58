//! Polarized regime: whether each latent either carries much or nothing.
//!
//! Zietlow 2022, "An analysis of the inner workings of variational autoencoders", definition 1: a latent is active where
//! its posterior is narrow (`s^2 << 1`), or passive where it is the prior (`m^2 << 1`, `s^2 = 1`). Then the divergence from
//! the prior comes down to equation 3.5,
//!
//! `approximate = 1/2 sum_active (m_j^2 - ln s_j^2 - 1)`,
//!
//! and the score is its relative error, equation 3.38: `|kl - approximate| / kl`, both averaged over all rows first. 0 is
//! wholly polarized; the thesis calls a model polarized below 0.03.
//!
//! As in section 3.3.2, latents are active whose codes have a standard deviation above 0.5 over the rows. The thesis takes
//! all others for passive. Here a latent is passive only where its posterior is the prior within a tolerance, of
//! our choice, and what is neither is counted as mixed; the score does not depend on that.

use ndarray::{Array1, Array2, Axis};
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Rng, settings};

use crate::Better::*;
use crate::Change::*;
use crate::metrics::kl::mean_divergences;
use crate::needs::log_variances;
use crate::statistics::deviations::variance;
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// The standard deviation of a latent's codes above which it is active; Zietlow 2022, section 3.3.2.
pub const ACTIVE_ABOVE: f64 = 0.5;
/// The mean posterior variance below which a latent is active, where that decides; Zietlow 2022, section 4.3.4.
pub const ACTIVE_BELOW: f64 = 0.8;

/// Settings of the polarized regime.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Polarized {
    /// The standard deviation of a latent's codes above which it is active; 0.5 in Zietlow 2022.
    pub active_above: f64,
    /// How far the mean square of a passive latent's codes may be from 0, and its mean variance from 1; 0.1 by our choice.
    pub passive_within: f64,
}

impl Default for Polarized {
    fn default() -> Self {
        Self { active_above: ACTIVE_ABOVE, passive_within: 0.1 }
    }
}

impl Polarized {
    fn check(self) -> unbraid_data::Result<Self> {
        for (name, value) in [("active_above", self.active_above), ("passive_within", self.passive_within)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::new(format!("setting \"{name}\" is {value}")).help("wanted 0 or more"));
            }
        }
        Ok(self)
    }
}

/// The counts, which add up to the number of latents.
const COUNTS: [&str; 3] = ["polarized.active", "polarized.passive", "polarized.mixed"];

impl Metric for Polarized {
    /// `polarized`, the relative error; the counts `polarized.active`, `polarized.passive` and `polarized.mixed`; and each
    /// latent's mean posterior variance `polarized.variance.z0`, ... All at least 0.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let regime = match log_variances(data) {
            Ok(log_variances) => regime(data.codes(), log_variances, self.active_above),
            Err(reason) => return Scores::new().without("polarized", &reason).without_all(COUNTS, &reason),
        };
        let mut scores = Scores::new().with_outcome("polarized", regime.relative_error());
        for (name, count) in COUNTS.into_iter().zip(self.counts(data, &regime)) {
            scores = scores.with(name, count as f64);
        }
        for (latent, &variance) in regime.variances.iter().enumerate() {
            scores = scores.with_latent("polarized.variance", latent, Ok::<f64, String>(variance));
        }
        scores
    }
}

/// What tells how far posteriors are from the polarized regime.
#[derive(Debug, Clone, PartialEq)]
pub struct Regime {
    /// The mean divergence from the prior, summed over latents.
    pub divergence: f64,
    /// Equation 3.5, its approximation by the active latents.
    pub approximate: f64,
    /// For each latent the standard deviation of its codes.
    pub deviations: Vec<f64>,
    /// For each latent the mean of its posterior variance.
    pub variances: Vec<f64>,
}

impl Regime {
    /// Whether no number is beyond the largest.
    pub fn is_finite(&self) -> bool {
        let sums = [self.divergence, self.approximate];
        sums.iter().chain(&self.deviations).chain(&self.variances).all(|value| value.is_finite())
    }

    /// Equation 3.38, or why it is not defined.
    pub fn relative_error(&self) -> Result<f64, String> {
        if !self.divergence.is_finite() {
            return Err("the divergence from the prior is beyond the largest number".to_string());
        }
        if self.divergence <= 0.0 {
            return Err("the posterior is the prior, so there is no divergence to approximate".to_string());
        }
        Ok((self.divergence - self.approximate).abs() / self.divergence)
    }
}

/// The regime of codes and the log-variances of their posteriors, `[rows, latents]` both; latents are active where the deviation of their codes is above
/// `active_above`.
pub fn regime(codes: &Array2<f64>, log_variances: &Array2<f64>, active_above: f64) -> Regime {
    let divergence = mean_divergences(codes, log_variances).sum();
    let terms = codes * codes - log_variances - 1.0; // [rows, latents]
    let of_latents = mean_of_columns(&terms) / 2.0;
    let is_active = active_latents(codes, active_above);
    let of_active = of_latents.iter().zip(&is_active).filter(|(_, is_active)| **is_active).map(|(term, _)| term);
    Regime {
        divergence,
        approximate: of_active.sum(),
        deviations: deviations(codes),
        variances: mean_variances(log_variances),
    }
}

/// The mean posterior variance of each latent, of log-variances `[rows, latents]`.
pub fn mean_variances(log_variances: &Array2<f64>) -> Vec<f64> {
    mean_of_columns(&log_variances.mapv(f64::exp)).to_vec()
}

impl Polarized {
    /// How many latents are active, passive and mixed.
    fn counts(&self, data: &LabelledCodes, regime: &Regime) -> [usize; 3] {
        let squares = mean_of_columns(&data.codes().mapv(|code| code * code));
        let is_active: Vec<bool> = regime.deviations.iter().map(|&deviation| deviation > self.active_above).collect();
        let is_passive = |latent: usize| {
            squares[latent] <= self.passive_within && (regime.variances[latent] - 1.0).abs() <= self.passive_within
        };
        let n_active = is_active.iter().filter(|&&is_active| is_active).count();
        let n_passive = (0..is_active.len()).filter(|&latent| !is_active[latent] && is_passive(latent)).count();
        [n_active, n_passive, is_active.len() - n_active - n_passive]
    }
}

/// Whether the standard deviation of each latent's codes `[rows, latents]` is above `threshold`. `[latents]`
pub fn active_latents(codes: &Array2<f64>, threshold: f64) -> Vec<bool> {
    deviations(codes).into_iter().map(|deviation| deviation > threshold).collect()
}

/// The standard deviation of each latent's codes `[rows, latents]`.
fn deviations(codes: &Array2<f64>) -> Vec<f64> {
    codes.columns().into_iter().map(|column| variance(&column).sqrt()).collect()
}

/// `[columns]`.
fn mean_of_columns(table: &Array2<f64>) -> Array1<f64> {
    table.sum_axis(Axis(0)) / table.nrows() as f64
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "polarized",
    about: "relative error of the divergence when latents count as wholly active or passive; 0 is best",
    paper: "Zietlow 2022",
    settings: &[
        Setting {
            name: "active_above",
            values: Values::Number(0.0, f64::MAX),
            meaning: "the standard deviation of a latent's codes above which it is active",
        },
        Setting {
            name: "passive_within",
            values: Values::Number(0.0, f64::MAX),
            meaning: "how far a passive latent's mean squared code may be from 0, and its mean variance from 1",
        },
    ],
    scores: &[
        ScoreKind { name: "polarized", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind { name: "polarized.active", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "polarized.passive", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "polarized.mixed", least: 0.0, greatest: f64::INFINITY, better: Neither },
        ScoreKind { name: "polarized.variance", least: 0.0, greatest: f64::INFINITY, better: Neither },
    ],
    needs: &[Need::LogVariances],
    left_alone_by: &[LatentOrder, LatentSigns, RowOrder, ValueOrder, Losses],
    build: |table| Ok(Box::new(settings::read::<Polarized>(table)?.check()?)),
    complete: settings::complete::<Polarized>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    fn score(codes: Array2<f64>, log_variances: Array2<f64>) -> Scores {
        let extras = Extras { log_variances: Some(log_variances), ..Extras::default() };
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes, array![[0.0], [1.0]], space, extras).unwrap();
        Polarized::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/polarized"))
    }

    fn assert_close(scores: &Scores, expected: &[(&str, f64)]) {
        for (name, expected) in expected {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}: {scores:?}");
        }
    }

    #[test]
    fn an_error_worked_by_hand() {
        // z0: codes +-1, variance v = e^-4: active, kl (1 + v + 4 - 1) / 2, approximately (1 + 4 - 1) / 2 = 2.
        // z1: codes 0, variance 1: passive, kl 0. z2: codes 0, variance e: neither, kl (e - 2) / 2, left out.
        let scores = score(array![[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], array![[-4.0, 0.0, 1.0], [-4.0, 0.0, 1.0]]);
        let (narrow, wide) = ((-4.0_f64).exp(), 1_f64.exp());
        let divergence = 2.0 + narrow / 2.0 + (wide - 2.0) / 2.0;
        assert_close(&scores, &[("polarized", (divergence - 2.0) / divergence)]);
        assert_close(&scores, &[("polarized.active", 1.0), ("polarized.passive", 1.0), ("polarized.mixed", 1.0)]);
        assert_close(&scores, &[("polarized.variance.z0", narrow), ("polarized.variance.z2", wide)]);
    }

    #[test]
    fn a_posterior_that_is_the_prior_leaves_nothing_to_approximate() {
        let scores = score(array![[0.0], [0.0]], array![[0.0], [0.0]]);
        assert_eq!(scores.value("polarized"), None);
        assert_close(&scores, &[("polarized.passive", 1.0)]);
    }

    #[test]
    fn divergences_beyond_the_largest_number_are_named() {
        let scores = score(array![[1e300], [0.0]], array![[0.0], [0.0]]);
        assert!(scores.undefined[0].reason.contains("largest number"));
    }
}
