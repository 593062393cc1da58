//! The page of runs that were looked inside: the result in words, the numbers, the figures, and folded away what is there for who wants it.

use super::doctor::{notes, table, verdicts};
use super::html::{self, Width, escape};
use super::{PageFigure, PageTable, commands, section};

/// What the page shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InspectPage {
    /// What was looked at.
    pub title: String,
    /// The result, in one sentence.
    pub lead: String,
    /// What it rests on, each a few words and what they mean here.
    pub verdicts: Vec<(String, String)>,
    /// In the order in which they are shown.
    pub tables: Vec<PageTable>,
    /// In the order in which they are shown, below the tables.
    pub figures: Vec<PageFigure>,
    /// Tables and figures that are folded away.
    pub folded: Vec<Folded>,
    /// How the numbers were made, folded away.
    pub notes: Vec<String>,
    /// What can be done next: what for, and the command.
    pub commands: Vec<(String, String)>,
}

/// Tables and figures under a line that unfolds them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folded {
    /// The line.
    pub summary: String,
    /// In the order in which they are shown.
    pub tables: Vec<PageTable>,
    /// In the order in which they are shown, below the tables.
    pub figures: Vec<PageFigure>,
}

/// The page: one HTML file that needs nothing else.
pub fn inspect_page(page: &InspectPage) -> String {
    let mut body = format!("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escape(&page.title), escape(&page.lead));
    body.push_str(&verdicts(&page.verdicts));
    body.extend(page.tables.iter().map(table));
    body.push_str(&figures(&page.figures));
    body.extend(page.folded.iter().map(folded));
    body.push_str(&notes(&page.notes));
    body.push_str(&commands(&page.commands));
    html::page(&page.title, &body)
}

fn figures(figures: &[PageFigure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let each: String =
        figures.iter().map(|figure| section(&figure.name, &html::figure(figure, Width::Window))).collect();
    format!("<div class=\"figures\">\n{each}</div>\n")
}

fn folded(folded: &Folded) -> String {
    let tables: String = folded.tables.iter().map(table).collect();
    format!(
        "<details>\n<summary>{}</summary>\n{tables}{}</details>\n",
        escape(&folded.summary),
        figures(&folded.figures)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    #[test]
    fn the_result_comes_first_and_the_rest_is_folded() {
        let figure = |name: &str| PageFigure {
            name: name.to_string(),
            caption: "T4 & more".to_string(),
            bytes: Canvas::new(10, 6).to_png().unwrap(),
            narrow: None,
        };
        let table = PageTable {
            name: "latents".to_string(),
            caption: String::new(),
            header: vec!["latent".to_string()],
            rows: vec![vec!["<z0>".to_string()]],
        };
        let page = InspectPage {
            title: "Inside <a>".to_string(),
            lead: "3 of 10 latents are active.".to_string(),
            verdicts: vec![("Polarized".to_string(), "below 3 %".to_string())],
            tables: vec![table.clone()],
            figures: vec![figure("eigen_images")],
            folded: vec![Folded { summary: "More".to_string(), tables: vec![table], figures: vec![figure("regime")] }],
            notes: vec!["At 100 codes.".to_string()],
            commands: vec![("Look on".to_string(), "unbraid traverse a".to_string())],
        };
        let html = inspect_page(&page);
        let order = [
            "<title>Inside &lt;a&gt;</title>",
            "<p class=\"lead\">3 of 10 latents are active.</p>",
            "<dt>Polarized</dt>",
            "<th>&lt;z0&gt;</th>",
            "<h2>Eigen images</h2>",
            "<figcaption>T4 &amp; more</figcaption>",
            "<details>\n<summary>More</summary>",
            "<h2>Regime</h2>",
            "<li>At 100 codes.</li>",
            "<code>unbraid traverse a</code>",
        ];
        let places: Vec<usize> =
            order.iter().map(|text| html.find(text).unwrap_or_else(|| panic!("there is no {text}"))).collect();
        assert!(places.is_sorted(), "{places:?}");
        for forbidden in ["http", "url(", "<link", "@import", "<script src"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        assert!(!inspect_page(&InspectPage::default()).contains("<details"));
    }
}
