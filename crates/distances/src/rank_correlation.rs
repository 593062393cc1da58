//! Spearman's rank correlation with a gradient: the correlation of soft ranks (T1 eq. 6.1, after Blondel et al. 2020, section 6.3).

use crate::soft_ranks::SoftRanks;

/// A correlation, and how it changes.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftCorrelation {
    /// Between -1 and 1; 0 where one side has no spread of ranks.
    pub value: f64,
    /// Its gradient at each of the values.
    pub gradient: Vec<f64>,
}

/// The correlation of the soft ranks of `values` with those of `wanted`, and its gradient at `values`. Towards a strength of 0 it is
/// Spearman's, with mean ranks for equal values. Panics unless there are as many of each.
pub fn soft_spearman(values: &[f64], wanted: &[f64], strength: f64) -> SoftCorrelation {
    assert_eq!(values.len(), wanted.len(), "a correlation is of pairs");
    let ranks = SoftRanks::of(values, strength);
    let (found, size) = unit(&ranks.ranks);
    let (wanted, size_wanted) = unit(&SoftRanks::of(wanted, strength).ranks);
    if size == 0.0 || size_wanted == 0.0 {
        return SoftCorrelation { value: 0.0, gradient: vec![0.0; values.len()] };
    }
    let value: f64 = found.iter().zip(&wanted).map(|(a, b)| a * b).sum();
    // Of the dot product with a vector that is centred and made a unit one. Centring needs no more: both sides are centred.
    let at_ranks: Vec<f64> = found.iter().zip(&wanted).map(|(found, wanted)| (wanted - value * found) / size).collect();
    SoftCorrelation { value, gradient: ranks.gradient(&at_ranks) }
}

/// The ranks less their mean, divided by their size, which is given too; what has no size is left as it is.
fn unit(ranks: &[f64]) -> (Vec<f64>, f64) {
    let mean = ranks.iter().sum::<f64>() / ranks.len().max(1) as f64;
    let centred: Vec<f64> = ranks.iter().map(|rank| rank - mean).collect();
    let size = centred.iter().map(|value| value * value).sum::<f64>().sqrt();
    // Ranks are of the size of how many there are: what is left of equal ones is rounding.
    if size <= 1e-12 * ranks.len() as f64 {
        return (centred, 0.0);
    }
    (centred.iter().map(|value| value / size).collect(), size)
}

#[cfg(test)]
mod tests {
    use ndarray::aview1;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_values_by_hand() {
        // Ranks 1, 2, 3 against 1, 3, 2: centred -1, 0, 1 and -1, 1, 0, each of size sqrt(2): 1 / 2.
        let found = soft_spearman(&[0.0, 10.0, 20.0], &[5.0, 90.0, 60.0], 0.01);
        assert!(
            (found.value - 0.5).abs() < 1e-12 && found.gradient.iter().all(|slope| slope.abs() < 1e-9),
            "{found:?}"
        );
        // Soft ranks of 0.5, 2, 1 at strength 1 are 4/3, 17/6, 11/6 (see the soft ranks), of 0, 30, 60 they are 1, 2, 3. Centred:
        // -2/3, 5/6, -1/6 and -1, 0, 1: dot 1/2, sizes sqrt(42/36) and sqrt(2).
        let found = soft_spearman(&[0.5, 2.0, 1.0], &[0.0, 30.0, 60.0], 1.0);
        assert!((found.value - 0.5 / (42.0_f64 / 36.0 * 2.0).sqrt()).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn equal_values_have_no_correlation_and_no_gradient() {
        let nothing = SoftCorrelation { value: 0.0, gradient: vec![0.0; 3] };
        assert_eq!(soft_spearman(&[0.1; 3], &[1.0, 2.0, 3.0], 0.01), nothing);
        assert_eq!(soft_spearman(&[1.0, 2.0, 3.0], &[0.1; 3], 0.01), nothing);
        assert_eq!(soft_spearman(&[], &[], 0.01).value, 0.0);
    }

    proptest! {
        #[test]
        fn gradients_are_those_of_finite_differences(values in proptest::collection::vec(-1.0..1.0_f64, 3..12)) {
            let wanted: Vec<f64> = (0..values.len()).map(|i| (i as f64 * 2.3).sin()).collect();
            let of = |values: &[f64]| soft_spearman(values, &wanted, 0.4);
            for (position, found) in of(&values).gradient.iter().enumerate() {
                let moved = |step: f64| {
                    let mut moved = values.clone();
                    moved[position] += step;
                    of(&moved).value
                };
                let (before, now, after) = (moved(-1e-6), moved(0.0), moved(1e-6));
                let slopes = [(now - before) / 1e-6, (after - now) / 1e-6];
                prop_assume!((slopes[0] - slopes[1]).abs() < 1e-4);
                prop_assert!((found - slopes[0]).abs() < 1e-3, "{position}: {found} is not {slopes:?}");
            }
        }

        #[test]
        fn without_strength_it_is_spearmans(values in proptest::collection::vec((-9..9_i32, -9..9_i32), 3..40)) {
            let (a, b): (Vec<f64>, Vec<f64>) = values.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            let spread = |values: &[f64]| values.iter().any(|value| *value != values[0]);
            prop_assume!(spread(&a) && spread(&b));
            let wanted = unbraid_metrics::statistics::spearman::spearman(&aview1(&a), &aview1(&b));
            prop_assert!((soft_spearman(&a, &b, 1e-4).value - wanted).abs() < 1e-9);
        }
    }
}
