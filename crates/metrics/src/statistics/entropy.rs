//! Entropy of a column of classes.

use super::classes::Classes;

/// `-sum_c p(c) ln p(c)` in nats; 0 where all rows share a class.
pub fn entropy(classes: &Classes) -> f64 {
    let n_rows = classes.of_rows.len() as f64;
    let counts = classes.counts();
    let shares = counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / n_rows);
    shares.map(|share| -share * share.ln()).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_even_classes_have_one_bit_and_a_single_one_none() {
        let even = Classes { of_rows: vec![0, 2, 2, 0], n_classes: 3 };
        assert!((entropy(&even) - 2_f64.ln()).abs() < 1e-15);
        assert_eq!(entropy(&Classes { of_rows: vec![1, 1], n_classes: 2 }), 0.0);
    }
}
