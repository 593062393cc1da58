//! Vectors of neighbouring channels, as wide as the processor has them, and the few things done to them.

use pulp::Simd;

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

/// Zero where negative. NaN stays.
#[inline(always)]
pub(super) fn relu<S: Simd>(simd: S, value: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    simd.select_f32s(simd.less_than_f32s(value, zero), zero, value)
}

/// Zero where the ReLU's output is.
#[inline(always)]
pub(super) fn relu_gradient<S: Simd>(simd: S, grad: S::f32s, out: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    simd.select_f32s(simd.less_than_or_equal_f32s(out, zero), zero, grad)
}
