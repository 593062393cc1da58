//! Fourier transforms of two planes at once: one as the real and one as the imaginary part. A real kernel keeps them apart, since the
//! filter is linear.
//!
//! Planes are put on a grid that is larger by the radius of the kernel, with zeros beyond their edges: the grid wraps around, and so far a
//! kernel reaches. What wraps around further falls on rows and columns that are not kept. Spectra lie column by column, so that they need
//! not be turned back before the inverse transform.

use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftPlanner};

use crate::scratch::with_complex_scratch;

/// Side of the squares that are turned at a time: two of them are in the nearest cache.
const TILE: usize = 16;

/// Makes spectra of planes, and planes of spectra.
#[derive(Clone)]
pub(super) struct Planes {
    height: usize,
    width: usize,
    /// Sides of the grid.
    n_rows: usize,
    n_columns: usize,
    /// How far the kernel reaches, up and down and to the sides. Further taps meet nothing but zeros.
    reach_rows: usize,
    reach_columns: usize,
    down: Plans,
    along: Plans,
    scratch_len: usize,
}

#[derive(Clone)]
struct Plans {
    forward: Arc<dyn Fft<f32>>,
    inverse: Arc<dyn Fft<f32>>,
}

impl fmt::Debug for Planes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, width, n_rows, n_columns, .. } = self;
        write!(formatter, "Planes({height} x {width} on {n_rows} x {n_columns})")
    }
}

/// Two planes within interleaved numbers: where each begins, and how far neighbours are apart. The second may be missing.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub first: usize,
    pub second: Option<usize>,
    pub step: usize,
}

impl Planes {
    /// For planes of this size and kernels of this radius.
    pub(super) fn new(height: usize, width: usize, radius: usize) -> Self {
        let (reach_rows, reach_columns) = (radius.min(height.max(1) - 1), radius.min(width.max(1) - 1));
        let (n_rows, n_columns) = (quick_length(height + reach_rows), quick_length(width + reach_columns));
        let mut planner = FftPlanner::new();
        let mut plans = |length: usize| Plans {
            forward: planner.plan_fft_forward(length),
            inverse: planner.plan_fft_inverse(length),
        };
        let (down, along) = (plans(n_rows), plans(n_columns));
        let all = [&down.forward, &down.inverse, &along.forward, &along.inverse];
        let scratch_len = all.iter().map(|plan| plan.get_inplace_scratch_len()).max().unwrap_or(0);
        Self { height, width, n_rows, n_columns, reach_rows, reach_columns, down, along, scratch_len }
    }

    /// How many numbers a spectrum has, `[columns, rows]` of the grid.
    pub(super) fn spectrum_len(&self) -> usize {
        self.n_rows * self.n_columns
    }

    /// Fills `spectrum` with the transform of two planes of `values`.
    pub(super) fn transform(&self, values: &[f32], pair: Pair, spectrum: &mut [Complex32]) {
        let rows_len = self.height * self.n_columns;
        with_complex_scratch(rows_len + self.scratch_len, |scratch| {
            let (rows, scratch) = scratch.split_at_mut(rows_len);
            for (y, row) in rows.chunks_exact_mut(self.n_columns).enumerate() {
                let (inside, beyond) = row.split_at_mut(self.width);
                gather(&values[y * self.width * pair.step..], pair, inside);
                beyond.fill(Complex32::default());
            }
            self.along.forward.process_with_scratch(rows, scratch);
            for column in spectrum.chunks_exact_mut(self.n_rows) {
                column[self.height..].fill(Complex32::default());
            }
            turn(rows, self.n_columns, spectrum, self.n_rows, self.height, self.n_columns);
            self.down.forward.process_with_scratch(spectrum, scratch);
        });
    }

    /// Fills two planes of `values` with the inverse transform of a spectrum, which is lost. Their numbers come out `spectrum_len` times
    /// as large.
    pub(super) fn inverse(&self, spectrum: &mut [Complex32], values: &mut [f32], pair: Pair) {
        let rows_len = self.height * self.n_columns;
        with_complex_scratch(rows_len + self.scratch_len, |scratch| {
            let (rows, scratch) = scratch.split_at_mut(rows_len);
            self.down.inverse.process_with_scratch(spectrum, scratch);
            turn(spectrum, self.n_rows, rows, self.n_columns, self.n_columns, self.height);
            self.along.inverse.process_with_scratch(rows, scratch);
            for (y, row) in rows.chunks_exact(self.n_columns).enumerate() {
                scatter(&row[..self.width], &mut values[y * self.width * pair.step..], pair);
            }
        });
    }

    /// The spectrum of a kernel `[side, side]`, divided so that what it is multiplied with comes back from `inverse` as large as it was.
    pub(super) fn spectrum_of_kernel(&self, kernel: &[f32]) -> Vec<Complex32> {
        let mut spectrum = vec![Complex32::default(); self.spectrum_len()];
        let scale = 1.0 / self.spectrum_len() as f32;
        self.for_each_tap(kernel.len().isqrt(), |tap, place| {
            spectrum[place] = Complex32::new(kernel[tap] * scale, 0.0)
        });
        self.transform_square(&mut spectrum, |plans| &plans.forward);
        spectrum
    }

    /// The taps `[side, side]` of a kernel from its spectrum; those that meet nothing are 0.
    pub(super) fn kernel_of_spectrum(&self, mut spectrum: Vec<Complex32>, side: usize) -> Vec<f32> {
        let scale = 1.0 / self.spectrum_len() as f32;
        self.transform_square(&mut spectrum, |plans| &plans.inverse);
        let mut kernel = vec![0.0; side * side];
        self.for_each_tap(side, |tap, place| kernel[tap] = spectrum[place].re * scale);
        kernel
    }

    /// Transforms a whole grid, `[columns, rows]`, both ways.
    fn transform_square(&self, grid: &mut [Complex32], plan: impl Fn(&Plans) -> &Arc<dyn Fft<f32>>) {
        let mut turned = vec![Complex32::default(); grid.len()];
        plan(&self.down).process(grid);
        turn(grid, self.n_rows, &mut turned, self.n_columns, self.n_columns, self.n_rows);
        plan(&self.along).process(&mut turned);
        turn(&turned, self.n_columns, grid, self.n_rows, self.n_rows, self.n_columns);
    }

    /// Calls `job` with each tap of a kernel that meets an image and its place on the grid. Taps before the middle wrap around.
    fn for_each_tap(&self, side: usize, mut job: impl FnMut(usize, usize)) {
        let radius = side / 2;
        let (rows, columns) = (self.reach_rows.min(radius), self.reach_columns.min(radius));
        for i in radius - rows..=radius + rows {
            for j in radius - columns..=radius + columns {
                let row = (i + self.n_rows - radius) % self.n_rows;
                let column = (j + self.n_columns - radius) % self.n_columns;
                job(i * side + j, column * self.n_rows + row);
            }
        }
    }
}

fn gather(values: &[f32], pair: Pair, row: &mut [Complex32]) {
    let reals = values[pair.first..].iter().step_by(pair.step);
    match pair.second {
        Some(second) => {
            let imaginaries = values[second..].iter().step_by(pair.step);
            row.iter_mut().zip(reals.zip(imaginaries)).for_each(|(to, (&re, &im))| *to = Complex32 { re, im });
        }
        None => row.iter_mut().zip(reals).for_each(|(to, &re)| *to = Complex32 { re, im: 0.0 }),
    }
}

fn scatter(row: &[Complex32], values: &mut [f32], pair: Pair) {
    values[pair.first..].iter_mut().step_by(pair.step).zip(row).for_each(|(to, from)| *to = from.re);
    if let Some(second) = pair.second {
        values[second..].iter_mut().step_by(pair.step).zip(row).for_each(|(to, from)| *to = from.im);
    }
}

/// Turns the first `n_columns` numbers of each of the first `n_rows` rows of `from` into columns of `to`.
fn turn(from: &[Complex32], from_len: usize, to: &mut [Complex32], to_len: usize, n_rows: usize, n_columns: usize) {
    for first_row in (0..n_rows).step_by(TILE) {
        let rows = TILE.min(n_rows - first_row);
        for first_column in (0..n_columns).step_by(TILE) {
            for column in first_column..n_columns.min(first_column + TILE) {
                let to = &mut to[column * to_len + first_row..][..rows];
                let from = from[first_row * from_len + column..].iter().step_by(from_len);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

/// The least length that is at least `least` and has a quick transform: a power of two, or 3 or 9 times one.
fn quick_length(least: usize) -> usize {
    let least = least.max(1);
    let power = least.next_power_of_two();
    let candidates = [power, power / 4 * 3, power / 16 * 9];
    candidates.into_iter().filter(|&length| length >= least).min().unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_long_enough_and_quick() {
        let found = [0, 1, 2, 3, 5, 8, 70, 73, 95, 97, 127].map(quick_length);
        assert_eq!(found, [1, 1, 2, 3, 6, 8, 72, 96, 96, 128, 128]);
    }
}
