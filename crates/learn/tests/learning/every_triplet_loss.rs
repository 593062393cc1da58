//! Walks every framework with a triplet loss: gradients of all its kinds, codes that coincide, and the distances that order its triplets.

use crate::support::gradients::{check_gradients, trainable};
use crate::support::{POINT, Parts, batch, batch_of, chosen, losses};
use burn::tensor::Tensor;
use unbraid_learn::frameworks::FRAMEWORKS;
use unbraid_learn::reconstruction::RECONSTRUCTIONS;
use unbraid_learn::tensors::floats;
use unbraid_learn::{Batch, Learner};

/// A network with a small hidden layer each way.
const SMALL: (&str, &str) = ("mlp", "latents = 4\nencoder = [8]\ndecoder = [8]");
const TRIPLET_FRAMEWORKS: [&str; 5] = ["beta_tvae", "tae", "ada_tvae", "ada_tae", "ada_tvae_data"];

fn example_of(framework: &str) -> &'static str {
    FRAMEWORKS.iter().find(|entry| entry.name == framework).unwrap().example
}

#[test]
fn gradients_agree_with_finite_differences_for_every_triplet_loss() {
    let network = ("mlp", "latents = 3\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
    for framework in TRIPLET_FRAMEWORKS {
        for own in ["triplet = 'soft'", "distance = 'l2'", "triplet = 'soft'\ndistance = 'l2'", "margin = 0.3"] {
            let settings = format!("{}\n{own}", example_of(framework));
            check_gradients(Parts::new((framework, &settings), network, POINT).learner(), 1, 1e-3);
        }
    }
}

/// The gradients of all parameters, by name.
fn gradients_of(learner: &Learner, batch: &Batch) -> Vec<(String, Vec<f32>)> {
    let gradients = losses(learner, batch).total().backward();
    let of = |tensor: &Tensor<2>| tensor.grad(&gradients).map_or(Vec::new(), floats);
    trainable(learner).map(|(name, tensor)| (name.to_string(), of(tensor))).collect()
}

#[test]
fn without_its_gradient_the_decoder_teaches_the_encoder_nothing() {
    for framework in TRIPLET_FRAMEWORKS {
        let entry = FRAMEWORKS.iter().find(|entry| entry.name == framework).unwrap();
        let has_beta = entry.settings.iter().any(|setting| setting.name == "beta");
        let others = if has_beta { "alpha = 0.0\nbeta = 0.0" } else { "alpha = 0.0" };
        let [with, without] = [true, false].map(|flag| {
            let settings = format!("{}\n{others}\ndecoder_gradient = {flag}", example_of(framework));
            let learner = Parts::new((framework, &settings), SMALL, POINT).learner();
            gradients_of(&learner, &batch(&learner, 0, 4))
        });
        for ((name, with), (_, without)) in with.iter().zip(&without) {
            assert!(with.iter().any(|gradient| *gradient != 0.0), "{framework}: {name} learns nothing");
            match name.starts_with("decoder.") {
                true => assert_eq!(with, without, "{framework}: {name}"),
                false => assert!(without.iter().all(|gradient| *gradient == 0.0), "{framework}: {name}"),
            }
        }
    }
}

#[test]
fn images_with_the_same_code_have_finite_gradients_in_every_triplet_loss() {
    for framework in TRIPLET_FRAMEWORKS {
        for own in ["triplet = 'soft'", "distance = 'l2'", "triplet = 'soft'\ndistance = 'l2'"] {
            let settings = format!("{}\n{own}", example_of(framework));
            let learner = Parts::new((framework, &settings), SMALL, POINT).learner();
            let same = batch_of(&learner, 0, vec![vec![0.3; 2 * 6]; learner.framework.arity()]);
            for (name, gradient) in gradients_of(&learner, &same) {
                assert!(gradient.iter().all(|value| value.is_finite()), "{framework}, {own}: {name} {gradient:?}");
            }
        }
    }
}

/// A perceptual loss of its own reads its own encoder; here it is that of the reconstruction loss, and so are the triplets.
#[test]
fn triplets_are_ordered_by_a_loss_with_parameters_of_its_own() {
    let perceptual = "{ name = 'perceptual', features = 'features' }";
    let [alone, as_well, by_pixels] = [
        format!("reconstruction = {perceptual}"),
        format!("reconstruction = {perceptual}\nperceived = {perceptual}"),
        format!("reconstruction = {perceptual}\nperceived = 'mse'"),
    ]
    .map(|own| {
        let settings = format!("schedule = 'custom'\n{own}");
        let learner = Parts::new(("ada_tvae_data", &settings), SMALL, POINT).learner();
        let is_own = |name: &str| name.starts_with("perceived.features.encoder.");
        let n_own = learner.model.parameters.iter().filter(|(name, _)| is_own(name)).count();
        (losses(&learner, &batch(&learner, 0, 16)).read_out().0, n_own > 0)
    });
    assert_eq!((alone.0, alone.1, as_well.1, by_pixels.1), (as_well.0, false, true, false));
    assert!(by_pixels.0 != alone.0);
}

/// What a decoder that gives image 0 loses where 1 and where 2 is wanted, from `between_images` and from the loss itself. Cross-entropy leaves
/// out what is the same for both, so that differences are compared.
#[test]
fn images_are_as_far_apart_as_the_loss_of_one_where_the_other_is_wanted() {
    for entry in RECONSTRUCTIONS {
        let learner = Parts::new(("vae", &chosen(entry)), SMALL, POINT).learner();
        let reconstruction = learner.framework.reconstruction().unwrap();
        let images = batch(&learner, 0, 3).images(); // [3, pixels]
        let row = |row: usize| images.clone().narrow(0, row, 1);
        let output = match entry.name {
            "bce" => row(0).log() - (-row(0) + 1.0).log(),
            _ => row(0),
        };
        let loss = |wanted: usize| floats(reconstruction.per_image(&learner.model, output.clone(), row(wanted)))[0];
        let distances = reconstruction.between_images(&learner.model, &images, &[[0, 1], [0, 2]]);
        let (found, wanted) = (distances[0] - distances[1], f64::from(loss(1) - loss(2)));
        assert!(wanted.abs() > 1e-2, "{}: {wanted}", entry.name);
        assert!((found - wanted).abs() < 1e-5 * wanted.abs().max(1.0), "{}: {found} is not {wanted}", entry.name);
    }
}
