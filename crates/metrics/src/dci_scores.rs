//! What the DCI metrics report of a predictor for each factor: importances as disentanglement and completeness, and how
//! well factors are predicted.
//!
//! Informativeness is a share of rows predicted right, for a continuous factor the share of its variance that is
//! explained (`R^2`, and 0 where predictions are worse than the mean; `dci_lasso` has it for every factor). Its mean is over
//! the factors that vary.

use ndarray::{Array2, ArrayRef1};
use unbraid_data::LabelledCodes;

use crate::importance_scores::{Weights, importance_scores};
use crate::statistics::r_squared::explained_variance;
use crate::{Scores, Split};

/// What a predictor of one factor says.
pub struct Prediction {
    /// How important each latent is. `[latents]`
    pub importance: Vec<f64>,
    /// The factor's predicted values on the train rows.
    pub train: Vec<f64>,
    /// And on the test rows.
    pub test: Vec<f64>,
}

/// `NAME`, which is `NAME.disentanglement`, then all that `importance_scores` tells, `NAME.informativeness_train` and
/// `NAME.informativeness_test` with `.FACTOR` parts, all in [0, 1]. There is a prediction for each factor.
pub fn dci_scores(name: &str, data: &LabelledCodes, split: &Split, predictions: &[Prediction]) -> Scores {
    let importance =
        Array2::from_shape_fn((data.n_latents(), data.n_factors()), |(z, factor)| predictions[factor].importance[z]);
    let parts = importance_scores(name, data, importance, Weights::Importance);
    let disentanglement = format!("{name}.disentanglement");
    let reason = parts.reason(&disentanglement).unwrap_or("it has no disentanglement");
    let headline = parts.value(&disentanglement).ok_or(reason);
    let mut scores = Scores::new().with_outcome(name, headline);
    scores.extend(parts);
    let train: Vec<&[f64]> = predictions.iter().map(|prediction| prediction.train.as_slice()).collect();
    let test: Vec<&[f64]> = predictions.iter().map(|prediction| prediction.test.as_slice()).collect();
    for (half, predicted, truth) in [("train", train, &split.train.factors), ("test", test, &split.test.factors)] {
        scores =
            with_informativeness(scores, &format!("{name}.informativeness_{half}"), data, split, (&predicted, truth));
    }
    scores
}

fn with_informativeness(
    mut scores: Scores,
    name: &str,
    data: &LabelledCodes,
    split: &Split,
    (predicted, truth): (&[&[f64]], &Array2<f64>),
) -> Scores {
    let factors = data.space().factors().iter().enumerate();
    let parts: Vec<Result<f64, String>> = factors
        .map(|(column, factor)| {
            let fitted = split.train.factors.column(column);
            if fitted.iter().all(|value| *value == fitted[0]) {
                return Err("the factor has a single value in the rows to fit on".to_string());
            }
            match factor.size {
                Some(_) => Ok(accuracy(predicted[column], &truth.column(column))),
                None => explained_variance(predicted[column], &truth.column(column)),
            }
        })
        .collect();
    let defined: Vec<f64> = parts.iter().flatten().copied().collect();
    scores = match parts.iter().find_map(|part| part.as_ref().err()) {
        Some(reason) if defined.is_empty() => scores.without(name, reason),
        _ => scores.with(name, defined.iter().sum::<f64>() / defined.len() as f64),
    };
    for (factor, part) in data.space().names().zip(parts) {
        scores = scores.with_factor(name, factor, part);
    }
    scores
}

/// The share of rows predicted right.
fn accuracy(predicted: &[f64], truth: &ArrayRef1<f64>) -> f64 {
    predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count() as f64 / truth.len() as f64
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, Seed};

    use super::*;
    use crate::Subject;

    fn scores() -> Scores {
        let named = |name: &str, size| Factor { name: name.to_string(), size };
        let space = FactorSpace::sample(vec![named("shape", Some(2)), named("angle", None), named("colour", Some(3))]);
        let factors = array![[0.0, 1.0, 2.0], [1.0, 2.0, 2.0], [0.0, 3.0, 2.0], [1.0, 5.0, 2.0]];
        let extras = Extras { train_rows: Some(vec![0, 1]), test_rows: Some(vec![2, 3]), ..Extras::default() };
        let data = LabelledCodes::new(Array2::zeros((4, 2)), factors, space, extras).unwrap();
        let prediction = |importance: [f64; 2], train: [f64; 2], test: [f64; 2]| Prediction {
            importance: importance.to_vec(),
            train: train.to_vec(),
            test: test.to_vec(),
        };
        let predictions = [
            prediction([1.0, 0.0], [0.0, 1.0], [0.0, 0.0]),
            prediction([0.0, 1.0], [1.0, 2.0], [3.5, 4.5]),
            prediction([0.0, 0.0], [2.0, 2.0], [2.0, 2.0]),
        ];
        dci_scores("dci", &data, Subject::new(&data, Seed(1)).split().unwrap(), &predictions)
    }

    #[test]
    fn shares_worked_by_hand() {
        // shape: 2 of 2 and 1 of 2 rows right. angle: no error, and errors 2 * 0.25 out of the variance 2 * 1.
        let scores = scores();
        let expected = [
            ("dci", 1.0),
            ("dci.informativeness_train", 1.0),
            ("dci.informativeness_test", 0.625),
            ("dci.informativeness_test.shape", 0.5),
            ("dci.informativeness_test.angle", 0.75),
        ];
        for (name, value) in expected {
            assert!((scores.value(name).unwrap() - value).abs() < 1e-12, "{name}: {:?}", scores.value(name));
        }
    }

    #[test]
    fn a_factor_with_one_value_takes_no_part() {
        let reason = "the factor has a single value in the rows to fit on".to_string();
        assert_eq!(scores().reason("dci.informativeness_test.colour"), Some(reason.as_str()));
    }
}
