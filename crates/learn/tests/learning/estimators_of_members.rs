//! What frameworks that learn from pairs estimate, against the truth.

use crate::support::{Parts, batch_of};
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::{ImageShape, Rng, Seed};
use unbraid_learn::tensors::floats;
use unbraid_learn::{Learner, StepLosses};

const PLANE: ImageShape = ImageShape { height: 1, width: 1, channels: 2 };

fn part(losses: &StepLosses, name: &str) -> f64 {
    f64::from(losses.parts.iter().find(|part| part.name == name).unwrap().value)
}

/// Two frames, one after the other, of three independent sources: `s_t = 0.7 s_(t-1) + Laplace noise`, from the stationary distribution.
/// `[n_pairs, 3]` each.
fn films(n_pairs: usize, rng: &mut Rng) -> [Vec<f64>; 2] {
    let mut laplace = || {
        let uniform: f64 = rng.random_range(-1.0..1.0);
        -uniform.signum() * (1.0 - uniform.abs()).ln()
    };
    let mut next = |before: &f64| 0.7 * before + laplace();
    // 0.7^30 is some 2e-5 of where the film began.
    let first = (0..30).fold(vec![0.0; 3 * n_pairs], |frame, _| frame.iter().map(&mut next).collect());
    let second = first.iter().map(&mut next).collect();
    [first, second]
}

/// Each row of three sources mixed linearly, by a matrix that is far from orthogonal.
fn mixed(sources: &[f64]) -> Vec<f32> {
    const MIXTURE: [[f64; 3]; 3] = [[1.0, 0.6, -0.4], [-0.3, 0.8, 0.7], [0.5, -0.5, 0.9]];
    let pixel = |row: &[f64], weights: [f64; 3]| {
        row.iter().zip(weights).map(|(source, weight)| source * weight).sum::<f64>() as f32
    };
    sources.chunks(3).flat_map(|row| MIXTURE.map(|weights| pixel(row, weights))).collect()
}

/// The mean absolute correlation of three latents with three sources, `[rows, 3]` each, in the best order.
fn mean_correlation(codes: &[f32], sources: &[f64]) -> f64 {
    let column = |values: &[f64], column: usize| {
        let values: Vec<f64> = values.iter().skip(column).step_by(3).copied().collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let norm = centred.iter().map(|value| value * value).sum::<f64>().sqrt();
        centred.into_iter().map(move |value| value / norm).collect::<Vec<f64>>()
    };
    let codes: Vec<f64> = codes.iter().map(|value| f64::from(*value)).collect();
    let correlation = |latent: usize, source: usize| {
        let (a, b) = (column(&codes, latent), column(sources, source));
        a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>().abs()
    };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let means = orders.map(|order| (0..3).map(|latent| correlation(latent, order[latent])).sum::<f64>() / 3.0);
    means.into_iter().fold(0.0, f64::max)
}

#[test]
fn pcl_unmixes_sources_that_depend_on_their_past() {
    const SPACE: ImageShape = ImageShape { height: 1, width: 1, channels: 3 };
    let mut learner = Parts::new(("pcl", ""), ("linear", "latents = 3"), SPACE).learner();
    let [sources, _] = films(4000, &mut Seed(2).stream("films"));
    let correlation = |learner: &Learner| {
        let model = learner.model.frozen();
        let images = model.parameters.tensor(mixed(&sources), [4000, 3]);
        mean_correlation(&floats(model.encode(images).code()), &sources)
    };
    let at_first = correlation(&learner);
    let steps = 1000;
    let mut accuracy = 0.0;
    for step in 0..steps {
        let frames = films(256, &mut Seed(1).stream_at("films", step));
        let batch = batch_of(&learner, step, frames.map(|frame| mixed(&frame)).into());
        let losses = learner.step(&batch, 1e-2 * (1.0 - step as f64 / steps as f64)).unwrap();
        accuracy = part(&losses, "accuracy");
    }
    let found = correlation(&learner);
    assert!(at_first < 0.9 && found > 0.98, "{found}, {at_first} at first, accuracy {accuracy}");
}

/// A `weak_gan` of two latents and two pixels, with this decoder `[latents, pixels]`, that stays as it is: the rate of all but the
/// discriminator is 0 where one trains it, and a discriminator that knows nothing teaches the generator nothing.
fn weak_gan(settings: &str, decoder: [f32; 4]) -> Learner {
    let settings = format!("reconstruction = 'mse'\n{settings}");
    let mut learner = Parts::new(("weak_gan", &settings), ("linear", "latents = 2"), PLANE).learner();
    learner.model.parameters.replace("decoder.outputs.weight", decoder.to_vec(), &[2, 2]).unwrap();
    learner
}

/// A step on pairs of points, of which the first shares coordinate 0, the next coordinate 1, and so on.
fn step_on_shared_pairs(learner: &mut Learner, n_pairs: usize, rate: f64) -> StepLosses {
    let step = learner.steps_taken();
    let mut rng = Seed(9).stream_at("points", step);
    let mut draw = || (0..n_pairs * 2).map(|_| rng.sample(StandardNormal)).collect::<Vec<f32>>();
    let (first, anew) = (draw(), draw());
    let is_shared = |position: usize| position % 2 == position / 2 % 2;
    let second = (0..n_pairs * 2).map(|i| if is_shared(i) { first[i] } else { anew[i] }).collect();
    let batch = batch_of(learner, step, vec![first, second]);
    learner.step(&batch, rate).unwrap()
}

#[test]
fn the_encoder_of_weak_gan_learns_the_posterior_of_its_generator() {
    // The image is (z0 + z1, 0): each latent is then normal around half of it, with a variance of 1/2. At best the surprise is the
    // entropy of both, 2 * ln(2 pi e / 2) / 2 = ln(pi e).
    let mut learner = weak_gan("width = 4\ndiscriminator_rate = 0.0", [1.0, 0.0, 1.0, 0.0]);
    for (name, shape) in [("discriminator.head.weight", [4, 1]), ("discriminator.projections", [2, 4])] {
        learner.model.parameters.replace(name, vec![0.0; shape[0] * shape[1]], &shape).unwrap();
    }
    let (mut surprise, last) = (0.0, 500);
    for step in 0..2_500 {
        let rate = if step < 1_000 { 1e-2 } else { 1e-3 };
        let losses = step_on_shared_pairs(&mut learner, 128, rate);
        surprise += if step < 2_000 { 0.0 } else { part(&losses, "encoder") / f64::from(last) };
        assert_eq!(part(&losses, "generator"), f64::from(2.0_f32.ln()));
    }
    assert_eq!(floats(learner.model.parameters.get("decoder.outputs.weight")), [1.0, 0.0, 1.0, 0.0]);
    let truth = (std::f64::consts::PI * std::f64::consts::E).ln();
    assert!((surprise - truth).abs() < 0.02, "{surprise} is not {truth}");
    let weight = floats(learner.model.parameters.get("encoder.outputs.weight")); // [pixels, means and log-variances]
    for (found, wanted) in weight.iter().zip([0.5, 0.5, 0.0, 0.0]) {
        assert!((found - wanted).abs() < 0.03, "{weight:?}");
    }
    let bias = floats(learner.model.parameters.get("encoder.outputs.bias"));
    assert!(bias[2..].iter().all(|found| (found - 0.5_f32.ln()).abs() < 0.05), "{bias:?}");
}

#[test]
fn the_discriminator_of_weak_gan_tells_latents_that_are_not_their_factors() {
    // Pixels are factors. A generator whose latents are the pixels makes pairs as the real ones are, and nobody can tell them: ln 2. One
    // whose latents are swapped makes the same pairs, but with the other latent shared than is said.
    let discriminator = |decoder: [f32; 4]| {
        let mut learner = weak_gan("width = 32\ndiscriminator_rate = 2e-3", decoder);
        let losses: Vec<StepLosses> = (0..1_500).map(|_| step_on_shared_pairs(&mut learner, 128, 0.0)).collect();
        let mean = |name: &str| losses[1_000..].iter().map(|losses| part(losses, name)).sum::<f64>() / 500.0;
        [mean("discriminator"), (mean("real_told") + mean("generated_told")) / 2.0]
    };
    let (same, swapped) = (discriminator([1.0, 0.0, 0.0, 1.0]), discriminator([0.0, 1.0, 1.0, 0.0]));
    assert!((same[0] - 2.0_f64.ln()).abs() < 0.01 && (same[1] - 0.5).abs() < 0.02, "{same:?}");
    assert!(swapped[0] < 0.6 && swapped[1] > 0.7, "{swapped:?}");
}
