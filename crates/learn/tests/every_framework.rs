//! Walks every framework: gradients against finite differences, a loss that falls, and a checkpoint that resumes to the
//! bit.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use toml::Table;
use unbraid_data::{ImageShape, Seed};
use unbraid_learn::frameworks::{self, FRAMEWORKS};
use unbraid_learn::nets::NETS;
use unbraid_learn::optimisers::OPTIMISERS;
use unbraid_learn::reconstruction::RECONSTRUCTIONS;
use unbraid_learn::tensors::{floats, recording_device, scalar, tensor};
use unbraid_learn::{Batch, Learner, Model, checkpoint, nets, optimisers};

const POINT: ImageShape = ImageShape { height: 1, width: 1, channels: 6 };

fn table(text: &str) -> Table {
    text.parse().unwrap()
}

fn learner(framework: &str, settings: &str, model: &str, model_settings: &str, shape: ImageShape) -> Learner {
    learner_with("adam", framework, settings, model, model_settings, shape)
}

fn learner_with(
    optimiser: &str,
    framework: &str,
    settings: &str,
    model: &str,
    model_settings: &str,
    shape: ImageShape,
) -> Learner {
    let framework = (frameworks::find(framework).unwrap().build)(&table(settings)).unwrap();
    let net = (nets::find(model).unwrap().build)(&table(model_settings), shape).unwrap();
    let optimiser = (optimisers::find(optimiser).unwrap().build)(&Table::new()).unwrap();
    let model = Model::new(net, framework.posterior(), Seed(3));
    Learner::new(model, framework, optimiser, Seed(3))
}

/// Images that repeat from step to step but are not all alike.
fn batch(learner: &Learner, step: u64, n_images: usize, pixels: usize) -> Batch {
    let member = |member: usize| {
        let value = |i: usize| 0.5 + 0.5 * ((i * 7 + member * 3 + (i % pixels) * 5) as f32 * 0.61).sin();
        tensor((0..n_images * pixels).map(value).collect(), [n_images, pixels], &recording_device())
    };
    Batch { step, members: (0..learner.framework.arity()).map(member).collect() }
}

fn loss(learner: &Learner, batch: &Batch) -> f64 {
    let losses = learner.framework.loss(&learner.model, batch, &mut Seed(3).stream_at("noise", batch.step));
    f64::from(scalar(losses.total().detach()))
}

/// Every parameter's gradient beside the central difference of the loss. The loss is computed in f32, whose rounding
/// over a difference of 2e-2 leaves an error of about 1e-7 * loss / 2e-2, some 1e-4 of the largest gradient of all. With
/// the curvature's share, 1 % of the largest gradient of the same parameter and 1e-3 of the largest of all are allowed.
fn check_gradients(mut learner: Learner, pixels: usize, stride: usize, step: f32) {
    let batch = batch(&learner, 0, 2, pixels);
    let mut noise = Seed(3).stream_at("noise", 0);
    let gradients = learner.framework.loss(&learner.model, &batch, &mut noise).total().backward();
    let mut exact: Vec<(String, [usize; 2], Vec<f32>)> = Vec::new();
    for (name, parameter) in learner.model.parameters.iter() {
        let gradient = parameter.grad(&gradients).unwrap_or_else(|| panic!("{name} has no gradient"));
        exact.push((name.to_string(), parameter.dims(), floats(gradient)));
    }
    let largest = exact.iter().flat_map(|(_, _, gradient)| gradient).fold(0.0_f32, |a, b| a.max(b.abs()));
    assert!(largest > 0.0);
    let mut n_checked = 0;
    for (name, shape, gradient) in exact {
        let values = floats(learner.model.parameters.get(&name).inner());
        let own_largest = gradient.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
        let allowed = f64::from(0.01 * own_largest + 1e-3 * largest);
        for position in (0..values.len()).step_by(stride) {
            let mut at = |change: f32| {
                let mut moved = values.clone();
                moved[position] += change;
                learner.model.parameters.replace(&name, moved, &shape).unwrap();
                loss(&learner, &batch)
            };
            let numeric = (at(step) - at(-step)) / f64::from(2.0 * step);
            let error = (numeric - f64::from(gradient[position])).abs();
            assert!(error < allowed, "{name}[{position}]: {numeric} is not {}", gradient[position]);
            n_checked += 1;
        }
        learner.model.parameters.replace(&name, values, &shape).unwrap();
    }
    assert!(n_checked > 20, "only {n_checked} gradients were compared");
}

#[test]
fn gradients_agree_with_finite_differences_for_every_framework_and_reconstruction() {
    for entry in FRAMEWORKS {
        for reconstruction in RECONSTRUCTIONS.iter().map(|entry| entry.name) {
            for reduction in ["sum", "mean"] {
                let settings = format!("reconstruction = '{reconstruction}'\nreduction = '{reduction}'");
                let small = "latents = 2\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'";
                check_gradients(learner(entry.name, &settings, "mlp", small, POINT), 6, 1, 1e-2);
            }
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences_through_the_linear_network() {
    check_gradients(learner("beta_vae", "beta = 2.0", "linear", "latents = 3", POINT), 6, 1, 1e-2);
}

#[test]
fn every_framework_lowers_its_loss() {
    for entry in FRAMEWORKS {
        let mut learner = learner(entry.name, "", "mlp", "latents = 2\nencoder = [16]\ndecoder = [16]", POINT);
        let mut losses = Vec::new();
        for step in 0..50 {
            let batch = batch(&learner, step, 8, 6);
            losses.push(learner.step(&batch, 1e-2).unwrap().total);
        }
        let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
        assert!(mean(&losses[40..]) < 0.9 * mean(&losses[..5]), "{}: {losses:?}", entry.name);
    }
}

#[test]
fn every_framework_names_the_parts_that_it_logs() {
    for entry in FRAMEWORKS {
        let mut learner = learner(entry.name, "", "linear", "latents = 2", POINT);
        let first = batch(&learner, 0, 4, 6);
        let losses = learner.step(&first, 1e-3).unwrap();
        let logged: Vec<&str> = losses.parts.iter().map(|part| part.name).collect();
        assert_eq!(logged, learner.framework.parts(), "{}", entry.name);
    }
}

#[test]
fn a_checkpoint_resumes_to_the_bit_for_every_framework() {
    for entry in FRAMEWORKS {
        let make = || learner(entry.name, "", "mlp", "latents = 2\nencoder = [8]\ndecoder = [8]", POINT);
        let advance = |learner: &mut Learner, steps: std::ops::Range<u64>| {
            for step in steps {
                let batch = batch(learner, step, 4, 6);
                learner.step(&batch, 1e-2).unwrap();
            }
        };
        let mut straight = make();
        advance(&mut straight, 0..12);
        let mut halfway = make();
        advance(&mut halfway, 0..5);
        let mut resumed = make();
        checkpoint::read(&checkpoint::write(&halfway, "").unwrap(), &mut resumed).unwrap();
        assert_eq!(resumed.steps_taken(), 5);
        advance(&mut resumed, 5..12);
        assert!(
            checkpoint::write(&straight, "").unwrap() == checkpoint::write(&resumed, "").unwrap(),
            "{}",
            entry.name
        );
    }
}

#[test]
fn a_loss_that_is_not_finite_names_part_and_step_and_changes_nothing() {
    let mut learner = learner("vae", "", "linear", "latents = 2", POINT);
    let shape = learner.model.parameters.get("encoder.outputs.bias").dims();
    learner.model.parameters.replace("encoder.outputs.bias", vec![1e30; 4], &shape).unwrap();
    let before = checkpoint::write(&learner, "").unwrap();
    let first = batch(&learner, 0, 4, 6);
    let message = learner.step(&first, 1e-3).unwrap_err().to_string();
    assert!(message.contains("became") && message.contains("at step 1"), "{message}");
    assert!(before == checkpoint::write(&learner, "").unwrap());
}

#[test]
fn gradients_agree_with_finite_differences_through_the_convolutional_network() {
    let shape = ImageShape { height: 64, width: 64, channels: 1 };
    // Some 60 of its parameters, spread over all layers. The step is smaller, since a larger one would carry many of
    // the thousands of ReLUs from one side to the other.
    check_gradients(learner("vae", "", "conv64", "latents = 2", shape), shape.n_pixels(), 15_013, 1e-3);
}

#[test]
fn every_network_learns_with_every_optimiser_and_resumes_to_the_bit() {
    let shape = ImageShape { height: 64, width: 64, channels: 1 };
    for (net, optimiser) in NETS.iter().flat_map(|net| OPTIMISERS.iter().map(move |optimiser| (net, optimiser))) {
        let make = || learner_with(optimiser.name, "vae", "", net.name, "latents = 2", shape);
        let advance = |learner: &mut Learner, steps: std::ops::Range<u64>| {
            let losses = steps.map(|step| {
                let batch = batch(learner, step, 2, shape.n_pixels());
                learner.step(&batch, 1e-3).unwrap().total
            });
            losses.collect::<Vec<f32>>()
        };
        let mut straight = make();
        let losses = advance(&mut straight, 0..8);
        assert!(losses[7] < losses[0], "{} with {}: {losses:?}", net.name, optimiser.name);
        let mut halfway = make();
        advance(&mut halfway, 0..3);
        let mut resumed = make();
        checkpoint::read(&checkpoint::write(&halfway, "").unwrap(), &mut resumed).unwrap();
        advance(&mut resumed, 3..8);
        let same = checkpoint::write(&straight, "").unwrap() == checkpoint::write(&resumed, "").unwrap();
        assert!(same, "{} with {}", net.name, optimiser.name);
    }
}

#[test]
fn the_loss_of_a_large_batch_is_the_same_every_time() {
    // 1,100 images of 4,096 pixels are more than burn adds up on one thread.
    let shape = ImageShape { height: 64, width: 64, channels: 1 };
    let learner = learner("ae", "", "linear", "latents = 2", shape);
    let large = batch(&learner, 0, 1100, shape.n_pixels());
    let bits = || loss(&learner, &large).to_bits();
    let first = bits();
    for threads in [1, 2, 3, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for _ in 0..3 {
            assert_eq!(pool.install(bits), first, "{threads} threads");
        }
    }
}
