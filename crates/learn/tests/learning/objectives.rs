//! One step of every objective against `reference/objectives`, where PyTorch computes it in double precision from the papers: all parts of
//! the loss, and its gradient by every parameter.
//!
//! `UPDATE_OBJECTIVES=1` writes the noise that a step draws into the inputs, for the values to be computed anew.

use std::path::PathBuf;

use crate::support::{POINT, Parts, batch_of, losses};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use unbraid_data::{Rng, Seed};
use unbraid_learn::frameworks::FRAMEWORKS;
use unbraid_learn::losses::{Losses, MAIN};
use unbraid_learn::posteriors::noise::{gumbel, normal};
use unbraid_learn::tensors::floats;
use unbraid_learn::{Device, Learner};

const NETWORK: (&str, &str) = ("mlp", "latents = 4\nencoder = [5]\ndecoder = [4]\nnonlinearity = 'tanh'");
const LATENTS: usize = 4;
const BATCH: usize = 6;
/// Triples that `ada_tvae_data` draws from a batch.
const TRIPLES: usize = 10;

/// A framework, and the name under which its values stand.
struct Case {
    values: String,
    framework: &'static str,
    settings: String,
    /// Parameters of its own that are called something else there: our name, and theirs.
    own: &'static [(&'static str, &'static [&'static str])],
}

/// A case without parameters of its own.
fn plain(values: &str, framework: &'static str, settings: &str) -> Case {
    with_own(values, framework, settings, &[])
}

fn with_own(
    values: &str,
    framework: &'static str,
    settings: &str,
    own: &'static [(&'static str, &'static [&'static str])],
) -> Case {
    Case { values: values.to_string(), framework, settings: settings.to_string(), own }
}

fn mdl(values: &str, settings: &str) -> Case {
    let own: &[(&str, &[&str])] = &[
        ("sigma.log_square_of_reconstruction", &["sigma.reconstruction"]),
        ("sigma.log_squares_of_latents", &["sigma.latents"]),
    ];
    with_own(values, "mdl_vae", settings, own)
}

fn cases_of_single_images() -> Vec<Case> {
    vec![
        plain("ae", "ae", ""),
        plain("vae", "vae", ""),
        plain("beta_vae", "beta_vae", "beta = 4.0"),
        plain("beta_vae_full", "beta_vae_full", "beta = 4.0"),
        plain("annealed_vae", "annealed_vae", "gamma = 1000.0\ncapacity = 5.0"),
        plain("control_vae", "control_vae", "kl = 0.25"),
        plain("dynamic_vae", "dynamic_vae", "window = 5\nbeta_min = 0.1"),
        plain("sigma_vae", "sigma_vae", ""),
        plain("sigma_vae_optimal", "sigma_vae", "sigma = 'optimal'"),
        with_own("l_vae", "l_vae", "", &[("sigma.log_squares", &["sigma.reconstruction", "sigma.kl"])]),
        mdl("mdl_vae_strong", "variant = 'strong'"),
        mdl("mdl_vae_weak", "variant = 'weak'"),
        mdl("mdl_vae_v1", "variant = 'v1'"),
        mdl("mdl_vae_v2", "variant = 'v2'"),
        mdl("mdl_vae_v3", "variant = 'v3'"),
        plain("beta_tc_vae_minibatch", "beta_tc_vae", "beta = 6.0\nestimator = 'minibatch'"),
        plain("beta_tc_vae_stratified", "beta_tc_vae", "beta = 6.0\nestimator = 'stratified'"),
        plain("dip_vae_i", "dip_vae_i", "lambda_offdiagonal = 10.0\nlambda_diagonal = 100.0"),
        plain("dip_vae_ii", "dip_vae_ii", "lambda_offdiagonal = 10.0\nlambda_diagonal = 10.0"),
        plain("info_vae", "info_vae", "alpha = 0.0\nlambda = 1000.0\nbandwidth = 1.4142135623730951"),
        plain(
            "joint_vae",
            "joint_vae",
            "gamma = 30.0\ncapacity_continuous = 1.0\ncapacity_discrete = 0.25\nclasses = [2]\ntemperature = 0.67",
        ),
        with_own("qlae", "qlae", "reduction = 'sum'", &[("codebooks.values", &["codebook.values"])]),
        plain("hfs", "hfs", "beta = 1.0\ngamma = 1.0"),
        plain("vae_orthogonal", "vae_orthogonal", "beta = 1.0\nweight = 1.0"),
        plain("dfc_vae", "dfc_vae", "features = 'features'"),
        plain("factor_vae", "factor_vae", "gamma = 10.0\nwidth = 3"),
    ]
}

fn cases_of_pairs() -> Vec<Case> {
    let mut cases = vec![
        plain("ada_ae", "ada_ae", ""),
        plain("ada_ae_eta", "ada_ae", "eta = 0.8"),
        plain("slow_vae", "slow_vae", ""),
        with_own(
            "pcl",
            "pcl",
            "",
            &[
                ("regression.now", &["regression.a1"]),
                ("regression.before", &["regression.a2"]),
                ("regression.offset", &["regression.b"]),
                ("regression.marginal", &["regression.abar"]),
                ("regression.marginal_offset", &["regression.bbar"]),
                ("regression.constant", &["regression.c"]),
            ],
        ),
        with_own(
            "weak_gan",
            "weak_gan",
            "width = 3\nreconstruction = 'mse'",
            &[("discriminator.projections", &["discriminator.projection.weight"])],
        ),
    ];
    for framework in ["ada_gvae", "ada_ml_vae"] {
        for (kind, settings) in [
            ("", ""),
            ("_eta", "eta = 0.2"),
            ("_kl", "distance = 'kl'"),
            ("_difference", "distance = 'absolute_difference'"),
        ] {
            cases.push(plain(&format!("{framework}{kind}"), framework, &format!("beta = 2.0\n{settings}")));
        }
    }
    cases
}

fn cases_of_triplets() -> Vec<Case> {
    let custom = |eta: f64| format!("reduction = 'sum'\nalpha = 1.5\nschedule = 'custom'\nomega = 0.25\neta = {eta}\n");
    let plain_one = "reduction = 'sum'\nalpha = 1.5\n";
    let by_kl = format!("beta = 0.5\n{}triplet = 'soft'\nthreshold_distance = 'symmetric_kl'", custom(0.3));
    let mut cases = vec![plain("ada_tvae_kl", "ada_tvae", &by_kl)];
    for (kind, settings) in [
        ("", "margin = 0.6"),
        ("_soft_l2", "triplet = 'soft'\ndistance = 'l2'"),
        ("_kl", "margin = 0.6\nthreshold_distance = 'symmetric_kl'"),
    ] {
        let settings = format!("beta = 0.5\ntriplets = {TRIPLES}\n{}{settings}", custom(0.5));
        cases.push(plain(&format!("ada_tvae_data{kind}"), "ada_tvae_data", &settings));
    }
    for (framework, settings) in [
        ("beta_tvae", format!("beta = 0.5\n{plain_one}")),
        ("tae", plain_one.to_string()),
        ("ada_tvae", format!("beta = 0.5\n{}", custom(0.5))),
        ("ada_tae", custom(0.5)),
    ] {
        for (kind, triplet) in [
            ("soft_l1", "triplet = 'soft'"),
            ("soft_l2", "triplet = 'soft'\ndistance = 'l2'"),
            ("hard_l1", "margin = 0.1"),
            ("hard_l2", "margin = 0.1\ndistance = 'l2'"),
            ("detached", "triplet = 'soft'\ndecoder_gradient = false"),
        ] {
            cases.push(plain(&format!("{framework}_{kind}"), framework, &format!("{settings}{triplet}")));
        }
    }
    cases
}

fn cases() -> Vec<Case> {
    [cases_of_single_images(), cases_of_pairs(), cases_of_triplets()].into_iter().flatten().collect()
}

/// Parts that are called something else there.
const PARTS: [(&str, &str); 2] = [("shared", "shared_fraction"), ("slowness", "kl_laplace")];

/// What is logged beside the loss, and not there.
const LOGGED: [&str; 4] = ["omega", "eta", "real_told", "generated_told"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/objectives")
}

fn read(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder().join(name)).unwrap()).unwrap()
}

/// All numbers within, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn rows(values: &[f32], n_columns: usize) -> Value {
    json!(values.chunks(n_columns).map(<[f32]>::to_vec).collect::<Vec<_>>())
}

/// What a step draws: the posterior's noise, and what comes after it in some frameworks.
fn noise(inputs: &mut Value) {
    let start = || Seed(3).stream_at("noise", 0);
    let matrix =
        |n_rows: usize, n_columns: usize| Device::cpu().tensor(vec![0.0; n_rows * n_columns], [n_rows, n_columns]);
    let normals_of = |n_rows: usize, n_columns: usize, rng: &mut Rng| {
        rows(&floats(normal(&matrix(n_rows, n_columns), rng)), n_columns)
    };
    let normals = |n_columns: usize, rng: &mut Rng| normals_of(BATCH, n_columns, rng);

    let mut rng = start();
    inputs["noise"] = normals(LATENTS, &mut rng);
    inputs["prior"] = normals(LATENTS, &mut rng);
    // FactorVAE draws the noise of its second batch, then shuffles each latent of it.
    inputs["second_noise"] = inputs["prior"].clone();
    let mut order: Vec<usize> = (0..BATCH).collect();
    let permutations = (0..LATENTS).map(|_| {
        order.shuffle(&mut rng);
        order.clone()
    });
    inputs["permutations"] = json!(permutations.collect::<Vec<_>>());
    // The orthogonal VAE draws two latents for each image.
    let mut rng = start();
    normals(LATENTS, &mut rng);
    let pairs = (0..BATCH).map(|_| {
        let first = rng.random_range(0..LATENTS);
        let other = rng.random_range(0..LATENTS - 1);
        [first, if other < first { other } else { other + 1 }]
    });
    inputs["pairs"] = json!(pairs.collect::<Vec<_>>());
    // JointVAE has two Gaussian latents, and then two classes.
    let mut rng = start();
    let of_gaussians = normals(2, &mut rng);
    let of_classes = rows(&floats(gumbel(&matrix(BATCH, 2), &mut rng)), 2);
    inputs["overrides"]["joint_vae"] = json!({ "noise": of_gaussians, "gumbel": of_classes });
    // All members of pairs and triplets draw together, one after the other.
    inputs["pair_noise"] = normals_of(2 * BATCH, LATENTS, &mut start());
    inputs["triplet_noise"] = normals_of(3 * BATCH, LATENTS, &mut start());
    // Where triplets are drawn from a batch, all anchors come first, then all others in turn.
    let mut rng = start();
    normals(LATENTS, &mut rng);
    let drawn: [Vec<usize>; 3] = std::array::from_fn(|_| (0..TRIPLES).map(|_| rng.random_range(0..BATCH)).collect());
    inputs["triples"] = json!((0..TRIPLES).map(|i| [drawn[0][i], drawn[1][i], drawn[2][i]]).collect::<Vec<_>>());
    // PCL takes the earlier image of the pair before.
    inputs["permutation"] = json!((0..BATCH).map(|pair| (pair + BATCH - 1) % BATCH).collect::<Vec<_>>());
    // Pairs that the GAN generates share what the real ones do; its power iterations start from equal numbers.
    inputs["generated"] = inputs["pair_noise"].clone();
    inputs["generated_shared"] = inputs["shared"].clone();
    for vector in inputs["power_vectors"].as_object_mut().unwrap().values_mut() {
        let n = numbers(vector).len();
        *vector = json!(vec![1.0 / (n as f32).sqrt(); n]);
    }
}

#[test]
fn the_inputs_have_the_noise_that_a_step_draws() {
    let inputs = read("inputs.json");
    let mut wanted = inputs.clone();
    noise(&mut wanted);
    if std::env::var_os("UPDATE_OBJECTIVES").is_some() {
        std::fs::write(folder().join("inputs.json"), wanted.to_string()).unwrap();
        return;
    }
    let in_f32 = |value: &Value| numbers(value).iter().map(|&number| number as f32).collect::<Vec<_>>();
    for key in [
        "/noise",
        "/prior",
        "/second_noise",
        "/permutations",
        "/pairs",
        "/overrides/joint_vae/noise",
        "/overrides/joint_vae/gumbel",
        "/pair_noise",
        "/triplet_noise",
        "/triples",
        "/permutation",
        "/generated",
        "/generated_shared",
        "/power_vectors/discriminator.encoder.hidden0",
        "/power_vectors/discriminator.encoder.outputs",
        "/power_vectors/discriminator.neck0",
        "/power_vectors/discriminator.neck1",
        "/power_vectors/discriminator.head",
    ] {
        let same = in_f32(inputs.pointer(key).unwrap()) == in_f32(wanted.pointer(key).unwrap());
        assert!(same, "{key} is drawn otherwise now: see reference/objectives/README.md");
    }
}

/// Values of our parameter called `name`, which stand under other names in `all` for some.
fn under_their_names(case: &Case, name: &str, all: &[&Value]) -> Vec<f64> {
    let renamed = case.own.iter().find(|(ours, _)| *ours == name);
    let theirs = renamed.map_or(vec![name], |(_, theirs)| theirs.to_vec());
    let find = |name: &str| all.iter().find_map(|values| values.get(name));
    let values = theirs.iter().map(|name| find(name).unwrap_or_else(|| panic!("{}: no {name}", case.values)));
    values.flat_map(numbers).collect()
}

/// Whether our parameter is the logarithm of the square of theirs.
fn is_log_square(name: &str) -> bool {
    name.contains("log_square")
}

/// A learner with the parameters of the inputs.
fn learner(case: &Case, inputs: &Value, layout: &str) -> Learner {
    let mut learner = Parts::new((case.framework, &case.settings), NETWORK, POINT).learner();
    let all = [&inputs["own_weights"][&case.values], &inputs["encoder_outputs"][layout], &inputs["weights"]];
    let names: Vec<(String, [usize; 2])> =
        learner.model.parameters.iter().map(|(name, tensor)| (name.to_string(), tensor.dims())).collect();
    for (name, shape) in names {
        let theirs = under_their_names(case, &name, &all);
        let ours = theirs.iter().map(|&value| (if is_log_square(&name) { 2.0 * value.ln() } else { value }) as f32);
        learner.model.parameters.replace(&name, ours.collect(), &shape).unwrap();
    }
    learner
}

fn check(case: &Case, inputs: &Value, values: &Value) {
    let learner = learner(case, inputs, values["layout"].as_str().unwrap());
    let images = |name: &str| numbers(&inputs[name]).iter().map(|&pixel| pixel as f32).collect();
    let n_members = learner.framework.arity() * learner.framework.n_batches();
    let members = ["images", "second_images", "third_images"].into_iter().take(n_members).map(images);
    let batch = batch_of(&learner, 0, members.collect());
    let losses = losses(&learner, &batch);
    let (total, parts) = losses.read_out();
    let wanted = |name: &str| {
        let theirs = PARTS.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| theirs);
        values["parts"][theirs].as_f64().unwrap_or_else(|| panic!("{}: no {theirs}", case.values))
    };
    let found = parts
        .iter()
        .filter(|part| !LOGGED.contains(&part.name.as_str()))
        .map(|part| (part.name.as_str(), part.value, wanted(&part.name)));
    for (name, found, wanted) in found.chain([("loss", total, values["total"].as_f64().unwrap())]) {
        let error = (f64::from(found) - wanted).abs();
        assert!(error <= 1e-5 * wanted.abs().max(1.0), "{}: {name} {found} is not {wanted}", case.values);
    }
    check_gradients(case, &learner, &losses, inputs, values);
}

fn check_gradients(case: &Case, learner: &Learner, losses: &Losses, inputs: &Value, values: &Value) {
    let own = learner.framework.own_optimisers();
    for (network, objective) in losses.objectives() {
        let gradients = objective.backward();
        let mut errors: Vec<(String, f64)> = Vec::new();
        let mut largest = 0.0_f64;
        for (name, parameter) in learner.model.parameters.iter() {
            let is_of_another = own.iter().find(|own| own.changes(name)).map_or(MAIN, |own| own.network) != *network;
            if is_of_another || learner.model.parameters.is_fixed(name) {
                continue;
            }
            let mut wanted = under_their_names(case, name, &[&values["gradients"]]);
            if is_log_square(name) {
                // By ln s^2 it is s / 2 times the gradient by s.
                let sigmas = under_their_names(case, name, &[&inputs["own_weights"][&case.values]]);
                wanted.iter_mut().zip(sigmas).for_each(|(gradient, sigma)| *gradient *= sigma / 2.0);
            }
            let found = floats(parameter.grad(&gradients).unwrap_or_else(|| panic!("{name} has no gradient")));
            let differences = found.iter().zip(&wanted).map(|(found, wanted)| (f64::from(*found) - wanted).abs());
            errors.push((name.to_string(), differences.fold(0.0, f64::max)));
            largest = wanted.iter().fold(largest, |largest, gradient| largest.max(gradient.abs()));
        }
        for (name, error) in errors {
            assert!(error <= 1e-4 * largest, "{}: {name} is off by {error} of {largest}", case.values);
        }
    }
}

#[test]
fn every_objective_has_the_parts_and_gradients_that_pytorch_computes() {
    let (inputs, values) = (read("inputs.json"), read("values.json"));
    for case in cases() {
        check(&case, &inputs, &values[&case.values]);
    }
}

#[test]
fn every_framework_has_a_case() {
    let cases = cases();
    for entry in FRAMEWORKS {
        assert!(cases.iter().any(|case| case.framework == entry.name), "{}", entry.name);
    }
}
