//! What frameworks estimate or control, against the truth.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use rand::RngExt;
use rand_distr::StandardNormal;
use support::{POINT, Parts, batch, batch_of, losses};
use unbraid_data::{ImageShape, Seed};
use unbraid_learn::tensors::floats;
use unbraid_learn::{Learner, StepLosses};

const PLANE: ImageShape = ImageShape { height: 1, width: 1, channels: 2 };

/// A step on `n_images` points whose coordinates are standard normal.
fn step_on_normal_points(learner: &mut Learner, n_images: usize, rate: f64) -> StepLosses {
    let (step, pixels) = (learner.steps_taken(), learner.model.image_shape.n_pixels());
    let mut rng = Seed(9).stream_at("points", step);
    let mut member = || (0..n_images * pixels).map(|_| rng.sample(StandardNormal)).collect();
    let members = (0..learner.framework.n_batches()).map(|_| member()).collect();
    let batch = batch_of(learner, step, members);
    learner.step(&batch, rate).unwrap()
}

fn part(losses: &StepLosses, name: &str) -> f64 {
    f64::from(losses.parts.iter().find(|part| part.name == name).unwrap().value)
}

/// The mean of a part over the last steps of some.
fn mean_at_the_end(learner: &mut Learner, steps: u64, last: u64, rate: f64, name: &str) -> f64 {
    let values: Vec<f64> = (0..steps).map(|_| part(&step_on_normal_points(learner, 128, rate), name)).collect();
    values[(steps - last) as usize..].iter().sum::<f64>() / last as f64
}

#[test]
fn a_trained_discriminator_knows_the_total_correlation_of_a_gaussian() {
    // The encoder stays as it is set here: z0 = x0, z1 = r x0 + sqrt(1 - r^2) x1, with hardly any noise. The latents are then
    // standard normal with correlation r, whose total correlation is -ln(1 - r^2) / 2.
    for correlation in [0.0_f32, 0.8] {
        let settings = "width = 64\ndiscriminator_rate = { from = 1e-3, to = 1e-5, steps = 3_000 }";
        let mut learner = Parts::new(("factor_vae", settings), ("linear", "latents = 2"), PLANE).learner();
        let rest = (1.0 - correlation * correlation).sqrt();
        let weight = vec![1.0, correlation, 0.0, 0.0, 0.0, rest, 0.0, 0.0]; // [pixels, means and log-variances]
        learner.model.parameters.replace("encoder.outputs.weight", weight, &[2, 4]).unwrap();
        learner.model.parameters.replace("encoder.outputs.bias", vec![0.0, 0.0, -20.0, -20.0], &[1, 4]).unwrap();
        let found = mean_at_the_end(&mut learner, 3000, 500, 0.0, "total_correlation");
        let truth = -0.5 * f64::from(1.0 - correlation * correlation).ln();
        // Of 500 batches of 128 the mean of the log-ratio is known to about 0.004; the discriminator is not perfect.
        assert!((found - truth).abs() < 0.03, "{found} is not {truth} at correlation {correlation}");
    }
}

#[test]
fn control_vae_holds_the_kl_that_it_is_told_to_hold() {
    for wanted in [2.0, 6.0] {
        let settings = format!("kl = {wanted:?}\nintegral = 0.01");
        let network = ("mlp", "latents = 4\nencoder = [32]\ndecoder = [32]");
        let mut learner = Parts::new(("control_vae", &settings), network, POINT).learner();
        let found = mean_at_the_end(&mut learner, 4000, 1000, 2e-3, "kl");
        assert!((found - wanted).abs() < 0.03 * wanted, "{found} is not {wanted}");
    }
}

#[test]
fn sigma_comes_to_the_root_of_the_mean_squared_error() {
    // However it is found, sigma^2 is then the mean squared error of a pixel (Rybkin et al. 2021, eq 6).
    for settings in ["sigma = 'learned'", "sigma = 'optimal'"] {
        let network = ("mlp", "latents = 4\nencoder = [32]\ndecoder = [32]");
        let mut learner = Parts::new(("sigma_vae", settings), network, POINT).learner();
        let (mut squared_error, mut sigma) = (0.0, 0.0);
        for step in 0..3000 {
            let losses = step_on_normal_points(&mut learner, 128, 2e-3);
            if step >= 2000 {
                squared_error += part(&losses, "reconstruction") / 1000.0;
                sigma += part(&losses, "sigma") / 1000.0;
            }
        }
        let wanted = (squared_error / POINT.n_pixels() as f64).sqrt();
        assert!((sigma - wanted).abs() < 0.02 * wanted, "{settings}: {sigma} is not {wanted}");
    }
}

/// A learner of `vae_orthogonal` whose codes have no noise to speak of.
fn orthogonal_learner(latents: usize) -> Learner {
    let network = format!("latents = {latents}\nencoder = [5]\ndecoder = [7]\nnonlinearity = 'tanh'");
    let mut learner = Parts::new(("vae_orthogonal", ""), ("mlp", &network), POINT).learner();
    let mut weight = floats(learner.model.parameters.get("encoder.outputs.weight"));
    weight.iter_mut().enumerate().filter(|(i, _)| i % (2 * latents) >= latents).for_each(|(_, weight)| *weight = 0.0);
    let bias = (0..2 * latents).map(|output| if output < latents { 0.1 } else { -200.0 }).collect();
    learner.model.parameters.replace("encoder.outputs.weight", weight, &[5, 2 * latents]).unwrap();
    learner.model.parameters.replace("encoder.outputs.bias", bias, &[1, 2 * latents]).unwrap();
    learner
}

/// The mean over pairs of latents of the squared products of columns of the decoder's Jacobian, `W1 diag(1 - tanh^2) W2` for its two
/// layers, and over the codes of some images.
fn mean_squared_product(learner: &Learner, n_images: usize) -> f64 {
    let (latents, pixels) = (learner.model.latents(), POINT.n_pixels());
    let matrix =
        |name: &str| -> Vec<f64> { floats(learner.model.parameters.get(name)).into_iter().map(f64::from).collect() };
    let [w1, b1, w2] = ["decoder.hidden0.weight", "decoder.hidden0.bias", "decoder.outputs.weight"].map(matrix);
    let hidden = b1.len();
    let images = batch(learner, 0, n_images).members[0].images.clone();
    let mut total = 0.0;
    for code in floats(learner.model.encode(images).code()).chunks(latents) {
        let slope = |h: usize| {
            let input: f64 = (0..latents).map(|i| f64::from(code[i]) * w1[i * hidden + h]).sum::<f64>() + b1[h];
            1.0 - input.tanh().powi(2)
        };
        let entry = |pixel: usize, i: usize| -> f64 {
            (0..hidden).map(|h| w1[i * hidden + h] * slope(h) * w2[h * pixels + pixel]).sum()
        };
        for (i, j) in (0..latents).flat_map(|i| (0..latents).map(move |j| (i, j))).filter(|(i, j)| i != j) {
            let product: f64 = (0..pixels).map(|pixel| entry(pixel, i) * entry(pixel, j)).sum();
            total += product.powi(2) / (latents * (latents - 1) * n_images) as f64;
        }
    }
    total
}

/// The part `orthogonality` with the draws of each of some steps.
fn orthogonality(learner: &Learner, n_images: usize, steps: u64) -> Vec<f64> {
    let of_step = |step| {
        let (_, parts) = losses(learner, &batch(learner, step, n_images)).read_out();
        f64::from(parts.iter().find(|part| part.name == "orthogonality").unwrap().value)
    };
    (0..steps).map(of_step).collect()
}

#[test]
fn the_penalty_of_vae_orthogonal_is_that_of_the_dense_jacobian() {
    // Two latents are one pair, whatever is drawn: what is left is the error of the differences.
    let learner = orthogonal_learner(2);
    let (found, truth) = (orthogonality(&learner, 16, 1)[0], mean_squared_product(&learner, 16));
    assert!((found / truth - 1.0).abs() < 0.03, "{found} is not {truth}");
    // Of four latents one pair of six is drawn for each image: in expectation the mean over all.
    let learner = orthogonal_learner(4);
    let (found, truth) = (orthogonality(&learner, 16, 1000), mean_squared_product(&learner, 16));
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    let variance = found.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / found.len() as f64;
    let error = (variance / found.len() as f64).sqrt();
    assert!(error < 0.03 * truth, "{error} is no small part of {truth}");
    assert!((mean - truth).abs() < 0.03 * truth + 4.0 * error, "{mean} is not {truth}, give or take {error}");
}

#[test]
fn the_penalty_of_vae_orthogonal_is_nothing_for_orthogonal_columns() {
    // Each latent bends by a tanh of its own, and the two bent latents go into orthogonal directions of lengths 5 and 3.
    let network = ("mlp", "latents = 2\nencoder = [5]\ndecoder = [2]\nnonlinearity = 'tanh'");
    let mut learner = Parts::new(("vae_orthogonal", ""), network, POINT).learner();
    let directions = vec![3.0, 0.0, 4.0, 0.0, 0.0, 0.0, -0.8, 2.0, 0.6, 0.0, 2.0, 0.0];
    learner.model.parameters.replace("decoder.hidden0.weight", vec![1.5, 0.0, 0.0, -0.7], &[2, 2]).unwrap();
    learner.model.parameters.replace("decoder.outputs.weight", directions, &[2, 6]).unwrap();
    // Products of columns of lengths up to 7 and 2, known to 1e-6 over steps of 1/64: 1e-3, in squares 1e-6.
    for found in orthogonality(&learner, 16, 20) {
        assert!(found < 1e-6, "{found}");
    }
    let turned = vec![3.0, 0.0, 4.0, 0.0, 0.0, 0.0, 3.0, 2.0, 0.6, 0.0, 2.0, 0.0];
    learner.model.parameters.replace("decoder.outputs.weight", turned, &[2, 6]).unwrap();
    assert!(orthogonality(&learner, 16, 1)[0] > 1.0);
}
