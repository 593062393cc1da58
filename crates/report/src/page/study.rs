//! The page of many runs together: the result in words, then a section for each question with its pictures or with what is missing for them, and
//! folded away what is there for who wants it.

use unbraid_data::words::counted;

use super::doctor::{notes, verdicts};
use super::html::{self, Width, escape};
use super::{Folded, PageFigure, PageTable, commands, section};

/// What the page shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StudyPage {
    /// What was looked at.
    pub title: String,
    /// What there is, in one sentence.
    pub lead: String,
    /// What came out, each a few words and what they mean here.
    pub verdicts: Vec<(String, String)>,
    /// In the order in which they are shown.
    pub sections: Vec<StudySection>,
    /// How the numbers were made, folded away.
    pub notes: Vec<String>,
    /// What can be done next: what for, and the command.
    pub commands: Vec<(String, String)>,
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StudySection {
    /// The heading, for instance `rank_correlations`.
    pub name: String,
    /// Sentences below the heading: what is missing for a picture.
    pub sentences: Vec<String>,
    /// In the order in which they are shown.
    pub figures: Vec<PageFigure>,
    /// In the order in which they are shown, below the figures.
    pub tables: Vec<PageTable>,
    /// Tables and figures that are folded away.
    pub folded: Vec<Folded>,
}

/// Sentences on what is missing for pictures that are shown without unfolding.
const MOST_SENTENCES: usize = 2;

/// The page: one HTML file that needs nothing else.
pub fn study_page(page: &StudyPage) -> String {
    let mut body = format!("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escape(&page.title), escape(&page.lead));
    body.push_str(&verdicts(&page.verdicts));
    body.extend(page.sections.iter().map(|one| section(&one.name, &content(one))));
    body.push_str(&notes(&page.notes));
    body.push_str(&commands(&page.commands));
    html::page(&page.title, &body)
}

fn content(section: &StudySection) -> String {
    let told = |sentences: &[String]| -> String {
        sentences.iter().map(|text| format!("<p class=\"lead\">{}</p>\n", escape(text))).collect()
    };
    let (first, more) = section.sentences.split_at(section.sentences.len().min(MOST_SENTENCES));
    let more = match more {
        [] => String::new(),
        _ => format!(
            "<details>\n<summary>{} that other runs are needed for</summary>\n{}</details>\n",
            counted(more.len(), "more picture"),
            told(more)
        ),
    };
    let shown = shown(&section.figures, &section.tables);
    let folded = section.folded.iter().map(|folded| {
        let inside = self::shown(&folded.figures, &folded.tables);
        format!("<details>\n<summary>{}</summary>\n{inside}</details>\n", escape(&folded.summary))
    });
    told(first) + &shown + &more + &folded.collect::<String>()
}

fn shown(figures: &[PageFigure], tables: &[PageTable]) -> String {
    let each: String = figures.iter().map(|figure| html::figure(figure, Width::Window)).collect();
    let gallery = if each.is_empty() { each } else { format!("<div class=\"gallery\">\n{each}</div>\n") };
    let tables = tables.iter().map(|table| {
        let caption = format!("<p class=\"caption\">{}</p>\n", escape(&table.caption));
        let numbers = html::table(&table.header, &table.rows);
        if table.caption.is_empty() { numbers } else { caption + &numbers }
    });
    gallery + &tables.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    #[test]
    fn questions_stand_in_order_with_what_is_missing_in_words() {
        let figure = PageFigure {
            name: "a".to_string(),
            caption: "Of 5 <runs>".to_string(),
            bytes: Canvas::new(10, 6).to_png().unwrap(),
            narrow: None,
        };
        let table = PageTable {
            name: String::new(),
            caption: "Best & worst".to_string(),
            header: vec!["run".to_string()],
            rows: vec![vec!["<a>".to_string()]],
        };
        let section = StudySection {
            name: "rank_correlations".to_string(),
            sentences: vec!["Needs 5 runs, and there are <2>.".to_string()],
            figures: vec![figure],
            tables: vec![table.clone()],
            folded: vec![Folded { summary: "More".to_string(), tables: vec![table], figures: Vec::new() }],
        };
        let html = study_page(&StudyPage {
            title: "Study <1>".to_string(),
            lead: "2 runs.".to_string(),
            verdicts: vec![("Objective".to_string(), "explains 5 %".to_string())],
            sections: vec![section],
            notes: vec!["By ranks.".to_string()],
            commands: vec![("Compare".to_string(), "unbraid compare a b".to_string())],
        });
        let order = [
            "<title>Study &lt;1&gt;</title>",
            "<dd>explains 5 %</dd>",
            "<h2>Rank correlations</h2>",
            "<p class=\"lead\">Needs 5 runs, and there are &lt;2&gt;.</p>",
            "<figcaption>Of 5 &lt;runs&gt;</figcaption>",
            "<p class=\"caption\">Best &amp; worst</p>",
            "<th>&lt;a&gt;</th>",
            "<summary>More</summary>",
            "<li>By ranks.</li>",
            "<code>unbraid compare a b</code>",
        ];
        let places: Vec<usize> =
            order.iter().map(|text| html.find(text).unwrap_or_else(|| panic!("there is no {text}"))).collect();
        assert!(places.is_sorted(), "{places:?}");
        for forbidden in ["http", "url(", "<link", "@import", "<script src"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }
}
