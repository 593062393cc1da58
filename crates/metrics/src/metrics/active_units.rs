//! Active units: how many latents respond to the image at all.
//!
//! Burda et al. 2016, "Importance weighted autoencoders", section 5.2: a latent is active where the variance of its
//! posterior mean (the code) over the images exceeds 0.01. The variance is taken over all rows.

use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result, Rng, settings};

use crate::Better::Neither;
use crate::Change::*;
use crate::statistics::deviations::variance;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// Settings of the count of active units.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ActiveUnits {
    /// The variance above which a latent is active; 0.01 in Burda et al. 2016.
    pub threshold: f64,
}

impl Default for ActiveUnits {
    fn default() -> Self {
        Self { threshold: 0.01 }
    }
}

impl ActiveUnits {
    fn check(self) -> Result<Self> {
        if self.threshold >= 0.0 && self.threshold.is_finite() {
            return Ok(self);
        }
        Err(Error::new(format!("setting \"threshold\" is {}", self.threshold)).help("wanted 0 or more"))
    }
}

impl Metric for ActiveUnits {
    /// `active_units`, from 0 to the number of latents.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let n_active = data.codes().columns().into_iter().filter(|latent| variance(latent) > self.threshold).count();
        Scores::new().with("active_units", n_active as f64)
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "active_units",
    about: "number of latents whose code varies over the images",
    paper: "Burda et al. 2016",
    settings: &[Setting {
        name: "threshold",
        values: Values::Number(0.0, f64::MAX),
        meaning: "the variance of a latent's codes above which it is active",
    }],
    scores: &[ScoreKind { name: "active_units", least: 0.0, greatest: f64::INFINITY, better: Neither }],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build: |table| Ok(Box::new(settings::read::<ActiveUnits>(table)?.check()?)),
    complete: settings::complete::<ActiveUnits>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    #[test]
    fn latents_above_the_threshold_are_counted() {
        // Variances 0.25, 0.0081 and 0.
        let codes = array![[0.0, 0.0, 0.1], [1.0, 0.18, 0.1]];
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes, array![[0.0], [1.0]], space, Extras::default()).unwrap();
        let n_active = |metric: ActiveUnits| {
            metric
                .score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/active_units"))
                .value("active_units")
        };
        assert_eq!(n_active(ActiveUnits::default()), Some(1.0));
        assert_eq!(n_active(ActiveUnits { threshold: 0.008 }), Some(2.0));
    }
}
