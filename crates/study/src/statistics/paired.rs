//! Two groups of runs whose seeds match: what one gains over the other, seed by seed.

use serde::Serialize;

use super::special::student_two_sided;
use super::summary::{Summary, summary};
use super::wilcoxon::wilcoxon;

/// How two groups compare over the seeds that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedTest {
    /// The first less the second, over seeds.
    pub difference: Summary,
    /// The probability of a mean difference at least as far from 0 by chance: Student's paired t test; none for one pair, or where
    /// all differences are equal.
    pub t_p_value: Option<f64>,
    /// The same by the ranks of the differences: Wilcoxon's signed-rank test; none where no pair differs.
    pub wilcoxon_p_value: Option<f64>,
}

/// The tests of pairs of numbers; none where there is no pair, or a difference too large for a number.
pub fn paired_test(pairs: &[(f64, f64)]) -> Option<PairedTest> {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let difference = summary(&differences).filter(|_| differences.iter().all(|difference| difference.is_finite()))?;
    Some(PairedTest { difference, t_p_value: t_test(&difference), wilcoxon_p_value: wilcoxon(&differences) })
}

fn t_test(difference: &Summary) -> Option<f64> {
    let deviation = difference.deviation.filter(|deviation| *deviation > 0.0)?;
    let n = difference.n as f64;
    Some(student_two_sided(difference.mean / (deviation / n.sqrt()), n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_one_and_three() {
        // Mean 2, deviation sqrt 2, t = 2 with 1 degree: 1 - 2 atan(2) / pi. Of 4 patterns of signs, 2 are as extreme.
        let found = paired_test(&[(2.0, 1.0), (5.0, 2.0)]).unwrap();
        assert!((found.t_p_value.unwrap() - (1.0 - 2.0 * 2.0_f64.atan() / std::f64::consts::PI)).abs() < 1e-12);
        assert_eq!(found.wilcoxon_p_value, Some(0.5));
    }

    #[test]
    fn what_never_differs_has_no_test() {
        let same = paired_test(&[(1.0, 1.0), (2.0, 2.0)]).unwrap();
        assert_eq!((same.t_p_value, same.wilcoxon_p_value), (None, None));
        assert_eq!(paired_test(&[(1.0, 0.5)]).unwrap().t_p_value, None);
        assert_eq!(paired_test(&[]), None);
        assert_eq!(paired_test(&[(1.0, 0.5), (1.5e308, -1.5e308)]), None);
    }
}
