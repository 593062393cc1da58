//! SlowVAE (Klindt et al. 2021): a VAE on two frames that follow each other, whose latents change by a Laplace
//! distribution from one to the next: mostly a little, sometimes a lot.
//!
//! Minimised for a pair is the sum of both reconstruction losses, `+ beta KL(q(z) || N(0, 1)) + gamma KL(q(z_t) || Laplace(z_(t-1),
//! rate))`. Either frame can come first, so both divergences are means over the two frames. The Laplace distribution stands at the mean of
//! the other frame's posterior, as in the paper's figure 2 and in the published code; the bound itself would average over that posterior.
//!
//! The divergence is a cross-entropy less the posterior's entropy, and the cross-entropy is `-ln(rate / 2) + rate E|z|`, where
//! `E|z| = sigma sqrt(2 / pi) exp(-mean^2 / (2 sigma^2)) + mean erf(mean / (sigma sqrt 2))` of a Gaussian. It is held against
//! quadrature below. The divergence is least, `ln 2 + 1/2 - ln pi`, where the frames agree and sigma is `sqrt(pi / 2) / rate`.
//!
//! The published code (bethgelab/slow_disentanglement) adds the cross-entropies of both directions and takes the entropy away once. That is
//! the divergence of twice the rate, up to a constant: its `rate_prior = 6` is `rate = 12` here. All else it weighs the same.

use std::f64::consts::{E, FRAC_1_SQRT_2, FRAC_2_PI, PI};

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, Rng, settings};

use super::{BETA, Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::members::members;
use crate::model::Model;
use crate::posteriors::{DiagonalGaussian, Posterior};
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::constant;

const LEAST_RATE: f64 = 1e-3;
const MOST_RATE: f64 = 1e3;

/// Beyond so many standard deviations from 0, `E|z|` is `|mean|` to the last digit of f32.
const MOST_DEVIATIONS: f64 = 10.0;
/// The logarithm of 1 / sigma from which on sigma is nothing, whatever the mean. Its exponential does not overflow.
const MOST_PRECISION: f64 = 40.0;

/// Settings and objective. `beta`, `gamma` and `rate` are the paper's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct SlowVae {
    /// The weight of the KL divergence from the normal prior.
    pub beta: Schedule,
    /// The weight of the KL divergence from the Laplace distribution around the other frame.
    pub gamma: Schedule,
    /// The rate of the Laplace distribution, 1 over its mean absolute value.
    pub rate: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels and latents.
    pub reduction: Reduction,
}

impl Default for SlowVae {
    fn default() -> Self {
        Self {
            beta: Schedule::Constant(1.0),
            gamma: Schedule::Constant(10.0),
            rate: 6.0,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl SlowVae {
    fn check(self) -> Result<Self> {
        self.beta.check("beta", 0.0, MOST_WEIGHT)?;
        self.gamma.check("gamma", 0.0, MOST_WEIGHT)?;
        check_range("rate", self.rate, LEAST_RATE, MOST_RATE)?;
        Ok(self)
    }
}

impl Framework for SlowVae {
    fn arity(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "slowness"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        // Both frames go through the network as one batch; the first half is the first frame.
        let images = batch.images(); // [2 * batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode_gaussian(images.clone());
        let outputs = model.decode(posterior.sample(noise)); // [2 * batch, pixels]
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let [first, second] = members(&posterior.mean);
        let change = second - first; // [batch, latents]
        let from_other = DiagonalGaussian {
            mean: Tensor::cat(vec![-change.clone(), change], 0), // [2 * batch, latents]
            log_variance: posterior.log_variance.clone(),
        };
        let slowness = kl_from_laplace(&from_other, self.rate).sum_dim(1); // [2 * batch, 1]
        Losses::new()
            // Twice the mean over all images: the sum over the frames of a pair.
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 2.0)
            .with("kl", self.reduction.reduce_sums(posterior.kl(), model.latents()), self.beta.at(batch.step))
            .with("slowness", self.reduction.reduce_sums(slowness, model.latents()), self.gamma.at(batch.step))
    }
}

/// KL divergence of Gaussians from the Laplace distribution around 0, for each latent, `[batch, latents]`.
fn kl_from_laplace(gaussian: &DiagonalGaussian, rate: f64) -> Tensor<2> {
    let cross_entropy = absolute_mean(gaussian) * rate - (rate / 2.0).ln();
    let entropy = (gaussian.log_variance.clone() + (2.0 * PI * E).ln()) * 0.5;
    cross_entropy - entropy
}

/// `E|z|` of Gaussians, for each latent, `[batch, latents]`: `sigma a(u) + mean b(u)`, with `u = mean / sigma`.
///
/// What comes through `u` cancels out of the gradient, which is `a(u)` by sigma and `b(u)` by the mean. So `u` is a constant here, and a
/// sigma of almost 0 leaves no `0 * infinity` behind.
fn absolute_mean(gaussian: &DiagonalGaussian) -> Tensor<2> {
    let precision = (constant(&gaussian.log_variance) * -0.5).clamp_max(MOST_PRECISION).exp();
    let u = (constant(&gaussian.mean) * precision).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS);
    let a = (u.clone().powi_scalar(2) * -0.5).exp() * FRAC_2_PI.sqrt();
    let b = (u * FRAC_1_SQRT_2).erf();
    (gaussian.log_variance.clone() * 0.5).exp() * a + gaussian.mean.clone() * b
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "slow_vae",
    about: "VAE on frames that follow each other; latents change by a Laplace distribution",
    paper: "Klindt et al. 2021, Towards nonlinear disentanglement in natural data with temporal sparse coding",
    settings: &[
        BETA,
        Setting {
            name: "gamma",
            values: Values::Schedule(0.0, MOST_WEIGHT),
            meaning: "weight of the KL divergence from the Laplace distribution around the other frame",
        },
        Setting {
            name: "rate",
            values: Values::Number(LEAST_RATE, MOST_RATE),
            meaning: "rate of the Laplace distribution: latents change by 1 / rate on average; 12 is the published code's 6",
        },
        RECONSTRUCTION,
        REDUCTION,
    ],
    example: "",
    samplers: &["temporal", "pair"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<SlowVae>(table)?.check()?)),
    complete: settings::complete::<SlowVae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::ops;
    use crate::tensors::floats;

    fn gaussian(mean: f64, log_variance: f64) -> DiagonalGaussian {
        let tensor = |value: f64| Device::cpu().recording_tensor(vec![value as f32], [1, 1]).require_grad();
        DiagonalGaussian { mean: tensor(mean), log_variance: tensor(log_variance) }
    }

    /// `-E ln p(z)` of the Laplace distribution, by the rule of Simpson over 12 standard deviations to each side, in two pieces that
    /// meet where the density bends.
    fn cross_entropy_by_quadrature(mean: f64, sigma: f64, rate: f64) -> f64 {
        let value = |z: f64| {
            let density = (-0.5 * ((z - mean) / sigma).powi(2)).exp() / (sigma * (2.0 * PI).sqrt());
            density * (rate * z.abs() - (rate / 2.0).ln())
        };
        let simpson = |from: f64, to: f64| {
            let n = 4000;
            let width = (to - from) / f64::from(n);
            let weight = |i: i32| if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
            (0..=n).map(|i| weight(i) * value(from + f64::from(i) * width)).sum::<f64>() * width / 3.0
        };
        let (from, to) = (mean - 12.0 * sigma, mean + 12.0 * sigma);
        let bend = 0.0_f64.clamp(from, to);
        simpson(from, bend) + simpson(bend, to)
    }

    #[test]
    fn the_cross_entropy_is_that_of_quadrature() {
        for mean in [-30.0, -2.0, -0.5, -1e-3, 0.0, 0.01, 0.3, 1.0, 7.0] {
            for sigma in [1e-3, 0.02, 0.1, 0.5, 1.0, 3.0, 20.0] {
                for rate in [0.1, 1.0, 6.0, 12.0, 100.0] {
                    let one = gaussian(mean, 2.0 * f64::ln(sigma));
                    let found = f64::from(floats(absolute_mean(&one))[0]) * rate - (rate / 2.0).ln();
                    let wanted = cross_entropy_by_quadrature(mean, sigma, rate);
                    // The two terms may cancel.
                    let scale = wanted.abs().max((rate / 2.0).ln().abs());
                    let place = format!("mean {mean}, sigma {sigma}, rate {rate}");
                    assert!((found - wanted).abs() <= 1e-5 * scale, "{place}: {found} is not {wanted}");
                    let divergence = f64::from(floats(kl_from_laplace(&one, rate))[0]);
                    let entropy = 0.5 * (2.0 * PI * E).ln() + sigma.ln();
                    assert!((divergence - (wanted - entropy)).abs() <= 1e-5 * (scale + entropy.abs()), "{place}");
                    assert!(divergence > 0.048, "{place}: a divergence of {divergence}");
                }
            }
        }
    }

    /// The gradients by mean and log-variance.
    fn gradients(one: &DiagonalGaussian, rate: f64) -> [f32; 2] {
        let gradients = ops::sum(kl_from_laplace(one, rate)).backward();
        [&one.mean, &one.log_variance].map(|tensor| floats(tensor.grad(&gradients).expect("it has a gradient"))[0])
    }

    #[test]
    fn the_divergence_is_least_where_the_closed_form_says() {
        // By sigma: rate sqrt(2 / pi) - 1 / sigma = 0. There it is ln 2 + 1/2 - ln pi, whatever the rate.
        for rate in [0.5, 6.0, 12.0] {
            let best = gaussian(0.0, 2.0 * ((PI / 2.0).sqrt() / rate).ln());
            let found = f64::from(floats(kl_from_laplace(&best, rate))[0]);
            assert!((found - (2.0_f64.ln() + 0.5 - PI.ln())).abs() < 1e-6, "{found}");
            assert!(
                gradients(&best, rate).iter().all(|gradient| gradient.abs() < 1e-6),
                "{:?}",
                gradients(&best, rate)
            );
        }
    }

    #[test]
    fn gradients_are_those_of_the_closed_form() {
        for (mean, log_variance) in [(0.3, -1.0), (-1.0, 0.5), (0.02, -6.0), (5.0, -3.0)] {
            let [by_mean, by_log_variance] = gradients(&gaussian(mean, log_variance), 6.0).map(f64::from);
            let difference = |change: [f64; 2]| {
                let at = |sign: f64| {
                    let (mean, log_variance) = (mean + sign * change[0], log_variance + sign * change[1]);
                    cross_entropy_by_quadrature(mean, (log_variance * 0.5).exp(), 6.0) - 0.5 * log_variance
                };
                (at(1.0) - at(-1.0)) / 2e-4
            };
            for (found, wanted) in [(by_mean, difference([1e-4, 0.0])), (by_log_variance, difference([0.0, 1e-4]))] {
                assert!((found - wanted).abs() < 1e-4, "{mean}, {log_variance}: {found} is not {wanted}");
            }
        }
    }

    #[test]
    fn variances_of_almost_nothing_leave_all_finite() {
        // E|z| is |mean|: 6 |mean| - ln 3 - (ln 2 pi e + log-variance) / 2.
        for log_variance in [-200.0, -90.0, -40.0] {
            for mean in [0.0, 1e-30, -1e-3, 2.0, -1e6] {
                let one = gaussian(mean, log_variance);
                let wanted = 6.0 * mean.abs() - 3.0_f64.ln() - 0.5 * ((2.0 * PI * E).ln() + log_variance);
                let found = f64::from(floats(kl_from_laplace(&one, 6.0))[0]);
                assert!(
                    (found - wanted).abs() <= 1e-6 * wanted.abs(),
                    "{mean}, {log_variance}: {found} is not {wanted}"
                );
                let [by_mean, by_log_variance] = gradients(&one, 6.0);
                assert!(by_mean.abs() <= 6.0 && (by_log_variance + 0.5).abs() < 1e-6, "{by_mean}, {by_log_variance}");
            }
        }
    }

    #[test]
    fn the_published_sum_is_the_divergence_of_twice_the_rate() {
        // 2 (-ln(r / 2) + r E|z|) - H = (-ln r + 2 r E|z|) - H - 2 ln(r / 2) + ln r, and the last two are ln(4 / r).
        let one = gaussian(0.4, -2.0);
        let published =
            2.0 * cross_entropy_by_quadrature(0.4, (-1.0_f64).exp(), 6.0) - 0.5 * ((2.0 * PI * E).ln() - 2.0);
        let found = f64::from(floats(kl_from_laplace(&one, 12.0))[0]) + (4.0_f64 / 6.0).ln();
        assert!((found - published).abs() < 1e-5, "{found} is not {published}");
    }
}
