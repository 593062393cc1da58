//! Tables for the terminal, in plain text.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use unbraid_metrics::Scores;

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

/// Scores of one run: name and number, then those that are undefined with the reason. Long reasons wrap at `width`
/// letters, where one is given.
pub fn scores_table(scores: &Scores, width: Option<u16>) -> String {
    let mut table = plain_table(["score", "value"], width);
    for (name, value) in &scores.values {
        table.add_row([Cell::new(name), Cell::new(score_text(*value)).set_alignment(CellAlignment::Right)]);
    }
    for (name, reason) in &scores.undefined {
        table.add_row([name.clone(), format!("undefined: {reason}")]);
    }
    text_of(&table)
}

/// Scores of several runs side by side, a column for each; `–` where a score is undefined or was not asked for.
pub fn comparison_table(runs: &[(&str, &Scores)], width: Option<u16>) -> String {
    let mut table = plain_table(std::iter::once("score").chain(runs.iter().map(|(name, _)| *name)), width);
    for score in score_names(runs.iter().map(|(_, scores)| *scores)) {
        let numbers = runs.iter().map(|(_, scores)| scores.value(&score).map_or("–".to_string(), score_text));
        let cells = numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(&score)).chain(cells));
    }
    text_of(&table)
}

/// A list of things that can be named in a config.
pub fn list_table(rows: &[ListRow], width: Option<u16>) -> String {
    let mut table = plain_table(["name", "about", "paper"], width);
    for row in rows {
        table.add_row([row.name, row.about, row.paper]);
    }
    text_of(&table)
}

/// A number with four digits after the point; very small and very large ones as a power of ten.
pub fn score_text(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

/// The names of all scores of several runs, defined or not, in the order in which the runs bring them up.
pub fn score_names<'a>(runs: impl IntoIterator<Item = &'a Scores>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for scores in runs {
        let defined = scores.values.iter().map(|(name, _)| name);
        for name in defined.chain(scores.undefined.iter().map(|(name, _)| name)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

fn plain_table<'a>(header: impl IntoIterator<Item = &'a str>, width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(header.into_iter().map(Cell::new).collect::<Vec<Cell>>());
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}

fn text_of(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
