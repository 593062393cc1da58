//! How far two kinds of distances agree, for a factor and over factors (T1 equations 4.2, 4.3 and 4.10).

use unbraid_metrics::statistics::geometric_mean::geometric_mean;
use unbraid_metrics::{Constant, correlations_of_traversals};

use super::FactorDistances;

/// Which two kinds of distances are correlated. Those of codes are L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Ground truth and images: what the data offer.
    GroundImage,
    /// Ground truth and codes: T1 equation 4.2.
    GroundLatent,
    /// Codes and images: T1 equation 4.10.
    LatentImage,
}

impl Comparison {
    /// In the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::GroundImage, Self::GroundLatent, Self::LatentImage];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::GroundImage => "ground_image",
            Self::GroundLatent => "ground_latent",
            Self::LatentImage => "latent_image",
        }
    }
}

/// How far two kinds of distances agree, in [-1, 1] each, or why that is not defined.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// Whether they lie on a line.
    pub pearson: Result<f64, String>,
    /// Whether they have the same order.
    pub spearman: Result<f64, String>,
}

/// The agreement of two kinds of distances over traversals of so many values, each kind with what it is between.
pub(super) fn agreement(n_values: usize, first: (&str, &[f64]), second: (&str, &[f64])) -> Agreement {
    let why = |constant: Constant| {
        let between = if constant == Constant::First { first.0 } else { second.0 };
        format!("its {between} are all the same")
    };
    let is_finite = |of: (&str, &[f64])| of.1.iter().all(|distance| distance.is_finite());
    let found = match [first, second].into_iter().find(|of| !is_finite(*of)) {
        Some((between, _)) => Err(format!("distances of its {between} are too large for a number")),
        None => correlations_of_traversals(n_values, first.1, second.1).map_err(why),
    };
    Agreement { pearson: found.clone().map(|[pearson, _]| pearson), spearman: found.map(|[_, spearman]| spearman) }
}

/// The geometric mean over factors, where all have an agreement that is not negative.
pub(super) fn over_factors(factors: &[FactorDistances], comparison: Comparison) -> Agreement {
    let mean = |of: fn(&Agreement) -> &Result<f64, String>| {
        let mut values = Vec::new();
        for FactorDistances { name, agreements, .. } in factors {
            match of(&agreements[comparison as usize]) {
                Ok(value @ ..0.0) => {
                    let wanted = "the geometric mean needs numbers that are not negative";
                    return Err(format!("{wanted}, but factor \"{name}\" has {value:.6}"));
                }
                Ok(value) => values.push(*value),
                Err(reason) => return Err(format!("not defined for factor \"{name}\": {reason}")),
            }
        }
        Ok(geometric_mean(&values))
    };
    Agreement { pearson: mean(|agreement| &agreement.pearson), spearman: mean(|agreement| &agreement.spearman) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(name: &str, pearson: Result<f64, String>) -> FactorDistances {
        let agreement = Agreement { spearman: Ok(0.25), pearson };
        FactorDistances {
            name: name.to_string(),
            n_values: 2,
            n_traversals: 1,
            n_all_traversals: 1,
            matrices: Default::default(),
            agreements: [agreement.clone(), agreement.clone(), agreement],
        }
    }

    #[test]
    fn factors_come_together_by_the_geometric_mean_or_not_at_all() {
        let of = |second| over_factors(&[factor("x", Ok(0.5)), factor("y", second)], Comparison::LatentImage);
        // sqrt(0.5 * 0.125) = 0.25
        assert!((of(Ok(0.125)).pearson.unwrap() - 0.25).abs() < 1e-12);
        assert!((of(Ok(0.125)).spearman.unwrap() - 0.25).abs() < 1e-12);
        let reason = of(Ok(-0.5)).pearson.unwrap_err();
        assert_eq!(reason, "the geometric mean needs numbers that are not negative, but factor \"y\" has -0.500000");
        let reason = of(Err("its codes are all the same".to_string())).pearson.unwrap_err();
        assert_eq!(reason, "not defined for factor \"y\": its codes are all the same");
    }

    #[test]
    fn distances_that_ran_away_have_a_reason() {
        let found = agreement(2, ("values", &[1.0]), ("codes", &[f64::INFINITY]));
        assert_eq!(found.pearson, Err("distances of its codes are too large for a number".to_string()));
    }
}
