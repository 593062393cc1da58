//! How much of each latent's variance each factor explains, and the latent that each factor is matched with by it;
//! shared by `consistency` and `restrictiveness`.

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use unbraid_data::Factor;

use crate::Subject;
use crate::statistics::assignment::best_assignment;
use crate::statistics::classes::{Classes, classes_of_factors};
use crate::statistics::deviations::deviations_of_columns;
use crate::subject::{Tables, all_constant};

/// Which latent each factor is matched with.
pub struct MatchedLatents {
    /// `1 - E[Var(z_j | v_k)] / Var(z_j)` over the train rows; 0 for a constant latent and for a factor that takes no
    /// part. `[latents, factors]`
    pub explained: Array2<f64>,
    /// The latent of each factor, `None` where none is left for it; or why the factor takes no part. `[factors]`
    pub of_factors: Vec<Result<Option<usize>, String>>,
}

impl MatchedLatents {
    /// Those of the one-to-one matching that explains most in sum, or why there are none.
    pub fn of(subject: &Subject) -> Result<Self, String> {
        let Tables { codes, factors } = subject.train();
        if all_constant(codes) {
            return Err("every latent is constant".to_string());
        }
        let data = subject.data();
        // Continuous factors take no part, so that their bins do not matter.
        let groups = classes_of_factors(factors, data.space().factors(), 1);
        let reasons: Vec<Option<String>> =
            data.space().factors().iter().zip(&groups).map(|(factor, groups)| why_not(factor, groups)).collect();
        let explained = shares_of_variance(codes, &groups, &reasons);
        let taking_part: Vec<usize> = (0..groups.len()).filter(|&factor| reasons[factor].is_none()).collect();
        let assigned = best_assignment(&explained.select(Axis(1), &taking_part).t().to_owned());
        let mut of_factors: Vec<Result<Option<usize>, String>> =
            reasons.into_iter().map(|reason| reason.map_or(Ok(None), Err)).collect();
        for (factor, latent) in taking_part.into_iter().zip(assigned) {
            of_factors[factor] = Ok(latent);
        }
        Ok(Self { explained, of_factors })
    }
}

/// Why no two different rows can share the factor's value, or all do.
fn why_not(Factor { name, size }: &Factor, groups: &Classes) -> Option<String> {
    if size.is_none() {
        Some(format!("factor \"{name}\" is continuous, and rows have to share its values"))
    } else if groups.n_classes == 1 {
        Some(format!("factor \"{name}\" has a single value"))
    } else if groups.n_classes == groups.of_rows.len() {
        Some(format!("no two rows share a value of factor \"{name}\""))
    } else {
        None
    }
}

/// `[latents, factors]`, in [0, 1]; 0 where a factor has a reason to take no part.
fn shares_of_variance(codes: &Array2<f64>, groups: &[Classes], reasons: &[Option<String>]) -> Array2<f64> {
    let latents = deviations_of_columns(codes);
    let counts: Vec<Vec<u32>> = groups.iter().map(Classes::counts).collect();
    let entries = (0..latents.len() * groups.len()).into_par_iter().map(|entry| {
        let (latent, factor) = (&latents[entry / groups.len()], entry % groups.len());
        if latent.scale == 0.0 || reasons[factor].is_some() {
            return 0.0;
        }
        explained_share(&latent.of_rows, &groups[factor], &counts[factor])
    });
    Array2::from_shape_vec((latents.len(), groups.len()), entries.collect()).expect("one entry for each pair")
}

/// The share of the squares of deviations from the mean that the groups' means have.
fn explained_share(deviations: &[f64], groups: &Classes, counts: &[u32]) -> f64 {
    let rows = || deviations.iter().zip(&groups.of_rows);
    let mut means = vec![0.0; counts.len()];
    rows().for_each(|(value, &group)| means[group] += value / f64::from(counts[group]));
    let within: f64 = rows().map(|(value, &group)| (value - means[group]).powi(2)).sum();
    let total: f64 = deviations.iter().map(|value| value * value).sum();
    (1.0 - within / total).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use unbraid_data::labelled_codes::Extras;
    use unbraid_data::{FactorSpace, LabelledCodes, Seed};

    use super::*;

    #[test]
    fn shares_and_matching_worked_by_hand() {
        // z0 = 2 a + b with both at 0 or 1: of its variance 4/4 + 1/4, a explains 4/5 and b 1/5. z1 = a.
        // a-z1 and b-z0 explain 1 + 1/5, a-z0 and b-z1 4/5 + 0.
        let factors = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
        let codes = array![[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]];
        let space = FactorSpace::grid([("a", 2), ("b", 2)]);
        let data = LabelledCodes::new(codes, factors, space, Extras::default()).unwrap();
        let matched = MatchedLatents::of(&Subject::new(&data, Seed(1))).unwrap();
        let expected = array![[0.8, 0.2], [1.0, 0.0]];
        assert!((&matched.explained - &expected).iter().all(|off| off.abs() < 1e-12), "{}", matched.explained);
        assert_eq!(matched.of_factors, [Ok(Some(1)), Ok(Some(0))]);
    }

    #[test]
    fn factors_that_take_no_part_say_why() {
        let factor = |name: &str, size| Factor { name: name.to_string(), size };
        let factors =
            vec![factor("angle", None), factor("hue", Some(1)), factor("number", Some(4)), factor("a", Some(2))];
        let space = FactorSpace::sample(factors);
        let values = array![[0.5, 0.0, 0.0, 0.0], [0.1, 0.0, 1.0, 1.0], [0.2, 0.0, 2.0, 0.0], [0.2, 0.0, 3.0, 1.0]];
        let data = LabelledCodes::new(array![[0.0], [1.0], [0.0], [1.0]], values, space, Extras::default()).unwrap();
        let matched = MatchedLatents::of(&Subject::new(&data, Seed(1))).unwrap();
        let reasons: Vec<&str> =
            matched.of_factors.iter().filter_map(|latent| latent.as_ref().err()).map(String::as_str).collect();
        let expected = [
            "factor \"angle\" is continuous, and rows have to share its values",
            "factor \"hue\" has a single value",
            "no two rows share a value of factor \"number\"",
        ];
        assert_eq!(reasons, expected);
        assert_eq!(matched.of_factors[3], Ok(Some(0)));
        assert_eq!(matched.explained, array![[0.0, 0.0, 0.0, 1.0]]);
    }
}
