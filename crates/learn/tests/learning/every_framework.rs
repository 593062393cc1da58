//! Walks every framework: gradients against finite differences, a loss that falls, and a checkpoint that resumes to the
//! bit.

use std::ops::Range;

use crate::support::gradients::{check_gradients, check_gradients_of, trainable};
use crate::support::{PICTURE, POINT, Parts, batch, batch_of, chosen, losses, table};
use unbraid_data::datasets::{self, read_images};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Dataset, ImageShape, Seed};
use unbraid_learn::frameworks::{Entry, FRAMEWORKS};
use unbraid_learn::losses::{Losses, MAIN};
use unbraid_learn::networks::NETWORKS;
use unbraid_learn::optimisers::OPTIMISERS;
use unbraid_learn::reconstruction::RECONSTRUCTIONS;
use unbraid_learn::tensors::{floats, scalar};
use unbraid_learn::{Batch, Learner, Model, checkpoint};

/// A network with a small hidden layer each way.
const SMALL: (&str, &str) = ("mlp", "latents = 4\nencoder = [8]\ndecoder = [8]");

fn has(entry: &Entry, setting: &str) -> bool {
    entry.settings.iter().any(|known: &Setting| known.name == setting)
}

fn advance(learner: &mut Learner, steps: Range<u64>, n_images: usize, rate: f64) -> Vec<f32> {
    let mut totals = Vec::new();
    for step in steps {
        let batch = batch(learner, step, n_images);
        totals.push(learner.step(&batch, rate).unwrap().total);
    }
    totals
}

#[test]
fn gradients_agree_with_finite_differences_for_every_framework_and_reconstruction() {
    let network = ("mlp", "latents = 4\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    // The gradients of `qlae` and `weak_gan` are not those of their losses: they have tests of their own.
    for entry in FRAMEWORKS.iter().filter(|entry| !["qlae", "weak_gan"].contains(&entry.name)) {
        for reconstruction in RECONSTRUCTIONS {
            if !has(entry, "reconstruction") && reconstruction.name != "mse" {
                continue;
            }
            for reduction in ["sum", "mean"] {
                // A controller's beta follows the KL divergence, and is a constant for the gradient: here it stands still.
                let own = match entry.name {
                    "control_vae" => "proportional = 0.0\nintegral = 0.0\nbeta_min = 0.7",
                    "dynamic_vae" => "proportional = 0.0\nintegral = 0.0\nbeta_first = 0.7",
                    _ => entry.example,
                };
                let mut settings = own.to_string();
                if has(entry, "reduction") {
                    settings += &format!("\nreduction = '{reduction}'");
                }
                if has(entry, "reconstruction") {
                    settings += &format!("\n{}", chosen(reconstruction));
                }
                // A smaller step carries fewer absolute errors and leaky ReLUs from one side of 0 to the other.
                let has_bends = reconstruction.name == "mae" || has(entry, "width");
                let step = if has_bends { 1e-3 } else { 1e-2 };
                check_gradients(Parts::new((entry.name, &settings), network, POINT).learner(), 1, step);
            }
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences_for_the_best_sigma() {
    let network = ("mlp", "latents = 2\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    check_gradients(Parts::new(("sigma_vae", "sigma = 'optimal'"), network, POINT).learner(), 1, 1e-2);
}

#[test]
fn gradients_agree_with_finite_differences_through_the_linear_network() {
    let parts = Parts::new(("beta_vae", "beta = 2.0"), ("linear", "latents = 3"), POINT);
    check_gradients(parts.learner(), 1, 1e-2);
}

/// The same images of `xy_object` at every step.
fn objects(learner: &Learner, dataset: &dyn Dataset, step: u64) -> Batch {
    let members = (0..learner.framework.arity() * learner.framework.n_batches()).map(|member| {
        let numbers: Vec<usize> = (0..16).map(|image| (member * 7919 + image * 4409) % dataset.n_images()).collect();
        read_images(dataset, &numbers).unwrap()
    });
    batch_of(learner, step, members.collect())
}

#[test]
fn every_framework_lowers_its_loss_and_that_of_its_images_on_xy_object() {
    let dataset = datasets::build("xy_object", &table("")).unwrap();
    for entry in FRAMEWORKS {
        let network = ("mlp", "latents = 4\nencoder = [32]\ndecoder = [32]");
        let mut learner = Parts::new((entry.name, entry.example), network, dataset.image_shape()).learner();
        // The total, and the first part, which is of the images.
        let (mut totals, mut of_images) = (Vec::new(), Vec::new());
        for step in 0..50 {
            let batch = objects(&learner, dataset.as_ref(), step);
            let losses = learner.step(&batch, 3e-3).unwrap();
            totals.push(losses.total);
            of_images.push(losses.parts[0].value);
        }
        let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
        for losses in [totals, of_images] {
            let (first, last) = (mean(&losses[..5]), mean(&losses[40..]));
            // A log-likelihood may be below zero.
            assert!(last < first - 0.1 * first.abs(), "{}: {losses:?}", entry.name);
        }
    }
}

#[test]
fn every_framework_names_the_parts_that_it_logs() {
    for entry in FRAMEWORKS {
        let mut learner = Parts::new((entry.name, entry.example), ("linear", "latents = 4"), POINT).learner();
        let first = batch(&learner, 0, 4);
        let losses = learner.step(&first, 1e-3).unwrap();
        let logged: Vec<String> = losses.parts.into_iter().map(|part| part.name).collect();
        assert_eq!(logged, learner.parts(), "{}", entry.name);
    }
}

#[test]
fn a_checkpoint_resumes_to_the_bit_for_every_framework() {
    for entry in FRAMEWORKS {
        let make = || Parts::new((entry.name, entry.example), SMALL, POINT).learner();
        let mut straight = make();
        advance(&mut straight, 0..12, 4, 1e-2);
        let mut halfway = make();
        advance(&mut halfway, 0..5, 4, 1e-2);
        let mut resumed = make();
        checkpoint::read(&checkpoint::write(&halfway, "").unwrap(), &mut resumed).unwrap();
        assert_eq!(resumed.steps_taken(), 5);
        advance(&mut resumed, 5..12, 4, 1e-2);
        let same = checkpoint::write(&straight, "").unwrap() == checkpoint::write(&resumed, "").unwrap();
        assert!(same, "{}", entry.name);
    }
}

#[test]
fn a_loss_that_is_not_finite_names_part_and_step_and_changes_nothing() {
    for framework in ["vae", "control_vae"] {
        let mut learner = Parts::new((framework, ""), ("linear", "latents = 2"), POINT).learner();
        let shape = learner.model.parameters.get("encoder.outputs.bias").dims();
        learner.model.parameters.replace("encoder.outputs.bias", vec![1e30; 4], &shape).unwrap();
        let before = checkpoint::write(&learner, "").unwrap();
        let first = batch(&learner, 0, 4);
        let message = learner.step(&first, 1e-3).unwrap_err().to_string();
        assert!(message.contains("became") && message.contains("at step 1"), "{message}");
        assert!(before == checkpoint::write(&learner, "").unwrap());
    }
}

#[test]
fn every_network_learns_with_every_optimiser_and_resumes_to_the_bit() {
    for (network, optimiser) in
        NETWORKS.iter().flat_map(|network| OPTIMISERS.iter().map(move |optimiser| (network, optimiser)))
    {
        let parts = Parts::new(("vae", ""), (network.name, "latents = 2"), PICTURE);
        let make = || Parts { optimiser: optimiser.name, ..parts }.learner();
        // Gradients of a sum over 4,096 pixels are large, and SGD does not scale them; a first step of RMSProp is ten times its
        // rate.
        let rate = match optimiser.name {
            "sgd" => 1e-6,
            "rmsprop" => 1e-4,
            _ => 1e-3,
        };
        let mut straight = make();
        let losses = advance(&mut straight, 0..8, 2, rate);
        // The same batch with the same noise, had nothing been learned.
        let unlearned = advance(&mut make(), 0..8, 2, 0.0);
        assert!(losses[7] < unlearned[7], "{} with {}: {losses:?}", network.name, optimiser.name);
        let mut halfway = make();
        advance(&mut halfway, 0..3, 2, rate);
        let mut resumed = make();
        checkpoint::read(&checkpoint::write(&halfway, "").unwrap(), &mut resumed).unwrap();
        advance(&mut resumed, 3..8, 2, rate);
        let same = checkpoint::write(&straight, "").unwrap() == checkpoint::write(&resumed, "").unwrap();
        assert!(same, "{} with {}", network.name, optimiser.name);
    }
}

#[test]
fn the_loss_of_a_large_batch_is_the_same_every_time() {
    // 1,100 images of 4,096 pixels are more than burn adds up on one thread.
    let learner = Parts::new(("ae", ""), ("linear", "latents = 2"), PICTURE).learner();
    let large = batch(&learner, 0, 1100);
    let bits = || losses(&learner, &large).read_out().0.to_bits();
    let first = bits();
    for threads in [1, 2, 3, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for _ in 0..3 {
            assert_eq!(pool.install(bits), first, "{threads} threads");
        }
    }
}

/// Straight through: the gradients of `qlae` are those of a loss in which the values that were chosen, what was added to the encoder's
/// outputs to come there, and whatever is a constant in one of its parts all stand still.
#[test]
fn gradients_of_qlae_are_those_with_quantisation_standing_still() {
    let network = ("mlp", "latents = 4\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    let (n_images, n_latents, n_values) = (2, 4, 5);
    for (reduction, n_terms) in [("sum", [1.0, 1.0]), ("mean", [6.0, 4.0])] {
        let settings = format!(
            "values = {n_values}\nweight_quantisation = 0.7\nweight_commitment = 0.3\nreduction = '{reduction}'"
        );
        let learner = Parts::new(("qlae", &settings), network, POINT).learner();
        let first = batch(&learner, 0, n_images);
        let outputs_of = |learner: &Learner| floats(learner.model.encoder_outputs(first.members[0].images.clone()));
        let codebooks_of = |learner: &Learner| floats(learner.model.parameters.get("codebooks.values"));
        let (outputs, codebooks) = (outputs_of(&learner), codebooks_of(&learner));
        let distance = |value: usize, output: f32| (codebooks[value] - output).abs();
        let nearest = |(position, output): (usize, &f32)| {
            let own = position % n_latents * n_values..(position % n_latents + 1) * n_values;
            own.min_by(|&a, &b| distance(a, *output).total_cmp(&distance(b, *output))).unwrap()
        };
        let chosen: Vec<usize> = outputs.iter().enumerate().map(nearest).collect();
        let values: Vec<f32> = chosen.iter().map(|&position| codebooks[position]).collect();
        let value = |learner: &Learner, batch: &Batch, _: usize| {
            let moved = outputs_of(learner);
            let decoded_from = (0..moved.len()).map(|i| moved[i] + (values[i] - outputs[i])).collect();
            let decoded = learner.model.parameters.tensor(decoded_from, [n_images, n_latents]);
            let decoded = learner.model.decode(decoded);
            let reconstruction = learner.framework.reconstruction().unwrap();
            let errors = floats(reconstruction.per_image(&learner.model, decoded, batch.members[0].images.clone()));
            let squares =
                |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum() };
            let now = codebooks_of(learner);
            let chosen_now: Vec<f32> = chosen.iter().map(|&position| now[position]).collect();
            let errors: f64 = errors.into_iter().map(f64::from).sum();
            let pulls = 0.7 * squares(&outputs, &chosen_now) + 0.3 * squares(&moved, &values);
            (errors / n_terms[0] + pulls / n_terms[1]) / n_images as f64
        };
        check_gradients_of(value, learner, 1, 1e-2);
    }
}

#[test]
fn gradients_agree_with_finite_differences_for_other_estimators_and_kernels() {
    let network = ("mlp", "latents = 3\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    for (framework, settings) in [("beta_tc_vae", "estimator = 'minibatch'"), ("info_vae", "kernel = 'imq'")] {
        check_gradients(Parts::new((framework, settings), network, POINT).learner(), 1, 1e-2);
    }
}

#[test]
fn gradients_agree_with_finite_differences_for_every_variant_of_mdl_vae() {
    let network = ("mlp", "latents = 2\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    for variant in ["strong", "weak", "v1", "v2", "v3"] {
        let settings = format!("variant = '{variant}'");
        check_gradients(Parts::new(("mdl_vae", &settings), network, POINT).learner(), 1, 1e-2);
    }
}

/// Coloured pictures of 128x128 and grey ones of 64x64. The step is smaller, as for `conv64`.
#[test]
fn gradients_agree_with_finite_differences_through_every_convolutional_network() {
    for (name, shape) in NETWORKS.iter().flat_map(|network| network.sides.iter().map(move |side| (network.name, *side)))
    {
        let shape = ImageShape { height: shape, width: shape, channels: if shape == 64 { 1 } else { 3 } };
        check_gradients(Parts::new(("vae", ""), (name, "latents = 2"), shape).learner(), 7919, 1e-3);
    }
}

/// The code of an image does not depend on the images that are encoded with it.
#[test]
fn an_image_has_the_same_code_alone_and_among_others() {
    for network in NETWORKS {
        let learner = Parts::new(("vae", ""), (network.name, "latents = 2"), PICTURE).learner();
        let model = learner.model.frozen();
        let pixels = learner.model.image_shape.n_pixels();
        let codes = |n_images: usize| {
            let values = floats(batch(&learner, 0, 5).members[0].images.clone().inner());
            let images = model.parameters.tensor(values[..n_images * pixels].to_vec(), [n_images, pixels]);
            floats(model.encode_gaussian(images).mean)
        };
        let (alone, among) = (codes(1), codes(5));
        assert!(alone.iter().zip(&among).all(|(a, b)| (a - b).abs() <= 1e-5), "{}: {alone:?} {among:?}", network.name);
    }
}

/// In the middle of a schedule the loss is that of a constant weight in the middle.
#[test]
fn every_weight_follows_its_schedule() {
    let mut n_checked = 0;
    for entry in FRAMEWORKS {
        for setting in entry.settings {
            let Values::Schedule(least, most) = setting.values else { continue };
            let (from, to) = (0.25_f64.clamp(least, most), 0.75_f64.clamp(least, most));
            let total = |value: String, step: u64| {
                let mut settings = table(entry.example);
                settings.extend(table(&format!("{} = {value}", setting.name)));
                let learner = Parts::new((entry.name, &settings.to_string()), SMALL, POINT).learner();
                losses(&learner, &batch(&learner, step, 4)).read_out().0
            };
            for (shape, step) in [("linear", 12), ("cosine", 12), ("cyclic", 12), ("cyclic", 16)] {
                let moving = format!("{{ from = {from:?}, to = {to:?}, steps = 4, start = 10, shape = '{shape}' }}");
                let middle = format!("{:?}", (from + to) / 2.0);
                let (moving, middle) = (total(moving, step), total(middle, step));
                let place = format!("{}.{}, {shape}, step {step}", entry.name, setting.name);
                assert!((moving - middle).abs() <= 1e-6 * middle.abs(), "{place}: {moving} is not {middle}");
            }
            n_checked += 1;
        }
    }
    assert!(n_checked >= 25, "only {n_checked} weights were followed");
}

#[test]
fn every_network_has_the_same_bits_on_any_number_of_threads() {
    for network in NETWORKS {
        let checkpoint_on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut learner = Parts::new(("vae", ""), (network.name, "latents = 2"), PICTURE).learner();
                advance(&mut learner, 0..2, 20, 1e-3);
                checkpoint::write(&learner, "").unwrap()
            })
        };
        let one = checkpoint_on(1);
        assert!([2, 3].into_iter().all(|threads| checkpoint_on(threads) == one), "{}", network.name);
    }
}

#[test]
fn the_discriminator_of_weak_gan_is_resumed_with_its_moments_and_singular_vectors() {
    let mut learner = Parts::new(("weak_gan", "width = 8"), SMALL, POINT).learner();
    advance(&mut learner, 0..5, 4, 1e-2);
    let bytes = checkpoint::write(&learner, "").unwrap();
    let kept = String::from_utf8_lossy(&bytes).into_owned();
    for (name, values) in trainable(&learner).filter(|(name, _)| name.starts_with("discriminator.")) {
        assert!(floats(values.clone().inner()).iter().any(|value| *value != 0.0), "{name}");
        assert!(kept.contains(&format!("optimiser.square.{name}")), "{name}");
        assert_eq!(kept.contains(&format!("state.spectral.{name}")), name.ends_with(".weight"), "{name}");
    }
    for (name, vector) in learner.state().iter() {
        let length: f32 = floats(vector.clone()).iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5, "{name}");
    }
}

/// The gradients of `weak_gan` are those of losses in which generated images stand still for the encoder, and singular vectors for the
/// discriminator. Where power iteration has come to its end, moves of the vectors change the singular value by nothing.
#[test]
fn gradients_of_weak_gan_are_those_with_generated_images_standing_still() {
    let network = ("mlp", "latents = 4\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    for (reconstruction, reduction) in [("bce", "sum"), ("mse", "mean")] {
        let settings = format!(
            "width = 3\ndiscriminator_rate = 0.0\nreconstruction = '{reconstruction}'\nreduction = '{reduction}'"
        );
        let mut learner = Parts::new(("weak_gan", &settings), network, POINT).learner();
        advance(&mut learner, 0..300, 2, 0.0);
        let generator: Vec<(String, Vec<f32>, [usize; 2])> = trainable(&learner)
            .filter(|(name, _)| name.starts_with("decoder."))
            .map(|(name, tensor)| (name.to_string(), floats(tensor.clone().inner()), tensor.dims()))
            .collect();
        let value = |learner: &Learner, batch: &Batch, objective: usize| {
            let of_model = |model: &Model| {
                let mut noise = Seed(3).stream_at("noise", batch.step);
                learner.framework.loss(model, batch, &mut learner.state().clone(), &mut noise)
            };
            let losses = of_model(&learner.model);
            let (network, total) = &losses.objectives()[objective];
            if *network != MAIN {
                return f64::from(scalar(total.clone().detach()));
            }
            let mut still = learner.model.clone();
            for (name, values, shape) in &generator {
                still.parameters.replace(name, values.clone(), shape).unwrap();
            }
            let part = |losses: &Losses, position: usize| f64::from(losses.read_out().1[position].value);
            part(&of_model(&still), 0) + part(&losses, 1) // encoder and generator
        };
        check_gradients_of(value, learner, 1, 1e-3);
    }
}
