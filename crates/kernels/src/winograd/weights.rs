//! The weight, between its 4x4 taps and the 9 points at which it is multiplied.
//!
//! Along one axis the taps of phase `s` are `g0 = weight[s]` and `g1 = weight[2 + s]`, and its points `g0`, `g0 + g1`
//! and `g1`.

use pulp::Arch;

use super::{PHASES, POINTS};
use crate::shape::ConvShape;

/// Taps along one axis.
const KERNEL: usize = 4;

/// How the values of a weight lie: `[n_outer, KERNEL, KERNEL, n_inner]`, and `[POINTS, n_outer, PHASES, n_inner]` once
/// transformed.
#[derive(Clone, Copy)]
pub(crate) struct WeightLayout {
    n_outer: usize,
    n_inner: usize,
}

impl WeightLayout {
    /// Of `[16 * in_channels, out_channels]`.
    pub(crate) fn conv(shape: &ConvShape) -> Self {
        Self { n_outer: 1, n_inner: shape.in_channels * shape.out_channels }
    }

    /// Of `[out_channels, 16 * in_channels]`.
    pub(crate) fn transposed_conv(shape: &ConvShape) -> Self {
        Self { n_outer: shape.out_channels, n_inner: shape.in_channels }
    }

    /// Length of the transformed weight.
    pub(crate) fn transformed_len(&self) -> usize {
        POINTS * self.n_outer * PHASES * self.n_inner
    }

    /// Where the values of one tap begin.
    fn tap(&self, outer: usize, [y, x]: [usize; 2]) -> usize {
        ((outer * KERNEL + y) * KERNEL + x) * self.n_inner
    }

    /// Where the values of one point and phase begin.
    fn point(&self, outer: usize, phase: [usize; 2], [y, x]: [usize; 2]) -> usize {
        (((y * 3 + x) * self.n_outer + outer) * PHASES + 2 * phase[0] + phase[1]) * self.n_inner
    }

    /// Fills in the transformed weight.
    pub(crate) fn transform(&self, weight: &[f32], transformed: &mut [f32]) {
        transformed.fill(0.0);
        self.for_each_pair(
            #[inline(always)]
            |tap, point| add(&weight[tap..][..self.n_inner], &mut transformed[point..][..self.n_inner]),
        );
    }

    /// The adjoint of the transform: the gradient of the taps from that of the points.
    pub(crate) fn gradient(&self, transformed: &[f32], weight: &mut [f32]) {
        weight.fill(0.0);
        self.for_each_pair(
            #[inline(always)]
            |tap, point| add(&transformed[point..][..self.n_inner], &mut weight[tap..][..self.n_inner]),
        );
    }

    /// Calls `job` with where each tap begins and where each point that it is part of.
    #[inline(always)]
    fn for_each_pair(&self, mut job: impl FnMut(usize, usize)) {
        /// The points that each of a phase's two taps is part of.
        const PARTS: [[usize; 2]; 2] = [[0, 1], [1, 2]];
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for outer in 0..self.n_outer {
                    for (y, x) in pairs(KERNEL) {
                        for (point_y, point_x) in pairs(2) {
                            let point = [PARTS[y / 2][point_y], PARTS[x / 2][point_x]];
                            job(self.tap(outer, [y, x]), self.point(outer, [y % 2, x % 2], point));
                        }
                    }
                }
            },
        );
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |y| (0..n).map(move |x| (y, x)))
}

#[inline(always)]
fn add(values: &[f32], sums: &mut [f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
