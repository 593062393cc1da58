//! The page of a dataset that was looked at before training: what to expect of it in words, the numbers, distances as pictures, and
//! folded away what one has to know to read them.

use std::fmt::Write;

use super::html::{self, Width, escape};
use super::{PageFigure, commands, section};

/// What the page of a dataset shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DoctorPage {
    /// What was looked at.
    pub title: String,
    /// What to expect of it, in one paragraph.
    pub lead: String,
    /// What that rests on, each a few words and what they mean here.
    pub verdicts: Vec<(String, String)>,
    /// In the order in which they are shown.
    pub tables: Vec<PageTable>,
    /// In the order in which they are shown, below the tables.
    pub figures: Vec<PageFigure>,
    /// How the numbers were made, folded away.
    pub notes: Vec<String>,
    /// What can be done next: what for, and the command.
    pub commands: Vec<(String, String)>,
}

/// Numbers on a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageTable {
    /// What they are, for instance `distances`; the heading of the table.
    pub name: String,
    /// What there is to see; may be empty.
    pub caption: String,
    /// One text for each column.
    pub header: Vec<String>,
    /// Each row begins with its name.
    pub rows: Vec<Vec<String>>,
}

/// The page of a dataset: one HTML file that needs nothing else.
pub fn doctor_page(page: &DoctorPage) -> String {
    let mut body = format!("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escape(&page.title), escape(&page.lead));
    body.push_str(&verdicts(&page.verdicts));
    body.extend(page.tables.iter().map(table));
    body.push_str("<div class=\"figures\">\n");
    body.extend(page.figures.iter().map(|figure| section(&figure.name, &html::figure(figure, Width::Window))));
    body.push_str("</div>\n");
    body.push_str(&notes(&page.notes));
    body.push_str(&commands(&page.commands));
    html::page(&page.title, &body)
}

pub(super) fn verdicts(verdicts: &[(String, String)]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut lines = String::new();
    for (heading, text) in verdicts {
        let _ = write!(lines, "<dt>{}</dt>\n<dd>{}</dd>\n", escape(heading), escape(text));
    }
    format!("<section>\n<dl class=\"verdicts\">\n{lines}</dl>\n</section>\n")
}

pub(super) fn table(table: &PageTable) -> String {
    let caption = match table.caption.as_str() {
        "" => String::new(),
        caption => format!("<p class=\"caption\">{}</p>\n", escape(caption)),
    };
    section(&table.name, &(html::table(&table.header, &table.rows) + &caption))
}

pub(super) fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let lines: String = notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
    let folded = format!("<details>\n<summary>How the numbers were made</summary>\n<ul>\n{lines}</ul>\n</details>\n");
    section("everything_else", &folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    fn example() -> DoctorPage {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<String>>();
        let figure = PageFigure {
            name: "distance_matrices".to_string(),
            caption: "Dark & light".to_string(),
            bytes: Canvas::new(10, 6).to_png().unwrap(),
            narrow: None,
        };
        DoctorPage {
            title: "xy_squares <8>".to_string(),
            lead: "Distances are constant, so a VAE has nothing to order by: \"x\" < \"y\".".to_string(),
            verdicts: vec![("Not ordered".to_string(), "x_red & y_red".to_string())],
            tables: vec![PageTable {
                name: "distances_along_factors".to_string(),
                caption: "mean of 'all' pairs".to_string(),
                header: texts(&["factor", "mse"]),
                rows: vec![texts(&["<x>", "0.25"])],
            }],
            figures: vec![figure],
            notes: texts(&["All pairs < 1,048,576 were taken."]),
            commands: vec![("Train".to_string(), "unbraid train 'a <b>'".to_string())],
        }
    }

    #[test]
    fn a_dataset_is_shown_whole_and_escaped_with_the_verdict_first() {
        let page = doctor_page(&example());
        let order = [
            "<title>xy_squares &lt;8&gt;</title>",
            "<p class=\"lead\">Distances are constant, so a VAE has nothing to order by: &quot;x&quot; &lt; &quot;y&quot;.</p>",
            "<dt>Not ordered</dt>\n<dd>x_red &amp; y_red</dd>",
            "<h2>Distances along factors</h2>",
            "<tr><th>&lt;x&gt;</th><td>0.25</td></tr>",
            "<p class=\"caption\">mean of &#39;all&#39; pairs</p>",
            "<h2>Distance matrices</h2>",
            "<img width=\"5\" height=\"3\" src=\"data:image/png;base64,iVBOR",
            "<figcaption>Dark &amp; light</figcaption>",
            "<details>",
            "<li>All pairs &lt; 1,048,576 were taken.</li>",
            "<code>unbraid train &#39;a &lt;b&gt;&#39;</code>",
        ];
        let places: Vec<usize> =
            order.iter().map(|text| page.find(text).unwrap_or_else(|| panic!("there is no {text}"))).collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn nothing_is_fetched_from_outside() {
        for page in [doctor_page(&example()), doctor_page(&DoctorPage::default())] {
            for forbidden in ["http", "url(", "<link", "@import", "<script src"] {
                assert!(!page.contains(forbidden), "{forbidden}");
            }
            assert_eq!(page.matches("<script").count(), 1);
        }
    }

    #[test]
    fn what_there_is_none_of_has_no_heading() {
        let page = doctor_page(&DoctorPage { title: "a".to_string(), ..DoctorPage::default() });
        assert!(!page.contains("<h2>") && !page.contains("<dl") && !page.contains("<details"));
    }
}
