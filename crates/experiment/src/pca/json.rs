//! What was found as JSON: `components` and `latents`, each a list in order. Components and latents are named as elsewhere: components from 1,
//! latents from `z0`.

use serde_json::{Value, json};

use super::{Analysed, LatentDirection, Latents, Match};

/// Images of so few numbers have those of each component in the JSON too.
const FEW_NUMBERS: usize = 64;

/// All that was found.
pub fn findings_json(analysed: &Analysed) -> Value {
    let principal = &analysed.principal;
    let is_small = analysed.shape.n_pixels() <= FEW_NUMBERS;
    let each = principal.variances.iter().zip(principal.shares()).zip(principal.cumulative()).enumerate();
    let components: Vec<Value> = each
        .map(|(position, ((variance, share), cumulative))| {
            let mut component = json!({
                "component": position + 1, "variance": variance, "share": share, "cumulative": cumulative,
            });
            if is_small {
                component["entries"] = json!(principal.components.row(position).to_vec());
            }
            component
        })
        .collect();
    let mut value = json!({
        "name": analysed.source.name,
        "settings": serde_json::to_value(&analysed.source.settings).unwrap_or_default(),
        "summary": analysed.summary(),
        "n_images": principal.n_rows,
        "all_images": analysed.has_all_images(),
        "n_numbers": analysed.shape.n_pixels(),
        "method": analysed.method.name(),
        "passes": principal.n_passes,
        "total_variance": principal.total_variance,
        "components": components,
        "notes": analysed.notes,
    });
    if is_small {
        value["mean"] = json!(principal.mean.to_vec());
    }
    if let Some(latents) = &analysed.latents {
        value["verdict"] = json!(latents.verdict);
        value["directions"] = directions(latents, analysed);
    }
    value
}

fn directions(latents: &Latents, analysed: &Analysed) -> Value {
    let total = analysed.principal.total_variance;
    let matched = |matched: &Option<Match>| {
        let value = |matched: &Match| {
            let share = analysed.principal.variances[matched.component] / total;
            json!({ "component": matched.component + 1, "degrees": matched.degrees, "share": share })
        };
        matched.as_ref().map(value)
    };
    let latent = |latent: &LatentDirection| {
        json!({
            "latent": format!("z{}", latent.latent),
            "active": latent.is_active,
            "deviation": latent.deviation,
            "posterior_variance": latent.posterior_variance,
            "length": latent.length,
            "constancy": latent.constancy,
            "captured": latent.captured,
            "captured_share": latent.captured / total,
            "in_span": latent.in_span,
            "at_position": matched(&latent.at_position),
            "best": matched(&latent.best),
        })
    };
    json!({
        "of": "mean of the decoder's Jacobian, not scaled",
        "codes": latents.n_codes,
        "ordered_by": if latents.has_variances { "mean posterior variance" } else { "induced variance" },
        "span_degrees": latents.span_angles,
        "latents": latents.latents.iter().map(latent).collect::<Vec<Value>>(),
    })
}
