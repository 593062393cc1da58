//! DCI-ES: explicitness, how little capacity a predictor needs to get the factors out of the codes, and size.
//!
//! Eastwood et al. 2023, "DCI-ES: An extended disentanglement framework with connections to identifiability", section 4.
//! Predictors of growing capacity `c_1 < ... < c_T` are fitted to a factor; `l_t` is the least loss that any of the first t
//! of them has on the test rows, `l` the least of all, and `l_b` that of the best constant. Then
//!
//! `explicitness = 1 - sum_t ((l_t-1 + l_t) / 2 - l) (c_t - c_t-1) / ((c_T - c_1) l_b / 2)`,
//!
//! one minus the area between the loss-capacity curve and its least loss, over the area that a straight fall from `l_b` to
//! 0 leaves. It is 1 where the smallest predictor is as good as any, about 0 where the loss falls evenly, and below 0 where it
//! falls at the end. `size = factors / latents`.
//!
//! Of the paper's predictors (random forests, MLPs, random Fourier features with a linear layer) these are the forests, with the
//! authors' settings: 100 trees, with the trees' largest depth as capacity, and as loss one minus accuracy, for a
//! continuous factor one minus `R^2`, which is 1 for the best constant.
//!
//! Departures: a forest is fitted once, to the largest depth, and read at every other, where the authors fit one for each depth with
//! the same seed; at each depth both are draws of the same forest, and this takes a twelfth of the time. The best constant is
//! that of the test rows, which is the authors' `1 - 1/n` where n values are even. A continuous factor is cut into 20 bins and
//! has an `R^2` of at least 0, as in `dci_forest`.

use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, LabelledCodes, Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::metrics::dci_forest::{N_BINS, mean_of_classes};
use crate::predictors::random_forest::RandomForest;
use crate::predictors::ranked_columns::RankedColumns;
use crate::statistics::classes::{Classes, classes_of_factors, distinct_values};
use crate::statistics::deviations::deviations;
use crate::statistics::mean::mean_of_defined;
use crate::statistics::r_squared::explained_variance;
use crate::subject::all_constant;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Split, Subject};

/// Settings of explicitness.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct DciEs {
    /// The largest depths of the forests' trees, ascending; those of Eastwood et al. 2023.
    pub depths: Vec<usize>,
}

impl Default for DciEs {
    fn default() -> Self {
        Self { depths: vec![1, 2, 3, 4, 8, 10, 12, 14, 16, 18, 20, 32] }
    }
}

/// A factor's loss at each depth and that of the best constant, or why there are none.
type Curve = Result<(Vec<f64>, f64), String>;

impl Metric for DciEs {
    /// `dci_es`, which is `dci_es.explicitness`, with `.FACTOR` parts, at most 1; `dci_es.informativeness` with `.FACTOR`
    /// parts, one minus the least loss, in [0, 1]; `dci_es.size`, above 0; and the matrix `dci_es.loss [depths, factors]`.
    fn score(&self, subject: &Subject, rng: &mut Rng) -> Scores {
        let data = subject.data();
        let tables = subject.split().and_then(|split| Ok((split, subject.ranked_codes()?)));
        let curves: Vec<Curve> = match tables {
            Err(reason) => vec![Err(reason); data.n_factors()],
            Ok((split, _)) if all_constant(&split.train.codes) => {
                vec![Err("every latent is constant".to_string()); data.n_factors()]
            }
            Ok((split, table)) => self.curves(data, split, table, rng),
        };
        let of_curves = |of: &dyn Fn(&[f64], f64) -> f64| -> Vec<Result<f64, String>> {
            curves.iter().map(|curve| curve.clone().map(|(losses, constant)| of(&losses, constant))).collect()
        };
        let explicitness = of_curves(&|losses, constant| explicitness(&self.depths, losses, constant));
        let informativeness = of_curves(&|losses, _| 1.0 - losses.iter().copied().fold(f64::INFINITY, f64::min));
        let mut scores = Scores::new().with_outcome("dci_es", mean_of_defined(&explicitness));
        for (name, parts) in [("dci_es.explicitness", explicitness), ("dci_es.informativeness", informativeness)] {
            scores = scores.with_outcome(name, mean_of_defined(&parts));
            for (factor, part) in data.space().names().zip(parts) {
                scores = scores.with_factor(name, factor, part);
            }
        }
        let scores = scores.with("dci_es.size", data.n_factors() as f64 / data.n_latents() as f64);
        self.with_losses(scores, data, &curves)
    }
}

impl DciEs {
    fn curves(&self, data: &LabelledCodes, split: &Split, table: &RankedColumns, rng: &mut Rng) -> Vec<Curve> {
        let classes = classes_of_factors(&split.train.factors, data.space().factors(), N_BINS);
        let mut curve = |column: usize| {
            let fitted = split.train.factors.column(column);
            let truth = split.test.factors.column(column).to_vec();
            // Every factor's forest takes its part of the stream, whether it is defined or not.
            let forest = RandomForest::fit_to_depths(table, &classes[column], &self.depths, rng);
            if deviations(&fitted).scale == 0.0 {
                return Err("the factor has a single value in the rows to fit on".to_string());
            }
            let values = mean_of_classes(&classes[column], fitted.iter());
            let at = |&depth: &usize| -> Vec<f64> {
                forest.predict_at_depth(depth, &split.test.codes).into_iter().map(|class| values[class]).collect()
            };
            let predictions: Vec<Vec<f64>> = self.depths.iter().map(at).collect();
            match data.space().factors()[column].size {
                Some(_) => shares_of_wrong(&predictions, &truth),
                None => shares_left(&predictions, &truth),
            }
        };
        (0..data.n_factors()).map(&mut curve).collect()
    }

    /// Adds the loss-capacity curves; a factor that has none has 0 in the matrix.
    fn with_losses(&self, scores: Scores, data: &LabelledCodes, curves: &[Curve]) -> Scores {
        let loss = |(depth, factor): (usize, usize)| curves[factor].as_ref().map_or(0.0, |(losses, _)| losses[depth]);
        scores.with_matrix(Matrix {
            name: "dci_es.loss".to_string(),
            rows: self.depths.iter().map(|depth| format!("depth {depth}")).collect(),
            columns: data.space().names().map(str::to_string).collect(),
            values: Array2::from_shape_fn((self.depths.len(), data.n_factors()), loss),
        })
    }
}

/// One minus the area under the loss-capacity curve over that under a straight fall from the constant's loss to 0.
fn explicitness(capacities: &[usize], losses: &[f64], constant: f64) -> f64 {
    let mut least = f64::INFINITY;
    let so_far: Vec<f64> = losses
        .iter()
        .map(|&loss| {
            least = least.min(loss);
            least
        })
        .collect();
    let steps = capacities.windows(2).zip(so_far.windows(2));
    let area: f64 = steps.map(|(c, loss)| (c[1] - c[0]) as f64 * ((loss[0] + loss[1]) / 2.0 - least)).sum();
    let range = (capacities[capacities.len() - 1] - capacities[0]) as f64;
    1.0 - area / (range * constant / 2.0)
}

/// The share of rows predicted wrong, of each prediction and of the best constant.
fn shares_of_wrong(predictions: &[Vec<f64>], truth: &[f64]) -> Curve {
    let n_rows = truth.len() as f64;
    let Classes { of_rows, n_classes } = distinct_values(&ArrayView1::from(truth));
    if n_classes == 1 {
        return Err("the factor has a single value among the rows tested on".to_string());
    }
    let most_common = Classes { of_rows, n_classes }.counts().into_iter().max().map_or(0.0, f64::from);
    let wrong = |predicted: &Vec<f64>| predicted.iter().zip(truth).filter(|(a, b)| a != b).count() as f64 / n_rows;
    Ok((predictions.iter().map(wrong).collect(), 1.0 - most_common / n_rows))
}

/// The share of the variance that is left, of each prediction, and 1 for the best constant.
fn shares_left(predictions: &[Vec<f64>], truth: &[f64]) -> Curve {
    let left = |predicted: &Vec<f64>| explained_variance(predicted, &ArrayView1::from(truth)).map(|share| 1.0 - share);
    Ok((predictions.iter().map(left).collect::<Result<_, _>>()?, 1.0))
}

fn build(table: &Table) -> unbraid_data::Result<Box<dyn Metric>> {
    let dci_es: DciEs = settings::read(table)?;
    let depths = &dci_es.depths;
    let rise = depths.windows(2).all(|pair| pair[0] < pair[1]);
    if depths.len() < 2 || depths[0] == 0 || !rise {
        return Err(Error::new(format!("setting \"depths\" is {depths:?}"))
            .help("wanted two ascending whole numbers or more, from 1 on"));
    }
    Ok(Box::new(dci_es))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "dci_es",
    about: "how little capacity a predictor needs to get the factors out of the codes",
    paper: "Eastwood et al. 2023",
    settings: &[Setting {
        name: "depths",
        values: Values::Words("two ascending whole numbers or more, from 1 on"),
        meaning: "the largest depths of the forests' trees, which are the capacities",
    }],
    scores: &[
        ScoreKind { name: "dci_es", least: f64::NEG_INFINITY, greatest: 1.0, better: High },
        ScoreKind { name: "dci_es.explicitness", least: f64::NEG_INFINITY, greatest: 1.0, better: High },
        ScoreKind { name: "dci_es.informativeness", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "dci_es.size", least: 0.0, greatest: f64::INFINITY, better: High },
    ],
    needs: &[],
    left_alone_by: &[CommonScale, LatentScales, Shift, RowOrder, ValueOrder, LogVariances, Losses],
    build,
    complete: settings::complete::<DciEs>,
};

#[cfg(test)]
mod tests {
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{Factor, FactorSpace, Seed};

    use super::*;

    #[test]
    fn the_area_worked_by_hand() {
        // The least losses so far are 0.6, 0.3, 0.3, 0.1, above the least of all by 0.5, 0.2, 0.2, 0: areas 0.35, 2 * 0.2 and
        // 4 * 0.1 over steps of 1, 2 and 4. A straight fall from 0.8 leaves 7 * 0.8 / 2 = 2.8.
        let found = explicitness(&[1, 2, 4, 8], &[0.6, 0.3, 0.4, 0.1], 0.8);
        assert!((found - (1.0 - 1.15 / 2.8)).abs() < 1e-12);
        // The smallest is as good as any; the loss falls evenly from the constant's to 0; it falls at the very end.
        assert_eq!(explicitness(&[1, 3], &[0.2, 0.2], 0.5), 1.0);
        assert!(explicitness(&[1, 2, 3], &[0.5, 0.25, 0.0], 0.5).abs() < 1e-12);
        assert!((explicitness(&[1, 1000, 1001], &[0.5, 0.5, 0.0], 0.5) + 0.999).abs() < 1e-12);
    }

    #[test]
    fn the_authors_curve_agrees() {
        // By the authors' procedure in numpy, with the depths of their forests and a factor of six values.
        let losses = [0.5, 0.45, 0.4, 0.35, 0.2, 0.15, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05];
        let found = explicitness(&DciEs::default().depths, &losses, 5.0 / 6.0);
        assert!((found - 0.792_903_225_806_451_7).abs() < 1e-12, "{found}");
    }

    /// 900 codes on a curve, every third one tested on, and four factors of them, the last continuous.
    fn scores() -> Scores {
        let wave =
            |row: usize, latent: usize| ((row + 1) as f64 * (latent + 1) as f64 * 1.7 + 0.3 * latent as f64).sin();
        let codes = Array2::from_shape_fn((900, 3), |(row, latent)| wave(row, latent));
        let mixed = |row: usize| codes[[row, 0]] + 0.5 * codes[[row, 1]] * codes[[row, 2]];
        let factors = Array2::from_shape_fn((900, 4), |(row, factor)| match factor {
            0 => f64::from(u8::from(mixed(row) >= -0.4) + u8::from(mixed(row) >= 0.5)),
            1 => f64::from(u8::from(codes[[row, 1]] * codes[[row, 2]] >= 0.0)),
            2 => ((codes[[row, 0]] + 1.0) * 3.9999).floor(),
            _ => codes[[row, 0]],
        });
        let factor = |name: &str, size| Factor { name: name.to_string(), size };
        let space = FactorSpace::sample(vec![
            factor("mixed", Some(3)),
            factor("sign", Some(2)),
            factor("level", Some(8)),
            factor("wave", None),
        ]);
        let (test, train): (Vec<usize>, Vec<usize>) = (0..900).partition(|row| row % 3 == 0);
        let extras = Extras { train_rows: Some(train), test_rows: Some(test), ..Extras::default() };
        let data = LabelledCodes::new(codes, factors, space, extras).unwrap();
        DciEs::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/dci_es"))
    }

    #[test]
    fn forests_agree_with_the_mean_over_scikit_learns_seeds() {
        // Mean and standard deviation over 12 seeds of scikit-learn 1.9.1, each with a forest of its own for every depth.
        let scores = scores();
        for (name, mean, deviation) in [
            ("explicitness.mixed", 0.9842, 0.0032),
            ("explicitness.sign", 0.9633, 0.0058),
            ("explicitness.level", 0.9128, 0.0032),
            ("informativeness.mixed", 0.9944, 0.0016),
            ("informativeness.sign", 0.9872, 0.0012),
            ("informativeness.level", 0.9847, 0.0025),
        ] {
            let value = scores.value(&format!("dci_es.{name}")).unwrap();
            println!("{name} {value:.4}, scikit-learn {mean:.4} +- {deviation:.4}");
            assert!((value - mean).abs() < 4.0 * deviation, "{name}: {value}");
        }
    }

    #[test]
    fn a_continuous_factor_counts_by_its_variance_and_size_is_a_ratio() {
        let scores = scores();
        // Bins of a twentieth of the range leave at most a quarter of a twentieth squared of it, of a variance of 1/8.
        assert!(scores.value("dci_es.informativeness.wave").unwrap() > 0.98);
        assert_eq!(scores.value("dci_es.size"), Some(4.0 / 3.0));
        assert_eq!(scores.matrices[0].values.dim(), (12, 4));
    }

    #[test]
    fn depths_that_do_not_rise_are_refused() {
        for depths in ["[3]", "[0, 1]", "[2, 2]", "[]"] {
            let error = build(&format!("depths = {depths}").parse().unwrap()).err().unwrap().to_string();
            assert!(error.contains("two ascending whole numbers or more"), "{error}");
        }
    }
}
