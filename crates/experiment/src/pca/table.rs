//! What was found as rows of text.

use unbraid_report::tables::score_text;

use super::{Analysed, LatentDirection, Match};

/// Images of so few numbers are shown by the numbers themselves.
const FEW_NUMBERS: usize = 12;

/// A header, and rows that begin with a name.
pub type TableRows = (Vec<String>, Vec<Vec<String>>);

/// A row for each component: its variance, its share and the share of all up to it.
pub fn component_rows(analysed: &Analysed) -> TableRows {
    let principal = &analysed.principal;
    let header = ["component", "variance", "share", "cumulative"];
    let each = principal.variances.iter().zip(principal.shares()).zip(principal.cumulative()).enumerate();
    let rows = each.map(|(position, ((variance, share), cumulative))| {
        vec![(position + 1).to_string(), score_text(*variance), percent(share), percent(cumulative)]
    });
    (texts(&header), rows.collect())
}

/// The numbers of the mean and of each component, where there are few and they are no picture.
pub fn entry_rows(analysed: &Analysed) -> Option<TableRows> {
    let (principal, n_pixels) = (&analysed.principal, analysed.shape.n_pixels());
    if analysed.shows_pictures || n_pixels > FEW_NUMBERS {
        return None;
    }
    let row = |name: String, entries: &mut dyn Iterator<Item = &f64>| -> Vec<String> {
        std::iter::once(name).chain(entries.map(|entry| score_text(*entry))).collect()
    };
    let mut rows = vec![row("mean".to_string(), &mut principal.mean.iter())];
    for (position, component) in principal.components.rows().into_iter().enumerate() {
        rows.push(row((position + 1).to_string(), &mut component.iter()));
    }
    if let Some(latents) = &analysed.latents {
        for (latent, direction) in latents.latents.iter().zip(latents.directions.rows()) {
            rows.push(row(format!("z{}", latent.latent), &mut direction.iter()));
        }
    }
    let numbers = (0..n_pixels).map(|number| format!("number {number}"));
    Some((std::iter::once("direction".to_string()).chain(numbers).collect(), rows))
}

/// A row for each latent, in order; nothing where there are no latents.
pub fn latent_rows(analysed: &Analysed) -> Option<TableRows> {
    let latents = analysed.latents.as_ref()?;
    let mut header = vec!["latent", "deviation"];
    if latents.has_variances {
        header.push("posterior variance");
    }
    header.extend(["in order", "best match", "in span", "captures", "constancy"]);
    let matched = |matched: &Option<Match>| match matched {
        Some(Match { component, degrees }) => format!("{}: {degrees:.1}°", component + 1),
        None => "–".to_string(),
    };
    let row = |latent: &LatentDirection| {
        let passive = if latent.is_active { "" } else { " (passive)" };
        let mut row = vec![format!("z{}{passive}", latent.latent), score_text(latent.deviation)];
        row.extend(latent.posterior_variance.map(score_text));
        row.extend([matched(&latent.at_position), matched(&latent.best)]);
        row.push(latent.in_span.map_or("–".to_string(), percent));
        row.extend([percent(latent.captured / analysed.principal.total_variance), format!("{:.2}", latent.constancy)]);
        row
    };
    Some((texts(&header), latents.latents.iter().map(row).collect()))
}

/// `12.34 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}
