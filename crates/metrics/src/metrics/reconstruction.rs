//! Reconstruction loss: how far the decoder's images are from the ones that were encoded, as the framework counts it.
//!
//! The first part of the evidence lower bound of Kingma and Welling 2014, equation 10: the mean over the images of each
//! one's loss, summed over its pixels, as the run or the input recorded it.

use serde::{Deserialize, Serialize};
use unbraid_data::{LabelledCodes, Rng, settings};

use crate::Better::Low;
use crate::Change::*;
use crate::needs::reconstruction_losses;
use crate::{Entry, Metric, Need, ScoreKind, Scores, Subject};

/// The reconstruction loss, which has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reconstruction {}

impl Metric for Reconstruction {
    /// `reconstruction`, in nats where the loss is minus the logarithm of a likelihood (see `elbo`).
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        Scores::new().with_outcome("reconstruction", mean_loss(data))
    }
}

/// The mean over all rows of their reconstruction loss, or what is missing.
pub fn mean_loss(data: &LabelledCodes) -> Result<f64, String> {
    let losses = reconstruction_losses(data)?;
    Ok(losses.iter().sum::<f64>() / losses.len() as f64)
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "reconstruction",
    about: "mean reconstruction loss of an image, summed over pixels",
    paper: "Kingma and Welling 2014",
    settings: &[],
    scores: &[ScoreKind { name: "reconstruction", least: f64::NEG_INFINITY, greatest: f64::INFINITY, better: Low }],
    needs: &[Need::ReconstructionLosses],
    left_alone_by: &[
        LatentOrder,
        LatentSigns,
        CommonScale,
        LatentScales,
        Shift,
        Rotation,
        RowOrder,
        ValueOrder,
        LogVariances,
    ],
    build: |table| Ok(Box::new(settings::read::<Reconstruction>(table)?)),
    complete: settings::complete::<Reconstruction>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    fn loss(reconstruction_losses: Option<Vec<f64>>) -> Result<f64, String> {
        let extras = Extras { reconstruction_losses, ..Extras::default() };
        let factors = array![[0.0], [1.0]];
        mean_loss(&LabelledCodes::new(factors.clone(), factors, FactorSpace::grid([("shape", 2)]), extras).unwrap())
    }

    #[test]
    fn the_mean_of_two_losses() {
        assert_eq!(loss(Some(vec![10.0, 30.0])), Ok(20.0));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(loss(None).unwrap_err().ends_with("a file may hold them as `reconstruction_losses`"));
    }
}
