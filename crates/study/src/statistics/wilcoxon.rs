//! Wilcoxon's signed-rank test of paired differences, two-sided (Wilcoxon 1945, "Individual comparisons by ranking methods").
//!
//! As `scipy.stats.wilcoxon` does by default, differences of 0 are left out, equal sizes share their mean rank, and no correction for
//! continuity is made. The distribution is counted out where there are at most 50 differences, or at most 13 with ties or zeros among them;
//! for more it is taken as normal, with the variance that ties leave.

use ndarray::Array1;
use unbraid_metrics::statistics::ranks::average_ranks;

use super::special::normal_two_sided;

const MOST_EXACT: usize = 50;
const MOST_EXACT_WITH_TIES: usize = 13;

/// The probability of signed ranks at least as uneven by chance; none where all differences are 0.
pub fn wilcoxon(differences: &[f64]) -> Option<f64> {
    let there: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if there.is_empty() {
        return None;
    }
    let sizes: Array1<f64> = there.iter().map(|difference| difference.abs()).collect();
    let ranks = average_ranks(&sizes);
    let positive: f64 =
        there.iter().zip(&ranks).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| rank).sum();
    let ties = tie_sizes(&ranks);
    let is_plain = ties.iter().all(|size| *size == 1.0) && there.len() == differences.len();
    let most_exact = if is_plain { MOST_EXACT } else { MOST_EXACT_WITH_TIES };
    if differences.len() <= most_exact {
        Some(counted_out(&ranks, positive))
    } else {
        Some(normal(&ranks, &ties, positive))
    }
}

/// How many ranks share each value.
fn tie_sizes(ranks: &[f64]) -> Vec<f64> {
    let mut sorted = ranks.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64).collect()
}

/// Twice the smaller tail of the sum of positive ranks over all patterns of signs. Mean ranks are whole numbers or halves, so that twice
/// the sum counts the patterns in whole steps.
fn counted_out(ranks: &[f64], positive: f64) -> f64 {
    let steps: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank).round() as usize).collect();
    let mut shares = vec![0.0; steps.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    for step in steps {
        for sum in (0..shares.len()).rev() {
            let with = if sum >= step { shares[sum - step] } else { 0.0 };
            shares[sum] = 0.5 * (shares[sum] + with);
        }
    }
    let found = (2.0 * positive).round() as usize;
    let below: f64 = shares[..=found].iter().sum();
    let above: f64 = shares[found..].iter().sum();
    (2.0 * below.min(above)).min(1.0)
}

fn normal(ranks: &[f64], ties: &[f64], positive: f64) -> f64 {
    let n = ranks.len() as f64;
    let mean = n * (n + 1.0) / 4.0;
    let lost_to_ties: f64 = ties.iter().map(|size| size.powi(3) - size).sum();
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - lost_to_ties / 2.0) / 24.0;
    normal_two_sided((positive - mean) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_five_alike_are_one_pattern_of_thirty_two_on_each_side() {
        assert_eq!(wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0]), Some(2.0 / 32.0));
        assert_eq!(wilcoxon(&[-1.0, -2.0, -3.0, -4.0, -5.0]), Some(2.0 / 32.0));
    }

    #[test]
    fn ties_are_counted_with_their_mean_rank() {
        // Ranks 1.5, 1.5, 3 with one 1.5 negative: sums 4.5 or more in 3 of 8 patterns (6, 4.5, 4.5).
        assert_eq!(wilcoxon(&[1.0, -1.0, 2.0, 0.0]), Some(0.75));
    }

    #[test]
    fn zeros_alone_tell_nothing() {
        assert_eq!(wilcoxon(&[0.0, -0.0]), None);
        assert_eq!(wilcoxon(&[]), None);
    }
}
