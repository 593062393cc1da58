//! What some metrics need besides codes and factors, and why it may not be there.

use std::borrow::Cow;

use ndarray::{Array2, Array3};
use unbraid_data::LabelledCodes;

use crate::Subject;
use crate::subject::rows_of;

/// What a metric needs besides codes and factors: a column of `Extras`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The posterior's log-variances.
    LogVariances,
    /// Each image's reconstruction loss, which takes a decoder.
    ReconstructionLosses,
    /// The decoder's Jacobians at a few codes.
    Jacobians,
}

impl Need {
    /// What is undefined without it, and where it may come from.
    pub fn reason(self) -> &'static str {
        match self {
            Need::LogVariances => {
                "needs the posterior's log-variances: a posterior that is a point, or has classes, has none, and a file may hold them as \
                 `log_variances`"
            }
            Need::ReconstructionLosses => {
                "needs each image's reconstruction loss: a model without a decoder has none, and a file may hold them as \
                 `reconstruction_losses`"
            }
            Need::Jacobians => {
                "needs the decoder's Jacobians: a model without a decoder has none, and a file may hold them as `jacobians`"
            }
        }
    }
}

/// Why there is nothing to tell apart.
pub const SAME_POSTERIOR: &str = "every latent has the same posterior for all rows";

/// The posterior's log-variances, `[rows, latents]`; or what is missing.
pub fn log_variances(data: &LabelledCodes) -> Result<&Array2<f64>, String> {
    data.extras().log_variances.as_ref().ok_or_else(|| Need::LogVariances.reason().to_string())
}

/// The posterior's log-variances of the rows that `Subject::train` has, `[rows, latents]`; or what is missing.
pub fn train_log_variances<'a>(subject: &Subject<'a>) -> Result<Cow<'a, Array2<f64>>, String> {
    let log_variances = log_variances(subject.data())?;
    Ok(match &subject.data().extras().train_rows {
        Some(rows) => Cow::Owned(rows_of(log_variances, rows)),
        None => Cow::Borrowed(log_variances),
    })
}

/// Each image's reconstruction loss, summed over pixels, `[rows]`; or what is missing.
pub fn reconstruction_losses(data: &LabelledCodes) -> Result<&[f64], String> {
    let losses = data.extras().reconstruction_losses.as_deref();
    losses.ok_or_else(|| Need::ReconstructionLosses.reason().to_string())
}

/// The decoder's Jacobians, `[codes, pixels, latents]`; or what is missing.
pub fn jacobians(data: &LabelledCodes) -> Result<&Array3<f64>, String> {
    let extras = data.extras();
    let reason = || extras.why_no_jacobians.clone().unwrap_or_else(|| Need::Jacobians.reason().to_string());
    extras.jacobians.as_ref().ok_or_else(reason)
}
