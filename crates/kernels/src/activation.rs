//! What is done to a layer's output as it is written, and to the gradient of that output as it is read.

/// The non-linearity applied to a layer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The output as it is.
    None,
    /// Negative values become zero. NaN stays NaN, so that a diverged run is seen.
    Relu,
    /// Negative values are multiplied by [`LEAKY_SLOPE`]. NaN stays NaN.
    LeakyRelu,
}

/// The slope of [`Activation::LeakyRelu`] below zero, which is that of FactorVAE's discriminator (Kim and Mnih 2018).
pub const LEAKY_SLOPE: f32 = 0.2;

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
        match self.activation {
            Activation::None => {}
            Activation::Relu => rows.iter_mut().for_each(|value| *value = relu(*value)),
            Activation::LeakyRelu => rows.iter_mut().for_each(|value| *value = leaky_relu(*value)),
        }
    }
}

/// Images, or the gradient of a layer's output, to be read as that of the output before its activation.
#[derive(Clone, Copy)]
pub(crate) struct MaskedValues<'a> {
    /// The values.
    pub(crate) values: &'a [f32],
    /// The activation that they are taken back through.
    pub(crate) activation: Activation,
    /// What came out of it, as long as the values; it is looked at only if there was an activation.
    pub(crate) out: &'a [f32],
}

impl<'a> MaskedValues<'a> {
    /// The gradient of what went into an activation, from what came out and the gradient of that.
    pub(crate) fn before(activation: Activation, out: &'a [f32], grad_out: &'a [f32]) -> Self {
        Self { values: grad_out, activation, out }
    }

    /// Values as they are.
    pub(crate) fn plain(values: &'a [f32]) -> Self {
        Self { values, activation: Activation::None, out: values }
    }

    /// Parts of `len` values, as `chunks` of a slice.
    pub(crate) fn chunks(self, len: usize) -> impl ExactSizeIterator<Item = MaskedValues<'a>> {
        (0..self.values.len().div_ceil(len)).map(move |index| {
            let range = index * len..((index + 1) * len).min(self.values.len());
            MaskedValues { values: &self.values[range.clone()], out: &self.out[range], ..self }
        })
    }

    /// What they are to be read as: the values themselves, or a masked copy of them in `copy`.
    pub(crate) fn masked<'b>(self, copy: &'b mut [f32]) -> &'b [f32]
    where
        'a: 'b,
    {
        match self.activation {
            Activation::None => self.values,
            Activation::Relu => self.mapped(copy, relu_gradient),
            Activation::LeakyRelu => self.mapped(copy, leaky_relu_gradient),
        }
    }

    /// `gradient` of each value and output, in `copy`.
    #[inline(always)]
    fn mapped(self, copy: &mut [f32], gradient: impl Fn(f32, f32) -> f32) -> &[f32] {
        let copy = &mut copy[..self.values.len()];
        let places = copy.iter_mut().zip(self.values.iter().zip(self.out));
        places.for_each(|(place, (grad, out))| *place = gradient(*grad, *out));
        copy
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

/// The output has the sign of the input.
#[inline(always)]
pub(crate) fn leaky_relu(value: f32) -> f32 {
    if value < 0.0 { LEAKY_SLOPE * value } else { value }
}

/// The gradient of a leaky ReLU's input, from that of its output and the output itself.
#[inline(always)]
pub(crate) fn leaky_relu_gradient(grad: f32, out: f32) -> f32 {
    if out <= 0.0 { LEAKY_SLOPE * grad } else { grad }
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
        let gradient = MaskedValues::before(Activation::Relu, &[0.0, 0.5, 2.0], &[1.0, 2.0, -3.0]);
        assert_eq!(gradient.masked(&mut [9.0; 4]), [0.0, 2.0, -3.0]);
    }

    #[test]
    fn a_leaky_relu_keeps_a_fifth_of_what_is_below_zero_and_of_its_gradient() {
        let mut rows = [1.0, -1.0, -5.0, f32::NAN];
        Finish { bias: Some(&[1.0, -4.0]), activation: Activation::LeakyRelu }.apply(&mut rows);
        assert_eq!(rows[..3], [2.0, -1.0, -0.8]);
        assert!(rows[3].is_nan());
        let gradient = MaskedValues::before(Activation::LeakyRelu, &[2.0, -1.0, 0.0], &[10.0; 3]);
        assert_eq!(gradient.masked(&mut [9.0; 3]), [10.0, 2.0, 2.0]);
    }
}
