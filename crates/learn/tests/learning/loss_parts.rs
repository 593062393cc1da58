//! Every part of every loss on two images, against numbers worked by hand; `loss_parts_of_members.rs` has those of pairs and triplets.

use std::path::Path;

use crate::support::by_hand::{IMAGES, SHAPE, close, learner, parts, parts_of, two_latents};
use crate::support::{Parts, batch_of, losses, write_features};
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::{ImageShape, Seed};
use unbraid_learn::checkpoint;
use unbraid_learn::frameworks::FRAMEWORKS;

#[test]
fn every_framework_is_worked_by_hand_here() {
    let tests = concat!(include_str!("loss_parts.rs"), include_str!("loss_parts_of_members.rs"));
    for entry in FRAMEWORKS {
        let is_named = ["parts", "learner", "two_latents", "Parts::new("]
            .iter()
            .any(|make| tests.contains(&format!("{make}(\"{}\"", entry.name)));
        assert!(is_named, "{} has no part worked by hand", entry.name);
    }
}

#[test]
fn ae_by_hand() {
    // Squared errors 0 + 1 and 0 + 9: in sums (1 + 9) / 2 = 5, in means 10 / 4 = 2.5.
    close(&parts("ae", "", 0.0, &[IMAGES]), &[5.0], 5.0);
    close(&parts("ae", "reduction = 'mean'", 0.0, &[IMAGES]), &[2.5], 2.5);
}

#[test]
fn ae_with_cross_entropy_by_hand() {
    // Image [1, 0], code 1, logits [1, 2]: ln(1 + e^-1) + ln(1 + e^2) = 0.3132617 + 2.1269280; the same image twice.
    let found = parts("ae", "reconstruction = 'bce'", 0.0, &[[1.0, 0.0, 1.0, 0.0]]);
    close(&found, &[2.440_189_7], 2.440_189_7);
}

#[test]
fn beta_vae_by_hand() {
    // Log-variance -200: the sample is the mean. KL (mean^2 + e^-200 - 1 + 200) / 2: 100 and 101.5, mean 100.75.
    close(&parts("beta_vae", "beta = 3.0", -200.0, &[IMAGES]), &[5.0, 100.75], 5.0 + 3.0 * 100.75);
}

#[test]
fn vae_is_beta_vae_with_beta_one() {
    close(&parts("vae", "", -200.0, &[IMAGES]), &[5.0, 100.75], 105.75);
    let means = parts("vae", "reduction = 'mean'", -200.0, &[IMAGES]);
    close(&means, &[2.5, 100.75], 103.25); // 1 latent, so the mean over latents is the sum
}

#[test]
fn a_schedule_weighs_the_kl_of_its_step() {
    let learner = learner("beta_vae", "beta = { from = 0.0, to = 4.0, steps = 4 }", &[-200.0]);
    let (_, total) = parts_of(&learner, 3, &[IMAGES]);
    assert!((total - (5.0 + 3.0 * 100.75)).abs() < 1e-3, "{total}");
}

#[test]
fn absolute_errors_by_hand() {
    // Absolute errors 0 + 1 and 0 + 3: in sums (1 + 3) / 2 = 2, in means 4 / 4 = 1.
    close(&parts("ae", "reconstruction = 'mae'", 0.0, &[IMAGES]), &[2.0], 2.0);
    close(&parts("ae", "reconstruction = 'mae'\nreduction = 'mean'", 0.0, &[IMAGES]), &[1.0], 1.0);
}

#[test]
fn beta_vae_full_by_hand() {
    // One latent, L = e^-100: the KL of a log-variance of -200, and no noise to speak of, as in beta_vae_by_hand.
    close(&parts("beta_vae_full", "beta = 3.0", -100.0, &[IMAGES]), &[5.0, 100.75], 5.0 + 3.0 * 100.75);
    // Two latents that are the two pixels, L = [[e^-10, 0], [e^-10, e^-10]]. Images [1, 1] and [2, 1]; tr S = 3 e^-20 and
    // log det S = -40: KL (2 + 40 - 2) / 2 = 20 and (5 + 40 - 2) / 2 = 21.5, mean 20.75; the decoder hands the latents back.
    let mut learner = Parts::new(("beta_vae_full", "beta = 2.0"), ("linear", "latents = 2"), SHAPE).learner();
    let weights = [
        ("encoder.outputs.weight", vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [2, 5]),
        ("encoder.outputs.bias", vec![0.0, 0.0, -10.0, -10.0, (-10.0_f32).exp()], [1, 5]),
        ("decoder.outputs.weight", vec![1.0, 0.0, 0.0, 1.0], [2, 2]),
    ];
    for (name, values, shape) in weights {
        learner.model.parameters.replace(name, values, &shape).unwrap();
    }
    close(&parts_of(&learner, 0, &[IMAGES]), &[0.0, 20.75], 41.5);
}

#[test]
fn control_vae_by_hand() {
    // KL 100.75 where 18 is wanted: the error is -82.75, Kp / (1 + e^-82.75) = 0.01, and the sum 0.001 * 82.75. At the next
    // step as much is added to the sum.
    let mut learner = learner("control_vae", "", &[-200.0]);
    let beta = 0.01 + 0.082_75;
    close(&parts_of(&learner, 0, &[IMAGES]), &[5.0, 100.75, beta], 5.0 + beta * 100.75);
    // In means all is divided by 2 pixels, and the KL that is controlled is the sum over latents.
    let means = parts("control_vae", "reduction = 'mean'", -200.0, &[IMAGES]);
    close(&means, &[2.5, 100.75, beta], 2.5 + beta * 100.75 / 2.0);
    let first = batch_of(&learner, 0, vec![IMAGES.to_vec()]);
    learner.step(&first, 0.0).unwrap();
    let beta = 0.01 + 2.0 * 0.082_75;
    close(&parts_of(&learner, 1, &[IMAGES]), &[5.0, 100.75, beta], 5.0 + beta * 100.75);
}

#[test]
fn sigma_vae_by_hand() {
    // Learned, ln sigma is 0 at first, and ln(1 + e^6) - 6 = 0.0024757 above its soft bound: 2 pixels of it, and the squared
    // error of 5 over 2 e^0.0049514.
    let (log_sigma, kl) = (0.002_475_7_f32, 100.75);
    let likelihood = 2.0 * log_sigma + 2.5 * (-2.0 * log_sigma).exp();
    let found = parts("sigma_vae", "", -200.0, &[IMAGES]);
    close(&found, &[5.0, kl, log_sigma.exp()], likelihood + kl);
    // The best one: sigma^2 is the mean squared error of a pixel, 10 / 4 = 2.5, so ln sigma = 0.4581454, softly 0.4597101.
    let log_sigma = 0.458_145_4_f32 + (1.0 + (-6.458_145_4_f32).exp()).ln();
    let likelihood = 2.0 * log_sigma + 2.5 * (-2.0 * log_sigma).exp();
    let found = parts("sigma_vae", "sigma = 'optimal'", -200.0, &[IMAGES]);
    close(&found, &[5.0, kl, log_sigma.exp()], likelihood + kl);
}

/// Two images of three pixels that are reconstructed with squared errors of 0.06 and 0.13, computed in Python from Rybkin et al. 2021
/// alone: the likelihood is -2.6335562 for a log sigma of -1, and -3.6781672 for the best one.
#[test]
fn sigma_vae_as_computed_elsewhere() {
    let shape = ImageShape { height: 1, width: 1, channels: 3 };
    for (settings, log_sigma, wanted) in [("", Some(-1.0), -2.633_556), ("sigma = 'optimal'", None, -3.678_167)] {
        let mut learner = Parts::new(("sigma_vae", settings), ("linear", "latents = 1"), shape).learner();
        let parameters = &mut learner.model.parameters;
        // Two codes, -1 and 1, without noise, and a decoder that is a line through both reconstructions.
        parameters.replace("encoder.outputs.weight", vec![0.0, 0.0, 20.0 / 9.0, 0.0, 0.0, 0.0], &[3, 2]).unwrap();
        parameters.replace("encoder.outputs.bias", vec![-1.0, -200.0], &[1, 2]).unwrap();
        parameters.replace("decoder.outputs.weight", vec![-0.35, 0.2, 0.0], &[1, 3]).unwrap();
        parameters.replace("decoder.outputs.bias", vec![0.45, 0.5, 0.5], &[1, 3]).unwrap();
        if let Some(log_sigma) = log_sigma {
            parameters.replace("sigma.log", vec![log_sigma], &[1, 1]).unwrap();
        }
        let batch = batch_of(&learner, 0, vec![vec![0.2, 0.9, 0.4, 1.0, 0.0, 0.5]]);
        let (total, parts) = losses(&learner, &batch).read_out();
        assert!((parts[0].value - 0.095).abs() < 1e-6, "{parts:?}");
        assert!((total - parts[1].value - wanted).abs() < 1e-4, "{} is not {wanted}", total - parts[1].value);
    }
}

#[test]
fn factor_vae_by_hand() {
    // A discriminator of width 1 whose weights are 1 and whose first logit is its input, the other 0: codes 1 and 2 pass
    // all layers as they are. Total correlation: (1 + 2) / 2 = 1.5. The second batch has codes -1 and -3, which six leaky ReLUs
    // shrink by 0.2^6 = 0.000064. Cross-entropy of class 0: ln(1 + e^-1) and ln(1 + e^-2), mean 0.2200950; of class 1, for
    // logits -0.000064 and -0.000192: ln(1 + e^-0.000064) and so on, mean ln 2 - 0.000064 = 0.6930832. Half their sum: 0.4565891.
    let mut learner = learner("factor_vae", "gamma = 10.0\nwidth = 1", &[-200.0]);
    for layer in 0..6 {
        learner.model.parameters.replace(&format!("discriminator.hidden{layer}.weight"), vec![1.0], &[1, 1]).unwrap();
    }
    learner.model.parameters.replace("discriminator.outputs.weight", vec![1.0, 0.0], &[1, 2]).unwrap();
    let found = parts_of(&learner, 0, &[IMAGES, [-1.0, 0.0, -3.0, 0.0]]);
    close(&found, &[5.0, 100.75, 1.5, 0.456_589_1], 5.0 + 100.75 + 15.0);
}

#[test]
fn qlae_by_hand() {
    // Values -1/2, 0, 1/2 for each latent. Images (0.3, -0.9) and (0.1, 0.4) become (0.5, -0.5) and (0, 0.5), which is what is
    // decoded. Squared errors 0.04 + 0.16 and 0.01 + 0.01: mean 0.11 of an image, 0.055 of a pixel, which is as much of a latent;
    // and the same distances are the quantisation loss and the commitment loss.
    let settings = "values = 3\nweight_quantisation = 2.0\nweight_commitment = 3.0";
    let learner = two_latents("qlae", settings, -200.0, 1.0);
    let images = [0.3, -0.9, 0.1, 0.4];
    close(&parts_of(&learner, 0, &[images]), &[0.055; 3], 0.055 * 6.0);
    let learner = two_latents("qlae", &format!("{settings}\nreduction = 'sum'"), -200.0, 1.0);
    close(&parts_of(&learner, 0, &[images]), &[0.11; 3], 0.11 * 6.0);
}

#[test]
fn qlae_takes_from_weights_and_from_nothing_else() {
    // Images that are values have no loss, no gradient and with Adam no step: what changes is what decay takes. At a step size
    // of 0.1 and a decay of 2, weights keep 1 - 0.2 of themselves.
    let mut learner = two_latents("qlae", "values = 3\nweight_decay = 2.0", -200.0, 1.0);
    learner.model.parameters.replace("decoder.outputs.bias", vec![0.5, 0.0], &[1, 2]).unwrap();
    learner.model.parameters.replace("encoder.outputs.bias", vec![-0.5, 0.0], &[1, 2]).unwrap();
    let batch = batch_of(&learner, 0, vec![vec![0.5, -0.5, 1.0, 0.5]]);
    assert_eq!(learner.step(&batch, 0.1).unwrap().total, 0.0);
    let values = |name: &str| unbraid_learn::tensors::floats(learner.model.parameters.get(name));
    assert_eq!(values("encoder.outputs.weight"), [0.8, 0.0, 0.0, 0.8]);
    assert_eq!(values("decoder.outputs.weight"), [0.8, 0.0, 0.0, 0.8]);
    assert_eq!(values("encoder.outputs.bias"), [-0.5, 0.0]);
    assert_eq!(values("decoder.outputs.bias"), [0.5, 0.0]);
    assert_eq!(values("codebooks.values"), [-0.5, 0.0, 0.5, -0.5, 0.0, 0.5]);
}

#[test]
fn hfs_by_hand() {
    // Codes (0, 0), (1, 1), (3, 2), without noise, decoded as they are. Of their combinations (3, 0) is the farthest from all codes:
    // 4 from (3, 2), in squares, and from (1, 1) 4 + 1; (0, 2) is 2 from (1, 1). KL of a latent (m^2 - 1 + 200) / 2, so 199 of the
    // three images and half of 2 and of 13: mean 199 + 15 / 6 = 201.5.
    let images = [0.0, 0.0, 1.0, 1.0, 3.0, 2.0];
    let learner = two_latents("hfs", "beta = 2.0\ngamma = 10.0", -200.0, 1.0);
    close(&parts_of(&learner, 0, &[images]), &[0.0, 201.5, 4.0], 2.0 * 201.5 + 10.0 * 4.0);
    // In means the KL is halved; the distance is no sum over latents, and stays.
    let learner = two_latents("hfs", "beta = 2.0\ngamma = 10.0\nreduction = 'mean'", -200.0, 1.0);
    close(&parts_of(&learner, 0, &[images]), &[0.0, 100.75, 4.0], 201.5 + 10.0 * 4.0);
    // A grid of codes is at no distance, however often each is there.
    let grid = [0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 2.0, 1.0, 2.0, 1.0];
    assert_eq!(parts_of(&learner, 0, &[grid]).0[2], 0.0);
    // Nor is a single latent.
    let found = parts("hfs", "gamma = 10.0", -200.0, &[IMAGES]);
    close(&found, &[5.0, 100.75, 0.0], 105.75);
}

#[test]
fn vae_orthogonal_by_hand() {
    // Columns (1, 1) and (1, 2) of a linear decoder: their product is 3 at every code and in either order, its square 9; the mean over
    // pixels is 1.5, its square 2.25. Images (1, 1) and (2, 1) are drawn as (2, 3) and (3, 4): squared errors 1 + 4 and 1 + 9, mean
    // 7.5. KL 199 + (2 + 5) / 4 = 200.75.
    let images = [1.0, 1.0, 2.0, 1.0];
    for (reduction, wanted, total) in
        [("sum", [7.5, 200.75, 9.0], 7.5 + 2.0 * 200.75 + 90.0), ("mean", [3.75, 100.375, 2.25], 3.75 + 200.75 + 22.5)]
    {
        let settings = format!("beta = 2.0\nweight = 10.0\nreduction = '{reduction}'");
        let mut learner = two_latents("vae_orthogonal", &settings, -200.0, 1.0);
        learner.model.parameters.replace("decoder.outputs.weight", vec![1.0, 1.0, 1.0, 2.0], &[2, 2]).unwrap();
        let found = parts_of(&learner, 0, &[images]);
        for (found, wanted) in found.0.iter().chain([&found.1]).zip(wanted.iter().chain([&total])) {
            // Differences of numbers about 4 over steps of 1/64 are known to 4e-7 * 64.
            assert!((found - wanted).abs() < 1e-4 * wanted, "{found} is not {wanted}");
        }
    }
    // A single latent has no other to be orthogonal to.
    let found = parts("vae_orthogonal", "", -200.0, &[IMAGES]);
    close(&found, &[5.0, 100.75, 0.0], 105.75);
}

/// Two hidden layers, `h = pixel 0 + pixel 1` and `[2 h, 10 - h]`, in a run that gives features.
fn write_two_layers(folder: &Path) {
    let network = ("mlp", "latents = 1\nencoder = [1, 2]\ndecoder = []");
    let mut learner = write_features(folder, network, SHAPE);
    let weights = [
        ("encoder.hidden0.weight", vec![1.0, 1.0], [2, 1]),
        ("encoder.hidden1.weight", vec![2.0, -1.0], [1, 2]),
        ("encoder.hidden1.bias", vec![0.0, 10.0], [1, 2]),
    ];
    for (name, values, shape) in weights {
        learner.model.parameters.replace(name, values, &shape).unwrap();
    }
    let config = std::fs::read_to_string(folder.join("config.toml")).unwrap();
    std::fs::write(folder.join("model.safetensors"), checkpoint::write(&learner, &config).unwrap()).unwrap();
}

#[test]
fn dfc_vae_and_the_perceptual_loss_by_hand() {
    // Image [1, 1]: h = 2, then [4, 8]; its output [1, 2]: 3, [6, 7]. 1 / (2 * 1) + (4 + 1) / (2 * 2) = 1.75.
    // Image [2, 1]: 3, [6, 7]; its output [2, 4]: 6, [12, 4]. 9 / 2 + (36 + 9) / 4 = 15.75.
    // In means their mean, 8.75; in sums times 2 pixels, 17.5. Pixels and KL as in beta_vae_by_hand.
    let folder = tempfile::tempdir().unwrap();
    write_two_layers(folder.path());
    let features = format!("features = '{}'", folder.path().display());
    let found = parts("dfc_vae", &features, -200.0, &[IMAGES]);
    close(&found, &[17.5, 5.0, 100.75], 0.5 * 17.5 + 100.75);
    let weights = "feature_weight = 2.0\npixel_weight = 3.0\nbeta = 0.5";
    let found = parts("dfc_vae", &format!("{features}\n{weights}"), -200.0, &[IMAGES]);
    close(&found, &[17.5, 5.0, 100.75], 2.0 * 17.5 + 3.0 * 5.0 + 0.5 * 100.75);
    let found = parts("dfc_vae", &format!("{features}\nreduction = 'mean'"), -200.0, &[IMAGES]);
    close(&found, &[8.75, 2.5, 100.75], 0.5 * 8.75 + 100.75);
    let settings =
        format!("reconstruction = {{ name = 'perceptual', {features}, feature_weight = 2.0, pixel_weight = 3.0 }}");
    close(&parts("ae", &settings, 0.0, &[IMAGES]), &[50.0], 2.0 * 17.5 + 3.0 * 5.0);
}

#[test]
fn annealed_vae_by_hand() {
    // KL 100 and 101.5, mean 100.75, as in beta_vae_by_hand. After 40,000 of 100,000 steps from 0 to 25 the capacity is 10.
    let learner = learner("annealed_vae", "", &[-200.0]);
    close(&parts_of(&learner, 40_000, &[IMAGES]), &[5.0, 100.75, 10.0], 5.0 + 1000.0 * 90.75);
    // The mean is what is held: one image is below the capacity and one above it, by as much. Image by image it would cost 1.5.
    let held = parts("annealed_vae", "gamma = 2.0\ncapacity = 100.75", -200.0, &[IMAGES]);
    close(&held, &[5.0, 100.75, 100.75], 5.0);
    // Below the capacity it costs as well; in means all is divided by 2 pixels, and the KL that is held is the sum over latents.
    let means = parts("annealed_vae", "gamma = 2.0\ncapacity = 102.0\nreduction = 'mean'", -200.0, &[IMAGES]);
    close(&means, &[2.5, 100.75, 102.0], 2.5 + 2.0 * 1.25 / 2.0);
}

/// Codes (1, 1) and (3, 2): variances 1 and 1/4, covariance 1/2.
const APART: [f32; 4] = [1.0, 1.0, 3.0, 2.0];

#[test]
fn dip_vae_i_by_hand() {
    // Log-variance -20: KL (m^2 - 1 + 20) / 2 for each latent: 10 + 10 and 14 + 11.5, mean 22.75. The decoder hands the codes back. Off
    // the diagonal 2 (1/2)^2, on it (1 - 1)^2 + (1/4 - 1)^2.
    let settings = "lambda_offdiagonal = 3.0\nlambda_diagonal = 7.0";
    let wanted = [0.0, 22.75, 0.5, 0.5625];
    let total = 22.75 + 3.0 * 0.5 + 7.0 * 0.5625;
    close(&parts_of(&two_latents("dip_vae_i", settings, -20.0, 1.0), 0, &[APART]), &wanted, total);
    let learner = two_latents("dip_vae_i", &format!("{settings}\nreduction = 'mean'"), -20.0, 1.0);
    close(&parts_of(&learner, 0, &[APART]), &wanted, total / 2.0); // 2 pixels
    // The defaults.
    let total = 22.75 + 10.0 * 0.5 + 100.0 * 0.5625;
    close(&parts_of(&two_latents("dip_vae_i", "", -20.0, 1.0), 0, &[APART]), &wanted, total);
}

#[test]
fn dip_vae_ii_by_hand() {
    // Variances 2, which come to those of the means: 3 and 2.25. The covariance of the means stays 1/2: off the diagonal 2 (1/2)^2,
    // on it 2^2 + 1.25^2. KL (m^2 + 2 - 1 - ln 2) / 2 for each latent: 1 and 6.5, mean 3.75, and 0.3068528 for both. The decoder
    // gives zeros: squared errors 2 and 13.
    let settings = "lambda_offdiagonal = 3.0\nlambda_diagonal = 7.0";
    let wanted = [7.5, 4.056_853, 0.5, 5.5625];
    let total = 7.5 + 4.056_853 + 3.0 * 0.5 + 7.0 * 5.5625;
    let log_variance = 2.0_f32.ln();
    close(&parts_of(&two_latents("dip_vae_ii", settings, log_variance, 0.0), 0, &[APART]), &wanted, total);
    let learner = two_latents("dip_vae_ii", &format!("{settings}\nreduction = 'mean'"), log_variance, 0.0);
    close(&parts_of(&learner, 0, &[APART]), &[3.75, 4.056_853, 0.5, 5.5625], total / 2.0);
    let total = 7.5 + 4.056_853 + 10.0 * 0.5 + 10.0 * 5.5625;
    close(&parts_of(&two_latents("dip_vae_ii", "", log_variance, 0.0), 0, &[APART]), &wanted, total);
}

#[test]
fn beta_tc_vae_by_hand_where_posteriors_are_far_apart() {
    // Log-variance -80: no noise, and a code has density under its own image alone: ln q(z|n) = 2 (40 - ln(2 pi) / 2) = 78.1621229.
    // With 1,000 images and a batch of 2 the own one weighs 1 / 2000 (minibatch) or 1 / 1000 (stratified), both in q(z) and in each
    // of two q(z_l): the mutual information and the total correlation are then -ln of this weight. ln p(z) = -(1 + 1) / 2 - ln(2
    // pi) and -(9 + 4) / 2 - ln(2 pi), mean -5.5878771.
    for (estimator, own) in [("minibatch", 1.0 / 2000.0_f32), ("stratified", 1.0 / 1000.0)] {
        let settings = format!("estimator = '{estimator}'\nbeta = 5.0");
        let dimension_wise = 78.162_123 + 2.0 * own.ln() + 5.587_877;
        let wanted = [0.0, -own.ln(), -own.ln(), dimension_wise];
        let total = -own.ln() - 5.0 * own.ln() + dimension_wise;
        close(&parts_of(&two_latents("beta_tc_vae", &settings, -80.0, 1.0), 0, &[APART]), &wanted, total);
        let learner = two_latents("beta_tc_vae", &format!("{settings}\nreduction = 'mean'"), -80.0, 1.0);
        close(&parts_of(&learner, 0, &[APART]), &wanted, total / 2.0); // 2 pixels
    }
}

#[test]
fn beta_tc_vae_by_hand_where_all_posteriors_are_the_prior() {
    // Codes tell nothing of the images, and all of it is 0, whatever the draws. The weights of `minibatch` sum up to 1 / 1000, so
    // it takes each of q(z), q(z_0) and q(z_1) for 1 / 1000 of what it is.
    let none = [0.0; 4];
    let learner = two_latents("beta_tc_vae", "estimator = 'stratified'", 0.0, 0.0);
    close(&parts_of(&learner, 0, &[none]), &[0.0; 4], 0.0);
    let learner = two_latents("beta_tc_vae", "", 0.0, 0.0);
    let of_all = 1000.0_f32.ln();
    close(&parts_of(&learner, 0, &[none]), &[0.0, of_all, of_all, -2.0 * of_all], (1.0 + 6.0 - 2.0) * of_all);
}

/// A function of a distance.
type Kernel = fn(f64) -> f64;

#[test]
fn info_vae_by_hand() {
    // Codes 1 and 2 without noise. The draws of the prior come after the two of the noise; with one latent and a bandwidth of 1, C = 2.
    let mut noise = Seed(3).stream_at("noise", 0);
    let draws: [f64; 4] = std::array::from_fn(|_| f64::from(noise.sample::<f32, _>(StandardNormal)));
    let kernels: [(&str, Kernel); 2] = [("rbf", |d| (-d * d / 2.0).exp()), ("imq", |d| 2.0 / (2.0 + d * d))];
    for (name, kernel) in kernels {
        let [first, second] = [draws[2], draws[3]];
        let across = [first - 1.0, first - 2.0, second - 1.0, second - 2.0].map(kernel).iter().sum::<f64>() / 4.0;
        // One pair of codes, one pair of draws, four across.
        let mmd = (kernel(1.0) + kernel(first - second) - 2.0 * across) as f32;
        let settings = format!("kernel = '{name}'\nalpha = 0.25\nlambda = 20.0");
        let total = 5.0 + 0.75 * 100.75 + 19.25 * mmd;
        close(&parts("info_vae", &settings, -200.0, &[IMAGES]), &[5.0, 100.75, mmd], total);
        let means = parts("info_vae", &format!("{settings}\nreduction = 'mean'"), -200.0, &[IMAGES]);
        close(&means, &[2.5, 100.75, mmd], total / 2.0);
        // With a wide kernel all are alike: 1 + 1 - 2.
        let wide = parts("info_vae", &format!("{settings}\nbandwidth = 1000.0"), -200.0, &[IMAGES]);
        close(&wide, &[5.0, 100.75, 0.0], 5.0 + 0.75 * 100.75);
    }
}

#[test]
fn dynamic_vae_by_hand() {
    // KL 100.75 where 18 is wanted, and the average of one step is its value: the error is -82.75, and that before it 0, so that
    // 150 becomes 150 + 0.01 (1 - 1/2) + 0.005 * 82.75. At the next step the error is the same: only 0.005 * 82.75 is added.
    let mut learner = learner("dynamic_vae", "", &[-200.0]);
    let beta = 150.0 + 0.005 + 0.413_75;
    close(&parts_of(&learner, 0, &[IMAGES]), &[5.0, 100.75, 100.75, beta], 5.0 + beta * 100.75);
    // In means all is divided by 2 pixels, and the KL that is controlled is the sum over latents.
    let means = parts("dynamic_vae", "reduction = 'mean'", -200.0, &[IMAGES]);
    close(&means, &[2.5, 100.75, 100.75, beta], 2.5 + beta * 100.75 / 2.0);
    let first = batch_of(&learner, 0, vec![IMAGES.to_vec()]);
    learner.step(&first, 0.0).unwrap();
    let beta = beta + 0.413_75;
    close(&parts_of(&learner, 1, &[IMAGES]), &[5.0, 100.75, 100.75, beta], 5.0 + beta * 100.75);
    // Images [0, 0] have codes of 0 and outputs of 0, hence a KL of (200 - 1) / 2 = 99.5. The average is 100.125, the error -82.125,
    // and beta 150.005 + 0.005 (82.75 + 82.125).
    let beta = 150.005 + 0.824_375;
    close(&parts_of(&learner, 1, &[[0.0; 4]]), &[0.0, 99.5, 100.125, beta], beta * 99.5);
}

#[test]
fn l_vae_by_hand() {
    // 5 / 2^2 + 100.75 / 0.5^2 + 2^2 + 0.5^2 = 1.25 + 403 + 4.25; beta-hat is 4 / 0.25 = 16.
    let settings = "sigma0 = 2.0\nsigma1 = 0.5";
    close(&parts("l_vae", settings, -200.0, &[IMAGES]), &[5.0, 100.75, 4.25, 2.0, 0.5, 16.0], 408.5);
    // In means 2.5 / 4 + 403 + 4.25.
    let means = parts("l_vae", &format!("{settings}\nreduction = 'mean'"), -200.0, &[IMAGES]);
    close(&means, &[2.5, 100.75, 4.25, 2.0, 0.5, 16.0], 407.875);
    // As T3 starts it, a VAE and 2.
    close(&parts("l_vae", "", -200.0, &[IMAGES]), &[5.0, 100.75, 2.0, 1.0, 1.0, 1.0], 107.75);
}

/// Two latents that are the two pixels, without noise, and a decoder that doubles the second. Images [1, 1] and [2, 1]: KL (m^2 - 1 +
/// 200) / 2 is 100 and 101.5 for the first latent, mean 100.75, and 100 for the second; outputs [1, 2] and [2, 2], squared errors of 1.
/// The sigmas are such that ln(1 + sigma_r^2) = 2, ln(1 + sigma_0^2) = 1 and sigma_1^2 = 1.
#[test]
fn mdl_vae_by_hand() {
    const E: f32 = std::f32::consts::E;
    const LN_2: f32 = std::f32::consts::LN_2;
    let (square_r, square_0) = (E * E - 1.0, E - 1.0);
    let soft = 1.0 / 3.0 + 100.75 / 2.0 + 100.0 / (1.0 + LN_2);
    let steep = 1.0 / square_r + 100.75 / square_0 + 100.0;
    let (strong, weaker) = (square_r + square_0 + 1.0, 2.0 + 1.0 + LN_2);
    let cases = [
        ("", strong, soft + strong),
        ("variant = 'strong'", strong, soft + strong),
        ("variant = 'weak'", square_r + (1.0 + LN_2) / 2.0, soft + square_r + (1.0 + LN_2) / 2.0),
        ("variant = 'v1'", weaker, soft + weaker),
        ("variant = 'v2'", strong, steep + strong),
        ("variant = 'v3'", weaker, steep + weaker),
    ];
    let parts_with = |settings: &str| {
        let mut learner = Parts::new(("mdl_vae", settings), ("linear", "latents = 2"), SHAPE).learner();
        let weights = [
            ("encoder.outputs.weight", vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [2, 4]),
            ("encoder.outputs.bias", vec![0.0, 0.0, -200.0, -200.0], [1, 4]),
            ("decoder.outputs.weight", vec![1.0, 0.0, 0.0, 2.0], [2, 2]),
            ("sigma.log_square_of_reconstruction", vec![square_r.ln()], [1, 1]),
            ("sigma.log_squares_of_latents", vec![square_0.ln(), 0.0], [1, 2]),
        ];
        for (name, values, shape) in weights {
            learner.model.parameters.replace(name, values, &shape).unwrap();
        }
        parts_of(&learner, 0, &[IMAGES])
    };
    for (settings, regulariser, total) in cases {
        close(&parts_with(settings), &[1.0, 200.75, regulariser, square_r.sqrt(), square_0.sqrt(), 1.0], total);
    }
    // In means the reconstruction is divided by 2 pixels, the divergences by 2 latents, and the regulariser by nothing.
    let wanted = [0.5, 100.375, strong, square_r.sqrt(), square_0.sqrt(), 1.0];
    close(&parts_with("reduction = 'mean'"), &wanted, soft / 2.0 + strong);
}

/// One Gaussian latent, pixel 0 without noise, and two classes of probabilities 3/4 and 1/4, of which the decoder makes [0.5, -1]
/// whatever the draw, since the draw's numbers add up to 1. Outputs [1.5, 1] and [2.5, 3]: squared errors 0.25 and 0.25 + 4, mean 2.25.
#[test]
fn joint_vae_by_hand() {
    let parts_with = |settings: &str| {
        let capacities = "capacity_continuous = { from = 0.0, to = 40.0, steps = 4 }\ncapacity_discrete = 5.0";
        let settings = format!("gamma = 3.0\nclasses = [2]\n{capacities}\n{settings}");
        let mut learner = Parts::new(("joint_vae", &settings), ("linear", "latents = 3"), SHAPE).learner();
        let weights = [
            ("encoder.outputs.weight", vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [2, 4]),
            ("encoder.outputs.bias", vec![0.0, -200.0, 3.0_f32.ln(), 0.0], [1, 4]),
            ("decoder.outputs.weight", vec![1.0, 2.0, 0.5, -1.0, 0.5, -1.0], [3, 2]),
        ];
        for (name, values, shape) in weights {
            learner.model.parameters.replace(name, values, &shape).unwrap();
        }
        parts_of(&learner, 1, &[IMAGES])
    };
    // KL 100.75 of the Gaussian latent, whose capacity is 10 at step 1. KL of the classes: ln 2 + 3/4 ln(3/4) + 1/4 ln(1/4) =
    // 0.1308120; of the capacity of 5 they can have ln 2 = 0.6931472, from which they are 0.5623351 away.
    let distances = 3.0 * (90.75 + 0.562_335_1);
    let wanted = [2.25, 100.75, 0.130_812, 10.0, std::f32::consts::LN_2];
    close(&parts_with(""), &wanted, 2.25 + distances);
    // In means all is divided by 2 pixels; capacities and divergences stay sums.
    let wanted = [1.125, 100.75, 0.130_812, 10.0, std::f32::consts::LN_2];
    close(&parts_with("reduction = 'mean'"), &wanted, 1.125 + distances / 2.0);
}
