//! The manipulation network: from what is known of an image, through one number, to a change of its pixels.
//!
//! T4 4.3.1: almost the decoder of the models, whose input layers were extended by one of a single neuron. So the factors `w` of an image go
//! through a hidden layer to one number, and the decoder of the models' network, made for one latent, draws a picture of it. Its
//! hyperbolic tangent is `m(w)`, so that `|m| <= 1`, and the altered image is `fold(x + epsilon m(w))`. The neuron itself is linear, since a
//! rectified one could be 0 for all images and learn no more.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use unbraid_data::Seed;

use super::ADAM;
use crate::device::Device;
use crate::networks::Network;
use crate::networks::layers::{Nonlinearity, hidden, linear};
use crate::optimisers::changed;
use crate::parameters::{Initialiser, Parameters};
use crate::tensors::floats;

/// Width of the hidden layer, that of the first layer of the convolutional decoders.
const WIDTH: usize = 256;

/// The network, its parameters, and Adam's moments for each of them.
pub struct Manipulation {
    network: Arc<dyn Network>,
    n_inputs: usize,
    epsilon: f64,
    pub(super) parameters: Parameters,
    /// For each parameter, both of Adam's moments.
    pub(super) moments: Vec<[Tensor<2>; 2]>,
}

impl Manipulation {
    /// Before the first step: for so many numbers of an image, with the decoder of a network of one latent. Changes are at most `epsilon`.
    pub fn new(network: Box<dyn Network>, n_inputs: usize, epsilon: f64, seed: Seed, device: Device) -> Self {
        assert_eq!(network.latents(), 1, "all goes through a single neuron");
        let mut initialiser = Initialiser::new(seed, device);
        initialiser.linear("hidden", n_inputs, WIDTH);
        initialiser.linear("neuron", WIDTH, 1);
        network.initialise_decoder(&mut initialiser);
        let (parameters, _) = initialiser.finish();
        let moments = zeros(&parameters);
        Self { network: Arc::from(network), n_inputs, epsilon, parameters, moments }
    }

    /// How many numbers of an image it takes.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The altered images `[batch, pixels]` of pixels `[batch, pixels]` and inputs `[batch, inputs]`, recording what gradients need.
    pub(super) fn altered(&self, pixels: &[f32], inputs: &[f32]) -> Tensor<2> {
        self.altered_by(&self.parameters, pixels, inputs)
    }

    /// The same as plain values, for reading.
    pub fn altered_images(&self, pixels: &[f32], inputs: &[f32]) -> Vec<f32> {
        floats(self.altered_by(&self.parameters.frozen(), pixels, inputs))
    }

    /// What the single neuron makes of inputs `[batch, inputs]`, `[batch]`.
    pub fn neuron(&self, inputs: &[f32]) -> Vec<f32> {
        floats(self.neuron_by(&self.parameters.frozen(), inputs))
    }

    fn altered_by(&self, parameters: &Parameters, pixels: &[f32], inputs: &[f32]) -> Tensor<2> {
        let n_images = inputs.len() / self.n_inputs;
        let neuron = self.neuron_by(parameters, inputs); // [batch, 1]
        let change = self.network.decode(parameters, neuron).tanh(); // [batch, pixels]
        let images = parameters.tensor(pixels.to_vec(), [n_images, pixels.len() / n_images]);
        fold(images + change * self.epsilon)
    }

    fn neuron_by(&self, parameters: &Parameters, inputs: &[f32]) -> Tensor<2> {
        let inputs = parameters.tensor(inputs.to_vec(), [inputs.len() / self.n_inputs, self.n_inputs]);
        linear(parameters, "neuron", hidden(parameters, "hidden", inputs, Nonlinearity::Relu))
    }

    /// Changes the parameters by the gradient of a loss; `step` counts from 1.
    pub(super) fn minimise(&mut self, loss: &Tensor<1>, step: u64, rate: f64) {
        minimise(&mut self.parameters, &mut self.moments, loss, step, rate);
    }
}

/// Brings values back into [0, 1] that lie outside by at most 1, by turning them back at the edge (T4 4.3.1):
/// `v - 2 relu(v - 1) + 2 relu(-v)`. What was changed from a value within by some amount is then changed by no more than that.
pub fn fold(values: Tensor<2>) -> Tensor<2> {
    values.clone() - relu(values.clone() - 1.0) * 2.0 + relu(-values) * 2.0
}

/// Both of Adam's moments of each parameter before the first step.
pub(super) fn zeros(parameters: &Parameters) -> Vec<[Tensor<2>; 2]> {
    let device = parameters.device();
    let zero = |shape: [usize; 2]| device.tensor(vec![0.0; shape[0] * shape[1]], shape);
    parameters.iter().map(|(_, tensor)| [zero(tensor.dims()), zero(tensor.dims())]).collect()
}

/// Changes parameters by the gradient of a loss, by Adam; `step` counts from 1.
pub(super) fn minimise(
    parameters: &mut Parameters,
    moments: &mut [[Tensor<2>; 2]],
    loss: &Tensor<1>,
    step: u64,
    rate: f64,
) {
    let device = parameters.device().clone();
    let change = |position: usize, values: Tensor<2>, gradient: Tensor<2>| {
        changed(&ADAM, &device, (step, rate as f32), values, gradient, &mut moments[position])
    };
    parameters.update(loss.backward(), |_| true, change);
}

#[cfg(test)]
mod tests {
    use unbraid_data::ImageShape;

    use super::*;
    use crate::networks;

    #[test]
    fn values_are_turned_back_at_the_edges() {
        // 1.25 is as far beyond 1 as 0.75 is before it; -0.5 as far beyond 0 as 0.5.
        let values = Device::cpu().tensor(vec![1.25, -0.5, 0.25, 0.0, 1.0, 2.0, -1.0], [1, 7]);
        assert_eq!(floats(fold(values)), [0.75, 0.5, 0.25, 0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn no_pixel_changes_by_more_than_epsilon_or_leaves_its_range() {
        let shape = ImageShape { height: 4, width: 4, channels: 1 };
        let network = networks::build("linear", &"latents = 1".parse().unwrap(), shape).unwrap();
        let mut manipulation = Manipulation::new(network, 2, 0.25, Seed(1), Device::cpu());
        // Weights so large that the hyperbolic tangent is 1 or -1.
        let large = [1e4, -1e4].repeat(8);
        manipulation.parameters.replace("decoder.outputs.weight", large, &[1, 16]).unwrap();
        let pixels: Vec<f32> = (0..32).map(|position| (position % 5) as f32 / 4.0).collect();
        let altered = manipulation.altered_images(&pixels, &[0.5, -1.0, 1.0, 0.25]);
        let changes: Vec<f32> = altered.iter().zip(&pixels).map(|(altered, pixel)| (altered - pixel).abs()).collect();
        assert!(altered.iter().all(|value| (0.0..=1.0).contains(value)), "{altered:?}");
        assert!(changes.iter().all(|change| (change - 0.25).abs() < 1e-6), "{changes:?}");
    }
}
