//! Correlation-based disentanglement: each latent should correlate with one factor and each factor with one latent.
//!
//! Mogultay Ozcan 2024, "On disentangled representation learning", equations 5.3 to 5.9, on the absolute Pearson
//! correlations `P [N latents, M factors]` of the train rows:
//!
//! `compactness = 1/N sum_j (P_j* - P_jo)`, largest minus second largest of each latent's row,
//! `modularity = 1/M sum_k (P_*k - P_ok)`, the same of each factor's column,
//! `cbd = alpha compactness + (1 - alpha) modularity`.
//!
//! Departures: a constant latent or factor, for which the correlation is not defined, correlates 0 with everything;
//! where there is one factor or one latent only, the second largest is 0.

use ndarray::Axis;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Result, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::gap::gap;
use crate::statistics::pearson::absolute_pearson_matrix;
use crate::subject::{Tables, all_constant};
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of correlation-based disentanglement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Cbd {
    /// Weight of compactness against modularity, in [0, 1].
    pub alpha: f64,
}

impl Default for Cbd {
    fn default() -> Self {
        Self { alpha: 0.5 }
    }
}

impl Metric for Cbd {
    /// `cbd`, `cbd.compactness` and `cbd.modularity` in [0, 1], and the matrix `cbd.correlation`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let Tables { codes, factors } = subject.train();
        let correlation = absolute_pearson_matrix(codes, factors); // [latents, factors]
        let compactness = mean_gap(correlation.outer_iter());
        let modularity = mean_gap(correlation.axis_iter(Axis(1)));
        let cbd = self.alpha * compactness + (1.0 - self.alpha) * modularity;

        let mut scores = Scores::new();
        for (name, value) in [("cbd", cbd), ("cbd.compactness", compactness), ("cbd.modularity", modularity)] {
            scores = if all_constant(codes) {
                scores.without(name, "every latent is constant")
            } else if all_constant(factors) {
                scores.without(name, "every factor is constant")
            } else {
                scores.with(name, value)
            };
        }
        scores.with_matrix(Matrix::of_latents_and_factors("cbd.correlation", data, correlation))
    }
}

/// The mean of largest minus second largest over the lines (rows or columns) of a matrix.
fn mean_gap<'a, Line: IntoIterator<Item = &'a f64>>(lines: impl ExactSizeIterator<Item = Line>) -> f64 {
    let n_lines = lines.len() as f64;
    lines.map(gap).sum::<f64>() / n_lines
}

fn build(table: &Table) -> Result<Box<dyn Metric>> {
    let cbd: Cbd = settings::read(table)?;
    if !(0.0..=1.0).contains(&cbd.alpha) {
        return Err(Error::new(format!("setting \"alpha\" is {}", cbd.alpha)).help("it is a weight from 0 to 1"));
    }
    Ok(Box::new(cbd))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "cbd",
    about: "gaps in the correlations between latents and factors",
    paper: "Mogultay Ozcan 2024",
    settings: &[Setting {
        name: "alpha",
        values: Values::Number(0.0, 1.0),
        meaning: "weight of compactness against modularity",
    }],
    scores: &[
        ScoreKind { name: "cbd", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "cbd.compactness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "cbd.modularity", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, LatentScales, Shift, RowOrder, LogVariances, Losses],
    build,
    complete: settings::complete::<Cbd>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(cbd: &Cbd, codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        cbd.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/cbd"))
    }

    /// z0 is minus the first factor; z1 is the sum of both, which correlates 1/sqrt(2) with each.
    fn codes() -> Array2<f64> {
        array![[0.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [-1.0, 2.0]]
    }

    #[test]
    fn gaps_worked_by_hand() {
        // P = [[1, 0], [r, r]] with r = 1/sqrt(2): rows 1 and 0, columns 1 - r and r.
        let scores = score(&Cbd::default(), codes());
        for (name, expected) in [("cbd.compactness", 0.5), ("cbd.modularity", 0.5), ("cbd", 0.5)] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
        assert!((scores.matrices[0].values[[1, 0]] - 0.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_constant_latent_counts_as_uncorrelated() {
        // P = [[1, 0], [0, 0]]: rows 1 and 0, columns 1 and 0.
        let scores = score(&Cbd { alpha: 1.0 }, array![[0.0, 0.1], [0.0, 0.1], [1.0, 0.1], [1.0, 0.1]]);
        assert!((scores.value("cbd").unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn constant_latents_leave_it_undefined() {
        let scores = score(&Cbd::default(), Array2::ones((4, 2)));
        assert_eq!(scores.undefined.len(), 3);
        assert_eq!(scores.reason("cbd"), Some("every latent is constant"));
    }

    #[test]
    fn a_weight_outside_its_range_is_refused() {
        let error = build(&"alpha = 1.5".parse().unwrap()).err().unwrap();
        assert_eq!(error.to_string(), "setting \"alpha\" is 1.5\n       it is a weight from 0 to 1");
    }
}
