//! The scores that one looks at first: those of the whole input, without the parts of single factors and latents.

use unbraid_metrics::Scores;

/// The scores without those of single factors (`mig.shape`) and single latents (`kl.z0`), and how many were left out.
/// What a metric calls by its own name is always kept.
pub fn headlines<'a>(scores: &Scores, factors: impl IntoIterator<Item = &'a str>) -> (Scores, usize) {
    let factors: Vec<String> = factors.into_iter().map(|factor| format!(".{factor}.")).collect();
    let is_headline = |name: &String| {
        let Some((_, part)) = name.split_once('.') else { return true };
        // Points on both sides, so that a factor called `x` is not found in `maximum`.
        let pointed = format!(".{part}.");
        !factors.iter().any(|factor| pointed.contains(factor.as_str())) && !part.split('.').any(is_latent)
    };
    let kept = Scores {
        values: scores.values.iter().filter(|(name, _)| is_headline(name)).cloned().collect(),
        undefined: scores.undefined.iter().filter(|(name, _)| is_headline(name)).cloned().collect(),
        notes: scores.notes.clone(),
        matrices: scores.matrices.clone(),
    };
    let count = |scores: &Scores| scores.values.len() + scores.undefined.len();
    let n_left_out = count(scores) - count(&kept);
    (kept, n_left_out)
}

/// Names in the order in which they come, but those of one metric together, what it calls by its own name first.
pub fn by_metric(names: &[String]) -> Vec<&str> {
    let mut metrics: Vec<&str> = Vec::new();
    for name in names {
        let metric = metric_of(name);
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    let mut ordered: Vec<&str> = names.iter().map(String::as_str).collect();
    let position = |name: &str| metrics.iter().position(|metric| *metric == metric_of(name));
    ordered.sort_by_key(|name| (position(name), name.contains('.')));
    ordered
}

/// The metric that a score is of.
pub(crate) fn metric_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(metric, _)| metric)
}

/// Whether a part of a name is a latent's: `z3`.
fn is_latent(part: &str) -> bool {
    part.strip_prefix('z').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_factors_and_latents_are_left_out() {
        let scores = Scores::new()
            .with("mig", 0.5)
            .with("mig.shape", 0.25)
            .with("mig.pos.x", 0.5)
            .with("dci.forest.z10", 0.1)
            .with("dci.forest", 0.2)
            .with("dci.maximum", 0.2)
            .with("zoom.z", 0.2)
            .without("x", "a metric of that name")
            .without("sap.shape.error", "no");
        let (kept, n_left_out) = headlines(&scores, ["shape", "pos.x", "x"]);
        let names: Vec<&str> = kept.values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["mig", "dci.forest", "dci.maximum", "zoom.z"]);
        assert_eq!(kept.undefined.len(), 1);
        assert_eq!(n_left_out, 4);
    }

    #[test]
    fn the_scores_of_a_metric_stand_together() {
        let names = ["dci.forest", "mig", "dci", "mig.bins", "dci.lasso"].map(String::from);
        assert_eq!(by_metric(&names), ["dci", "dci.forest", "dci.lasso", "mig", "mig.bins"]);
    }
}
