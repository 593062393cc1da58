//! A point whose every latent is one of a few learned values of its own (Hsu et al. 2023, section 3.1): the encoder gives one number
//! for each latent, and the code has the nearest value of that latent's codebook in its place.
//!
//! There is no noise. Under a prior that is uniform over the values, the KL divergence of a code that is certain is
//! `latents * ln values` whatever the image; as a constant it teaches nothing, and it is taken for 0, as VQ-VAE does.

use burn::tensor::{Int, Tensor, TensorData};
use unbraid_data::Rng;

use super::{Entry, Family, Kept, Moved, Posterior};
use crate::parameters::{Initialiser, Parameters};
use crate::tensors::floats;

const CODEBOOKS: &str = "codebooks.values";

/// The family of such points.
#[derive(Debug, Clone, Copy)]
pub struct QuantisedPoints {
    /// How many values each latent has.
    pub values: usize,
}

impl Family for QuantisedPoints {
    fn n_outputs(&self, latents: usize) -> usize {
        latents
    }

    /// The values of one latent after those of the other, `[1, latents * values]`, each evenly spread over -1/2 to 1/2 (as in the
    /// published code).
    fn initialise(&self, latents: usize, initialiser: &mut Initialiser) {
        let last = (self.values - 1).max(1) as f32;
        let of_latent: Vec<f32> = (0..self.values).map(|value| value as f32 / last - 0.5).collect();
        initialiser.row(CODEBOOKS, of_latent.repeat(latents));
    }

    fn posterior(&self, parameters: &Parameters, outputs: Tensor<2>) -> Box<dyn Posterior> {
        Box::new(self.quantise(parameters, outputs))
    }

    fn moved(&self, latents: usize) -> Vec<Moved> {
        (0..latents).map(Moved::Values).collect()
    }
}

impl QuantisedPoints {
    /// The values nearest to encoder outputs `[batch, latents]`.
    pub fn quantise(&self, parameters: &Parameters, outputs: Tensor<2>) -> Quantised {
        let codebooks = parameters.get(CODEBOOKS); // [1, latents * values]
        let n_values = codebooks.dims()[1];
        let positions = self.nearest(&floats(codebooks.clone()), &floats(outputs.clone()), outputs.dims()[1]);
        let n_positions = positions.len();
        let positions: Tensor<1, Int> = Tensor::from_data(TensorData::new(positions, [n_positions]), &outputs.device());
        let values = codebooks.reshape([n_values]).select(0, positions).reshape(outputs.dims());
        Quantised { outputs, values }
    }

    /// For each output the position of the nearest value of its latent; of two that are as near, the first.
    fn nearest(&self, codebooks: &[f32], outputs: &[f32], latents: usize) -> Vec<i32> {
        let of_output = |(position, output): (usize, &f32)| {
            let first = position % latents * self.values;
            let mut nearest = first;
            for candidate in first + 1..first + self.values {
                if (codebooks[candidate] - output).abs() < (codebooks[nearest] - output).abs() {
                    nearest = candidate;
                }
            }
            nearest as i32
        };
        outputs.iter().enumerate().map(of_output).collect()
    }
}

/// What the encoder gave for each image of a batch, and what became of it.
pub struct Quantised {
    /// Before quantisation, `[batch, latents]`; the gradient goes to the encoder.
    pub outputs: Tensor<2>,
    /// The nearest values, `[batch, latents]`; the gradient goes to the codebooks.
    pub values: Tensor<2>,
}

impl Posterior for Quantised {
    /// The values, with the gradient of the outputs (straight through the choice). Outputs less themselves are exactly 0, so that
    /// what is decoded are the values to the bit.
    fn sample(&self, _rng: &mut Rng) -> Tensor<2> {
        self.values.clone().detach() + (self.outputs.clone() - self.outputs.clone().detach())
    }

    fn kl(&self) -> Tensor<2> {
        Tensor::zeros([self.outputs.dims()[0], 1], &self.outputs.device())
    }

    /// The values.
    fn code(&self) -> Tensor<2> {
        self.values.clone()
    }

    fn kept(&self) -> Kept {
        Kept::default()
    }
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "quantised",
    about: "a point whose every latent is one of a few learned values",
    paper: "Hsu et al. 2023, Disentanglement via latent quantization",
    example: || Box::new(QuantisedPoints { values: 5 }),
};

#[cfg(test)]
mod tests {
    use unbraid_data::Seed;

    use super::*;
    use crate::device::Device;

    /// Two latents of three values each.
    fn parameters() -> Parameters {
        let mut parameters = Parameters::new(Device::cpu());
        parameters.add(CODEBOOKS, vec![-1.0, 0.0, 2.0, 10.0, 0.1, 5.0], [1, 6]);
        parameters
    }

    #[test]
    fn each_latent_takes_the_nearest_of_its_own_values() {
        // 1.0 is as near to 0 as to 2, of which 0 comes first; 7.6 is 2.4 from 10 and 2.6 from 5.
        let outputs = Device::cpu().recording_tensor(vec![-7.0, 0.3, 1.0, 7.6, 1.1, 7.4], [3, 2]);
        let quantised = QuantisedPoints { values: 3 }.quantise(&parameters(), outputs);
        assert_eq!(floats(quantised.code()), [-1.0, 0.1, 0.0, 10.0, 2.0, 5.0]);
        assert_eq!(floats(quantised.sample(&mut Seed(1).stream("noise"))), [-1.0, 0.1, 0.0, 10.0, 2.0, 5.0]);
        assert_eq!(floats(quantised.kl()), [0.0; 3]);
    }

    #[test]
    fn gradients_go_straight_through_to_the_outputs_and_from_values_to_the_codebooks() {
        let parameters = parameters();
        let outputs = Device::cpu().recording_tensor(vec![-7.0, 0.3, 1.9, 0.2], [2, 2]).require_grad();
        let quantised = QuantisedPoints { values: 3 }.quantise(&parameters, outputs.clone());
        // The square's slope is twice the value that was decoded, and not twice the output.
        let gradients = quantised.sample(&mut Seed(1).stream("noise")).powi_scalar(2).sum().backward();
        assert_eq!(floats(outputs.grad(&gradients).unwrap()), [-2.0, 0.2, 4.0, 0.2]);
        assert!(parameters.get(CODEBOOKS).grad(&gradients).is_none());
        let gradients = quantised.values.powi_scalar(2).sum().backward();
        // 0.1 was chosen twice.
        assert_eq!(floats(parameters.get(CODEBOOKS).grad(&gradients).unwrap()), [-2.0, 0.0, 4.0, 0.0, 0.4, 0.0]);
        assert!(outputs.grad(&gradients).is_none());
    }

    #[test]
    fn values_are_evenly_spread_at_first() {
        let mut initialiser = Initialiser::new(Seed(1), Device::cpu());
        QuantisedPoints { values: 5 }.initialise(2, &mut initialiser);
        let values = floats(initialiser.finish().0.get(CODEBOOKS).inner());
        assert_eq!(values, [-0.5, -0.25, 0.0, 0.25, 0.5, -0.5, -0.25, 0.0, 0.25, 0.5]);
    }
}
