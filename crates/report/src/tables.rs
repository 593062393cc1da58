//! Tables for the terminal, in plain text.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use unbraid_data::words::on_one_line;
use unbraid_metrics::{ScoreKind, ScoreOf, Scores, metric_of};

use crate::headlines::{better_text, by_metric, kind_of};
use crate::key_scores::{USUAL, is_key, key_scores};
use crate::reasons::{Note, notes, reasons};

const ONE_RULE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// One line of a list: what `unbraid list` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListRow<'a> {
    /// The name in configs and commands.
    pub name: &'a str,
    /// What it is, in one line.
    pub about: &'a str,
    /// Where it comes from.
    pub paper: &'a str,
}

/// One setting: what `unbraid list KIND NAME` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow<'a> {
    /// The key in a config.
    pub name: &'a str,
    /// What it is where it is left out, as a config would say it.
    pub default: String,
    /// What it takes.
    pub takes: String,
    /// What it does.
    pub meaning: &'a str,
}

/// Scores of one run, those of a metric together, with the way that is better where one is; below, the reasons why others are not defined, and what one has to know
/// to read the numbers. Lines are at most `width` letters long, where it is given.
pub fn scores_table(scores: &Scores, width: Option<u16>) -> String {
    let mut table = plain_table(vec![Cell::new("score"), number_cell("value"), Cell::new("better")], width);
    let runs = [("", scores)];
    let names: Vec<String> = scores.values.iter().map(|score| score.name.clone()).collect();
    for name in by_metric(&names) {
        let number = scores.value(name).map_or("–".to_string(), score_text);
        let better = better_text(kind_of(&runs, name));
        table.add_row([Cell::new(indented(name)), number_cell(&number), Cell::new(better)]);
    }
    text_of(&table) + &reasons_text(&runs, width) + &notes_text(&runs, |_| true, width)
}

/// Scores of several runs side by side, a column for each, and the way that is better where one is; `–` where a score is undefined or was not asked for. The
/// reasons and notes stand below.
pub fn comparison_table(runs: &[(&str, &Scores)], width: Option<u16>) -> String {
    let names = runs.iter().map(|(name, _)| number_cell(&on_one_line(name)));
    let header = std::iter::once(Cell::new("score")).chain(names).chain([Cell::new("better")]);
    let mut table = plain_table(header.collect(), width);
    let scores = defined_names(runs);
    for score in by_metric(&scores) {
        let numbers = runs.iter().map(|(_, scores)| scores.value(score).map_or("–".to_string(), score_text));
        let better = better_text(kind_of(runs, score));
        table.add_row(
            std::iter::once(Cell::new(indented(score)))
                .chain(numbers.map(|number| number_cell(&number)))
                .chain([Cell::new(better)]),
        );
    }
    text_of(&table) + &reasons_text(runs, width) + &notes_text(runs, |_| true, width)
}

/// The scores that one looks at first, of one run or of several side by side, with how to read each; notes stand below. All
/// scores where there is none of these.
pub fn key_scores_table(runs: &[(&str, &Scores)], width: Option<u16>) -> String {
    let keys = key_scores(runs.iter().map(|(_, scores)| *scores));
    if keys.is_empty() {
        return if let [(_, scores)] = runs { scores_table(scores, width) } else { comparison_table(runs, width) };
    }
    let names = runs.iter().map(|(name, _)| number_cell(if runs.len() == 1 { "value" } else { name }));
    let says = format!("what it says ({USUAL}, unless told)");
    let header = std::iter::once(Cell::new("score")).chain(names).chain([Cell::new(says)]);
    let mut table = plain_table(header.collect(), width);
    for key in keys {
        let numbers = runs.iter().map(|(_, scores)| scores.value(key.name).map_or("–".to_string(), score_text));
        let says = if key.is_usual() { key.says.to_string() } else { format!("{} ({})", key.says, key.kind()) };
        table.add_row(
            std::iter::once(Cell::new(key.name))
                .chain(numbers.map(|number| number_cell(&number)))
                .chain([Cell::new(says)]),
        );
    }
    text_of(&table) + &missing_text(runs, width) + &notes_text(runs, is_key, width)
}

/// Why key scores are not defined.
fn missing_text(runs: &[(&str, &Scores)], width: Option<u16>) -> String {
    let of_keys = |scores: &Scores| Scores {
        undefined: scores.undefined.iter().filter(|score| is_key(&score.name)).cloned().collect(),
        ..Scores::new()
    };
    let missing: Vec<(&str, Scores)> = runs.iter().map(|(name, scores)| (*name, of_keys(scores))).collect();
    reasons_text(&missing.iter().map(|(name, scores)| (*name, scores)).collect::<Vec<_>>(), width)
}

/// Scores of the whole as Markdown for reading: without the reasons, without variants of variants (`a.b.c`, where a metric
/// alone makes the name), and with three digits.
pub fn comparison_markdown(runs: &[(&str, &Scores)]) -> String {
    let names: Vec<&str> = runs.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| score | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(runs.len()));
    let of_whole = |name: &&str| {
        let mut values = runs.iter().flat_map(|(_, scores)| &scores.values);
        values.any(|score| score.name == *name && score.of == ScoreOf::Whole) && name.matches('.').count() <= 1
    };
    for score in by_metric(&defined_names(runs)).into_iter().filter(of_whole) {
        let numbers = runs.iter().map(|(_, scores)| scores.value(score).map_or("–".to_string(), three_digits));
        text += &format!("| `{score}` | {} |\n", numbers.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// Rounding errors about 0 are 0, whatever their sign.
fn three_digits(value: f64) -> String {
    if value.abs() < 5e-4 { "0.000".to_string() } else { format!("{value:.3}") }
}

/// The names of the scores that at least one run has.
fn defined_names(runs: &[(&str, &Scores)]) -> Vec<String> {
    let mut names = score_names(runs.iter().map(|(_, scores)| *scores));
    names.retain(|name| runs.iter().any(|(_, scores)| scores.value(name).is_some()));
    names
}

/// A score that has the same name as its metric stands at the margin, its parts and variants a little to the right.
fn indented(name: &str) -> String {
    // A part may be called after a factor, and a factor by anything.
    let name = on_one_line(name);
    if metric_of(&name) == name { name } else { format!("  {name}") }
}

/// Why scores are not defined: one paragraph for each reason, with the scores that it holds for, and with the runs where it
/// does not hold for all.
fn reasons_text(runs: &[(&str, &Scores)], width: Option<u16>) -> String {
    let reasons = reasons(runs);
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = "\nnot defined:\n".to_string();
    for reason in reasons {
        let is_of_all = reason.runs.len() == runs.len();
        let of = if is_of_all { String::new() } else { format!(" of {}", reason.runs.join(", ")) };
        text += &wrapped(&on_one_line(&format!("{}{of}: {}", reason.scores.join(", "), reason.why)), width);
    }
    text
}

/// What one has to know to read the numbers: a paragraph for each note, with the runs where it is not of all.
fn notes_text(runs: &[(&str, &Scores)], is_shown: fn(&str) -> bool, width: Option<u16>) -> String {
    let mut text = String::new();
    for Note { of, text: note, runs: of_runs } in notes(runs, is_shown) {
        let of_runs = if of_runs.is_empty() { String::new() } else { format!(" of {}", of_runs.join(", ")) };
        text += &wrapped(&on_one_line(&format!("{of}{of_runs}: {note}")), width);
    }
    if text.is_empty() { text } else { format!("\nnotes:\n{text}") }
}

/// The text in lines of at most `width` letters, the first indented by two, the others by four.
fn wrapped(text: &str, width: Option<u16>) -> String {
    let mut lines = vec!["  ".to_string()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or("", String::as_str);
        let would_be = line.chars().count() + 1 + word.chars().count();
        if width.is_some_and(|width| would_be > usize::from(width)) && !line.trim().is_empty() {
            lines.push("    ".to_string());
        }
        let line = lines.last_mut().expect("there is a first line");
        if !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n") + "\n"
}

/// Numbers, or what stands in their place, in rows that begin with a name; the header has a text for each column.
pub fn numbers_table(header: &[&str], rows: &[Vec<String>], width: Option<u16>) -> String {
    let cells = |texts: &mut dyn Iterator<Item = &str>| -> Vec<Cell> {
        let first = texts.next().map(|name| Cell::new(on_one_line(name)));
        first.into_iter().chain(texts.map(number_cell)).collect()
    };
    let mut table = plain_table(cells(&mut header.iter().copied()), width);
    for row in rows {
        table.add_row(cells(&mut row.iter().map(String::as_str)));
    }
    text_of(&table)
}

/// A list of things that can be named in a config.
pub fn list_table(rows: &[ListRow], width: Option<u16>) -> String {
    let mut table = plain_table(["name", "about", "paper"].map(Cell::new).to_vec(), width);
    for row in rows {
        table.add_row([row.name, row.about, row.paper]);
    }
    text_of(&table)
}

/// The settings of one of these things.
pub fn settings_table(rows: &[SettingRow], width: Option<u16>) -> String {
    let mut table = plain_table(["setting", "default", "takes", "meaning"].map(Cell::new).to_vec(), width);
    for row in rows {
        table.add_row([row.name, &row.default, &row.takes, row.meaning]);
    }
    text_of(&table)
}

/// The kinds of score that a metric gives: where each lies and which way is better.
pub fn score_kinds_table(kinds: &[ScoreKind], width: Option<u16>) -> String {
    let mut table = plain_table(["score", "range", "better"].map(Cell::new).to_vec(), width);
    for kind in kinds {
        let range = if kind.range().is_empty() { "any number".to_string() } else { kind.range() };
        let better = better_text(Some(kind));
        table.add_row([kind.name, &range, if better.is_empty() { "neither way" } else { better }]);
    }
    text_of(&table)
}

/// A number with four digits after the point; very small and very large ones as a power of ten.
pub fn score_text(value: f64) -> String {
    // Rounding errors about 0 are 0.
    let value = if value.abs() < 1e-12 { 0.0 } else { value };
    let size = value.abs();
    if value == 0.0 || (1e-4..1e6).contains(&size) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

/// The names of all scores of several runs, defined or not, in the order in which the runs bring them up.
pub fn score_names<'a>(runs: impl IntoIterator<Item = &'a Scores>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for scores in runs {
        let defined = scores.values.iter().map(|score| &score.name);
        for name in defined.chain(scores.undefined.iter().map(|score| &score.name)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

fn plain_table(header: Vec<Cell>, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(ONE_RULE);
    table.set_header(header);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}

fn number_cell(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn text_of(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.lines().collect()
    }

    #[test]
    fn names_cannot_break_a_line_or_steer_the_terminal() {
        let scores = Scores::new().with("mig.a\n\u{1b}[31m", 0.5).without("kl.\u{7}", "of \r");
        let shown = scores_table(&scores, None);
        assert!(shown.contains("  mig.a\\u000a\\u001b[31m   0.5000\n"), "{shown}");
        assert!(shown.contains("  kl.\\u0007: of \\u000d\n"), "{shown}");
        let both = comparison_table(&[("a\u{9b}", &scores), ("b", &scores)], None);
        assert!(both.contains(" a\\u009b ") && !both.contains('\u{1b}'), "{both}");
    }

    #[test]
    fn scores_stand_by_metric_with_the_reasons_below() {
        let scores = Scores::new()
            .with("dci.lasso", 1.0)
            .with("mig", 0.123456)
            .with("dci", 0.5)
            .without("kl", "there are no log_variances")
            .without("cbd", "one latent only")
            .without("elbo", "there are no log_variances");
        let expected = [
            " score          value   better",
            "───────────────────────────────",
            " dci           0.5000   higher",
            "   dci.lasso   1.0000",
            " mig           0.1235   higher",
            "",
            "not defined:",
            "  kl, elbo: there are no log_variances",
            "  cbd: one latent only",
        ];
        assert_eq!(lines(&scores_table(&scores, None)), expected);
        let text = scores_table(&Scores::new().with("mig", 0.5), None);
        assert_eq!(lines(&text), [" score    value   better", "─────────────────────────", " mig     0.5000   higher"]);
        let parts = Scores::new()
            .with("fairness", 0.5)
            .with_factor("fairness", "z0", Ok::<f64, String>(0.25))
            .with_latent("kl", 0, Ok::<f64, String>(2.0));
        let expected =
            [" fairness        0.5000   lower", "   fairness.z0   0.2500   lower", "   kl.z0         2.0000"];
        assert_eq!(lines(&scores_table(&parts, None))[2..], expected);
    }

    #[test]
    fn runs_stand_side_by_side() {
        let first = Scores::new().with("mig", 0.1).without("cbd", "no").without("kl", "never");
        let second = Scores::new().with("dci", 2e-5).without("kl", "never");
        let expected = [
            " score   runs/a     runs/b   better",
            "────────────────────────────────────",
            " mig     0.1000          –   higher",
            " dci          –   2.000e-5   higher",
            "",
            "not defined:",
            "  cbd of runs/a: no",
            "  kl: never",
        ];
        assert_eq!(lines(&comparison_table(&[("runs/a", &first), ("runs/b", &second)], None)), expected);
    }

    #[test]
    fn key_scores_are_few_and_say_how_to_read_them() {
        let run = Scores::new().with("mig", 0.1).with("sap", 0.3).with("kl", 9.5).with_note("input", "few rows");
        let expected = [
            " score    value   what it says (0 to 1, higher is better, unless told)",
            "──────────────────────────────────────────────────────────────────────────────────────────────",
            " mig     0.1000   how far each factor's best latent is ahead of the next",
            " kl      9.5000   how much a code tells of its image, in nats (from 0, neither way is better)",
            "",
            "notes:",
            "  input: few rows",
        ];
        assert_eq!(lines(&key_scores_table(&[("runs/a", &run)], None)), expected);
        let both = key_scores_table(&[("a", &run), ("b", &Scores::new().with("cbd", 0.5))], None);
        assert!(
            both.contains(" score        a        b   what it says (0") && both.contains(" cbd          –   0.5000"),
            "{both}"
        );
        assert!(!both.contains("sap"), "{both}");
        let collapsed = run.clone().without("dci", "every latent is constant").without("irs", "not told");
        let told = key_scores_table(&[("a", &collapsed)], None);
        assert!(told.contains("not defined:\n  dci: every latent is constant\n") && !told.contains("irs"), "{told}");
        let none = Scores::new().with("sap", 0.25).without("mig", "one factor");
        let told = key_scores_table(&[("a", &none)], None);
        assert!(told.contains(" sap") && told.contains("mig: one factor"), "{told}");
    }

    #[test]
    fn notes_stand_last_and_name_the_runs_that_they_are_of() {
        let first = Scores::new().with("mig", 0.1).with_note("input", "few rows").with_note("elbo", "not in nats");
        let second = Scores::new().with("mig", 0.2).without("kl", "never").with_note("elbo", "not in nats");
        let notes = ["", "notes:", "  input of runs/a: few rows", "  elbo: not in nats"];
        let text = comparison_table(&[("runs/a", &first), ("runs/b", &second)], None);
        assert_eq!(lines(&text)[3..5], ["", "not defined:"]);
        assert_eq!(lines(&text)[6..], notes);
        let of_one = scores_table(&first, Some(16));
        let start = of_one.find("notes:").unwrap();
        assert_eq!(lines(&of_one[start..]), ["notes:", "  input: few", "    rows", "  elbo: not in", "    nats"]);
    }

    #[test]
    fn long_reasons_wrap() {
        let text = wrapped("kl: one two three four", Some(14));
        assert_eq!(lines(&text), ["  kl: one two", "    three four"]);
        assert_eq!(lines(&wrapped("averyveryverylongword b", Some(8))), ["  averyveryverylongword", "    b"]);
    }

    #[test]
    fn runs_stand_side_by_side_in_markdown() {
        let (first, second) = (Scores::new().with("mig", 0.1).without("cbd", "no"), Scores::new().without("mig", "no"));
        let first = first.with_factor("mig", "x", Ok::<f64, String>(0.5)).with("mig.a.b", 0.5);
        let expected = ["| score | a | b |", "|---|---:|---:|", "| `mig` | 0.100 | – |"];
        assert_eq!(lines(&comparison_markdown(&[("a", &first), ("b", &second)])), expected);
    }

    #[test]
    fn settings_stand_under_one_another() {
        let row = SettingRow {
            name: "bins",
            default: "20".to_string(),
            takes: "1 to 9".to_string(),
            meaning: "how many bins",
        };
        let expected = [
            " setting   default   takes    meaning",
            "────────────────────────────────────────────",
            " bins      20        1 to 9   how many bins",
        ];
        assert_eq!(lines(&settings_table(&[row], None)), expected);
    }

    #[test]
    fn kinds_of_score_stand_with_their_range_and_the_better_way() {
        let expected = [
            " score                    range        better",
            "──────────────────────────────────────────────",
            " windin                   any number   higher",
            " windin.informativeness   from 0       higher",
            " windin.shared            from 0       lower",
        ];
        let kinds = unbraid_metrics::find("windin").unwrap().scores;
        assert_eq!(lines(&score_kinds_table(kinds, None)), expected);
        let kinds = unbraid_metrics::find("kl").unwrap().scores;
        assert_eq!(lines(&score_kinds_table(kinds, None))[2], " kl      from 0   neither way");
    }

    #[test]
    fn lists_wrap_at_the_width() {
        let row = ListRow { name: "mig", about: "how far the best latent of a factor is ahead", paper: "Chen 2018" };
        let expected = [
            " name   about                 paper",
            "────────────────────────────────────────",
            " mig    how far the best      Chen 2018",
            "        latent of a factor",
            "        is ahead",
        ];
        assert_eq!(lines(&list_table(&[row], Some(40))), expected);
    }
}
