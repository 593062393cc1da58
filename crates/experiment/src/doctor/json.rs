//! Findings as JSON: `factors.NAME.{distance_mean, distance_std, pearson.LOSS, spearman.LOSS}`, and `random` and `random32` likewise. Distances of
//! `random32` are those of `random`, of different images; its correlations have the pairs of an image with itself.

use serde_json::{Map, Value, json};
use unbraid_distances::estimate::Estimate;
use unbraid_distances::examine::{OfPairs, UnderLoss};
use unbraid_distances::losses::Loss;
use unbraid_distances::verdict::Standing;

use super::Examined;

/// All that was found. What is not defined is null, and `undefined` says why.
pub fn findings_json(examined: &Examined) -> Value {
    let findings = &examined.findings;
    let losses = &findings.losses;
    let mut factors = Map::new();
    for factor in &findings.factors {
        let mut value = match &factor.pairs {
            Ok(pairs) => of_pairs(pairs, losses),
            Err(reason) => nothing(losses, reason),
        };
        value["size"] = json!(factor.size);
        value["has_order"] = json!(factor.has_order);
        if let Ok(pairs) = &factor.pairs {
            value["standing"] = by_loss(losses, &pairs.under, |under| json!(Standing::of(factor, under).word()));
        }
        factors.insert(factor.name.clone(), value);
    }
    let names: Vec<&str> = losses.iter().map(|loss| loss.name.as_str()).collect();
    let parts: Map<String, Value> =
        examined.verdict.parts.iter().map(|(heading, text)| (heading.clone(), json!(text))).collect();
    json!({
        "dataset": examined.dataset,
        "settings": serde_json::to_value(&examined.settings).unwrap_or_default(),
        "n_images": examined.n_images,
        "losses": names,
        "verdict": {
            "summary": examined.verdict.summary,
            "better_loss": examined.verdict.better_loss.map(|loss| names[loss]),
            "parts": parts,
        },
        "factors": factors,
        "random": of_pairs(&findings.random, losses),
        "random32": of_pairs(&findings.random32, losses),
    })
}

fn of_pairs(pairs: &OfPairs, losses: &[Loss]) -> Value {
    let number = |estimate: &Result<Estimate, String>| json!(estimate.as_ref().ok().map(|estimate| estimate.value));
    // Of all pairs a number is exact; of too few that were drawn its interval is unknown.
    let interval = |estimate: &Result<Estimate, String>| match estimate {
        Ok(estimate) if pairs.are_all => json!([estimate.value, estimate.value]),
        Ok(estimate) => json!(estimate.interval),
        Err(_) => Value::Null,
    };
    let under = &pairs.under;
    let mut value = json!({
        "n_pairs": pairs.n_pairs,
        "all_pairs": pairs.are_all,
        "distance_mean": under[0].mean,
        "distance_std": under[0].deviation,
        "pearson": by_loss(losses, under, |under| number(&under.correlations.pearson)),
        "spearman": by_loss(losses, under, |under| number(&under.correlations.spearman)),
        "pearson_interval": by_loss(losses, under, |under| interval(&under.correlations.pearson)),
        "spearman_interval": by_loss(losses, under, |under| interval(&under.correlations.spearman)),
        "order": by_loss(losses, under, |under| number(&under.order)),
        "constant": by_loss(losses, under, |under| json!(under.is_constant)),
        "saturated": by_loss(losses, under, |under| json!(under.saturated)),
        "mean": by_loss(losses, under, |under| json!(under.mean)),
        "std": by_loss(losses, under, |under| json!(under.deviation)),
    });
    let undefined = undefined(losses, under);
    if !undefined.is_empty() {
        value["undefined"] = Value::Object(undefined);
    }
    value
}

/// The same keys where a factor could not be followed.
fn nothing(losses: &[Loss], reason: &str) -> Value {
    let nulls = || Value::Object(losses.iter().map(|loss| (loss.name.clone(), Value::Null)).collect());
    let of_losses = [
        "pearson",
        "spearman",
        "pearson_interval",
        "spearman_interval",
        "order",
        "constant",
        "saturated",
        "mean",
        "std",
    ];
    let mut value = json!({
        "n_pairs": 0,
        "all_pairs": true,
        "distance_mean": null,
        "distance_std": null,
        "undefined": { "all": reason },
    });
    of_losses.into_iter().chain(["standing"]).for_each(|key| value[key] = nulls());
    value
}

fn by_loss(losses: &[Loss], under: &[UnderLoss], of: impl Fn(&UnderLoss) -> Value) -> Value {
    Value::Object(losses.iter().zip(under).map(|(loss, under)| (loss.name.clone(), of(under))).collect())
}

/// Why numbers are null.
fn undefined(losses: &[Loss], under: &[UnderLoss]) -> Map<String, Value> {
    let mut reasons = Map::new();
    for (loss, under) in losses.iter().zip(under) {
        let estimates = [
            ("pearson", &under.correlations.pearson),
            ("spearman", &under.correlations.spearman),
            ("order", &under.order),
        ];
        for (name, estimate) in estimates {
            if let Err(reason) = estimate {
                reasons.insert(format!("{name}.{}", loss.name), json!(reason));
            }
        }
    }
    reasons
}
