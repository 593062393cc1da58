//! A model: a network with its parameters, and what its encoder's outputs mean.

use std::sync::Arc;

use burn::tensor::Tensor;
use unbraid_data::{Error, ImageShape, Result, Seed};

use crate::device::Device;
use crate::frameworks::Framework;
use crate::networks::Network;
use crate::parameters::{Initialiser, Parameters};
use crate::posteriors::{DiagonalGaussian, Family, Posterior};
use crate::state::State;

/// More encoder outputs than this are asked for by mistake: a full covariance of 400 latents has 80,600.
const MOST_OUTPUTS: usize = 100_000;

/// What the names of the parameters of [`Framework::perceived`] begin with.
const PERCEIVED: &str = "perceived";

/// A network with its parameters, and with those of its framework.
#[derive(Clone)]
pub struct Model {
    network: Arc<dyn Network>,
    family: Arc<dyn Family>,
    /// The shape of the images.
    pub image_shape: ImageShape,
    /// Every tensor, trainable or fixed.
    pub parameters: Parameters,
}

impl Model {
    /// A model for what the framework asks for, with first values drawn from the seed; and the framework's first state. It has
    /// a decoder where the framework has a reconstruction loss.
    pub fn new(
        network: Box<dyn Network>,
        framework: &dyn Framework,
        image_shape: ImageShape,
        seed: Seed,
        device: Device,
    ) -> Result<(Self, State)> {
        let (family, latents) = (framework.posterior(), network.latents());
        family.check(latents).map_err(|error| error.of("[model]"))?;
        let n_outputs = family.n_outputs(latents);
        if n_outputs > MOST_OUTPUTS {
            let message = format!("[model] a posterior of {latents} latents would take {n_outputs} encoder outputs");
            return Err(Error::new(message).help(format!("wanted at most {MOST_OUTPUTS}: choose fewer \"latents\"")));
        }
        let mut initialiser = Initialiser::new(seed, device);
        network.initialise_encoder(n_outputs, &mut initialiser);
        if let Some(reconstruction) = framework.reconstruction() {
            network.initialise_decoder(&mut initialiser);
            let initialised = reconstruction.loss.initialise(image_shape, &mut initialiser);
            initialised.map_err(|error| error.of("[framework]"))?;
        }
        if let Some(perceived) = framework.perceived() {
            let mut initialised = Ok(());
            let add = |initialiser: &mut Initialiser| initialised = perceived.loss.initialise(image_shape, initialiser);
            initialiser.within(PERCEIVED, add);
            initialised.map_err(|error| error.of("[framework] setting \"perceived\":"))?;
        }
        family.initialise(latents, &mut initialiser);
        framework.initialise(network.as_ref(), &mut initialiser);
        let (parameters, state) = initialiser.finish();
        Ok((Self { network: Arc::from(network), family: Arc::from(family), image_shape, parameters }, state))
    }

    /// How many latents a code has.
    pub fn latents(&self) -> usize {
        self.network.latents()
    }

    /// What the encoder's outputs mean.
    pub fn family(&self) -> &dyn Family {
        self.family.as_ref()
    }

    /// The posteriors of images `[batch, pixels]`.
    pub fn encode(&self, images: Tensor<2>) -> Box<dyn Posterior> {
        self.family.posterior(&self.parameters, self.encoder_outputs(images))
    }

    /// The same, for frameworks that look into a diagonal Gaussian.
    pub fn encode_gaussian(&self, images: Tensor<2>) -> DiagonalGaussian {
        DiagonalGaussian::from_outputs(self.encoder_outputs(images))
    }

    /// The encoder outputs `[batch, outputs]` themselves, for frameworks that look into another posterior.
    pub fn encoder_outputs(&self, images: Tensor<2>) -> Tensor<2> {
        self.network.encode(&self.parameters, images)
    }

    /// What another encoder makes of images `[batch, pixels]`: one of the same layers whose parameters, under the names of the
    /// model's own (`encoder.…`), are these.
    pub fn encode_with(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        self.network.encode(parameters, images)
    }

    /// Decoder outputs `[batch, pixels]` from latents `[batch, latents]`.
    pub fn decode(&self, latents: Tensor<2>) -> Tensor<2> {
        self.network.decode(&self.parameters, latents)
    }

    /// The same model as [`Framework::perceived`] sees it, whose parameters are those that it added.
    pub fn perceiving(&self) -> Self {
        Self { parameters: self.parameters.of_network(PERCEIVED), ..self.clone() }
    }

    /// The same layers with other parameters, under the names of the model's own.
    pub(crate) fn with_parameters(&self, parameters: Parameters) -> Self {
        Self { parameters, ..self.clone() }
    }

    /// The same model, not recording gradients: for encoding and pictures. Nothing is copied.
    pub fn frozen(&self) -> Self {
        Self { parameters: self.parameters.frozen(), ..self.clone() }
    }

    /// The same model, recording, for whose parameters no gradient is asked: what is computed with it teaches its inputs alone.
    pub fn constant(&self) -> Self {
        Self { parameters: self.parameters.constant(), ..self.clone() }
    }
    /// The same as [`Model::constant`], also of a frozen model.
    pub fn recording(&self) -> Self {
        Self { parameters: self.parameters.recording(), ..self.clone() }
    }
}
