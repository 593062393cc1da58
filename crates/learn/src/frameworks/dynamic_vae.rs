//! DynamicVAE (T3 eq 2.8; Shao et al. 2020): a VAE whose beta falls from a large first value, moved at every step by a controller, so
//! that the KL divergence comes up to a wanted value.
//!
//! With the error `e(t) = wanted - average` of the KL divergences of the last `window` steps, the controller adds to beta a change,
//! `Kp (1 / (1 + exp(e(t))) - 1 / (1 + exp(e(t-1)))) - Ki e(t)`, where ControlVAE computes beta anew from the sum of all errors.
//!
//! Eq 2.8 as printed sums up `alpha_i KL(i)` from `i = t - T` to `T`, which has no terms once `t` is above `2 T`, and would look into
//! the future before. The last step has to be `t`. From `t - T` to `t` it would be `T + 1` steps; we take the last `T`, this one
//! among them, each with a weight of `1 / T`, as the published code does (T = 5). Its window starts as zeros; here the first
//! averages are over the steps that there were. The error before the first is 0, as there.
//!
//! The published code leaves the errors out while its beta is below `beta_min`. A step that takes it there by more than `Kp` then
//! leaves it there for good, whatever the KL divergence does. Here beta is kept within its bounds, and every error counts.
//! Its wanted value rises in ramps, from 0.5 by 0.15 every 6,000 steps up to 20, which a schedule of `kl` does in a straight line;
//! T3 holds it at 18.

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

const MOST_WINDOW: usize = 10_000;

/// Settings and objective. The defaults are those of T3 section 3.2.2 (where Ki has the minus of the controller once more);
/// `window` and `beta_min` are those of the published code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct DynamicVae {
    /// The KL divergence that is wanted, summed over latents.
    pub kl: Schedule,
    /// `Kp`, the weight of the change of the error.
    pub proportional: f64,
    /// `Ki`, the weight of the error.
    pub integral: f64,
    /// `T`, how many steps the average of the KL divergence is over.
    pub window: usize,
    /// The beta that the controller starts from.
    pub beta_first: f64,
    /// The least beta.
    pub beta_min: f64,
    /// The reconstruction loss.
    pub reconstruction: Reconstruction,
    /// Sums or means over pixels. In means the whole loss is divided by the number of pixels, so that beta means the same in both.
    pub reduction: Reduction,
}

impl Default for DynamicVae {
    fn default() -> Self {
        Self {
            kl: Schedule::Constant(18.0),
            proportional: 0.01,
            integral: 0.005,
            window: 5,
            beta_first: 150.0,
            beta_min: 0.1,
            reconstruction: Reconstruction::default(),
            reduction: Reduction::default(),
        }
    }
}

impl DynamicVae {
    fn check(self) -> Result<Self> {
        self.kl.check("kl", 0.0, MOST_NATS)?;
        let settings = [
            ("proportional", self.proportional),
            ("integral", self.integral),
            ("beta_first", self.beta_first),
            ("beta_min", self.beta_min),
        ];
        for (name, value) in settings {
            check_range(name, value, 0.0, MOST_WEIGHT)?;
        }
        check_range("window", self.window, 1, MOST_WINDOW)?;
        if self.beta_min > self.beta_first {
            return Err(Error::new(format!("setting \"beta_min\" is {} and \"beta_first\" is less", self.beta_min))
                .help(format!("wanted a \"beta_first\" of {} or more", self.beta_min)));
        }
        Ok(self)
    }

    /// The KL divergences `[1, window]` of the last steps with that of this one, and the mean of those that there were, `[1, 1]`.
    fn average(&self, step: u64, kls: Tensor<2>, kl: Tensor<1>) -> (Tensor<2>, Tensor<2>) {
        let kls = Tensor::cat(vec![kls, kl.reshape([1, 1])], 1).narrow(1, 1, self.window);
        let n_steps = step.saturating_add(1).min(self.window as u64) as usize;
        (kls.clone(), kls.narrow(1, self.window - n_steps, n_steps).mean_dim(1))
    }

    /// The beta of a step and its error, from those of the step before; all are `[1, 1]`.
    fn control(&self, step: u64, average: Tensor<2>, beta: Tensor<2>, error_before: Tensor<2>) -> [Tensor<2>; 2] {
        let error = -average + self.kl.at(step);
        let proportional = (sigmoid(-error.clone()) - sigmoid(-error_before)) * self.proportional;
        let beta = beta + proportional - error.clone() * self.integral;
        [beta.clamp(self.beta_min, MOST_WEIGHT), error]
    }
}

impl Framework for DynamicVae {
    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn initialise(&self, _network: &dyn Network, initialiser: &mut Initialiser) {
        initialiser.state("kls", vec![0.0; self.window]);
        initialiser.state("error", vec![0.0]);
        initialiser.state("beta", vec![self.beta_first as f32]);
    }

    fn parts(&self) -> &'static [&'static str] {
        &["reconstruction", "kl", "kl_average", "beta"]
    }

    fn loss(&self, model: &Model, batch: &Batch, state: &mut State, noise: &mut Rng) -> Losses {
        let images = batch.members[0].images.clone(); // [batch, pixels]
        let posterior = model.encode(images.clone());
        let outputs = model.decode(posterior.sample(noise));
        let n_pixels = images.dims()[1];
        let per_image = self.reconstruction.per_image(model, outputs, images);

        let kl = ops::mean(posterior.kl()); // summed over latents in both reductions, as it is controlled
        let (kls, average) = self.average(batch.step, state.get("kls"), kl.clone().detach());
        let [beta, error] = self.control(batch.step, average.clone(), state.get("beta"), state.get("error"));
        state.set("kls", &kls);
        state.set("error", &error);
        state.set("beta", &beta);
        let beta = beta.reshape([1]);
        let n_terms = self.reduction.divisor(n_pixels);
        Losses::new()
            .with("reconstruction", self.reduction.reduce_sums(per_image, n_pixels), 1.0)
            .with_term("kl", kl.clone(), kl * beta.clone() / n_terms)
            .with_logged("kl_average", average.reshape([1]))
            .with_logged("beta", beta)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "dynamic_vae",
    about: "VAE whose beta falls from a large value, controlled so that the KL divergence comes up to a wanted one",
    paper: "Shao et al. 2020, DynamicVAE",
    settings: &[
        Setting {
            name: "kl",
            values: Values::Schedule(0.0, MOST_NATS),
            meaning: "the KL divergence that is wanted, summed over latents",
        },
        Setting {
            name: "proportional",
            values: Values::Number(0.0, MOST_WEIGHT),
            meaning: "Kp, the controller's weight of the change of the error",
        },
        Setting {
            name: "integral",
            values: Values::Number(0.0, MOST_WEIGHT),
            meaning: "Ki, the controller's weight of the error",
        },
        Setting {
            name: "window",
            values: Values::Whole(1, MOST_WINDOW as u64),
            meaning: "T, how many steps the average of the KL divergence is over",
        },
        Setting {
            name: "beta_first",
            values: Values::Words("a number from beta_min to 1e9"),
            meaning: "the beta that the controller starts from",
        },
        Setting { name: "beta_min", values: Values::Words("a number from 0 to beta_first"), meaning: "the least beta" },
        RECONSTRUCTION,
        WHOLE_REDUCTION,
    ],
    example: "beta_first = 1.0",
    samplers: &["single"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<DynamicVae>(table)?.check()?)),
    complete: settings::complete::<DynamicVae>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::schedule::{Change, Shape};
    use crate::tensors::{floats, scalar};

    /// The betas and the averages of steps with these KL divergences.
    fn run(framework: &DynamicVae, kls: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let row = |values: Vec<f32>| {
            let n_values = values.len();
            Device::cpu().recording_tensor(values, [1, n_values])
        };
        let (mut window, mut error) = (row(vec![0.0; framework.window]), row(vec![0.0]));
        let mut beta = row(vec![framework.beta_first as f32]);
        let steps = kls.iter().enumerate().map(|(step, &kl)| {
            let average;
            (window, average) = framework.average(step as u64, window.clone(), row(vec![kl]).reshape([1]));
            [beta, error] = framework.control(step as u64, average.clone(), beta.clone(), error.clone());
            (floats(beta.clone())[0], scalar(average.reshape([1])))
        });
        steps.unzip()
    }

    fn assert_close(found: &[f32], wanted: &[f32]) {
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
        assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(is_close), "{found:?} is not {wanted:?}");
    }

    #[test]
    fn three_steps_of_the_controller_by_hand() {
        let framework = DynamicVae { window: 2, beta_first: 2.0, ..DynamicVae::default() };
        let (betas, averages) = run(&framework, &[20.0, 14.0, 18.0]);
        // The window holds 20, then 20 and 14, then 14 and 18, so that the errors are -2, 1 and 2.
        assert_close(&averages, &[20.0, 17.0, 16.0]);
        // 1 / (1 + e^-2) = 0.8807971, 1 / (1 + e) = 0.2689414, 1 / (1 + e^2) = 0.1192029, and 1/2 before the first step:
        // 2 + 0.01 (0.8807971 - 0.5) + 0.005 * 2 = 2.0138080,
        // 2.0138080 + 0.01 (0.2689414 - 0.8807971) - 0.005 = 2.0026894,
        // 2.0026894 + 0.01 (0.1192029 - 0.2689414) - 0.01 = 1.9911920.
        assert_close(&betas, &[2.013_808, 2.002_689_4, 1.991_192]);
    }

    /// Computed in Python from T3 and the published code's formula.
    #[test]
    fn betas_of_some_steps_as_computed_elsewhere() {
        let quick =
            DynamicVae { window: 3, proportional: 0.5, integral: 0.05, beta_first: 1.0, ..DynamicVae::default() };
        let kl = Schedule::Change(Change { from: 0.5, to: 1.5, steps: 4, start: 0, shape: Shape::Linear });
        let rising = DynamicVae { kl, proportional: 0.1, integral: 0.05, beta_first: 0.2, ..DynamicVae::default() };
        let cases = [
            (
                DynamicVae::default(),
                [0.5, 1.0, 3.0, 10.0, 30.0, 40.0, 12.0],
                [149.907_5, 149.821_25, 149.738_75, 149.666_88, 149.621_38, 149.617_69, 149.627_69],
            ),
            (
                quick,
                [30.0, 2.0, 19.0, 17.5, 18.0, 25.0, 1.0],
                [1.849_996_9, 1.309_601_5, 1.334_470_7, 0.944_502_3, 1.220_785_2, 1.506_941_3, 0.908_889_3],
            ),
            (
                rising,
                [1.0, 1.5, 0.2, 2.0, 2.5, 0.0, 3.0],
                [0.237_245_9, 0.262_245_9, 0.242_502_1, 0.239_375_9, 0.236_750_4, 0.218_786_4, 0.228_249_9],
            ),
        ];
        for (framework, kls, wanted) in cases {
            assert_close(&run(&framework, &kls).0, &wanted);
        }
    }

    #[test]
    fn beta_leaves_its_least_value_as_soon_as_the_kl_is_too_large() {
        let framework = DynamicVae { window: 1, beta_first: 0.11, ..DynamicVae::default() };
        // Errors 10 and 10 would take it to 0.055 and 0.005; then -10 adds 0.05, and 0.01 (0.9999546 - 0.0000454).
        let (betas, _) = run(&framework, &[8.0, 8.0, 28.0]);
        assert_close(&betas, &[0.1, 0.1, 0.159_999_1]);
    }
}
