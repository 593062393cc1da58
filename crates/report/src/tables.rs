//! Tables for the terminal, in plain text.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use unbraid_metrics::Scores;

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

/// Scores of one run: name and number, or the reason why there is none. Long reasons wrap at `width` letters, where one
/// is given.
pub fn scores_table(scores: &Scores, width: Option<u16>) -> String {
    let mut header = vec![Cell::new("score"), number_cell("value")];
    if !scores.undefined.is_empty() {
        header.push(Cell::new("why not"));
    }
    let mut table = plain_table(header, width);
    for (name, value) in &scores.values {
        table.add_row([Cell::new(name), number_cell(&score_text(*value))]);
    }
    for (name, reason) in &scores.undefined {
        table.add_row([Cell::new(name), number_cell("–"), Cell::new(reason)]);
    }
    text_of(&table)
}

/// Scores of several runs side by side, a column for each; `–` where a score is undefined or was not asked for.
pub fn comparison_table(runs: &[(&str, &Scores)], width: Option<u16>) -> String {
    let names = runs.iter().map(|(name, _)| number_cell(name));
    let mut table = plain_table(std::iter::once(Cell::new("score")).chain(names).collect(), width);
    for score in score_names(runs.iter().map(|(_, scores)| *scores)) {
        let numbers = runs.iter().map(|(_, scores)| scores.value(&score).map_or("–".to_string(), score_text));
        table.add_row(std::iter::once(Cell::new(&score)).chain(numbers.map(|number| number_cell(&number))));
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

/// A number with four digits after the point; very small and very large ones as a power of ten.
pub fn score_text(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-4..1e6).contains(&size) { format!("{value:.4}") } else { format!("{value:.3e}") }
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
    fn scores_and_reasons_stand_in_one_table() {
        let scores =
            Scores::new().with("mig", 0.123456).with("dci.completeness", 1.0).without("cbd", "one latent only");
        let expected = [
            " score               value   why not",
            "─────────────────────────────────────────────",
            " mig                0.1235",
            " dci.completeness   1.0000",
            " cbd                     –   one latent only",
        ];
        assert_eq!(lines(&scores_table(&scores, None)), expected);
        let text = scores_table(&Scores::new().with("mig", 0.5), None);
        assert_eq!(lines(&text), [" score    value", "────────────────", " mig     0.5000"]);
    }

    #[test]
    fn runs_stand_side_by_side() {
        let (first, second) = (Scores::new().with("mig", 0.1).without("cbd", "no"), Scores::new().with("dci", 2e-5));
        let expected = [
            " score   runs/a     runs/b",
            "───────────────────────────",
            " mig     0.1000          –",
            " cbd          –          –",
            " dci          –   2.000e-5",
        ];
        assert_eq!(lines(&comparison_table(&[("runs/a", &first), ("runs/b", &second)], None)), expected);
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
