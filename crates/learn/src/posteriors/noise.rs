//! Noise for samples.

use burn::tensor::{Tensor, TensorData};
use rand::RngExt;
use rand_distr::{Open01, StandardNormal};
use unbraid_data::Rng;

/// Standard normal draws of the shape of `like`, beside which they can be computed with.
pub fn normal(like: &Tensor<2>, rng: &mut Rng) -> Tensor<2> {
    drawn(like, || rng.sample(StandardNormal))
}

/// Draws from Gumbel's distribution, `-ln(-ln u)`, of the shape of `like`.
pub fn gumbel(like: &Tensor<2>, rng: &mut Rng) -> Tensor<2> {
    drawn(like, || {
        let uniform: f32 = rng.sample(Open01); // neither 0 nor 1, whose logarithms would be infinite
        -(-uniform.ln()).ln()
    })
}

fn drawn(like: &Tensor<2>, mut draw: impl FnMut() -> f32) -> Tensor<2> {
    let [batch, columns] = like.dims();
    let values: Vec<f32> = (0..batch * columns).map(|_| draw()).collect();
    Tensor::from_data(TensorData::new(values, [batch, columns]), &like.device())
}
