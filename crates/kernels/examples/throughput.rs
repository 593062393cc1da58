//! Prints how fast the layers of the 64x64 convolutional auto-encoder run, forward and backward, alone and stacked; and
//! linear layers of 1,000 by 1,000, of which FactorVAE's discriminator is made.
//!
//! `cargo run --release -p unbraid-kernels --example throughput -- [channels] [batch]`

use std::time::{Duration, Instant};

use unbraid_kernels::stack::{StackGradients, StackLayer, backward, forward, kept_len};
use unbraid_kernels::{
    Activation, ConvShape, LayerGradients, LayerShape, LayerValues, LinearShape, TransposedShape, linear,
    linear_backward, product_rate,
};

/// Repetitions of each pass; the fastest half is averaged, since other work on the machine only ever slows one down.
const N_REPEATS: usize = 20;

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let channels = arguments.first().copied().unwrap_or(1);
    let batch = arguments.get(1).copied().unwrap_or(64);
    println!("batch {batch}, {channels} channels, {} threads; GFLOP/s as", rayon::current_num_threads());
    println!("if every product of the definition were computed\n");
    println!("{:<28}{:>10}{:>10}{:>12}", "layer", "forward", "backward", "images/s");

    let encoder = [(64, channels, 32), (32, 32, 32), (16, 32, 64), (8, 64, 64)].map(|sizes| conv(batch, sizes));
    let decoder = [(4, 64, 64), (8, 64, 32), (16, 32, 32), (32, 32, channels)].map(|sizes| transposed(batch, sizes));
    for (half, layers) in [("encoder", encoder), ("decoder", decoder)] {
        for (depth, layer) in layers.iter().enumerate() {
            report(&format!("{half} layer {depth}"), std::slice::from_ref(layer), half == "decoder" || depth > 0);
        }
        report(&format!("{half} in one"), &layers, half == "decoder");
    }
    report_linear(&LinearShape { batch, inputs: 1000, outputs: 1000 });
    let peak = 2.0 * product_rate(Duration::from_millis(300));
    println!("\nmatrix products that fit in the cache: {:.1} GFLOP/s", peak / 1e9);
}

fn conv(batch: usize, (size, in_channels, out_channels): (usize, usize, usize)) -> LayerShape {
    let (height, width, kernel, stride, padding) = (size, size, 4, 2, 1);
    LayerShape::Conv(ConvShape { batch, height, width, in_channels, out_channels, kernel, stride, padding })
}

fn transposed(batch: usize, (size, in_channels, out_channels): (usize, usize, usize)) -> LayerShape {
    let (height, width, kernel, stride, padding) = (size, size, 4, 2, 1);
    LayerShape::Transposed(TransposedShape { batch, height, width, in_channels, out_channels, kernel, stride, padding })
}

/// Times the layers on top of each other and prints a line. The first layer of a network has no image gradient.
fn report(name: &str, shapes: &[LayerShape], with_images: bool) {
    let batch = shapes[0].batch();
    let parameters: Vec<_> = shapes.iter().map(|shape| (wave(shape.weight_len()), wave(shape.bias_len()))).collect();
    let layers: Vec<_> =
        shapes.iter().zip(&parameters).map(|(shape, (weight, bias))| layer(shape, weight, bias)).collect();
    let (images, out_len) = (wave(batch * shapes[0].image_len()), batch * shapes[shapes.len() - 1].out_image_len());
    let (mut kept, mut out, grad_out) = (vec![0.0; kept_len(shapes)], vec![0.0; out_len], wave(out_len));
    let forward_secs = secs_of(|| forward(&layers, &images, Some(&mut kept), &mut out));

    let (mut grad_images, mut grads) = (images.clone(), parameters.clone());
    let backward_secs = secs_of(|| {
        let targets = StackGradients {
            images: with_images.then_some(&mut grad_images[..]),
            layers: grads.iter_mut().map(|(weight, bias)| Some((&mut weight[..], &mut bias[..]))).collect(),
        };
        backward(&layers, &images, &kept, &out, &grad_out, targets);
    });
    let flops: Vec<f64> = shapes.iter().map(n_flops).collect();
    let forward_flops: f64 = flops.iter().sum();
    let backward_flops = 2.0 * forward_flops - if with_images { 0.0 } else { flops[0] };
    println!(
        "{name:<28}{:>10.1}{:>10.1}{:>12.0}",
        forward_flops / forward_secs / 1e9,
        backward_flops / backward_secs / 1e9,
        batch as f64 / (forward_secs + backward_secs)
    );
}

/// Times a linear layer and prints two lines: with all gradients, and with that of the inputs alone.
fn report_linear(shape: &LinearShape) {
    let LinearShape { batch, inputs: n_inputs, outputs: n_outputs } = *shape;
    let (inputs, weight, bias) = (wave(batch * n_inputs), wave(n_inputs * n_outputs), wave(n_outputs));
    let (mut out, grad_out, activation) =
        (vec![0.0; batch * n_outputs], wave(batch * n_outputs), Activation::LeakyRelu);
    let forward_secs = secs_of(|| linear(shape, &inputs, &weight, &bias, activation, &mut out));
    let (mut grad_inputs, mut grad_weight, mut grad_bias) = (inputs.clone(), weight.clone(), bias.clone());
    let product_flops = (2 * batch * n_inputs * n_outputs) as f64;
    for (name, of_parameters, n_products) in [("linear layer", true, 2.0), ("linear layer, constant", false, 1.0)] {
        let backward_secs = secs_of(|| {
            let layer = LayerValues { inputs: &inputs, weight: &weight, out: &out, activation };
            let gradients = LayerGradients {
                inputs: Some(&mut grad_inputs),
                weight: of_parameters.then_some(&mut grad_weight),
                bias: of_parameters.then_some(&mut grad_bias),
            };
            linear_backward(shape, layer, &grad_out, gradients);
        });
        println!(
            "{name:<28}{:>10.1}{:>10.1}{:>12.0}",
            product_flops / forward_secs / 1e9,
            n_products * product_flops / backward_secs / 1e9,
            batch as f64 / (forward_secs + backward_secs)
        );
    }
}

fn layer<'a>(shape: &LayerShape, weight: &'a [f32], bias: &'a [f32]) -> StackLayer<'a> {
    let activation = if shape.bias_len() > 3 { Activation::Relu } else { Activation::None };
    StackLayer { shape: *shape, weight, bias, activation }
}

/// Two for each product.
fn n_flops(shape: &LayerShape) -> f64 {
    (2 * shape.batch() * shape.n_products()) as f64
}

fn secs_of(mut job: impl FnMut()) -> f64 {
    let mut secs: Vec<f64> = (0..N_REPEATS)
        .map(|_| {
            let start = Instant::now();
            job();
            start.elapsed().as_secs_f64()
        })
        .collect();
    secs.sort_by(f64::total_cmp);
    secs[..N_REPEATS / 2].iter().sum::<f64>() / (N_REPEATS / 2) as f64
}

/// Values between -1 and 1.
fn wave(len: usize) -> Vec<f32> {
    (0..len).map(|index| (index as f32 * 0.37).sin()).collect()
}
