//! `synth_nonlinear`: points of the unit square, sent through a small random network. Its two factors are continuous.
//!
//! Zietlow, thesis section 3.3.1: a random network of layers 2-10-6 with biases and tanh on the hidden layer; 50,000
//! points. The thesis does not say how the network was initialised: here all weights and biases are standard normal,
//! large enough for the hidden layer to bend.

use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::synth_linear::{N_POINTS, SEED, factors, points};
use super::{Dataset, Entry, ImageShape};
use crate::error::Result;
use crate::factor_space::FactorSpace;
use crate::seed::{Rng, Seed};
use crate::settings;

const N_HIDDEN: usize = 10;
const N_OUTPUTS: usize = 6;

/// The seed of the points and of the network.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Settings {
    /// Which points are drawn, and which network they pass.
    seed: u64,
}

struct SynthNonlinear {
    factors: FactorSpace,
    points: Vec<[f64; 2]>,
    hidden: [Neuron<2>; N_HIDDEN],
    outputs: [Neuron<N_HIDDEN>; N_OUTPUTS],
}

impl Dataset for SynthNonlinear {
    fn factors(&self) -> &FactorSpace {
        &self.factors
    }

    fn image_shape(&self) -> ImageShape {
        ImageShape { height: 1, width: 1, channels: N_OUTPUTS }
    }

    fn n_images(&self) -> usize {
        N_POINTS
    }

    fn read_image(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let hidden: [f64; N_HIDDEN] = std::array::from_fn(|i| self.hidden[i].apply(&self.points[index]).tanh());
        for (pixel, output) in pixels.iter_mut().zip(&self.outputs) {
            *pixel = output.apply(&hidden) as f32;
        }
        Ok(())
    }

    fn holds_bytes(&self) -> bool {
        false
    }

    fn read_factors(&self, index: usize, values: &mut [f64]) {
        values.copy_from_slice(&self.points[index]);
    }
}

/// A weighted sum and a bias.
struct Neuron<const INPUTS: usize> {
    weights: [f64; INPUTS],
    bias: f64,
}

impl<const INPUTS: usize> Neuron<INPUTS> {
    fn random(rng: &mut Rng) -> Self {
        Self { weights: std::array::from_fn(|_| rng.sample(StandardNormal)), bias: rng.sample(StandardNormal) }
    }

    fn apply(&self, inputs: &[f64; INPUTS]) -> f64 {
        self.weights.iter().zip(inputs).fold(self.bias, |sum, (weight, input)| sum + weight * input)
    }
}

fn build(table: &Table) -> Result<Box<dyn Dataset>> {
    let Settings { seed } = settings::read(table)?;
    let mut rng = Seed(seed).stream("network of synth_nonlinear");
    Ok(Box::new(SynthNonlinear {
        factors: factors(),
        points: points(seed),
        hidden: std::array::from_fn(|_| Neuron::random(&mut rng)),
        outputs: std::array::from_fn(|_| Neuron::random(&mut rng)),
    }))
}

/// The row in the list of datasets.
pub const ENTRY: Entry = Entry {
    name: "synth_nonlinear",
    about: "50,000 points of a square, sent into six dimensions by a random network; 2 continuous factors",
    paper: "Zietlow, thesis section 3.3.1",
    settings: &[SEED],
    example: "",
    published: None,
    build,
    complete: settings::complete::<Settings>,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neuron_adds_its_bias_to_the_weighted_sum() {
        // 0.5 + 2*3 - 1*4 = 2.5
        assert_eq!(Neuron { weights: [2.0, -1.0], bias: 0.5 }.apply(&[3.0, 4.0]), 2.5);
    }

    #[test]
    fn another_seed_is_another_network() {
        let read = |settings: &str| {
            let mut pixels = [0.0; N_OUTPUTS];
            build(&settings.parse().unwrap()).unwrap().read_image(0, &mut pixels).unwrap();
            pixels
        };
        assert_eq!(read(""), read("seed = 0"));
        assert!(read("seed = 0").iter().zip(read("seed = 1")).all(|(a, b)| *a != b));
    }
}
