//! What was found, as rows of a table.

use unbraid_report::tables::score_text;

use super::{Directions, Inspection, LatentFacts, Posterior, Several, Standing};

type Table = (Vec<String>, Vec<Vec<String>>);

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or("–".to_string(), score_text)
}

/// A row for each latent in order; columns that no latent has anything in are left out.
pub fn latents_rows(found: &Inspection) -> Table {
    let header = texts(&[
        "latent",
        "position",
        "standing",
        "deviation of means",
        "variance",
        "KL",
        "budget",
        "share",
        "|J|",
        "|J|^2 s^2",
        "of best",
    ]);
    let each = found.latents.iter().enumerate();
    let rows: Vec<Vec<String>> = each.map(|(position, facts)| latent_row(position, facts)).collect();
    let kept: Vec<usize> = (0..header.len()).filter(|&column| rows.iter().any(|row| row[column] != "–")).collect();
    let keep = |row: &Vec<String>| kept.iter().map(|&column| row[column].clone()).collect::<Vec<String>>();
    (keep(&header), rows.iter().map(keep).collect())
}

fn latent_row(position: usize, facts: &LatentFacts) -> Vec<String> {
    let standing = match facts.standing {
        None => "–",
        Some(Standing::ActiveByMeans) => "mixed (means)",
        Some(Standing::ActiveByVariance) => "mixed (variance)",
        Some(other) => other.word(),
    };
    vec![
        format!("z{}", facts.latent),
        (position + 1).to_string(),
        standing.to_string(),
        score_text(facts.deviation),
        number(facts.variance),
        number(facts.kl),
        number(facts.budget),
        facts.budget_share.map_or("–".to_string(), |share| format!("{:.1} %", 100.0 * share)),
        number(facts.jacobian_norm),
        number(facts.noise_cost),
        facts.of_optimum.map_or("–".to_string(), |ratio| format!("{ratio:.2}")),
    ]
}

/// What the rows of latents are sorted by, and what the columns say.
pub(super) fn latents_caption(found: &Inspection) -> String {
    let order = match found.posterior {
        Posterior::Diagonal | Posterior::Full => {
            "Latents by mean posterior variance, least first: the nonlinear principal components (T4 equations 4.7 and 4.8)."
        }
        _ if found.directions.is_some() => {
            "Latents by how much they move the image (deviation of codes times |J|), most first: there is no posterior variance to sort by."
        }
        _ => "Latents by how much their codes vary, most first.",
    };
    let budget = match found.posterior {
        Posterior::Diagonal => {
            " Budget: -1/2 ln of the variance, the digits that the divergence pays for (T4 3.2.5), in nats, and its share of all. |J|: how far the image moves with the latent. |J|^2 s^2: what its noise adds to the squared error; of best: the same over beta/2 (1 - s^2), where the loss is least."
        }
        Posterior::Full => {
            " Variances and budgets are those of single latents: what latents share is in neither. |J|: how far the image moves with the latent."
        }
        _ if found.directions.is_some() => " |J|: how far the image moves with the latent.",
        _ => "",
    };
    let standing = match found.n_active() {
        None => "",
        Some(_) => {
            " Active: the deviation of means is above 0.5, and the variance below 0.8 (T4 3.3.2 and 4.3.4); mixed: one of the two."
        }
    };
    format!("{order}{budget}{standing}")
}

/// A row for each singular value over all latents and over those whose codes vary.
pub fn directions_rows(directions: &Directions) -> Table {
    let header = texts(&["singular value", "mean", "deviation over codes", "over the next"]);
    let rows = directions.singular_values.iter().enumerate().map(|(place, (mean, deviation))| {
        let ratio = directions.ratios.get(place).copied().flatten();
        let ratio = ratio.map_or("–".to_string(), |ratio| format!("{ratio:.2}"));
        vec![(place + 1).to_string(), score_text(*mean), score_text(*deviation), ratio]
    });
    (header, rows.collect())
}

/// A row for each run.
pub fn several_rows(several: &Several) -> Table {
    let header = texts(&[
        "run",
        "framework",
        "active",
        "DtO",
        "random",
        "DtO of active",
        "random",
        "relative KL error",
        "polarized from",
        "DS",
        "MIG",
    ]);
    let row = |found: &Inspection| {
        // A single latent is always on its axis.
        let several = |directions: &Option<Directions>| directions.clone().filter(|one| one.n_latents > 1);
        let dto = |directions: &Option<Directions>| number(several(directions).and_then(|one| one.dto));
        let random = |directions: &Option<Directions>| number(several(directions).map(|one| one.random.mean));
        let from = found
            .regime
            .polarized_from()
            .map_or("–".to_string(), |(step, share)| format!("step {step} ({:.1} %)", 100.0 * share));
        vec![
            found.path.display().to_string(),
            found.framework.clone(),
            found.n_active().map_or("–".to_string(), |n_active| format!("{n_active} of {}", found.latents.len())),
            dto(&found.directions),
            random(&found.directions),
            dto(&found.active_directions),
            random(&found.active_directions),
            number(found.regime.at_end.as_ref().ok().copied()),
            from,
            number(found.score("ds")),
            number(found.score("mig")),
        ]
    };
    (header, several.runs.iter().map(row).collect())
}
