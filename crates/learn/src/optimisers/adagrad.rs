//! AdaGrad (Duchi et al. 2011), which T4 trains its larger networks with.

use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use unbraid_data::{Result, settings};

use super::{EPSILON, Entry, Optimiser, PIECE, check_epsilon};

/// Settings; the default is PyTorch's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaGrad {
    /// Keeps the division away from zero.
    pub epsilon: f64,
}

impl Default for AdaGrad {
    fn default() -> Self {
        Self { epsilon: 1e-10 }
    }
}

impl AdaGrad {
    fn check(self) -> Result<Self> {
        check_epsilon(self.epsilon).map(|()| self)
    }
}

impl Optimiser for AdaGrad {
    fn moments(&self) -> &'static [&'static str] {
        &["square_sum"]
    }

    fn change(&self, _step: u64, rate: f32, values: &mut [f32], gradient: &[f32], moments: &mut [&mut [f32]]) {
        let epsilon = self.epsilon as f32;
        let [square_sum] = moments else { unreachable!("AdaGrad keeps one moment") };
        let pieces = values.par_chunks_mut(PIECE).zip(gradient.par_chunks(PIECE)).zip(square_sum.par_chunks_mut(PIECE));
        pieces.for_each(|((values, gradient), square_sum)| {
            for ((value, &g), sum) in values.iter_mut().zip(gradient).zip(square_sum) {
                *sum += g * g;
                *value -= rate * g / (sum.sqrt() + epsilon);
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
        let [square_sum] = moments else { unreachable!("AdaGrad keeps one moment") };
        *square_sum = square_sum.clone() + gradient.clone().powi_scalar(2);
        values - gradient * rate / (square_sum.clone().sqrt() + self.epsilon)
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "adagrad",
    about: "steps scaled by the root of the sum of squared gradients",
    paper: "Duchi et al. 2011, Adaptive subgradient methods",
    settings: &[EPSILON],
    build: |table| Ok(Box::new(settings::read::<AdaGrad>(table)?.check()?)),
    complete: settings::complete::<AdaGrad>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_by_hand() {
        let mut values = vec![1.0];
        let mut square_sum = [0.0];
        let mut moments: [&mut [f32]; 1] = [&mut square_sum];
        AdaGrad::default().change(1, 0.1, &mut values, &[3.0], &mut moments); // 0.1 * 3 / 3
        assert!((values[0] - 0.9).abs() < 1e-6, "{values:?}");
        AdaGrad::default().change(2, 0.1, &mut values, &[4.0], &mut moments); // 0.1 * 4 / sqrt(9 + 16)
        assert!((values[0] - 0.82).abs() < 1e-6, "{values:?}");
    }
}
