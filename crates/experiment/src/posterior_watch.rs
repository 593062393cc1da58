//! What posteriors are like while a run trains: at each checkpoint and after the last step, of up to 256 of the images that are scored at the end, so that
//! numbers differ a little from those of all. How far they are from the
//! polarized regime (T4 equation 3.38) and which latents are switched off is read off `posteriors.csv` when the run has ended.

use std::ops::ControlFlow;

use ndarray::Array2;
use unbraid_data::{Dataset, Result};
use unbraid_learn::Learner;
use unbraid_learn::perturbation::Posteriors;
use unbraid_metrics::metrics::polarized::{ACTIVE_ABOVE, regime};
use unbraid_report::{PosteriorRow, RunFolder};

use crate::config::Config;
use crate::prepare::rows_to_encode;

/// As many images as go through the network at once: they cost a few training steps at each checkpoint.
pub(crate) const IMAGES: usize = 256;

/// The log of a run that goes on.
pub struct PosteriorWatch {
    every: u64,
    last_step: u64,
    images: Vec<usize>,
    /// Whether the posterior is one of which there are rows; not known before the first look.
    has_rows: Option<bool>,
    rows: Vec<PosteriorRow>,
}

impl PosteriorWatch {
    /// Goes on with the log of a run after step `saved`.
    pub fn begin(folder: &RunFolder, config: &Config, dataset: &dyn Dataset, saved: u64) -> Result<Self> {
        let mut rows = folder.read_posteriors()?;
        let (every, last_step) = (config.training.checkpoint_every, config.training.steps);
        // A run that is trained longer than before has no row where it ended before, as one that was never stopped there.
        let is_due = |step: u64| step.is_multiple_of(every) || step < saved || saved >= last_step;
        let n_rows = rows.len();
        rows.retain(|row| row.step <= saved && is_due(row.step));
        if rows.len() < n_rows {
            folder.write_posteriors(&rows)?;
        }
        let scored = rows_to_encode(config, dataset.n_images())?;
        let n_images = IMAGES.min(scored.len());
        let images = (0..n_images).map(|image| scored[image * scored.len() / n_images]).collect();
        Ok(Self { every, last_step, images, has_rows: None, rows })
    }

    /// Adds a row where one is due, at checkpoints and after the last step: not where a run is stopped between two checkpoints, so that it leaves the
    /// same rows as one that is not. A posterior that is no Gaussian of independent latents has none. To be called before the checkpoint is written.
    pub fn look(&mut self, folder: &RunFolder, dataset: &dyn Dataset, learner: &Learner) -> Result<()> {
        let step = learner.steps_taken();
        if !step.is_multiple_of(self.every) && step != self.last_step {
            return Ok(());
        }
        let model = learner.trained();
        if !*self.has_rows.get_or_insert_with(|| model.has_diagonal_posterior()) {
            return Ok(());
        }
        let posteriors = model.posteriors(dataset, &self.images, |_| ControlFlow::Continue(()))?;
        let Posteriors { means, log_variances } = posteriors.expect("nobody asks to stop");
        let shape = (self.images.len(), model.latents());
        let [codes, log_variances] = [means, log_variances].map(|values| {
            let values = values.into_iter().map(f64::from).collect();
            Array2::from_shape_vec(shape, values).expect("a number for each image and latent")
        });
        let regime = regime(&codes, &log_variances, ACTIVE_ABOVE);
        if !regime.is_finite() {
            return Ok(());
        }
        self.rows.push(PosteriorRow {
            step,
            kl: regime.divergence,
            kl_polarized: regime.approximate,
            relative_error: regime.relative_error().ok(),
            deviations: regime.deviations,
            variances: regime.variances,
        });
        folder.write_posteriors(&self.rows)
    }
}
