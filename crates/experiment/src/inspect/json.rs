//! What was found as JSON: finite numbers, and null for what does not apply, with the reason in `left_out`.

use ndarray::Array2;
use serde_json::{Map, Value, json};
use unbraid_metrics::metrics::polarized::ACTIVE_BELOW;

use super::{Agreement, Directions, Inspection, LatentFacts, Several, Standing, verdict};
use crate::jacobians::Way;

/// The directions themselves are told of points of at most this many numbers; of pictures they are too long.
const MOST_NUMBERS: usize = 64;

/// All that was found in one run.
pub fn inspection_json(found: &Inspection) -> Value {
    let told = verdict(found);
    let latents: Vec<Value> =
        found.latents.iter().enumerate().map(|(position, facts)| latent(found, position, facts)).collect();
    json!({
        "run": found.path.display().to_string(),
        "framework": found.framework,
        "dataset": found.dataset,
        "seed": found.seed,
        "step": found.step,
        "posterior": found.posterior.name(),
        "verdict": { "summary": told.summary, "parts": pairs(&told.parts) },
        "n_active": found.n_active(),
        "latents": latents,
        "price_of_a_nat": found.price,
        "relative_kl_error": regime(found),
        "jacobians": {
            "codes": found.n_codes,
            "by": match found.way { Way::Differences => "differences", Way::Exact => "backward passes" },
        },
        "directions": found.directions.as_ref().map(directions),
        "active_directions": found.active_directions.as_ref().map(directions),
        "scores": found.scores.iter().map(|(name, score)| (name.to_string(), json!(score.as_ref().ok()))).collect::<Map<_, _>>(),
        "left_out": pairs(&found.left_out),
    })
}

/// Several runs: what holds over all, then run by run.
pub fn several_json(several: &Several) -> Value {
    let agreement = |agreement: &Agreement| {
        let value = json!({
            "n_runs": agreement.n_runs,
            "rank_correlation_with_dto": agreement.with_dto.as_ref().ok(),
            "rank_correlation_with_active_dto": agreement.with_active_dto.as_ref().ok(),
            "undefined": agreement.with_dto.as_ref().err(),
        });
        (agreement.score.to_string(), value)
    };
    json!({
        "verdict": several.verdict().summary,
        "orthogonality_and_disentanglement": several.agreements.iter().map(agreement).collect::<Map<_, _>>(),
        "runs": several.runs.iter().map(inspection_json).collect::<Vec<Value>>(),
    })
}

fn pairs(pairs: &[(String, String)]) -> Map<String, Value> {
    pairs.iter().map(|(name, text)| (name.clone(), json!(text))).collect()
}

fn latent(found: &Inspection, position: usize, facts: &LatentFacts) -> Value {
    let direction =
        |jacobian: &Array2<f64>| (jacobian.nrows() <= MOST_NUMBERS).then(|| jacobian.column(facts.latent).to_vec());
    json!({
        "position": position + 1,
        "name": format!("z{}", facts.latent),
        "deviation_of_means": facts.deviation,
        "mean_variance": facts.variance,
        "kl": facts.kl,
        "standing": facts.standing.map(Standing::word),
        "active_by_means": facts.standing.map(Standing::has_varying_means),
        "active_by_variance": facts.variance.map(|variance| variance < ACTIVE_BELOW),
        "budget": facts.budget,
        "budget_share": facts.budget_share,
        "jacobian_norm": facts.jacobian_norm,
        "direction_norm": facts.direction_norm,
        "direction": found.mean_jacobian.as_ref().and_then(direction),
        "noise_cost": facts.noise_cost,
        "noise_cost_over_price": facts.noise_cost.zip(found.price).map(|(cost, price)| cost / price).filter(|ratio| ratio.is_finite()),
        "of_optimum": facts.of_optimum,
    })
}

fn regime(found: &Inspection) -> Value {
    let from = found.regime.polarized_from();
    let rows = found.regime.over_training.as_ref().map_or(&[][..], Vec::as_slice);
    let curve: Vec<Value> =
        rows.iter().map(|row| json!({ "step": row.step, "relative_error": row.relative_error })).collect();
    json!({
        "at_end": found.regime.at_end.as_ref().ok(),
        "polarized_from_step": from.map(|(step, _)| step),
        "polarized_share_of_training": from.map(|(_, share)| share),
        "over_training": found.regime.over_training.is_ok().then_some(curve),
    })
}

fn directions(directions: &Directions) -> Value {
    let mut known: Vec<f64> = directions.distances.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    let quantile = |share: f64| known.get(((known.len().saturating_sub(1)) as f64 * share).round() as usize);
    let singular: Vec<Value> = directions
        .singular_values
        .iter()
        .map(|(mean, deviation)| json!({ "mean": mean, "deviation": deviation }))
        .collect();
    json!({
        "latents": directions.n_latents,
        "dto": directions.dto,
        "dto_quantiles": { "least": quantile(0.0), "quarter": quantile(0.25), "median": quantile(0.5), "three_quarters": quantile(0.75), "greatest": quantile(1.0) },
        "dto_of_codes": directions.distances,
        "degenerate_share": 1.0 - known.len() as f64 / directions.distances.len() as f64,
        "random_rotation": { "mean": directions.random.mean, "deviation": directions.random.deviation },
        "share_of_random": directions.share_of_random(),
        "singular_values": singular,
        "ratios_of_neighbours": directions.ratios,
    })
}
