//! The parts of a loss, by name, and how each is made one number.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::tensors::scalar;

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
    /// One number from `[batch, n]`. Rows are summed first: burn adds up a large tensor in an order that depends on which
    /// thread is free, and a sum along rows in a fixed one.
    pub fn reduce(self, values: Tensor<2>) -> Tensor<1> {
        let n = values.dims()[1];
        self.reduce_sums(values.sum_dim(1), n)
    }

    /// One number from the sums over `n` columns, `[batch, 1]`.
    pub fn reduce_sums(self, sums: Tensor<2>, n: usize) -> Tensor<1> {
        match self {
            Reduction::Mean => sums.mean() / n as f64, // [batch, 1]
            Reduction::Sum => sums.mean(),             // [batch, 1]
        }
    }
}

/// What a framework minimises: the weighted sum of its parts.
#[derive(Default)]
pub struct Losses {
    parts: Vec<Part>,
    total: Option<Tensor<1>>,
}

/// One part, as it is logged.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The column in `losses.csv`.
    pub name: &'static str,
    /// Its value before weighting.
    pub value: f32,
}

impl Losses {
    /// No parts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `weight * value` to the loss; `value` is logged under `name`.
    pub fn with(mut self, name: &'static str, value: Tensor<1>, weight: f64) -> Self {
        self.parts.push(Part { name, value: scalar(value.clone().detach()) });
        let weighted = value * weight;
        self.total = Some(match self.total {
            Some(total) => total + weighted,
            None => weighted,
        });
        self
    }

    /// Logs a number that is not part of the loss.
    pub fn with_logged(mut self, name: &'static str, value: f32) -> Self {
        self.parts.push(Part { name, value });
        self
    }

    /// What was logged, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The number to minimise; there is at least one part.
    pub fn total(&self) -> Tensor<1> {
        self.total.clone().expect("a framework's loss has at least one part")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::{device, tensor};

    #[test]
    fn sums_are_means_times_the_number_of_columns() {
        let values = tensor(vec![1.0, 2.0, 3.0, 6.0], [2, 2], &device());
        assert_eq!(scalar(Reduction::Sum.reduce(values.clone())), 6.0); // (3 + 9) / 2
        assert_eq!(scalar(Reduction::Mean.reduce(values)), 3.0);
    }

    #[test]
    fn the_total_is_weighted_and_the_parts_are_not() {
        let part = |value: f32| tensor(vec![value], [1], &device());
        let losses = Losses::new().with("a", part(2.0), 1.0).with("b", part(3.0), 4.0).with_logged("c", 9.0);
        assert_eq!(scalar(losses.total()), 14.0);
        let logged: Vec<f32> = losses.parts().iter().map(|part| part.value).collect();
        assert_eq!(logged, [2.0, 3.0, 9.0]);
    }
}
