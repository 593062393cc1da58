//! The scores of a page: those that one looks at first, what to know about them, and all others folded away.

use std::fmt::Write;

use unbraid_data::words::counted;
use unbraid_metrics::{Better, METRICS, Scores, metric_of};

use super::html::{self, escape};
use crate::headlines::{better_text, by_metric, kind_of};
use crate::key_scores::{KEY_SCORES, KeyScore, USUAL, is_key, key_scores};
use crate::reasons::{Note, notes, reasons};
use crate::tables::{score_names, score_text};

/// Named scores of one run, or of several side by side.
pub(super) type Runs<'a> = [(&'a str, &'a Scores)];

/// A card for each key score of one run: its number, a bar where it has an upper end, and how to read it.
pub(super) fn cards(scores: &Scores) -> String {
    let card = |key: &KeyScore, value: f64| {
        format!(
            "<div>\n<dt>{}</dt>\n<dd class=\"number\">{}</dd>\n{}<dd>{}</dd>\n<dd class=\"scale\">{}</dd>\n</div>\n",
            key.name,
            score_text(value),
            bar(key, value),
            escape(key.says),
            key.kind(),
        )
    };
    let cards: String = key_scores([scores])
        .into_iter()
        .filter_map(|key| scores.value(key.name).map(|value| card(key, value)))
        .collect();
    if cards.is_empty() { String::new() } else { format!("<dl class=\"cards\">\n{cards}</dl>\n") }
}

/// A row for each key score and a column for each run; the best of a row is bold, where one way is better.
pub(super) fn key_table(runs: &Runs) -> String {
    let keys = key_scores(runs.iter().map(|(_, scores)| *scores));
    if keys.is_empty() {
        return String::new();
    }
    let heads: String = runs.iter().map(|(name, _)| format!("<th>{}</th>", escape(name))).collect();
    let mut rows = String::new();
    for key in keys {
        let values: Vec<Option<f64>> = runs.iter().map(|(_, scores)| scores.value(key.name)).collect();
        let best = best_of(key, &values);
        let cells: String = values
            .iter()
            .map(|value| match value {
                Some(number) if best == Some(*number) => {
                    format!("<td><b>{}</b>{}</td>", score_text(*number), bar_in_cell(key, *number))
                }
                Some(number) => format!("<td>{}{}</td>", score_text(*number), bar_in_cell(key, *number)),
                None => "<td>–</td>".to_string(),
            })
            .collect();
        let _ = writeln!(
            rows,
            "<tr><th>{}</th>{cells}<td class=\"words\">{}<span class=\"{}\">; {}</span></td></tr>",
            key.name,
            escape(key.says),
            if key.is_usual() { "usual" } else { "other" },
            key.kind()
        );
    }
    format!(
        "<table class=\"key\">\n<thead><tr><th>score</th>{heads}<th class=\"words\">what it says\
         <span class=\"usual\">; {USUAL} unless told</span></th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
}

/// What one has to know to read the numbers, and which key scores are not there.
pub(super) fn key_notes(runs: &Runs) -> String {
    let mut lines: Vec<String> =
        notes(runs, is_key).iter().map(|note| format!("<li>{}</li>\n", note_text(note))).collect();
    let is_missing = |key: &&KeyScore| runs.iter().all(|(_, scores)| scores.value(key.name).is_none());
    let is_undefined = |name: &str| runs.iter().any(|(_, scores)| scores.reason(name).is_some());
    let missing = KEY_SCORES.iter().filter(is_missing).map(|key| key.name);
    let missing: Vec<&str> = missing.filter(|name| is_undefined(name)).collect();
    if !missing.is_empty() {
        lines.push(format!("<li>Not defined here, for reasons told below: {}.</li>\n", missing.join(", ")));
    }
    if lines.is_empty() { String::new() } else { format!("<ul class=\"notes\">\n{}</ul>\n", lines.concat()) }
}

/// Every score, folded, those of a metric together, with a field to search them; then those that are not defined.
pub(super) fn all_scores(runs: &Runs) -> String {
    let mut names = score_names(runs.iter().map(|(_, scores)| *scores));
    names.retain(|name| runs.iter().any(|(_, scores)| scores.value(name).is_some()));
    if names.is_empty() && reasons(runs).is_empty() {
        return "<p>There are no scores.</p>\n".to_string();
    }
    let ordered = by_metric(&names);
    let groups: Vec<&[&str]> = ordered.chunk_by(|one, next| metric_of(one) == metric_of(next)).collect();
    let folded: String = groups.iter().map(|names| metric_group(names, runs)).collect();
    format!(
        "<details class=\"all\">\n<summary>All {} scores of {} metrics</summary>\n\
         <p class=\"search\" hidden><label>Search <input type=\"search\" id=\"search\" placeholder=\"name or words\"></label> \
         <span id=\"found\"></span></p>\n{folded}</details>\n{}",
        names.len(),
        groups.len(),
        undefined(runs)
    )
}

/// The scores of one metric, folded under its name, its own score and what it measures.
fn metric_group(names: &[&str], runs: &Runs) -> String {
    let metric = names.first().map_or("", |name| metric_of(name));
    let about = METRICS.iter().find(|entry| entry.name == metric).map_or("", |entry| entry.about);
    let number = |scores: &Scores, name: &str| scores.value(name).map_or("–".to_string(), score_text);
    let own: Vec<String> = runs.iter().map(|(_, scores)| number(scores, metric)).collect();
    let mut header = vec!["score".to_string()];
    header.extend(runs.iter().map(|(name, _)| if runs.len() == 1 { "value".to_string() } else { name.to_string() }));
    header.push("better".to_string());
    let rows: Vec<Vec<String>> = names
        .iter()
        .map(|name| {
            let numbers = runs.iter().map(|(_, scores)| number(scores, name));
            let better = better_text(kind_of(runs, name)).to_string();
            std::iter::once(name.to_string()).chain(numbers).chain([better]).collect()
        })
        .collect();
    let notes: String = notes(runs, |of| of == metric)
        .iter()
        .map(|note| format!("<p class=\"note\">{}</p>\n", note_text(note)))
        .collect();
    format!(
        "<details class=\"metric\">\n<summary><b>{}</b> <span class=\"number\">{}</span> <span class=\"about\">{}</span>\
         </summary>\n{}{}</details>\n",
        escape(metric),
        own.join(" / "),
        escape(about),
        notes,
        html::table(&header, &rows)
    )
}

/// The scores that are not defined, folded, each reason once.
fn undefined(runs: &Runs) -> String {
    let reasons = reasons(runs);
    if reasons.is_empty() {
        return String::new();
    }
    let n_scores: usize = reasons.iter().map(|reason| reason.scores.len()).sum();
    let lines: String = reasons
        .iter()
        .map(|reason| {
            let is_of_all = reason.runs.len() == runs.len();
            let of_runs = if is_of_all { String::new() } else { format!(" (of {})", escape(&reason.runs.join(", "))) };
            let scores = escape(&reason.scores.join(", "));
            format!("<li>{}{of_runs}: <span class=\"names\">{scores}</span></li>\n", escape(reason.why))
        })
        .collect();
    let summary = format!("{} not defined, for {}", counted(n_scores, "score"), counted(reasons.len(), "reason"));
    format!("<details class=\"undefined\">\n<summary>{summary}</summary>\n<ul>\n{lines}</ul>\n</details>\n")
}

/// What a note is on, the runs that it is of where it is not of all, and what it says.
fn note_text(note: &Note) -> String {
    let of_runs = if note.runs.is_empty() { String::new() } else { format!(" (of {})", note.runs.join(", ")) };
    format!("<b>{}</b>{}: {}", escape(note.of), escape(&of_runs), escape(note.text))
}

/// A bar as long as the score, where it lies between 0 and 1.
fn bar(key: &KeyScore, value: f64) -> String {
    if key.kind().is_share() { format!("<dd class=\"bar\">{}</dd>\n", filled(value)) } else { String::new() }
}

fn bar_in_cell(key: &KeyScore, value: f64) -> String {
    if key.kind().is_share() { format!("<span class=\"bar\">{}</span>", filled(value)) } else { String::new() }
}

fn filled(value: f64) -> String {
    format!("<i style=\"width:{:.1}%\"></i>", 100.0 * value.clamp(0.0, 1.0))
}

fn best_of(key: &KeyScore, values: &[Option<f64>]) -> Option<f64> {
    let defined = || values.iter().flatten().copied();
    match key.kind().better {
        _ if defined().count() < 2 => None,
        Better::High => defined().max_by(f64::total_cmp),
        Better::Low => defined().min_by(f64::total_cmp),
        Better::Neither => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Scores {
        Scores::new()
            .with("mig", 0.25)
            .with_factor("mig", "shape", Ok::<f64, String>(0.5))
            .with("sap", 0.125)
            .with("kl", 12.0)
            .without("axis_ratio", "no <grid>")
            .without("udr", "one run")
            .without("udr.spearman", "one run")
            .with_note("input", "few rows")
    }

    #[test]
    fn cards_show_the_key_scores_alone() {
        let cards = cards(&example());
        assert_eq!(cards.matches("<dt>").count(), 2);
        for wanted in ["<dt>mig</dt>\n<dd class=\"number\">0.2500</dd>", "width:25.0%", "0 to 1, higher is better"] {
            assert!(cards.contains(wanted), "{wanted}");
        }
        assert!(!cards.contains("sap") && !cards.contains("mig.shape"));
    }

    #[test]
    fn notes_tell_what_is_missing_among_the_key_scores() {
        let scores = example();
        let notes = key_notes(&[("a", &scores), ("b", &scores)]);
        assert_eq!(notes.matches("<li>").count(), 2, "{notes}");
        assert!(notes.contains("<b>input</b>: few rows") && notes.contains("told below: axis_ratio."), "{notes}");
    }

    #[test]
    fn the_best_of_a_row_is_bold_where_one_way_is_better() {
        let (first, second) = (example(), Scores::new().with("mig", 0.5).with("kl", 9.0).with("reconstruction", 3.0));
        let table = key_table(&[("a", &first), ("b", &second)]);
        assert!(table.contains("<td>0.2500<span") && table.contains("<td><b>0.5000</b><span"), "{table}");
        assert!(table.contains("<th>kl</th><td>12.0000</td><td>9.0000</td>"), "{table}");
        assert!(table.contains("<th>reconstruction</th><td>–</td><td>3.0000</td>"), "{table}");
    }

    #[test]
    fn all_others_are_folded_by_metric_and_by_reason() {
        let scores = example();
        let all = all_scores(&[("a", &scores)]);
        for wanted in [
            "<summary>All 4 scores of 3 metrics</summary>",
            "<summary><b>sap</b> <span class=\"number\">0.1250</span> <span class=\"about\">gap between",
            "<tr><th>mig</th><td>0.2500</td><td>higher</td></tr>\n<tr><th>mig.shape</th><td>0.5000</td><td>higher</td></tr>",
            "<tr><th>kl</th><td>12.0000</td><td></td></tr>",
            "<summary>3 scores not defined, for 2 reasons</summary>",
            "<li>no &lt;grid&gt;: <span class=\"names\">axis_ratio</span></li>",
            "<li>one run: <span class=\"names\">udr, udr.spearman</span></li>",
        ] {
            assert!(all.contains(wanted), "{wanted}\n{all}");
        }
    }
}
