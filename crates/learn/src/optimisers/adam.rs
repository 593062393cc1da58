//! Adam (Kingma and Ba 2015, algorithm 1).

use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Result, settings};

use super::{EPSILON, Entry, MOST_DECAY, Optimiser, PIECE, check_epsilon};

/// Settings; the defaults are the paper's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Adam {
    /// Decay of the mean of gradients.
    pub beta1: f64,
    /// Decay of the mean of squared gradients.
    pub beta2: f64,
    /// Keeps the division away from zero.
    pub epsilon: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }
}

impl Adam {
    pub(super) fn check(self) -> Result<Self> {
        check_range("beta1", self.beta1, 0.0, MOST_DECAY)?;
        check_range("beta2", self.beta2, 0.0, MOST_DECAY)?;
        check_epsilon(self.epsilon).map(|()| self)
    }
}

impl Optimiser for Adam {
    fn moments(&self) -> &'static [&'static str] {
        &["mean", "square"]
    }

    fn change(&self, step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [&mut [f32]]) {
        let [mean_scale, square_scale] = self.scales(step);
        let (beta1, beta2, epsilon) = (self.beta1 as f32, self.beta2 as f32, self.epsilon as f32);
        // Taken in f64, since 1 - 0.999 in f32 is off by 5e-5 of itself.
        let (rest1, rest2) = ((1.0 - self.beta1) as f32, (1.0 - self.beta2) as f32);
        let [mean, square] = moments else { unreachable!("Adam keeps two moments") };
        let pieces = values
            .par_chunks_mut(PIECE)
            .zip(gradient.par_chunks(PIECE))
            .zip(mean.par_chunks_mut(PIECE).zip(square.par_chunks_mut(PIECE)));
        pieces.for_each(|((values, gradient), (mean, square))| {
            for (((value, &g), m), v) in values.iter_mut().zip(gradient).zip(mean).zip(square) {
                *m = beta1 * *m + rest1 * g;
                *v = beta2 * *v + rest2 * g * g;
                *value -= rate * (*m * mean_scale) / ((*v * square_scale).sqrt() + epsilon);
            }
        });
    }

    fn change_tensor(
        &self,
        step: u64,
        rate: f32,
        values: Tensor<2>,
        gradient: Tensor<2>,
        moments: &mut [Tensor<2>],
    ) -> Tensor<2> {
        let [mean_scale, square_scale] = self.scales(step);
        let [mean, square] = moments else { unreachable!("Adam keeps two moments") };
        *mean = mean.clone() * self.beta1 + gradient.clone() * (1.0 - self.beta1);
        *square = square.clone() * self.beta2 + gradient.powi_scalar(2) * (1.0 - self.beta2);
        let size = (square.clone() * square_scale).sqrt() + self.epsilon;
        values - mean.clone() * mean_scale * rate / size
    }
}

impl Adam {
    /// What undoes the pull of both means towards zero in the first steps.
    fn scales(&self, step: u64) -> [f32; 2] {
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        [self.beta1, self.beta2].map(|decay| (1.0 / (1.0 - decay.powi(power))) as f32)
    }
}

pub(super) const BETA1: Setting = Setting {
    name: "beta1",
    values: Values::Number(0.0, MOST_DECAY),
    meaning: "decay of the running mean of gradients",
};
pub(super) const BETA2: Setting = Setting {
    name: "beta2",
    values: Values::Number(0.0, MOST_DECAY),
    meaning: "decay of the running mean of squared gradients",
};

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "adam",
    about: "steps scaled by running means of gradients and of their squares",
    paper: "Kingma and Ba 2015, Adam",
    settings: &[BETA1, BETA2, EPSILON],
    build: |table| Ok(Box::new(settings::read::<Adam>(table)?.check()?)),
    complete: settings::complete::<Adam>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_by_hand() {
        let mut values = vec![1.0];
        let (mut mean, mut square) = ([0.0], [0.0]);
        let mut moments: [&mut [f32]; 2] = [&mut mean, &mut square];
        // Step 1: mean 0.1 * 2 = 0.2, corrected 2; square 0.001 * 4, corrected 4: change 0.1 * 2 / 2 = 0.1.
        Adam::default().change(1, 0.1, &mut values, &[2.0], &mut moments);
        assert!((values[0] - 0.9).abs() < 1e-6, "{values:?}");
        // Step 2, gradient -1: mean 0.9 * 0.2 - 0.1 = 0.08, corrected by 1 - 0.81 to 0.4210526; square
        // 0.999 * 0.004 + 0.001 = 0.004996, corrected by 1 - 0.998001 to 2.4992496, its root 1.5809015:
        // change 0.1 * 0.2663370 = 0.0266337.
        Adam::default().change(2, 0.1, &mut values, &[-1.0], &mut moments);
        assert!((values[0] - 0.873_366_3).abs() < 1e-6, "{values:?}");
    }
}
