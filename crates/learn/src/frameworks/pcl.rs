//! Permutation-contrastive learning (Hyvarinen and Morioka 2017; T4 4.3): an encoder alone, whose codes tell frames that follow
//! each other from frames that do not. No decoder, no noise.
//!
//! Minimised is the cross-entropy of a logistic regression of true pairs `(x_t, x_(t-1))`, class 1, against pairs whose first frame belongs
//! to another pair, class 0. Where the regression is as good as can be, it is the logarithm of `p(x_t | x_(t-1)) / p(x_t)`. For independent
//! sources with Laplace innovations and a marginal that is about Gaussian that is, up to a constant,
//! `r = -sum_i |a_i h_i(x_t) + a'_i h_i(x_(t-1)) + b_i| + sum_i (m_i h_i(x_t) + m'_i)^2 + c`,
//! in which only the codes `h` that are the sources, each alone, are as good as can be. The signs are those of the authors' code. All its
//! numbers are learned, with the optimiser of the config. At first `a = 1`, `a' = -1`, `m = 1` and the others are 0.
//!
//! The scale and the offset of a latent are free, since the regression can undo them. The authors' code fixes them by batch normalisation, has
//! one `m^2` for all latents and no `m'`, and draws the earlier frame of a false pair from all data. Here each takes the first frame of the
//! pair before it in the batch. First frames of a batch are distinct train images, else drawn at random: this is a draw from the marginal
//! but for the pair's own first frame, which it never is.
//!
//! The codes are known up to order, sign and scale where transitions are sparse; a latent may also be a bent function of a source. Sources
//! that are Gaussian processes cannot be told apart.

use burn::tensor::Tensor;
use burn::tensor::activation::log_sigmoid;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use super::{Batch, Entry, Framework};
use crate::losses::Losses;
use crate::members::members;
use crate::model::Model;
use crate::networks::Network;
use crate::ops;
use crate::parameters::{Initialiser, Parameters};
use crate::posteriors::{Deterministic, Family};
use crate::reconstruction::Reconstruction;
use crate::state::State;

/// The objective; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Pcl {}

impl Framework for Pcl {
    fn arity(&self) -> usize {
        2
    }

    fn least_batch(&self) -> usize {
        2
    }

    fn posterior(&self) -> Box<dyn Family> {
        Box::new(Deterministic)
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        None
    }

    fn initialise(&self, network: &dyn Network, initialiser: &mut Initialiser) {
        let latents = network.latents();
        for (name, value) in
            [("now", 1.0), ("before", -1.0), ("offset", 0.0), ("marginal", 1.0), ("marginal_offset", 0.0)]
        {
            initialiser.row(&format!("regression.{name}"), vec![value; latents]);
        }
        initialiser.row("regression.constant", vec![0.0]);
    }

    fn parts(&self) -> &'static [&'static str] {
        &["cross_entropy", "accuracy"]
    }

    fn loss(&self, model: &Model, batch: &Batch, _state: &mut State, _noise: &mut Rng) -> Losses {
        let n_pairs = batch.members[0].images.dims()[0];
        // Both frames go through the network as one batch; the first half is the first frame.
        let images = batch.images(); // [2 * batch, pixels]
        let codes = model.encode(images).code(); // [2 * batch, latents]
        let [before, now] = members(&codes); // [batch, latents] each
        let last = before.clone().narrow(0, n_pairs - 1, 1);
        let of_another = Tensor::cat(vec![last, before.clone().narrow(0, 0, n_pairs - 1)], 0); // [batch, latents]

        let true_pairs = log_ratio(&model.parameters, &now, before); // [batch, 1]
        let false_pairs = log_ratio(&model.parameters, &now, of_another); // [batch, 1]
        // For each pair the log-odds of what it is.
        let of_class = Tensor::cat(vec![true_pairs, -false_pairs], 0); // [2 * batch, 1]
        let accuracy = ops::mean(of_class.clone().greater_scalar(0.0).float());
        Losses::new().with("cross_entropy", -ops::mean(log_sigmoid(of_class)), 1.0).with_logged("accuracy", accuracy)
    }
}

/// What the regression says of pairs of codes `[batch, latents]`: the logarithm of the odds that they follow each other, `[batch, 1]`.
fn log_ratio(parameters: &Parameters, now: &Tensor<2>, before: Tensor<2>) -> Tensor<2> {
    let [n_pairs, _] = now.dims();
    let row = |name: &str| parameters.get(&format!("regression.{name}")).repeat_dim(0, n_pairs); // [batch, latents]
    let innovation = now.clone() * row("now") + before * row("before") + row("offset");
    let marginal = now.clone() * row("marginal") + row("marginal_offset");
    (marginal.powi_scalar(2) - innovation.abs()).sum_dim(1) + row("constant")
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "pcl",
    about: "encoder alone: a logistic regression tells frames that follow each other from others by their codes",
    paper: "Hyvarinen and Morioka 2017, Nonlinear ICA of temporally dependent stationary sources",
    settings: &[],
    example: "",
    samplers: &["temporal", "pair"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<Pcl>(table)?)),
    complete: settings::complete::<Pcl>,
};
