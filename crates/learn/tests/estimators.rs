//! What frameworks estimate or control, against the truth.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

mod support;

use rand::RngExt;
use rand_distr::StandardNormal;
use support::{POINT, Parts, batch_of};
use unbraid_data::{ImageShape, Seed};
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
