//! `unbraid bench train`: images per second that training and encoding take.
//!
//! The work is that of `bench/train.py`, which sets it against PyTorch: full training steps of a beta-VAE on one batch
//! that is already in memory, and encoding without gradients. FactorVAE, whose step learns from two batches, stands beside a
//! beta-VAE on as many images.

use std::time::{Duration, Instant};

use ndarray::Array2;
use rand::RngExt;
use serde_json::{Map, Value, json};
use toml::Table;
use unbraid_data::error::did_you_mean;
use unbraid_data::{Error, ImageShape, Result, Seed};
use unbraid_kernels::{ConvShape, LayerShape, TransposedShape, product_rate};
use unbraid_learn::{Batch, Device, Learner, Member, frameworks, networks, optimisers};

use super::time_of_each;
use crate::Outcome;
use crate::output::print;

const SIDE: usize = 64;
const LEARNING_RATE: f64 = 1e-4;
const SEED: Seed = Seed(1);
/// Rounds before the clock is looked at, in which buffers are taken and caches filled.
const N_WARM_UP: usize = 3;
/// Rounds that are timed even if they take longer than was asked for.
const LEAST_ROUNDS: usize = 5;

/// How long the peak of the machine is measured before each case.
const PEAK_TIME: Duration = Duration::from_millis(300);

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
    framework: &'static str,
    network: &'static str,
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
    Case {
        name: "conv.b64.c1",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 64,
        channels: 1,
        work: Work::Step,
    },
    Case {
        name: "conv.b256.c1",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 256,
        channels: 1,
        work: Work::Step,
    },
    Case {
        name: "conv.b64.c3",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 64,
        channels: 3,
        work: Work::Step,
    },
    Case {
        name: "conv.b256.c3",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 256,
        channels: 3,
        work: Work::Step,
    },
    Case {
        name: "encode.c1",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 256,
        channels: 1,
        work: Work::Encode,
    },
    Case {
        name: "encode.c3",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 256,
        channels: 3,
        work: Work::Encode,
    },
    Case {
        name: "conv.b128.c1",
        framework: "beta_vae",
        network: "conv64",
        batch_size: 128,
        channels: 1,
        work: Work::Step,
    },
    Case {
        name: "factor.b64.c1",
        framework: "factor_vae",
        network: "conv64",
        batch_size: 64,
        channels: 1,
        work: Work::Step,
    },
    Case { name: "mlp.b256", framework: "beta_vae", network: "mlp", batch_size: 256, channels: 1, work: Work::Step },
];

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let least = time_of_each(arguments.seconds)?;
    let cases = chosen(&arguments.cases)?;
    if !arguments.json {
        print(format!("{:14}{:>10}{:>12}{:>12}{:>20}", "case", "images/s", "GFLOP/s", "of peak", "by definition"))?;
    }
    let (mut numbers, mut shares, mut shares_by_definition) = (Map::new(), Map::new(), Map::new());
    let mut peak = 0.0_f64;
    for case in cases {
        // A product is one multiplication and one addition. The peak is measured again and again, since other work on the
        // machine may have held it down.
        peak = peak.max(2.0 * product_rate(least.min(PEAK_TIME)));
        let Speed { images, computed, defined } = measure(case, least)?;
        numbers.insert(case.name.to_string(), json!(images.round()));
        shares.insert(case.name.to_string(), json!((1000.0 * computed / peak).round() / 1000.0));
        shares_by_definition.insert(case.name.to_string(), json!((1000.0 * defined / peak).round() / 1000.0));
        if !arguments.json {
            let [share, by_definition] = [computed, defined].map(|flops| format!("{:.0} %", 100.0 * flops / peak));
            let gflops = computed / 1e9;
            print(format!("{:14}{images:>10.0}{gflops:>12.0}{share:>12}{by_definition:>20}", case.name))?;
        }
    }
    if arguments.json {
        numbers.insert("peak_gflops".to_string(), json!((peak / 1e8).round() / 10.0));
        numbers.insert("share_of_peak".to_string(), Value::Object(shares));
        numbers.insert("share_of_peak_by_definition".to_string(), Value::Object(shares_by_definition));
        print(format!("{:#}", Value::Object(numbers)))?;
    } else {
        let threads = rayon::current_num_threads();
        print(format!("\nThe peak is that of matrix products on {threads} threads: {:.0} GFLOP/s.", peak / 1e9))?;
        print("A 4x4 convolution of stride 2 between many channels is computed with 9/16 of the products of")?;
        print("its definition; the last column is what the others would have to reach to be as fast.")?;
    }
    Ok(Outcome::Done)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Case>> {
    let mut cases: Vec<&Case> = Vec::new();
    for name in names {
        let Some(case) = CASES.iter().find(|case| case.name == name) else {
            let known = CASES.iter().map(|case| case.name);
            let guess = did_you_mean(name, known.clone());
            let help = format!("the cases are {}", known.collect::<Vec<_>>().join(", "));
            return Err(Error::new(format!("no case is called \"{name}\"{guess}")).help(help));
        };
        if cases.iter().any(|known| known.name == case.name) {
            return Err(Error::new(format!("case \"{name}\" is named twice")).help("name each case once"));
        }
        cases.push(case);
    }
    Ok(if names.is_empty() { CASES.iter().collect() } else { cases })
}

/// What is done in a second.
struct Speed {
    images: f64,
    /// Floating-point operations in matrix products.
    computed: f64,
    /// As many as the definitions of the layers have.
    defined: f64,
}

/// Images per second of training steps of a beta-VAE.
pub(super) fn training_rate(network: &'static str, batch_size: usize, channels: usize, least: Duration) -> Result<f64> {
    let case = Case { name: "training", framework: "beta_vae", network, batch_size, channels, work: Work::Step };
    Ok(measure(&case, least)?.images)
}

fn measure(case: &Case, least: Duration) -> Result<Speed> {
    let shape = ImageShape { height: SIDE, width: SIDE, channels: case.channels };
    let mut learner = learner(case.framework, case.network, shape)?;
    let mut rng = SEED.stream("bench");
    let pixels: Vec<f32> = (0..case.batch_size * shape.n_pixels()).map(|_| rng.random()).collect();
    let dims = [case.batch_size, shape.n_pixels()];
    let products = Products::of(&learner);
    let (secs, computed, defined) = match case.work {
        Work::Step => {
            let member = Member {
                images: learner.model.parameters.tensor(pixels, dims),
                numbers: (0..case.batch_size).collect(),
                factors: Array2::zeros((case.batch_size, 0)),
            };
            let members = vec![member; learner.framework.n_batches()];
            let secs = median_secs(least, || {
                let batch = Batch {
                    step: learner.steps_taken(),
                    n_images: members[0].numbers.len(),
                    members: members.clone(),
                    shared: vec![],
                };
                learner.step(&batch, LEARNING_RATE).map(drop)
            })?;
            // Forward, the gradient of the weights and that of what went in, which the first layer does without. It has
            // few channels, so all of its products are computed.
            let in_step = |all: f64, encoder: f64| match learner.framework.n_batches() {
                1 => 3.0 * all - products.first_layer,
                // FactorVAE: half of the images go through the encoder alone. The discriminator passes a gradient to the
                // latents of one batch, and learns from both: 2 + 2 * 3 products for each pair of images.
                n_batches => {
                    (3.0 * all - products.first_layer + encoder + 8.0 * products.discriminator) / n_batches as f64
                }
            };
            let computed = in_step(products.computed, products.computed_by_encoder);
            (secs, computed, in_step(products.defined, products.defined_by_encoder))
        }
        Work::Encode => {
            let model = learner.model.frozen();
            let images = model.parameters.tensor(pixels, dims);
            let secs = median_secs(least, || {
                drop(model.encode_gaussian(images.clone()));
                Ok(())
            })?;
            (secs, products.computed_by_encoder, products.defined_by_encoder)
        }
    };
    let n_batches = if case.work == Work::Step { learner.framework.n_batches() } else { 1 };
    let images = (n_batches * case.batch_size) as f64 / secs;
    Ok(Speed { images, computed: 2.0 * images * computed, defined: 2.0 * images * defined })
}

fn learner(framework: &str, network: &str, shape: ImageShape) -> Result<Learner> {
    let settings = Table::new();
    let network = networks::build(network, &settings, shape)?;
    let framework = frameworks::build(framework, &settings)?;
    let optimiser = optimisers::build("adam", &settings)?;
    Learner::new(network, framework, optimiser, shape, SEED, Device::cpu())
}

/// The median time of a round of `work`.
fn median_secs(least: Duration, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..N_WARM_UP {
        work()?;
    }
    let (began, mut secs) = (Instant::now(), Vec::new());
    while secs.len() < LEAST_ROUNDS || began.elapsed() < least {
        let round = Instant::now();
        work()?;
        secs.push(round.elapsed().as_secs_f64());
    }
    secs.sort_by(f64::total_cmp);
    Ok(secs[secs.len() / 2])
}

/// Products of numbers on one image's way through a network.
#[derive(Default)]
struct Products {
    /// As many as the definitions of the layers have.
    defined: f64,
    /// As many as are computed.
    computed: f64,
    defined_by_encoder: f64,
    computed_by_encoder: f64,
    first_layer: f64,
    /// Those of a discriminator, which are not among the others.
    discriminator: f64,
}

impl Products {
    fn of(learner: &Learner) -> Self {
        let mut products = Self::default();
        let weights = learner.model.parameters.iter().filter(|(name, _)| name.ends_with(".weight"));
        for (name, weight) in weights {
            let (defined, computed) = match conv_shape(name, weight.dims()) {
                Some(shape) => (shape.n_products(), shape.n_products_computed()),
                None => (weight.shape().num_elements(), weight.shape().num_elements()),
            };
            let (defined, computed) = (defined as f64, computed as f64);
            if name.starts_with("discriminator.") {
                products.discriminator += defined;
                continue;
            }
            if products.defined == 0.0 {
                products.first_layer = defined;
            }
            products.defined += defined;
            products.computed += computed;
            if name.starts_with("encoder.") {
                (products.defined_by_encoder, products.computed_by_encoder) = (products.defined, products.computed);
            }
        }
        products
    }
}

/// The layer of `conv64` that has this weight, for one image; none if it is not convolutional.
fn conv_shape(name: &str, [n_rows, n_columns]: [usize; 2]) -> Option<LayerShape> {
    let (half, layer) = name.strip_suffix(".weight")?.split_once(".conv")?;
    let depth: u32 = layer.parse().ok()?;
    let (batch, kernel, stride, padding) = (1, 4, 2, 1);
    Some(if half == "encoder" {
        let (size, in_channels, out_channels) = (SIDE >> depth, n_rows / 16, n_columns);
        let (height, width) = (size, size);
        LayerShape::Conv(ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding })
    } else {
        let (size, in_channels, out_channels) = (SIDE >> (4 - depth), n_rows, n_columns / 16);
        let (height, width) = (size, size);
        LayerShape::Transposed(TransposedShape {
            batch,
            height,
            width,
            in_channels,
            out_channels,
            kernel,
            stride,
            padding,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_hand() {
        let shape = ImageShape { height: 64, width: 64, channels: 1 };
        let products = Products::of(&learner("beta_vae", "conv64", shape).unwrap());
        // 32^2 * 16 * 32 of the layer next to the image; 16^2 * 16 * 32 * 32 + 8^2 * 16 * 32 * 64 + 4^2 * 16 * 64 * 64 of
        // the others; and the hidden layers.
        let (outer, inner, hidden) = (524_288.0, 4_194_304.0 + 2_097_152.0 + 1_048_576.0, 1024.0 * 256.0);
        assert_eq!(products.defined_by_encoder, outer + inner + hidden + 256.0 * 20.0);
        assert_eq!(products.computed_by_encoder, outer + 9.0 / 16.0 * inner + hidden + 256.0 * 20.0);
        assert_eq!(products.defined, 2.0 * (outer + inner + hidden) + 256.0 * 30.0);
        assert_eq!(products.first_layer, outer);
    }
}
