//! AdamW (Loshchilov and Hutter 2019, algorithm 2): Adam, before whose change each value loses a share of itself. The
//! share is the learning rate times the weight decay, as in PyTorch; it does not go through Adam's means, which would
//! make it smaller where gradients are large. All parameters decay, biases too.

use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, settings};

use super::adam::{Adam, BETA1, BETA2};
use super::{EPSILON, Entry, Optimiser, PIECE};

const MOST_WEIGHT_DECAY: f64 = 100.0;

/// Settings; the defaults are PyTorch's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdamW {
    /// Decay of the mean of gradients.
    pub beta1: f64,
    /// Decay of the mean of squared gradients.
    pub beta2: f64,
    /// Keeps the division away from zero.
    pub epsilon: f64,
    /// The share of itself that a value loses at each step, over the learning rate.
    pub weight_decay: f64,
}

impl Default for AdamW {
    fn default() -> Self {
        let Adam { beta1, beta2, epsilon } = Adam::default();
        Self { beta1, beta2, epsilon, weight_decay: 0.01 }
    }
}

impl AdamW {
    fn check(self) -> Result<Self> {
        self.adam().check()?;
        check_range("weight_decay", self.weight_decay, 0.0, MOST_WEIGHT_DECAY).map(|()| self)
    }

    fn adam(&self) -> Adam {
        Adam { beta1: self.beta1, beta2: self.beta2, epsilon: self.epsilon }
    }

    /// What is left of a value before Adam changes it.
    fn left(&self, rate: f32) -> f32 {
        (1.0 - f64::from(rate) * self.weight_decay) as f32
    }
}

impl Optimiser for AdamW {
    fn moments(&self) -> &'static [&'static str] {
        self.adam().moments()
    }

    fn change(&self, step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [&mut [f32]]) {
        let left = self.left(rate);
        values.par_chunks_mut(PIECE).flatten().for_each(|value| *value *= left);
        self.adam().change(step, rate, values, gradient, moments);
    }

    fn change_tensor(
        &self,
        step: u64,
        rate: f32,
        values: Tensor<2>,
        gradient: Tensor<2>,
        moments: &mut [Tensor<2>],
    ) -> Tensor<2> {
        self.adam().change_tensor(step, rate, values * self.left(rate), gradient, moments)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "adamw",
    about: "Adam with weight decay that does not go through its running means",
    paper: "Loshchilov and Hutter 2019, Decoupled weight decay regularization",
    settings: &[
        BETA1,
        BETA2,
        EPSILON,
        Setting {
            name: "weight_decay",
            values: Values::Number(0.0, MOST_WEIGHT_DECAY),
            meaning: "each step takes this times the learning rate off every value, as a share of it",
        },
    ],
    build: |table| Ok(Box::new(settings::read::<AdamW>(table)?.check()?)),
    complete: settings::complete::<AdamW>,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Adam's two steps, each after a decay by 1 - 0.1 * 0.5 = 0.95.
    #[test]
    fn two_steps_by_hand() {
        let adamw = AdamW { weight_decay: 0.5, ..AdamW::default() };
        let mut values = vec![1.0];
        let (mut mean, mut square) = ([0.0], [0.0]);
        let mut moments: [&mut [f32]; 2] = [&mut mean, &mut square];
        // 0.95 - 0.1
        adamw.change(1, 0.1, &mut values, &[2.0], &mut moments);
        assert!((values[0] - 0.85).abs() < 1e-6, "{values:?}");
        // 0.95 * 0.85 = 0.8075, less 0.0266337 (worked out for Adam)
        adamw.change(2, 0.1, &mut values, &[-1.0], &mut moments);
        assert!((values[0] - 0.780_866_3).abs() < 1e-6, "{values:?}");
    }
}
