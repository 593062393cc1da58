//! ControlVAE (T3 eq 2.6 and 2.7; Shao et al. 2020): a VAE whose beta is moved at every step by a controller, so that the KL
//! divergence comes to a wanted value.
//!
//! With the error `e = wanted - KL` of the batch, `beta = Kp / (1 + exp(e)) + I + beta_min`, where `I` sums up `-Ki e` from step to
//! step. Here `I` stays between 0 and `beta_max - beta_min`. The paper stops summing while beta is at a bound; a controller that
//! starts far below the wanted KL would then never leave it, since its sum would be negative for good.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, Result, Rng, settings};

use super::{Batch, Entry, Framework, MOST_NATS, MOST_WEIGHT, RECONSTRUCTION, WHOLE_REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::networks::Network;
use crate::ops;
use crate::parameters::Initialiser;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;

/// Settings and objective. The defaults are those of T3 section 3.2.2 (where Ki has the minus of eq 2.7 once more) but for
/// `beta_max`, which is that of Shao et al. for disentangling.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ControlVae {
    /// The KL divergence that is wanted, summed over latents.
    pub kl: Schedule,
    /// `Kp`, the weight of the error of this step.
    pub proportional: f64,
    /// `Ki`, the weight of the errors so far.
    pub integral: f64,
    /// The least beta.
    pub beta_min: f64,
    /// The largest beta.
    pub beta_max: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that beta means the same in both.
    pub reduction: Reduction,
}

impl Default for ControlVae {
    fn default() -> Self {
        Self {
            kl: Schedule::Constant(18.0),
            proportional: 0.01,
            integral: 0.001,
            beta_min: 0.0,
            beta_max: 100.0,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl ControlVae {
    fn check(self) -> Result<Self> {
        self.kl.check("kl", 0.0, MOST_NATS)?;
        let settings = [
            ("proportional", self.proportional),
            ("integral", self.integral),
            ("beta_min", self.beta_min),
            ("beta_max", self.beta_max),
        ];
        for (name, value) in settings {
            check_range(name, value, 0.0, MOST_WEIGHT)?;
        }
        if self.beta_min > self.beta_max {
            return Err(Error::new(format!("setting \"beta_min\" is {} and \"beta_max\" is less", self.beta_min))
                .help(format!("wanted a \"beta_max\" of {} or more", self.beta_min)));
        }
        Ok(self)
    }

    /// The beta of a step and the sum of the errors so far, both `[1, 1]` (eq 2.7).
    fn control(&self, step: u64, kl: Tensor<1>, sum: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let error = (-kl + self.kl.at(step)).reshape([1, 1]);
        let sum = (sum - error.clone() * self.integral).clamp(0.0, self.beta_max - self.beta_min);
        let beta = sigmoid(-error) * self.proportional + sum.clone() + self.beta_min;
        (beta.clamp(self.beta_min, self.beta_max), sum)
    }
}

impl Framework for ControlVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn initialise(&self, _network: &dyn Network, initialiser: &mut Initialiser) {
        initialiser.state("errors", vec![0.0]);
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "beta"]
    }

    fn loss(&self, model: &Model, batch: &Batch, state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let kl = ops::mean(posterior.kl()); // summed over latents in both reductions, as it is controlled
        let (beta, errors) = self.control(batch.step, kl.clone().detach(), state.get("errors"));
        state.set("errors", &errors);
        let beta = beta.reshape([1]);
        let n_terms = self.reduction.divisor(n_pixels);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with_term("kl", kl.clone(), kl * beta.clone() / n_terms)
            .with_logged("beta", beta)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "control_vae",
    about: "VAE whose beta is controlled so that the KL divergence comes to a wanted value",
    paper: "Shao et al. 2020, ControlVAE",
    settings: &[
        Setting {
            name: "kl",
            values: Values::Schedule(0.0, MOST_NATS),
            meaning: "the KL divergence that is wanted, summed over latents",
        },
        Setting {
            name: "proportional",
            values: Values::Number(0.0, MOST_WEIGHT),
            meaning: "Kp, the controller's weight of the error of this step",
        },
        Setting {
            name: "integral",
            values: Values::Number(0.0, MOST_WEIGHT),
            meaning: "Ki, the controller's weight of the sum of the errors so far",
        },
        Setting { name: "beta_min", values: Values::Words("a number from 0 to beta_max"), meaning: "the least beta" },
        Setting {
            name: "beta_max",
            values: Values::Words("a number from beta_min to 1e9"),
            meaning: "the largest beta",
        },
        RECONSTRUCTION,
        WHOLE_REDUCTION,
    ],
    example: "",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<ControlVae>(table)?.check()?)),
    complete: settings::complete::<ControlVae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    fn tensor<const D: usize>(value: f32, shape: [usize; D]) -> Tensor<D> {
        Device::cpu().recording_tensor(vec![value], shape)
    }

    #[test]
    fn two_steps_of_the_controller_by_hand() {
        let framework =
            ControlVae { kl: Schedule::Constant(18.0), beta_min: 0.5, beta_max: 2.0, ..ControlVae::default() };
        // KL 20: e = -2. Kp / (1 + e^-2) = 0.01 * 0.8807971; the sum is 0.001 * 2.
        let (beta, sum) = framework.control(0, tensor(20.0, [1]), tensor(0.0, [1, 1]));
        let [beta, sum_now] = [beta, sum.clone()].map(|values| floats(values)[0]);
        assert!(
            (beta - (0.008_807_971 + 0.002 + 0.5)).abs() < 1e-6 && (sum_now - 0.002).abs() < 1e-8,
            "{beta} {sum_now}"
        );
        // KL 17: e = 1. Kp / (1 + e) = 0.01 * 0.2689414; the sum falls to 0.001.
        let (beta, sum) = framework.control(1, tensor(17.0, [1]), sum);
        let [beta, sum] = [beta, sum].map(|values| floats(values)[0]);
        assert!((beta - (0.002_689_414 + 0.001 + 0.5)).abs() < 1e-6 && (sum - 0.001).abs() < 1e-8, "{beta} {sum}");
    }

    /// Computed in Python from T3 alone.
    #[test]
    fn betas_of_some_steps_as_computed_elsewhere() {
        let betas = |framework: &ControlVae, kls: &[f32]| {
            let mut sum = tensor(0.0, [1, 1]);
            let steps = kls.iter().map(|&kl| {
                let (beta, next) = framework.control(0, tensor(kl, [1]), sum.clone());
                sum = next;
                floats(beta)[0]
            });
            steps.collect::<Vec<f32>>()
        };
        let bounded = ControlVae { beta_max: 0.02, ..ControlVae::default() };
        let cases = [
            (ControlVae::default(), [20.0, 25.0, 19.0, 17.0], [0.010_807_97, 0.018_990_89, 0.017_310_59, 0.011_689_41]),
            (ControlVae::default(), [10.0, 10.0, 25.0, 20.0], [0.000_003_4, 0.000_003_4, 0.016_990_9, 0.017_808_0]),
            (bounded, [28.0, 28.0, 28.0, 10.0], [0.019_999_5, 0.02, 0.02, 0.012_003_4]),
        ];
        for (framework, kls, wanted) in cases {
            let found = betas(&framework, &kls);
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?} is not {wanted:?}");
        }
    }

    #[test]
    fn the_sum_of_errors_and_beta_stay_within_their_bounds() {
        let framework = ControlVae { beta_min: 0.5, beta_max: 2.0, ..ControlVae::default() };
        let after = |kl: f32, sum: f32| {
            let (beta, sum) = framework.control(0, tensor(kl, [1]), tensor(sum, [1, 1]));
            [beta, sum].map(|values| floats(values)[0])
        };
        // Far below what is wanted, nothing is owed: beta is at its least, but for the proportional part of almost 0.
        let [beta, sum] = after(0.0, 0.001);
        assert!((beta - 0.5).abs() < 1e-6 && sum == 0.0, "{beta} {sum}");
        assert_eq!(after(1e4, 1.4), [2.0, 1.5]);
    }
}
