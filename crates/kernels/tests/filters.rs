//! Every filter against the definition summed in `f64`, its transpose, and the gradient of its kernel.

mod reference;

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use unbraid_kernels::{Filter, FilterShape, KernelGradient};

use reference::noise;

prop_compose! {
    fn any_shape()(height in 1..20_usize, width in 1..20_usize, channels in 1..5_usize) -> FilterShape {
        FilterShape { height, width, channels }
    }
}

/// Calls `job(out, tap, image)` with the positions of the three values of every product of a filter.
fn for_each_product(shape: FilterShape, radius: usize, mut job: impl FnMut(usize, usize, usize)) {
    let FilterShape { height, width, channels } = shape;
    let side = 2 * radius + 1;
    for out in 0..shape.n_values() {
        let (y, x, channel) = (out / (width * channels), out / channels % width, out % channels);
        for tap in 0..side * side {
            let from_y = (y + radius).wrapping_sub(tap / side);
            let from_x = (x + radius).wrapping_sub(tap % side);
            if from_y < height && from_x < width {
                job(out, tap, (from_y * width + from_x) * channels + channel);
            }
        }
    }
}

fn by_definition(shape: FilterShape, kernel: &[f32], image: &[f32]) -> Vec<f64> {
    let mut out = vec![0.0; shape.n_values()];
    for_each_product(shape, kernel.len().isqrt() / 2, |to, tap, from| {
        out[to] += f64::from(kernel[tap]) * f64::from(image[from]);
    });
    out
}

fn filtered(filter: &Filter, image: &[f32]) -> Vec<f32> {
    let mut out = vec![f32::NAN; image.len()];
    filter.apply(image, &mut out);
    out
}

fn filtered_transposed(filter: &Filter, image: &[f32]) -> Vec<f32> {
    let mut out = vec![f32::NAN; image.len()];
    filter.apply_transposed(image, &mut out);
    out
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

fn largest_difference(found: &[f32], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(wanted).map(|(&found, &wanted)| (f64::from(found) - wanted).abs()).fold(0.0, f64::max)
}

/// Rounding of sums of this many products of numbers up to 1.
fn rounding(radius: usize) -> f64 {
    2e-6 * ((2 * radius + 1) as f64).max(4.0)
}

fn check_transposed(filter: &Filter, shape: FilterShape, radius: usize) {
    let (image, other) = (noise(shape.n_values(), 5), noise(shape.n_values(), 6));
    let (there, back) = (dot(&filtered(filter, &image), &other), dot(&image, &filtered_transposed(filter, &other)));
    let size = (shape.n_values() as f64).sqrt();
    assert!((there - back).abs() < size * rounding(radius), "{shape:?}, radius {radius}: {there} is not {back}");
}

proptest! {
    #[test]
    fn any_kernel_is_its_definition(shape in any_shape(), radius in 0..24_usize) {
        let (kernel, image) = (noise((2 * radius + 1).pow(2), 1), noise(shape.n_values(), 2));
        let filter = Filter::kernel(shape, &kernel);
        let wanted = by_definition(shape, &kernel, &image);
        prop_assert!(largest_difference(&filtered(&filter, &image), &wanted) < rounding(radius));
        let turned: Vec<f32> = kernel.iter().rev().copied().collect();
        let wanted = by_definition(shape, &turned, &image);
        prop_assert!(largest_difference(&filtered_transposed(&filter, &image), &wanted) < rounding(radius));
        check_transposed(&filter, shape, radius);
    }

    #[test]
    fn sums_over_windows_are_their_definition(shape in any_shape(), radius in 0..24_usize) {
        let (kernel, image) = (vec![1.0; (2 * radius + 1).pow(2)], noise(shape.n_values(), 3));
        let filter = Filter::window_sums(shape, radius);
        let wanted = by_definition(shape, &kernel, &image);
        prop_assert!(largest_difference(&filtered(&filter, &image), &wanted) < 10.0 * rounding(radius));
        check_transposed(&filter, shape, radius);
    }

    #[test]
    fn separable_kernels_are_their_definition(shape in any_shape(), radius in 0..24_usize) {
        let (taps, image) = (noise(2 * radius + 1, 4), noise(shape.n_values(), 3));
        let kernel: Vec<f32> = taps.iter().flat_map(|down| taps.iter().map(move |along| down * along)).collect();
        let filter = Filter::separable(shape, &taps);
        let wanted = by_definition(shape, &kernel, &image);
        prop_assert!(largest_difference(&filtered(&filter, &image), &wanted) < rounding(radius));
        prop_assert!(largest_difference(&filtered(&Filter::kernel(shape, &kernel), &image), &wanted) < rounding(radius));
        check_transposed(&filter, shape, radius);
    }

    #[test]
    fn batches_are_filtered_as_images_are_and_the_kernels_gradient_is_its_definition(
        shape in any_shape(),
        radius in 0..12_usize,
        n_images in 0..20_usize,
    ) {
        let (n_values, n_taps) = (shape.n_values(), (2 * radius + 1).pow(2));
        let (kernel, images) = (noise(n_taps, 1), noise(n_images * n_values, 2));
        let mut batch = KernelGradient::new(shape, radius);
        let mut out = vec![f32::NAN; images.len()];
        batch.filter(&kernel, &images, &mut out);
        for (image, out) in images.chunks_exact(n_values).zip(out.chunks_exact(n_values)) {
            prop_assert!(largest_difference(out, &by_definition(shape, &kernel, image)) < rounding(radius));
        }
        let gradients = noise(images.len(), 7);
        let mut wanted = vec![0.0; n_taps];
        for (image, gradient) in images.chunks_exact(n_values).zip(gradients.chunks_exact(n_values)) {
            for_each_product(shape, radius, |out, tap, from| {
                wanted[tap] += f64::from(gradient[out]) * f64::from(image[from]);
            });
        }
        let size = ((1 + n_images * shape.n_values()) as f64).sqrt();
        prop_assert!(largest_difference(&batch.at_kernel(&gradients), &wanted) < 1e-5 * size);
    }
}

#[test]
fn a_kernel_of_one_tap_moves_the_image() {
    // The tap below the middle takes from the row above: rows move down, and the first comes from beyond the edge.
    let shape = FilterShape { height: 3, width: 2, channels: 1 };
    let mut kernel = [0.0; 9];
    kernel[2 * 3 + 1] = 2.0;
    let out = filtered(&Filter::kernel(shape, &kernel), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert!(largest_difference(&out, &[0.0, 0.0, 2.0, 4.0, 6.0, 8.0]) < 1e-5, "{out:?}");
}

#[test]
fn the_kernels_gradient_is_that_of_finite_differences() {
    // Loss: half the sum of squares of filtered images, whose gradient there is the filtered images themselves.
    let shape = FilterShape { height: 9, width: 7, channels: 3 };
    let (mut kernel, images) = (noise(25, 1), noise(3 * shape.n_values(), 2));
    let mut batch = KernelGradient::new(shape, 2);
    let mut out = vec![0.0; images.len()];
    batch.filter(&kernel, &images, &mut out);
    let gradient = batch.at_kernel(&out);
    let loss = |kernel: &[f32]| -> f64 {
        let squares = |image| by_definition(shape, kernel, image).iter().map(|value| value * value).sum::<f64>();
        0.5 * images.chunks_exact(shape.n_values()).map(squares).sum::<f64>()
    };
    for tap in 0..25 {
        let middle = kernel[tap];
        let [above, below] = [1.0, -1.0].map(|step| {
            kernel[tap] = middle + step / 64.0;
            loss(&kernel)
        });
        kernel[tap] = middle;
        let wanted = 32.0 * (above - below);
        assert!((f64::from(gradient[tap]) - wanted).abs() < 2e-3, "tap {tap}: {} is not {wanted}", gradient[tap]);
    }
}

#[test]
fn batches_give_the_same_bits_on_any_number_of_threads() {
    let shape = FilterShape { height: 20, width: 24, channels: 3 };
    let (kernel, images) = (noise(21 * 21, 1), noise(37 * shape.n_values(), 2));
    let results = || -> Vec<u32> {
        let mut batch = KernelGradient::new(shape, 10);
        let mut out = vec![0.0; images.len()];
        batch.filter(&kernel, &images, &mut out);
        let gradient = batch.at_kernel(&out);
        out.into_iter().chain(gradient).map(f32::to_bits).collect()
    };
    let on = |n_threads| ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(results);
    let alone = on(1);
    assert!(alone == on(2));
    assert!(alone == on(3));
}
