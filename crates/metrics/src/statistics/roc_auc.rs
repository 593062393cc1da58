//! Area under the receiver operating characteristic.

/// The share of pairs of a positive and a negative row in which the positive has the higher score, ties counted half;
/// `None` where there is no such pair. In [0, 1].
pub fn roc_auc(scores: &[f64], is_positive: &[bool]) -> Option<f64> {
    let n_positive = is_positive.iter().filter(|&&is_positive| is_positive).count();
    let n_negative = is_positive.len() - n_positive;
    if n_positive == 0 || n_negative == 0 {
        return None;
    }
    let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(is_positive.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // Twice the number of pairs won, so that halves are whole numbers and the sum is exact.
    let (mut won_twice, mut negatives_below) = (0_u64, 0_u64);
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        let positives = tied.iter().filter(|(_, is_positive)| *is_positive).count() as u64;
        let negatives = tied.len() as u64 - positives;
        won_twice += positives * (2 * negatives_below + negatives);
        negatives_below += negatives;
    }
    Some(won_twice as f64 / 2.0 / (n_positive as f64 * n_negative as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_counted_by_hand() {
        // Positives 0.8 and 0.4 against negatives 0.6 and 0.4: won, won, lost, tied.
        let area = roc_auc(&[0.8, 0.4, 0.6, 0.4], &[true, true, false, false]);
        assert_eq!(area, Some(2.5 / 4.0));
    }

    #[test]
    fn without_both_kinds_there_is_no_pair() {
        assert_eq!(roc_auc(&[0.8, 0.4], &[true, true]), None);
        assert_eq!(roc_auc(&[], &[]), None);
    }
}
