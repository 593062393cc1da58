//! Codes that are so far from 0, for how little they move, that rounding has changed them, and latents that only rounding
//! moves.

use ndarray::{Array2, ArrayRef1};
use unbraid_data::LabelledCodes;

use crate::scores::latent_name;

/// How many numbers a moving latent's range has to hold. Rounding then moves a value by less than a millionth of the range,
/// less than it does to codes that a network writes in 32 bits.
const LEAST_STEPS: f64 = 1_048_576.0;

/// A latent whose range holds fewer numbers than this moves by rounding alone: a dead latent of 0.3 that comes out of a
/// network as 0.3 and as 0.1 + 0.2.
const NOISE_STEPS: f64 = 16.0;

/// The same table with every latent that moves by rounding alone at its least value, so that no metric sees a meaning in
/// it, and the note on that; nothing where there is no such latent.
pub fn without_rounding_noise(data: &LabelledCodes) -> Option<(LabelledCodes, String)> {
    let mut codes = data.codes().clone();
    let mut names = Vec::new();
    for (latent, mut column) in codes.columns_mut().into_iter().enumerate() {
        let (low, high) = extremes(&column);
        if low < high && steps(low, high) < NOISE_STEPS {
            column.fill(low);
            names.push(latent_name(latent));
        }
    }
    let (moves, counts) = if names.len() == 1 { ("moves", "counts") } else { ("move", "count") };
    let note = format!(
        "{} {moves} by rounding alone, less than {NOISE_STEPS} steps of numbers of 64 bits, and {counts} as constant",
        names.join(", ")
    );
    let table = |codes| LabelledCodes::new(codes, data.factors().clone(), data.space().clone(), data.extras().clone());
    (!names.is_empty()).then(|| (table(codes).expect("only finite codes were changed"), note))
}

/// How many numbers of 32 bits the range of the widest latent has to hold where its values all are such numbers, and neighbours
/// among them: with some 350, `dci` of one table was 0.605 instead of 0.670 while `mig` was as before. Of a narrower latent, as a dead one of a
/// network is, nothing follows.
const LEAST_SHORT_STEPS: f64 = 4096.0;

/// Why `codes [rows, latents]` cannot be scored, where a latent that moves spans too few of the numbers that there are.
pub fn why_too_coarse(codes: &Array2<f64>) -> Option<String> {
    let range = |column: &ArrayRef1<f64>| extremes(column).1 / 2.0 - extremes(column).0 / 2.0;
    let widest = codes.columns().into_iter().map(|column| range(&column)).fold(0.0, f64::max);
    codes.columns().into_iter().enumerate().find_map(|(latent, column)| {
        let (low, high) = extremes(&column);
        if low == high {
            return None;
        }
        let furthest = low.abs().max(high.abs());
        let (bits, step) = if steps(low, high) < LEAST_STEPS {
            (64, step_below(furthest))
        } else if range(&column) == widest {
            (32, coarse_short_step(&column, low, high)?)
        } else {
            return None;
        };
        Some(format!(
            "{} lies between {low:e} and {high:e}, where numbers of {bits} bits are {step:.1e} apart, so that rounding has \
             changed the codes: take their mean away, or leave the latent out, before they are saved",
            latent_name(latent)
        ))
    })
}

/// How far numbers of 32 bits are apart at the far end of a latent that was saved in them and spans too few.
fn coarse_short_step(column: &ArrayRef1<f64>, low: f64, high: f64) -> Option<f64> {
    let furthest = low.abs().max(high.abs()) as f32;
    let step = f64::from(furthest) - f64::from(furthest.next_down());
    let is_short = |value: &f64| f64::from(*value as f32) == *value;
    if high - low >= LEAST_SHORT_STEPS * step || !column.iter().all(is_short) {
        return None;
    }
    // Whole numbers far from 0 are exact: none of them are neighbours.
    let mut values = column.to_vec();
    values.sort_by(f64::total_cmp);
    values.windows(2).any(|pair| pair[0] < pair[1] && pair[1] - pair[0] < 2.0 * step).then_some(step)
}

/// How many steps of numbers of 64 bits, as they are at the end further from 0, lie between two numbers.
fn steps(low: f64, high: f64) -> f64 {
    let step = step_below(low.abs().max(high.abs()));
    high / step - low / step
}

/// How far the next number below is.
fn step_below(number: f64) -> f64 {
    number - number.next_down()
}

fn extremes(column: &ArrayRef1<f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    column.iter().fold(ends, |(low, high), &value| (low.min(value), high.max(value)))
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array, concatenate, s};
    use unbraid_data::FactorSpace;
    use unbraid_data::labelled_codes::Extras;

    use super::*;

    /// Rows of a latent that moves by 6, `shift` from 0, as a network saves it.
    fn short(shift: f64) -> Array2<f64> {
        Array2::from_shape_fn((500, 1), |(row, _)| f64::from(((row * 7919 % 500) as f64 * 0.012 + shift) as f32))
    }

    #[test]
    fn numbers_of_32_bits_have_steps_of_their_own() {
        assert_eq!(why_too_coarse(&short(0.0)), None);
        assert_eq!(why_too_coarse(&short(1e3)), None);
        for shift in [1e5, 1e7, 1e8] {
            let reason = why_too_coarse(&short(shift)).unwrap();
            assert!(reason.contains("where numbers of 32 bits are"), "{reason}");
        }
        // A dead latent beside one that moves.
        let dead = concatenate![Axis(1), short(0.0), short(0.0) * 1e-8 + 0.25].mapv(|value| f64::from(value as f32));
        assert_eq!(why_too_coarse(&dead), None);
        // Quantised latents are exact wherever they are.
        assert_eq!(why_too_coarse(&Array2::from_shape_fn((500, 1), |(row, _)| 1e6 + (row % 8) as f64)), None);
    }

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

    #[test]
    fn only_latents_of_fewer_than_16_steps_are_held_still() {
        // Below 0.5 numbers are 2^-54 apart, so that 0.1 + 0.2 is one step above 0.3; z1 spans 16 steps, z2 one from 0 to 1.
        let codes = array![[0.1 + 0.2, 0.25 + 16.0 * 0.5_f64.powi(54), 0.0], [0.3, 0.25, 1.0]];
        let space = FactorSpace::grid([("shape", 2)]);
        let data = LabelledCodes::new(codes.clone(), array![[0.0], [1.0]], space, Extras::default()).unwrap();
        let (held, note) = without_rounding_noise(&data).unwrap();
        assert_eq!(held.codes().column(0), array![0.3, 0.3]);
        assert_eq!(held.codes().slice(s![.., 1..]), codes.slice(s![.., 1..]));
        assert!(note.starts_with("z0 moves by rounding alone"), "{note}");
        assert!(without_rounding_noise(&held).is_none());
        assert!(why_too_coarse(held.codes()).unwrap().starts_with("z1 lies"));
    }
}
