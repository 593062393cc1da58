//! RMSProp (Tieleman and Hinton 2012, lecture 6.5), without momentum and not centred, as it is in PyTorch unless asked
//! otherwise.

use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, settings};

use super::{EPSILON, Entry, MOST_DECAY, Optimiser, PIECE, check_epsilon};

/// Settings; the defaults are PyTorch's (the lecture decays by 0.9).
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct RmsProp {
    /// Decay of the mean of squared gradients; PyTorch calls it alpha.
    pub decay: f64,
    /// Keeps the division away from zero.
    pub epsilon: f64,
}

impl Default for RmsProp {
    fn default() -> Self {
        Self { decay: 0.99, epsilon: 1e-8 }
    }
}

impl RmsProp {
    fn check(self) -> Result<Self> {
        check_range("decay", self.decay, 0.0, MOST_DECAY)?;
        check_epsilon(self.epsilon).map(|()| self)
    }
}

impl Optimiser for RmsProp {
    fn moments(&self) -> &'static [&'static str] {
        &["square"]
    }

    fn change(&self, _step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [&mut [f32]]) {
        // The rest is taken in f64, since 1 - 0.99 in f32 is off by 1e-6 of itself.
        let (decay, rest, epsilon) = (self.decay as f32, (1.0 - self.decay) as f32, self.epsilon as f32);
        let [square] = moments else { unreachable!("RMSProp keeps one moment") };
        let pieces = values.par_chunks_mut(PIECE).zip(gradient.par_chunks(PIECE)).zip(square.par_chunks_mut(PIECE));
        pieces.for_each(|((values, gradient), square)| {
            for ((value, &g), v) in values.iter_mut().zip(gradient).zip(square) {
                *v = decay * *v + rest * g * g;
                *value -= rate * g / (v.sqrt() + epsilon);
            }
        });
    }

    fn change_tensor(
        &self,
        _step: u64,
        rate: f32,
        values: Tensor<2>,
        gradient: Tensor<2>,
        moments: &mut [Tensor<2>],
    ) -> Tensor<2> {
        let [square] = moments else { unreachable!("RMSProp keeps one moment") };
        *square = square.clone() * self.decay + gradient.clone().powi_scalar(2) * (1.0 - self.decay);
        values - gradient * rate / (square.clone().sqrt() + self.epsilon)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "rmsprop",
    about: "steps scaled by the root of a running mean of squared gradients",
    paper: "Tieleman and Hinton 2012, Neural networks for machine learning, lecture 6.5",
    settings: &[
        Setting {
            name: "decay",
            values: Values::Number(0.0, MOST_DECAY),
            meaning: "decay of the running mean of squared gradients",
        },
        EPSILON,
    ],
    build: |table| Ok(Box::new(settings::read::<RmsProp>(table)?.check()?)),
    complete: settings::complete::<RmsProp>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_by_hand() {
        let rmsprop = RmsProp { decay: 0.75, ..RmsProp::default() };
        let mut values = vec![1.0];
        let mut square = [0.0];
        let mut moments: [&mut [f32]; 1] = [&mut square];
        // Square 0.25 * 16 = 4: change 0.1 * 4 / 2.
        rmsprop.change(1, 0.1, &mut values, &[4.0], &mut moments);
        assert!((values[0] - 0.8).abs() < 1e-6, "{values:?}");
        // Square 0.75 * 4 + 0.25 * 4 = 4: change 0.1 * -2 / 2.
        rmsprop.change(2, 0.1, &mut values, &[-2.0], &mut moments);
        assert!((values[0] - 0.9).abs() < 1e-6, "{values:?}");
    }
}
