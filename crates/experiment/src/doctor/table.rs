//! Findings as rows of a table: factors by importance, then random pairs.

use unbraid_distances::estimate::Estimate;
use unbraid_distances::examine::{Findings, OfFactor, OfPairs};
use unbraid_distances::verdict::Standing;

use super::by_importance;

/// The header and the rows. For each loss the linear and the rank correlation, and what that means for the order of the factor's values.
pub fn findings_rows(findings: &Findings) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> = ["pairs along", "mean distance", "± std"].map(String::from).to_vec();
    for loss in &findings.losses {
        header.extend([format!("{} linear", loss.name), "rank".to_string(), "order".to_string()]);
    }
    let mut rows: Vec<Vec<String>> =
        by_importance(findings).into_iter().map(|(factor, pairs)| row(&factor.name, Some(factor), pairs)).collect();
    rows.push(row("random", None, &findings.random));
    rows.push(row("random (T1's groups of 32)", None, &findings.random32));
    (header, rows)
}

fn row(name: &str, factor: Option<&OfFactor>, pairs: &OfPairs) -> Vec<String> {
    let first = &pairs.under[0];
    // What is left of distances that are all the same is rounding.
    let deviation = if first.deviation <= 1e-9 * first.mean { 0.0 } else { first.deviation };
    let mut row = vec![name.to_string(), distance_text(first.mean), distance_text(deviation)];
    for under in &pairs.under {
        row.push(estimate_text(&under.correlations.pearson, pairs));
        row.push(estimate_text(&under.correlations.spearman, pairs));
        row.push(factor.map_or("", |factor| Standing::of(factor, under).word()).to_string());
    }
    row
}

/// Four decimals, as in T1; two digits of what these would not show.
fn distance_text(distance: f64) -> String {
    match distance {
        0.0 | 0.001..1e6 => format!("{distance:.4}"),
        _ => format!("{distance:.1e}"),
    }
}

/// `0.58`, or `0.58 ±0.01` where pairs were drawn and that can be seen in the digits; `±?` where too few were drawn to tell.
fn estimate_text(estimate: &Result<Estimate, String>, pairs: &OfPairs) -> String {
    match estimate {
        Ok(Estimate { value, interval: Some([low, high]) }) if high - low >= 0.01 => {
            format!("{value:.2} ±{:.2}", (high - low) / 2.0)
        }
        Ok(Estimate { value, interval: None }) if !pairs.are_all => format!("{value:.2} ±?"),
        Ok(Estimate { value, .. }) => format!("{value:.2}"),
        Err(_) => "–".to_string(),
    }
}
