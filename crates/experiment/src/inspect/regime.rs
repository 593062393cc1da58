//! Whether latents are wholly active or wholly passive: the relative error of the divergence when it is counted so (T4 equation 3.38), at the end and
//! over training.

use toml::Table;
use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_metrics::Subject;
use unbraid_report::posterior_log::PosteriorRow;

use super::Posterior;
use crate::trained_run::TrainedRun;

/// Below this a model is polarized (T4 3.3.2).
pub const POLARIZED_BELOW: f64 = 0.03;

/// Relative KL errors of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Regime {
    /// Of the codes that are scored; or why there is none.
    pub at_end: std::result::Result<f64, String>,
    /// While it was trained, step by step; or why that is not known.
    pub over_training: std::result::Result<Vec<PosteriorRow>, String>,
}

impl Regime {
    pub(super) fn of(run: &TrainedRun, data: &LabelledCodes, posterior: Posterior) -> Result<Self> {
        if posterior != Posterior::Diagonal {
            let why = match posterior {
                Posterior::Full => "it compares divergences of single latents, and the posterior has a full covariance",
                other => other.why_no_budget(),
            };
            return Ok(Self { at_end: Err(why.to_string()), over_training: Err(why.to_string()) });
        }
        let metric = unbraid_metrics::build("polarized", &Table::new())?;
        let scores = metric.score(&Subject::new(data, Seed(0)), &mut Seed(0).stream("unused"));
        let at_end = scores
            .value("polarized")
            .ok_or_else(|| scores.reason("polarized").map_or_else(|| "it is not defined".to_string(), str::to_string));
        let rows = run.folder.read_posteriors()?;
        let over_training = match rows.is_empty() {
            true => Err("the run has no posteriors.csv, which an earlier version did not write".to_string()),
            false => Ok(rows),
        };
        Ok(Self { at_end, over_training })
    }

    /// The first of the steps from which on the error stays below 3 %, and the share of training that is left from there on; `None` where it is
    /// not below at the end, or not known.
    pub fn polarized_from(&self) -> Option<(u64, f64)> {
        let rows = self.over_training.as_ref().ok()?;
        let is_polarized = |row: &&PosteriorRow| row.relative_error.is_some_and(|error| error < POLARIZED_BELOW);
        let first = rows.iter().rev().take_while(is_polarized).last()?;
        let last = rows.last()?.step;
        (last > 0).then(|| (first.step, 1.0 - first.step as f64 / last as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_training_counts_from_the_last_rise() {
        let regime = |errors: &[Option<f64>]| {
            let row = |(index, error): (usize, &Option<f64>)| PosteriorRow {
                step: 100 * (index as u64 + 1),
                kl: 1.0,
                kl_polarized: 1.0,
                relative_error: *error,
                deviations: vec![],
                variances: vec![],
            };
            Regime { at_end: Ok(0.0), over_training: Ok(errors.iter().enumerate().map(row).collect()) }
        };
        let found = regime(&[Some(0.5), Some(0.01), Some(0.04), Some(0.02), Some(0.01)]).polarized_from();
        assert_eq!(found.unwrap().0, 400);
        assert!((found.unwrap().1 - 0.2).abs() < 1e-12);
        assert_eq!(regime(&[Some(0.01), Some(0.03)]).polarized_from(), None);
        assert_eq!(regime(&[Some(0.01), None]).polarized_from(), None);
        assert!((regime(&[Some(0.0); 10]).polarized_from().unwrap().1 - 0.9).abs() < 1e-12);
    }
}
