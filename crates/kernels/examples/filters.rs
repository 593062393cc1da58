//! Microseconds of each filter on one image, and of comparing the bytes of two, on one thread: `cargo run --release -p unbraid-kernels --example filters`.

use std::time::Instant;

use unbraid_kernels::{Filter, FilterShape, gaussian_taps, squared_difference_of_bytes};

fn main() {
    for channels in [1, 3] {
        let shape = FilterShape { height: 64, width: 64, channels };
        let image: Vec<f32> = (0..shape.n_values()).map(|index| ((index * 31) % 256) as f32).collect();
        let kernel: Vec<f32> = (0..63 * 63).map(|tap| ((tap * 7) % 11) as f32 * 0.01).collect();
        let taps: Vec<f32> = gaussian_taps(31).into_iter().map(|tap| tap as f32).collect();
        let filters = [
            ("window sums", Filter::window_sums(shape, 31)),
            ("separable", Filter::separable(shape, &taps)),
            ("kernel", Filter::kernel(shape, &kernel)),
        ];
        let mut out = vec![0.0; image.len()];
        for (name, filter) in &filters {
            let micros = micros(200, || filter.apply(&image, &mut out));
            println!("{channels} channels, {name:14}{micros:>8.1} us an image");
        }
        let bytes: Vec<u8> = image.iter().map(|value| *value as u8).collect();
        let mut sum = 0;
        let of_bytes = micros(2000, || sum += squared_difference_of_bytes(&bytes, std::hint::black_box(&bytes)));
        println!("{channels} channels, a pair: {of_bytes:.2} us ({sum})");
    }
}

fn micros(n_rounds: usize, mut work: impl FnMut()) -> f64 {
    work();
    let began = Instant::now();
    (0..n_rounds).for_each(|_| work());
    began.elapsed().as_secs_f64() * 1e6 / n_rounds as f64
}
