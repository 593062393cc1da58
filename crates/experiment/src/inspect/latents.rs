//! What each latent of a run carries and costs, in the order of the nonlinear principal components.
//!
//! T4 equations 4.7 and 4.8: the first component is the latent with the least mean posterior variance, since what moves images most is
//! given most precision. A latent that has no posterior variance is placed by how much it moves the image: the deviation of its codes times
//! the norm of its column of the decoder's Jacobian.
//!
//! **Budget** (T4 3.2.4 and 3.2.5): `-1/2 ln s^2`, in nats, the digits that a latent is given; the divergence from the prior pays for them.
//!
//! **The optimum.** Near a code the noise of latent j adds `|J_j|^2 s_j^2` to a squared error (T4 equation 3.13), and its divergence has
//! `(s_j^2 - ln s_j^2) / 2` at a price of beta a nat. Both together are least where
//!
//! `|J_j|^2 s_j^2 = beta / 2 (1 - s_j^2)`,
//!
//! the same for all latents whose variance is far below 1 (equation 3.21: `50 s_x^2 = 3 s_y^2`), and at `s_j^2 = 1` for one that the decoder
//! ignores. [`LatentFacts::of_optimum`] is the left side over the right.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use toml::Value;
use unbraid_data::LabelledCodes;
use unbraid_learn::schedule::Schedule;
use unbraid_metrics::metrics::kl::kl_per_latent;
use unbraid_metrics::metrics::polarized::{ACTIVE_ABOVE, ACTIVE_BELOW};
use unbraid_metrics::statistics::deviations::deviation;

use super::Posterior;
use super::sampled::Sampled;
use crate::trained_run::TrainedRun;

/// What a latent's noise costs is not set against its optimum above this variance, where both sides are nearly 0.
const NEAR_PRIOR: f64 = 0.95;

/// What T4's two rules say of a latent: active where the deviation of its means is above 0.5 (3.3.2), and where its mean posterior variance is
/// below 0.8 (4.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// By all rules that apply.
    Active,
    /// By all rules that apply.
    Passive,
    /// Its means vary, and its posterior is as wide as the prior.
    ActiveByMeans,
    /// Its posterior is narrow, and its means hardly vary.
    ActiveByVariance,
}

impl Standing {
    /// By the deviation of means and the mean posterior variance, where there is one.
    pub fn of(deviation: f64, variance: Option<f64>) -> Self {
        let by_means = deviation > ACTIVE_ABOVE;
        match (by_means, variance.map_or(by_means, |variance| variance < ACTIVE_BELOW)) {
            (true, true) => Self::Active,
            (false, false) => Self::Passive,
            (true, false) => Self::ActiveByMeans,
            (false, true) => Self::ActiveByVariance,
        }
    }

    /// In tables and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Passive => "passive",
            Self::ActiveByMeans | Self::ActiveByVariance => "mixed",
        }
    }

    /// Whether its means vary: the rule that DtO and the relative KL error go by.
    pub fn has_varying_means(self) -> bool {
        matches!(self, Self::Active | Self::ActiveByMeans)
    }
}

/// One latent. What does not apply is absent, and [`super::Inspection::left_out`] says why.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentFacts {
    /// Which it is: `z0` is 0.
    pub latent: usize,
    /// Standard deviation of its codes over the images.
    pub deviation: f64,
    /// Mean posterior variance.
    pub variance: Option<f64>,
    /// Mean divergence from the prior, in nats.
    pub kl: Option<f64>,
    /// Whether it is active; none where there is no prior that tells what a deviation of codes means.
    pub standing: Option<Standing>,
    /// Mean of `-1/2 ln` of its variance, in nats.
    pub budget: Option<f64>,
    /// Its share of the budget of all latents that have any, in [0, 1].
    pub budget_share: Option<f64>,
    /// Mean norm of its column of the decoder's Jacobian: how far the picture moves with it.
    pub jacobian_norm: Option<f64>,
    /// Norm of the mean column; as large as the mean norm where it moves all pictures in one direction.
    pub direction_norm: Option<f64>,
    /// Mean of `|J_j|^2 s_j^2`, in pixels as the loss sees them.
    pub noise_cost: Option<f64>,
    /// The same over what is best at the run's price of a nat, with the mean variance at the same codes; 1 is best.
    pub of_optimum: Option<f64>,
}

/// The facts of all latents, by mean posterior variance, least first; or by how much they move the image, most first. `gaussian` are those with a
/// standard normal prior.
pub(super) fn facts_of_latents(
    data: &LabelledCodes,
    posterior: Posterior,
    gaussian: &[usize],
    sampled: Option<&Sampled>,
    price: Option<f64>,
) -> Vec<LatentFacts> {
    let means_of = |table: &Array2<f64>| table.mean_axis(Axis(0)).expect("there is an image");
    let log_variances = data.extras().log_variances.as_ref().filter(|_| posterior.has_variances());
    let variances = log_variances.map(|table| means_of(&table.mapv(f64::exp)));
    let budgets = log_variances.map(|table| means_of(&table.mapv(|log_variance| -0.5 * log_variance)));
    let whole_budget = budgets.as_ref().map(|budgets| budgets.iter().map(|budget| budget.max(0.0)).sum::<f64>());
    let divergences = kl_per_latent(data).ok().filter(|_| posterior.has_variances());
    let of = |values: &Option<Array1<f64>>, latent: usize| finite(values.as_ref().map(|values| values[latent]));
    let mut facts: Vec<LatentFacts> = (0..data.n_latents())
        .map(|latent| {
            let deviation = deviation(&data.codes().column(latent));
            let (variance, budget) = (of(&variances, latent), of(&budgets, latent));
            let share = |budget: f64| whole_budget.filter(|whole| *whole > 0.0).map(|whole| budget.max(0.0) / whole);
            let noise_cost =
                sampled.filter(|_| posterior == Posterior::Diagonal).and_then(|sampled| sampled.noise_cost(latent));
            // Both sides are of the same codes.
            let sampled_variance = sampled.and_then(|sampled| sampled.mean_variance(latent));
            LatentFacts {
                latent,
                deviation,
                variance,
                kl: of(&divergences, latent),
                standing: gaussian.contains(&latent).then(|| Standing::of(deviation, variance)),
                budget,
                budget_share: finite(budget.and_then(share)),
                jacobian_norm: finite(sampled.map(|sampled| sampled.mean_norm(latent))),
                direction_norm: finite(sampled.map(|sampled| sampled.norm_of_mean(latent))),
                noise_cost,
                of_optimum: finite(optimum_ratio(noise_cost, sampled_variance, price)),
            }
        })
        .collect();
    facts.sort_by(|one, other| place(one).total_cmp(&place(other)).then(one.latent.cmp(&other.latent)));
    facts
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// What latents are sorted by.
fn place(facts: &LatentFacts) -> f64 {
    facts.variance.unwrap_or_else(|| -facts.deviation * facts.jacobian_norm.unwrap_or(1.0))
}

/// `2 |J|^2 s^2 / (beta (1 - s^2))`; none for a latent that is nearly the prior.
fn optimum_ratio(noise_cost: Option<f64>, variance: Option<f64>, price: Option<f64>) -> Option<f64> {
    let (cost, variance, price) = (noise_cost?, variance?, price?);
    (variance < NEAR_PRIOR && price > 0.0).then(|| 2.0 * cost / (price * (1.0 - variance)))
}

/// The norms of the columns of a Jacobian `[pixels, latents]`.
pub(super) fn column_norms(jacobian: &ArrayView2<f64>) -> Vec<f64> {
    jacobian.columns().into_iter().map(|column| column.iter().map(|value| value * value).sum::<f64>().sqrt()).collect()
}

/// What a nat of divergence costs the run, in squared error summed over pixels; or why that is not known.
pub(super) fn price_of_a_nat(run: &TrainedRun, posterior: Posterior) -> Result<f64, String> {
    if posterior != Posterior::Diagonal {
        return Err(posterior.why_no_budget().to_string());
    }
    let settings = &run.config.framework.settings;
    let loss = match settings.get("reconstruction") {
        Some(Value::Table(table)) => table.get("name").and_then(Value::as_str).map(str::to_string),
        other => other.and_then(Value::as_str).map(str::to_string),
    };
    if loss.as_deref() != Some("mse") {
        return Err("what noise costs follows from the Jacobian for the squared error, \"mse\", alone".to_string());
    }
    let beta = match (run.config.framework.name.as_str(), settings.get("beta")) {
        ("vae", _) => 1.0,
        ("beta_vae", Some(beta)) => {
            let schedule = Schedule::try_from(beta.clone()).map_err(|error| error.to_string())?;
            schedule.at(run.step.saturating_sub(1))
        }
        (name, _) => {
            return Err(format!("\"{name}\" has no fixed price of a nat: \"vae\" and \"beta_vae\" have one"));
        }
    };
    match settings.get("reduction").and_then(Value::as_str) {
        Some("mean") => Ok(beta * run.dataset.image_shape().n_pixels() as f64 / run.model.latents() as f64),
        _ => Ok(beta),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rules_agree_or_say_which_one_holds() {
        assert_eq!(Standing::of(0.9, Some(0.1)), Standing::Active);
        assert_eq!(Standing::of(0.1, Some(0.9)), Standing::Passive);
        assert_eq!(Standing::of(0.6, Some(0.8)), Standing::ActiveByMeans);
        assert_eq!(Standing::of(0.5, Some(0.79)), Standing::ActiveByVariance);
        assert_eq!([Standing::of(0.6, None), Standing::of(0.4, None)], [Standing::Active, Standing::Passive]);
        assert_eq!(Standing::of(0.6, Some(0.8)).word(), "mixed");
    }

    #[test]
    fn the_best_variance_has_a_ratio_of_one() {
        // Of s^2 |J|^2 + beta / 2 (s^2 - ln s^2) the least is at s^2 = beta / (beta + 2 |J|^2): with |J|^2 = 3 and beta = 2, at 1/4.
        let (squared_norm, price, variance) = (3.0, 2.0, 0.25);
        let ratio = optimum_ratio(Some(squared_norm * variance), Some(variance), Some(price)).unwrap();
        assert!((ratio - 1.0).abs() < 1e-12);
        let loss = |variance: f64| squared_norm * variance + price / 2.0 * (variance - variance.ln());
        assert!(loss(0.25) < loss(0.24) && loss(0.25) < loss(0.26));
        assert_eq!(optimum_ratio(Some(0.0), Some(0.99), Some(2.0)), None);
    }
}
