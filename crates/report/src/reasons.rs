//! Why scores are not defined: each reason once, with all that it holds for.

use unbraid_metrics::Scores;

/// A reason and what it holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason<'a> {
    /// Why the scores are not defined.
    pub why: &'a str,
    /// The names of the scores.
    pub scores: Vec<&'a str>,
    /// The names of the runs.
    pub runs: Vec<&'a str>,
}

/// The reasons of several named runs, in the order in which they come up.
pub fn reasons<'a>(runs: &[(&'a str, &'a Scores)]) -> Vec<Reason<'a>> {
    let mut reasons: Vec<Reason> = Vec::new();
    for (run, scores) in runs {
        for (name, why) in &scores.undefined {
            let known = reasons.iter().position(|reason| reason.why == why);
            let position = known.unwrap_or_else(|| {
                reasons.push(Reason { why, scores: Vec::new(), runs: Vec::new() });
                reasons.len() - 1
            });
            let reason = &mut reasons[position];
            if !reason.scores.contains(&name.as_str()) {
                reason.scores.push(name);
            }
            if !reason.runs.contains(run) {
                reason.runs.push(run);
            }
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_told_once() {
        let first = Scores::new().without("kl", "none").without("mig", "few").without("elbo", "none");
        let second = Scores::new().without("kl", "none");
        let expected = [
            Reason { why: "none", scores: vec!["kl", "elbo"], runs: vec!["a", "b"] },
            Reason { why: "few", scores: vec!["mig"], runs: vec!["a"] },
        ];
        assert_eq!(reasons(&[("a", &first), ("b", &second)]), expected);
    }
}
