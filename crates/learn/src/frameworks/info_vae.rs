//! InfoVAE (Zhao et al. 2019, eq 6): a VAE whose KL divergence is weighed less and whose codes, all together, are pulled to the
//! prior by their maximum mean discrepancy from it.
//!
//! Minimised is `reconstruction + (1 - alpha) KL + (alpha + lambda - 1) MMD(q(z), p(z))`. The discrepancy is estimated without bias
//! (Gretton et al. 2012, eq 3), from the `M` sampled codes and as many draws of the prior: `mean_(i != j) k(z_i, z_j) + mean_(i !=
//! j) k(p_i, p_j) - 2 mean_(i, j) k(z_i, p_j)`, in which no code meets itself. It may be below 0. With the terms `i = j`, as the
//! authors' code has them, it would be up to `2 / M` too large.
//!
//! The kernels are functions of `d^2 / C` with `C = 2 latents bandwidth^2`: `rbf` is `exp(-d^2 / C)`, the Gaussian kernel of width
//! `sqrt(latents) bandwidth`, and `imq` the inverse multiquadratic `C / (C + d^2)` of Tolstikhin et al. 2018. `C` is the mean
//! squared distance of two draws from a Gaussian of deviation `bandwidth`, so that a bandwidth means the same for any number of
//! latents. The published code has `exp(-d^2 / latents^2)`, a bandwidth of `sqrt(latents / 2)`; disent has `sqrt 2`. Distances are
//! taken of differences, not as `|a|^2 + |b|^2 - 2 a b`, which loses the small ones.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::ops;
use crate::posteriors::noise::normal;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

const LEAST_BANDWIDTH: f64 = 1e-3;
const MOST_BANDWIDTH: f64 = 1e3;

/// Settings and objective. `alpha` and `lambda` are the paper's for MNIST; kernel and bandwidth are ours.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct InfoVae {
    /// How much the information between images and codes is favoured: the KL divergence weighs `1 - alpha`.
    pub alpha: Schedule,
    /// With `alpha`, the weight of the discrepancy, `alpha + lambda - 1`.
    pub lambda: Schedule,
    /// The kernel of the discrepancy.
    pub kernel: Kernel,
    /// The width of the kernel, 1 for the distances within the prior.
    pub bandwidth: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that the weights mean the same in both.
    pub reduction: Reduction,
}

/// What two codes have in common: 1 where they are the same, less the further they are apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Gaussian, `exp(-d^2 / C)`.
    #[default]
    Rbf,
    /// Inverse multiquadratic, `C / (C + d^2)`, which is felt from far away.
    Imq,
}

impl Default for InfoVae {
    fn default() -> Self {
        Self {
            alpha: Schedule::Constant(0.0),
            lambda: Schedule::Constant(1000.0),
            kernel: Kernel::default(),
            bandwidth: 1.0,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl InfoVae {
    fn check(self) -> Result<Self> {
        self.alpha.check("alpha", -MOST_WEIGHT, 1.0)?;
        self.lambda.check("lambda", 0.0, MOST_WEIGHT)?;
        check_range("bandwidth", self.bandwidth, LEAST_BANDWIDTH, MOST_BANDWIDTH)?;
        // Below 0 the codes would be pushed away from the prior.
        let weight = self.alpha.least() + self.lambda.least() - 1.0;
        if weight < 0.0 {
            return Err(Error::new(format!("the discrepancy would weigh alpha + lambda - 1 = {weight}"))
                .help("wanted an \"alpha\" and a \"lambda\" whose sum is 1 or more"));
        }
        Ok(self)
    }

    /// The discrepancy of codes and draws of the prior, `[batch, latents]` both, of 2 or more rows: `[1]`.
    fn discrepancy(&self, codes: &Tensor<2>, prior: &Tensor<2>) -> Tensor<1> {
        let [n_batch, latents] = codes.dims();
        let scale = 2.0 * latents as f64 * self.bandwidth.powi(2);
        let kernel = |a: &Tensor<2>, b: &Tensor<2>| self.kernel.of(squared_distances(a, b) / scale); // [batch, batch]
        let n_pairs = (n_batch * (n_batch - 1)) as f64;
        // Each row is 1 alike itself, exactly.
        let among = |rows: &Tensor<2>| (ops::sum(kernel(rows, rows)) - n_batch as f64) / n_pairs;
        among(codes) + among(prior) - ops::mean(kernel(codes, prior)) * 2.0
    }
}

impl Framework for InfoVae {
    fn least_batch(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "mmd"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let n_pixels = images.dims()[1];
        let posterior = model.encode(images.clone());
        let codes = posterior.sample(noise); // [batch, latents]
        let outputs = model.decode(codes.clone());
        let per_image = self.reconstruction.per_image(model, outputs, images);
        let prior = normal(&codes, noise);

        let (alpha, lambda) = (self.alpha.at(batch.step), self.lambda.at(batch.step));
        let n_terms = self.reduction.divisor(n_pixels);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with("kl", ops::mean(posterior.kl()), (1.0 - alpha) / n_terms)
            .with("mmd", self.discrepancy(&codes, &prior), (alpha + lambda - 1.0) / n_terms)
    }
}

impl Kernel {
    /// The kernel at squared distances that are divided by `C`.
    fn of(self, squared_distances: Tensor<2>) -> Tensor<2> {
        match self {
            Kernel::Rbf => (-squared_distances).exp(),
            Kernel::Imq => (squared_distances + 1.0).recip(),
        }
    }
}

/// `|a_i - b_j|^2`, `[rows of a, rows of b]`.
fn squared_distances(a: &Tensor<2>, b: &Tensor<2>) -> Tensor<2> {
    let differences = a.clone().unsqueeze_dim::<3>(1) - b.clone().unsqueeze_dim(0); // [rows, rows, latents]
    differences.powi_scalar(2).sum_dim(2).squeeze_dim(2)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "info_vae",
    about: "reconstruction + (1 - alpha) * KL + (alpha + lambda - 1) * discrepancy of all codes from the prior",
    paper: "Zhao et al. 2019, InfoVAE",
    settings: &[
        Setting {
            name: "alpha",
            values: Values::Words("a number from 1 - lambda to 1, or a schedule"),
            meaning: "the KL divergence weighs 1 - alpha: at 1 codes may tell all of their images",
        },
        Setting {
            name: "lambda",
            values: Values::Words("a number from 1 - alpha to 1e9, or a schedule"),
            meaning: "with alpha, the weight of the discrepancy (MMD) of all codes from the prior: alpha + lambda - 1",
        },
        Setting {
            name: "kernel",
            values: Values::OneOf(&["rbf", "imq"]),
            meaning: "the discrepancy's kernel: Gaussian, or inverse multiquadratic, which reaches further",
        },
        Setting {
            name: "bandwidth",
            values: Values::Number(LEAST_BANDWIDTH, MOST_BANDWIDTH),
            meaning: "width of the kernel: at 1 it suits the distances within the prior",
        },
        RECONSTRUCTION,
        WHOLE_REDUCTION,
    ],
    // A smaller weight: a penalty that makes up most of the loss would hide the rest from a test by differences.
    example: "lambda = 10.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<InfoVae>(table)?.check()?)),
    complete: settings::complete::<InfoVae>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discrepancy_that_would_push_codes_away_from_the_prior_is_refused() {
        let message =
            |settings: &str| (ENTRY.build)(&settings.parse().expect("it is TOML")).err().map(|error| error.to_string());
        assert_eq!(message("alpha = 1.0\nlambda = 0.0"), None);
        assert_eq!(message("alpha = -0.5\nlambda = 5.0"), None);
        let refused = message("lambda = { from = 10.0, to = 0.5, steps = 10 }").expect("it ends below 1");
        assert!(refused.starts_with("the discrepancy would weigh alpha + lambda - 1 = -0.5"), "{refused}");
    }
}
