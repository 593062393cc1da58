//! `unbraid bench train`: images per second that training and encoding take.
//!
//! The work is that of `bench/train.py`, which sets it against PyTorch: full training steps of a beta-VAE on one batch
//! that is already in memory, and encoding without gradients.

use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::error::unknown_name;
use unbraid_data::{Error, ImageShape, Result, Seed};
use unbraid_kernels::product_rate;
use unbraid_learn::tensors::{device, recording_device, tensor};
use unbraid_learn::{Batch, Learner, Model, frameworks, nets, optimisers};

use crate::Outcome;
use crate::output::print;

const SIDE: usize = 64;
const LEARNING_RATE: f64 = 1e-4;
const SEED: Seed = Seed(1);
/// Rounds before the clock is looked at, in which buffers are taken and caches filled.
const N_WARM_UP: usize = 3;
/// Rounds that are timed even if they take longer than was asked for.
const LEAST_ROUNDS: usize = 5;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Print JSON: images per second by case, the machine's peak in GFLOP/s and each case's share of it
    #[arg(long)]
    json: bool,
    /// How long each case is measured
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    seconds: f64,
    /// Only these cases, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    cases: Vec<String>,
}

/// One thing that is measured.
struct Case {
    name: &'static str,
    net: &'static str,
    batch_size: usize,
    channels: usize,
    work: Work,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Loss, gradients and the change of every parameter.
    Step,
    /// Codes of images, without gradients.
    Encode,
}

const CASES: &[Case] = &[
    Case { name: "conv.b64.c1", net: "conv64", batch_size: 64, channels: 1, work: Work::Step },
    Case { name: "conv.b256.c1", net: "conv64", batch_size: 256, channels: 1, work: Work::Step },
    Case { name: "conv.b64.c3", net: "conv64", batch_size: 64, channels: 3, work: Work::Step },
    Case { name: "conv.b256.c3", net: "conv64", batch_size: 256, channels: 3, work: Work::Step },
    Case { name: "encode.c1", net: "conv64", batch_size: 256, channels: 1, work: Work::Encode },
    Case { name: "encode.c3", net: "conv64", batch_size: 256, channels: 3, work: Work::Encode },
    Case { name: "mlp.b256", net: "mlp", batch_size: 256, channels: 1, work: Work::Step },
];

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let least = Duration::try_from_secs_f64(arguments.seconds).ok().filter(|time| time.as_secs() <= 3600);
    let Some(least) = least else {
        return Err(Error::new(format!("--seconds is {}", arguments.seconds)).help("wanted 0 to 3600"));
    };
    let cases = chosen(&arguments.cases)?;
    // In products of one multiplication and one addition, which count as two operations.
    let peak = 2.0 * product_rate(least.min(Duration::from_secs(2)));
    if !arguments.json {
        print(format!("matrix products on {} threads reach {:.0} GFLOP/s", rayon::current_num_threads(), peak / 1e9))?;
        print(format!("\n{:14}{:>12}{:>12}{:>16}", "case", "images/s", "GFLOP/s", "share of peak"))?;
    }
    let (mut rates, mut shares) = (Map::new(), Map::new());
    for case in cases {
        let (rate, flops) = measure(case, least)?;
        rates.insert(case.name.to_string(), json!(rate.round()));
        shares.insert(case.name.to_string(), json!((1000.0 * flops / peak).round() / 1000.0));
        if !arguments.json {
            let share = 100.0 * flops / peak;
            print(format!("{:14}{rate:>12.0}{:>12.0}{share:>14.0} %", case.name, flops / 1e9))?;
        }
    }
    if arguments.json {
        rates.insert("peak_gflops".to_string(), json!((peak / 1e8).round() / 10.0));
        rates.insert("share_of_peak".to_string(), Value::Object(shares));
        print(format!("{:#}", Value::Object(rates)))?;
    } else {
        print("\nOperations are counted as the definitions have them. A 4x4 convolution of stride 2 is")?;
        print("computed with 9/16 of its products where channels are many, so its share may pass 100 %.")?;
    }
    Ok(Outcome::Done)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Case>> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| {
        let case = CASES.iter().find(|case| case.name == name);
        case.ok_or_else(|| unknown_name("case", name, CASES.iter().map(|case| case.name)))
    };
    names.iter().map(find).collect()
}

/// Images and floating-point operations per second.
fn measure(case: &Case, least: Duration) -> Result<(f64, f64)> {
    let shape = ImageShape { height: SIDE, width: SIDE, channels: case.channels };
    let mut learner = learner(case.net, shape)?;
    let mut rng = SEED.stream("bench");
    let pixels: Vec<f32> = (0..case.batch_size * shape.n_pixels()).map(|_| rng.random()).collect();
    let dims = [case.batch_size, shape.n_pixels()];
    let (encoder, decoder) = products(&learner);
    let (secs, n_products) = match case.work {
        Work::Step => {
            let images = tensor(pixels, dims, &recording_device());
            let mut failed = None;
            let secs = median_secs(least, || {
                let batch = Batch { step: learner.steps_taken(), members: vec![images.clone()] };
                failed = learner.step(&batch, LEARNING_RATE).err().or(failed.take());
            });
            if let Some(error) = failed {
                return Err(error);
            }
            // Forward, the gradient of the weights and that of what went in, which the first layer does without.
            (secs, 3 * (encoder.all + decoder.all) - encoder.first_layer)
        }
        Work::Encode => {
            let images = tensor(pixels, dims, &device());
            let encode = |model: &Model| median_secs(least, || drop(model.encode_gaussian(images.clone())));
            (learner.model.without_gradients(encode), encoder.all)
        }
    };
    let rate = case.batch_size as f64 / secs;
    Ok((rate, 2.0 * rate * n_products as f64))
}

fn learner(net: &str, shape: ImageShape) -> Result<Learner> {
    let settings = Table::new();
    let net = (nets::find(net)?.build)(&settings, shape)?;
    let framework = (frameworks::find("beta_vae")?.build)(&settings)?;
    let optimiser = (optimisers::find("adam")?.build)(&settings)?;
    let model = Model::new(net, framework.posterior(), SEED);
    Ok(Learner::new(model, framework, optimiser, SEED))
}

/// The median time of a round of `work`.
fn median_secs(least: Duration, mut work: impl FnMut()) -> f64 {
    (0..N_WARM_UP).for_each(|_| work());
    let (began, mut secs) = (Instant::now(), Vec::new());
    while secs.len() < LEAST_ROUNDS || began.elapsed() < least {
        let round = Instant::now();
        work();
        secs.push(round.elapsed().as_secs_f64());
    }
    secs.sort_by(f64::total_cmp);
    secs[secs.len() / 2]
}

/// Products of one image's way through one half of a network.
#[derive(Default)]
struct Products {
    all: usize,
    first_layer: usize,
}

/// Products of encoder and decoder: each weight counts once for each pixel of the smaller side of its layer.
fn products(learner: &Learner) -> (Products, Products) {
    let (mut encoder, mut decoder) = (Products::default(), Products::default());
    for (name, weight) in learner.model.parameters.iter() {
        let (half, layer) = name.split_once('.').unwrap_or((name, ""));
        if !layer.ends_with("weight") {
            continue;
        }
        let depth = layer.strip_prefix("conv").and_then(|rest| rest.split('.').next()?.parse::<u32>().ok());
        let side = match (half, depth) {
            (_, None) => 1,
            ("encoder", Some(depth)) => SIDE >> (depth + 1),
            (_, Some(depth)) => SIDE >> (4 - depth),
        };
        let half = if half == "encoder" { &mut encoder } else { &mut decoder };
        let n_products = side * side * weight.shape().num_elements();
        half.first_layer = if half.all == 0 { n_products } else { half.first_layer };
        half.all += n_products;
    }
    (encoder, decoder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_hand() {
        let shape = ImageShape { height: 64, width: 64, channels: 1 };
        let (encoder, decoder) = products(&learner("conv64", shape).unwrap());
        // 32^2 * 16 * 32 + 16^2 * 16 * 32 * 32 + 8^2 * 16 * 32 * 64 + 4^2 * 16 * 64 * 64, and the hidden layers.
        let convs = 524_288 + 4_194_304 + 2_097_152 + 1_048_576;
        assert_eq!(encoder.all, convs + 1024 * 256 + 256 * 20);
        assert_eq!(decoder.all, convs + 1024 * 256 + 256 * 10);
        assert_eq!(encoder.first_layer, 524_288);
    }
}
