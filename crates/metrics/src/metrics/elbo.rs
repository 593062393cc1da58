//! Evidence lower bound: what the codes and the decoder together tell about the images.
//!
//! Kingma and Welling 2014, equation 10, negative for most images:
//!
//! `elbo = -(reconstruction + kl)`
//!
//! with the mean reconstruction loss and the mean divergence that the metrics `reconstruction` and `kl` report. It is a
//! bound on the log-likelihood, in nats, only where the loss is minus the logarithm of a likelihood, as `bce` is for
//! images of 0 and 1. The loss `mse`, a sum of squares over D pixels, is that of a Gaussian of variance 1/2 but for a
//! constant, `-ln p = mse + D/2 ln pi`, which a table of codes does not know; a note says so with every score.

use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::kl::{OF_WHOLE_POSTERIORS, mean_kl};
use super::reconstruction::mean_loss;
use crate::Better::High;
use crate::Change::*;
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// What the number is, which the input does not say of itself.
const NOTE: &str = "minus (reconstruction + kl); in nats only where the loss is minus a log-likelihood, as bce is of images of \
                    0 and 1; mse of D pixels lacks D/2 ln(pi)";

/// The evidence lower bound, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Elbo {}

impl Metric for Elbo {
    /// `elbo`, the higher the better, and a note on its unit.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let elbo = mean_loss(data).and_then(|loss| Ok(-(loss + mean_kl(data)?)));
        let scores = Scores::new().with_outcome("elbo", elbo);
        match (scores.value("elbo"), &data.extras().kl_divergences) {
            (None, _) => scores,
            (Some(_), None) => scores.with_note("elbo", NOTE),
            (Some(_), Some(_)) => scores.with_note("elbo", NOTE).with_note("elbo", OF_WHOLE_POSTERIORS),
        }
    }
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "elbo",
    about: "minus (reconstruction + kl): the evidence lower bound where the loss is a likelihood's",
    paper: "Kingma and Welling 2014",
    settings: &[],
    scores: &[ScoreKind { name: "elbo", least: f64::NEG_INFINITY, greatest: f64::INFINITY, better: High }],
    needs: &[Need::ReconstructionLosses, Need::LogVariances],
    left_alone_by: &[LatentOrder, LatentSigns, Rotation, RowOrder, ValueOrder],
    build: |table| Ok(Box::new(settings::read::<Elbo>(table)?)),
    complete: settings::complete::<Elbo>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(extras: Extras) -> Scores {
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(array![[1.0], [-1.0]], array![[0.0], [1.0]], space, extras).unwrap();
        Elbo::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/elbo"))
    }

    #[test]
    fn a_bound_worked_by_hand() {
        // Loss (10 + 30) / 2, divergence 1/2 for each row.
        let extras = Extras {
            log_variances: Some(array![[0.0], [0.0]]),
            reconstruction_losses: Some(vec![10.0, 30.0]),
            ..Extras::default()
        };
        let scores = score(extras);
        assert_eq!(scores.value("elbo"), Some(-20.5));
        assert!(scores.notes[0].1.contains("in nats only where"));
    }

    #[test]
    fn divergences_of_whole_posteriors_take_the_place_of_the_sum_over_latents() {
        let extras = Extras {
            reconstruction_losses: Some(vec![10.0, 30.0]),
            kl_divergences: Some(vec![1.0, 4.0]),
            ..Extras::default()
        };
        let scores = score(extras);
        assert_eq!((scores.value("elbo"), scores.notes.len()), (Some(-22.5), 2));
    }

    #[test]
    fn both_parts_are_needed() {
        let extras = Extras { reconstruction_losses: Some(vec![10.0, 30.0]), ..Extras::default() };
        assert!(score(extras).undefined[0].reason.starts_with("needs the posterior's log-variances"));
        assert!(score(Extras::default()).notes.is_empty());
        assert!(score(Extras::default()).undefined[0].reason.starts_with("needs each image's reconstruction loss"));
    }
}
