//! How much of a score's variance is known when one knows which group a run is of: one-way analysis of variance.
//!
//! T2 (its tables of percentages) regresses each score, dataset by dataset, on the objective alone and on every combination of objective and
//! regularisation strength, and reports the share of the variance that the regression explains. With a level for each group that is
//! `eta^2 = SS_between / SS_total`.

use serde::Serialize;

use super::special::f_above;
use crate::table::StudyTable;

/// What the groups explain of a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Explained {
    /// The share of the variance, in [0, 1].
    pub share: f64,
    /// The share that as many groups of this size explain on average where they mean nothing: `(groups - 1) / (runs - 1)`.
    pub by_chance: f64,
    /// The probability of a larger share by chance (F test); none where runs of a group never differ.
    pub p_value: Option<f64>,
    /// How many runs it rests on.
    pub n_runs: usize,
    /// How many groups these are of.
    pub n_groups: usize,
}

/// What runs are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divided {
    /// By what they minimise.
    ByObjective,
    /// By everything but the seed.
    BySetting,
}

impl Divided {
    /// What a group is called.
    pub fn word(self) -> &'static str {
        match self {
            Divided::ByObjective => "objective",
            Divided::BySetting => "setting",
        }
    }
}

/// The share of the variance of `values` that `groups` explain. It takes the runs that have a value, and needs two groups with two of them
/// each: without those, groups explain everything.
pub fn variance_explained(values: &[Option<f64>], groups: &[usize]) -> Result<Explained, String> {
    let there: Vec<(usize, f64)> =
        groups.iter().zip(values).filter_map(|(&group, value)| Some((group, (*value)?))).collect();
    let of_groups = by_group(&there);
    let n_repeated = of_groups.iter().filter(|numbers| numbers.len() >= 2).count();
    if n_repeated < 2 {
        return Err(format!("needs two groups with two runs each, and there {} {n_repeated}", is_or_are(n_repeated)));
    }
    let all: Vec<f64> = of_groups.concat();
    let total = squares(&all);
    if total == 0.0 {
        return Err("is the same in all runs".to_string());
    }
    if !total.is_finite() {
        return Err("is too large for a variance".to_string());
    }
    let within: f64 = of_groups.iter().map(|numbers| squares(numbers)).sum();
    let (n_runs, n_groups) = (all.len(), of_groups.len());
    let (degrees_between, degrees_within) = ((n_groups - 1) as f64, (n_runs - n_groups) as f64);
    let share = (1.0 - within / total).clamp(0.0, 1.0);
    let p_value = (within > 0.0).then(|| {
        let f = ((total - within).max(0.0) / degrees_between) / (within / degrees_within);
        f_above(f, degrees_between, degrees_within)
    });
    Ok(Explained { share, by_chance: degrees_between / (n_runs - 1) as f64, p_value, n_runs, n_groups })
}

/// The same of a score among the runs of one dataset.
pub fn explained_in_dataset(
    table: &StudyTable,
    dataset: usize,
    score: &[Option<f64>],
    divided: Divided,
) -> Result<Explained, String> {
    let categories = match divided {
        Divided::ByObjective => table.objectives(),
        Divided::BySetting => table.settings(),
    };
    let runs = table.datasets().runs_of(dataset);
    let values: Vec<Option<f64>> = runs.iter().map(|&run| score[run]).collect();
    let groups: Vec<usize> = runs.iter().map(|&run| categories.of_runs[run]).collect();
    variance_explained(&values, &groups)
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn by_group(numbers: &[(usize, f64)]) -> Vec<Vec<f64>> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by_key(|(group, _)| *group);
    sorted.chunk_by(|a, b| a.0 == b.0).map(|chunk| chunk.iter().map(|(_, number)| *number).collect()).collect()
}

/// The sum of squared deviations from the mean; exactly 0 for equal numbers.
fn squares(numbers: &[f64]) -> f64 {
    let Some(&first) = numbers.first() else { return 0.0 };
    let shift = numbers.iter().map(|number| number - first).sum::<f64>() / numbers.len() as f64;
    numbers.iter().map(|number| (number - first - shift).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_worked_by_hand() {
        // Groups 1, 3 and 5, 7: means 2 and 6 about 4, so 4 + 4 + 4 + 4 = 16 of 9 + 1 + 1 + 9 = 20.
        let values = [1.0, 5.0, 3.0, 7.0].map(Some);
        let found = variance_explained(&values, &[0, 1, 0, 1]).unwrap();
        assert!((found.share - 0.8).abs() < 1e-15 && (found.by_chance - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!((found.n_runs, found.n_groups), (4, 2));
        // F = 16 / (4 / 2) = 8 with 1 and 2 degrees: the t of 2 degrees at the root of 8, 1 - sqrt(8 / 10).
        assert!((found.p_value.unwrap() - (1.0 - 0.8_f64.sqrt())).abs() < 1e-12);
    }

    #[test]
    fn runs_without_the_score_take_no_part() {
        let values = [Some(1.0), None, Some(3.0), Some(5.0), Some(7.0), None];
        assert_eq!(variance_explained(&values, &[0, 0, 0, 1, 1, 2]).unwrap().n_runs, 4);
    }

    #[test]
    fn what_cannot_be_divided_says_why() {
        let why = |values: &[f64], groups: &[usize]| {
            let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            variance_explained(&values, groups).unwrap_err()
        };
        assert_eq!(why(&[1.0, 2.0, 3.0], &[0, 0, 1]), "needs two groups with two runs each, and there is 1");
        assert_eq!(why(&[1.0; 4], &[0, 0, 1, 1]), "is the same in all runs");
        assert_eq!(why(&[1e200, 0.0, -1e200, 0.0], &[0, 0, 1, 1]), "is too large for a variance");
    }
}
