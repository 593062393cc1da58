//! Fully connected layers, 1200-1200 each way by default (T3 table 3.1), for images of any size. With widths and nonlinearities
//! of its own for each half it is also the MLPs of T4 table 3.1 (`configs/t4`), most of which have tanh in the decoder.

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, ImageShape, Result, settings};

use super::layers::{Nonlinearity, hidden, linear};
use super::{Entry, LATENTS, Network, check_latents};
use crate::parameters::{Initialiser, Parameters};

/// With gradients and an optimiser's moments these take 8 GB.
const MOST_WEIGHTS: usize = 500_000_000;
const WIDTHS: Values = Values::Words("a list of widths from 1 to 100,000");

/// Settings of the network.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How many latents a code has.
    pub latents: usize,
    /// Widths of the encoder's hidden layers.
    pub encoder: Vec<usize>,
    /// Widths of the decoder's hidden layers.
    pub decoder: Vec<usize>,
    /// What follows each hidden layer.
    pub nonlinearity: Nonlinearity,
    /// What follows each hidden layer of the decoder.
    pub decoder_nonlinearity: DecoderNonlinearity,
}

/// What follows each hidden layer of the decoder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecoderNonlinearity {
    /// That of the encoder.
    #[default]
    Same,
    /// max(x, 0).
    Relu,
    /// Hyperbolic tangent.
    Tanh,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            latents: 10,
            encoder: vec![1200, 1200],
            decoder: vec![1200, 1200],
            nonlinearity: Nonlinearity::Relu,
            decoder_nonlinearity: DecoderNonlinearity::Same,
        }
    }
}

/// The network for images of a size.
pub struct Mlp {
    settings: Settings,
    pixels: usize,
}

impl Mlp {
    /// Checks the widths.
    pub fn new(settings: Settings, shape: ImageShape) -> Result<Self> {
        check_latents(settings.latents)?;
        let widths = settings.encoder.iter().chain(&settings.decoder);
        if let Some(width) = widths.into_iter().find(|width| !(1..=100_000).contains(*width)) {
            return Err(Error::new(format!("a hidden layer of {width} is asked for")).help("wanted 1 to 100000"));
        }
        let pixels = shape.n_pixels();
        let n_weights = n_weights(pixels, &settings.encoder, 2 * settings.latents)
            + n_weights(settings.latents, &settings.decoder, pixels);
        if n_weights > MOST_WEIGHTS {
            return Err(Error::new(format!("the hidden layers would have {n_weights} weights"))
                .help(format!("wanted at most {MOST_WEIGHTS}: choose narrower layers")));
        }
        Ok(Self { settings, pixels })
    }
}

/// How many weights layers of these widths have.
fn n_weights(inputs: usize, hidden: &[usize], outputs: usize) -> usize {
    let widths = [&[inputs], hidden, &[outputs]].concat();
    widths.windows(2).map(|pair| pair[0].saturating_mul(pair[1])).fold(0, usize::saturating_add)
}

impl Network for Mlp {
    fn latents(&self) -> usize {
        self.settings.latents
    }

    fn initialise_encoder(&self, outputs: usize, initialiser: &mut Initialiser) {
        add_half(initialiser, "encoder", self.pixels, &self.settings.encoder, outputs);
    }

    fn initialise_decoder(&self, initialiser: &mut Initialiser) {
        add_half(initialiser, "decoder", self.settings.latents, &self.settings.decoder, self.pixels);
    }

    fn encode(&self, parameters: &Parameters, images: Tensor<2>) -> Tensor<2> {
        half(parameters, "encoder", self.settings.encoder.len(), self.settings.nonlinearity, images)
    }

    fn decode(&self, parameters: &Parameters, latents: Tensor<2>) -> Tensor<2> {
        let nonlinearity = match self.settings.decoder_nonlinearity {
            DecoderNonlinearity::Same => self.settings.nonlinearity,
            DecoderNonlinearity::Relu => Nonlinearity::Relu,
            DecoderNonlinearity::Tanh => Nonlinearity::Tanh,
        };
        half(parameters, "decoder", self.settings.decoder.len(), nonlinearity, latents)
    }

    fn features(&self, parameters: &Parameters, images: Tensor<2>) -> Vec<Tensor<2>> {
        let mut features = Vec::new();
        for layer in 0..self.settings.encoder.len() {
            let inputs = features.last().unwrap_or(&images).clone();
            features.push(hidden(parameters, &format!("encoder.hidden{layer}"), inputs, self.settings.nonlinearity));
        }
        if features.is_empty() { vec![self.encode(parameters, images)] } else { features }
    }
}

fn add_half(initialiser: &mut Initialiser, half: &str, inputs: usize, widths: &[usize], outputs: usize) {
    let mut width = inputs;
    for (layer, &next) in widths.iter().enumerate() {
        initialiser.linear(&format!("{half}.hidden{layer}"), width, next);
        width = next;
    }
    initialiser.linear(&format!("{half}.outputs"), width, outputs);
}

fn half(
    parameters: &Parameters,
    half: &str,
    n_hidden: usize,
    nonlinearity: Nonlinearity,
    inputs: Tensor<2>,
) -> Tensor<2> {
    let last = (0..n_hidden).fold(inputs, |layer_inputs, layer| {
        hidden(parameters, &format!("{half}.hidden{layer}"), layer_inputs, nonlinearity)
    });
    linear(parameters, &format!("{half}.outputs"), last)
}

/// The row of the list.
pub const ENTRY: Entry = Entry {
    name: "mlp",
    about: "fully connected hidden layers, 1200-1200 each way unless said otherwise",
    paper: "Mogultay Ozcan 2024, table 3.1",
    sides: &[],
    settings: &[
        LATENTS,
        Setting { name: "encoder", values: WIDTHS, meaning: "widths of the encoder's hidden layers" },
        Setting { name: "decoder", values: WIDTHS, meaning: "widths of the decoder's hidden layers" },
        Setting {
            name: "nonlinearity",
            values: Values::OneOf(&["relu", "tanh"]),
            meaning: "what follows each hidden layer",
        },
        Setting {
            name: "decoder_nonlinearity",
            values: Values::OneOf(&["same", "relu", "tanh"]),
            meaning: "what follows each hidden layer of the decoder, where it is not the same",
        },
    ],
    build: |table, shape| Ok(Box::new(Mlp::new(settings::read(table)?, shape)?)),
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tensors::floats;

    /// One latent, hidden layers of one and pixels of one; all weights 1, so only the nonlinearities count.
    #[test]
    fn each_half_has_its_nonlinearity() {
        let outputs = |settings: &str| {
            let table = format!("latents = 1\nencoder = [1]\ndecoder = [1]\n{settings}").parse().unwrap();
            let shape = ImageShape { height: 1, width: 1, channels: 1 };
            let mlp = Mlp::new(settings::read(&table).unwrap(), shape).unwrap();
            let mut parameters = Parameters::new(Device::cpu());
            for name in ["encoder.hidden0", "encoder.outputs", "decoder.hidden0", "decoder.outputs"] {
                parameters.add(&format!("{name}.weight"), vec![1.0], [1, 1]);
                parameters.add(&format!("{name}.bias"), vec![0.0], [1, 1]);
            }
            let two = || parameters.tensor(vec![2.0], [1, 1]);
            [mlp.encode(&parameters, two()), mlp.decode(&parameters, two())].map(|out| floats(out.inner())[0])
        };
        let tanh = 2.0_f32.tanh();
        let assert_close = |found: [f32; 2], wanted: [f32; 2]| {
            assert!(found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6), "{found:?}");
        };
        assert_close(outputs(""), [2.0, 2.0]);
        assert_close(outputs("nonlinearity = 'tanh'"), [tanh, tanh]);
        assert_close(outputs("decoder_nonlinearity = 'tanh'"), [2.0, tanh]);
        assert_close(outputs("nonlinearity = 'tanh'\ndecoder_nonlinearity = 'relu'"), [tanh, 2.0]);
    }
}
