//! Whether latents are wholly active or wholly passive: the relative error of the divergence when it is counted so (T4 equation 3.38), at the end and
//! over training.

use toml::Table;
use unbraid_data::{LabelledCodes, Result, Seed};
use unbraid_metrics::Subject;
use unbraid_report::posterior_log::{PosteriorRow, polarized_at_end};

use super::Posterior;
use crate::trained_run::TrainedRun;

const NO_ROWS: &str = "the run has no posteriors.csv: an earlier version made it";

/// Relative KL errors of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Regime {
    /// Of the codes that are scored; or why there is none.
    pub at_end: std::result::Result<f64, String>,
    /// While it was trained, of up to 256 of them, at each checkpoint and after the last step; or why that is not known.
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
            true => Err(NO_ROWS.to_string()),
            false => Ok(rows),
        };
        Ok(Self { at_end, over_training })
    }

    /// The first of the checkpoints from which on the error stays below 3 %, and the share of all checkpoints that are left from there on; `None`
    /// where it is not below at the last one, or not known.
    pub fn polarized_from(&self) -> Option<(u64, f64)> {
        polarized_at_end(self.over_training.as_ref().ok()?)
    }
}
