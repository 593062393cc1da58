//! The parts of a loss, by name, and how each is made one number.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::tensors::floats;

/// How numbers for each pixel or latent become one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// Summed over pixels and over latents, mean over the batch: the evidence lower bound as it is written (T2-T4).
    #[default]
    Sum,
    /// Mean over everything (T1 A.2.1). A beta of `b` here is a beta of `b * pixels / latents` in sums.
    Mean,
}

impl Reduction {
    /// One number from the sums over `n` columns, `[batch, 1]`.
    pub fn reduce_sums(self, sums: Tensor<2>, n: usize) -> Tensor<1> {
        match self {
            Reduction::Mean => sums.mean() / n as f64, // [batch, 1]
            Reduction::Sum => sums.mean(),             // [batch, 1]
        }
    }

    /// What the other parts are divided by, where in means the whole loss is divided by the number of pixels, so that their weights
    /// mean the same in both.
    pub fn divisor(self, n_pixels: usize) -> f64 {
        match self {
            Reduction::Mean => n_pixels as f64,
            Reduction::Sum => 1.0,
        }
    }
}

/// What a framework minimises. An objective is the weighted sum of its parts; most frameworks have one, for all parameters.
/// Others have further ones, each for the parameters of a network of the framework's own.
#[derive(Default)]
pub struct Losses {
    parts: Vec<(String, Tensor<1>)>,
    objectives: Vec<(&'static str, Tensor<1>)>,
}

/// One part, as it is logged.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The column in `losses.csv`.
    pub name: String,
    /// Its value before weighting.
    pub value: f32,
}

/// The column of a number that is logged for each latent.
pub fn column_of_latent(name: &str, latent: usize) -> String {
    format!("{name}_z{latent}")
}

/// The objective of all parameters that have no optimiser of their own.
pub const MAIN: &str = "";

impl Losses {
    /// No parts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `weight * value` to the loss; `value` is logged under `name`.
    pub fn with(self, name: &'static str, value: Tensor<1>, weight: f64) -> Self {
        self.with_term(name, value.clone(), value * weight)
    }

    /// Adds `term` to the loss, for weights that are learned or controlled; `value` is logged under `name`.
    pub fn with_term(self, name: &'static str, value: Tensor<1>, term: Tensor<1>) -> Self {
        self.with_logged(name, value).adding(MAIN, term)
    }

    /// Adds `value` to what the parameters called `network.…` minimise, which the framework gives an optimiser of their own;
    /// it is logged under `name`.
    pub fn with_own(self, network: &'static str, name: &'static str, value: Tensor<1>) -> Self {
        self.with_logged(name, value.clone()).adding(network, value)
    }

    /// Logs a number that is not part of a loss.
    pub fn with_logged(mut self, name: &'static str, value: Tensor<1>) -> Self {
        self.parts.push((name.to_string(), value.detach()));
        self
    }

    /// Logs a number of each latent, `[1, latents]`, which is not part of a loss, as `name_z0`, `name_z1` and so on.
    pub fn with_logged_latents(mut self, name: &str, values: Tensor<2>) -> Self {
        let values = values.detach();
        for latent in 0..values.dims()[1] {
            self.parts.push((column_of_latent(name, latent), values.clone().narrow(1, latent, 1).reshape([1])));
        }
        self
    }

    fn adding(mut self, network: &'static str, term: Tensor<1>) -> Self {
        match self.objectives.iter_mut().find(|(known, _)| *known == network) {
            Some((_, total)) => *total = total.clone() + term,
            None => self.objectives.push((network, term)),
        }
        self
    }

    /// What each network minimises, [`MAIN`] for all parameters that have no optimiser of their own.
    pub fn objectives(&self) -> &[(&'static str, Tensor<1>)] {
        &self.objectives
    }

    /// The main objective; it has at least one part.
    pub fn total(&self) -> Tensor<1> {
        let main = self.objectives.iter().find(|(network, _)| *network == MAIN);
        main.expect("a framework's loss has at least one part").1.clone()
    }

    /// The value of the main objective, and the parts in the order in which they were given. All are read out at once.
    pub fn read_out(&self) -> (f32, Vec<Part>) {
        let tensors = self.parts.iter().map(|(_, value)| value.clone()).chain([self.total().detach()]);
        let mut values = floats(Tensor::cat(tensors.collect(), 0));
        let total = values.pop().expect("the total was read out last");
        let parts = self.parts.iter().zip(values).map(|((name, _), value)| Part { name: name.clone(), value });
        (total, parts.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::scalar;

    #[test]
    fn sums_are_means_times_the_number_of_columns() {
        // Rows of two columns that sum up to 3 and 9.
        let sums = Device::cpu().tensor(vec![3.0, 9.0], [2, 1]);
        assert_eq!(scalar(Reduction::Sum.reduce_sums(sums.clone(), 2)), 6.0); // (3 + 9) / 2
        assert_eq!(scalar(Reduction::Mean.reduce_sums(sums, 2)), 3.0);
    }

    #[test]
    fn the_total_is_weighted_and_the_parts_are_not() {
        let part = |value: f32| Device::cpu().recording_tensor(vec![value], [1]);
        let losses = Losses::new()
            .with("a", part(2.0), 1.0)
            .with("b", part(3.0), 4.0)
            .with_own("critic", "c", part(5.0))
            .with_logged("d", part(9.0))
            .with_logged_latents("e", Device::cpu().recording_tensor(vec![6.0, 7.0], [1, 2]));
        let (total, parts) = losses.read_out();
        assert_eq!(total, 14.0);
        let logged: Vec<(&str, f32)> = parts.iter().map(|part| (part.name.as_str(), part.value)).collect();
        assert_eq!(logged, [("a", 2.0), ("b", 3.0), ("c", 5.0), ("d", 9.0), ("e_z0", 6.0), ("e_z1", 7.0)]);
        let networks: Vec<&str> = losses.objectives().iter().map(|(network, _)| *network).collect();
        assert_eq!(networks, [MAIN, "critic"]);
    }
}
