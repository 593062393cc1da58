//! Prints how fast each layer of the 64x64 convolutional auto-encoder runs, forward and backward.
//!
//! `cargo run --release -p unbraid-kernels --example throughput -- [channels] [batch]`

use std::time::Instant;

use unbraid_kernels::{
    Activation, ConvShape, TransposedShape, conv, conv_grad_images, conv_grad_weights, transposed_conv,
    transposed_conv_grad_images, transposed_conv_grad_weights,
};

/// Repetitions of each pass; the fastest half is averaged, since other work on the machine only ever slows one down.
const N_REPEATS: usize = 20;

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let channels = arguments.first().copied().unwrap_or(1);
    let batch = arguments.get(1).copied().unwrap_or(64);
    println!("batch {batch}, {channels} channels, {} threads, GFLOP/s of each pass\n", rayon::current_num_threads());
    println!("{:<24}{:>10}{:>10}{:>10}{:>12}", "layer", "forward", "images", "weights", "images/s");

    let encoder = [(64, channels, 32), (32, 32, 32), (16, 32, 64), (8, 64, 64)];
    let decoder = [(4, 64, 64), (8, 64, 32), (16, 32, 32), (32, 32, channels)];
    let mut total_secs = 0.0;
    for (size, n_in, n_out) in encoder {
        total_secs += report("conv", (size, n_in, n_out), batch, time_conv(batch, size, n_in, n_out));
    }
    for (size, n_in, n_out) in decoder {
        total_secs += report("transposed", (size, n_in, n_out), batch, time_transposed(batch, size, n_in, n_out));
    }
    println!("\nall layers, forward and backward: {:.0} images/s", batch as f64 / total_secs);
}

/// Prints a layer's line, and gives its seconds in all.
fn report(name: &str, (size, n_in, n_out): (usize, usize, usize), batch: usize, secs: [f64; 3]) -> f64 {
    let coarse_size = if name == "conv" { size / 2 } else { size };
    let n_flops = (2 * batch * coarse_size * coarse_size * 16 * n_in * n_out) as f64;
    let layer = format!("{name} {n_in}->{n_out} @{size}");
    let [forward, images, weights] = secs.map(|secs| n_flops / secs / 1e9);
    let total_secs = secs.iter().sum::<f64>();
    println!("{layer:<24}{forward:>10.1}{images:>10.1}{weights:>10.1}{:>12.0}", batch as f64 / total_secs);
    total_secs
}

/// Seconds of the forward pass, the image gradient and the weight gradient.
fn time_conv(batch: usize, size: usize, in_channels: usize, out_channels: usize) -> [f64; 3] {
    let shape =
        ConvShape { batch, height: size, width: size, in_channels, out_channels, kernel: 4, stride: 2, padding: 1 };
    let (images, weight, bias) = (wave(shape.images_len()), wave(shape.weight_len()), wave(out_channels));
    let mut out = wave(shape.out_len());
    let (mut grad_images, mut grad_weight, mut grad_bias) = (images.clone(), weight.clone(), bias.clone());
    [
        secs_of(|| conv(&shape, &images, &weight, &bias, Activation::Relu, &mut out)),
        secs_of(|| conv_grad_images(&shape, &out, &weight, &mut grad_images)),
        secs_of(|| conv_grad_weights(&shape, &images, &out, &mut grad_weight, &mut grad_bias)),
    ]
}

/// Seconds of the forward pass, the image gradient and the weight gradient.
fn time_transposed(batch: usize, size: usize, in_channels: usize, out_channels: usize) -> [f64; 3] {
    let shape = TransposedShape {
        batch,
        height: size,
        width: size,
        in_channels,
        out_channels,
        kernel: 4,
        stride: 2,
        padding: 1,
    };
    let (images, weight, bias) = (wave(shape.images_len()), wave(shape.weight_len()), wave(out_channels));
    let mut out = wave(shape.out_len());
    let (mut grad_images, mut grad_weight, mut grad_bias) = (images.clone(), weight.clone(), bias.clone());
    [
        secs_of(|| transposed_conv(&shape, &images, &weight, &bias, Activation::Relu, &mut out)),
        secs_of(|| transposed_conv_grad_images(&shape, &out, &weight, &mut grad_images)),
        secs_of(|| transposed_conv_grad_weights(&shape, &images, &out, &mut grad_weight, &mut grad_bias)),
    ]
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
