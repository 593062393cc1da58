//! Why scores are not defined, and what one has to know to read the others: each once, with all that it holds for.

use unbraid_metrics::{Scores, Undefined};

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
        for Undefined { name, reason: why, .. } in &scores.undefined {
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

/// A note and the runs that it holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note<'a> {
    /// The metric that it is on, or `input`.
    pub of: &'a str,
    /// What one has to know.
    pub text: &'a str,
    /// The names of the runs; none where it holds for all.
    pub runs: Vec<&'a str>,
}

/// The notes of several named runs on what `is_shown` picks, in the order in which they come up.
pub fn notes<'a>(runs: &[(&'a str, &'a Scores)], is_shown: impl Fn(&str) -> bool) -> Vec<Note<'a>> {
    let mut notes: Vec<Note> = Vec::new();
    for (run, scores) in runs {
        for (of, text) in scores.notes.iter().filter(|(of, _)| is_shown(of)) {
            match notes.iter_mut().find(|note| note.of == of && note.text == text) {
                Some(note) => note.runs.push(run),
                None => notes.push(Note { of, text, runs: vec![run] }),
            }
        }
    }
    notes.iter_mut().filter(|note| note.runs.len() == runs.len()).for_each(|note| note.runs.clear());
    notes
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

    #[test]
    fn a_note_names_its_runs_where_it_is_not_of_all() {
        let first = Scores::new().with_note("input", "few rows").with_note("elbo", "no nats");
        let second = Scores::new().with_note("input", "few rows").with_note("mig", "bins");
        let expected =
            [Note { of: "input", text: "few rows", runs: vec![] }, Note { of: "mig", text: "bins", runs: vec!["b"] }];
        assert_eq!(notes(&[("a", &first), ("b", &second)], |of| of != "elbo"), expected);
    }
}
