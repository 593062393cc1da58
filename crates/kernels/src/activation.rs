//! What is done to a layer's output as it is written, and to the gradient of that output as it is read.

/// The non-linearity applied to a layer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The output as it is.
    None,
    /// Negative values become zero. NaN stays NaN, so that a diverged run is seen.
    Relu,
}

/// What follows the products of a layer, pixel by pixel.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a> {
    /// Added to every pixel; none for a gradient.
    pub(crate) bias: Option<&'a [f32]>,
    /// Applied after that.
    pub(crate) activation: Activation,
}

impl Finish<'_> {
    /// Leaves the products as they are.
    pub(crate) const NOTHING: Finish<'static> = Finish { bias: None, activation: Activation::None };

    /// Finishes `rows`, whole pixels one after the other.
    #[inline(always)]
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        if let Some(bias) = self.bias {
            let pixels = rows.chunks_exact_mut(bias.len());
            pixels.for_each(|pixel| pixel.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias));
        }
        if self.activation == Activation::Relu {
            rows.iter_mut().for_each(|value| *value = relu(*value));
        }
    }
}

/// Images, or the gradient of a layer's output, to be read as that of the output before its activation.
#[derive(Clone, Copy)]
pub(crate) struct MaskedValues<'a> {
    /// The values.
    pub(crate) values: &'a [f32],
    /// The output, where it was a ReLU's: the values count as zero wherever this is.
    pub(crate) relu_out: Option<&'a [f32]>,
}

impl<'a> MaskedValues<'a> {
    /// The gradient of what went into an activation, from what came out and the gradient of that.
    pub(crate) fn before(activation: Activation, out: &'a [f32], grad_out: &'a [f32]) -> Self {
        Self { values: grad_out, relu_out: (activation == Activation::Relu).then_some(out) }
    }

    /// Values as they are.
    pub(crate) fn plain(values: &'a [f32]) -> Self {
        Self { values, relu_out: None }
    }

    /// Parts of `len` values, as `chunks` of a slice.
    pub(crate) fn chunks(self, len: usize) -> impl ExactSizeIterator<Item = MaskedValues<'a>> {
        (0..self.values.len().div_ceil(len)).map(move |index| {
            let range = index * len..((index + 1) * len).min(self.values.len());
            MaskedValues { values: &self.values[range.clone()], relu_out: self.relu_out.map(|out| &out[range]) }
        })
    }

    /// What they are to be read as: the values themselves, or a masked copy of them in `copy`.
    pub(crate) fn masked<'b>(self, copy: &'b mut [f32]) -> &'b [f32]
    where
        'a: 'b,
    {
        match self.relu_out {
            None => self.values,
            Some(out) => {
                let copy = &mut copy[..self.values.len()];
                let places = copy.iter_mut().zip(self.values.iter().zip(out));
                places.for_each(|(place, (grad, out))| *place = relu_gradient(*grad, *out));
                copy
            }
        }
    }
}

/// `f32::max` would turn NaN into zero.
#[inline(always)]
pub(crate) fn relu(value: f32) -> f32 {
    if value < 0.0 { 0.0 } else { value }
}

/// The gradient of a ReLU's input, from that of its output and the output itself.
#[inline(always)]
pub(crate) fn relu_gradient(grad: f32, out: f32) -> f32 {
    if out <= 0.0 { 0.0 } else { grad }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relu_follows_the_bias_and_keeps_nan() {
        let mut rows = [1.0, -1.0, -3.0, f32::NAN];
        Finish { bias: Some(&[1.0, 2.0]), activation: Activation::Relu }.apply(&mut rows);
        assert_eq!(rows[..3], [2.0, 1.0, 0.0]);
        assert!(rows[3].is_nan());
    }

    #[test]
    fn the_gradient_is_zero_where_the_output_is() {
        let gradient = MaskedValues { values: &[1.0, 2.0, -3.0], relu_out: Some(&[0.0, 0.5, 2.0]) };
        assert_eq!(gradient.masked(&mut [9.0; 4]), [0.0, 2.0, -3.0]);
    }
}
