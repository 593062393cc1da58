//! Disentanglement, completeness and informativeness by lasso regression.
//!
//! Eastwood and Williams 2018, "A framework for the quantitative evaluation of disentangled representations", with the
//! first of their two regressors: each factor is regressed on all latents, both at mean 0 and variance 1 on the train
//! rows, and a latent's importance is the size of its weight. Informativeness is the share of the factor's variance that is
//! explained, `R^2`, on the test rows, and 0 where predictions are worse than the mean, as in `dci` and `dci_forest`.
//!
//! Disentanglement is the mean over latents weighted by importance, as in the paper, and completeness the plain mean over
//! factors, as in the authors' notebook; disentanglement_lib weights factors by importance too:
//! `completeness_weights = "importance"`. A factor for which no latent has any weight takes no part in either.
//!
//! Settings: the authors fit with `alpha = 0.02`. Carbonneau et al. 2022 choose it among 0.0001 to 1 by cross-validation
//! on factors scaled to [0, 1]; a list of several `alphas` is chosen from in that way here, by 10 folds of the train rows
//! in their order. Departures: the authors report the error relative to a guess of the mean; `R^2` is one minus its square. A
//! factor's value is taken for a number, though it may be a name for a class.

use ndarray::{Array1, Array2, ArrayRef1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{self, Setting, Values};
use unbraid_data::{Error, Rng};

use crate::Better::High;
use crate::Change::*;
use crate::importance_scores::{Weights, importance_scores, no_dci_scores};
use crate::predictors::lasso::Lasso;
use crate::statistics::mean::mean_of_defined;
use crate::statistics::r_squared::explained_variance;
use crate::statistics::standardise::Standardisation;
use crate::{Entry, Metric, ScoreKind, Scores, Split, Subject};

const N_FOLDS: usize = 10;

/// Settings of the lasso's disentanglement, completeness and informativeness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct DciLasso {
    /// Strength of the penalty, above 0; 0.02 in the authors' code. Of several the one with the least squared error in
    /// cross-validation is taken for each factor; Carbonneau et al. 2022 have 0.0001, 0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1.
    pub alphas: Vec<f64>,
    /// What factors weigh in completeness; equal in the authors' notebook, by importance in disentanglement_lib.
    pub completeness_weights: Weights,
}

impl Default for DciLasso {
    fn default() -> Self {
        Self { alphas: vec![0.02], completeness_weights: Weights::Equal }
    }
}

/// What one factor's regression gives.
struct OfFactor {
    /// `[latents]`
    importance: Array1<f64>,
    train: Result<f64, String>,
    test: Result<f64, String>,
}

impl Metric for DciLasso {
    /// `dci_lasso` and `dci_lasso.disentanglement` (the same), `dci_lasso.completeness`, their parts,
    /// `dci_lasso.informativeness_test` and `dci_lasso.informativeness_train`, all in [0, 1], and the matrix
    /// `dci_lasso.importance`.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let split = match subject.split() {
            Ok(split) => split,
            Err(reason) => return no_dci_scores("dci_lasso", &reason),
        };
        let of_factors = self.regress(split);
        let importance = Array2::from_shape_fn((data.n_latents(), data.n_factors()), |(latent, factor)| {
            of_factors[factor].importance[latent]
        });
        let parts = importance_scores("dci_lasso", data, importance, self.completeness_weights);
        let reason = parts.reason("dci_lasso.disentanglement").unwrap_or("it has no disentanglement");
        let whole = parts.value("dci_lasso.disentanglement").ok_or(reason);
        let mut scores = Scores::new().with_outcome("dci_lasso", whole);
        scores.extend(parts);
        let (train, test): (Vec<_>, Vec<_>) = of_factors.into_iter().map(|factor| (factor.train, factor.test)).unzip();
        for (name, per_factor) in [("dci_lasso.informativeness_test", test), ("dci_lasso.informativeness_train", train)]
        {
            scores = scores.with_outcome(name, mean_of_defined(&per_factor));
            for (factor, outcome) in data.space().names().zip(per_factor) {
                scores = scores.with_factor(name, factor, outcome);
            }
        }
        scores
    }
}

impl DciLasso {
    fn regress(&self, split: &Split) -> Vec<OfFactor> {
        let (of_codes, of_factors) =
            (Standardisation::of(&split.train.codes), Standardisation::of(&split.train.factors));
        let (train, test) = (of_codes.apply(&split.train.codes), of_codes.apply(&split.test.codes));
        let (targets, tested) = (of_factors.apply(&split.train.factors), of_factors.apply(&split.test.factors));
        let of_factor = |factor: usize| {
            let alpha = self.alpha_for(&train, &targets.column(factor));
            let fitted = Lasso::new(&train, alpha).fit(&targets.column(factor));
            OfFactor {
                importance: fitted.weights.mapv(f64::abs),
                train: explained_variance(&fitted.predict(&train).to_vec(), &targets.column(factor)),
                test: explained_variance(&fitted.predict(&test).to_vec(), &tested.column(factor)),
            }
        };
        (0..targets.ncols()).into_par_iter().map(of_factor).collect()
    }

    /// The only strength, or of several the one that predicts best what it was not fitted on; the first of equals.
    fn alpha_for(&self, codes: &Array2<f64>, targets: &ArrayRef1<f64>) -> f64 {
        let n_folds = N_FOLDS.min(codes.nrows());
        if self.alphas.len() == 1 || n_folds < 2 {
            return self.alphas[0];
        }
        let error =
            |alpha: f64| (0..n_folds).map(|fold| error_of_fold(codes, targets, alpha, (fold, n_folds))).sum::<f64>();
        let errors: Vec<f64> = self.alphas.iter().map(|&alpha| error(alpha)).collect();
        let best = (1..errors.len()).fold(0, |best, place| if errors[place] < errors[best] { place } else { best });
        self.alphas[best]
    }
}

/// The mean squared error on one of several runs of rows, fitted on the others.
fn error_of_fold(codes: &Array2<f64>, targets: &ArrayRef1<f64>, alpha: f64, fold: (usize, usize)) -> f64 {
    let (fold, n_folds) = fold;
    let held_out = fold * codes.nrows() / n_folds..(fold + 1) * codes.nrows() / n_folds;
    let (tested, fitted_on): (Vec<usize>, Vec<usize>) = (0..codes.nrows()).partition(|row| held_out.contains(row));
    let fitted = Lasso::new(&codes.select(Axis(0), &fitted_on), alpha).fit(&targets.select(Axis(0), &fitted_on));
    let off = fitted.predict(&codes.select(Axis(0), &tested)) - targets.select(Axis(0), &tested);
    off.dot(&off) / tested.len() as f64
}

fn build(table: &Table) -> unbraid_data::Result<Box<dyn Metric>> {
    let dci_lasso: DciLasso = settings::read(table)?;
    let alphas = &dci_lasso.alphas;
    if alphas.is_empty() || alphas.iter().any(|alpha| !(1e-100..=1e100).contains(alpha)) {
        let error = Error::new(format!("setting \"alphas\" is {alphas:?}"));
        return Err(error.help("wanted one or several numbers from 1e-100 to 1e100"));
    }
    Ok(Box::new(dci_lasso))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "dci_lasso",
    about: "disentanglement, completeness and informativeness by lasso regression",
    paper: "Eastwood and Williams 2018",
    settings: &[
        Setting {
            name: "alphas",
            values: Values::Words("one or several numbers from 1e-100 to 1e100"),
            meaning: "strength of the lasso's penalty; of several, each factor's is chosen by cross-validation",
        },
        Setting {
            name: "completeness_weights",
            values: Values::OneOf(&["equal", "importance"]),
            meaning: "what factors weigh in completeness: all the same, or by importance as in disentanglement_lib",
        },
    ],
    scores: &[
        ScoreKind { name: "dci_lasso", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_lasso.disentanglement", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_lasso.completeness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_lasso.informativeness_train", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_lasso.informativeness_test", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, CommonScale, LatentScales, Shift, RowOrder, LogVariances, Losses],
    build,
    complete: settings::complete::<DciLasso>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(dci_lasso: &DciLasso, codes: Array2<f64>) -> Scores {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let rows = Some(vec![0, 1, 2, 3]);
        let extras = Extras { train_rows: rows.clone(), test_rows: rows, ..Extras::default() };
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let data = LabelledCodes::new(codes, factors, space, extras).unwrap();
        dci_lasso.score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/dci_lasso"))
    }

    #[test]
    fn factors_as_codes_lose_alpha_of_each_weight() {
        // The weight is 1 - 0.02, so that the square of 0.02 is left unexplained.
        let scores = score(&DciLasso::default(), array![[3.0, 0.0], [3.0, 2.0], [1.0, 0.0], [1.0, 2.0]]);
        for (name, expected) in [
            ("dci_lasso", 1.0),
            ("dci_lasso.completeness", 1.0),
            ("dci_lasso.informativeness_test", 0.9996),
            ("dci_lasso.informativeness_train.scale", 0.9996),
        ] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}: {scores:?}");
        }
        assert!((scores.matrices[0].values[[0, 0]] - 0.98).abs() < 1e-12);
    }

    #[test]
    fn the_best_of_several_strengths_is_taken() {
        let several = DciLasso { alphas: vec![0.5, 0.001, 0.1], ..DciLasso::default() };
        let codes = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        assert!((score(&several, codes).matrices[0].values[[0, 0]] - 0.999).abs() < 1e-12);
    }

    #[test]
    fn predictions_worse_than_the_mean_explain_nothing() {
        // The factor rises with the latent on the rows to fit on and falls with it on the others.
        let codes = array![[0.0], [1.0], [0.0], [1.0]];
        let extras = Extras { train_rows: Some(vec![0, 1]), test_rows: Some(vec![2, 3]), ..Extras::default() };
        let space = FactorSpace::sample(vec![Factor { name: "shape".to_string(), size: Some(2) }]);
        let data = LabelledCodes::new(codes, array![[0.0], [1.0], [1.0], [0.0]], space, extras).unwrap();
        let scores = DciLasso::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/dci_lasso"));
        for name in ["dci_lasso.informativeness_test", "dci_lasso.informativeness_test.shape"] {
            assert_eq!(scores.value(name), Some(0.0), "{name}");
        }
        assert!((scores.value("dci_lasso.informativeness_train").unwrap() - 0.9996).abs() < 1e-12);
    }

    #[test]
    fn constant_codes_explain_nothing() {
        let scores = score(&DciLasso::default(), Array2::ones((4, 2)));
        assert_eq!(scores.value("dci_lasso.informativeness_test"), Some(0.0));
        assert!(scores.reason("dci_lasso").is_some());
    }
}
