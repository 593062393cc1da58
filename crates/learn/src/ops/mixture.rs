//! Logarithms of the densities of codes under a weighted mixture of the posteriors of a batch, in one pass and without a tensor
//! `[batch, batch, latents]`.

use std::f64::consts::PI;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use burn_flex::FlexTensor;
use unbraid_kernels::{MixtureGradients, Mixtures};

use super::{dims, flex_tensor, register, values};

/// For codes, means and log-variances `[batch, latents]` and logarithms of weights `[batch, batch]`, which are constants: `[batch,
/// 1 + latents]`, first `ln sum_j w_ij q_j(z_i)`, then `ln sum_j w_ij q_j(z_il)` for each latent `l`. On the CPU.
pub fn mixture_log_densities(
    codes: Tensor<2>,
    means: Tensor<2>,
    log_variances: Tensor<2>,
    log_weights: Tensor<2>,
) -> Tensor<2> {
    let posteriors = (means.into_dispatch(), log_variances.into_dispatch());
    let (codes, log_weights) = (codes.into_dispatch(), log_weights.into_dispatch());
    Tensor::from_dispatch(<Dispatch as MixtureBackend>::mixture(codes, posteriors.0, posteriors.1, log_weights))
}

/// The same, made of burn's own operations.
pub fn mixture_log_densities_of_burn(
    codes: Tensor<2>,
    means: Tensor<2>,
    log_variances: Tensor<2>,
    log_weights: Tensor<2>,
) -> Tensor<2> {
    let codes = codes.unsqueeze_dim::<3>(1); // [batch, 1, latents]
    let (means, log_variances) = (means.unsqueeze_dim(0), log_variances.unsqueeze_dim::<3>(0)); // [1, batch, latents]
    let scaled = (codes - means) * (log_variances.clone() * -0.5).exp(); // [batch, batch, latents]
    let of_latents = scaled.powi_scalar(2) * -0.5 - (log_variances + (2.0 * PI).ln()) * 0.5;
    let of_all = of_latents.clone().sum_dim(2); // [batch, batch, 1]
    let logarithms = Tensor::cat(vec![of_all, of_latents], 2) + log_weights.unsqueeze_dim(2);
    // By way of the largest, so that nothing overflows.
    let largest = logarithms.clone().max_dim(1).detach(); // [batch, 1, 1 + latents]
    ((logarithms - largest.clone()).exp().sum_dim(1).log() + largest).squeeze_dim(1)
}

/// Backends that can sum up a mixture.
#[backend_extension(Autodiff, Flex)]
pub trait MixtureBackend: Backend {
    /// Codes, means and log-variances `[batch, latents]`, and weights `[batch, batch]`, to `[batch, 1 + latents]`.
    fn mixture(
        codes: FloatTensor<Self>,
        means: FloatTensor<Self>,
        log_variances: FloatTensor<Self>,
        log_weights: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

impl MixtureBackend for Flex {
    fn mixture(codes: FlexTensor, means: FlexTensor, log_variances: FlexTensor, log_weights: FlexTensor) -> FlexTensor {
        MixtureInputs::new([codes, means, log_variances, log_weights]).forward()
    }
}

impl<C: CheckpointStrategy> MixtureBackend for Autodiff<Flex, C> {
    fn mixture(
        codes: FloatTensor<Self>,
        means: FloatTensor<Self>,
        log_variances: FloatTensor<Self>,
        log_weights: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let parents = [codes.node(), means.node(), log_variances.node()];
        let inputs = [codes, means, log_variances, log_weights].map(|tensor| tensor.into_primitive());
        let inputs = MixtureInputs::new(inputs);
        let out = inputs.forward();
        match MixtureBackward.prepare::<C>(parents).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(State { inputs, out: out.clone() }, out),
            OpsKind::UnTracked(prepared) => prepared.finish(out),
        }
    }
}

/// Codes, means, log-variances and weights, each contiguous.
#[derive(Debug, Clone)]
struct MixtureInputs([FlexTensor; 4]);

impl MixtureInputs {
    fn new(tensors: [FlexTensor; 4]) -> Self {
        Self(tensors.map(|tensor| tensor.to_contiguous()))
    }

    fn mixtures(&self) -> Mixtures<'_> {
        let [codes, means, log_variances, log_weights] = self.0.each_ref().map(values);
        Mixtures { latents: dims(&self.0[0])[1], codes, means, log_variances, log_weights }
    }

    fn forward(&self) -> FlexTensor {
        let dims = dims(&self.0[0]);
        let mut out = vec![0.0; dims[0] * (1 + dims[1])];
        self.mixtures().log_densities(&mut out);
        flex_tensor(out, &[dims[0], 1 + dims[1]])
    }
}

#[derive(Debug)]
struct MixtureBackward;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    inputs: MixtureInputs,
    out: FlexTensor,
}

impl Backward<Flex, 3> for MixtureBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { inputs, out } = ops.state;
        let grad_out = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let dims = dims(&inputs.0[0]);
        let mut grads = [(); 3].map(|()| vec![0.0; dims[0] * dims[1]]);
        let [codes, means, log_variances] = &mut grads;
        let filled = MixtureGradients { codes, means, log_variances };
        inputs.mixtures().backward(values(&out), values(&grad_out), filled);
        for (node, gradient) in ops.parents.into_iter().zip(grads) {
            register(gradients, node.map(|node| node.id), Some(gradient), &dims);
        }
    }
}
