//! What latents tell about factors, counted once for all the metrics that ask.

use std::num::NonZeroUsize;

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use unbraid_data::settings::{Setting, Values};
use unbraid_data::{Error, Factor, Result};

use super::classes::{Classes, Precision, classes_of_columns, classes_of_factors, classes_of_latents, unit_range_bins};
use super::entropy::entropy;
use super::mutual_information::mutual_information_matrix;
use crate::subject::Tables;

/// More bins than this would leave most of them empty for any number of rows.
pub const MOST_BINS: usize = 10_000;

/// How numbers are cut into bins of equal width; the two differ only in where a value on an edge falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binning {
    /// Edges between the smallest and the largest value (Locatello et al. 2019).
    EqualWidth,
    /// Values moved to [0, 1], and edges there (Carbonneau et al. 2022).
    UnitRange,
}

/// Latents in bins, factors in classes, and the mutual information of each pair of them, in nats.
#[derive(Debug, Clone, PartialEq)]
pub struct Information {
    /// The bins of each latent.
    pub latents: Vec<Classes>,
    /// The entropy of each latent's bins, `[latents]`.
    pub latent_entropies: Vec<f64>,
    /// The entropy of each factor, `[factors]`.
    pub factor_entropies: Vec<f64>,
    /// `[latents, factors]`.
    pub matrix: Array2<f64>,
}

/// What information is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normaliser {
    /// The factor's entropy: which part of the factor is told.
    FactorEntropy,
    /// The entropy of the latent's bins: which part of what the latent says is about the factor.
    LatentEntropy,
    /// Nothing: information in nats.
    None,
}

impl Information {
    /// Counts it, with `n_bins` bins for each latent and each continuous factor; a discrete factor's values are its
    /// classes.
    pub fn of(tables: &Tables, factors: &[Factor], binning: Binning, n_bins: usize) -> Self {
        let latents = match binning {
            Binning::EqualWidth => classes_of_latents(&tables.codes, n_bins),
            Binning::UnitRange => {
                let precision = Precision::of(&tables.codes);
                classes_of_columns(&tables.codes, |_, column| unit_range_bins(column, n_bins, precision))
            }
        };
        Self::of_classes(latents, &classes_of_factors(&tables.factors, factors, n_bins))
    }

    /// Counts it for classes of latents and factors that are made already.
    pub fn of_classes(latents: Vec<Classes>, factors: &[Classes]) -> Self {
        Self {
            latent_entropies: latents.iter().map(entropy).collect(),
            factor_entropies: factors.iter().map(entropy).collect(),
            matrix: mutual_information_matrix(&latents, factors),
            latents,
        }
    }

    /// The information divided by `normaliser`, 0 where that is 0. `[latents, factors]`
    pub fn normalised(&self, normaliser: Normaliser) -> Array2<f64> {
        let mut shares = self.matrix.clone();
        for ((latent, factor), share) in shares.indexed_iter_mut() {
            let entropy = match normaliser {
                Normaliser::FactorEntropy => self.factor_entropies[factor],
                Normaliser::LatentEntropy => self.latent_entropies[latent],
                Normaliser::None => continue,
            };
            // Information is at most the entropy, but the two are added up in another order.
            *share = if entropy > 0.0 { (*share / entropy).min(1.0) } else { 0.0 };
        }
        shares
    }

    /// The joint entropy of a latent's bins and a factor.
    pub fn joint_entropy(&self, latent: usize, factor: usize) -> f64 {
        self.latent_entropies[latent] + self.factor_entropies[factor] - self.matrix[[latent, factor]]
    }
}

/// Refuses more bins than make sense.
pub fn check_bins(bins: NonZeroUsize) -> Result<()> {
    if bins.get() <= MOST_BINS {
        return Ok(());
    }
    Err(Error::new(format!("setting \"bins\" is {bins}")).help(format!("wanted 1 to {MOST_BINS}")))
}

/// The number of bins, as `unbraid list` tells it.
pub const BINS: Setting = Setting {
    name: "bins",
    values: Values::Whole(1, MOST_BINS as u64),
    meaning: "how many bins each latent (and each continuous factor) is cut into",
};

/// The normaliser, as `unbraid list` tells it.
pub const NORMALISER: Setting = Setting {
    name: "normaliser",
    values: Values::OneOf(&["factor_entropy", "latent_entropy", "none"]),
    meaning: "what information is divided by; the gaps of \"none\" are in nats",
};

/// A number of bins (or rows, or neighbours) that a paper used.
pub const fn published(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).expect("papers use at least one")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn shares_of_either_entropy_worked_by_hand() {
        // z0 has four values, of which the factor is one bit: ln 2 of ln 4. z1 is constant.
        let tables = Tables {
            codes: array![[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0]],
            factors: array![[0.0], [0.0], [1.0], [1.0]],
        };
        let factors = [Factor { name: "shape".to_string(), size: Some(2) }];
        for binning in [Binning::EqualWidth, Binning::UnitRange] {
            let information = Information::of(&tables, &factors, binning, 10);
            for (normaliser, expected) in
                [(Normaliser::None, 2_f64.ln()), (Normaliser::FactorEntropy, 1.0), (Normaliser::LatentEntropy, 0.5)]
            {
                let shares = information.normalised(normaliser);
                assert!((shares[[0, 0]] - expected).abs() < 1e-15, "{normaliser:?}");
                assert_eq!(shares[[1, 0]], 0.0, "{normaliser:?}");
            }
            assert!((information.joint_entropy(0, 0) - 4_f64.ln()).abs() < 1e-15);
        }
    }
}
