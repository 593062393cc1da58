//! A linear VAE, trained to convergence, finds the principal directions up to sign and order (T4 theorem 2).
//!
//! The data are a unit square stretched by 2 along one axis, put into three dimensions and rotated by 45 degrees about
//! (1, -1, 1), so the principal directions and variances are known without computing them: the rotated axes, with
//! variances 4/12 and 1/12. The optimum of a linear VAE is known as well (Tipping and Bishop 1999; Lucas et al. 2019):
//! squared error plus beta KL has the noise variance beta / 2, and the decoder's column for a direction of variance v
//! has the length sqrt(v - beta / 2).

use std::sync::Arc;

use crate::support::batch_of;
use toml::Table;
use unbraid_data::{Dataset, Loader, Loading, Seed, Split, datasets, samplers};
use unbraid_learn::tensors::floats;
use unbraid_learn::{Device, Learner, frameworks, networks, optimisers};

const BETA: f64 = 0.05;
const STEPS: u64 = 20_000;
const BATCH: usize = 256;

/// The vector turned by 45 degrees about the line of (1, -1, 1), by Rodrigues' formula.
fn turned(v: [f64; 3]) -> [f64; 3] {
    let axis = [1.0, -1.0, 1.0].map(|part: f64| part / 3.0_f64.sqrt());
    let (sin, cos) = std::f64::consts::FRAC_PI_4.sin_cos();
    let dot: f64 = axis.iter().zip(v).map(|(a, b)| a * b).sum();
    let cross = [axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2], axis[0] * v[1] - axis[1] * v[0]];
    std::array::from_fn(|i| v[i] * cos + cross[i] * sin + axis[i] * dot * (1.0 - cos))
}

/// The rows of the trained decoder's weight: for each latent, the direction that it moves along.
fn trained_directions(seed: u64) -> Vec<[f64; 3]> {
    let dataset: Arc<dyn Dataset> = Arc::from(datasets::build("synth_linear", &Table::new()).unwrap());
    let split = Arc::new(Split::all(dataset.n_images()));
    let sampler = Arc::from(samplers::build("single", &Table::new(), dataset.factors(), &split).unwrap());
    let settings: Table = format!("beta = {BETA}").parse().unwrap();
    let framework = frameworks::build("beta_vae", &settings).unwrap();
    let (shape, seed) = (dataset.image_shape(), Seed(seed));
    let network = networks::build("linear", &Table::new(), shape).unwrap();
    let optimiser = optimisers::build("adam", &Table::new()).unwrap();
    let mut learner = Learner::new(network, framework, optimiser, shape, seed, Device::cpu()).unwrap();
    let loading = Loading { dataset, sampler, split, seed, batch_size: BATCH, n_batches: 1 };
    let mut loader = Loader::start(loading, 0, 1).unwrap();
    for step in 0..STEPS {
        let loaded = loader.next_batch().unwrap();
        let batch = batch_of(&learner, step, loaded.members.into_iter().map(|member| member.pixels).collect());
        // Falling to zero, so that the last steps average the noise of the batches away.
        let rate = 1e-2 * (1.0 - step as f64 / STEPS as f64);
        learner.step(&batch, rate).unwrap();
    }
    let weight = floats(learner.model.parameters.get("decoder.outputs.weight").inner());
    weight.chunks(3).map(|row| [f64::from(row[0]), f64::from(row[1]), f64::from(row[2])]).collect()
}

#[test]
fn latents_find_the_principal_directions_and_their_lengths() {
    let principal = [(turned([1.0, 0.0, 0.0]), 4.0 / 12.0), (turned([0.0, 1.0, 0.0]), 1.0 / 12.0)];
    for seed in [1, 2] {
        let found = trained_directions(seed);
        let mut matched = Vec::new();
        for direction in &found {
            let length = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
            let cosines: Vec<f64> = principal
                .iter()
                .map(|(axis, _)| (axis.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>() / length).abs())
                .collect();
            let best = usize::from(cosines[1] > cosines[0]);
            // Within about 2 degrees of the axis.
            assert!(cosines[best] > 0.9994, "seed {seed}: {found:?}, cosines {cosines:?}");
            let wanted = (principal[best].1 - BETA / 2.0).sqrt();
            assert!((length - wanted).abs() < 0.02 * wanted, "seed {seed}: length {length}, not {wanted}");
            matched.push(best);
        }
        matched.sort_unstable();
        assert_eq!(matched, [0, 1], "seed {seed}: both latents follow one axis");
    }
}
