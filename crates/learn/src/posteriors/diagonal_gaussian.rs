//! A Gaussian with diagonal covariance (Kingma and Welling 2014): a mean and a log-variance for each latent.

use burn::tensor::Tensor;
use unbraid_data::Rng;

use super::noise::normal;
use super::{Entry, Family, Kept, Posterior};
use crate::parameters::Parameters;

/// The family of Gaussians with diagonal covariance.
#[derive(Debug)]
pub struct DiagonalGaussians;

impl Family for DiagonalGaussians {
    fn n_outputs(&self, latents: usize) -> usize {
        2 * latents
    }

    fn posterior(&self, _parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior> {
        Box::new(DiagonalGaussian::from_outputs(outputs))
    }
}

/// A diagonal Gaussian over latents for each image of a batch.
#[derive(Debug, Clone)]
pub struct DiagonalGaussian {
    /// `[batch, latents]`.
    pub mean: Tensor<2>,
    /// `[batch, latents]`.
    pub log_variance: Tensor<2>,
}

impl DiagonalGaussian {
    /// Splits an encoder's outputs `[batch, 2 * latents]`: means first, log-variances after.
    pub fn from_outputs(outputs: Tensor<2>) -> Self {
        let latents = outputs.dims()[1] / 2;
        let mean = outputs.clone().narrow(1, 0, latents);
        let log_variance = outputs.narrow(1, latents, latents);
        Self { mean, log_variance }
    }

    /// KL divergence from the standard normal prior, for each latent, `[batch, latents]`:
    /// `(mean^2 + variance - 1 - log variance) / 2`.
    pub fn kl_of_latents(&self) -> Tensor<2> {
        let variance = self.log_variance.clone().exp();
        (self.mean.clone().powi_scalar(2) + variance - self.log_variance.clone() - 1.0) * 0.5
    }
}

impl Posterior for DiagonalGaussian {
    /// `mean + std * noise`.
    fn sample(&self, rng: &mut Rng) -> Tensor<2> {
        self.mean.clone() + (self.log_variance.clone() * 0.5).exp() * normal(&self.mean, rng)
    }

    fn kl(&self) -> Tensor<2> {
        self.kl_of_latents().sum_dim(1)
    }

    /// The mean.
    fn code(&self) -> Tensor<2> {
        self.mean.clone()
    }

    fn kept(&self) -> Kept {
        Kept { log_variances: Some(self.log_variance.clone()), kl_divergences: None }
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "diagonal_gaussian",
    about: "a Gaussian with diagonal covariance",
    paper: "Kingma and Welling 2014, Auto-encoding variational Bayes",
    example: || Box::new(DiagonalGaussians),
};

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    fn gaussian(mean: &[f32], log_variance: &[f32]) -> DiagonalGaussian {
        let make = |values: &[f32]| Device::cpu().tensor(values.to_vec(), [1, values.len()]);
        DiagonalGaussian { mean: make(mean), log_variance: make(log_variance) }
    }

    #[test]
    fn kl_by_hand() {
        // mean 0, variance 1: 0. mean 1, variance 1: 1/2. mean 0, variance e: (e - 1 - 1) / 2 = 0.3591409.
        let posterior = gaussian(&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]);
        let kl = floats(posterior.kl_of_latents());
        for (found, wanted) in kl.iter().zip([0.0, 0.5, 0.359_140_9]) {
            assert!((found - wanted).abs() < 1e-6, "{kl:?}");
        }
        assert!((floats(posterior.kl())[0] - 0.859_140_9).abs() < 1e-6);
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
        let posterior = DiagonalGaussian::from_outputs(Device::cpu().tensor(vec![1.0, 2.0, 3.0, 4.0], [1, 4]));
        assert_eq!(floats(posterior.mean), [1.0, 2.0]);
        assert_eq!(floats(posterior.log_variance), [3.0, 4.0]);
    }
}
