//! What is done to a layer's output as it is written: adding the bias and, if asked, a ReLU.

use rayon::prelude::*;

/// Values per parallel piece of an elementwise pass.
const PIECE_LEN: usize = 16 * 1024;

/// The non-linearity applied to a layer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The output as it is.
    None,
    /// Negative values become zero. NaN stays NaN, so that a diverged run is seen.
    Relu,
}

impl Activation {
    /// Applies itself to every value.
    pub(crate) fn apply(self, values: &mut [f32]) {
        if self == Self::Relu {
            values.iter_mut().for_each(|value| *value = relu(*value));
        }
    }

    /// Adds `bias` to every row of `rows`, `[rows, bias.len()]`, and applies itself.
    pub(crate) fn apply_with_bias(self, bias: &[f32], rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(bias.len()) {
            match self {
                Self::None => row.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias),
                Self::Relu => row.iter_mut().zip(bias).for_each(|(value, bias)| *value = relu(*value + bias)),
            }
        }
    }
}

/// Turns the gradient of a ReLU's output into that of its input: zeroes `grad` wherever `out`, the ReLU's output, is
/// zero.
pub fn mask_by_relu(out: &[f32], grad: &mut [f32]) {
    assert!(out.len() == grad.len(), "out holds {} values but grad holds {}", out.len(), grad.len());
    grad.par_chunks_mut(PIECE_LEN).zip(out.par_chunks(PIECE_LEN)).for_each(|(grad, out)| {
        grad.iter_mut().zip(out).for_each(|(grad, out)| *grad = if *out <= 0.0 { 0.0 } else { *grad });
    });
}

/// `f32::max` would turn NaN into zero.
fn relu(value: f32) -> f32 {
    if value < 0.0 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relu_follows_the_bias_and_keeps_nan() {
        let mut rows = [1.0, -1.0, -3.0, f32::NAN];
        Activation::Relu.apply_with_bias(&[1.0, 2.0], &mut rows);
        assert_eq!(rows[..3], [2.0, 1.0, 0.0]);
        assert!(rows[3].is_nan());
    }

    #[test]
    fn mask_zeroes_the_gradient_where_the_output_is_zero() {
        let mut grad = [1.0, 2.0, -3.0];
        mask_by_relu(&[0.0, 0.5, 2.0], &mut grad);
        assert_eq!(grad, [0.0, 2.0, -3.0]);
    }
}
