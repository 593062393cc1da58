//! Modularity: each latent should tell about one factor and nothing about the others.
//!
//! Ridgeway and Mozer 2018, "Learning deep disentangled embeddings with the F-statistic loss", section 3; equation 5.2 of
//! Mogultay Ozcan 2024. With `I_jk` the information of latent j and factor k (estimator of `mig`: 20 equal-width bins,
//! train rows), `I_j*` the largest over the factors, and K factors:
//!
//! `modularity_j = 1 - sum_(k not best) I_jk^2 / (I_j*^2 (K - 1))`, and `modularity` is the mean over the latents.
//!
//! A latent that tells nothing about any factor has no such ratio. It scores 0, as in Locatello et al. 2019;
//! `modularity.active` is the mean over the other latents. What a latent tells by chance counts in full: pure noise
//! scores about 0.65, and a rotation of independent factors about 0.9.
//!
//! Departures: with one factor there are no others, and modularity is undefined. A continuous factor is binned like a
//! latent.

use std::num::NonZeroUsize;

use ndarray::ArrayRef1;
use serde::{Deserialize, Serialize};
use unbraid_data::{Rng, settings};

use crate::Better::High;
use crate::Change::*;
use crate::statistics::information::{BINS, Binning, check_bins, published};
use crate::statistics::mean::mean_of_defined;
use crate::subject::all_constant;
use crate::{Entry, Matrix, Metric, ScoreKind, Scores, Subject};

/// Settings of modularity.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Modularity {
    /// How many bins each latent is cut into; 20 in Locatello et al. 2019 and in Ridgeway and Mozer 2018.
    pub bins: NonZeroUsize,
}

impl Default for Modularity {
    fn default() -> Self {
        Self { bins: published(20) }
    }
}

impl Metric for Modularity {
    /// `modularity`, `modularity.active` and `modularity.z0`, `modularity.z1`, ... in [0, 1], and the matrix
    /// `modularity.mutual_information` in nats.
    fn score(&self, subject: &Subject, _rng: &mut Rng) -> Scores {
        let data = subject.data();
        let matrix = subject.information(Binning::EqualWidth, self.bins.get()).matrix.clone(); // [latents, factors]
        let per_latent: Vec<Result<f64, String>> = matrix.outer_iter().map(|row| modularity_of(&row)).collect();
        let with_zeros: Vec<f64> = per_latent.iter().map(|outcome| outcome.as_ref().copied().unwrap_or(0.0)).collect();
        let mean = with_zeros.iter().sum::<f64>() / with_zeros.len() as f64;
        let reason = if data.n_factors() == 1 {
            Some("needs at least two factors, of which a latent should tell only one")
        } else if all_constant(&subject.train().codes) {
            Some("every latent is constant")
        } else if all_constant(&subject.train().factors) {
            Some("every factor is constant")
        } else {
            None
        };

        let mut scores = Scores::new();
        scores = match reason {
            Some(reason) => scores.without("modularity", reason).without("modularity.active", reason),
            None => scores.with("modularity", mean).with_outcome("modularity.active", mean_of_defined(&per_latent)),
        };
        for (latent, &value) in with_zeros.iter().enumerate() {
            scores = scores.with_latent("modularity", latent, reason.map_or(Ok(value), Err));
        }
        scores.with_matrix(Matrix::of_latents_and_factors("modularity.mutual_information", data, matrix))
    }
}

/// The modularity of one latent, whose information with each factor is `of_factors [factors]`; at least two factors.
fn modularity_of(of_factors: &ArrayRef1<f64>) -> Result<f64, String> {
    let largest = of_factors.fold(0.0_f64, |largest, &value| largest.max(value));
    if largest == 0.0 {
        return Err("no latent tells about any factor".to_string());
    }
    // In units of the largest, whose own square is 1.
    let squares: f64 = of_factors.iter().map(|value| (value / largest).powi(2)).sum();
    Ok(1.0 - (squares - 1.0) / (of_factors.len() as f64 - 1.0))
}

/// The row in the list of metrics.
pub const ENTRY: Entry = Entry {
    name: "modularity",
    about: "how little each latent tells about other factors than its best",
    paper: "Ridgeway and Mozer 2018",
    settings: &[BINS],
    scores: &[
        ScoreKind { name: "modularity", least: 0.0, greatest: 1.0, better: High },
        ScoreKind { name: "modularity.active", least: 0.0, greatest: 1.0, better: High },
    ],
    needs: &[],
    left_alone_by: &[
        LatentOrder,
        LatentSigns,
        CommonScale,
        LatentScales,
        Shift,
        RowOrder,
        ValueOrder,
        LogVariances,
        Losses,
    ],
    build: |table| {
        let modularity: Modularity = settings::read(table)?;
        check_bins(modularity.bins)?;
        Ok(Box::new(modularity))
    },
    complete: settings::complete::<Modularity>,
};

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    fn score(codes: Array2<f64>, factors: Array2<f64>, sizes: &[(&str, usize)]) -> Scores {
        let space = FactorSpace::grid(sizes.iter().copied());
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        Modularity::default().score(&Subject::new(&data, Seed(1)), &mut Seed(1).stream("metric/modularity"))
    }

    #[test]
    fn one_dead_latent_worked_by_hand() {
        // z0 is the first factor: 1. z1 tells both factors alike: 1 - 1 / 1 = 0. z2 never moves: 0, or no part.
        let codes = array![[0.0, 0.0, 0.1], [0.0, 1.0, 0.1], [1.0, 2.0, 0.1], [1.0, 3.0, 0.1]];
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let scores = score(codes, factors, &[("shape", 2), ("scale", 2)]);
        for (name, expected) in [
            ("modularity", 1.0 / 3.0),
            ("modularity.active", 0.5),
            ("modularity.z0", 1.0),
            ("modularity.z1", 0.0),
            ("modularity.z2", 0.0),
        ] {
            assert!((scores.value(name).unwrap() - expected).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn half_of_a_factor_beside_a_whole_one() {
        // I = (ln 4, ln 2): 1 - (1/2)^2 / 1 = 3/4
        assert!((modularity_of(&array![4_f64.ln(), 2_f64.ln()]).unwrap() - 0.75).abs() < 1e-15);
    }

    #[test]
    fn one_factor_has_no_others() {
        let scores = score(array![[0.0], [1.0]], array![[0.0], [1.0]], &[("shape", 2)]);
        assert!(scores.values.is_empty());
        assert!(scores.undefined[0].reason.starts_with("needs at least two factors"));
    }
}
