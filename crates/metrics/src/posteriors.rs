//! What metrics of the posterior need besides the codes, and why it may not be there.

use std::borrow::Cow;

use ndarray::Array2;

use crate::Subject;
use crate::subject::rows_of;

/// Why what is computed from posteriors is undefined for codes alone.
pub const NEEDS_LOG_VARIANCES: &str = "needs the posterior's log-variances: a deterministic auto-encoder has none, and a file \
                                       may hold them as `log_variances`";

/// Why there is nothing to tell apart.
pub const SAME_POSTERIOR: &str = "every latent has the same posterior for all rows";

/// The posterior's log-variances of the rows that `Subject::train` has, `[rows, latents]`; or what is missing.
pub fn train_log_variances<'a>(subject: &Subject<'a>) -> Result<Cow<'a, Array2<f64>>, String> {
    let extras = subject.data().extras();
    match (&extras.log_variances, &extras.train_rows) {
        (Some(log_variances), Some(rows)) => Ok(Cow::Owned(rows_of(log_variances, rows))),
        (Some(log_variances), None) => Ok(Cow::Borrowed(log_variances)),
        (None, _) => Err(NEEDS_LOG_VARIANCES.to_string()),
    }
}
