//! Smooth noise over the plane (Perlin's: random slopes at whole coordinates, smoothly joined), and smooth curves.

use rand::RngExt;

use crate::seed::Rng;

/// The noise repeats after this many units.
const PERIOD: usize = 64;

/// Smooth noise of one realisation.
pub(super) struct Noise {
    /// The slope at each whole coordinate, `[PERIOD * PERIOD]`.
    slopes: Vec<[f32; 2]>,
}

impl Noise {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self { slopes: (0..PERIOD * PERIOD).map(|_| direction(rng)).collect() }
    }

    /// Noise with features of the size of a unit, about -0.7 to 0.7 and 0 at whole coordinates.
    pub(super) fn at(&self, x: f32, y: f32) -> f32 {
        let (left, top) = (x.floor(), y.floor());
        let (right_of, below) = (x - left, y - top);
        let (column, row) = (left as i32 as usize % PERIOD, top as i32 as usize % PERIOD);
        let (next_column, next_row) = ((column + 1) % PERIOD, (row + 1) % PERIOD);
        let rise = |column: usize, row: usize, x: f32, y: f32| {
            let [across, down] = self.slopes[row * PERIOD + column];
            across * x + down * y
        };
        let along = smooth(right_of);
        let upper = mix(rise(column, row, right_of, below), rise(next_column, row, right_of - 1.0, below), along);
        let lower = mix(
            rise(column, next_row, right_of, below - 1.0),
            rise(next_column, next_row, right_of - 1.0, below - 1.0),
            along,
        );
        mix(upper, lower, smooth(below))
    }

    /// Noise of `n_octaves` sizes, each half as large and as strong as the one before; about -1 to 1.
    pub(super) fn fractal(&self, mut x: f32, mut y: f32, n_octaves: usize) -> f32 {
        let (mut sum, mut strength) = (0.0, 0.9);
        for _ in 0..n_octaves {
            sum += strength * self.at(x, y);
            strength *= 0.5;
            // Turned (by 3-4-5), so that the whole coordinates of two sizes do not lie on each other.
            (x, y) = (1.6 * x - 1.2 * y + 7.3, 1.2 * x + 1.6 * y + 3.1);
        }
        sum
    }
}

/// A random direction.
pub(super) fn direction(rng: &mut Rng) -> [f32; 2] {
    loop {
        let [x, y] = [between(-1.0, 1.0, rng), between(-1.0, 1.0, rng)];
        let length = (x * x + y * y).sqrt();
        if (0.1..=1.0).contains(&length) {
            return [x / length, y / length];
        }
    }
}

/// A random number between these.
pub(super) fn between(least: f32, most: f32, rng: &mut Rng) -> f32 {
    mix(least, most, rng.random())
}

/// From `from` (at 0) to `to` (at 1).
pub(super) fn mix(from: f32, to: f32, part: f32) -> f32 {
    from + (to - from) * part
}

/// From 0 to 1, level at both ends and beyond them.
pub(super) fn smooth(part: f32) -> f32 {
    let part = part.clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

/// Up and down between -1 and 1 once in a unit; within 0.03 of a sine.
pub(super) fn wave(turns: f32) -> f32 {
    let part = turns - turns.floor();
    2.0 * smooth(1.0 - (2.0 * (part + 0.25 - (part + 0.25).floor()) - 1.0).abs()) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn noise_is_smooth_bounded_and_null_at_whole_coordinates() {
        let noise = Noise::new(&mut Seed(1).stream("noise"));
        assert_eq!(noise.at(-3.0, 17.0), 0.0);
        for step in 0..10_000 {
            let (x, y) = (step as f32 * 0.037 - 100.0, step as f32 * 0.011);
            assert!(noise.at(x, y).abs() <= 1.0 && noise.fractal(x, y, 5).abs() <= 1.5);
            assert!((noise.at(x + 1e-3, y) - noise.at(x, y)).abs() < 1e-2);
        }
        assert!((noise.at(0.3, 0.7) - noise.at(64.3, -63.3)).abs() < 1e-4);
    }

    #[test]
    fn a_wave_is_almost_a_sine() {
        for step in -200..200 {
            let turns = step as f32 / 77.0;
            assert!((wave(turns) - (turns * std::f32::consts::TAU).sin()).abs() < 0.03, "{turns}");
        }
    }
}
