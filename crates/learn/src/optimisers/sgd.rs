//! Stochastic gradient descent, with momentum where it is asked for: plain (Polyak 1964) or Nesterov's, both as in
//! PyTorch, where the velocity is a sum of gradients and the learning rate multiplies it afterwards (Sutskever et al. 2013
//! put the rate into the velocity, which differs while the rate changes).
//!
//! A loss that is a sum over pixels has large gradients, which nothing scales here: take a smaller learning rate than for Adam.

use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, settings};

use super::{Entry, MOST_DECAY, Optimiser, PIECE};

/// Settings; the defaults are PyTorch's.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sgd {
    /// The share of its velocity that a value keeps from step to step.
    pub momentum: f64,
    /// Whether a value moves by what its velocity will be at the next step, were the gradient 0 there.
    pub nesterov: bool,
}

impl Sgd {
    fn check(self) -> Result<Self> {
        check_range("momentum", self.momentum, 0.0, MOST_DECAY).map(|()| self)
    }

    /// A value moves by `velocity * of_velocity + gradient * of_gradient`, times the learning rate.
    fn shares(&self) -> [f32; 2] {
        if self.nesterov { [self.momentum as f32, 1.0] } else { [1.0, 0.0] }
    }
}

impl Optimiser for Sgd {
    fn moments(&self) -> &'static [&'static str] {
        &["velocity"]
    }

    fn change(&self, _step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [&mut [f32]]) {
        let momentum = self.momentum as f32;
        let [of_velocity, of_gradient] = self.shares();
        let [velocity] = moments else { unreachable!("SGD keeps one moment") };
        let pieces = values.par_chunks_mut(PIECE).zip(gradient.par_chunks(PIECE)).zip(velocity.par_chunks_mut(PIECE));
        pieces.for_each(|((values, gradient), velocity)| {
            for ((value, &g), v) in values.iter_mut().zip(gradient).zip(velocity) {
                *v = momentum * *v + g;
                *value -= rate * (of_velocity * *v + of_gradient * g);
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
        let [of_velocity, of_gradient] = self.shares();
        let [velocity] = moments else { unreachable!("SGD keeps one moment") };
        *velocity = velocity.clone() * self.momentum + gradient.clone();
        values - (velocity.clone() * of_velocity + gradient * of_gradient) * rate
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "sgd",
    about: "steps along the gradient, with momentum if asked for",
    paper: "Robbins and Monro 1951; Polyak 1964; Nesterov 1983",
    settings: &[
        Setting {
            name: "momentum",
            values: Values::Number(0.0, MOST_DECAY),
            meaning: "the share of its velocity that a value keeps from step to step",
        },
        Setting {
            name: "nesterov",
            values: Values::Flag,
            meaning: "whether momentum is Nesterov's, which looks one step ahead",
        },
    ],
    build: |table| Ok(Box::new(settings::read::<Sgd>(table)?.check()?)),
    complete: settings::complete::<Sgd>,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The value, first 1, after steps with gradients 2 and -1 at a learning rate of 0.1.
    fn two_steps(sgd: &Sgd) -> [f32; 2] {
        let mut values = vec![1.0];
        let mut velocity = [0.0];
        let mut moments: [&mut [f32]; 1] = [&mut velocity];
        [(1, 2.0), (2, -1.0)].map(|(step, gradient)| {
            sgd.change(step, 0.1, &mut values, &[gradient], &mut moments);
            values[0]
        })
    }

    fn assert_close(found: [f32; 2], wanted: [f32; 2]) {
        assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn two_steps_by_hand() {
        assert_close(two_steps(&Sgd::default()), [0.8, 0.9]);
        // Velocities 2 and 0.5 * 2 - 1 = 0.
        assert_close(two_steps(&Sgd { momentum: 0.5, nesterov: false }), [0.8, 0.8]);
        // The same velocities; moves 2 + 0.5 * 2 = 3 and -1 + 0.5 * 0 = -1.
        assert_close(two_steps(&Sgd { momentum: 0.5, nesterov: true }), [0.7, 0.8]);
    }
}
