//! What frameworks estimate or control, against the truth.

use crate::support::{POINT, Parts, batch, batch_of, losses};
use rand::RngExt;
use rand_distr::StandardNormal;
use unbraid_data::{ImageShape, Seed};
use unbraid_learn::tensors::floats;
use unbraid_learn::{Batch, Learner, StepLosses};

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

/// An encoder of two latents of correlation `correlation` over standard normal points, and posteriors of this variance.
fn set_correlated_encoder(learner: &mut Learner, correlation: f32, variance: f32) {
    let rest = (1.0 - correlation * correlation).sqrt();
    let weight = vec![1.0, correlation, 0.0, 0.0, 0.0, rest, 0.0, 0.0]; // [pixels, means and log-variances]
    let bias = vec![0.0, 0.0, variance.ln(), variance.ln()];
    learner.model.parameters.replace("encoder.outputs.weight", weight, &[2, 4]).unwrap();
    learner.model.parameters.replace("encoder.outputs.bias", bias, &[1, 4]).unwrap();
}

/// The means of the parts after the reconstruction, over this many batches of standard normal points, said to be of so many images.
fn mean_parts(learner: &Learner, n_batches: u64, n_batch: usize, n_images: usize) -> [f64; 3] {
    let mut means = [0.0; 3];
    for step in 0..n_batches {
        let mut rng = Seed(9).stream_at("points", step);
        let points = (0..n_batch * 2).map(|_| rng.sample(StandardNormal)).collect();
        let batch = Batch { n_images, ..batch_of(learner, step, vec![points]) };
        let (_, parts) = losses(learner, &batch).read_out();
        means.iter_mut().zip(&parts[1..]).for_each(|(mean, part)| *mean += f64::from(part.value) / n_batches as f64);
    }
    means
}

#[test]
fn both_estimators_come_to_the_terms_of_a_gaussian_where_the_batch_is_large() {
    // Latents have variance 1 + v and covariance r. With the correlation c = r / (1 + v) the total correlation is -ln(1 - c^2) / 2,
    // the information ln(det S / v^2) / 2, and the dimension-wise KL twice (v - ln(1 + v)) / 2. A batch that is all there is: the
    // weights of `minibatch` sum to 1 / N in place of 1, which shifts ln q(z) by -ln N and both ln q(z_l) together by -2 ln N (the
    // paper's bias, here exactly); those of `stratified` sum to 1.
    let (r, v, n) = (0.9_f64, 0.3_f64, 1024);
    let c = r / (1.0 + v);
    let truth = [0.5 * (((1.0 + v).powi(2) - r * r) / (v * v)).ln(), -0.5 * (1.0 - c * c).ln(), v - (1.0 + v).ln()];
    let of_all = (n as f64).ln();
    for (estimator, shift) in [("minibatch", [of_all, of_all, -2.0 * of_all]), ("stratified", [0.0; 3])] {
        let settings = format!("estimator = '{estimator}'");
        let mut learner = Parts::new(("beta_tc_vae", &settings), ("linear", "latents = 2"), PLANE).learner();
        set_correlated_encoder(&mut learner, r as f32, v as f32);
        let found = mean_parts(&learner, 16, n, n);
        for place in 0..3 {
            // 16,384 codes know a mean of spread 1 to 0.008.
            let wanted = truth[place] + shift[place];
            assert!((found[place] - wanted).abs() < 0.03, "{estimator}: {found:?}, truth {truth:?}, shift {shift:?}");
        }
    }
}

#[test]
fn a_small_batch_of_many_images_overestimates_the_information_as_the_paper_says() {
    // Both estimators of ln q(z) are below the truth in expectation (Jensen; eq 3 has smaller weights, too), so that of the
    // information is above it. Of both, `stratified` is nearer.
    let (r, v) = (0.9_f64, 0.3_f64);
    let truth = 0.5 * (((1.0 + v).powi(2) - r * r) / (v * v)).ln();
    let found = ["minibatch", "stratified"].map(|estimator| {
        let settings = format!("estimator = '{estimator}'");
        let mut learner = Parts::new(("beta_tc_vae", &settings), ("linear", "latents = 2"), PLANE).learner();
        set_correlated_encoder(&mut learner, r as f32, v as f32);
        mean_parts(&learner, 200, 16, 100_000)
    });
    let [minibatch, stratified] = found.map(|parts| parts[0]);
    assert!(truth < stratified && stratified < minibatch, "{truth} {found:?}");
    // Both are estimates of the same KL divergence from the same samples: its mean over 3,200 codes is (|m|^2 + 2 v - 2 - 2 ln v) / 2.
    let kl = (2.0 + 2.0 * v - 2.0 - 2.0 * v.ln()) / 2.0;
    for parts in found {
        let sum: f64 = parts.iter().sum();
        assert!((sum - kl).abs() < 0.1, "{parts:?} add up to {sum}, not {kl}");
    }
}

/// The three terms of beta-TCVAE in f64, term by term as eq 3 and appendix C.2 are written, from means, samples and one
/// log-variance for all.
fn terms_in_f64(
    means: &[[f64; 2]],
    samples: &[[f64; 2]],
    log_variance: f64,
    weight: &dyn Fn(usize, usize) -> f64,
) -> [f64; 3] {
    let density = |z: f64, mean: f64, variance: f64| {
        (-(z - mean).powi(2) / (2.0 * variance)).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
    };
    let variance = log_variance.exp();
    let n = means.len();
    let mut terms = [0.0; 3];
    for (i, z) in samples.iter().enumerate() {
        let of_latent = |j: usize, l: usize| density(z[l], means[j][l], variance);
        let joint = (0..n).map(|j| weight(i, j) * of_latent(j, 0) * of_latent(j, 1)).sum::<f64>().ln();
        let marginals = (0..2).map(|l| (0..n).map(|j| weight(i, j) * of_latent(j, l)).sum::<f64>().ln()).sum::<f64>();
        let prior = (density(z[0], 0.0, 1.0) * density(z[1], 0.0, 1.0)).ln();
        let given_image = (of_latent(i, 0) * of_latent(i, 1)).ln();
        for (term, value) in terms.iter_mut().zip([given_image - joint, joint - marginals, marginals - prior]) {
            *term += value / n as f64;
        }
    }
    terms
}

/// What image `j` weighs in the density of code `i`.
type Weight<'a> = &'a dyn Fn(usize, usize) -> f64;

#[test]
fn terms_of_beta_tc_vae_are_those_of_plain_f64() {
    let (n_batch, n_images, variance) = (7, 50.0_f64, 0.4_f32);
    let stratified = |i: usize, j: usize| match (j + n_batch - i) % n_batch {
        0 => 1.0 / n_images,
        1 => (n_images - 6.0) / (n_images * 6.0),
        _ => 1.0 / 6.0,
    };
    let minibatch = |_: usize, _: usize| 1.0 / (n_images * 7.0);
    let cases: [(&str, Weight); 2] = [("minibatch", &minibatch), ("stratified", &stratified)];
    for (estimator, weight) in cases {
        let settings = format!("estimator = '{estimator}'");
        let mut learner = Parts::new(("beta_tc_vae", &settings), ("linear", "latents = 2"), PLANE).learner();
        set_correlated_encoder(&mut learner, 0.0, variance);
        let points: Vec<f32> = (0..14_u8).map(|i| (f32::from(i) * 1.7).sin()).collect();
        let batch = Batch { n_images: 50, ..batch_of(&learner, 0, vec![points.clone()]) };
        let (_, parts) = losses(&learner, &batch).read_out();
        let mut noise = Seed(3).stream_at("noise", 0);
        let means: Vec<[f64; 2]> = points.chunks(2).map(|point| [point[0], point[1]].map(f64::from)).collect();
        let mut sampled =
            |mean: f64| mean + f64::from(variance).sqrt() * f64::from(noise.sample::<f32, _>(StandardNormal));
        let samples: Vec<[f64; 2]> = means.iter().map(|mean| mean.map(&mut sampled)).collect();
        let wanted = terms_in_f64(&means, &samples, f64::from(variance).ln(), weight);
        for (part, wanted) in parts[1..].iter().zip(wanted) {
            assert!((f64::from(part.value) - wanted).abs() < 1e-5, "{estimator}: {parts:?}, {wanted}");
        }
    }
}

#[test]
fn annealed_vae_holds_the_capacity() {
    for wanted in [2.0, 6.0] {
        let settings = format!("capacity = {{ from = 0.0, to = {wanted:?}, steps = 1500 }}");
        let network = ("mlp", "latents = 4\nencoder = [32]\ndecoder = [32]");
        let mut learner = Parts::new(("annealed_vae", &settings), network, POINT).learner();
        let found = mean_at_the_end(&mut learner, 3000, 1000, 1e-3, "kl");
        assert!((found - wanted).abs() < 0.05 * wanted, "{found} is not {wanted}");
    }
}

/// The mean of a kernel `k(d^2 / C)` over differences `d` that are normal, by the sum over a fine grid.
fn mean_of_kernel(kernel: fn(f64) -> f64, scale: f64, mean: f64, variance: f64) -> f64 {
    let step = 1e-3 * variance.sqrt();
    let density =
        |d: f64| (-(d - mean).powi(2) / (2.0 * variance)).exp() / (2.0 * std::f64::consts::PI * variance).sqrt();
    (-10_000..=10_000).map(|i| mean + f64::from(i) * step).map(|d| kernel(d * d / scale) * density(d) * step).sum()
}

/// A function of a squared distance.
type Kernel = fn(f64) -> f64;

#[test]
fn the_discrepancy_of_two_gaussians_is_met_without_bias() {
    // Codes x0 / 2 + 1 with a posterior variance of 0.2 are N(1, 0.45); the prior is N(0, 1). A difference of two codes is then
    // N(0, 0.9), of two draws N(0, 2), of one of each N(1, 1.45); C = 2 b^2.
    let kernels: [(&str, Kernel); 2] = [("rbf", |d| (-d).exp()), ("imq", |d| 1.0 / (1.0 + d))];
    for (name, kernel) in kernels {
        let (bandwidth, n_batches, n_batch) = (0.7_f64, 4000, 8);
        let scale = 2.0 * bandwidth * bandwidth;
        let at = |mean: f64, variance: f64| mean_of_kernel(kernel, scale, mean, variance);
        let truth = at(0.0, 0.9) + at(0.0, 2.0) - 2.0 * at(1.0, 1.45);
        if name == "rbf" {
            // E exp(-d^2 / C) = (1 + 2 v / C)^(-1/2) exp(-m^2 / (C + 2 v)).
            let closed = |m: f64, v: f64| (1.0 + 2.0 * v / scale).powf(-0.5) * (-m * m / (scale + 2.0 * v)).exp();
            let closed = closed(0.0, 0.9) + closed(0.0, 2.0) - 2.0 * closed(1.0, 1.45);
            assert!((truth - closed).abs() < 1e-9, "{truth} is not {closed}");
        }
        let settings = format!("kernel = '{name}'\nbandwidth = {bandwidth}");
        let mut learner = Parts::new(("info_vae", &settings), ("linear", "latents = 1"), PLANE).learner();
        learner.model.parameters.replace("encoder.outputs.weight", vec![0.5, 0.0, 0.0, 0.0], &[2, 2]).unwrap();
        learner.model.parameters.replace("encoder.outputs.bias", vec![1.0, 0.2_f32.ln()], &[1, 2]).unwrap();
        let values: Vec<f64> = (0..n_batches)
            .map(|step| {
                let mut rng = Seed(9).stream_at("points", step);
                let points = (0..n_batch * 2).map(|_| rng.sample(StandardNormal)).collect();
                f64::from(losses(&learner, &batch_of(&learner, step, vec![points])).read_out().1[2].value)
            })
            .collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        let error = spread / (values.len() as f64).sqrt();
        // With each code beside itself it would be larger by (2 - k - k') / 8, some 0.08.
        assert!((mean - truth).abs() < 4.0 * error && error < 0.01, "{name}: {mean} is not {truth}, {error}");
    }
}

#[test]
fn dynamic_vae_holds_the_kl_that_it_is_told_to_hold() {
    for wanted in [2.0, 6.0] {
        let settings = format!("kl = {wanted:?}\nintegral = 0.01\nbeta_first = 20.0\nbeta_min = 0.0");
        let network = ("mlp", "latents = 4\nencoder = [32]\ndecoder = [32]");
        let mut learner = Parts::new(("dynamic_vae", &settings), network, POINT).learner();
        let found = mean_at_the_end(&mut learner, 5000, 1000, 2e-3, "kl");
        assert!((found - wanted).abs() < 0.03 * wanted, "{found} is not {wanted}");
    }
}

/// Two latents whose KL divergences are these, whatever the image, and outputs of 0.
fn with_divergences(framework: (&str, &str), kls: [f64; 2]) -> Learner {
    let mut learner = Parts::new(framework, ("linear", "latents = 2"), PLANE).learner();
    let [first, second] = kls.map(|kl| (2.0 * kl).sqrt() as f32); // variance 1: KL is half the squared mean
    let parameters = &mut learner.model.parameters;
    parameters.replace("encoder.outputs.weight", vec![0.0; 8], &[2, 4]).unwrap();
    parameters.replace("encoder.outputs.bias", vec![first, second, 0.0, 0.0], &[1, 4]).unwrap();
    parameters.replace("decoder.outputs.weight", vec![0.0; 4], &[2, 2]).unwrap();
    learner
}

/// Steps of the sigmas alone, on images whose squares sum up to 5; all else stands still. Gives the numbers that are logged in the end.
fn settled(mut learner: Learner, steps: usize) -> impl Fn(&str) -> f64 {
    let batch = batch_of(&learner, 0, vec![vec![1.0, 2.0]]);
    let names: Vec<String> = learner.model.parameters.iter().map(|(name, _)| name.to_string()).collect();
    for _ in 0..steps {
        let gradients = losses(&learner, &batch).total().backward();
        let is_sigma = |position: usize| names[position].starts_with("sigma.");
        learner.model.parameters.update(gradients, is_sigma, |_, values, gradient| values - gradient * 0.1);
    }
    let (_, parts) = losses(&learner, &batch).read_out();
    move |name| f64::from(parts.iter().find(|part| part.name == name).unwrap().value)
}

#[test]
fn the_weights_of_l_vae_settle_at_the_closed_form_from_anywhere() {
    // Reconstruction 5 and KL 2 + 0.1: sigma0^2 = sqrt(5), sigma1^2 = sqrt(2.1), beta-hat = sqrt(5 / 2.1).
    for (sigma0, sigma1) in [(1.0, 1.0), (0.5, 3.0), (3.0, 0.5), (2.0, 2.0)] {
        let settings = format!("sigma0 = {sigma0:?}\nsigma1 = {sigma1:?}");
        let found = settled(with_divergences(("l_vae", &settings), [2.0, 0.1]), 400);
        for (name, wanted) in
            [("sigma0", 5.0_f64.powf(0.25)), ("sigma1", 2.1_f64.powf(0.25)), ("beta_hat", (5.0_f64 / 2.1).sqrt())]
        {
            assert!((found(name) - wanted).abs() < 1e-4 * wanted, "{name} is {} and not {wanted}", found(name));
        }
    }
}

#[test]
fn the_sigmas_of_mdl_vae_settle_at_the_closed_form() {
    // Where d/du of K / (1 + ln(1 + u)) + u is 0, for u = sigma^2: (1 + ln(1 + u))^2 (1 + u) = K; 0 where K is below 1.
    let strong = |kl: f64| {
        let excess = |u: f64| (1.0 + u.ln_1p()).powi(2) * (1.0 + u) - kl;
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if excess(middle) < 0.0 { low = middle } else { high = middle }
        }
        low
    };
    // The same for K / (1 + L) + L / N with L = ln(1 + u), for K / u + u, and for K / u + ln(1 + u), where u^2 = K (1 + u).
    let weak = |kl: f64, n: f64| (((n * kl).sqrt() - 1.0).exp() - 1.0).max(0.0);
    let third = |kl: f64| (kl + (kl * kl + 4.0 * kl).sqrt()) / 2.0;
    let (reconstruction, kls) = (5.0, [2.0, 0.32]);
    let cases = [
        ("strong", strong(reconstruction), kls.map(strong)),
        ("weak", strong(reconstruction), kls.map(|kl| weak(kl, 2.0))),
        ("v1", weak(reconstruction, 1.0), kls.map(|kl| weak(kl, 1.0))),
        ("v2", reconstruction.sqrt(), kls.map(f64::sqrt)),
        ("v3", third(reconstruction), kls.map(third)),
    ];
    for (variant, of_reconstruction, of_latents) in cases {
        let settings = format!("variant = '{variant}'");
        let found = settled(with_divergences(("mdl_vae", &settings), kls), 3000);
        let wanted = [("sigma_r", of_reconstruction), ("sigma_z0", of_latents[0]), ("sigma_z1", of_latents[1])];
        for (name, wanted) in wanted {
            let square = found(name).powi(2);
            // The way to 0 has no end: after n steps of 0.1 the square is some 10 / n.
            let allowed = if wanted == 0.0 { 0.03 } else { 1e-3 * wanted };
            assert!((square - wanted).abs() < allowed, "{variant}: {name}^2 is {square} and not {wanted}");
        }
    }
}

#[test]
fn losses_that_vanish_leave_every_sigma_above_zero_and_every_number_finite() {
    // Images of 0 are reconstructed exactly by latents that tell nothing.
    let frameworks = ["strong", "weak", "v1", "v2", "v3"].map(|variant| ("mdl_vae", format!("variant = '{variant}'")));
    for (framework, settings) in frameworks.into_iter().chain([("l_vae", String::new())]) {
        let mut learner = Parts::new((framework, &settings), ("linear", "latents = 2"), PLANE).learner();
        for step in 0..4000 {
            let batch = batch_of(&learner, step, vec![vec![0.0; 32]]);
            let losses = learner.step(&batch, 0.1).unwrap();
            let sigmas = losses.parts.iter().filter(|part| part.name.starts_with("sigma"));
            assert!(sigmas.clone().count() >= 2);
            sigmas.for_each(|sigma| assert!(sigma.value > 0.0, "{framework} {settings}: {sigma:?} at step {step}"));
        }
        let parameters = learner.model.parameters.iter().flat_map(|(_, values)| floats(values.clone().inner()));
        assert!(parameters.into_iter().all(f32::is_finite), "{framework} {settings}");
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
