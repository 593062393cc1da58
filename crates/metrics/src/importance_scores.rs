//! Disentanglement and completeness from how important each latent is for each factor.
//!
//! Eastwood and Williams 2018, "A framework for the quantitative evaluation of disentangled representations", section 2,
//! for importances `R [D latents, K factors]`, none of them negative:
//!
//! `disentanglement.z_i = 1 - H_K(R_i. / sum_k R_ik)`, the entropy to base K of a latent's row,
//! `completeness.v_j = 1 - H_D(R_.j / sum_d R_dj)`, the entropy to base D of a factor's column,
//!
//! and each one's mean, weighted by the share of all importance that the row or the column has. That is the paper's
//! disentanglement and, for both, disentanglement_lib; the authors' notebook takes the plain mean of completeness.
//!
//! Departures: disentanglement_lib adds 1e-11 to every importance before it takes entropies; here 0 ln 0 is 0, which
//! moves no score by more than about 1e-9 and keeps closed forms exact. A row or column of zeros, which weighs nothing,
//! has no part of its own (there: 0). Where there is one factor, every latent serves it alone, and the base of the
//! entropy is 1: disentanglement is undefined, as is completeness where there is one latent.

use ndarray::{Array2, ArrayRef1, Axis};
use serde::{Deserialize, Serialize};
use unbraid_data::LabelledCodes;

use crate::{Matrix, Scores};

/// What latents and factors weigh in a mean over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// All alike that have a score.
    Equal,
    /// By their share of all importance.
    Importance,
}

/// `NAME.disentanglement`, `NAME.disentanglement.zI`, `NAME.completeness` and `NAME.completeness.FACTOR`, all in [0, 1],
/// and the matrix `NAME.importance`, for finite importances `[latents, factors]` of at least 0. Factors have these weights in
/// completeness; in disentanglement latents always weigh by importance.
pub fn importance_scores(
    name: &str,
    subject_data: &LabelledCodes,
    importance: Array2<f64>,
    factor_weights: Weights,
) -> Scores {
    let kind = format!("{name}.disentanglement");
    let disentanglement = concentration(&importance, Axis(0), Weights::Importance);
    let mut scores = Scores::new().with_outcome(&kind, disentanglement.whole);
    for (latent, part) in disentanglement.parts.into_iter().enumerate() {
        scores = scores.with_latent(&kind, latent, part);
    }
    let kind = format!("{name}.completeness");
    let completeness = concentration(&importance, Axis(1), factor_weights);
    scores = scores.with_outcome(&kind, completeness.whole);
    for (factor, part) in subject_data.space().names().zip(completeness.parts) {
        scores = scores.with_factor(&kind, factor, part);
    }
    scores.with_matrix(Matrix::of_latents_and_factors(&format!("{name}.importance"), subject_data, importance))
}

/// The scores that a DCI metric has of every input, all undefined for the same reason.
pub fn no_dci_scores(name: &str, reason: &str) -> Scores {
    let parts = ["disentanglement", "completeness", "informativeness_train", "informativeness_test"];
    let parts = parts.map(|part| format!("{name}.{part}"));
    Scores::new().without(name, reason).without_all(parts, reason)
}

/// How concentrated the lines of a matrix are, along one axis.
struct Concentration {
    /// The weighted mean of all lines.
    whole: Result<f64, String>,
    /// Each line's own.
    parts: Vec<Result<f64, String>>,
}

/// The concentration of each row of `importance [latents, factors]` for `Axis(0)`, of each column for `Axis(1)`.
fn concentration(importance: &Array2<f64>, lines: Axis, weights: Weights) -> Concentration {
    let parts: Vec<_> = importance.axis_iter(lines).map(|line| concentration_of_line(&line, lines)).collect();
    let largest = importance.fold(0.0_f64, |largest, &value| largest.max(value));
    if largest == 0.0 {
        let reason = "no latent is of any importance for any factor".to_string();
        return Concentration { whole: Err(reason), parts };
    }
    // In units of the largest, sums of the largest numbers there are stay finite.
    let sums = importance.axis_iter(lines).map(|line| line.iter().map(|value| value / largest).sum());
    let weights: Vec<f64> = match weights {
        Weights::Importance => sums.collect(),
        Weights::Equal => parts.iter().map(|part| if part.is_ok() { 1.0 } else { 0.0 }).collect(),
    };
    let too_few = parts.iter().find(|_| importance.len_of(other(lines)) == 1).cloned();
    let weighted = parts.iter().zip(&weights).filter_map(|(part, weight)| Some(part.as_ref().ok()? * weight));
    let whole = match too_few {
        Some(Err(reason)) => Err(reason),
        _ => Ok((weighted.sum::<f64>() / weights.iter().sum::<f64>()).clamp(0.0, 1.0)),
    };
    Concentration { whole, parts }
}

/// One minus the entropy of a line to the base of its length.
fn concentration_of_line(line: &ArrayRef1<f64>, lines: Axis) -> Result<f64, String> {
    let (needed, of_no_use) = match lines {
        Axis(0) => ("factors: every latent serves the only one", "the latent is of no importance for any factor"),
        _ => ("latents: every factor rests on the only one", "no latent is of any importance for the factor"),
    };
    if line.len() == 1 {
        return Err(format!("needs at least two {needed}"));
    }
    let largest = line.fold(0.0_f64, |largest, &value| largest.max(value));
    if largest == 0.0 {
        return Err(of_no_use.to_string());
    }
    let sum: f64 = line.iter().map(|value| value / largest).sum();
    let shares = line.iter().map(|value| value / largest / sum).filter(|&share| share > 0.0);
    let entropy: f64 = shares.map(|share| -share * share.ln()).sum();
    Ok((1.0 - entropy / (line.len() as f64).ln()).clamp(0.0, 1.0))
}

fn other(axis: Axis) -> Axis {
    Axis(1 - axis.index())
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes};

    use super::*;

    fn scores(importance: Array2<f64>) -> Scores {
        let (n_latents, n_factors) = importance.dim();
        let names = ["shape", "scale", "colour"].into_iter().zip([2; 3]).take(n_factors);
        let (codes, factors) = (Array2::zeros((2, n_latents)), Array2::zeros((2, n_factors)));
        let data = LabelledCodes::new(codes, factors, FactorSpace::grid(names), Extras::default()).unwrap();
        importance_scores("dci", &data, importance, Weights::Importance)
    }

    fn assert_scores(scores: &Scores, expected: &[(&str, f64)]) {
        for (name, value) in expected {
            let found = scores.value(name).unwrap();
            assert!((found - value).abs() < 1e-12, "{name} is {found}, wanted {value}");
        }
    }

    #[test]
    fn entropies_worked_by_hand() {
        // Rows: z0 serves one factor, 1; z1 two alike, 0. They weigh 2/4 each, so 1/2.
        // Columns: shape has shares (2/3, 1/3) and entropy ln 3 - 2/3 ln 2, scale (0, 1). They weigh 3/4 and 1/4.
        let scores = scores(array![[2.0, 0.0], [1.0, 1.0]]);
        let shape = 1.0 - (3_f64.ln() - 2.0 / 3.0 * 2_f64.ln()) / 2_f64.ln();
        assert_scores(
            &scores,
            &[
                ("dci.disentanglement", 0.5),
                ("dci.disentanglement.z0", 1.0),
                ("dci.disentanglement.z1", 0.0),
                ("dci.completeness", 0.75 * shape + 0.25),
                ("dci.completeness.shape", shape),
                ("dci.completeness.scale", 1.0),
            ],
        );
        assert_eq!(scores.matrices[0].name, "dci.importance");
    }

    #[test]
    fn a_factor_shared_by_two_of_n_latents_alike_lacks_ln_2_over_ln_n() {
        let scores = scores(array![[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]]);
        let shape = 1.0 - 2_f64.ln() / 3_f64.ln();
        assert_scores(&scores, &[("dci.disentanglement", 1.0), ("dci.completeness", (2.0 * shape + 3.0) / 5.0)]);
    }

    #[test]
    fn with_equal_weights_completeness_is_the_plain_mean_of_the_factors_that_have_one() {
        // Shares (2/3, 1/3), which weigh 3/4 above, then (0, 1), then none.
        let importance = array![[2.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
        let shape = 1.0 - (3_f64.ln() - 2.0 / 3.0 * 2_f64.ln()) / 2_f64.ln();
        let whole = concentration(&importance, Axis(1), Weights::Equal).whole.unwrap();
        assert!((whole - (shape + 1.0) / 2.0).abs() < 1e-12, "{whole}");
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_have_scores() {
        let scores = scores(array![[f64::MAX, f64::MAX], [5e-324, 0.0]]);
        assert_scores(&scores, &[("dci.disentanglement", 0.0), ("dci.disentanglement.z1", 1.0)]);
    }

    #[test]
    fn without_any_importance_nothing_is_defined() {
        let scores = scores(array![[0.0, 0.0], [0.0, 0.0]]);
        assert!(scores.values.is_empty());
        assert_eq!(scores.undefined[0].reason, "no latent is of any importance for any factor");
        assert_eq!(scores.undefined[1].reason, "the latent is of no importance for any factor");
    }

    #[test]
    fn one_factor_has_completeness_only_and_one_latent_disentanglement_only() {
        let one_factor = scores(array![[1.0], [0.0]]);
        assert_scores(&one_factor, &[("dci.completeness", 1.0)]);
        let reason = "needs at least two factors: every latent serves the only one".to_string();
        assert_eq!(one_factor.reason("dci.disentanglement"), Some(reason.as_str()));
        let one_latent = scores(array![[1.0, 1.0]]);
        assert_scores(&one_latent, &[("dci.disentanglement", 0.0)]);
        assert_eq!(one_latent.value("dci.completeness"), None);
    }
}
