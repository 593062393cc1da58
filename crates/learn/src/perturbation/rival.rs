//! One of the models whose decoders are trained against each other: its decoder, and the posteriors that its encoder gave.

use burn::tensor::Tensor;
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::Rng;

use super::manipulation::{minimise, zeros};
use crate::model::Model;
use crate::ops;
use crate::parameters::Parameters;
use crate::reconstruction::Reconstruction;
use crate::tensors::floats;
use crate::trained_model::TrainedModel;

/// A decoder in training, which begins with the weights of a trained model, and its loss.
pub struct Rival {
    /// The decoder; the encoder's parameters are left out, and those of the loss are fixed.
    pub(super) model: Model,
    reconstruction: Reconstruction,
    /// For each parameter, both of Adam's moments.
    pub(super) moments: Vec<[Tensor<2>; 2]>,
}

/// Diagonal Gaussians of some images, `[batch, latents]` both.
#[derive(Debug, Clone, PartialEq)]
pub struct Posteriors {
    /// Means.
    pub means: Vec<f32>,
    /// Logarithms of variances.
    pub log_variances: Vec<f32>,
}

impl Rival {
    /// The decoder of a trained model; none where it has no decoder.
    pub fn of(trained: &TrainedModel) -> Option<Self> {
        let reconstruction = trained.reconstruction()?.clone();
        let before = &trained.model().parameters;
        let mut parameters = Parameters::new(before.device().clone());
        for (name, tensor) in before.iter().filter(|(name, _)| !name.starts_with("encoder.")) {
            let (values, shape) = (floats(tensor.clone()), tensor.dims());
            match name.starts_with("decoder.") {
                true => parameters.add(name, values, shape),
                false => parameters.add_fixed(name, values, shape),
            }
        }
        let moments = zeros(&parameters);
        Some(Self { model: trained.model().with_parameters(parameters), reconstruction, moments })
    }

    /// The mean loss of a decoder's pictures of latents `[samples * batch, latents]`, all first samples first, where images `[batch, pixels]` are
    /// wanted, `[1]`.
    pub(super) fn loss(&self, decoder: &Model, images: &Tensor<2>, latents: Tensor<2>) -> Tensor<1> {
        let n_samples = latents.dims()[0] / images.dims()[0];
        let wanted = Tensor::cat(vec![images.clone(); n_samples], 0); // [samples * batch, pixels]
        ops::mean(self.reconstruction.per_image(decoder, decoder.decode(latents), wanted))
    }

    /// Changes the decoder by the gradient of a loss; `changes` counts from 1.
    pub(super) fn minimise(&mut self, loss: &Tensor<1>, changes: u64, rate: f64) {
        minimise(&mut self.model.parameters, &mut self.moments, loss, changes, rate);
    }
}

impl Posteriors {
    /// Draws for each image, `[samples * batch, latents]`, all first samples first, to be decoded by this model.
    pub(super) fn draw(&self, samples: usize, decoder: &Model, noise: &mut Rng) -> Tensor<2> {
        let latents = decoder.latents();
        let each = || self.means.iter().zip(&self.log_variances);
        let draw = |(mean, log_variance): (&f32, &f32)| {
            mean + (0.5 * log_variance).exp() * noise.sample::<f32, _>(StandardNormal)
        };
        let values: Vec<f32> = (0..samples).flat_map(|_| each()).map(draw).collect();
        let shape = [samples * self.means.len() / latents, latents];
        decoder.parameters.tensor(values, shape)
    }
}
