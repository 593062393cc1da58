//! A small change of every image with which entangled models decode better than disentangled ones (T4 section 4.2).
//!
//! Some models were trained on the same images: disentangled ones, and entangled ones, their rivals. Their encoders stay as they are and see
//! the images as they were, so each image keeps its posterior in each model. A manipulation network `m` changes images by at most epsilon, and
//! decoders and `m` are trained in turns. Decoders minimise the reconstruction loss of the altered images `x'` (T4 4.2.4),
//!
//! `theta_ent = argmin L_ent(x', z_ent)` and `theta_dis = argmin L_dis(x', z_dis)`,
//!
//! and `m` minimises `L_ent(x', z_ent) - L_dis(x', z_dis)` by its effect on `x'` alone. Where there are several pairs of models, each loss is the mean
//! over its side. A step is some batches for the decoders, three in T4 4.3.1, and then one for `m`; latents are drawn anew in each, five for each image.
//!
//! Losses are those of the models, summed over pixels, and means over images and samples. Adam changes all, with T4's settings.

mod checkpoint;
mod manipulation;
mod rival;

use burn::tensor::Tensor;
use unbraid_data::{Error, Result, Rng, Seed};

use crate::learner::TOO_FAST;
use crate::ops;
use crate::optimisers::adam::Adam;
use crate::tensors::{constant, scalar};

pub use manipulation::{Manipulation, fold};
pub use rival::{Posteriors, Rival};

/// What `m` and the decoders are trained with (T4 4.3.1).
const ADAM: Adam = Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-7 };

/// All that training changes, and the number of steps taken.
pub struct Perturbation {
    manipulation: Manipulation,
    /// Entangled models first, then as many disentangled ones.
    rivals: Vec<Rival>,
    settings: Settings,
    steps_taken: u64,
}

/// How `m` and the decoders are trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Latents that are drawn for each image.
    pub samples: usize,
    /// Adam's step size, for all.
    pub learning_rate: f64,
    /// Where the draws come from.
    pub seed: Seed,
}

/// Images, and what is known of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// Pixels as they were, `[batch, pixels]`.
    pub pixels: Vec<f32>,
    /// What `m` is given of each image, `[batch, inputs]`.
    pub inputs: Vec<f32>,
    /// The posteriors of each model, entangled ones first.
    pub posteriors: Vec<Posteriors>,
}

/// The losses of the batch from which `m` learned in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerturbationLosses {
    /// The step, counted from 1.
    pub step: u64,
    /// Of the entangled models.
    pub entangled: f32,
    /// Of the disentangled models.
    pub disentangled: f32,
    /// What `m` minimises: the first less the second.
    pub difference: f32,
}

impl Perturbation {
    /// Before the first step.
    pub fn new(
        manipulation: Manipulation,
        entangled: Vec<Rival>,
        disentangled: Vec<Rival>,
        settings: Settings,
    ) -> Self {
        assert!(!entangled.is_empty() && entangled.len() == disentangled.len(), "models come in pairs");
        let rivals = entangled.into_iter().chain(disentangled).collect();
        Self { manipulation, rivals, settings, steps_taken: 0 }
    }

    /// How many steps were taken.
    pub fn steps_taken(&self) -> u64 {
        self.steps_taken
    }

    /// The network that changes images.
    pub fn manipulation(&self) -> &Manipulation {
        &self.manipulation
    }

    /// One step: the decoders learn from all batches but the last, `m` from the last. Draws come from the stream `samples` at this step. A loss that
    /// is not finite is an error, after which the perturbation is of no use.
    pub fn step(&mut self, batches: &[Images]) -> Result<PerturbationLosses> {
        let Settings { samples, learning_rate, seed } = self.settings;
        let (of_manipulation, of_decoders) = batches.split_last().expect("a step has a batch for m");
        let mut noise = seed.stream_at("samples", self.steps_taken);
        let step = self.steps_taken + 1;
        for (position, batch) in of_decoders.iter().enumerate() {
            let altered = constant(&self.manipulation.altered(&batch.pixels, &batch.inputs)); // [batch, pixels]
            let changes = self.steps_taken * of_decoders.len() as u64 + position as u64 + 1;
            for (rival, posteriors) in self.rivals.iter_mut().zip(&batch.posteriors) {
                let loss = rival.loss(&rival.model, &altered, posteriors.draw(samples, &rival.model, &mut noise));
                check_finite("the loss of a decoder", scalar(loss.clone().inner()), step)?;
                rival.minimise(&loss, changes, learning_rate);
            }
        }

        let [entangled, disentangled] = self.losses_of_sides(of_manipulation, &mut noise);
        let difference = entangled.clone() - disentangled.clone();
        let [entangled, disentangled] = [entangled, disentangled].map(|loss| scalar(loss.inner()));
        let report =
            PerturbationLosses { step, entangled, disentangled, difference: scalar(difference.clone().inner()) };
        check_finite("the difference of losses", report.difference, step)?;
        self.manipulation.minimise(&difference, step, learning_rate);
        self.steps_taken = step;
        Ok(report)
    }

    /// The mean losses of the entangled and of the disentangled models, as functions of the altered images alone.
    fn losses_of_sides(&self, batch: &Images, noise: &mut Rng) -> [Tensor<1>; 2] {
        let altered = self.manipulation.altered(&batch.pixels, &batch.inputs); // [batch, pixels]
        let losses = self.rivals.iter().zip(&batch.posteriors).map(|(rival, posteriors)| {
            let decoder = rival.model.constant();
            rival.loss(&decoder, &altered, posteriors.draw(self.settings.samples, &decoder, noise))
        });
        let losses: Vec<Tensor<1>> = losses.collect();
        let (entangled, disentangled) = losses.split_at(losses.len() / 2);
        [entangled, disentangled].map(|side| ops::mean(Tensor::cat(side.to_vec(), 0)))
    }
}

fn check_finite(what: &str, value: f32, step: u64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::failure(format!("{what} became {value} at step {step}")).help(TOO_FAST))
}

#[cfg(test)]
mod tests {
    use toml::Table;
    use unbraid_data::ImageShape;

    use super::*;
    use crate::reconstruction::RECONSTRUCTIONS;
    use crate::tensors::floats;
    use crate::{Device, Learner, frameworks, networks, optimisers};

    const SHAPE: ImageShape = ImageShape { height: 4, width: 4, channels: 1 };
    const N_IMAGES: usize = 3;
    const LATENTS: usize = 2;
    const SETTINGS: Settings = Settings { samples: 5, learning_rate: 1e-2, seed: Seed(9) };

    /// The decoder of a model before its first step.
    fn rival(reconstruction: &str, seed: u64) -> Rival {
        let network = networks::build("linear", &"latents = 2".parse().unwrap(), SHAPE).unwrap();
        let framework = format!("reconstruction = '{reconstruction}'").parse().unwrap();
        let framework = frameworks::build("beta_vae", &framework).unwrap();
        let optimiser = optimisers::build("adam", &Table::new()).unwrap();
        let learner = Learner::new(network, framework, optimiser, SHAPE, Seed(seed), Device::cpu()).unwrap();
        Rival::of(&learner.trained()).unwrap()
    }

    fn perturbation(reconstruction: &str, n_pairs: u64) -> Perturbation {
        let network = networks::build("mlp", &"latents = 1\ndecoder = [6]".parse().unwrap(), SHAPE).unwrap();
        let manipulation = Manipulation::new(network, 2, 0.25, Seed(4), Device::cpu());
        let side = |first: u64| (first..first + n_pairs).map(|seed| rival(reconstruction, seed)).collect();
        Perturbation::new(manipulation, side(1), side(11), SETTINGS)
    }

    /// Images whose posteriors differ from model to model.
    fn images(perturbation: &Perturbation, which: usize) -> Images {
        let wave = |position: usize, speed: f32| ((position + 7 * which) as f32 * speed).sin();
        let of_model = |model: usize| Posteriors {
            means: (0..N_IMAGES * LATENTS).map(|position| wave(position, 1.3 + model as f32)).collect(),
            log_variances: vec![-2.0; N_IMAGES * LATENTS],
        };
        Images {
            pixels: (0..N_IMAGES * SHAPE.n_pixels()).map(|position| 0.5 + 0.5 * wave(position, 0.61)).collect(),
            inputs: (0..N_IMAGES * 2).map(|position| wave(position, 2.1)).collect(),
            posteriors: (0..perturbation.rivals.len()).map(of_model).collect(),
        }
    }

    fn difference(perturbation: &Perturbation, batch: &Images) -> Tensor<1> {
        let [entangled, disentangled] = perturbation.losses_of_sides(batch, &mut Seed(2).stream("draws"));
        entangled - disentangled
    }

    #[test]
    fn gradients_of_m_are_those_of_finite_differences() {
        for entry in RECONSTRUCTIONS.iter().filter(|entry| entry.example.is_empty()) {
            let mut perturbation = perturbation(entry.name, 2);
            let batch = images(&perturbation, 0);
            let gradients = difference(&perturbation, &batch).backward();
            let parameters = &perturbation.manipulation.parameters;
            let exact: Vec<(String, [usize; 2], Vec<f32>)> = parameters
                .iter()
                .map(|(name, tensor)| (name.to_string(), tensor.dims(), floats(tensor.grad(&gradients).unwrap())))
                .collect();
            let largest_of = |gradient: &[f32]| gradient.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
            let largest = exact.iter().fold(0.0_f32, |largest, (_, _, gradient)| largest.max(largest_of(gradient)));
            for (name, shape, gradient) in exact {
                let own = largest_of(&gradient);
                assert!(own > 1e-3, "{}: the gradient of {name} is at most {own}", entry.name);
                let values = floats(perturbation.manipulation.parameters.get(&name).inner());
                let tried: Vec<usize> = (0..values.len()).step_by(values.len().div_ceil(20)).collect();
                let mut n_off = 0;
                for &position in &tried {
                    let mut at = |change: f32| {
                        let mut moved = values.clone();
                        moved[position] += change;
                        perturbation.manipulation.parameters.replace(&name, moved, &shape).unwrap();
                        f64::from(scalar(difference(&perturbation, &batch).inner()))
                    };
                    // A bend, of a fold or of a ReLU, spoils the steps that reach over it; rounding spoils very small ones.
                    let numeric = [1e-2, 3e-3, 1e-3].map(|size| (at(size) - at(-size)) / f64::from(2.0 * size));
                    let found = gradient[position];
                    let agrees = |within: f32| {
                        numeric.iter().any(|numeric| (numeric - f64::from(found)).abs() < f64::from(within))
                    };
                    assert!(agrees(0.02 * largest), "{}: {name}[{position}]: {numeric:?} is not {found}", entry.name);
                    n_off += usize::from(!agrees(0.05 * own));
                }
                // Small gradients agree among themselves as well, but for the few that are near a bend.
                assert!(4 * n_off <= tried.len(), "{}: {name}: {n_off} of {} are off", entry.name, tried.len());
                perturbation.manipulation.parameters.replace(&name, values, &shape).unwrap();
            }
        }
    }

    #[test]
    fn the_loss_of_five_samples_is_their_mean() {
        // A decoder without weights draws its bias, whatever the latents: 16 pixels that are off by 1/2 each.
        let mut rival = rival("mse", 1);
        rival.model.parameters.replace("decoder.outputs.weight", vec![0.0; 32], &[2, 16]).unwrap();
        rival.model.parameters.replace("decoder.outputs.bias", vec![0.25; 16], &[1, 16]).unwrap();
        let images = rival.model.parameters.tensor(vec![0.75; 32], [2, 16]);
        let posteriors = Posteriors { means: vec![1.0; 4], log_variances: vec![0.0; 4] };
        let latents = posteriors.draw(5, &rival.model, &mut Seed(1).stream("draws"));
        assert_eq!(latents.dims(), [10, 2]);
        assert_eq!(scalar(rival.loss(&rival.model, &images, latents).inner()), 16.0 * 0.25);
    }

    #[test]
    fn draws_have_the_mean_and_the_spread_of_the_posterior() {
        let rival = rival("mse", 1);
        let posteriors = Posteriors { means: vec![3.0, -1.0], log_variances: vec![4.0_f32.ln(), -200.0] };
        let draws = floats(posteriors.draw(20_000, &rival.model, &mut Seed(1).stream("draws")));
        let mean = draws.iter().step_by(2).sum::<f32>() / 20_000.0;
        let variance = draws.iter().step_by(2).map(|draw| (draw - mean).powi(2)).sum::<f32>() / 20_000.0;
        // Standard errors: 2 / sqrt(20,000) = 0.014 and 4 * sqrt(2 / 20,000) = 0.04.
        assert!((mean - 3.0).abs() < 0.06 && (variance - 4.0).abs() < 0.16, "{mean} {variance}");
        assert!(draws.iter().skip(1).step_by(2).all(|draw| *draw == -1.0));
    }

    #[test]
    fn m_and_decoders_each_minimise_their_own() {
        // Without batches for the decoders these stay as they are, and m makes the difference smaller.
        let mut alone = perturbation("mse", 1);
        let batch = images(&alone, 0);
        let decoder = |perturbation: &Perturbation| {
            floats(perturbation.rivals[0].model.parameters.get("decoder.outputs.weight").inner())
        };
        let (before, first) = (decoder(&alone), scalar(difference(&alone, &batch).inner()));
        for _ in 0..60 {
            alone.step(std::slice::from_ref(&batch)).unwrap();
        }
        assert_eq!(decoder(&alone), before);
        let last = scalar(difference(&alone, &batch).inner());
        assert!(last < first - 0.2, "{first} {last}");

        // With them the losses of both sides fall.
        let mut both = perturbation("mse", 2);
        let batches = [images(&both, 0), images(&both, 0), images(&both, 0), images(&both, 0)];
        let first = both.step(&batches).unwrap();
        let last = (0..60).map(|_| both.step(&batches).unwrap()).last().unwrap();
        assert!(last.entangled < 0.8 * first.entangled && last.disentangled < 0.8 * first.disentangled);
        assert_eq!((last.step, both.steps_taken()), (61, 61));
        assert!((last.difference - (last.entangled - last.disentangled)).abs() < 1e-5);
    }

    #[test]
    fn a_checkpoint_goes_on_to_the_bit() {
        let batches = |perturbation: &Perturbation, step: usize| {
            [2 * step, 2 * step + 1].map(|which| images(perturbation, which))
        };
        let steps = |perturbation: &mut Perturbation, steps: std::ops::Range<usize>| {
            for step in steps {
                perturbation.step(&batches(perturbation, step)).unwrap();
            }
        };
        let mut whole = perturbation("bce", 2);
        steps(&mut whole, 0..4);
        let mut begun = perturbation("bce", 2);
        steps(&mut begun, 0..2);
        let bytes = begun.checkpoint("these settings").unwrap();
        let mut resumed = perturbation("bce", 2);
        resumed.restore(&bytes, "these settings").unwrap();
        assert_eq!(resumed.steps_taken(), 2);
        steps(&mut resumed, 2..4);
        assert!(resumed.checkpoint("").unwrap() == whole.checkpoint("").unwrap());

        let refused =
            |bytes: &[u8], origin: &str, mut other: Perturbation| other.restore(bytes, origin).unwrap_err().to_string();
        assert!(
            refused(&bytes, "others", perturbation("bce", 2))
                .starts_with("the checkpoint was made with other settings")
        );
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(refused(&damaged, "these settings", perturbation("bce", 2)).contains("checksum"));
    }
}
