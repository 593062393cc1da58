//! The scores that one looks at first: those of the whole input, without the parts of single factors and latents.

use unbraid_metrics::{Better, ScoreKind, ScoreOf, Scores, metric_of, score_kind};

/// The scores of the whole input, without those of single factors (`mig.shape`) and single latents (`kl.z0`), and how many
/// were left out.
pub fn headlines(scores: &Scores) -> (Scores, usize) {
    let kept = Scores {
        values: scores.values.iter().filter(|score| score.of == ScoreOf::Whole).cloned().collect(),
        undefined: scores.undefined.iter().filter(|score| score.of == ScoreOf::Whole).cloned().collect(),
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
    ordered.sort_by_key(|name| (position(name), metric_of(name) != *name));
    ordered
}

/// What the metrics tell of the score called `name` in the first of some runs that has it.
pub fn kind_of(runs: &[(&str, &Scores)], name: &str) -> Option<&'static ScoreKind> {
    let mut values = runs.iter().flat_map(|(_, scores)| &scores.values);
    score_kind(&values.find(|score| score.name == name)?.kind)
}

/// `higher` or `lower` where that is better, for a cell beside the number.
pub fn better_text(kind: Option<&ScoreKind>) -> &'static str {
    match kind.map(|kind| kind.better) {
        Some(Better::High) => "higher",
        Some(Better::Low) => "lower",
        Some(Better::Neither) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_factors_and_latents_are_left_out_whatever_they_are_called() {
        let part = |value: f64| Ok::<f64, String>(value);
        let scores = Scores::new()
            .with("mig", 0.5)
            .with_factor("mig", "shape", part(0.25))
            .with_factor("mig", "pos.x", part(0.5))
            .with_factor("mig", "z0", part(0.5))
            .with_factor("mig", "", part(0.5))
            .with("dci.forest.z10", 0.1)
            .with_latent("dci.forest", 10, part(0.1))
            .with("sap.shape", 0.2)
            .without("x", "a metric of that name")
            .with_factor("sap.error", "mean", Err("no"));
        let (kept, n_left_out) = headlines(&scores);
        let names: Vec<&str> = kept.values.iter().map(|score| score.name.as_str()).collect();
        assert_eq!(names, ["mig", "dci.forest.z10", "sap.shape"]);
        assert_eq!(kept.undefined.len(), 1);
        assert_eq!(n_left_out, 6);
    }

    #[test]
    fn the_scores_of_a_metric_stand_together() {
        let names = ["dci.forest", "mig", "dci", "mig.bins", "dci.lasso"].map(String::from);
        assert_eq!(by_metric(&names), ["dci", "dci.forest", "dci.lasso", "mig", "mig.bins"]);
    }

    #[test]
    fn a_part_is_better_the_same_way_as_the_whole() {
        let scores = Scores::new()
            .with_factor("fairness", "kl", Ok::<f64, String>(0.5))
            .with_latent("kl", 0, Ok::<f64, String>(0.5))
            .with("mig.shape", 0.5);
        let better = |name: &str| better_text(kind_of(&[("a", &scores)], name));
        assert_eq!(["fairness.kl", "kl.z0", "mig.shape", "mig"].map(better), ["lower", "", "", ""]);
    }
}
