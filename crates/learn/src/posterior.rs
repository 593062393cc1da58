//! What an encoder says about an image: a code, and how sure it is of each latent.

use burn::tensor::Tensor;
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::Rng;

use crate::tensors::tensor;

/// Which distribution an encoder's outputs describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PosteriorKind {
    /// A point: one output for each latent.
    Deterministic,
    /// A Gaussian with diagonal covariance: a mean and a log-variance for each latent.
    DiagonalGaussian,
}

impl PosteriorKind {
    /// How many outputs an encoder needs for so many latents.
    pub fn n_outputs(self, latents: usize) -> usize {
        match self {
            PosteriorKind::Deterministic => latents,
            PosteriorKind::DiagonalGaussian => 2 * latents,
        }
    }
}

/// A diagonal Gaussian over latents for each image of a batch.
#[derive(Debug, Clone)]
pub struct Gaussian {
    /// `[batch, latents]`.
    pub mean: Tensor<2>,
    /// `[batch, latents]`.
    pub log_variance: Tensor<2>,
}

impl Gaussian {
    /// Splits an encoder's outputs `[batch, 2 * latents]`: means first, log-variances after.
    pub fn from_outputs(outputs: Tensor<2>) -> Self {
        let latents = outputs.dims()[1] / 2;
        let mean = outputs.clone().narrow(1, 0, latents);
        let log_variance = outputs.narrow(1, latents, latents);
        Self { mean, log_variance }
    }

    /// One draw for each image, `mean + std * noise` with noise from `rng` (Kingma and Welling 2014), `[batch, latents]`.
    pub fn sample(&self, rng: &mut Rng) -> Tensor<2> {
        let [batch, latents] = self.mean.dims();
        let noise = (0..batch * latents).map(|_| rng.sample(StandardNormal)).collect();
        let noise = tensor(noise, [batch, latents], &self.mean.device());
        self.mean.clone() + (self.log_variance.clone() * 0.5).exp() * noise
    }

    /// KL divergence from the standard normal prior, for each latent, `[batch, latents]`:
    /// `(mean^2 + variance - 1 - log variance) / 2`.
    pub fn kl(&self) -> Tensor<2> {
        let variance = self.log_variance.clone().exp();
        (self.mean.clone().powi_scalar(2) + variance - self.log_variance.clone() - 1.0) * 0.5
    }
}

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::tensors::{device, floats};

    fn gaussian(mean: &[f32], log_variance: &[f32]) -> Gaussian {
        let make = |values: &[f32]| tensor(values.to_vec(), [1, values.len()], &device());
        Gaussian { mean: make(mean), log_variance: make(log_variance) }
    }

    #[test]
    fn kl_by_hand() {
        // mean 0, variance 1: 0. mean 1, variance 1: 1/2. mean 0, variance e: (e - 1 - 1) / 2 = 0.3591409.
        let kl = floats(gaussian(&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]).kl());
        for (found, wanted) in kl.iter().zip([0.0, 0.5, 0.359_140_9]) {
            assert!((found - wanted).abs() < 1e-6, "{kl:?}");
        }
    }

    #[test]
    fn samples_have_the_mean_and_the_spread() {
        let n = 20_000;
        let posterior = gaussian(&vec![3.0; n], &vec![(4.0_f32).ln(); n]);
        let draws = floats(posterior.sample(&mut Seed(1).stream("noise")));
        let mean = draws.iter().sum::<f32>() / n as f32;
        let variance = draws.iter().map(|z| (z - mean).powi(2)).sum::<f32>() / n as f32;
        // Standard errors: 2 / sqrt(20,000) = 0.014 and 4 * sqrt(2 / 20,000) = 0.04.
        assert!((mean - 3.0).abs() < 0.06 && (variance - 4.0).abs() < 0.16, "{mean} {variance}");
    }

    #[test]
    fn outputs_are_means_then_log_variances() {
        let outputs = tensor(vec![1.0, 2.0, 3.0, 4.0], [1, 4], &device());
        let posterior = Gaussian::from_outputs(outputs);
        assert_eq!(floats(posterior.mean), [1.0, 2.0]);
        assert_eq!(floats(posterior.log_variance), [3.0, 4.0]);
    }
}
