//! How many products this machine can do, to compare with.

use std::time::{Duration, Instant};

use crate::product::{Matrix, Store, Target, multiply};

/// Rows and columns of the matrices, which together fit in most second-level caches.
const SIDE: usize = 320;

/// Products of two numbers per second in matrix products on all threads of the pool: the fastest round of those that
/// `least` has time for.
pub fn product_rate(least: Duration) -> f64 {
    let began = Instant::now();
    let mut fastest = 0.0_f64;
    loop {
        fastest = fastest.max(round());
        if began.elapsed() >= least {
            return fastest;
        }
    }
}

/// Every thread multiplies matrices of its own, and the slowest counts.
fn round() -> f64 {
    const N_TIMES: usize = 16;
    let secs = rayon::broadcast(|_| {
        let (left, right) = (vec![0.5; SIDE * SIDE], vec![0.25; SIDE * SIDE]);
        let mut out = vec![0.0; SIDE * SIDE];
        let mut product = || {
            let target = Target::of_rows(&mut out, SIDE);
            multiply(Matrix::of_rows(&left, SIDE), Matrix::of_rows(&right, SIDE), Store::Overwrite, target);
        };
        product();
        let began = Instant::now();
        (0..N_TIMES).for_each(|_| product());
        began.elapsed().as_secs_f64()
    });
    let slowest = secs.iter().fold(0.0_f64, |slowest, secs| slowest.max(*secs));
    (secs.len() * N_TIMES * SIDE * SIDE * SIDE) as f64 / slowest
}
