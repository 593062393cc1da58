//! The page of a run, and of several side by side: one HTML file that needs nothing else.

mod html;

use std::fmt::Write;

use unbraid_metrics::Scores;

use crate::tables::{score_names, score_text};

pub use html::escape;

/// What a run's page shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunPage {
    /// What the run is called.
    pub title: String,
    /// Name of the dataset.
    pub dataset: String,
    /// Name of the framework.
    pub framework: String,
    /// How many steps it was trained.
    pub n_steps: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Numbers, and reasons where there is none.
    pub scores: Scores,
    /// In the order in which they are shown.
    pub figures: Vec<PageFigure>,
    /// The whole config.
    pub config: String,
}

/// A picture on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFigure {
    /// What it is, for instance `traversals`; figures of the same name are set side by side.
    pub name: String,
    /// What there is to see.
    pub caption: String,
    /// A PNG or GIF file.
    pub bytes: Vec<u8>,
}

/// What a comparison of runs shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// What is compared.
    pub title: String,
    /// What to look for; an empty line starts a new paragraph.
    pub text: String,
    /// Figures of all runs together, in place of those of the same name of each run, for instance curves over one
    /// another; one called `scores` stands beside the scores.
    pub figures: Vec<PageFigure>,
    /// The runs, from left to right.
    pub runs: Vec<RunPage>,
}

/// The page of one run.
pub fn run_page(run: &RunPage) -> String {
    let mut body = format!("<h1>{}</h1>\n<p class=\"summary\">{}</p>\n", escape(&run.title), summary(run));
    body.push_str("<section>\n<h2>Scores</h2>\n");
    body.push_str(&scores_section(&run.scores));
    body.push_str("</section>\n");
    for figure in &run.figures {
        let heading = heading(&figure.name);
        let _ = write!(body, "<section>\n<h2>{heading}</h2>\n{}</section>\n", html::figure(figure));
    }
    body.push_str(&config_section("Config", &run.config));
    html::page(&run.title, &body)
}

/// Several runs side by side.
pub fn comparison_page(comparison: &Comparison) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(&comparison.title));
    for paragraph in comparison.text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        let _ = writeln!(body, "<p class=\"lead\">{}</p>", escape(paragraph));
    }
    body.push_str("<section>\n<h2>Scores</h2>\n");
    body.push_str(&comparison_table(&comparison.runs));
    let (of_scores, others): (Vec<_>, Vec<_>) = comparison.figures.iter().partition(|figure| figure.name == "scores");
    body.extend(of_scores.into_iter().map(html::figure));
    body.push_str("</section>\n");
    for figure in &others {
        let heading = heading(&figure.name);
        let _ = write!(body, "<section>\n<h2>{heading}</h2>\n{}</section>\n", html::figure(figure));
    }
    for name in figure_names(&comparison.runs) {
        // A figure of all runs together says what those of each would.
        if others.iter().all(|figure| figure.name != name) {
            body.push_str(&side_by_side(name, &comparison.runs));
        }
    }
    for run in &comparison.runs {
        body.push_str(&config_section(&format!("Config of {}", run.title), &run.config));
    }
    html::page(&comparison.title, &body)
}

/// `dsprites · beta_vae · 5,000 steps · seed 1`.
fn summary(run: &RunPage) -> String {
    let mut parts =
        vec![escape(&run.dataset), escape(&run.framework), format!("{} steps", with_separators(run.n_steps))];
    parts.push(format!("seed {}", run.seed));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn scores_section(scores: &Scores) -> String {
    let mut section = String::new();
    if scores.values.is_empty() && scores.undefined.is_empty() {
        section.push_str("<p>This run has not been scored.</p>\n");
    }
    if !scores.values.is_empty() {
        let rows = scores.values.iter().map(|(name, value)| vec![name.clone(), score_text(*value)]);
        section.push_str(&html::table(&["score".to_string(), "value".to_string()], &rows.collect::<Vec<_>>()));
    }
    section + &undefined_list(scores, "")
}

fn undefined_list(scores: &Scores, run: &str) -> String {
    if scores.undefined.is_empty() {
        return String::new();
    }
    let lines: String = scores
        .undefined
        .iter()
        .map(|(name, reason)| format!("<li><b>{}</b>: {}</li>\n", escape(name), escape(reason)))
        .collect();
    let of_run = if run.is_empty() { String::new() } else { format!(" in {}", escape(run)) };
    format!("<p class=\"undefined\">Undefined{of_run}:</p>\n<ul class=\"undefined\">\n{lines}</ul>\n")
}

fn comparison_table(runs: &[RunPage]) -> String {
    let row = |name: &str, cell: &dyn Fn(&RunPage) -> String| -> Vec<String> {
        std::iter::once(name.to_string()).chain(runs.iter().map(cell)).collect()
    };
    let mut rows = vec![
        row("dataset", &|run| run.dataset.clone()),
        row("framework", &|run| run.framework.clone()),
        row("steps", &|run| with_separators(run.n_steps)),
        row("seed", &|run| run.seed.to_string()),
    ];
    for name in score_names(runs.iter().map(|run| &run.scores)) {
        rows.push(row(&name, &|run| run.scores.value(&name).map_or("–".to_string(), score_text)));
    }
    let undefined: String = runs.iter().map(|run| undefined_list(&run.scores, &run.title)).collect();
    html::table(&row("", &|run| run.title.clone()), &rows) + &undefined
}

fn figure_names(runs: &[RunPage]) -> Vec<&str> {
    let mut names = Vec::new();
    for figure in runs.iter().flat_map(|run| &run.figures) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

/// The figures called `name` of all runs, beside each other where the window is wide enough.
fn side_by_side(name: &str, runs: &[RunPage]) -> String {
    let mut section = format!("<section>\n<h2>{}</h2>\n<div class=\"beside\">\n", heading(name));
    for run in runs {
        for figure in run.figures.iter().filter(|figure| figure.name == name) {
            let _ = write!(section, "<div>\n<h3>{}</h3>\n{}</div>\n", escape(&run.title), html::figure(figure));
        }
    }
    section + "</div>\n</section>\n"
}

fn config_section(title: &str, config: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n<pre>{}</pre>\n</details>\n", escape(title), escape(config))
}

/// `loss_curves` as `Loss curves`.
fn heading(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut letters = spaced.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    escape(&(first + letters.as_str()))
}

/// `10000` as `10,000`.
fn with_separators(number: usize) -> String {
    let digits = number.to_string();
    let mut separated = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            separated.push(',');
        }
        separated.push(digit);
    }
    separated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    fn example(title: &str) -> RunPage {
        RunPage {
            title: title.to_string(),
            dataset: "xy_squares".to_string(),
            framework: "beta_vae".to_string(),
            n_steps: 12_345,
            seed: 1,
            scores: Scores::new().with("mig", 0.25).without("cbd", "a < b"),
            figures: vec![PageFigure {
                name: "loss_curves".to_string(),
                caption: "Loss & parts".to_string(),
                bytes: Canvas::new(10, 6).to_png().unwrap(),
            }],
            config: "name = \"<script>\"\n".to_string(),
        }
    }

    #[test]
    fn a_run_is_shown_whole_and_escaped() {
        let page = run_page(&example("runs/<a>"));
        for wanted in [
            "<title>runs/&lt;a&gt;</title>",
            "xy_squares · beta_vae · 12,345 steps · seed 1",
            "<tr><th>mig</th><td>0.2500</td></tr>",
            "<li><b>cbd</b>: a &lt; b</li>",
            "<h2>Loss curves</h2>",
            "<img width=\"5\" height=\"3\" alt=\"loss curves\" src=\"data:image/png;base64,iVBOR",
            "<figcaption>Loss &amp; parts</figcaption>",
            "name = &quot;&lt;script&gt;&quot;",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
        assert!(!page.contains("<script"));
    }

    #[test]
    fn nothing_is_fetched_from_outside() {
        let comparison = Comparison { runs: vec![example("a"), example("b")], ..Comparison::default() };
        for page in [run_page(&example("a")), comparison_page(&comparison)] {
            for forbidden in ["http", "url(", "<link", "@import", "<script"] {
                assert!(!page.contains(forbidden), "{forbidden}");
            }
        }
    }

    #[test]
    fn runs_stand_side_by_side() {
        let mut other = example("b");
        other.scores = Scores::new().with("dci", 0.5);
        let text = "Look at <x>.\n\nThen at y.".to_string();
        let comparison =
            Comparison { title: "Two".to_string(), text, runs: vec![example("a"), other], ..Default::default() };
        let page = comparison_page(&comparison);
        for wanted in [
            "<p class=\"lead\">Look at &lt;x&gt;.</p>\n<p class=\"lead\">Then at y.</p>",
            "<thead><tr><th></th><th>a</th><th>b</th></tr></thead>",
            "<tr><th>mig</th><td>0.2500</td><td>–</td></tr>",
            "<tr><th>dci</th><td>–</td><td>0.5000</td></tr>",
            "<summary>Config of b</summary>",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
        assert_eq!(page.matches("<h2>Loss curves</h2>").count(), 1);
        assert_eq!(page.matches("<img ").count(), 2);
    }
}
