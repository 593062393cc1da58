//! Every part of every loss on two images, against numbers worked by hand.
//!
//! The network is linear with 2 pixels and 1 latent: encoder outputs are `[mean, log-variance]`. Weights are set so that
//! the mean is pixel 0 and the log-variance is -200 (no noise to speak of) or 0; the decoder gives `[z, 2 z]`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up should panic")]

use toml::Table;
use unbraid_data::{ImageShape, Seed};
use unbraid_learn::tensors::{recording_device, scalar, tensor};
use unbraid_learn::{Batch, Framework, Model, frameworks, nets};

const SHAPE: ImageShape = ImageShape { height: 1, width: 1, channels: 2 };

fn framework(name: &str, settings: &str) -> Box<dyn Framework> {
    (frameworks::find(name).unwrap().build)(&settings.parse().unwrap()).unwrap()
}

fn model(framework: &dyn Framework, log_variance: f32) -> Model {
    let net = (nets::find("linear").unwrap().build)(&"latents = 1".parse::<Table>().unwrap(), SHAPE).unwrap();
    let mut model = Model::new(net, framework.posterior(), Seed(1));
    let gaussian = framework.posterior().n_outputs(1) == 2;
    // [pixels, outputs]: output 0 is pixel 0, the log-variance ignores the pixels.
    let (weight, bias) =
        if gaussian { (vec![1.0, 0.0, 0.0, 0.0], vec![0.0, log_variance]) } else { (vec![1.0, 0.0], vec![0.0]) };
    let outputs = bias.len();
    model.parameters.replace("encoder.outputs.weight", weight, &[2, outputs]).unwrap();
    model.parameters.replace("encoder.outputs.bias", bias, &[1, outputs]).unwrap();
    model.parameters.replace("decoder.outputs.weight", vec![1.0, 2.0], &[1, 2]).unwrap();
    model
}

fn member(values: [f32; 4]) -> burn::tensor::Tensor<2> {
    tensor(values.to_vec(), [2, 2], &recording_device())
}

fn parts(framework: &dyn Framework, log_variance: f32, members: &[[f32; 4]]) -> (Vec<f32>, f32) {
    let batch = Batch { step: 0, members: members.iter().map(|values| member(*values)).collect() };
    let model = model(framework, log_variance);
    let losses = framework.loss(&model, &batch, &mut Seed(1).stream("noise"));
    (losses.parts().iter().map(|part| part.value).collect(), scalar(losses.total().detach()))
}

fn close(found: &(Vec<f32>, f32), parts: &[f32], total: f32) {
    assert_eq!(found.0.len(), parts.len());
    for (a, b) in found.0.iter().chain([&found.1]).zip(parts.iter().chain([&total])) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{found:?} is not {parts:?}, {total}");
    }
}

/// Images [1, 1] and [2, 1]; codes 1 and 2; outputs [1, 2] and [2, 4].
const IMAGES: [f32; 4] = [1.0, 1.0, 2.0, 1.0];

#[test]
fn ae_by_hand() {
    // Squared errors 0 + 1 and 0 + 9: in sums (1 + 9) / 2 = 5, in means 10 / 4 = 2.5.
    close(&parts(framework("ae", "").as_ref(), 0.0, &[IMAGES]), &[5.0], 5.0);
    close(&parts(framework("ae", "reduction = 'mean'").as_ref(), 0.0, &[IMAGES]), &[2.5], 2.5);
}

#[test]
fn ae_with_cross_entropy_by_hand() {
    // Image [1, 0], code 1, logits [1, 2]: ln(1 + e^-1) + ln(1 + e^2) = 0.3132617 + 2.1269280; the same image twice.
    let found = parts(framework("ae", "reconstruction = 'bce'").as_ref(), 0.0, &[[1.0, 0.0, 1.0, 0.0]]);
    close(&found, &[2.440_189_7], 2.440_189_7);
}

#[test]
fn beta_vae_by_hand() {
    // Log-variance -200: the sample is the mean. KL (mean^2 + e^-200 - 1 + 200) / 2: 100 and 101.5, mean 100.75.
    let framework = framework("beta_vae", "beta = 3.0");
    close(&parts(framework.as_ref(), -200.0, &[IMAGES]), &[5.0, 100.75], 5.0 + 3.0 * 100.75);
}

#[test]
fn vae_is_beta_vae_with_beta_one() {
    close(&parts(framework("vae", "").as_ref(), -200.0, &[IMAGES]), &[5.0, 100.75], 105.75);
    let means = parts(framework("vae", "reduction = 'mean'").as_ref(), -200.0, &[IMAGES]);
    close(&means, &[2.5, 100.75], 103.25); // 1 latent, so the mean over latents is the sum
}

#[test]
fn a_schedule_weighs_the_kl_of_its_step() {
    let framework = framework("beta_vae", "beta = { from = 0.0, to = 4.0, steps = 4 }");
    let batch = Batch { step: 3, members: vec![member(IMAGES)] };
    let losses = framework.loss(&model(framework.as_ref(), -200.0), &batch, &mut Seed(1).stream("noise"));
    let total = scalar(losses.total().detach());
    assert!((total - (5.0 + 3.0 * 100.75)).abs() < 1e-3, "{total}");
}

#[test]
fn ada_gvae_by_hand() {
    // One latent: its distance is both least and most, hence never below the threshold, and nothing is shared. So the
    // loss is the mean of both members' losses. Second member [0, 0] and [1, 3]: codes 0 and 1, outputs [0, 0] and
    // [1, 2], squared errors 0 and 1; KL 99.5 and 100. Reconstruction (1 + 9 + 0 + 1) / 4 = 2.75, KL
    // (100 + 101.5 + 99.5 + 100) / 4 = 100.25.
    let framework = framework("ada_gvae", "beta = 2.0");
    let found = parts(framework.as_ref(), -200.0, &[IMAGES, [0.0, 0.0, 1.0, 3.0]]);
    close(&found, &[2.75, 100.25, 0.0], 2.75 + 2.0 * 100.25);
}

#[test]
fn ada_gvae_averages_the_latent_that_a_pair_shares_by_hand() {
    // Two latents that are the two pixels, log-variance -20, and a decoder that hands them back. Pair (1, 1), (1.2, 3):
    // latent 0 differs by 0.2 and latent 1 by 2, so latent 0 is shared and both members get its mean 1.1. Outputs
    // (1.1, 1) and (1.1, 3): squared errors 0.01 each. KL (m^2 - 1 + 20) / 2 for each latent: 10.105 + 10 and
    // 10.105 + 14, mean 22.105. One latent of two is shared. Both pairs of the batch are the same.
    let framework = framework("ada_gvae", "beta = 2.0");
    let net = (nets::find("linear").unwrap().build)(&Table::new(), SHAPE).unwrap();
    let mut model = Model::new(net, framework.posterior(), Seed(1));
    let weights = [
        ("encoder.outputs.weight", vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [2, 4]),
        ("encoder.outputs.bias", vec![0.0, 0.0, -20.0, -20.0], [1, 4]),
        ("decoder.outputs.weight", vec![1.0, 0.0, 0.0, 1.0], [2, 2]),
    ];
    for (name, values, shape) in weights {
        model.parameters.replace(name, values, &shape).unwrap();
    }
    let batch = Batch { step: 0, members: vec![member([1.0, 1.0, 1.0, 1.0]), member([1.2, 3.0, 1.2, 3.0])] };
    let losses = framework.loss(&model, &batch, &mut Seed(1).stream("noise"));
    // The sample's standard deviation is e^-10 = 4.5e-5, which moves the reconstruction by about 1e-5.
    let found: Vec<f32> = losses.parts().iter().map(|part| part.value).collect();
    for (found, wanted) in found.iter().zip([0.01, 22.105, 0.5]) {
        assert!((found - wanted).abs() < 1e-4, "{found} is not {wanted}");
    }
    let total = scalar(losses.total().detach());
    assert!((total - (0.01 + 2.0 * 22.105)).abs() < 1e-3, "{total}");
}
