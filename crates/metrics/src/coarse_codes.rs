//! Codes that are so far from 0, for how little they move, that rounding has changed them.

use ndarray::{Array2, ArrayRef1};

use crate::scores::latent_name;

/// How many numbers a moving latent's range has to hold. Rounding then moves a value by less than a millionth of the range,
/// less than it does to codes that a network writes in 32 bits.
const LEAST_STEPS: f64 = 1_048_576.0;

/// Why `codes [rows, latents]` cannot be scored, where a latent that moves spans too few of the numbers that there are.
pub fn why_too_coarse(codes: &Array2<f64>) -> Option<String> {
    codes.columns().into_iter().enumerate().find_map(|(latent, column)| {
        let (low, high) = extremes(&column);
        let largest = low.abs().max(high.abs());
        let step = largest - largest.next_down();
        let n_steps = high / step - low / step;
        (low < high && n_steps < LEAST_STEPS).then(|| {
            format!(
                "{} lies between {low:e} and {high:e}, where numbers of 64 bits are {step:.1e} apart, so that rounding has \
                 changed the codes: take their mean away, or leave the latent out, before they are saved",
                latent_name(latent)
            )
        })
    })
}

fn extremes(column: &ArrayRef1<f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    column.iter().fold(ends, |(low, high), &value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn steps_counted_by_hand() {
        // At 1e8 numbers are 2^-26 apart: 67 million in a range of 1. At 1e12 it is 2^-13: 8,192.
        let codes = array![[0.25, 0.0], [0.5, 1.0]];
        assert_eq!(why_too_coarse(&(&codes + 1e8)), None);
        let reason = why_too_coarse(&(&codes + 1e12)).unwrap();
        assert!(reason.starts_with("z0 lies between 1.00000000000025e12 and 1.0000000000005e12"), "{reason}");
        assert!(reason.contains("1.2e-4 apart"), "{reason}");
    }

    #[test]
    fn neither_constants_nor_any_unit_are_coarse() {
        let codes = array![[1e300, 0.0], [1e300, 1.0]];
        assert_eq!(why_too_coarse(&codes), None);
        for unit in [1e-300, 1e-150, 1e300, f64::MAX] {
            assert_eq!(why_too_coarse(&(array![[-1.0], [0.3], [1.0]] * unit)), None, "{unit}");
        }
        assert!(why_too_coarse(&array![[0.0], [5e-324]]).is_some());
    }
}
