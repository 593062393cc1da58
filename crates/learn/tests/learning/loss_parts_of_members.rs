//! Every part of every loss of pairs and triplets, against numbers worked by hand.

use crate::support::Parts;
use crate::support::by_hand::{IMAGES, SHAPE, close, parts, parts_of, two_latents};
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::Seed;
use unbraid_learn::Learner;

#[test]
fn ada_gvae_by_hand() {
    // One latent: its distance is both least and most, hence never below the threshold, and nothing is shared. So the
    // loss is the mean of both members' losses. Second member [0, 0] and [1, 3]: codes 0 and 1, outputs [0, 0] and
    // [1, 2], squared errors 0 and 1; KL 99.5 and 100. Reconstruction (1 + 9 + 0 + 1) / 4 = 2.75, KL
    // (100 + 101.5 + 99.5 + 100) / 4 = 100.25.
    let found = parts("ada_gvae", "beta = 2.0", -200.0, &[IMAGES, [0.0, 0.0, 1.0, 3.0]]);
    close(&found, &[2.75, 100.25, 0.0], 2.75 + 2.0 * 100.25);
}

#[test]
fn ada_gvae_averages_the_latent_that_a_pair_shares_by_hand() {
    // Two latents that are the two pixels, log-variance -20, and a decoder that hands them back. Pair (1, 1), (1.2, 3):
    // latent 0 differs by 0.2 and latent 1 by 2, so latent 0 is shared and both members get its mean 1.1. Outputs
    // (1.1, 1) and (1.1, 3): squared errors 0.01 each. KL (m^2 - 1 + 20) / 2 for each latent: 10.105 + 10 and
    // 10.105 + 14, mean 22.105. One latent of two is shared. Both pairs of the batch are the same.
    let mut learner = Parts::new(("ada_gvae", "beta = 2.0"), ("linear", "latents = 2"), SHAPE).learner();
    let weights = [
        ("encoder.outputs.weight", vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [2, 4]),
        ("encoder.outputs.bias", vec![0.0, 0.0, -20.0, -20.0], [1, 4]),
        ("decoder.outputs.weight", vec![1.0, 0.0, 0.0, 1.0], [2, 2]),
    ];
    for (name, values, shape) in weights {
        learner.model.parameters.replace(name, values, &shape).unwrap();
    }
    let (found, total) = parts_of(&learner, 0, &[[1.0, 1.0, 1.0, 1.0], [1.2, 3.0, 1.2, 3.0]]);
    // The sample's standard deviation is e^-10 = 4.5e-5, which moves the reconstruction by about 1e-5.
    for (found, wanted) in found.iter().zip([0.01, 22.105, 0.5]) {
        assert!((found - wanted).abs() < 1e-4, "{found} is not {wanted}");
    }
    assert!((total - (0.01 + 2.0 * 22.105)).abs() < 1e-3, "{total}");
}

/// Two latents that are the two pixels, whose log-variances are -20, and in latent 0 `slope` times pixel 0 more. The decoder hands the latents back.
fn two_latents_of_unlike_variance(framework: &str, settings: &str, slope: f32) -> Learner {
    let mut learner = two_latents(framework, settings, -20.0, 1.0);
    let weight = vec![1.0, 0.0, slope, 0.0, 0.0, 1.0, 0.0, 0.0]; // [pixels, outputs]
    learner.model.parameters.replace("encoder.outputs.weight", weight, &[2, 4]).unwrap();
    learner
}

#[test]
fn ada_ml_vae_by_hand() {
    // One latent is never shared, so the parts are those of ada_gvae_by_hand.
    let found = parts("ada_ml_vae", "beta = 2.0", -200.0, &[IMAGES, [0.0, 0.0, 1.0, 3.0]]);
    close(&found, &[2.75, 100.25, 0.0], 2.75 + 2.0 * 100.25);

    // Pair (1, 1), (1.2, 3), twice: latent 0 differs by 0.2 and latent 1 by 2, so by the means alone latent 0 is shared. Its
    // log-variances are -20 + 5 ln 3 and -20 + 6 ln 3: precisions 3 and 1 in parts of e^20 / 3^6, so the mean is (3 * 1 + 1.2) / 4 =
    // 1.05 and the variance 3^6 e^-20 / 2, of logarithm -20 + 6 ln 3 - ln 2 = -14.1014735. Outputs (1.05, 1) and (1.05, 3):
    // squared errors 0.05^2 and 0.15^2, mean 0.0125, and the variances of both samples, 3^6 e^-20 / 2 = 7.5e-7. KL of latent 0 (1.05^2 - 1 +
    // 14.1014735) / 2 = 7.1019868, of latent 1 (1 - 1 + 20) / 2 = 10 and (9 - 1 + 20) / 2 = 14, in sum and mean 19.1019868.
    let pairs = [[1.0, 1.0, 1.0, 1.0], [1.2, 3.0, 1.2, 3.0]];
    let slope = 5.0 * 3.0_f32.ln();
    let parts_with = |settings: &str| {
        let settings = format!("beta = 2.0\ndistance = 'absolute_difference'\n{settings}");
        parts_of(&two_latents_of_unlike_variance("ada_ml_vae", &settings, slope), 0, &pairs)
    };
    let near = |found: (Vec<f32>, f32), parts: [f32; 3], total: f32| {
        for (found, wanted) in found.0.iter().chain([&found.1]).zip(parts.iter().chain([&total])) {
            // A sample is off by about sqrt(7.5e-7) = 8.7e-4, times an error of 0.15.
            assert!((found - wanted).abs() < 1e-3, "{found} is not {wanted}");
        }
    };
    near(parts_with(""), [0.0125, 19.101_987, 0.5], 0.0125 + 2.0 * 19.101_987);
    // In means the pixels are divided by 2, and so are the latents.
    near(parts_with("reduction = 'mean'"), [0.006_25, 9.550_993, 0.5], 0.006_25 + 2.0 * 9.550_993);
}

#[test]
fn ada_ae_by_hand() {
    // One latent is never shared: squared errors as in ada_gvae_by_hand, (1 + 9 + 0 + 1) / 4, in means half of it.
    let members = [IMAGES, [0.0, 0.0, 1.0, 3.0]];
    close(&parts("ada_ae", "", 0.0, &members), &[2.75, 0.0], 2.75);
    close(&parts("ada_ae", "reduction = 'mean'", 0.0, &members), &[1.375, 0.0], 1.375);

    // Two latents that are the two pixels, handed back. Pairs (1, 1), (1.2, 3) and (0, 2), (3, 0). The first shares latent 0, whose mean
    // 1.1 is off by 0.1 for each image. The second differs by 3 and 2: the threshold is 2.5, so latent 1 is shared, and
    // its mean 1 is off by 1 for each. Squared errors (0.01 + 1 + 0.01 + 1) / 4 = 0.505; half of the latents are shared.
    let pairs = [[1.0, 1.0, 0.0, 2.0], [1.2, 3.0, 3.0, 0.0]];
    close(&parts_of(&two_latents("ada_ae", "", 0.0, 1.0), 0, &pairs), &[0.505, 0.5], 0.505);
    // At eta 0 nothing is shared. Half way to 1 it is 1/2, and at 1 the larger distance alone is not below the threshold.
    let learner = two_latents("ada_ae", "eta = { from = 0.0, to = 1.0, steps = 4 }", 0.0, 1.0);
    close(&parts_of(&learner, 0, &pairs), &[0.0, 0.0], 0.0);
    close(&parts_of(&learner, 2, &pairs), &[0.505, 0.5], 0.505);
    close(&parts_of(&learner, 4, &pairs), &[0.505, 0.5], 0.505);
}

#[test]
fn slow_vae_by_hand() {
    // Codes 1 and 2 come before 0 and 1, so each frame lies 1 from the other. Reconstruction 2.75 and KL 100.25 as for `ada_gvae`. With hardly
    // any noise E|z| is 1, and the divergence from the Laplace distribution is -ln 3 + 6 - (ln 2 pi e - 200) / 2 = -1.0986123 + 6 + 98.5810615.
    let members = [IMAGES, [0.0, 0.0, 1.0, 3.0]];
    let slowness = 103.482_45;
    let total = 2.0 * 2.75 + 3.0 * 100.25 + 2.0 * slowness;
    close(&parts("slow_vae", "beta = 3.0\ngamma = 2.0", -200.0, &members), &[2.75, 100.25, slowness], total);
    // Means over 2 pixels, and over 1 latent.
    let total = 2.0 * 1.375 + 100.25 + 10.0 * slowness;
    close(&parts("slow_vae", "reduction = 'mean'", -200.0, &members), &[1.375, 100.25, slowness], total);
}

#[test]
fn slow_vae_with_noise_by_hand() {
    // Two latents that are the pixels, of variance 1, and outputs of 0. Frames (1, 0) and (1, 1), twice: one latent stays and the other changes
    // by 1. E|z| is sqrt(2 / pi) = 0.7978846 where the change is 0, and 0.7978846 e^-1/2 + erf(1 / sqrt 2) = 0.4839414 + 0.6826895 = 1.1666309
    // where it is 1 or -1. At rate 2, -ln 1 = 0: 2 (0.7978846 + 1.1666309) - ln 2 pi e = 3.9290310 - 2.8378771 for each frame.
    // Squared errors 1 and 2; KL 1/2 and 1.
    let learner = two_latents("slow_vae", "rate = 2.0", 0.0, 0.0);
    let found = parts_of(&learner, 0, &[[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]);
    close(&found, &[1.5, 0.75, 1.091_154], 2.0 * 1.5 + 0.75 + 10.0 * 1.091_154);
}

/// A linear encoder without decoder: latents are these sums of the two pixels.
fn pcl_learner(weight: [f32; 4], rows: &[(&str, &[f32])]) -> Learner {
    let mut learner = Parts::new(("pcl", ""), ("linear", "latents = 2"), SHAPE).learner();
    let parameters = &mut learner.model.parameters;
    parameters.replace("encoder.outputs.weight", weight.to_vec(), &[2, 2]).unwrap();
    for (name, values) in rows {
        parameters.replace(&format!("regression.{name}"), values.to_vec(), &[1, values.len()]).unwrap();
    }
    learner
}

#[test]
fn pcl_by_hand() {
    // Latents are the pixels. Pairs (1, 0) then (1, 1), and (0, 2) then (-1, 2); false pairs (0, 2) then (1, 1), and (1, 0) then (-1, 2).
    // At first r is the squared length of the later code less its absolute distance from the earlier: 2 - 1 = 1 and 5 - 1 = 4 for true pairs,
    // 2 - 2 = 0 and 5 - 4 = 1 for false ones. Cross-entropies ln(1 + e^-1) = 0.3132617, ln(1 + e^-4) = 0.0181500, ln 2 = 0.6931472,
    // ln(1 + e) = 1.3132617, mean 0.5844551. Of four pairs the true ones are told; odds of 1 tell nothing.
    let members = [[1.0, 0.0, 0.0, 2.0], [1.0, 1.0, -1.0, 2.0]];
    let found = parts_of(&pcl_learner([1.0, 0.0, 0.0, 1.0], &[]), 0, &members);
    close(&found, &[0.584_455_1, 0.5], 0.584_455_1);

    // Every number of the regression. Latent 0: |2 now - before + 1|, (now / 2 + 1)^2; latent 1: |now - 2 before - 1|, (now - 1)^2; c = -2.
    // Pair (1, 0), (1, 1): -|2| - |0| + 2.25 + 0 - 2 = -1.75. Pair (0, 2), (-1, 2): -|-1| - |-3| + 0.25 + 1 - 2 = -4.75. False: (0, 2), (1, 1):
    // -|3| - |-4| + 2.25 + 0 - 2 = -6.75; (1, 0), (-1, 2): -|-2| - |1| + 0.25 + 1 - 2 = -3.75. Cross-entropies ln(1 + e^1.75) = 1.9102242,
    // ln(1 + e^4.75) = 4.7586145, ln(1 + e^-6.75) = 0.0011702, ln(1 + e^-3.75) = 0.0232455: mean 1.6733136. The false ones are told.
    let rows: [(&str, &[f32]); 6] = [
        ("now", &[2.0, 1.0]),
        ("before", &[-1.0, -2.0]),
        ("offset", &[1.0, -1.0]),
        ("marginal", &[0.5, 1.0]),
        ("marginal_offset", &[1.0, -1.0]),
        ("constant", &[-2.0]),
    ];
    let found = parts_of(&pcl_learner([1.0, 0.0, 0.0, 1.0], &rows), 0, &members);
    close(&found, &[1.673_313_6, 0.5], 1.673_313_6);
}

/// A discriminator of width 1 for two latents, and a generator of the image (0.5, 0.25) whatever the latents. Codes are the pixels, with a
/// variance of 4.
fn weak_gan(settings: &str) -> Learner {
    let chosen = if settings.contains("reconstruction") { "" } else { "reconstruction = 'mse'" };
    let settings = format!("width = 1\n{chosen}\n{settings}");
    let mut learner = two_latents("weak_gan", &settings, 4.0_f32.ln(), 0.0);
    let weights: [(&str, &[f32], [usize; 2]); 8] = [
        ("decoder.outputs.bias", &[0.5, 0.25], [1, 2]),
        ("discriminator.encoder.outputs.weight", &[3.0, 4.0], [2, 1]),
        ("discriminator.neck0.weight", &[3.0, -4.0], [2, 1]),
        ("discriminator.neck0.bias", &[0.5], [1, 1]),
        ("discriminator.neck1.weight", &[-2.0], [1, 1]),
        ("discriminator.neck1.bias", &[1.0], [1, 1]),
        ("discriminator.head.weight", &[0.5], [1, 1]),
        ("discriminator.projections", &[1.0, -0.1], [2, 1]),
    ];
    for (name, values, shape) in weights {
        learner.model.parameters.replace(name, values.to_vec(), &shape).unwrap();
    }
    learner
}

#[test]
fn weak_gan_by_hand() {
    // A column's largest singular value is its length: (3, 4) becomes (0.6, 0.8), -2 becomes -1 and 0.5 becomes 1. So the feature of an image
    // is f = leaky(0.6 x0 + 0.8 x1), what is made of a pair is h = leaky(1 - leaky(0.6 f - 0.8 f' + 0.5)), and its logit
    // h (1 + p), where p is 1 / sqrt(1.001) = 0.9995004 or -0.1 / sqrt(0.011) = -0.9534626 by what is shared.
    // Real pair (1, 0.5), (0, 1), sharing 0: f = 1 and 0.8, h = 1 - 0.46 = 0.54, logit 1.0797302. Real pair (2, 1), (0, -1), sharing 1: f = 2
    // and 0.2 * -0.8 = -0.16, h = leaky(1 - 1.828) = -0.1656, logit -0.0077066. Generated pairs: f = 0.5 twice, h = 1 - 0.4 = 0.6, logits
    // 1.1997002 and 0.0279224.
    // Discriminator: ln(1 + e^-1.0797302) = 0.2924361 and 0.6970079 of real pairs, ln(1 + e^1.1997002) = 1.4630521 and 0.7072059 of
    // generated ones; their mean is 0.7899255. Generator: (0.2633519 + 0.6792834) / 2 = 0.4713176. One real pair is told, no generated one.
    let learner = weak_gan("");
    let pairs = [[1.0, 0.5, 2.0, 1.0], [0.0, 1.0, 0.0, -1.0]];
    // Encoder: ((z - m)^2 / 4 + ln 4 + ln 2 pi) / 2 of each latent, for the first draws of the step, z, [2, 2], and m = (0.5, 0.25).
    let mut noise = Seed(3).stream_at("noise", 0);
    let draws: Vec<f64> = (0..4).map(|_| noise.sample(StandardNormal)).collect();
    let distance: f64 = draws.iter().zip([0.5, 0.25, 0.5, 0.25]).map(|(z, m)| (z - m).powi(2) / 4.0).sum();
    let encoder = (distance / 2.0 + 2.0 * (8.0 * std::f64::consts::PI).ln()) / 2.0;
    let encoder = encoder as f32;
    close(&parts_of(&learner, 0, &pairs), &[encoder, 0.471_317_6, 0.789_925_5, 0.5, 0.0], encoder + 0.471_317_6);
    // In means the encoder's part is that of a latent.
    let found = parts_of(&weak_gan("reduction = 'mean'"), 0, &pairs);
    close(&found, &[encoder / 2.0, 0.471_317_6, 0.789_925_5, 0.5, 0.0], encoder / 2.0 + 0.471_317_6);
}

#[test]
fn weak_gan_sees_generated_images_as_pixels() {
    // As logits, 0.5 and 0.25 are pixels of 1 / (1 + e^-0.5) = 0.6224593 and 0.5621765: f = 0.8232168 for both images of a pair,
    // h = 1 - (0.5 - 0.2 f) = 0.6646434, logits 1.3289547 and 0.0309308; ln(1 + e^-x) of them 0.2348775 and 0.6778014.
    let (parts, _) = parts_of(&weak_gan("reconstruction = 'bce'"), 0, &[[0.5; 4], [0.5; 4]]);
    assert!((parts[1] - 0.456_339_5).abs() < 1e-5, "{parts:?}");
}

/// Two triplets: anchors (0, 0) and (1, 2), positives (1, 0) and (2, 3), negatives (0.5, 4) and (4, 2). Latents are pixels and the decoder
/// doubles them, so an image's squared error is its own square: 0 + 5, 1 + 13 and 16.25 + 20, of which the mean is 9.2083333, and half of
/// that of a pixel. KL 199 and half the square: 203.6041667, and half of that of a latent.
const TRIPLETS: [[f32; 4]; 3] = [[0.0, 0.0, 1.0, 2.0], [1.0, 0.0, 2.0, 3.0], [0.5, 4.0, 4.0, 2.0]];

const OF_TRIPLETS: [f32; 2] = [9.208_333, 203.604_17];

#[test]
fn beta_tvae_by_hand() {
    // L1 from anchor to positive: 1 and 2; to negative: 4.5 and 3. So 10 + 1 - 4.5 and 10 + 2 - 3: mean 7.75.
    let [error, kl] = OF_TRIPLETS.map(|sum| sum / 2.0);
    let found = parts_of(&two_latents("beta_tvae", "", -200.0, 2.0), 0, &TRIPLETS);
    close(&found, &[error, kl, 7.75], error + 0.01 * kl + 7.75);
    // In sums the triplet loss is what it was.
    let settings = "reduction = 'sum'\nbeta = 2.0\nalpha = 3.0\nmargin = 2.0";
    let found = parts_of(&two_latents("beta_tvae", settings, -200.0, 2.0), 0, &TRIPLETS);
    // With a margin of 2 the first triplet has no loss, the second 2 + 2 - 3.
    close(&found, &[OF_TRIPLETS[0], OF_TRIPLETS[1], 0.5], OF_TRIPLETS[0] + 2.0 * OF_TRIPLETS[1] + 1.5);
}

#[test]
fn tae_by_hand() {
    let error = OF_TRIPLETS[0] / 2.0;
    for (settings, triplet) in [
        ("", 7.75),
        // ln(1 + e^-3.5) = 0.0297504 and ln(1 + e^-1) = 0.3132617.
        ("triplet = 'soft'", 0.171_506_05),
        // L2 to the positive: 1 and 1.4142136; to the negative 4.0311289 and 3. Hard: 0 and 0.4142136; soft: of excesses -3.0311289 and
        // -1.5857864, 0.0471327 and 0.1863025.
        ("distance = 'l2'\nmargin = 2.0", 0.207_106_8),
        ("distance = 'l2'\ntriplet = 'soft'", 0.116_717_62),
    ] {
        let found = parts_of(&two_latents("tae", settings, 0.0, 2.0), 0, &TRIPLETS);
        close(&found, &[error, triplet], error + triplet);
    }
}

#[test]
fn ada_tvae_and_ada_tae_by_hand() {
    // Anchor and negative differ by (0.5, 4) and (3, 0). With eta 1/2 the thresholds are 2.25 and 1.5, with 1/4 they are 1.375 and 0.75: the
    // first latent of the first triplet and the second of the second are shared, half of all. With eta 0 none is below the least.
    // So the distances to the negatives are 4 + omega / 2 and 3, and the loss the mean of 7 - omega / 2 and 9.
    let [error, kl] = OF_TRIPLETS.map(|sum| sum / 2.0);
    for (schedule, step, shared, omega, eta) in [
        ("threshold", 0, 0.0, 0.5, 0.0),
        ("threshold", 50, 0.5, 0.5, 0.25),
        ("weight_weak", 0, 0.5, 1.0, 0.5),
        ("weight_weak", 50, 0.5, 0.75, 0.5),
        ("weight_strong", 50, 0.5, 0.5, 0.5),
        ("weight_strong", 300, 0.5, 0.0, 0.5),
        ("both_weak", 50, 0.5, 0.75, 0.25),
        ("both_strong", 0, 0.0, 1.0, 0.0),
        ("both_strong", 100, 0.5, 0.0, 0.5),
    ] {
        let weight = if shared == 0.0 { 1.0 } else { omega };
        let triplet = (7.0 - 0.5 * weight + 9.0) / 2.0;
        let settings = format!("schedule = '{schedule}'\nschedule_steps = 100");
        let found = parts_of(&two_latents("ada_tvae", &settings, -200.0, 2.0), step, &TRIPLETS);
        close(&found, &[error, kl, triplet, shared, omega, eta], error + 0.01 * kl + triplet);
        let found = parts_of(&two_latents("ada_tae", &settings, 0.0, 2.0), step, &TRIPLETS);
        close(&found, &[error, triplet, shared, omega, eta], error + triplet);
    }
}

/// How far apart two images are, from the definitions alone. A logarithm is at least -100, as in PyTorch.
fn perceived_distance(loss: &str, first: &[f32], second: &[f32]) -> f64 {
    let pixels = first.iter().zip(second).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let log = |share: f64| share.ln().max(-100.0);
    let of_pixel = |(a, b): (f64, f64)| match loss {
        "mse" => (a - b).powi(2),
        "mae" => (a - b).abs(),
        _ => -b * log(a) - (1.0 - b) * log(1.0 - a),
    };
    pixels.map(of_pixel).sum()
}

/// The triplets are those that the noise of the step draws, after that of the samples; what is closer to the anchor is the positive.
#[test]
fn ada_tvae_data_orders_its_triplets_by_perceived_distance() {
    let images = [0.1, 0.9, 0.35, 0.2, 0.0, 1.0, 0.8, 0.77, 0.52, 0.07, 1.0, 0.3];
    let image = |row: usize| &images[2 * row..2 * row + 2];
    let (n_triplets, margin, omega) = (40, 1.0, 0.25);
    for (step, (loss, settings)) in [
        ("mse", ""),
        ("mae", "reconstruction = 'mae'"),
        ("mae", "perceived = 'mae'"),
        ("bce", "perceived = 'bce'"),
        ("bce", "reconstruction = 'bce'"),
        ("mse", "reconstruction = 'bce'\nperceived = 'mse'"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut noise = Seed(3).stream_at("noise", step as u64);
        let _of_samples: Vec<f32> = (0..12).map(|_| noise.sample(StandardNormal)).collect();
        let [anchors, firsts, seconds] =
            [(); 3].map(|()| -> Vec<usize> { (0..n_triplets).map(|_| noise.random_range(0..6)).collect() });
        let (mut total, mut n_swapped) = (0.0, 0);
        for ((anchor, first), second) in anchors.into_iter().zip(firsts).zip(seconds) {
            let [to_first, to_second] =
                [first, second].map(|other| perceived_distance(loss, image(anchor), image(other)));
            let is_ordered = to_first <= to_second;
            n_swapped += usize::from(!is_ordered);
            let (positive, negative) = if is_ordered { (first, second) } else { (second, first) };
            let differences = |other: usize| -> Vec<f32> {
                image(anchor).iter().zip(image(other)).map(|(a, b)| (a - b).abs()).collect()
            };
            let to_negative = differences(negative);
            // Of two latents the smaller difference is below the threshold in their middle.
            let (least, most) = (to_negative[0].min(to_negative[1]), to_negative[0].max(to_negative[1]));
            let weighted = if least < most { omega * least + most } else { least + most };
            total += (margin + differences(positive).iter().sum::<f32>() - weighted).max(0.0);
        }
        assert!((5..n_triplets - 5).contains(&n_swapped), "{n_swapped} of {n_triplets} were swapped");
        let settings =
            format!("schedule = 'custom'\nomega = {omega:?}\nmargin = {margin:?}\ntriplets = {n_triplets}\n{settings}");
        let learner = two_latents("ada_tvae_data", &settings, -200.0, 1.0);
        let (found, _) = parts_of(&learner, step as u64, &[images]);
        let wanted = total / n_triplets as f32;
        assert!((found[2] - wanted).abs() < 1e-5, "{settings}: {} is not {wanted}", found[2]);
        assert_eq!(found[4..], [omega, 0.5], "{settings}");
    }
}

#[test]
fn ada_tvae_data_by_hand() {
    // Two images, (0, 0) and (0.5, 4): all parts but the triplet loss are those of two images. Squared errors 0 and 16.25, mean 8.125; KL 199
    // and 199 + 8.125, mean 203.0625. Where all codes of a triplet are the same, 10; where the negative is the other image, 10 - 4 - omega
    // / 2; and where both are, (10 + 4.5) - 4 - omega / 2. Omega is 1 at first: between 5.5 and 10, and here it has no weight.
    let learner = two_latents("ada_tvae_data", "alpha = 0.0\ntriplets = 9", -200.0, 2.0);
    let (found, total) = parts_of(&learner, 0, &[[0.0, 0.0, 0.5, 4.0]]);
    close(&(found[..2].to_vec(), total), &[8.125 / 2.0, 203.0625 / 2.0], 8.125 / 2.0 + 0.01 * 203.0625 / 2.0);
    assert_eq!(found[4..], [1.0, 0.5]);
    assert!((5.5..=10.0).contains(&found[2]), "{found:?}");
}
