//! Unsupervised scores: how far the latents are from independent of each other, without looking at the factors.
//!
//! Locatello et al. 2019, "Challenging common assumptions in the unsupervised learning of disentangled representations",
//! figure 1 and appendix C. With S the covariance of the codes of the train rows and D its diagonal:
//!
//! - `gaussian_total_correlation = (sum_i ln S_ii - ln det S) / 2`, the divergence of a Gaussian with covariance S from the
//!   product of its marginals, in nats;
//! - `wasserstein_correlation = 2 tr S - 2 tr (D S)^(1/2)`, their squared Wasserstein distance, and
//!   `wasserstein_correlation_norm`, which divides it by `tr S`;
//! - `mutual_information`, the mean over pairs of different latents, with the estimator of `mig` (20 bins).
//!
//! Low is good, if independent latents are what one is after. `unsupervised` itself is the Gaussian total correlation of
//! the latents that move: the whole one is undefined where a latent is constant. Where the codes come with their
//! posterior's log-variances, the same scores of codes drawn from the posterior are `unsupervised.sampled.*`: the paper's
//! point is that these fall while those of the mean codes rise.
//!
//! Departures: the square root is taken by the eigenvalues of the symmetric matrix that D S is similar to, which cannot
//! turn complex.

use std::num::NonZeroUsize;

use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::Low;
use crate::Change::*;
use crate::needs::log_variances;
use crate::statistics::classes::{Classes, classes_of_latents};
use crate::statistics::covariance::Covariance;
use crate::statistics::information::{BINS, Binning, check_bins, published};
use crate::statistics::mutual_information::mean_pairwise_information;
use crate::statistics::normal::normal_noise;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of the unsupervised scores.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Unsupervised {
    /// How many bins each latent is cut into for the mutual information; 20 in Locatello et al. 2019.
    pub bins: NonZeroUsize,
}

impl Default for Unsupervised {
    fn default() -> Self {
        Self { bins: published(20) }
    }
}

/// The scores of a table of codes.
const PARTS: [&str; 4] =
    ["gaussian_total_correlation", "wasserstein_correlation", "wasserstein_correlation_norm", "mutual_information"];

impl Metric for Unsupervised {
    /// `unsupervised` and its parts from 0 up, those of sampled codes where there are log-variances, and the matrix
    /// `unsupervised.correlation`.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let codes = &subject.train().codes;
        if codes.nrows() < 2 {
            let reason = "needs at least two rows, and there is one";
            let parts = PARTS.map(|part| format!("unsupervised.{part}"));
            return Scores::new()
                .without_all(["unsupervised", "unsupervised.sampled"], reason)
                .without_all(parts, reason);
        }
        let covariance = Covariance::of(codes);
        let of_moving = match covariance.moving() {
            none if none.is_empty() => Err("every latent is constant".to_string()),
            moving => covariance.select(&moving).total_correlation(),
        };
        let mut scores = Scores::new().with_outcome("unsupervised", of_moving);
        let bins = &subject.information(Binning::EqualWidth, self.bins.get()).latents;
        scores.extend(dependence("unsupervised", &covariance, bins));
        scores.extend(match sampled_codes(subject, rng) {
            Ok(sampled) => {
                let bins = classes_of_latents(&sampled, self.bins.get());
                dependence("unsupervised.sampled", &Covariance::of(&sampled), &bins)
            }
            Err(reason) => Scores::new().without("unsupervised.sampled", &reason),
        });
        let names: Vec<String> = (0..data.n_latents()).map(crate::scores::latent_name).collect();
        let values = covariance.correlations;
        let name = "unsupervised.correlation".to_string();
        scores.with_matrix(Matrix { name, rows: names.clone(), columns: names, values })
    }
}

/// The four scores of one set of codes, under `prefix`.
fn dependence(prefix: &str, covariance: &Covariance, bins: &[Classes]) -> Scores {
    let wasserstein = covariance.wasserstein();
    let information = match bins.len() {
        1 => Err("needs at least two latents, and there is one"),
        _ => Ok(mean_pairwise_information(bins)),
    };
    Scores::new()
        .with_outcome(&format!("{prefix}.gaussian_total_correlation"), covariance.total_correlation())
        .with_outcome(
            &format!("{prefix}.wasserstein_correlation"),
            wasserstein.as_ref().map(|whole| whole.distance * whole.unit),
        )
        .with_outcome(
            &format!("{prefix}.wasserstein_correlation_norm"),
            wasserstein.as_ref().map(|whole| whole.distance / whole.trace),
        )
        .with_outcome(&format!("{prefix}.mutual_information"), information)
}

/// Codes of the train rows, each drawn from its posterior. The noise goes with a row's factors, not with its place in
/// the table. `[rows, latents]`
fn sampled_codes(subject: &Subject, rng: &mut Rng) -> Result<Array2<f64>, String> {
    let data = subject.data();
    let log_variances = log_variances(data)?;
    let mut sampled = data.codes().clone();
    for &row in subject.rows_by_factors() {
        for (code, log_variance) in sampled.row_mut(row).iter_mut().zip(log_variances.row(row)) {
            *code += (log_variance / 2.0).exp() * normal_noise(rng);
        }
    }
    if let Some(rows) = &data.extras().train_rows {
        sampled = sampled.select(Axis(0), rows);
    }
    if sampled.iter().all(|value| value.is_finite()) {
        Ok(sampled)
    } else {
        Err("the log-variances are so large that sampled codes pass the largest number".to_string())
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "unsupervised",
    about: "how far the latents are from independent of each other (low is independent)",
    paper: "Locatello et al. 2019",
    settings: &[BINS],
    scores: &[
        ScoreKind { name: "unsupervised", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind { name: "unsupervised.gaussian_total_correlation", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind { name: "unsupervised.wasserstein_correlation", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind { name: "unsupervised.wasserstein_correlation_norm", least: 0.0, greatest: 2.0, better: Low },
        ScoreKind { name: "unsupervised.mutual_information", least: 0.0, greatest: f64::INFINITY, better: Low },
        ScoreKind {
            name: "unsupervised.sampled.gaussian_total_correlation",
            least: 0.0,
            greatest: f64::INFINITY,
            better: Low,
        },
        ScoreKind {
            name: "unsupervised.sampled.wasserstein_correlation",
            least: 0.0,
            greatest: f64::INFINITY,
            better: Low,
        },
        ScoreKind { name: "unsupervised.sampled.wasserstein_correlation_norm", least: 0.0, greatest: 2.0, better: Low },
        ScoreKind { name: "unsupervised.sampled.mutual_information", least: 0.0, greatest: f64::INFINITY, better: Low },
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
    build: |table| {
        let unsupervised: Unsupervised = settings::read(table)?;
        check_bins(unsupervised.bins)?;
        Ok(Box::new(unsupervised))
    },
    complete: settings::complete::<Unsupervised>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>, log_variances: Option<Array2<f64>>) -> Scores {
        let factors = Array2::zeros((codes.nrows(), 1));
        let extras = Extras { log_variances, ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid([("shape", 1)]), extras).unwrap();
        Unsupervised::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/unsupervised"))
    }

    #[test]
    fn two_latents_with_correlation_one_half() {
        // Worked in statistics/covariance.rs: -ln(3/4) / 2, and 4 - 2 (sqrt(1/2) + sqrt(3/2)) of a trace of 2. Three rows
        // in three bins each: the latents tell all of ln 3.
        let scores = score(array![[1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], None);
        let distance = 4.0 - 2.0 * (0.5_f64.sqrt() + 1.5_f64.sqrt());
        for (name, expected) in [
            ("unsupervised", -0.5 * 0.75_f64.ln()),
            ("unsupervised.gaussian_total_correlation", -0.5 * 0.75_f64.ln()),
            ("unsupervised.wasserstein_correlation", distance),
            ("unsupervised.wasserstein_correlation_norm", distance / 2.0),
            ("unsupervised.mutual_information", 3_f64.ln()),
        ] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert_eq!(scores.undefined.len(), 1);
    }

    #[test]
    fn a_constant_latent_is_left_out_of_the_headline_alone() {
        let scores = score(array![[1.0, 0.0, 7.0], [2.0, 2.0, 7.0], [3.0, 1.0, 7.0]], None);
        assert!((scores.value("unsupervised").unwrap() + 0.5 * 0.75_f64.ln()).abs() < 1e-12);
        assert_eq!(scores.value("unsupervised.gaussian_total_correlation"), None);
    }

    #[test]
    fn wide_posteriors_hide_the_correlation_of_the_means() {
        // Equal means, variance 1 around them: correlation 1/2 between samples if the means have variance 1 as well.
        let codes = Array2::from_shape_fn((10_000, 2), |(row, _)| if row % 2 == 0 { -1.0 } else { 1.0 });
        let scores = score(codes, Some(Array2::zeros((10_000, 2))));
        let sampled = scores.value("unsupervised.sampled.gaussian_total_correlation").unwrap();
        assert!((sampled + 0.5 * 0.75_f64.ln()).abs() < 0.02, "{sampled}");
        assert_eq!(scores.value("unsupervised"), None);
    }
}
