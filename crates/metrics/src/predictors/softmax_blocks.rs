//! Linear maps of many rows to class probabilities and back: the inner loops of logistic regression.
//!
//! Rows are laid out in blocks of 64, each block with one run of 64 numbers for each feature, so that every loop goes over
//! neighbouring rows. All sums are taken in an order that the block size alone fixes.

use ndarray::Array2;

use crate::statistics::classes::Classes;

/// How many rows a block has; the last one is filled up with zeros.
pub const BLOCK: usize = 64;

/// Classes and features are taken four at a time, and rows too.
const TILE: usize = 4;

/// Rows in blocks, with a feature that is always 1 after the others.
pub struct Blocks {
    /// `[blocks, features, BLOCK]`
    values: Vec<f64>,
    /// How many rows there are.
    pub n_rows: usize,
    /// How many features each row has, with the one that is always 1 and zeros up to a multiple of four.
    pub n_padded: usize,
}

impl Blocks {
    /// The rows of `features [rows, features]`.
    pub fn new(features: &Array2<f64>) -> Self {
        let (n_rows, n_features) = features.dim();
        let n_padded = padded(n_features + 1);
        let mut values = vec![0.0; n_rows.div_ceil(BLOCK) * n_padded * BLOCK];
        for (row, of_row) in features.outer_iter().enumerate() {
            let start = row / BLOCK * n_padded * BLOCK + row % BLOCK;
            for (feature, value) in of_row.iter().chain(&[1.0]).enumerate() {
                values[start + feature * BLOCK] = *value;
            }
        }
        Self { values, n_rows, n_padded }
    }

    /// How many blocks there are.
    pub fn n_blocks(&self) -> usize {
        self.n_rows.div_ceil(BLOCK)
    }

    /// How many rows of block `block` are real.
    pub fn n_rows_of(&self, block: usize) -> usize {
        BLOCK.min(self.n_rows - block * BLOCK)
    }

    /// Block `block`, `[features, BLOCK]`.
    fn of(&self, block: usize) -> &[f64] {
        let length = self.n_padded * BLOCK;
        &self.values[block * length..(block + 1) * length]
    }

    /// The linear map of block `block` by `weights [features, outputs]`, into `outputs [outputs, BLOCK]`. The number of
    /// outputs is a multiple of four.
    pub fn outputs(&self, block: usize, weights: &[f64], outputs: &mut [f64]) {
        let n_outputs = outputs.len() / BLOCK;
        let rows = self.of(block);
        for first in (0..n_outputs).step_by(TILE) {
            for start in (0..BLOCK).step_by(TILE) {
                let mut sums = [[0.0; TILE]; TILE];
                for (of_feature, weights) in rows.chunks_exact(BLOCK).zip(weights.chunks_exact(n_outputs)) {
                    let values = tile(of_feature, start);
                    let weights = tile(weights, first);
                    for (sums, weight) in sums.iter_mut().zip(weights) {
                        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
                    }
                }
                for (output, sums) in sums.iter().enumerate() {
                    let place = (first + output) * BLOCK + start;
                    outputs[place..place + TILE].copy_from_slice(sums);
                }
            }
        }
    }

    /// Adds the sums over block `block` of each output times each feature to `sums [outputs, features]`.
    pub fn add_products(&self, block: usize, outputs: &[f64], sums: &mut [f64]) {
        let rows = self.of(block);
        for (of_output, sums) in outputs.chunks_exact(BLOCK).zip(sums.chunks_exact_mut(self.n_padded)) {
            for first in (0..self.n_padded).step_by(TILE) {
                let features: [&[f64]; TILE] =
                    std::array::from_fn(|feature| &rows[(first + feature) * BLOCK..(first + feature + 1) * BLOCK]);
                let mut lanes = [[0.0; TILE]; TILE];
                for start in (0..BLOCK).step_by(TILE) {
                    let outputs = tile(of_output, start);
                    for (lanes, feature) in lanes.iter_mut().zip(features) {
                        let values = tile(feature, start);
                        lanes.iter_mut().zip(outputs).zip(values).for_each(|((sum, a), b)| *sum += a * b);
                    }
                }
                for (feature, lanes) in lanes.iter().enumerate() {
                    sums[first + feature] += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
                }
            }
        }
    }
}

/// Up to the next multiple of four.
pub fn padded(n: usize) -> usize {
    n.next_multiple_of(TILE)
}

fn tile(values: &[f64], start: usize) -> [f64; TILE] {
    values[start..start + TILE].try_into().expect("a tile has four numbers")
}

/// Turns `logits [classes, BLOCK]` into probabilities, and gives the logarithm of each row's sum of exponentials.
pub fn softmax(logits: &mut [f64]) -> [f64; BLOCK] {
    let mut largest = [f64::NEG_INFINITY; BLOCK];
    for of_class in logits.chunks_exact(BLOCK) {
        largest
            .iter_mut()
            .zip(of_class)
            .for_each(|(largest, &logit)| *largest = if logit > *largest { logit } else { *largest });
    }
    let mut sums = [0.0; BLOCK];
    for of_class in logits.chunks_exact_mut(BLOCK) {
        for ((logit, largest), sum) in of_class.iter_mut().zip(&largest).zip(&mut sums) {
            *logit = exp_of_negative(*logit - largest);
            *sum += *logit;
        }
    }
    let shares = sums.map(|sum| 1.0 / sum);
    for of_class in logits.chunks_exact_mut(BLOCK) {
        of_class.iter_mut().zip(&shares).for_each(|(value, share)| *value *= share);
    }
    std::array::from_fn(|row| largest[row] + sums[row].ln())
}

/// `e^x` for `x <= 0`, to the last bit or two; 0 below -708. Without a branch or a call, so that the compiler can work
/// on several at once.
fn exp_of_negative(x: f64) -> f64 {
    const SHIFT: f64 = 1.5 * (1_u64 << 52) as f64;
    // 1/2! to 1/12!, the last first: the next term is below 2e-16 for arguments up to ln 2 / 2.
    const TERMS: [f64; 11] = [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        1.0 / 2.0,
    ];
    let clamped = if x > -708.0 { x } else { -708.0 };
    // e^x = 2^power e^rest; adding the shift rounds to a whole number, which then sits in the lowest bits.
    let shifted = clamped * std::f64::consts::LOG2_E + SHIFT;
    let power = shifted - SHIFT;
    let rest = (clamped - power * 6.931_471_803_691_238e-1) - power * 1.908_214_929_270_587_7e-10;
    let mut series = TERMS[0];
    for term in &TERMS[1..] {
        series = series * rest + term;
    }
    let mantissa = 1.0 + (rest + rest * rest * series);
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if x > -708.0 { mantissa * scale } else { 0.0 }
}

/// The probability of the second of two classes, and the logarithm of 1 plus the exponential of the logit.
pub fn sigmoid(logit: f64) -> (f64, f64) {
    let small = (-logit.abs()).exp();
    let probability = if logit >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
    (probability, logit.max(0.0) + small.ln_1p())
}

/// Takes 1 off the probability of each row's own class in block `block`: the derivative of the loss by the logits.
pub fn take_own_class_off(probabilities: &mut [f64], classes: &Classes, block: usize, n_rows: usize) {
    for row in 0..n_rows {
        probabilities[classes.of_rows[block * BLOCK + row] * BLOCK + row] -= 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right_to_the_last_bits() {
        for step in 0..70_000 {
            let x = -0.01 * f64::from(step) - 1e-3;
            let exact = x.exp();
            assert!((exp_of_negative(x) - exact).abs() <= 4.5e-16 * exact, "{x}");
        }
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-1e300), 0.0);
        assert_eq!(exp_of_negative(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn products_with_every_output_are_the_plain_sums() {
        let features = Array2::from_shape_fn((70, 6), |(row, feature)| (row * 7 + feature * 3) as f64 % 11.0 - 5.0);
        let blocks = Blocks::new(&features);
        let weights: Vec<f64> = (0..8 * 4).map(|place| f64::from(place) * 0.25 - 3.0).collect(); // [8, 4]
        let mut sums = vec![0.0; 4 * 8];
        for block in 0..2 {
            let mut outputs = vec![0.0; 4 * BLOCK];
            blocks.outputs(block, &weights, &mut outputs);
            let row = 3 + block * BLOCK;
            let expected: f64 = (0..6).map(|feature| features[[row, feature]] * weights[feature * 4 + 2]).sum::<f64>()
                + weights[6 * 4 + 2];
            assert_eq!(outputs[2 * BLOCK + 3], expected);
            blocks.add_products(block, &vec![1.0; 4 * BLOCK], &mut sums);
        }
        assert_eq!(sums[8 + 5], features.column(5).sum());
        assert_eq!(sums[8 + 6], 70.0);
    }
}
