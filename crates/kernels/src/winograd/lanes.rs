//! Vectors of neighbouring channels, as wide as the processor has them, and the few things done to them.

use pulp::Simd;

use crate::activation::{Activation, LEAKY_SLOPE};

/// Every vector width divides this, so a grid with a multiple of it as channels is all vectors.
pub(super) const WIDEST: usize = 16;

/// The vectors of a slice whose length is a multiple of [`WIDEST`].
#[inline(always)]
pub(super) fn vectors<S: Simd>(values: &[f32]) -> &[S::f32s] {
    S::as_simd_f32s(values).0
}

/// The same, to be written to.
#[inline(always)]
pub(super) fn vectors_mut<S: Simd>(values: &mut [f32]) -> &mut [S::f32s] {
    S::as_mut_simd_f32s(values).0
}

/// Sums, vector by vector.
#[inline(always)]
pub(super) fn add3<S: Simd>(simd: S, a: [S::f32s; 3], b: [S::f32s; 3]) -> [S::f32s; 3] {
    [simd.add_f32s(a[0], b[0]), simd.add_f32s(a[1], b[1]), simd.add_f32s(a[2], b[2])]
}

/// Differences, vector by vector.
#[inline(always)]
pub(super) fn sub3<S: Simd>(simd: S, a: [S::f32s; 3], b: [S::f32s; 3]) -> [S::f32s; 3] {
    [simd.sub_f32s(a[0], b[0]), simd.sub_f32s(a[1], b[1]), simd.sub_f32s(a[2], b[2])]
}

/// What comes out of an activation. NaN stays.
#[inline(always)]
pub(super) fn activated<S: Simd>(simd: S, activation: Activation, value: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    let below = match activation {
        Activation::None => return value,
        Activation::Relu => zero,
        Activation::LeakyRelu => simd.mul_f32s(simd.splat_f32s(LEAKY_SLOPE), value),
    };
    simd.select_f32s(simd.less_than_f32s(value, zero), below, value)
}

/// The gradient of what went into an activation, from that of what came out and from what came out.
#[inline(always)]
pub(super) fn gradient_before<S: Simd>(simd: S, activation: Activation, grad: S::f32s, out: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    let below = match activation {
        Activation::None => return grad,
        Activation::Relu => zero,
        Activation::LeakyRelu => simd.mul_f32s(simd.splat_f32s(LEAKY_SLOPE), grad),
    };
    simd.select_f32s(simd.less_than_or_equal_f32s(out, zero), below, grad)
}
