//! The weakly supervised GAN (Shu et al. 2020, "share pairing"; T4 section 4.3 trains it so for all factors): a generator of pairs of
//! images that share one latent, which a discriminator compares with pairs that share one factor; and an encoder of what was generated.
//!
//! Real pairs share the factor `y`, which the sampler tells. Generated pairs are `g(z)` and `g(z')`: `z` and `z'` are standard normal and
//! equal in latent `y` alone. Latents beyond the factors are never shared. To deceive a discriminator `D(x, x', y)` that knows `y`,
//! latent `i` has to be what factor `i` is: the paper proves it for an ideal generator. There are three losses:
//!
//! - discriminator: `(softplus(-D) of real pairs + softplus(D) of generated ones) / 2`, learned by an optimiser of its own,
//! - generator: `softplus(-D)` of generated pairs,
//! - encoder: `-log N(z; mean, variance)` for generated images `g(z)`, which are constants in it. Real images come into play by `D` alone,
//!   so the code of an image is as good as the generator's images are like it.
//!
//! `D` is one network on both images, whose features go side by side through two hidden layers to `h`; the logit is `<w, h> + <w_y, h>`, with
//! `w_y` of length `|w_y| / sqrt(|w_y|^2 + 1e-3)`. All other weights of it are spectrally normalised (`spectral.rs`).
//!
//! Departures from the published code (google-research, weak_disentangle, `gan.gin`). The features of `D` come from the layers of the
//! model's encoder, with their own nonlinearity and, in `conv64`, one more linear layer; it has twice as many channels. Generator and encoder are
//! the model's decoder and encoder: there the generator has batch normalisation, under which an image depends on its batch, and the
//! encoder is spectrally normalised; `conv64_norm` normalises layers. The encoder gives a log-variance, there a softplus. Generator and encoder
//! share the config's optimiser, Adam with `beta1 = 0.5` there. All losses are of the parameters that a step begins with and of the same
//! generated pairs, which share what the real ones share; there the discriminator learns first, and both draw anew. The encoder learns all
//! latents; there it leaves out those beyond the factors.

use burn::tensor::Tensor;
use burn::tensor::activation::leaky_relu;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values, check_range};
use unbraid_data::{Error, Result, Rng, settings};
use unbraid_kernels::LEAKY_SLOPE;

use super::{Batch, Entry, Framework, MOST_RATE, OwnOptimiser, RECONSTRUCTION, REDUCTION};
use crate::losses::{Losses, Reduction};
use crate::model::Model;
use crate::networks::Network;
use crate::networks::layers::{Nonlinearity, hidden};
use crate::optimisers::adam::Adam;
use crate::parameters::{Initialiser, Parameters};
use crate::posteriors::DiagonalGaussian;
use crate::posteriors::noise::normal;
use crate::reconstruction::Reconstruction;
use crate::schedule::Schedule;
use crate::state::State;
use crate::tensors::{constant, softplus};
use crate::{ops, spectral};

const DISCRIMINATOR: &str = "discriminator";
/// The hidden layers behind the features of both images.
const NECK: [&str; 2] = ["neck0", "neck1"];
/// The weights of the part of the logit that does not know what is shared, `[width, 1]`.
const HEAD: &str = "head.weight";
/// A row for each latent that may be shared, `[latents, width]`.
const PROJECTIONS: &str = "projections";
/// Added to the squared length of a row of projections (`gan.gin`).
const EPSILON: f64 = 1e-3;
const MOST_WIDTH: usize = 10_000;

/// Settings and objective. The defaults are those of `gan.gin`, which pairs by change; sharing is its strategy `s`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct WeakGan {
    /// How many features of an image the discriminator has, and the width of its hidden layers.
    pub width: usize,
    /// The step size of the discriminator's optimiser, an Adam with decays 0.5 and 0.999.
    pub discriminator_rate: Schedule,
    /// How the decoder's outputs become images.
    pub reconstruction: Reconstruction,
    /// Sums or means over latents.
    pub reduction: Reduction,
}

impl Default for WeakGan {
    fn default() -> Self {
        Self {
            width: 256,
            discriminator_rate: Schedule::Constant(1e-3),
            reconstruction: Reconstruction::new("bce", &toml::Table::new()).expect("cross-entropy has no settings"),
            reduction: Reduction::default(),
        }
    }
}

impl WeakGan {
    fn check(self) -> Result<Self> {
        self.discriminator_rate.check("discriminator_rate", 0.0, MOST_RATE)?;
        check_range("width", self.width, 1, MOST_WIDTH)?;
        Ok(self)
    }
}

impl Framework for WeakGan {
    fn arity(&self) -> usize {
        2
    }

    fn reconstruction(&self) -> Option<&Reconstruction> {
        Some(&self.reconstruction)
    }

    fn check_factors(&self, latents: usize, n_factors: usize) -> Result<()> {
        if latents >= n_factors {
            return Ok(());
        }
        let message = format!(
            "\"weak_gan\" has a latent for each factor, but there are {n_factors} factors and {latents} latents"
        );
        Err(Error::new(message)
            .help(format!("choose \"latents\" of {n_factors} or more, or fix factors of the dataset")))
    }

    fn initialise(&self, network: &dyn Network, initialiser: &mut Initialiser) {
        initialiser.within(DISCRIMINATOR, |initialiser| {
            network.initialise_encoder(self.width, initialiser);
            initialiser.linear(NECK[0], 2 * self.width, self.width);
            initialiser.linear(NECK[1], self.width, self.width);
            initialiser.matrix(HEAD, self.width, 1);
            initialiser.matrix(PROJECTIONS, network.latents(), self.width);
        });
        spectral::initialise(DISCRIMINATOR, initialiser);
    }

    fn own_optimisers(&self) -> Vec<OwnOptimiser> {
        let optimiser = Box::new(Adam { beta1: 0.5, ..Adam::default() });
        vec![OwnOptimiser { network: DISCRIMINATOR, optimiser, learning_rate: self.discriminator_rate.clone() }]
    }

    fn parts(&self) -> &'static [&'static str] {
        &["encoder", "generator", "discriminator", "real_told", "generated_told"]
    }

    fn loss(&self, model: &Model, batch: &Batch, state: &mut State, noise: &mut Rng) -> Losses {
        let [first, second] = [0, 1].map(|member| batch.members[member].images.clone()); // [batch, pixels]
        let n = first.dims()[0];
        assert_eq!(batch.shared.len(), n, "the sampler tells what each pair shares, as \"shared_pair\" does");
        let shared = one_of_each(model, &batch.shared); // [batch, latents]
        let discriminator = spectral::normalised(DISCRIMINATOR, &model.parameters, state);

        // The generator's objective: the discriminator is a constant in it.
        let latents = latent_pairs(&shared, noise); // [2 * batch, latents]
        let generated = self.reconstruction.loss.to_image(model.decode(latents.clone())); // [2 * batch, pixels]
        let deceived = discriminate(model, &discriminator.constant(), generated.clone(), shared.clone());

        // The encoder's objective, and the discriminator's: generated images are constants in them.
        let generated = constant(&generated);
        let [first_generated, second_generated] = [0, n].map(|start| generated.clone().narrow(0, start, n));
        let posterior = model.encode_gaussian(first_generated.clone());
        let surprise = surprise(&posterior, latents.narrow(0, 0, n));
        let images = Tensor::cat(vec![first, first_generated, second, second_generated], 0); // [4 * batch, pixels]
        let logits = discriminate(model, &discriminator, images, Tensor::cat(vec![shared.clone(), shared], 0));
        let (of_real, of_generated) = (logits.clone().narrow(0, 0, n), logits.narrow(0, n, n)); // [batch, 1]
        let cross_entropy = ops::mean(softplus(-of_real.clone())) + ops::mean(softplus(of_generated.clone()));

        Losses::new()
            .with("encoder", self.reduction.reduce_sums(surprise, model.latents()), 1.0)
            .with("generator", ops::mean(softplus(-deceived)), 1.0)
            .with_own(DISCRIMINATOR, "discriminator", cross_entropy * 0.5)
            .with_logged("real_told", ops::mean(of_real.greater_scalar(0.0).float()))
            .with_logged("generated_told", ops::mean(of_generated.lower_scalar(0.0).float()))
    }
}

/// A row for each example, 1 at the latent that it shares and 0 elsewhere, `[batch, latents]`.
fn one_of_each(model: &Model, shared: &[usize]) -> Tensor<2> {
    let mut values = vec![0.0; shared.len() * model.latents()];
    for (row, latent) in values.chunks_exact_mut(model.latents()).zip(shared) {
        row[*latent] = 1.0;
    }
    model.parameters.tensor(values, [shared.len(), model.latents()])
}

/// Latents of both members of each pair, one after the other, `[2 * batch, latents]`: standard normal, and the same where shared is 1.
fn latent_pairs(shared: &Tensor<2>, noise: &mut Rng) -> Tensor<2> {
    let [first, anew] = [(); 2].map(|()| normal(shared, noise));
    let second = first.clone() * shared.clone() + anew * (1.0 - shared.clone());
    Tensor::cat(vec![first, second], 0)
}

/// The logits, `[batch, 1]`, that pairs are real, which share what they should: of the first members' images and then the second
/// members', `[2 * batch, pixels]`.
fn discriminate(model: &Model, parameters: &Parameters, images: Tensor<2>, shared: Tensor<2>) -> Tensor<2> {
    let n = shared.dims()[0];
    let features = leaky_relu(model.encode_with(parameters, images), f64::from(LEAKY_SLOPE)); // [2 * batch, width]
    let both = Tensor::cat(vec![features.clone().narrow(0, 0, n), features.narrow(0, n, n)], 1); // [batch, 2 * width]
    let inner = NECK.iter().fold(both, |inputs, name| hidden(parameters, name, inputs, Nonlinearity::LeakyRelu));
    let projections = parameters.get(PROJECTIONS); // [latents, width]
    let lengths = (projections.clone().powi_scalar(2).sum_dim(1) + EPSILON).sqrt(); // [latents, 1]
    let width = projections.dims()[1];
    let projection = shared.matmul(projections / lengths.repeat_dim(1, width)); // [batch, width]
    inner.clone().matmul(parameters.get(HEAD)) + (inner * projection).sum_dim(1)
}

/// `-log N(latents; mean, variance)` of each image, `[batch, 1]`.
fn surprise(posterior: &DiagonalGaussian, latents: Tensor<2>) -> Tensor<2> {
    let distance = (latents - posterior.mean.clone()).powi_scalar(2) * (-posterior.log_variance.clone()).exp();
    ((distance + posterior.log_variance.clone() + std::f64::consts::TAU.ln()) * 0.5).sum_dim(1)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "weak_gan",
    about: "generator and encoder of pairs that share one latent as real pairs share one factor",
    paper: "Shu et al. 2020, Weakly supervised disentanglement with guarantees",
    settings: &[
        Setting {
            name: "width",
            values: Values::Whole(1, MOST_WIDTH as u64),
            meaning: "how many features of an image the discriminator has, and the width of its two hidden layers behind them",
        },
        Setting {
            name: "discriminator_rate",
            values: Values::Schedule(0.0, MOST_RATE),
            meaning: "step size of the discriminator's Adam, whose decays are 0.5 and 0.999",
        },
        Setting {
            meaning: "how the decoder's outputs become images: \"bce\" by a sigmoid, others as they are; it is not minimised",
            ..RECONSTRUCTION
        },
        REDUCTION,
    ],
    example: "width = 8",
    samplers: &["shared_pair"],
    as_long_as_the_run: |_| None,
    build: |table| Ok(Box::new(settings::read::<WeakGan>(table)?.check()?)),
    complete: settings::complete::<WeakGan>,
};

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    #[test]
    fn pairs_of_latents_are_the_same_where_they_share_and_drawn_anew_elsewhere() {
        let shared = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]; // pair 0 shares latent 0, pair 1 latent 2
        let latents = latent_pairs(&Device::cpu().tensor(shared.to_vec(), [2, 3]), &mut Seed(1).stream("noise"));
        assert_eq!(latents.dims(), [4, 3]);
        let values = floats(latents);
        for (position, is_shared) in shared.into_iter().enumerate() {
            assert_eq!(values[position] == values[6 + position], is_shared == 1.0, "{values:?}");
        }
    }

    #[test]
    fn fewer_latents_than_factors_are_refused() {
        assert!(WeakGan::default().check_factors(3, 3).is_ok() && WeakGan::default().check_factors(4, 3).is_ok());
        let message = WeakGan::default().check_factors(2, 3).unwrap_err().to_string();
        assert!(
            message.starts_with("\"weak_gan\" has a latent for each factor, but there are 3 factors and 2 latents")
        );
    }
}
