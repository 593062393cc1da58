//! Prints how fast each layer of the 64x64 convolutional auto-encoder runs, forward and backward.
//!
//! `cargo run --release -p unbraid-kernels --example throughput -- [channels] [batch]`

use std::time::Instant;

use unbraid_kernels::{Activation, ConvShape, LayerGradients, LayerValues, TransposedShape};
use unbraid_kernels::{conv, conv_backward, transposed_conv, transposed_conv_backward};

/// Repetitions of each pass; the fastest half is averaged, since other work on the machine only ever slows one down.
const N_REPEATS: usize = 20;

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let channels = arguments.first().copied().unwrap_or(1);
    let batch = arguments.get(1).copied().unwrap_or(64);
    println!("batch {batch}, {channels} channels, {} threads; GFLOP/s as", rayon::current_num_threads());
    println!("if every product of the definition were computed\n");
    println!("{:<24}{:>10}{:>10}{:>12}", "layer", "forward", "backward", "images/s");

    let encoder = [(64, channels, 32), (32, 32, 32), (16, 32, 64), (8, 64, 64)];
    let decoder = [(4, 64, 64), (8, 64, 32), (16, 32, 32), (32, 32, channels)];
    let mut total_secs = 0.0;
    for (layer, (size, n_in, n_out)) in encoder.into_iter().enumerate() {
        total_secs +=
            report("conv", (size, n_in, n_out), batch, layer > 0, time_conv(batch, size, n_in, n_out, layer > 0));
    }
    for (size, n_in, n_out) in decoder {
        total_secs += report("transposed", (size, n_in, n_out), batch, true, time_transposed(batch, size, n_in, n_out));
    }
    println!("\nall layers, forward and backward: {:.0} images/s", batch as f64 / total_secs);
}

/// Prints a layer's line, and gives its seconds in all. The first layer of a network has no image gradient.
fn report(
    name: &str,
    (size, n_in, n_out): (usize, usize, usize),
    batch: usize,
    with_images: bool,
    secs: [f64; 2],
) -> f64 {
    let coarse_size = if name == "conv" { size / 2 } else { size };
    let n_flops = (2 * batch * coarse_size * coarse_size * 16 * n_in * n_out) as f64;
    let layer = format!("{name} {n_in}->{n_out} @{size}");
    let n_products = if with_images { 2.0 } else { 1.0 };
    let (forward, backward) = (n_flops / secs[0] / 1e9, n_products * n_flops / secs[1] / 1e9);
    let total_secs = secs.iter().sum::<f64>();
    println!("{layer:<24}{forward:>10.1}{backward:>10.1}{:>12.0}", batch as f64 / total_secs);
    total_secs
}

/// Seconds of the forward and the backward pass.
fn time_conv(batch: usize, size: usize, in_channels: usize, out_channels: usize, with_images: bool) -> [f64; 2] {
    let shape =
        ConvShape { batch, height: size, width: size, in_channels, out_channels, kernel: 4, stride: 2, padding: 1 };
    let (images, weight, bias) = (wave(shape.images_len()), wave(shape.weight_len()), wave(out_channels));
    let (mut out, grad_out) = (wave(shape.out_len()), wave(shape.out_len()));
    let (mut grad_images, mut grad_weight, mut grad_bias) = (images.clone(), weight.clone(), bias.clone());
    let forward = secs_of(|| conv(&shape, &images, &weight, &bias, Activation::Relu, &mut out));
    let layer = LayerValues { images: &images, weight: &weight, out: &out, activation: Activation::Relu };
    let backward = secs_of(|| {
        let images = with_images.then_some(&mut grad_images[..]);
        let gradients = LayerGradients { images, weight: &mut grad_weight, bias: &mut grad_bias };
        conv_backward(&shape, layer, &grad_out, gradients);
    });
    [forward, backward]
}

/// Seconds of the forward and the backward pass.
fn time_transposed(batch: usize, size: usize, in_channels: usize, out_channels: usize) -> [f64; 2] {
    let (kernel, stride, padding) = (4, 2, 1);
    let shape =
        TransposedShape { batch, height: size, width: size, in_channels, out_channels, kernel, stride, padding };
    let (images, weight, bias) = (wave(shape.images_len()), wave(shape.weight_len()), wave(out_channels));
    let (mut out, grad_out) = (wave(shape.out_len()), wave(shape.out_len()));
    let (mut grad_images, mut grad_weight, mut grad_bias) = (images.clone(), weight.clone(), bias.clone());
    let activation = if out_channels > 3 { Activation::Relu } else { Activation::None };
    let forward = secs_of(|| transposed_conv(&shape, &images, &weight, &bias, activation, &mut out));
    let layer = LayerValues { images: &images, weight: &weight, out: &out, activation };
    let backward = secs_of(|| {
        let images = Some(&mut grad_images[..]);
        let gradients = LayerGradients { images, weight: &mut grad_weight, bias: &mut grad_bias };
        transposed_conv_backward(&shape, layer, &grad_out, gradients);
    });
    [forward, backward]
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
