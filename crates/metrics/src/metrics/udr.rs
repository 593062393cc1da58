//! Unsupervised disentanglement ranking: how alike the latents of several models are, up to order and sign.
//!
//! Duan et al. 2020, "Unsupervised model selection for variational disentangled representation learning", equations 2 and
//! 3. Codes are brought to mean 0 and variance 1. For each other model the
//! similarity `R [its latents a, our latents b]` is the size of the weights of a lasso (alpha 0.1) from its latents to
//! each of ours (`udr`), or of Spearman's coefficient (`udr.spearman`), and
//!
//! `1/(d_a + d_b) (sum_b max_a R_ab^2 / sum_a R_ab + sum_a max_b R_ab^2 / sum_b R_ab)`
//!
//! over the `d_a` and `d_b` latents with a divergence from the prior above 0.01 nats, so that every latent of both models
//! counts alike; the score is the median over the other models. A latent that is like no other counts 0. `udr_sklearn` of
//! disentanglement_lib takes the mean over each model's latents and then that of the two, which differs where one
//! model has more latents than the other: `mean_over = "models"`.
//!
//! A model beside itself has `R = (1 - alpha) I` and scores 1 - alpha, 0.9: the penalty is taken off the weight of a latent
//! for itself, and leaves nothing to the others.
//!
//! Departures: where an input has no log-variances, the latents that vary take part; a pair of models of which either has
//! no such latent is left out (the reference stops).

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use toml::Table;
use unbraid_data::settings::{self, Setting, Values};
use unbraid_data::{Error, LabelledCodes, Rng};

use super::kl::kl_per_latent;
use crate::Better::High;
use crate::Change::*;
use crate::predictors::lasso::Lasso;
use crate::statistics::spearman::absolute_spearman_matrix;
use crate::statistics::standardise::Standardisation;
use crate::{Entry, Metric, ScoreKind, Scores, Subject};

/// Settings of unsupervised disentanglement ranking; the defaults are those of Duan et al. 2020.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Udr {
    /// Strength of the lasso's penalty, above 0; 0.1.
    pub alpha: f64,
    /// The mean divergence from the prior, in nats, above which a latent takes part; 0.01.
    pub least_kl: f64,
    /// What the mean of two models' latents is taken over.
    pub mean_over: MeanOver,
}

/// What the mean of two models' latents is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeanOver {
    /// All latents of both, as in Duan et al. 2020.
    Latents,
    /// Each model's latents, and then the two models, as in disentanglement_lib.
    Models,
}

impl Default for Udr {
    fn default() -> Self {
        Self { alpha: 0.1, least_kl: 0.01, mean_over: MeanOver::Latents }
    }
}

/// How one model compares to another by each similarity.
struct Similarity {
    lasso: f64,
    spearman: f64,
}

impl Metric for Udr {
    /// `udr` in [0, 1/(2 alpha)] (above 1 only where latents of the other models correlate) and `udr.spearman` in [0, 1].
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let similarities = self.similarities(subject);
        let of = |pick: fn(&Similarity) -> f64| {
            similarities.as_ref().map(|others| median(others.iter().map(pick).collect()))
        };
        Scores::new().with_outcome("udr", of(|one| one.lasso)).with_outcome("udr.spearman", of(|one| one.spearman))
    }
}

impl Udr {
    fn similarities(&self, subject: &Subject) -> Result<Vec<Similarity>, String> {
        let data = subject.data();
        if subject.others().is_empty() {
            return Err(
                "needs several runs: give several inputs with other models' codes of the same images".to_string()
            );
        }
        for other in subject.others() {
            same_images(data, other).map_err(|reason| {
                format!(
                    "needs codes of the same images in the same order, but another input is of other images: {reason}"
                )
            })?;
        }
        let rows = data.extras().train_rows.as_deref();
        let ours = self.informative(data, rows)?;
        let compare = |other: &&LabelledCodes| Ok(self.compare(&self.informative(other, rows)?, &ours));
        let of_others: Vec<Result<Similarity, String>> = subject.others().par_iter().map(compare).collect();
        let reason = of_others.iter().find_map(|of_other| of_other.as_ref().err().cloned());
        let defined: Vec<Similarity> = of_others.into_iter().flatten().collect();
        if defined.is_empty() { Err(reason.unwrap_or_default()) } else { Ok(defined) }
    }

    /// The standardised codes of the latents that tell something, `[rows, latents]`.
    fn informative(&self, data: &LabelledCodes, rows: Option<&[usize]>) -> Result<Array2<f64>, String> {
        let codes = rows.map_or_else(|| data.codes().clone(), |rows| data.codes().select(Axis(0), rows));
        let latents: Vec<usize> = match kl_per_latent(data) {
            Ok(kl) => (0..kl.len()).filter(|&latent| kl[latent] > self.least_kl).collect(),
            Err(_) => (0..codes.ncols())
                .filter(|&latent| codes.column(latent).iter().any(|&code| code != codes[[0, latent]]))
                .collect(),
        };
        if latents.is_empty() {
            return Err("no latent of a model is above the least divergence, or varies".to_string());
        }
        let codes = codes.select(Axis(1), &latents);
        Ok(Standardisation::of(&codes).apply(&codes))
    }

    fn compare(&self, theirs: &Array2<f64>, ours: &Array2<f64>) -> Similarity {
        let lasso = Lasso::new(theirs, self.alpha);
        let mut weights = Array2::zeros((theirs.ncols(), ours.ncols()));
        for (mut column, latent) in weights.columns_mut().into_iter().zip(ours.columns()) {
            column.assign(&lasso.fit(&latent).weights.mapv(f64::abs));
        }
        Similarity {
            lasso: relative_strength(&weights, self.mean_over),
            spearman: relative_strength(&absolute_spearman_matrix(theirs, ours), self.mean_over),
        }
    }
}

/// Whether both tables have the same factors in the same rows.
fn same_images(data: &LabelledCodes, other: &LabelledCodes) -> Result<(), String> {
    if data.n_rows() != other.n_rows() {
        return Err(format!("it has {} rows, and this one {}", other.n_rows(), data.n_rows()));
    }
    if data.factors() != other.factors() {
        return Err("the factors of its rows differ".to_string());
    }
    Ok(())
}

/// How far each latent of either model is like one latent of the other, for a similarity `[latents, latents]`.
fn relative_strength(similarity: &Array2<f64>, mean_over: MeanOver) -> f64 {
    let of_lines = |lines: Axis| {
        let of_line = |line: ndarray::ArrayView1<f64>| {
            let largest = line.fold(0.0_f64, |largest, &value| largest.max(value));
            if largest == 0.0 { 0.0 } else { largest * (largest / line.sum()) }
        };
        similarity.axis_iter(lines).map(of_line).sum::<f64>()
    };
    let (rows, columns) = (of_lines(Axis(0)), of_lines(Axis(1)));
    let (n_rows, n_columns) = (similarity.nrows() as f64, similarity.ncols() as f64);
    match mean_over {
        MeanOver::Latents => (rows + columns) / (n_rows + n_columns),
        MeanOver::Models => 0.5 * (rows / n_rows + columns / n_columns),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { 0.5 * (values[middle - 1] + values[middle]) }
}

fn build(table: &Table) -> unbraid_data::Result<Box<dyn Metric>> {
    let udr: Udr = settings::read(table)?;
    if !(udr.alpha >= 1e-100 && udr.alpha <= 1e100) {
        return Err(
            Error::new(format!("setting \"alpha\" is {}", udr.alpha)).help("wanted a number above 0, up to 1e100")
        );
    }
    if !(udr.least_kl >= 0.0 && udr.least_kl.is_finite()) {
        return Err(Error::new(format!("setting \"least_kl\" is {}", udr.least_kl)).help("wanted 0 or more"));
    }
    Ok(Box::new(udr))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "udr",
    about: "how alike the latents of several models are",
    paper: "Duan et al. 2020",
    settings: &[
        Setting {
            name: "alpha",
            values: Values::Number(1e-100, 1e100),
            meaning: "strength of the lasso's penalty; a model beside itself scores 1 minus it",
        },
        Setting {
            name: "least_kl",
            values: Values::Number(0.0, f64::MAX),
            meaning: "mean divergence from the prior, in nats, above which a latent takes part",
        },
        Setting {
            name: "mean_over",
            values: Values::OneOf(&["latents", "models"]),
            meaning: "the mean over all latents of two models, or over each one's first as in disentanglement_lib",
        },
    ],
    // Weights w of a target of variance 1 save at most half of it, and cost 0.1 |w|.
    scores: &[
        ScoreKind { name: "udr", least: 0.0, greatest: 5.0, better: High },
        ScoreKind { name: "udr.spearman", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[LatentOrder, LatentSigns, RowOrder, ValueOrder, Losses],
    build,
    complete: settings::complete::<Udr>,
};

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, Seed};

    use super::*;

    fn data(codes: Array2<f64>, log_variances: Option<Array2<f64>>) -> LabelledCodes {
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        LabelledCodes::new(codes, factors, space, Extras { log_variances, ..Extras::default() }).unwrap()
    }

    fn score(ours: &LabelledCodes, others: &[&LabelledCodes]) -> Scores {
        Udr::default().score(&Subject::among(ours, others, Seed(1)), &mut Seed(1).stream("metric/udr"))
    }

    fn square() -> Array2<f64> {
        array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    }

    #[test]
    fn relative_strength_worked_by_hand() {
        // The sums are 2, 2, 1 in rows and columns: (1/2 + 1/2 + 1) / 3.
        let square = array![[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        // The rows have 1/2 and 1, the columns 1, 1 and 1: 4.5 / 5 over latents, (3/4 + 1) / 2 over models.
        let wide = array![[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (mean_over, of_wide) in [(MeanOver::Latents, 0.9), (MeanOver::Models, 0.875)] {
            assert!((relative_strength(&square, mean_over) - 2.0 / 3.0).abs() < 1e-12);
            assert!((relative_strength(&wide, mean_over) - of_wide).abs() < 1e-12);
            assert_eq!(relative_strength(&Array2::zeros((2, 3)), mean_over), 0.0);
        }
    }

    #[test]
    fn the_same_latents_in_another_order_lose_only_the_penalty() {
        // Every weight is 1 - 0.1, and 0.9^2 / 0.9 = 0.9; ranks are the same.
        let swapped = array![[0.0, 0.0], [5.0, 0.0], [0.0, -1.0], [5.0, -1.0]];
        let scores = score(&data(square(), None), &[&data(swapped, None)]);
        assert!((scores.value("udr").unwrap() - 0.9).abs() < 1e-12, "{scores:?}");
        assert!((scores.value("udr.spearman").unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn latents_near_the_prior_take_no_part_and_the_median_is_taken() {
        // The second latent of the other model is the sum of both, with divergence (0.005 + ...) below 0.01.
        let small = array![[0.0, 0.0], [0.0, 0.01], [1.0, 0.01], [1.0, 0.02]];
        let other = data(small, Some(Array2::zeros((4, 2))));
        let ours = data(square(), Some(Array2::zeros((4, 2))));
        // R = [0.9, 0]: columns 0.9 and 0, row 0.9, of three.
        let scores = score(&ours, &[&other]);
        assert!((scores.value("udr").unwrap() - 0.6).abs() < 1e-12, "{scores:?}");
        // With itself 0.9; the median of two is between.
        let scores = score(&ours, &[&other, &ours]);
        assert!((scores.value("udr").unwrap() - 0.75).abs() < 1e-12, "{scores:?}");
    }

    #[test]
    fn what_is_missing_is_named() {
        let ours = data(square(), None);
        let alone = score(&ours, &[]);
        assert!(alone.undefined[0].reason.starts_with("needs several runs: give several inputs"), "{alone:?}");
        let mut factors = square();
        factors.swap([0, 0], [3, 0]);
        let space = FactorSpace::grid([("shape", 2), ("scale", 2)]);
        let other = LabelledCodes::new(square(), factors, space, Extras::default()).unwrap();
        let reason = &score(&ours, &[&other]).undefined[0].reason;
        assert_eq!(
            reason,
            "needs codes of the same images in the same order, but another input is of other images: the factors of its \
             rows differ"
        );
        let constant = score(&ours, &[&data(Array2::ones((4, 2)), None)]);
        assert!(constant.undefined[0].reason.starts_with("no latent of a model"), "{constant:?}");
    }
}
