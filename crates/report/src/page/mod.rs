//! The page of a run, of several side by side, and of a dataset: one HTML file that needs nothing else. What was learned comes first;
//! all numbers, the config and the commands to go on with come last.

mod doctor;
mod html;
mod inspect;
mod scores;
mod study;

use std::fmt::Write;

use unbraid_metrics::Scores;

use self::html::Width;

pub use doctor::{DoctorPage, PageTable, doctor_page};
pub use html::escape;
pub use inspect::{Folded, InspectPage, inspect_page};
pub use study::{StudyPage, StudySection, study_page};

/// What a run's page shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunPage {
    /// What the run is called.
    pub title: String,
    /// What was trained, in one sentence.
    pub sentence: String,
    /// Numbers, and reasons where there is none.
    pub scores: Scores,
    /// In the order in which they are shown.
    pub figures: Vec<PageFigure>,
    /// The whole config.
    pub config: String,
    /// What can be done with the run: what for, and the command.
    pub commands: Vec<(String, String)>,
}

/// A picture on a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageFigure {
    /// What it is, for instance `traversals`; figures of the same name are set side by side.
    pub name: String,
    /// What there is to see.
    pub caption: String,
    /// A PNG or GIF file.
    pub bytes: Vec<u8>,
    /// The same for where there is little room.
    pub narrow: Option<Vec<u8>>,
}

/// What a comparison of runs shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// What is compared.
    pub title: String,
    /// What to look for; an empty line starts a new paragraph.
    pub text: String,
    /// Figures of all runs together, in place of those of the same name of each run, for instance curves over one
    /// another.
    pub figures: Vec<PageFigure>,
    /// The runs, from left to right.
    pub runs: Vec<RunPage>,
}

/// The page of one run.
pub fn run_page(run: &RunPage) -> String {
    let mut body = format!("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escape(&run.title), escape(&run.sentence));
    let named = [(run.title.as_str(), &run.scores)];
    let _ = write!(body, "<section>\n{}{}</section>\n", scores::cards(&run.scores), scores::key_notes(&named));
    body.push_str("<div class=\"figures\">\n");
    body.extend(run.figures.iter().map(|figure| section(&figure.name, &html::figure(figure, Width::Window))));
    body.push_str("</div>\n");
    let _ = write!(body, "<section>\n<h2>Everything else</h2>\n{}", scores::all_scores(&named));
    body.push_str(&config_details("Config", &run.config));
    let _ = write!(body, "</section>\n{}", commands(&run.commands));
    html::page(&run.title, &body)
}

/// Several runs side by side.
pub fn comparison_page(comparison: &Comparison) -> String {
    let runs = &comparison.runs;
    let named: Vec<(&str, &Scores)> = runs.iter().map(|run| (run.title.as_str(), &run.scores)).collect();
    let mut body = format!("<h1>{}</h1>\n", escape(&comparison.title));
    for paragraph in comparison.text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        let _ = writeln!(body, "<p class=\"lead\">{}</p>", escape(paragraph));
    }
    let _ = write!(body, "<section>\n{}{}</section>\n", scores::key_table(&named), scores::key_notes(&named));
    for name in figure_names(comparison) {
        // A figure of all runs together says what those of each would.
        match comparison.figures.iter().find(|figure| figure.name == name) {
            Some(figure) => body.push_str(&section(name, &html::figure(figure, Width::Window))),
            None => body.push_str(&side_by_side(name, runs)),
        }
    }
    let _ = write!(body, "<section>\n<h2>Everything else</h2>\n{}", scores::all_scores(&named));
    for run in runs {
        body.push_str(&config_details(&format!("Config of {}", run.title), &run.config));
    }
    body.push_str("</section>\n");
    let all_commands: Vec<(String, String)> = runs.iter().flat_map(|run| run.commands.clone()).collect();
    body.push_str(&commands(&all_commands));
    html::page(&comparison.title, &body)
}

/// The names of the figures of the runs, and then of those that only all runs together have.
fn figure_names(comparison: &Comparison) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let of_runs = comparison.runs.iter().flat_map(|run| &run.figures);
    for figure in of_runs.chain(&comparison.figures) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

/// The figures called `name` of all runs, beside each other where the window is wide enough, under the caption of the
/// first.
fn side_by_side(name: &str, runs: &[RunPage]) -> String {
    let mut beside = String::new();
    let mut caption = "";
    for run in runs {
        for figure in run.figures.iter().filter(|figure| figure.name == name) {
            let titled = PageFigure { caption: run.title.clone(), ..figure.clone() };
            let _ = write!(beside, "<div>\n{}</div>\n", html::figure(&titled, Width::Part));
            caption = &figure.caption;
        }
    }
    section(name, &format!("<div class=\"beside\">\n{beside}</div>\n<p class=\"caption\">{}</p>\n", escape(caption)))
}

fn section(name: &str, content: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n{content}</section>\n", heading(name))
}

fn config_details(title: &str, config: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n<pre>{}</pre>\n</details>\n", escape(title), escape(config))
}

/// What to type to go on, each command under what it is for.
fn commands(commands: &[(String, String)]) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let lines: String = commands
        .iter()
        .map(|(what_for, command)| {
            format!("<dt>{}</dt>\n<dd><code>{}</code></dd>\n", escape(what_for), escape(command))
        })
        .collect();
    format!("<section>\n<h2>To go on</h2>\n<dl class=\"commands\">\n{lines}</dl>\n</section>\n")
}

/// `loss_curves` as `Loss curves`.
fn heading(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut letters = spaced.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    escape(&(first + letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    fn picture(name: &str, width: usize) -> PageFigure {
        PageFigure {
            name: name.to_string(),
            caption: "Loss & parts".to_string(),
            bytes: Canvas::new(width, 6).to_png().unwrap(),
            narrow: None,
        }
    }

    fn example(title: &str) -> RunPage {
        let narrow = Some(Canvas::new(8, 6).to_png().unwrap());
        RunPage {
            title: title.to_string(),
            sentence: "beta_vae, trained on <xy_squares>.".to_string(),
            scores: Scores::new()
                .with("mig", 0.25)
                .with("sap", 0.5)
                .without("cbd", "a < b")
                .with_note("mig", "few rows"),
            figures: vec![PageFigure { narrow, ..picture("traversals", 10) }, picture("loss_curves", 10)],
            config: "name = \"<script>\"\n".to_string(),
            commands: vec![("Train on".to_string(), "unbraid resume 'a <b>'".to_string())],
        }
    }

    #[test]
    fn a_run_is_shown_whole_and_escaped() {
        let page = run_page(&example("runs/<a>"));
        for wanted in [
            "<title>runs/&lt;a&gt;</title>",
            "<p class=\"lead\">beta_vae, trained on &lt;xy_squares&gt;.</p>",
            "<tr><th>mig</th><td>0.2500</td><td>higher</td></tr>",
            "<li>a &lt; b: <span class=\"names\">cbd</span></li>",
            "<h2>Loss curves</h2>",
            "<img width=\"5\" height=\"3\" src=\"data:image/png;base64,iVBOR",
            "<source media=\"(max-width: 40rem)\" width=\"4\" height=\"3\" srcset=\"data:image/png;base64,iVBOR",
            "<figcaption>Loss &amp; parts</figcaption>",
            "name = &quot;&lt;script&gt;&quot;",
            "<dt>Train on</dt>\n<dd><code>unbraid resume &#39;a &lt;b&gt;&#39;</code></dd>",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn what_was_learned_comes_before_the_numbers() {
        let place_of = |page: &str, text: &str| page.find(text).unwrap_or_else(|| panic!("there is no {text}"));
        let comparison = Comparison { runs: vec![example("a"), example("b")], ..Comparison::default() };
        for (page, key_score) in
            [(run_page(&example("a")), "<dt>mig</dt>"), (comparison_page(&comparison), "<th>mig</th>")]
        {
            let order = [
                key_score,
                "few rows",
                "<h2>Traversals</h2>",
                "<h2>Loss curves</h2>",
                "<details",
                "<b>sap</b>",
                "a &lt; b",
                "<pre>",
                "unbraid resume",
            ];
            let places: Vec<usize> = order.iter().map(|text| place_of(&page, text)).collect();
            assert!(places.is_sorted(), "{places:?}");
            assert!(!page[..place_of(&page, "<h2>Traversals</h2>")].contains("sap"));
        }
    }

    #[test]
    fn nothing_is_fetched_from_outside() {
        let comparison = Comparison { runs: vec![example("a"), example("b")], ..Comparison::default() };
        for page in [run_page(&example("a")), comparison_page(&comparison)] {
            for forbidden in ["http", "url(", "<link", "@import", "<script src"] {
                assert!(!page.contains(forbidden), "{forbidden}");
            }
            assert_eq!(page.matches("<script").count(), 1);
        }
    }

    #[test]
    fn runs_stand_side_by_side() {
        let mut other = example("b");
        other.scores = Scores::new().with("dci", 0.5);
        let text = "Look at <x>.\n\nThen at y.".to_string();
        let figures = vec![picture("loss_curves", 30)];
        let comparison = Comparison { title: "Two".to_string(), text, figures, runs: vec![example("a"), other] };
        let page = comparison_page(&comparison);
        for wanted in [
            "<p class=\"lead\">Look at &lt;x&gt;.</p>\n<p class=\"lead\">Then at y.</p>",
            "<thead><tr><th>score</th><th>a</th><th>b</th><th class=\"words\">what it says<span",
            "<th>mig</th><td>0.2500<span class=\"bar\"><i style=\"width:25.0%\"></i></span></td><td>–</td>",
            "<tr><th>dci</th><td>–</td><td>0.5000</td><td>higher</td></tr>",
            "<img width=\"4\" height=\"3\"",
            "<img width=\"15\" height=\"3\"",
            "<summary>Config of b</summary>",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
        assert_eq!(page.matches("<h2>Loss curves</h2>").count(), 1);
        assert_eq!(page.matches("<img ").count(), 3);
    }
}
